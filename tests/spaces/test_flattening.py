"""flatdim, flatten, unflatten and flatten_space."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekai.spaces import (
    Box,
    Dict,
    Discrete,
    MaskedBox,
    MultiBinary,
    MultiDiscrete,
    Sequence,
    Space,
    Tuple,
    flatdim,
    flatten,
    flatten_space,
    unflatten,
)
from sekai.testing import strategies as sts

flattenable = sts.spaces().filter(lambda space: space.is_flattenable)


@given(st.data())
def test_flat_elements_lie_in_the_flat_space(data):
    space = data.draw(flattenable)
    vector = flatten(space, data.draw(sts.elements(space)))
    assert vector.dtype == np.float32
    assert vector.shape == (flatdim(space),)
    assert flatten_space(space).contains(vector)
    assert flatten_space(space).shape == (flatdim(space),)


@given(st.data())
def test_unflatten_gives_back_what_float32_carries(data):
    space = data.draw(flattenable)
    x = data.draw(sts.elements(space))
    back = unflatten(space, flatten(space, x))
    assert space.contains(back)
    for before, after in zip(leaves(space, x), leaves(space, back), strict=True):
        assert after.dtype == before.dtype
        assert after.shape == before.shape
        exact = carried(before)
        np.testing.assert_array_equal(after[exact], before[exact])


def leaves(space, x):
    """The arrays and numbers of an element."""
    if isinstance(space, Dict):
        return [leaf for key, part in space.items() for leaf in leaves(part, x[key])]
    if isinstance(space, Tuple):
        return [leaf for part, entry in zip(space, x, strict=True) for leaf in leaves(part, entry)]
    return [np.asarray(x)]


def carried(array):
    """Which entries float32 holds exactly, integers only where their neighbours differ as well."""
    if array.dtype.kind != "f":
        return (array.astype(float) >= -(2.0**24)) & (array.astype(float) <= 2.0**24)
    with np.errstate(over="ignore"):
        return array.astype(np.float32).astype(np.float64) == array


@given(st.data())
def test_unflatten_makes_an_element_of_any_vector(data):
    space = data.draw(flattenable)
    size = flatdim(space)
    vector = data.draw(st.lists(st.floats(width=32), min_size=size, max_size=size))
    for x in (vector, np.array(vector, np.float32), np.array(vector, np.float64)):
        assert space.contains(unflatten(space, x))


def test_the_loss_is_that_of_float32():
    box = Box(-np.inf, np.inf, (3,), np.float64)
    x = np.array([0.1, 1e300, np.inf])
    assert unflatten(box, flatten(box, x)).tolist() == [float(np.float32(0.1)), float(np.finfo(np.float32).max), np.inf]
    ints = Box(-np.inf, np.inf, (3,), np.int64)
    y = np.array([2**24 + 1, 2**63 - 1, -(2**63)])
    assert unflatten(ints, flatten(ints, y)).tolist() == [2**24, 2**63 - 1, -(2**63)]


def test_wide_bounds_flatten_without_a_warning():
    flat = flatten_space(Box(-1e308, 1e308, (1,), np.float64))
    assert flat.high.tolist() == [float(np.finfo(np.float32).max)]


@pytest.mark.parametrize(
    ("vector", "expected"),
    [
        ([0.5, 1.5, 2.5], [0, 2, 2]),  # half to even
        ([-1e30, 300.0, np.nan], [-3, 100, 0]),
        ([np.inf, -np.inf, 99.6], [100, -3, 100]),
        (np.array([-5, 7, 2**40]), [-3, 7, 100]),
        (np.array([True, False, True]), [1, 0, 1]),
        (np.array([2**64 - 1, 0, 7], np.uint64), [100, 0, 7]),
    ],
)
def test_integers_are_rounded_into_their_bounds(vector, expected):
    box = Box(-3, 100, (3,), np.int8)
    x = unflatten(box, vector)
    assert x.tolist() == expected
    assert x.dtype == np.int8


def test_integer_vectors_are_clipped_exactly():
    box = Box(0, 2**64 - 1, (2,), np.uint64)
    assert unflatten(box, np.array([2**63 + 1, 5], np.uint64)).tolist() == [2**63 + 1, 5]
    assert unflatten(box, np.array([-1, 2**53 + 1])).tolist() == [0, 2**53 + 1]


def test_nan_becomes_the_value_nearest_to_zero():
    assert unflatten(Box(1, 2, (2,)), [np.nan, 1.5]).tolist() == [1, 1.5]


def test_noise_in_empty_slots_is_dropped():
    space = MaskedBox(1, 2, (1,), max_size=2)
    x = unflatten(space, [1.75, 1.25, 0.9, 0.1])
    assert x["values"].tolist() == [[1.75], [1.0]]
    assert x["mask"].tolist() == [1, 0]
    assert space.contains(x)


def test_the_largest_score_decides():
    assert unflatten(Discrete(3, start=5), [0.1, 0.7, 0.2]) == 6
    assert unflatten(Discrete(3, start=5), [0, 0, 0]) == 5
    assert unflatten(MultiDiscrete([2, 3], start=[0, 1]), [0, 1, 0.1, 0.1, 0.9]).tolist() == [1, 3]
    assert unflatten(MultiBinary((1, 3)), [0.5, 0.51, 1]).tolist() == [[0, 1, 1]]


def test_one_hot_vectors():
    assert flatten(Discrete(3, start=5), 6).tolist() == [0, 1, 0]
    assert flatten(MultiDiscrete([2, 3], start=[0, 1]), [1, 3]).tolist() == [0, 1, 0, 0, 1]
    assert flatten(MultiBinary((1, 2)), [[0, 1]]).tolist() == [0, 1]
    assert flatten(Dict(a=Discrete(2), b=Box(0, 1)), {"b": 0.5, "a": 1}).tolist() == [0, 1, 0.5]


@pytest.mark.parametrize(
    ("space", "x"),
    [
        (Discrete(3), -1),
        (Discrete(3), 3),
        (Discrete(3), 1.0),
        (MultiDiscrete([2, 2]), [2, 0]),
        (MultiDiscrete([2, 2]), [0, -1]),
        (Box(0, 1, (2,)), [0.0]),
        (MultiBinary(2), [0, 1, 0]),
        (Tuple([Discrete(2), Discrete(2)]), (1,)),
        (Tuple([Discrete(2)]), (1, 1)),
        (Tuple([Discrete(2)]), 1),
        (Dict(a=Discrete(2)), {}),
        (Dict(a=Discrete(2)), {"a": 1, "b": 1}),
        (Dict(a=Discrete(2)), None),
    ],
)
def test_what_is_no_element_does_not_flatten(space, x):
    with pytest.raises(ValueError, match="x must"):
        flatten(space, x)


@pytest.mark.parametrize(
    "space", [Box(0, 1, (2,)), Discrete(2), MultiDiscrete([2]), MultiBinary(2), Dict(a=Discrete(2))]
)
def test_vectors_of_another_length_do_not_unflatten(space):
    for x in (np.zeros(3), np.zeros((1, 2)), 0.0):
        with pytest.raises(ValueError, match=r"x must have shape \(2,\)"):
            unflatten(space, x)


def test_flatten_copies():
    x = np.zeros(2, np.float32)
    flatten(Box(0, 1, (2,)), x)[0] = 7
    assert x.tolist() == [0, 0]


@pytest.mark.parametrize("function", [flatdim, flatten_space, lambda s: flatten(s, ()), lambda s: unflatten(s, [])])
def test_what_does_not_flatten_says_so(function):
    with pytest.raises(NotImplementedError, match="vary in length"):
        function(Sequence(Discrete(2)))


def test_spaces_of_ones_own_inside_others():
    class Pair(Space):
        def sample(self, mask=None):
            return (0, 1)

        def contains(self, x):
            return isinstance(x, tuple) and len(x) == 2

        @property
        def is_flattenable(self):
            return True

    with pytest.raises(NotImplementedError, match="register"):
        flatdim(Pair())
    flatdim.register(Pair, lambda space: 2)
    flatten.register(Pair, lambda space, x: np.asarray(x, np.float32))
    space = Dict(p=Pair(), q=Discrete(2))
    assert flatdim(space) == 4
    assert flatten(space, {"p": (3, 4), "q": 1}).tolist() == [3, 4, 0, 1]
