"""When observations count as equal, and when nothing has changed."""

from collections import OrderedDict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sekai.testing import strategies as sts
from sekai.testing.comparison import frozen, same

NAN = float("nan")


class Odd:
    """Equal to every text."""

    def __array__(self, dtype=None, copy=None):
        raise ValueError("no array")

    def __eq__(self, other):
        return isinstance(other, str)

    __hash__ = None


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (np.array([1.0, NAN]), np.array([1.0, NAN])),
        (np.float32(2), 2),
        ((1, [2, 3]), [1, (2, 3)]),
        ({"a": 1, "b": (NAN,)}, OrderedDict(b=[NAN], a=1)),
        ("up", "up"),
        (np.array(["x", None], object), np.array(["x", None], object)),
        (Odd(), "text"),
        ((), []),
    ],
)
def test_equal(a, b):
    assert same(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (np.array([1.0, NAN]), np.array([NAN, 1.0])),
        (np.zeros(2), np.zeros(3)),
        ((1, 2), (1, 2, 3)),
        ({"a": 1}, {"b": 1}),
        ({"a": 1}, (1,)),
        ("up", "down"),
        (1, "1"),
        (Odd(), 1),
    ],
)
def test_different(a, b):
    assert not same(a, b)


@settings(max_examples=30)
@given(st.data())
def test_elements_equal_themselves_and_freeze_alike(data):
    space = data.draw(sts.spaces())
    x, y = data.draw(sts.elements(space)), data.draw(sts.elements(space))
    assert same(x, x)
    assert frozen(x) == frozen(x)
    if frozen(x) == frozen(y):
        assert same(x, y)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (np.zeros(2), -np.zeros(2)),
        (np.zeros(2), np.zeros(2, np.float32)),
        (np.zeros((1, 2)), np.zeros((2, 1))),
        (np.arange(1000), np.arange(1000)[::-1]),
        ({"a": 1}, {"a": 1.0}),
        ([None], ["None "]),
    ],
)
def test_what_is_frozen_tells_the_last_bit(a, b):
    assert frozen(a) != frozen(b)


def test_what_is_frozen_stays():
    x = {"a": np.arange(3), "b": [np.zeros(100)]}
    before = frozen(x)
    assert frozen(x) == before
    x["b"][0][99] = 1.0
    assert frozen(x) != before
