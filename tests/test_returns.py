"""Returns and advantages, against sums over episodes written from their definitions."""

import math
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from numba import config

from sekai import returns
from sekai.kernels import returns as kernels
from sekai.returns import GAE, VTrace, discounted_returns, gae, n_step_returns, vtrace

NUMBERS = ("rewards", "values", "next_values", "log_rhos")
FLAGS = ("terminated", "truncated", "valid")
# Powers of tiny numbers would be subnormal.
FRACTIONS = st.sampled_from([0.0, 0.5, 0.99, 1.0]) | st.floats(0.01, 1.0)
CLIPS = st.sampled_from([0.0, 1.0, math.inf]) | st.floats(0.1, 3.0)


# ---- the functions, all called alike ---------------------------------------------------------------


def run_discounted(d, gamma=0.9, **options):
    return (discounted_returns(d.rewards, d.terminated, d.truncated, gamma=gamma, next_values=d.next_values,
                               valid=d.valid, **options),)  # fmt: skip


def run_n_step(d, gamma=0.9, n=3, **options):
    return (n_step_returns(d.rewards, d.next_values, d.terminated, d.truncated, gamma=gamma, n=n,
                           valid=d.valid, **options),)  # fmt: skip


def run_gae(d, gamma=0.9, lam=0.8, **options):
    return gae(d.rewards, d.values, d.next_values, d.terminated, d.truncated, gamma=gamma, lam=lam,
               valid=d.valid, **options)  # fmt: skip


def run_vtrace(d, gamma=0.9, lam=0.8, clip_rho=1.2, clip_c=1.1, **options):
    return vtrace(d.log_rhos, d.rewards, d.values, d.next_values, d.terminated, d.truncated, gamma=gamma, lam=lam,
                  clip_rho=clip_rho, clip_c=clip_c, valid=d.valid, **options)  # fmt: skip


ENTRIES = {
    run_discounted: kernels.discounted_returns,
    run_n_step: kernels.n_step_returns,
    run_gae: kernels.gae,
    run_vtrace: kernels.vtrace,
}
ALL = list(ENTRIES)


# ---- data ------------------------------------------------------------------------------------------


@st.composite
def data(draw):
    """What a batch has recorded, with NaN where nothing may be read."""
    shape = draw(st.integers(1, 9)), draw(st.integers(1, 3))
    numbers = npst.arrays(np.float64, shape, elements=st.floats(-100, 100, width=32), fill=st.nothing())
    flags = npst.arrays(np.bool_, shape, elements=st.booleans(), fill=st.nothing())
    d = SimpleNamespace(**{name: draw(numbers) for name in NUMBERS}, **{name: draw(flags) for name in FLAGS})
    d.log_rhos /= 50.0
    d.valid |= draw(st.booleans())
    return with_nan(d)


def random_data(T, N, seed=0):  # noqa: N803
    rng = np.random.default_rng(seed)
    numbers = {name: rng.normal(size=(T, N)) for name in NUMBERS}
    flags = {name: rng.random((T, N)) < rate for name, rate in zip(FLAGS, (0.2, 0.2, 0.8), strict=True)}
    return with_nan(SimpleNamespace(**numbers, **flags))


def with_nan(d):
    for name in NUMBERS:
        getattr(d, name)[~d.valid] = np.nan
    d.next_values[d.terminated] = np.nan
    return d


def changed(d, function):
    return SimpleNamespace(**{name: function(getattr(d, name)) for name in NUMBERS + FLAGS})


def next_step_data():
    """Two lanes in next-step mode: row 2 resets lane 0, whose first episode was cut short; lane 1 ends in row 2."""
    nan = np.nan
    return SimpleNamespace(
        rewards=np.array([[1.0, 2.0], [2.0, 4.0], [nan, 8.0], [4.0, nan]]),
        values=np.array([[0.5, 1.0], [1.0, 1.0], [nan, 2.0], [3.0, nan]]),
        next_values=np.array([[1.0, 1.0], [6.0, 2.0], [nan, nan], [2.0, nan]]),
        log_rhos=np.log([[0.5, 1.0], [2.0, 1.0], [nan, 1.0], [1.0, nan]]),
        terminated=np.array([[False, False], [False, False], [False, True], [False, False]]),
        truncated=np.array([[False, False], [True, False], [False, True], [False, False]]),
        valid=np.array([[True, True], [True, True], [False, True], [True, False]]),
    )


