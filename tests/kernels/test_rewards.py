"""The terms of rewards."""

import math

import numpy as np
import pytest

from sekai.kernels import rewards
from sekai.kernels.jit import interpret

KINDS = range(8)


def test_terms_are_weighted_and_added_in_their_order():
    terms = np.array([[rewards.LOG_RETURN, 1.0, 0.0], [rewards.TURNOVER, -0.1, 0.0], [rewards.CONSTANT, 0.01, 0.0]])
    assert rewards.reward(terms, np.zeros(6), 0.3, 9.0, 9.0, 9.0, 0.7) == 0.3 + -0.1 * 0.7 + 0.01


@pytest.mark.parametrize("value", [0.1, -1e-300, 1e300, 1 / 3])
def test_a_weight_of_one_leaves_the_bits(value):
    terms = np.array([[rewards.SIMPLE_RETURN, 1.0, 0.0]])
    assert rewards.reward(terms, np.zeros(2), 9.0, value, 9.0, 9.0, 9.0) == value


def test_an_episode_starts_at_a_peak_of_one_and_without_moments():
    terms = np.array([[kind, 2.0, 0.5] for kind in KINDS])
    state = np.full(16, 9.0)
    rewards.restart(terms, state)
    expected = np.zeros(16)
    expected[2 * rewards.DRAWDOWN] = 1.0
    np.testing.assert_array_equal(state, expected)


def test_other_lanes_are_not_restarted():
    terms, state = np.array([[rewards.DRAWDOWN, 1.0, 0.0]]), np.full((3, 2), 9.0)
    rewards.restart_lanes(terms, np.array([False, True, False]), state)
    np.testing.assert_array_equal(state, [[9.0, 9.0], [1.0, 0.0], [9.0, 9.0]])


def test_growth_is_bounded_from_below():
    growth = np.array([1.1, 1e-13, -3.0, math.nan])
    log_return, simple_return = np.empty((2, 4))
    rewards.all_returns_of(growth, log_return, simple_return)
    bounded = np.array([1.1, 1e-12, 1e-12, math.nan])
    np.testing.assert_allclose(log_return, np.log(bounded), rtol=5e-16)  # each is within 1 ulp
    np.testing.assert_array_equal(simple_return, bounded - 1.0)


def test_a_block_has_the_bits_of_its_lanes():
    rng = np.random.default_rng(1)
    terms = np.array([[kind, rng.normal(), rng.random()] for kind in KINDS])
    before, growth, turnover = rng.random(20), rng.normal(0.5, 1.0, 20), rng.random(20)
    found, expected, state = np.empty(20), np.empty(20), np.zeros((20, 16))
    lane_state = state.copy()
    for _ in range(5):
        rewards.reward_block(terms, state, before, growth, turnover, found)
        after, returns = np.maximum(before * growth, 0.0), np.empty((2, 20))
        rewards.all_returns_of(growth, *returns)
        rewards.rewards(terms, lane_state, *returns, after, after - before, turnover, expected)
        np.testing.assert_array_equal(found, expected)
        before = after
    np.testing.assert_array_equal(state, lane_state)


def test_plain_python_gives_the_same_bits():
    rng = np.random.default_rng(0)
    terms = np.array([[kind, 0.5, 0.25] for kind in KINDS])
    found, plain = np.empty((2, 20))
    state = np.zeros((20, 16))
    plain_state = state.copy()
    for _ in range(5):
        numbers = rng.random((5, 20))
        rewards.rewards(terms, state, *numbers, found)
        interpret(rewards.rewards)(terms, plain_state, *numbers, plain)
        np.testing.assert_array_equal(found, plain)
    np.testing.assert_array_equal(state, plain_state)
