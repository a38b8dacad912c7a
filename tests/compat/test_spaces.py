"""Spaces of sekai as those of gymnasium, and back."""

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings

import sekai
from sekai.compat import space_from_gymnasium, space_to_gymnasium
from sekai.compat.spaces import as_declared
from sekai.spaces import Sequence, Space
from sekai.testing import strategies

GYM = gymnasium.spaces
BOTH = [
    (sekai.Box(-1, [1, np.inf], (2,)), GYM.Box(np.float32([-1, -1]), np.float32([1, np.inf]))),
    (sekai.Box(0, 255, (2, 3), np.uint8), GYM.Box(0, 255, (2, 3), np.uint8)),
    (sekai.Box(0, 1, (), np.float64), GYM.Box(0, 1, (), np.float64)),
    (sekai.Discrete(5, start=-2), GYM.Discrete(5, start=-2)),
    (
        sekai.MultiDiscrete([[2, 3], [4, 5]], start=[[1, 0], [0, 2]], dtype=np.int32),
        GYM.MultiDiscrete([[2, 3], [4, 5]], np.int32, start=[[1, 0], [0, 2]]),
    ),
    (sekai.MultiBinary(4), GYM.MultiBinary(4)),
    (sekai.MultiBinary((2, 3)), GYM.MultiBinary((2, 3))),
    (sekai.Dict({}), GYM.Dict([])),
    (sekai.Tuple([sekai.Discrete(2), sekai.MultiBinary(2)]), GYM.Tuple([GYM.Discrete(2), GYM.MultiBinary(2)])),
    (sekai.Sequence(sekai.Discrete(3)), GYM.Sequence(GYM.Discrete(3))),
    (sekai.Sequence(sekai.Box(0, 1, (2,)), stack=True), GYM.Sequence(GYM.Box(0, 1, (2,)), stack=True)),
]


def anywhere(holds, space: Space) -> bool:
    """Whether something holds of a space or a space in it."""
    parts = space.values() if isinstance(space, sekai.Dict) else getattr(space, "spaces", [])
    inside = [space.feature_space] if isinstance(space, Sequence) else parts
    return holds(space) or any(anywhere(holds, part) for part in inside)


def has_no_bits(space: Space) -> bool:
    return isinstance(space, sekai.MultiBinary) and 0 in space.n


def loses_something(space: Space) -> bool:
    return isinstance(space, sekai.MaskedBox) or getattr(space, "max_length", None) is not None


@pytest.mark.parametrize(("ours", "theirs"), BOTH, ids=repr)
def test_both_ways(ours, theirs):
    assert space_to_gymnasium(ours) == theirs
    assert space_from_gymnasium(theirs) == ours
    ours.seed(0), theirs.seed(0)
    for _ in range(20):
        assert theirs.contains(ours.sample())
        assert ours.contains(theirs.sample())


def stacks_numbers(space: Space) -> bool:
    """Whether elements of a stack have no axes: gymnasium then looks at NumPy's scalars, which it does not accept."""
    return getattr(space, "stack", False) and anywhere(lambda part: part.shape == (), space.feature_space)


@settings(deadline=None)
@given(strategies.spaces().filter(lambda space: not anywhere(has_no_bits, space)))
def test_any_space_comes_back(space):
    theirs = space_to_gymnasium(space)
    assert (space_from_gymnasium(theirs) == space) is not anywhere(loses_something, space)
    space.seed(0)
    assert anywhere(stacks_numbers, space) or theirs.contains(space.sample())


def test_gymnasium_has_no_empty_multi_binary():
    with pytest.raises(ValueError, match="have to be positive"):
        space_to_gymnasium(sekai.MultiBinary(0))


def test_one_axis_of_bits_is_an_int():
    assert space_to_gymnasium(sekai.MultiBinary(3)).n == 3  # Stable-Baselines3 asks for it


def test_keys_keep_their_order():
    space = sekai.Dict({"z": sekai.Discrete(2), "a": sekai.Dict({"y": sekai.MultiBinary(2), "b": sekai.Discrete(3)})})
    theirs = space_to_gymnasium(space)
    assert [*theirs.spaces, *theirs["a"].spaces] == ["z", "a", "y", "b"]
    assert list(space_from_gymnasium(theirs)["a"].keys()) == ["y", "b"]


def test_what_gymnasium_does_not_have():
    box = sekai.MaskedBox(-1.0, 1.0, shape=(2,), max_size=3)
    values, mask = sekai.Box(-1.0, 1.0, (3, 2)), sekai.MultiBinary(3)
    assert space_from_gymnasium(space_to_gymnasium(box)) == sekai.Dict({"values": values, "mask": mask})
    short = sekai.Sequence(sekai.Discrete(2), max_length=3)
    assert space_from_gymnasium(space_to_gymnasium(short)) == sekai.Sequence(sekai.Discrete(2))
    assert space_from_gymnasium(GYM.Discrete(3, dtype=np.int32)) == sekai.Discrete(3)


def test_nothing_is_shared_and_nothing_is_seeded():
    space = sekai.Box(-1, 1, (2,), seed=0)
    theirs = space_to_gymnasium(space)
    assert not np.shares_memory(space.low, theirs.low)
    assert not np.shares_memory(space_from_gymnasium(theirs).low, theirs.low)
    assert theirs._np_random is None


@pytest.mark.parametrize("space", [None, GYM.Discrete(2), sekai.Discrete, {"a": sekai.Discrete(2)}], ids=repr)
def test_no_sekai_space(space):
    with pytest.raises(TypeError, match="space_to_gymnasium takes a sekai space"):
        space_to_gymnasium(space)


@pytest.mark.parametrize(
    "space",
    [
        None,
        sekai.Discrete(2),
        GYM.Text(5),
        GYM.Graph(GYM.Discrete(2), None),
        GYM.OneOf([GYM.Discrete(2)]),
        GYM.Dict({"a": GYM.Tuple([GYM.Text(5)])}),
        GYM.Sequence(GYM.Text(5)),
    ],
    ids=repr,
)
def test_no_counterpart(space):
    with pytest.raises(TypeError, match="space_from_gymnasium has no counterpart for"):
        space_from_gymnasium(space)


def test_arrays_get_the_dtype_of_their_box():
    space = sekai.Dict(
        {"a": sekai.Box(0, 1, (2,)), "b": sekai.Tuple([sekai.Box(0, 9, (), np.uint8), sekai.Discrete(2)])}
    )
    right = {"a": np.zeros(2, np.float32), "b": (np.uint8(3), 1)}
    assert as_declared(space, right)["a"] is right["a"]
    wide = as_declared(space, {"a": np.array([0.1, 0.2]), "b": (np.array(3, np.uint16), 1)})
    assert wide["a"].dtype == np.float32
    assert wide["a"].tolist() == np.float32([0.1, 0.2]).tolist()
    assert wide["b"][0].dtype == np.uint8
    assert wide["b"][1] == 1


@pytest.mark.parametrize("x", [np.array([0.5, 1.5]), None, {"a": 1}])
def test_what_does_not_fit_is_left_alone(x):
    assert as_declared(sekai.Box(0, 9, (2,), np.int64), x) is x
    assert as_declared(sekai.Tuple([sekai.Discrete(2)]), x) is x
    assert as_declared(sekai.Dict({"b": sekai.Discrete(2)}), x) is x