# ---- the definitions -------------------------------------------------------------------------------


class Sum:
    """A number, and the size of the terms that it is the sum of, which may cancel."""

    __array_ufunc__ = None  # NumPy's numbers leave arithmetic with it to it

    def __init__(self, value, size=None):
        self.value, self.size = value, abs(value) if size is None else size

    def __add__(self, other):
        other = as_sum(other)
        return Sum(self.value + other.value, self.size + other.size)

    def __mul__(self, factor):
        return Sum(factor * self.value, abs(factor) * self.size)

    def __sub__(self, other):
        return self + other * -1.0

    __radd__, __rmul__ = __add__, __mul__


def as_sum(x):
    return x if isinstance(x, Sum) else Sum(x)


def to_the_end(d, i):
    """For each transition of lane i: the rows from it to the end of its episode, or to the lane's last transition."""
    rows = np.flatnonzero(d.valid[:, i])
    for k, t in enumerate(rows):
        ends = [u for u in rows[k:] if d.terminated[u, i] or d.truncated[u, i]]
        yield t, [u for u in rows[k:] if not ends or u <= ends[0]]


def after(d, t, i):
    """Value of what comes after a transition."""
    return Sum(0.0) if d.terminated[t, i] else Sum(d.next_values[t, i])


def td_error(d, gamma, t, i):
    return Sum(d.rewards[t, i]) + gamma * after(d, t, i) - Sum(d.values[t, i])


def naive_returns(d, gamma, n=None):
    returns = {}
    for i in range(d.rewards.shape[1]):
        for t, rows in to_the_end(d, i):
            rows = rows[:n]
            rewards = sum(gamma**k * Sum(d.rewards[u, i]) for k, u in enumerate(rows))
            returns[t, i] = rewards + gamma ** len(rows) * after(d, rows[-1], i)
    return (returns,)


def naive_gae(d, gamma, lam):
    advantages, returns = {}, {}
    for i in range(d.rewards.shape[1]):
        for t, rows in to_the_end(d, i):
            advantages[t, i] = sum((gamma * lam) ** k * td_error(d, gamma, u, i) for k, u in enumerate(rows))
            returns[t, i] = advantages[t, i] + Sum(d.values[t, i])
    return advantages, returns


def naive_vtrace(d, gamma, lam, clip_rho, clip_c):
    rho = np.minimum(clip_rho, np.exp(d.log_rhos))
    c = lam * np.minimum(clip_c, np.exp(d.log_rhos))
    advantages, targets = {}, {}
    for i in range(d.rewards.shape[1]):
        for t, rows in to_the_end(d, i):
            targets[t, i] = Sum(d.values[t, i]) + sum(
                gamma**k * math.prod(c[rows[:k], i]) * rho[u, i] * td_error(d, gamma, u, i) for k, u in enumerate(rows)
            )
        for t, rows in to_the_end(d, i):
            ahead = targets[rows[1], i] if len(rows) > 1 else after(d, t, i)
            advantages[t, i] = rho[t, i] * (Sum(d.rewards[t, i]) + gamma * ahead - Sum(d.values[t, i]))
    return advantages, targets


def of_one_critic(d):
    """The same data, but where an episode goes on, the value of a successor is that of the next transition."""
    d = changed(d, np.copy)
    for i in range(d.rewards.shape[1]):
        for t, rows in to_the_end(d, i):
            if len(rows) > 1:
                d.next_values[t, i] = d.values[rows[1], i]
    return d


def assert_equal_but_for_rounding(ours, naive, d):
    """A sum of some ten terms is off by some 1e-15 of their sizes; 1e-12 is far above that, and below any mistake."""
    for result, sums in zip(ours, naive, strict=True):
        assert result.dtype == np.float64
        assert np.all(result[~d.valid] == 0.0)
        assert len(sums) == np.count_nonzero(d.valid)
        for row, sum_ in sums.items():
            assert abs(result[row] - sum_.value) <= 1e-12 * sum_.size


