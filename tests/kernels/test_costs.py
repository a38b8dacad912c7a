"""The terms of transaction costs."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekai.kernels import costs
from sekai.kernels.jit import interpret

NONE = np.empty(0)
INVALID = [math.nan, math.inf, -math.inf, -1.0]


@given(st.lists(st.one_of(st.floats(0.0, 1e6), st.sampled_from([0.0, 1.0, *INVALID])), max_size=9))
def test_invalid_entries_are_the_median_of_the_valid_ones(values):
    row = np.array(values, np.float64)
    valid = row[np.isfinite(row) & (row >= 0.0)]
    found = costs.substitute_for_invalid(row, -7.0)
    if 0 < valid.size < row.size:
        assert found == np.median(valid)
    else:
        assert found == -7.0  # there is none, or none is needed


@pytest.mark.parametrize("value", [*INVALID, 0.0, 2.5])
def test_numbers_that_are_not_negative_are_valid(value):
    assert costs.is_valid(value) == (value in (0.0, 2.5))


def test_terms_add_up_in_their_order():
    terms = np.array([[costs.PROPORTIONAL, 0.1, 0.0], [costs.PER_ASSET, 0.0, 0.0], [costs.FIXED, 3.0, 0.2]])
    rates, trades = np.array([[9.0, 9.0], [0.5, 0.25], [9.0, 9.0]]), np.array([0.75, -0.125])
    found = costs.trade_cost(terms, rates, trades, 100.0, NONE, NONE, NONE)
    assert found == 0.0 + 0.1 * 0.875 + (0.5 * 0.75 + 0.25 * 0.125) + 3.0 * 1 / 100.0


def test_costs_of_turnover_have_the_same_bits_for_a_block():
    rng = np.random.default_rng(1)
    terms = np.array([[costs.PROPORTIONAL, rate, 0.0] for rate in (0.1, 1 / 3, 1e-5)])
    trades, found = rng.normal(size=(20, 4)), np.empty(20)
    costs.charge_turnover(terms, np.array([costs.turnover(row) for row in trades]), found)
    lanes = [costs.trade_cost(terms, np.empty((3, 4)), row, 1.0, NONE, NONE, NONE) for row in trades]
    np.testing.assert_array_equal(found, lanes)
    assert costs.depends_on_turnover(terms)
    assert not costs.depends_on_turnover(np.array([terms[0], [costs.FIXED, 1.0, 0.0]]))


def test_no_term_costs_nothing():
    assert costs.trade_cost(np.empty((0, 3)), np.empty((0, 2)), np.ones(2), 1.0, NONE, NONE, NONE) == 0.0


def test_where_nobody_trades_a_trade_costs_all_of_it():
    arguments = np.array([[costs.IMPACT, 0.5, math.nan]]), np.zeros((1, 1)), np.array([0.25])
    with np.errstate(over="ignore", invalid="ignore"):  # the share of next to nothing
        for volume in (0.0, math.nan, math.inf, -3.0, 1e-320):
            assert costs.trade_cost(*arguments, 1.0, np.zeros(1), np.array([volume]), NONE) == 0.25


def test_what_has_no_substitute_is_nan_if_it_is_traded():
    unknown = np.full(2, math.nan)
    for terms in ([[costs.QUOTED_SPREAD, 0.0, math.nan]], [[costs.IMPACT, 1.0, math.nan]]):
        arguments = np.array(terms), np.zeros((1, 2))
        assert math.isnan(costs.trade_cost(*arguments, np.array([0.0, 0.1]), 1.0, unknown, unknown, unknown))
        assert costs.trade_cost(*arguments, np.zeros(2), 1.0, unknown, unknown, unknown) == 0.0


def test_plain_python_gives_the_same_bits():
    rng = np.random.default_rng(0)
    terms = np.array([[kind, 0.3, 0.01] for kind in range(5)])
    rates, trades = rng.random((5, 3)), rng.normal(size=(20, 3))
    equity, volatility, volume, spread = rng.random(20), *rng.random((3, 20, 3))
    spread[rng.random((20, 3)) < 0.3] = math.nan
    found, plain = np.empty((2, 20))
    costs.trade_costs(terms, rates, trades, equity, volatility, volume, spread, found)
    interpret(costs.trade_costs)(terms, rates, trades, equity, volatility, volume, spread, plain)
    np.testing.assert_array_equal(found, plain)
