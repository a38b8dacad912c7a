"""batch_space, concatenate and iterate."""

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
    batch_space,
    concatenate,
    iterate,
)
from sekai.testing import strategies as sts
from sekai.utils.seeding import make_seed_sequence


class Word(Space):
    """A space that the functions do not know."""

    def sample(self, mask=None):
        return "word"

    def contains(self, x):
        return x == "word"

    @property
    def is_flattenable(self):
        return False


@given(st.data())
def test_concatenate_gives_a_batch_and_iterate_takes_it_apart(data):
    space = data.draw(sts.spaces().filter(lambda space: space.holds_data))
    items = data.draw(st.lists(sts.elements(space), min_size=1, max_size=3))
    batch = concatenate(space, items)
    assert batch_space(space, len(items)).contains(batch)
    np.testing.assert_equal(list(iterate(space, batch)), items)
    np.testing.assert_equal(concatenate(space, iterate(space, batch)), batch)
    assert space.contains_batch(batch).all()


@given(st.data())
def test_batch_membership_is_membership_of_the_elements(data):
    space = data.draw(sts.spaces().filter(lambda space: space.holds_data))
    wider = data.draw(st.sampled_from([space, relaxed(space)]))
    items = data.draw(st.lists(sts.elements(wider), min_size=1, max_size=3))
    batch = concatenate(wider, items)
    np.testing.assert_array_equal(space.contains_batch(batch), [space.contains(x) for x in iterate(wider, batch)])


def relaxed(space):
    """A space of the same structure whose elements lie partly outside of `space`."""
    match space:
        case MaskedBox():
            return Dict(values=relaxed(space["values"]), mask=relaxed(space["mask"]))
        case Dict():
            return Dict({key: relaxed(part) for key, part in space.items()})
        case Tuple():
            return Tuple([relaxed(part) for part in space])
        case Box():
            return Box(-np.inf, np.inf, space.shape, space.dtype)
        case Discrete():
            return Discrete(space.n + 2, start=space.start - 1)
        case MultiDiscrete():
            return MultiDiscrete(space.nvec + 1, space.dtype, start=space.start)
        case MultiBinary():
            return MultiDiscrete(np.full(space.n, 3), np.int8)
        case Sequence():
            return Sequence(relaxed(space.feature_space), stack=space.stack)


@pytest.mark.parametrize(
    ("space", "batch"),
    [
        (Box([0, 1], [2, 3], dtype=np.int8), Box([[0, 1]] * 3, [[2, 3]] * 3, dtype=np.int8)),
        (Discrete(4, start=2), MultiDiscrete([4, 4, 4], start=[2, 2, 2])),
        (MultiDiscrete([2, 3], np.int8, start=[1, 0]), MultiDiscrete([[2, 3]] * 3, np.int8, start=[[1, 0]] * 3)),
        (MultiBinary((2, 1)), MultiBinary((3, 2, 1))),
        (Dict(a=Discrete(2)), Dict(a=MultiDiscrete([2, 2, 2]))),
        (Tuple([Discrete(2)]), Tuple([MultiDiscrete([2, 2, 2])])),
        (MaskedBox(0, 1, (1,), max_size=2), Dict(values=Box(0, 1, (3, 2, 1)), mask=MultiBinary((3, 2)))),
        (Tuple([]), Tuple([])),
    ],
)
def test_the_spaces_of_batches(space, batch):
    assert batch_space(space, 3) == batch


def test_seeded_batches():
    batch = batch_space(Discrete(5), 6)
    batch.seed(1)
    assert batch.sample().tolist() == [2, 2, 3, 4, 0, 0]


def test_a_batch_of_sequences_is_a_tuple_of_seeded_copies():
    space = Sequence(Discrete(100), max_length=4, seed=0)
    batch = batch_space(space, 4)
    assert [[int(v) for v in x] for x in batch.sample()] == [[], [54, 43, 57], [1, 29], []]
    twin = Sequence(Discrete(100), max_length=4, seed=0)
    copy = Sequence(Discrete(100), max_length=4, seed=make_seed_sequence(int(twin.rng.integers(2**63)), 4)[1])
    assert [int(v) for v in copy.sample()] == [54, 43, 57]
    assert space.sample() == twin.sample()  # one draw of the template, no more


@pytest.mark.parametrize(
    "space", [Box(0, 1, (2,)), Discrete(2), MultiDiscrete([2]), MultiBinary(2), Dict(a=Discrete(2))]
)
def test_nothing_stacks_to_no_batch(space):
    with pytest.raises(ValueError, match="at least one"):
        concatenate(space, [])


def test_parts_of_different_lengths_are_refused_at_the_call():
    with pytest.raises(ValueError, match="different numbers"):
        iterate(Dict(a=Discrete(2), b=Discrete(2)), {"a": np.zeros(2, int), "b": np.zeros(3, int)})
    with pytest.raises(ValueError, match="no sub-space holding data"):
        iterate(Tuple([Dict()]), ({},))


def test_lists_of_elements_are_gone_through_as_they_are():
    assert list(iterate(Dict(a=Discrete(2)), [{"a": 1}])) == [{"a": 1}]
    assert list(iterate(Tuple([Discrete(2)]), [(1,)])) == [(1,)]


def test_parts_without_data_get_values_of_their_own():
    rows = list(iterate(Dict(a=Discrete(2), b=Dict()), {"a": np.zeros(2, int), "b": {}}))
    assert rows == [{"a": 0, "b": {}}] * 2
    assert rows[0]["b"] is not rows[1]["b"]


def test_spaces_of_ones_own():
    space = Tuple([Word(), Discrete(2)])
    with pytest.raises(NotImplementedError, match="Word"):
        batch_space(space, 2)
    batch = concatenate(space, [("word", 0), ("word", 1)])
    assert batch[0] == ["word", "word"]
    assert list(iterate(space, batch)) == [("word", 0), ("word", 1)]
    assert space.sample_batch(3)[0] == ["word"] * 3
    assert space.contains_batch((["word", "x"], np.array([0, 0]))).tolist() == [True, False]