@given(data(), FRACTIONS)
def test_discounted_returns_are_sums_to_the_end_of_the_episode(d, gamma):
    assert_equal_but_for_rounding(run_discounted(d, gamma), naive_returns(d, gamma), d)


@given(data(), FRACTIONS)
def test_without_next_values_only_rewards_count(d, gamma):
    d.next_values[:] = 0.0
    ours = discounted_returns(d.rewards, d.terminated, d.truncated, gamma=gamma, valid=d.valid)
    assert_equal_but_for_rounding((ours,), naive_returns(d, gamma), d)


@given(data(), FRACTIONS, st.integers(1, 11))
def test_n_step_returns_are_sums_of_n_rewards_and_a_value(d, gamma, n):
    assert_equal_but_for_rounding(run_n_step(d, gamma, n), naive_returns(d, gamma, n), d)


@given(data(), FRACTIONS, FRACTIONS)
def test_gae_is_a_sum_of_temporal_differences(d, gamma, lam):
    assert_equal_but_for_rounding(run_gae(d, gamma, lam), naive_gae(d, gamma, lam), d)


@given(data(), FRACTIONS, FRACTIONS, CLIPS, CLIPS)
def test_vtrace_is_a_sum_of_weighted_temporal_differences(d, gamma, lam, clip_rho, clip_c):
    d = of_one_critic(d)
    naive = naive_vtrace(d, gamma, lam, clip_rho, clip_c)
    assert_equal_but_for_rounding(run_vtrace(d, gamma, lam, clip_rho, clip_c), naive, d)


# ---- worked examples -------------------------------------------------------------------------------


def test_next_step_rows_worked_by_hand():
    d = next_step_data()
    # Lane 0: cut short after row 1 (6 stands for the rest), then one transition (2 stands for the rest). Lane 1: both
    # flags in row 2, where its episode therefore terminates. All numbers are exact in binary.
    (returns,) = run_discounted(d, gamma=0.5)
    assert returns.tolist() == [[1 + 0.5 * 5, 2 + 0.5 * 8], [2 + 0.5 * 6, 4 + 0.5 * 8], [0, 8], [4 + 0.5 * 2, 0]]
    (returns,) = run_n_step(d, gamma=0.5, n=2)
    assert returns.tolist() == [[3.5, 2 + 0.5 * 4 + 0.25 * 2], [5, 8], [0, 8], [5, 0]]
    # Temporal differences: 1, 4; 2 in lane 0 and 1.5, 4, 6 in lane 1.
    result = run_gae(d, gamma=0.5, lam=0.5)
    assert isinstance(result, GAE)
    assert result.advantages.tolist() == [[2, 2.875], [4, 5.5], [0, 6], [2, 0]]
    assert result.returns.tolist() == [[2.5, 3.875], [5, 6.5], [0, 8], [5, 0]]
    # Ratios of lane 0: 1/2, 2 (clipped to 1), 1; all are 1 in lane 1. The logarithm of 2 is rounded, so its
    # exponential may be off in the last digits.
    result = run_vtrace(d, gamma=0.5, lam=1.0, clip_rho=1.0, clip_c=1.0)
    assert isinstance(result, VTrace)
    np.testing.assert_allclose(result.targets, [[0.5 + 0.5 + 0.25 * 4, 6], [5, 8], [0, 8], [5, 0]], rtol=1e-15)
    np.testing.assert_allclose(result.advantages, [[0.5 * (1 + 0.5 * 5 - 0.5), 5], [4, 7], [0, 6], [2, 0]], rtol=1e-15)


