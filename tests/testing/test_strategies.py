"""The strategies give what they say, shrink well, and raise no health check (which would fail a test here)."""

import re

import numpy as np
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

import sekai
from sekai.spaces import Box, Dict, Discrete, MaskedBox, MultiBinary, MultiDiscrete, Sequence, Space, Tuple
from sekai.testing import strategies as sts

IMAGE = Box(0, 255, (84, 84, 3), np.uint8)
KINDS = (Box, Dict, Discrete, MaskedBox, MultiBinary, MultiDiscrete, Sequence, Tuple)


def minimal(strategy, condition):
    return find(strategy, condition, settings=settings(database=None, max_examples=2000))


class Coin(Space):
    """A space of one's own."""

    def sample(self, mask=None):
        return str(self.rng.choice(["heads", "tails"]))

    def contains(self, x):
        return x in ("heads", "tails")

    @property
    def is_flattenable(self):
        return False


class Die(Coin):
    """Another one, for which strategies are registered."""

    def contains(self, x):
        return x in range(1, 7)


sts.elements.register(Die, lambda space: st.integers(1, 6))
sts.non_elements.register(Die, lambda space: st.just(7))


@given(st.data())
def test_elements_are_elements_of_the_types_of_samples(data):
    space = data.draw(sts.spaces())
    x = data.draw(sts.elements(space))
    assert space.contains(x)
    assert type(x) is type(space.sample())
    if isinstance(x, np.ndarray) and not isinstance(space, Sequence):
        assert (x.dtype, x.shape) == (space.dtype, space.shape)


@given(st.data())
def test_non_elements_are_none(data):
    space = data.draw(sts.spaces())
    assert not space.contains(data.draw(sts.non_elements(space)))


@given(st.data())
def test_masks_are_accepted(data):
    space = data.draw(sts.spaces())
    assert space.contains(space.sample(data.draw(sts.masks(space))))


@pytest.mark.parametrize("dtype", [bool, np.longdouble, complex])
@given(data=st.data())
def test_boxes_that_cannot_be_sampled_have_elements_all_the_same(dtype, data):
    box = Box(0, 1, (2,), dtype)
    assert box.contains(data.draw(sts.elements(box)))
    assert not box.contains(data.draw(sts.non_elements(box)))


@settings(max_examples=20)
@given(st.data())
def test_large_spaces_are_no_trouble(data):
    space = Dict(image=IMAGE, moves=MultiDiscrete([5] * 100), bits=MultiBinary(1000))
    assert space.contains(data.draw(sts.elements(space)))
    assert not space.contains(data.draw(sts.non_elements(space)))
    assert space.contains(space.sample(data.draw(sts.masks(Dict(image=IMAGE, bits=MultiBinary(1000))))))
    actions = data.draw(sts.action_sequences(IMAGE, length=20))
    assert len(actions) == 20


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_space_is_generated(kind):
    find(
        sts.spaces(),
        lambda space: type(space) is kind,
        settings=settings(phases=[Phase.generate], database=None, max_examples=2000),
    )


@given(st.data())
def test_depth_is_bounded(data):
    depth = data.draw(st.integers(0, 3))
    assert nesting(data.draw(sts.spaces(depth))) <= depth


def nesting(space):
    if isinstance(space, MaskedBox):
        return 0
    if isinstance(space, (Dict, Tuple)):
        return 1 + max(map(nesting, space.parts), default=0)
    return 1 + nesting(space.feature_space) if isinstance(space, Sequence) else 0


def test_spaces_come_seeded_so_that_failures_replay():
    space = minimal(sts.spaces(), lambda space: isinstance(space, MultiBinary) and space.n == (2,))
    twin = minimal(sts.spaces(), lambda space: isinstance(space, MultiBinary) and space.n == (2,))
    assert [space.sample().tolist() for _ in range(9)] == [twin.sample().tolist() for _ in range(9)]


LEAF = r"(Discrete\(1\)|MultiBinary\(.*\))"


@pytest.mark.parametrize(
    ("condition", "smallest"),
    [
        (lambda space: True, LEAF),
        (lambda space: type(space) is Discrete, r"Discrete\(1\)"),
        (lambda space: type(space) is Box, r"Box\((0.0, 0.0, \(\)|\[\], \[\], \(0,\)), float32\)"),
        (lambda space: type(space) is Box and np.isinf(space.high).any(), r"Box\(0.0, inf, \(\), float32\)"),
        (lambda space: type(space) is Dict and len(space), rf"Dict\({{a: {LEAF}}}\)"),
        (lambda space: type(space) is Tuple and len(space) == 2, rf"Tuple\({LEAF}, {LEAF}\)"),
        (lambda space: type(space) is Sequence and space.stack, rf"Sequence\({LEAF}, stack=True\)"),
    ],
)
def test_spaces_shrink_to_small_ones(condition, smallest):
    assert re.fullmatch(smallest, repr(minimal(sts.spaces(), condition)))


@pytest.mark.parametrize(
    ("space", "condition", "smallest"),
    [
        (Box(-9, 9, (3,)), lambda x: x[1] > 0.5, [0, 1, 0]),
        (Box(-9, 9, (3,), np.int8), lambda x: x.max() > 4, [0, 0, 5]),
        (MultiDiscrete([3, 4], start=[1, 1]), lambda x: x[1] > 2, [1, 3]),
        (MultiBinary(3), lambda x: x.any(), [0, 0, 1]),
        (Discrete(9), lambda x: x > 4, 5),
        (Sequence(Discrete(9)), lambda x: len(x) > 1, (0, 0)),
    ],
)
def test_elements_shrink_towards_zeros(space, condition, smallest):
    np.testing.assert_array_equal(minimal(sts.elements(space), condition), smallest)


def test_elements_reach_the_bounds_and_infinity():
    box = Box(-3, np.inf)
    assert minimal(sts.elements(box), lambda x: x == -3) == -3
    assert minimal(sts.elements(box), np.isinf) == np.inf


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x: isinstance(x, dict) and x.keys() == {"a"},
        lambda x: isinstance(x, dict) and x.keys() == {"a", "b"} and x["a"] == 2,
        lambda x: isinstance(x, dict) and len(x) == 3,
        lambda x: x is None,
    ],
)
def test_non_elements_are_often_near_misses(wrong):
    minimal(sts.non_elements(Dict(a=Discrete(2), b=MultiBinary(1))), wrong)


def test_sequences_of_actions():
    actions = sts.action_sequences(Discrete(3), length=20, min_length=1)
    assert minimal(actions, lambda xs: 2 in xs) == [2]
    assert minimal(sts.action_sequences(Discrete(3), length=3), lambda xs: True) == [0, 0, 0]


@given(sts.env_ids())
def test_ids_are_registered(id):
    assert sekai.spec(id).id == id


@given(st.data())
def test_spaces_of_ones_own(data):
    coins = Tuple([Coin(), Die()])
    x = data.draw(sts.elements(coins))
    assert x[0] in ("heads", "tails")
    assert x[1] in range(1, 7)
    assert not coins.contains(data.draw(sts.non_elements(coins)))
    assert data.draw(sts.masks(Coin())) is None
