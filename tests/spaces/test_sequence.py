"""Sequence: lengths, packing, stacks, membership and batches."""

import numpy as np
import pytest

from sekai.spaces import Box, Dict, Discrete, MaskedBox, MultiBinary, MultiDiscrete, Sequence, Tuple


def stacked(space, **kwargs):
    return Sequence(space, stack=True, **kwargs)


@pytest.mark.parametrize(
    ("args", "kwargs", "error", "words"),
    [
        ((3,), {}, TypeError, "feature_space must be"),
        ((Discrete(2),), {"max_length": -1}, ValueError, "max_length must not be negative"),
        ((Discrete(2),), {"max_length": 2.0}, TypeError, "max_length must be an int"),
        ((Sequence(Discrete(2)),), {"stack": True}, TypeError, "stack=True"),
        ((Tuple([Sequence(Discrete(2))]),), {"stack": True}, TypeError, "stack=True"),
        ((Dict(a=Tuple([])),), {"stack": True}, TypeError, "no sub-space holding data"),
    ],
)
def test_bad_arguments_are_named(args, kwargs, error, words):
    with pytest.raises(error, match=words):
        Sequence(*args, **kwargs)


def test_lengths_and_elements_have_streams_of_their_own():
    space = Sequence(Discrete(10), max_length=5, seed=0)
    samples = [[int(v) for v in space.sample()] for _ in range(6)]
    assert samples == [[2, 3, 0, 4, 5], [6, 9, 5], [1, 5, 8], [1], [8], []]
    free = Sequence(Discrete(100), seed=3)
    samples = [[int(v) for v in free.sample()] for _ in range(4)]
    assert samples == [[], [2], [33, 14, 82, 28], [35, 91, 37, 48, 37, 15, 6]]


def test_masks_fix_the_length_and_restrict_the_elements():
    space = Sequence(Discrete(3), max_length=4, seed=0)
    assert space.sample((3, [0, 1, 0])) == (1, 1, 1)
    assert space.sample((0, None)) == ()
    assert set(space.sample((None, [0, 0, 1]))) <= {2}
    for draw in (space.sample, lambda mask: space.sample_batch(2, mask)):
        with pytest.raises(ValueError, match="at most max_length=4"):
            draw((5, None))
        with pytest.raises(ValueError, match="must not be negative"):
            draw((-1, None))
        with pytest.raises(TypeError, match="mask length must be an int"):
            draw((2.5, None))
        with pytest.raises(TypeError):
            draw(3)
        with pytest.raises(ValueError, match="unpack"):
            draw((1, None, None))


def test_batches_of_sequences():
    space = Sequence(Discrete(3), max_length=4, seed=0)
    batch = space.sample_batch(400)
    assert {len(x) for x in batch} == {0, 1, 2, 3, 4}
    assert space.contains_batch(batch).all()
    assert [len(x) for x in space.sample_batch(3, ([1, 0, 4], [0, 1, 0]))] == [1, 0, 4]
    assert space.contains_batch([(1,), (3,), (0,) * 5, 7]).tolist() == [True, False, False, False]
    with pytest.raises(ValueError, match="x must be a batch"):
        space.contains_batch(7)


def test_unbounded_lengths_are_geometric_in_samples_and_batches():
    space = Sequence(MultiBinary(1), seed=0)
    lengths = np.array([len(x) for x in space.sample_batch(10_000)])
    # Mean 3, variance 12; the standard error of the mean is 0.035, that of the share of empty ones 0.0043.
    assert abs(lengths.mean() - 3) < 0.2
    assert abs((lengths == 0).mean() - 0.25) < 0.025
    rng = np.random.default_rng(0)
    assert [len(space.sample()) for _ in range(20)] == [int(rng.geometric(0.25)) - 1 for _ in range(20)]


@pytest.mark.parametrize(
    ("space", "shape", "dtype"),
    [
        (Box(0, 1, (2,)), (0, 2), "float32"),
        (Discrete(3), (0,), "int64"),
        (MultiDiscrete([2, 3], np.int8), (0, 2), "int8"),
        (MultiBinary((2, 2)), (0, 2, 2), "int8"),
    ],
)
def test_an_empty_stack_is_a_batch_without_rows(space, shape, dtype):
    sequence = stacked(space)
    empty = sequence.pack([])
    assert (empty.shape, str(empty.dtype)) == (shape, dtype)
    assert sequence.contains(empty)
    assert not sequence.contains(np.zeros((0, 7)))
    assert not sequence.contains(empty.astype(complex))
    assert sequence.elements(empty) == []


def test_pack_and_elements_are_inverse():
    plain, stack = Sequence(Discrete(3)), stacked(Dict(a=Discrete(3), b=Tuple([])))
    assert plain.elements(plain.pack([1, 2])) == [1, 2]
    x = stack.pack([{"a": 1, "b": ()}, {"a": 2, "b": ()}])
    assert x["a"].tolist() == [1, 2]
    assert stack.elements(x) == [{"a": 1, "b": ()}, {"a": 2, "b": ()}]


@pytest.mark.parametrize(
    ("x", "inside"),
    [
        ((1, 2), True),
        ([1, 2], True),
        ((), True),
        ((1, 2, 3), False),
        ((1, 12), False),
        (np.array([1, 2]), False),
        (5, False),
    ],
)
def test_membership(x, inside):
    assert Sequence(Discrete(10), max_length=2).contains(x) is inside


@pytest.mark.parametrize(
    ("x", "inside"),
    [
        ({"a": np.array([0, 1]), "b": np.array([0, 1])}, True),
        ({"a": np.zeros(0, int), "b": np.zeros(0, int)}, True),
        ({"a": np.zeros(0, int), "b": np.zeros(0, int), "c": 1}, False),
        ({"a": np.zeros(0), "b": np.zeros(0, int)}, False),
        ({"a": np.array([0, 1]), "b": np.array([0])}, False),
        ({"a": np.array([0, 3]), "b": np.array([0, 1])}, False),
        ({"a": np.zeros(4, int), "b": np.zeros(4, int)}, False),
        ({"a": [0, 1], "b": [0, 1]}, False),
        ({"a": np.array(0), "b": np.array(0)}, False),
        ({}, False),
        (({"a": 0, "b": 0},), False),
        (None, False),
    ],
)
def test_membership_of_stacks(x, inside):
    assert stacked(Dict(a=Discrete(3), b=Discrete(3)), max_length=3).contains(x) is inside


def test_stacks_of_masked_boxes_keep_their_fill_values():
    feature = MaskedBox(1, 2, (1,), max_size=2)
    space = stacked(feature)
    x = space.pack([feature.empty(), feature.pack([1.5])])
    assert space.contains(x)
    x["values"][0, 0] = 2.0  # an empty slot
    assert not space.contains(x)


def test_repr_equality_and_json():
    space = Sequence(Discrete(2))
    assert repr(space) == "Sequence(Discrete(2))"
    assert repr(stacked(Discrete(2), max_length=0)) == "Sequence(Discrete(2), max_length=0, stack=True)"
    assert space == Sequence(Discrete(2), seed=3)
    for other in (Sequence(Discrete(3)), Sequence(Discrete(2), max_length=1), stacked(Discrete(2)), Discrete(2)):
        assert space != other
    assert Sequence.from_jsonable({"feature_space": {"type": "Discrete", "n": 2}}) == space