@pytest.mark.parametrize(("gamma", "n"), [(0.0, 1), (0.5, 3), (0.99, 20), (0.99, 100)])
def test_a_constant_reward_in_closed_form(gamma, n):
    rewards, no = np.ones((50, 2)), np.zeros((50, 2), np.bool_)
    left = np.arange(50, 0, -1)[:, None] * np.ones((1, 2))  # transitions to the last row
    ended = no.copy()
    ended[-1] = True
    close = partial(np.testing.assert_allclose, rtol=1e-13)  # 50 roundings
    close(discounted_returns(rewards, ended, no, gamma=gamma), (1 - gamma**left) / (1 - gamma))
    close(discounted_returns(rewards, no, ended, gamma=gamma), (1 - gamma**left) / (1 - gamma))
    steps = np.minimum(left, n)
    zero = np.zeros((50, 2))
    close(n_step_returns(rewards, zero, ended, no, gamma=gamma, n=n), (1 - gamma**steps) / (1 - gamma))
    # With the value of going on forever, nothing is missing.
    value = np.full((50, 2), 1 / (1 - gamma))
    close(discounted_returns(rewards, no, ended, gamma=gamma, next_values=value), value)
    close(n_step_returns(rewards, value, no, ended, gamma=gamma, n=n), value)
    close(gae(rewards, value, value, no, ended, gamma=gamma, lam=0.9).returns, value)


# ---- truncation is not termination -----------------------------------------------------------------


def random_walks(steps):
    """All walks of some steps on states 1 to 5, from 3, with a time limit: a lane each, all equally likely.

    Left of 1 and right of 5 it terminates, on the right with reward 1; so the value of state s is s / 6 (Sutton &
    Barto, 2018, example 6.2). Rows after the end are not valid.
    """
    moves = np.array(list(product([-1, 1], repeat=steps))).T
    states = np.concatenate([np.full((1, moves.shape[1]), 3), 3 + np.cumsum(moves, 0)])
    terminal = (states < 1) | (states > 5)
    has_ended = np.logical_or.accumulate(terminal, 0)
    truncated = np.zeros(moves.shape, np.bool_)
    truncated[-1] = True
    return SimpleNamespace(
        rewards=(states[1:] == 6).astype(float),
        values=states[:-1] / 6,
        next_values=states[1:] / 6,
        log_rhos=np.zeros(moves.shape),
        terminated=terminal[1:],
        truncated=truncated,
        valid=~has_ended[:-1],
    )


# What the first state of the walk gets, less its value 1/2. Expectations are means over all walks.
BIASES = {
    "discounted": lambda d: run_discounted(d, gamma=1.0)[0][0].mean() - 0.5,
    "n-step": lambda d: run_n_step(d, gamma=1.0, n=5)[0][0].mean() - 0.5,
    "n-step to the limit": lambda d: run_n_step(d, gamma=1.0, n=8)[0][0].mean() - 0.5,
    "GAE": lambda d: run_gae(d, gamma=1.0, lam=0.9).advantages[0].mean(),
    "V-trace": lambda d: run_vtrace(d, gamma=1.0, clip_rho=1.0, clip_c=1.0).targets[0].mean() - 0.5,
}


@pytest.mark.parametrize("name", BIASES)
def test_episodes_cut_short_are_no_bias(name):
    # The mean is that of 256 sums of sixths, each rounded to some 1e-16.
    assert abs(BIASES[name](random_walks(8))) < 1e-14


def test_truncation_taken_for_termination_is():
    d = random_walks(8)
    d.terminated, d.truncated = d.terminated | d.truncated, np.zeros_like(d.truncated)
    reached = np.count_nonzero((d.rewards * d.valid).any(0)) / 256  # walks that end on the right within the limit
    assert reached < 0.35
    # The value of the last state is missing, which a temporal difference of row 7 weighs with lam**7.
    for name, weight in [("discounted", 1.0), ("n-step to the limit", 1.0), ("GAE", 0.9**7), ("V-trace", 0.8**7)]:
        assert BIASES[name](d) == pytest.approx(weight * (reached - 0.5), rel=1e-13)  # a mean of 256 rounded numbers


# ---- what must not matter --------------------------------------------------------------------------


def assert_same_bits(ours, theirs):
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


@pytest.mark.parametrize("run", ALL)
def test_a_lane_alone_is_as_in_a_batch(run):
    d = random_data(7, 2 * kernels.BLOCK + 9)
    batch = run(d)
    for i in (0, 7, 8, kernels.BLOCK - 1, kernels.BLOCK, 2 * kernels.BLOCK + 8):
        assert_same_bits(run(changed(d, lambda x, i=i: x[:, [i]])), [result[:, [i]] for result in batch])
    order = np.random.default_rng(1).permutation(2 * kernels.BLOCK + 9)
    assert_same_bits(run(changed(d, lambda x: x[:, order])), [result[:, order] for result in batch])


