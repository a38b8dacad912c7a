"""The kernels of rollouts that count episodes; the driver is tested with `sekai.rollout`."""

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekai.kernels import rollout
from sekai.kernels.episode import BLOCK

EPISODES = st.lists(st.tuples(st.floats(-1e3, 1e3), st.integers(1, 10**6)), max_size=20)


@given(blocks=st.lists(EPISODES, min_size=1, max_size=4))
def test_merged_statistics_are_those_of_all_episodes(blocks):
    stats = np.zeros((len(blocks), 5))
    for stat, episodes in zip(stats, blocks, strict=True):
        for total, length in episodes:
            rollout.add_episode(total, length, stat)
    rollout.merge_stats(stats)
    rows = np.array([row for episodes in blocks for row in episodes], float).reshape(-1, 2)
    assert stats[0, 0] == len(rows)
    if len(rows):
        squares = ((rows - rows.mean(axis=0)) ** 2).sum(axis=0)
        # Some roundings, of the largest number; of squares, of its square.
        np.testing.assert_allclose(stats[0, [1, 3]], rows.mean(axis=0), rtol=1e-13, atol=1e-12)
        np.testing.assert_allclose(stats[0, [2, 4]], squares, rtol=1e-11, atol=1e-9)


def test_no_episode_leaves_the_statistics_empty():
    stats = np.zeros((3, 5))
    rollout.merge_stats(stats)
    assert not stats.any()


def test_track_counts_the_valid_rows_block_by_block():
    n = BLOCK + 2
    returns, lengths, stats = np.zeros(n), np.zeros(n, np.int64), np.zeros((2, 5))
    valid, ended = np.ones(n, bool), np.zeros(n, bool)
    valid[0] = False
    for step in range(3):
        ended[[1, BLOCK]] = step == 2
        rollout.track(returns, lengths, np.arange(n, dtype=float), valid, ended, stats)
    assert np.array_equal(returns[1:], 3.0 * np.arange(1, n))
    assert (returns[0], lengths[0], lengths[1]) == (0.0, 0, 3)
    assert stats[:, :4].tolist() == [[1.0, 3.0, 0.0, 3.0], [1.0, 3.0 * BLOCK, 0.0, 3.0]]


@pytest.mark.parametrize(("rows", "want"), [(1, 0), (5, 3)])
def test_a_single_row_holds_every_step(rows, want):
    array = np.arange(rows)[:, None] + np.zeros((rows, 4))
    assert rollout.at_step(array, 3, 1, 3).tolist() == [want, want]
    assert [part.tolist() for part in rollout.at_step((array, -array), 3, 1, 3)] == [[want, want], [-want, -want]]


@pytest.mark.parametrize(("rows", "want"), [(1, 0), (5, 3)])
def test_the_compiler_gets_the_same_for_arrays_and_tuples(rows, want):
    array = np.arange(rows)[:, None] + np.zeros((rows, 4))
    index = numba.int64
    one = rollout._compile_at_step(numba.typeof(array), index, index, index)
    two = rollout._compile_at_step(numba.typeof((array, array)), index, index, index)
    assert one(array, 3, 1, 3).tolist() == [want, want]
    assert [part.tolist() for part in two((array, -array), 3, 1, 3)] == [[want, want], [-want, -want]]
