"""Spaces as plain data and back."""

import json

import numpy as np
import pytest
from hypothesis import given

from sekai.spaces import Box, Dict, Discrete, Space, register_space_type, space_from_jsonable
from sekai.testing import strategies as sts


@given(sts.spaces())
def test_spaces_come_back_equal_and_sample_equally(space):
    twin = space_from_jsonable(json.loads(json.dumps(space.to_jsonable())))
    assert twin == space
    assert repr(twin) == repr(space)
    space.seed(9)
    twin.seed(9)
    np.testing.assert_equal(twin.sample(), space.sample())
    np.testing.assert_equal(twin.sample_batch(2), space.sample_batch(2))


def test_the_data():
    assert Box(-1, [1.5, 2.0], (2,)).to_jsonable() == {
        "type": "Box",
        "low": [-1.0, -1.0],
        "high": [1.5, 2.0],
        "shape": [2],
        "dtype": "float32",
    }
    assert Dict(a=Discrete(2)).to_jsonable() == {
        "type": "Dict",
        "spaces": {"a": {"type": "Discrete", "n": 2, "start": 0}},
    }


@pytest.mark.parametrize("data", [{}, {"type": "Nope"}, {"type": None}])
def test_unknown_types_are_refused(data):
    with pytest.raises(ValueError, match="Unknown space type"):
        space_from_jsonable(data)


def test_spaces_of_ones_own():
    class Word(Space):
        def sample(self, mask=None):
            return "word"

        def contains(self, x):
            return x == "word"

        @property
        def is_flattenable(self):
            return False

        def to_jsonable(self):
            return {"type": "tests.Word"}

        @classmethod
        def from_jsonable(cls, data):
            return cls()

    register_space_type("tests.Word", Word)
    space = space_from_jsonable(Dict(w=Word()).to_jsonable())
    assert isinstance(space["w"], Word)