@pytest.mark.parametrize("run", ALL)
def test_the_number_of_threads_does_not_matter(run, monkeypatch):
    d = random_data(3, 5 * returns.LANES_PER_THREAD + 1)
    alone = run(d)
    monkeypatch.setattr(returns, "THREADS_PAY", 1)
    for threads in (1, 2, 3):
        monkeypatch.setattr(returns, "available", lambda threads=threads: threads)
        assert_same_bits(run(d), alone)


@pytest.mark.parametrize("run", ALL)
def test_two_threads_at_once_do_not_disturb_each_other(run):
    datasets = [random_data(50, 300, seed) for seed in range(4)]
    with ThreadPoolExecutor(2) as pool:
        for ours, theirs in zip(pool.map(run, datasets), map(run, datasets), strict=True):
            assert_same_bits(ours, theirs)


@pytest.mark.parametrize("run", ALL)
def test_rows_that_are_no_transitions_might_as_well_not_be_there(run):
    d = random_data(40, 1)
    rows = d.valid[:, 0]
    assert_same_bits(run(changed(d, lambda x: x[rows])), [result[rows] for result in run(d)])


@pytest.mark.parametrize("run", ALL)
def test_no_mask_means_that_all_rows_are_transitions(run):
    d = random_data(6, 4)
    d.valid[:] = True
    for name in NUMBERS:
        setattr(d, name, np.arange(24.0).reshape(6, 4) / 10)
    theirs = run(d)
    d.valid = None
    assert_same_bits(run(d), theirs)


@pytest.mark.parametrize("name", [*NUMBERS, *FLAGS])
@pytest.mark.parametrize("run", ALL)
def test_rows_that_share_their_memory_are_as_good_as_others(run, name):
    d = random_data(6, 5)
    shared = np.broadcast_to(getattr(d, name)[2], (6, 5))
    setattr(d, name, shared.copy())
    theirs = run(d)
    setattr(d, name, shared)
    assert_same_bits(run(d), theirs)


