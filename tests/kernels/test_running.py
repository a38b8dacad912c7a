"""Running statistics: the kernels against moments in exact fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekai.kernels import running

NUMBERS = st.floats(-1e6, 1e6, width=32)


def memory_for(d, count=0.0):
    memory = np.full((running.ROWS, running.width(d)), np.nan)  # scratch may hold anything
    memory[running.MEAN], memory[running.VAR], memory[running.WEIGHTS] = 0.0, 1.0, 0.0
    memory[running.WEIGHTS, running.COUNT] = count
    return memory


def exact_moments(rows):
    """Mean and variance of each column, as fractions."""
    columns = [[Fraction(float(x)) for x in column] for column in zip(*rows, strict=True)]
    means = [sum(column) / len(column) for column in columns]
    return means, [sum((x - m) ** 2 for x in c) / len(c) for c, m in zip(columns, means, strict=True)]


def assert_moments(memory, rows, scale):
    """Two passes and merging lose no more than some roundings: of the largest number, and of the variance."""
    for j, (mean, var) in enumerate(zip(*exact_moments(rows), strict=True)):
        assert memory[running.MEAN, j] == pytest.approx(float(mean), rel=1e-13, abs=1e-13 * scale)
        assert memory[running.VAR, j] == pytest.approx(float(var), rel=1e-11, abs=1e-20 * scale**2)


@given(data=st.data(), d=st.integers(1, 5), n=st.integers(1, 30), dtype=st.sampled_from([np.float32, np.float64]))
def test_moments_are_those_of_all_samples_however_they_are_batched(data, d, n, dtype):
    rows = np.array(data.draw(st.lists(st.lists(NUMBERS, min_size=d, max_size=d), min_size=n, max_size=n)), dtype)
    memory = memory_for(d)
    cuts = sorted(data.draw(st.sets(st.integers(1, n), max_size=3)) | {n})
    for first, last in zip([0, *cuts], cuts, strict=False):
        assert running.absorb(rows[first:last].reshape(-1), d, memory, running.RUNNING, 0.0, 0.0)
    assert memory[running.WEIGHTS, running.COUNT] == n
    assert_moments(memory, rows.astype(np.float64), max(1.0, float(np.abs(rows).max())))


@pytest.mark.parametrize(("n", "d"), [(2500, 3), (1024, 1), (1025, 1), (70, 65), (3, 200)])
def test_chunks_and_tiles_of_all_sizes(n, d):
    rows = np.random.default_rng(0).normal(3.0, 2.0, (n, d))
    memory = memory_for(d)
    assert running.absorb(rows.reshape(-1), d, memory, running.RUNNING, 0.0, 0.0)
    # NumPy's two passes lose some roundings, too.
    np.testing.assert_allclose(memory[running.MEAN, :d], rows.mean(0), rtol=1e-12)
    np.testing.assert_allclose(memory[running.VAR, :d], rows.var(0), rtol=1e-12)


def test_the_prior_counts_for_the_variance_only():
    memory = memory_for(1, count=1e-4)
    running.absorb(np.array([5.0]), 1, memory, running.RUNNING, 1e-4, 0.0)
    assert memory[running.MEAN, 0] == 5.0
    assert memory[running.VAR, 0] == 1e-4 / (1e-4 + 1.0)


def test_older_samples_weigh_less():
    decay, memory = 0.5, memory_for(1)
    samples = [3.0, -1.0, 4.0]
    for x in samples:
        running.absorb(np.array([x]), 1, memory, running.EXPONENTIAL, decay, 0.0)
    # Weights 1/4, 1/2, 1; all numbers are exact in binary but the quotients.
    mean = (3.0 / 4 - 1.0 / 2 + 4.0) / 1.75
    assert memory[running.WEIGHTS].tolist()[:2] == [3.0, 1.75]
    assert memory[running.MEAN, 0] == pytest.approx(mean, rel=1e-15)
    var = (0.25 * (3 - mean) ** 2 + 0.5 * (-1 - mean) ** 2 + (4 - mean) ** 2) / 1.75
    assert memory[running.VAR, 0] == pytest.approx(var, rel=1e-14)


def test_a_batch_may_count_as_one_sample():
    memory = memory_for(1)
    running.absorb(np.array([1.0, 3.0]), 1, memory, running.EXPONENTIAL, 0.5, 1.0)
    assert memory[[running.MEAN, running.VAR, running.WEIGHTS], 0].tolist() == [2.0, 1.0, 1.0]


def test_moments_of_a_batch_count_as_its_samples():
    memory = memory_for(1)
    running.absorb(np.array([1.0, 3.0]), 1, memory, running.RUNNING, 0.0, 0.0)
    memory[running.BATCH_MEAN, 0], memory[running.BATCH_VAR, 0] = 6.0, 4.0  # of 4 and 8
    assert running.absorb_moments(1, memory, running.RUNNING, 0.0, 2.0)
    assert memory[[running.MEAN, running.VAR, running.WEIGHTS], 0].tolist() == [4.0, 6.5, 4.0]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e200, 1e300])
@pytest.mark.parametrize("kind", [running.RUNNING, running.EXPONENTIAL])
@np.errstate(all="ignore")  # of NumPy's scalars, under NUMBA_DISABLE_JIT
def test_a_batch_with_what_is_no_sound_number_changes_nothing(bad, kind):
    memory = memory_for(2)
    running.absorb(np.array([1.0, 2.0, 3.0, 4.0]), 2, memory, kind, 0.5, 0.0)
    before = memory[:3].copy()
    out = np.full(4, 7.0)
    batch = np.array([1.0, bad, 1.0, 1.0])
    assert not running.absorb(batch, 2, memory, kind, 0.5, 0.0)
    assert not running.normalize(batch, 2, memory, True, kind, 0.5, 0.0, 1e-8, np.inf, out)
    assert not running.absorb(np.array([1.0, bad, 1.0, -bad]), 2, memory, kind, 0.5, 0.0)
    memory[running.BATCH_MEAN, :2], memory[running.BATCH_VAR, :2] = [1.0, bad], 1.0
    assert not running.absorb_moments(2, memory, kind, 0.5, 3.0)
    np.testing.assert_array_equal(memory[:3, :2], before[:, :2])
    assert out.tolist() == [7.0] * 4


def test_normalisation_subtracts_scales_and_clips():
    memory = memory_for(2)
    memory[running.MEAN, :2], memory[running.VAR, :2] = [1.0, -2.0], [4.0, 0.25]
    out = np.empty(6)
    x = np.array([1.0, -2.0, 5.0, np.nan, -99.0, 0.0])
    assert running.normalize(x, 2, memory, False, running.RUNNING, 0.0, 0.0, 0.0, 3.0, out)
    np.testing.assert_array_equal(out, [0.0, 0.0, 2.0, np.nan, -3.0, 3.0])


def test_normalisation_may_learn_from_the_batch_first():
    memory, out = memory_for(1), np.empty(2)
    assert running.normalize(np.array([1.0, 5.0]), 1, memory, True, running.RUNNING, 0.0, 0.0, 0.0, np.inf, out)
    assert memory[[running.MEAN, running.VAR, running.WEIGHTS], 0].tolist() == [3.0, 4.0, 2.0]
    assert out.tolist() == [-1.0, 1.0]


@given(
    rewards=st.lists(st.lists(st.floats(-10, 10), min_size=3, max_size=3), min_size=1, max_size=8),
    ends=st.lists(st.booleans(), min_size=8, max_size=8),
)
def test_a_lane_alone_is_normalised_as_a_single_env(rewards, ends):
    lane, single = memory_for(1, 1e-4), memory_for(1, 1e-4)
    totals, total, out, stepped = np.zeros(1), 0.0, np.empty(1), np.ones(1, np.bool_)
    for (reward, *_), end in zip(rewards, ends, strict=False):
        left_out = running.normalize_rewards(
            np.array([reward]), np.array([end]), stepped, totals, lane, True, 1e-4, 0.9, 1e-8, out
        )
        scaled, after, good = running.normalize_reward(reward, total, single, True, 1e-4, 0.9, 1e-8)
        total = 0.0 if end else after
        assert (scaled, total, good, left_out) == (out[0], totals[0], True, 0)
        np.testing.assert_array_equal(lane[:3, 0], single[:3, 0])


def test_returns_that_are_not_sound_or_not_stepped_are_left_out():
    memory, out = memory_for(1, 1e-4), np.empty(4)
    totals = np.array([1.0, 1.0, 1.0, 1.0])
    rewards = np.array([2.0, np.nan, 5.0, 4.0])
    stepped, ended = np.array([True, True, False, True]), np.array([False, False, True, True])
    assert running.normalize_rewards(rewards, ended, stepped, totals, memory, True, 1e-4, 0.5, 0.0, out) == 1
    assert totals.tolist() == [2.5, 1.0, 1.0, 0.0]
    assert memory[running.WEIGHTS, running.COUNT] == 2.0001
    scale = 1.0 / math.sqrt(memory[running.VAR, 0])
    np.testing.assert_array_equal(out, rewards * scale)
    assert running.normalize_reward(math.inf, 1.0, memory, True, 1e-4, 0.5, 0.0) == (math.inf, 1.0, False)


def test_frozen_statistics_stay_as_they_are():
    memory, totals, out = memory_for(1, 1e-4), np.zeros(2), np.empty(2)
    before = memory[:3].copy()
    yes, no = np.ones(2, np.bool_), np.zeros(2, np.bool_)
    running.normalize_rewards(np.array([1.0, 3.0]), no, yes, totals, memory, False, 1e-4, 0.5, 0.0, out)
    assert running.normalize_reward(1.0, 1.0, memory, False, 1e-4, 0.5, 3.0) == (0.5, 1.5, True)
    assert (totals.tolist(), out.tolist()) == ([1.0, 3.0], [1.0, 3.0])
    np.testing.assert_array_equal(memory[:3], before)
