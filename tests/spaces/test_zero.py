"""The neutral element of each space."""

import numpy as np
import pytest
from hypothesis import given

from sekai.spaces import Box, Dict, Discrete, MaskedBox, MultiBinary, MultiDiscrete, Sequence, Space, Tuple, zero_sample
from sekai.testing import strategies as sts


@given(sts.spaces())
def test_it_is_an_element_of_the_types_that_samples_have(space):
    zero, sample = zero_sample(space), space.sample()
    assert space.contains(zero)
    assert type(zero) is type(sample)
    if isinstance(zero, np.ndarray):
        assert zero.dtype == sample.dtype


def test_values():
    assert zero_sample(Discrete(3, start=-1)) == -1
    assert zero_sample(MultiDiscrete([2, 3], start=[1, 0])).tolist() == [1, 0]
    assert zero_sample(MultiBinary(2)).tolist() == [0, 0]
    assert zero_sample(Box(1, 2, (1,))).tolist() == [1]
    assert zero_sample(Dict(a=Tuple([Discrete(2)]))) == {"a": (0,)}
    assert zero_sample(Sequence(Discrete(2))) == ()
    assert zero_sample(MaskedBox(1, 2, (), max_size=2))["mask"].tolist() == [0, 0]


def test_unknown_spaces_are_refused():
    class Word(Space):
        def sample(self, mask=None):
            return "word"

        def contains(self, x):
            return x == "word"

        @property
        def is_flattenable(self):
            return False

    with pytest.raises(TypeError, match="Word"):
        zero_sample(Word())
