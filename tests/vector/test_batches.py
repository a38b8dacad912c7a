"""Rows of nested batches."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sekai.spaces import Box, Dict, Discrete, Sequence, Tuple, concatenate
from sekai.testing import strategies as sts
from sekai.vector.batches import as_arrays, as_batch, choose, map_arrays, merge, put, take

WORDS = Sequence(Box(0, 9, (1,), np.int64))
NESTED = Dict({"d": Discrete(3), "t": Tuple([Box(0, 9, (2,), np.float64), WORDS])})
SPACES = sts.spaces().filter(lambda space: space.holds_data)


def batch_of(space, n):
    return concatenate(space, [space.sample() for _ in range(n)])


@given(SPACES, st.integers(1, 4))
def test_batches_become_arrays_and_batches_again(space, n):
    batch = batch_of(space, n)
    assert str(as_batch(space, as_arrays(space, batch))) == str(batch)
    sizes = []
    map_arrays(lambda array: sizes.append(len(array)), as_arrays(space, batch))
    assert set(sizes) == {n}


@given(SPACES, st.integers(1, 4))
def test_lists_of_elements_become_batches(space, n):
    elements = [space.sample() for _ in range(n)]
    assert str(as_batch(space, as_arrays(space, elements))) == str(concatenate(space, elements))


@given(SPACES, st.lists(st.booleans(), min_size=1, max_size=5))
def test_rows_are_taken_and_put_back(space, flags):
    flags = np.array(flags)
    batch = as_arrays(space, batch_of(space, flags.size))
    other = as_arrays(space, batch_of(space, flags.size))
    mixed = choose(flags, batch, other)
    assert str(take(mixed, flags)) == str(take(batch, flags))
    assert str(take(mixed, ~flags)) == str(take(other, ~flags))
    put(other, np.flatnonzero(flags), take(batch, flags))
    assert str(other) == str(mixed)


def test_what_is_taken_is_a_copy():
    arrays = as_arrays(NESTED, batch_of(NESTED, 3))
    rows = take(arrays, np.array([1]))
    rows["t"][0][:] = -1
    assert (arrays["t"][0] >= 0).all()


def test_elements_of_sequences_are_copied():
    batch = (np.array([[1]]), np.array([[2]]))
    arrays = as_arrays(WORDS, batch)
    batch[0][0] = 5
    again = as_batch(WORDS, arrays)
    assert again[0].tolist() == [[1]]
    again[0][0] = 7
    assert arrays[0].tolist() == [[1]]


@given(SPACES, st.permutations(range(6)), st.integers(0, 6), st.integers(0, 6))
def test_parts_are_merged_in_order(space, lanes, first, last):
    batch = as_arrays(space, batch_of(space, 6))
    cuts = sorted([first, last])
    groups = [np.sort(np.array(group, np.int64)) for group in np.split(lanes, cuts)]
    merged, rows = merge(space, [(group, as_batch(space, take(batch, group))) for group in groups])
    assert merged.tolist() == list(range(6))
    assert str(rows) == str(as_batch(space, batch))
