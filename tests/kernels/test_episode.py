"""The parts of the drivers that are the same for all environments. `tests/vector` tests the drivers as a whole."""

from collections import namedtuple

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekai.kernels import episode, kernel

Book = namedtuple("Book", episode.BOOK)

flags = st.integers(1, 40).flatmap(
    lambda n: st.tuples(*(st.lists(st.booleans(), min_size=n, max_size=n).map(np.array) for _ in range(2)))
)


def book_of(n):
    """The book-keeping of lanes in the middle of episodes of different ages."""
    return Book(np.arange(n, dtype=np.float64), np.arange(n), np.zeros(n, np.int64))


@given(flags, st.integers(1, 45))
def test_tally_counts_a_step_and_ends_episodes_at_the_limit(flags, limit):
    terminated, truncated = (array.copy() for array in flags)
    n = terminated.size
    book, rewards = book_of(n), np.linspace(-1.0, 1.0, n)
    elapsed = np.zeros(n, np.int64)
    ended = episode.tally(book, limit, rewards, terminated, truncated, elapsed)
    assert book.episode_return.tolist() == (np.arange(n) + rewards).tolist()
    assert book.elapsed.tolist() == elapsed.tolist() == list(range(1, n + 1))
    assert terminated.tolist() == flags[0].tolist()
    assert truncated.tolist() == (flags[1] | (np.arange(1, n + 1) >= limit)).tolist()
    assert ended == (terminated | truncated).sum()


@given(flags)
def test_ends_are_gathered_in_order(flags):
    terminated, truncated = flags
    lanes = np.flatnonzero(terminated | truncated)
    ends = np.full(terminated.size + 3, -1)
    ends[:2] = 7, 8
    count = episode.gather_ends(terminated, truncated, 100, ends, 2)
    assert count == 2 + lanes.size
    assert ends[:count].tolist() == [7, 8, *(100 + lanes)]


@given(flags)
def test_endings_are_noted_as_bits(flags):
    terminated, truncated = flags
    book = book_of(terminated.size)
    episode.note_endings(book, terminated, truncated)
    assert book.ending.tolist() == (terminated * episode.TERMINATED + truncated * episode.TRUNCATED).tolist()


def test_an_episode_starts_with_nothing():
    book = Book(np.array([1.0, 2.0]), np.array([3, 4]), np.array([0, 1]))
    episode.start_episode(book, 1)
    assert (book.episode_return.tolist(), book.elapsed.tolist()) == ([1.0, 0.0], [3, 0])


@pytest.mark.parametrize(("row", "found"), [([0, 0, 0], False), ([0, 2, 0], True), ([-1, 0, 1], True), ([], False)])
def test_any_nonzero(row, found):
    assert episode.any_nonzero(np.array(row, np.int64)) == found


@kernel
def number(actions, i, k):
    return episode.number(actions, i, k)


def test_numbers_of_an_action_are_counted_through_all_its_axes():
    assert number(np.array([3, 4]), 1, 0) == 4
    assert number(np.arange(6.0).reshape(2, 3), 1, 2) == 5.0
    assert number(np.arange(12.0).reshape(2, 2, 3), 1, 4) == 10.0


@pytest.mark.parametrize(("shape", "k", "want"), [((6,), 0, 1.0), ((2, 3), 2, 5.0), ((2, 2, 3), 4, 10.0)])
def test_the_compiler_gets_the_number_by_the_rank_of_actions(shape, k, want):
    actions = np.arange(np.prod(shape), dtype=np.float64).reshape(shape)
    assert episode._compile_number(numba.typeof(actions), numba.int64, numba.int64)(actions, 1, k) == want


ACTIONS = np.array([[0.0, -1.0], [0.5, 3.0], [np.nan, 0.0], [1.0, 2.0], [0.0, np.inf]])
BOUNDS = np.array([[0.0, -1.0], [1.0, 2.0]])


def test_actions_within_bounds_are_valid_and_nan_is_not():
    assert [bool(episode.within(ACTIONS, BOUNDS, i)) for i in range(5)] == [True, False, False, True, False]
    unbounded = np.array([[-np.inf, -np.inf], [np.inf, np.inf]])
    assert [bool(episode.within(ACTIONS, unbounded, i)) for i in range(5)] == [True, True, False, True, True]


@pytest.mark.parametrize(
    ("waiting", "masked_out", "first"),
    [
        ((), (), 1),
        ((1,), (), 2),
        ((), (1, 2), 4),
        ((4, 2), (1,), -1),
    ],
)
def test_the_first_invalid_action_is_that_of_a_lane_to_be_stepped(waiting, masked_out, first):
    ending, mask = np.zeros(5, np.int64), np.ones(5, np.bool_)
    ending[list(waiting)] = episode.TERMINATED
    mask[list(masked_out)] = False
    assert episode.first_invalid(ACTIONS, BOUNDS, ending, mask, bool(masked_out)) == first


def test_a_mask_that_is_not_in_use_is_not_looked_at():
    nobody = np.zeros(5, np.bool_)
    assert episode.first_invalid(ACTIONS, BOUNDS, np.zeros(5, np.int64), nobody, False) == 1
    assert episode.first_invalid(ACTIONS[:1], BOUNDS, np.zeros(1, np.int64), nobody[:1], False) == -1


@pytest.mark.parametrize("lanes", [1, 1023, 1024, 1025, 5000])
def test_blocks_have_places_for_their_ends_and_one_more(lanes):
    places = [episode.place(first) for first in range(0, lanes, episode.BLOCK)]
    assert places == [first + k for k, first in enumerate(range(0, lanes, episode.BLOCK))]


@kernel
def copy_row(to, k, source, i):
    episode.copy_row(to, k, source, i)


@pytest.mark.parametrize("shape", [(), (3,), (3, 2)])
def test_rows_are_copied(shape):
    source = np.arange(4.0 * np.prod(shape, dtype=int)).reshape(4, *shape)
    to = np.zeros((2, *shape))
    copy_row(to, 1, source, 2)
    assert to.tolist() == [np.zeros(shape).tolist(), source[2].tolist()]


def test_columns_are_copied_and_exchanged():
    first, second = np.arange(6.0).reshape(2, 3), 10 + np.arange(6.0).reshape(2, 3)
    episode.swap_columns(first, 0, second, 2)
    assert (first.tolist(), second.tolist()) == ([[12, 1, 2], [15, 4, 5]], [[10, 11, 0], [13, 14, 3]])
    episode.copy_column(first, 1, second, 0)
    assert first.tolist() == [[12, 10, 2], [15, 13, 5]]