LAYOUTS = {
    "Fortran's": np.asfortranarray,
    "every other column": lambda x: np.repeat(x, 2, 1)[:, ::2],
    "upside down": lambda x: x[::-1].copy()[::-1],
    "lists": np.ndarray.tolist,
    "big-endian": lambda x: x.astype(x.dtype.newbyteorder(">")),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("run", ALL)
def test_the_layout_of_arrays_does_not_matter(run, layout):
    d = random_data(6, 5)
    assert_same_bits(run(changed(d, LAYOUTS[layout])), run(d))


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
@pytest.mark.parametrize("run", ALL)
def test_one_compilation_serves_all_layouts(run):
    run(random_data(6, 5))
    entry = ENTRIES[run]
    compiled = len(entry.signatures)
    for layout in LAYOUTS.values():
        run(changed(random_data(6, 5), layout), gamma=1)
    assert len(entry.signatures) == compiled


@pytest.mark.parametrize("run", ALL)
def test_arguments_that_cannot_be_written_are_taken_and_none_is_written(run):
    def fixed(x):
        x = x.copy()
        x.flags.writeable = False
        return x

    d = random_data(6, 5)
    before = changed(d, np.copy)
    assert_same_bits(run(changed(d, fixed)), run(d))
    for name in NUMBERS + FLAGS:
        np.testing.assert_array_equal(getattr(d, name), getattr(before, name))


@pytest.mark.parametrize("dtype", [np.float32, ">f4", np.float16, np.int64, np.uint8])
@pytest.mark.parametrize("run", ALL)
def test_other_types_of_numbers_are_computed_with_in_float64(run, dtype):
    d = random_data(6, 21)  # vectors of 16, and then some
    for name in NUMBERS:
        setattr(d, name, (10 * np.abs(np.nan_to_num(getattr(d, name)))).astype(dtype))
    double = SimpleNamespace(**vars(d))
    for name in NUMBERS:
        setattr(double, name, getattr(d, name).astype(np.float64))
    assert_same_bits(run(d), run(double))
    d.rewards = double.rewards
    assert_same_bits(run(d), run(double))


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
@pytest.mark.parametrize("run", ALL)
def test_no_rows_or_no_lanes_give_no_results(run, shape):
    assert [result.shape for result in run(random_data(*shape))] == [shape] * len(run(random_data(*shape)))


READ = {  # in the middle of an episode
    run_discounted: ["rewards"],
    run_n_step: ["rewards"],
    run_gae: ["rewards", "values", "next_values"],
    partial(run_vtrace, clip_rho=math.inf, clip_c=math.inf): NUMBERS,
}


# Kernels that are not compiled warn of infinities.
may_warn = pytest.mark.filterwarnings("ignore:(overflow|invalid value) encountered:RuntimeWarning")


@may_warn
@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_no_number_shows_in_its_own_episode_only(name, bad):
    d = SimpleNamespace(
        **{number: np.ones((6, 2)) for number in NUMBERS}, **{flag: np.zeros((6, 2), np.bool_) for flag in FLAGS}
    )
    d.valid[:] = True
    d.truncated[1, 0] = d.terminated[4, 0] = True
    getattr(d, name)[3, 0] = bad
    finite = np.ones((6, 2), np.bool_)
    for run, names in READ.items():
        finite[2:4, 0] = name not in names
        for result in run(d):
            np.testing.assert_array_equal(np.isfinite(result), finite)


@may_warn
def test_clipping_hides_an_infinite_ratio_but_not_nan():
    d = random_walks(3)
    d.log_rhos[0, :4] = np.inf, 1.0, np.nan, -np.inf
    targets, advantages = run_vtrace(d, clip_rho=1.0, clip_c=1.0).targets[0], run_vtrace(d).advantages[0]
    assert np.isfinite(targets[[0, 1, 3]]).all()
    assert np.isnan(targets[2])
    assert np.isnan(advantages[2])
    assert (targets[3], advantages[3]) == (0.5, 0.0)


# ---- relations between them ------------------------------------------------------------------------


@given(data(), FRACTIONS)
def test_n_steps_are_one_step_or_the_whole_episode(d, gamma):
    one_step = np.where(d.valid, d.rewards + gamma * np.where(d.terminated, 0.0, d.next_values), 0.0)
    assert_same_bits(run_n_step(d, gamma, 1), [one_step])
    assert_same_bits(run_n_step(d, gamma, 10**30), run_discounted(d, gamma))


@given(data(), FRACTIONS)
def test_lambda_goes_from_one_step_to_the_whole_episode(d, gamma):
    d = of_one_critic(d)
    scale = np.abs(np.nan_to_num([d.rewards, d.values, d.next_values])).sum() + 1e-300
    whole, one_step = run_gae(d, gamma, 1.0).returns, run_gae(d, gamma, 0.0).returns
    # Terms cancel, so errors are relative to their sizes.
    np.testing.assert_allclose(whole / scale, run_discounted(d, gamma)[0] / scale, atol=1e-13, rtol=0)
    np.testing.assert_allclose(one_step / scale, run_n_step(d, gamma, 1)[0] / scale, atol=1e-13, rtol=0)


@given(data(), FRACTIONS, FRACTIONS)
def test_without_a_difference_of_policies_vtrace_targets_are_those_of_gae(d, gamma, lam):
    d.log_rhos[:] = 0.0
    scale = np.abs(np.nan_to_num([d.rewards, d.values, d.next_values])).sum() + 1e-300
    ours, theirs = run_vtrace(d, gamma, lam).targets, run_gae(d, gamma, lam).returns
    np.testing.assert_allclose(ours / scale, theirs / scale, atol=1e-13, rtol=0)  # as above


# ---- arguments -------------------------------------------------------------------------------------


@pytest.mark.parametrize("run", ALL)
def test_results_go_where_they_are_asked_to(run):
    d = random_data(6, 5)
    fresh = run(d)
    buffers = [np.full((6, 5), 7.0) for _ in fresh]
    ours = run(d, out=buffers[0] if len(buffers) == 1 else tuple(buffers))
    assert all(one is buffer for one, buffer in zip(ours, buffers, strict=True))
    assert_same_bits(ours, fresh)


def test_one_array_may_hold_both_results():
    d, both = random_data(6, 5), np.empty((2, 6, 5))
    run_gae(d, out=both)
    assert_same_bits(both, run_gae(d))


def refused(run, error, message, d=None, **options):
    with pytest.raises(error, match=message):
        run(d or random_data(4, 3), **options)


@pytest.mark.parametrize("run", ALL)
def test_arrays_that_do_not_fit_are_refused(run):
    d = random_data(4, 3)
    refused(run, ValueError, r"rewards must have shape \(T, N\), got \(12,\)", changed(d, np.ravel))
    d.rewards = d.rewards[:3]
    refused(run, ValueError, r"[a-z_]+ must have the shape of rewards, \(3, 3\), got \(4, 3\)", d)
    for name in FLAGS:
        d = random_data(4, 3)
        setattr(d, name, np.ones((4, 1), np.bool_))
        refused(run, ValueError, rf"{name} must have the shape of rewards, \(4, 3\), got \(4, 1\)", d)
        setattr(d, name, np.ones((4, 3), np.uint8))
        refused(run, TypeError, rf"{name} must hold bools, got dtype uint8; try {name}.astype\(bool\)", d)


@pytest.mark.parametrize("dtype", [np.bool_, np.complex128, object, "U1", np.longdouble])
@pytest.mark.parametrize("run", ALL)
def test_what_float64_does_not_hold_is_refused(run, dtype):
    d = random_data(4, 3)
    d.rewards = np.ones((4, 3), dtype)
    if np.can_cast(dtype, np.float64) and dtype is not np.bool_:
        pytest.skip("long double is double on this machine")
    refused(run, TypeError, "rewards must hold real numbers of at most 64 bits, got dtype", d)


@pytest.mark.parametrize("run", ALL)
@pytest.mark.parametrize("gamma", [-0.1, 1.1, math.nan, math.inf])
def test_discounts_beyond_their_range_are_refused(run, gamma):
    refused(run, ValueError, f"gamma must be between 0 and 1, got {gamma}", gamma=gamma)
    refused(run, TypeError, "gamma must be a real number, got '0.9'", gamma="0.9")
    refused(run, TypeError, "gamma must be a real number, got True", gamma=True)


def test_other_parameters_beyond_their_range_are_refused():
    for run in (run_gae, run_vtrace):
        refused(run, ValueError, "lam must be between 0 and 1, got 2", lam=2)
        refused(run, TypeError, "lam must be a real number, got None", lam=None)
    refused(run_vtrace, ValueError, "clip_rho must be between 0 and inf, got -1", clip_rho=-1)
    refused(run_vtrace, ValueError, "clip_c must be between 0 and inf, got nan", clip_c=math.nan)
    refused(run_n_step, ValueError, "n must be >= 1, got 0", n=0)
    refused(run_n_step, TypeError, r"n must be an int, got 2\.0", n=2.0)


@pytest.mark.parametrize("run", [run_discounted, run_gae])
def test_results_are_written_to_what_can_hold_them_only(run):
    d = random_data(4, 3)
    fixed = np.empty((4, 3))
    fixed.flags.writeable = False
    pairs = [
        (TypeError, "out must be of float64 arrays, got dtype", np.empty((4, 3), np.float32)),
        (TypeError, "out must be of float64 arrays, got 'x'", "x"),
        (ValueError, r"out must have the shape of rewards, \(4, 3\), got \(3, 4\)", np.empty((3, 4))),
        (ValueError, "out must be C-contiguous, aligned and writable", np.empty((3, 4)).T),
        (ValueError, "out must be C-contiguous, aligned and writable", fixed),
        (ValueError, "out must not overlap the arguments", d.next_values),
    ]
    for error, message, bad in pairs:
        good = np.full((4, 3), 7.0)
        refused(run, error, message, d, out=bad if run is run_discounted else (good, bad))
        assert np.all(good == 7.0)


def test_results_must_be_as_many_as_they_are_and_apart():
    same = np.empty((4, 3))
    refused(run_gae, ValueError, "out must hold 2 arrays, got 1", out=[same])
    refused(run_gae, TypeError, "out must be a sequence of 2 arrays, got 5", out=5)
    refused(run_vtrace, ValueError, "or one of its arrays the other", out=[same, same])
