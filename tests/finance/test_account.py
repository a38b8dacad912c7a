"""Accounts, against a ledger of cash and shares in plain Python."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sekai.finance import AccountConfig
from sekai.finance.account import project_weights, settle, turnover

weights = arrays(np.float64, 3, elements=st.floats(-2.0, 2.0))
returns = arrays(np.float64, 3, elements=st.floats(-0.9, 2.0))
scores = arrays(np.float64, 3, elements=st.floats(-1e6, 1e6))
flags = arrays(np.bool_, 3)


@given(weights, returns, st.floats(0.0, 0.2), st.floats(0.0, 0.1), st.floats(0.0, 0.1), st.floats(0.0, 0.1))
def test_equity_is_what_a_ledger_says(held, changes, cost, cash_rate, margin_rate, borrow_rate):
    config = AccountConfig(True, 6.0, cash_rate, margin_rate, borrow_rate)
    found = settle(held, changes, cost=cost, dt=0.5, config=config)

    # Buy with what the costs have left of 1,000, hold for half a year, pay interest and fees.
    wealth = 1000.0 * (1.0 - cost)
    prices = [10.0, 20.0, 30.0]
    shares = [wealth * weight / price for weight, price in zip(held, prices, strict=True)]
    values = [n * price * (1.0 + change) for n, price, change in zip(shares, prices, changes, strict=True)]
    cash = wealth - sum(n * price for n, price in zip(shares, prices, strict=True))
    interest = cash * 0.5 * (cash_rate if cash >= 0.0 else margin_rate)
    fees = 0.5 * borrow_rate * sum(-n * price for n, price in zip(shares, prices, strict=True) if n < 0.0)
    equity = sum(values) + cash + interest - fees

    assert found.growth == pytest.approx(equity / 1000.0, rel=1e-9, abs=1e-9)  # the ledger rounds otherwise
    assert found.wiped_out == (found.growth <= 0.0)
    if equity > 1.0:  # relative to less, rounding shows
        np.testing.assert_allclose(found.drifted, np.array(values) / equity, rtol=1e-9, atol=1e-9)
    if found.wiped_out:
        assert not found.drifted.any()


@given(scores, flags, st.floats(0.1, 3.0), st.one_of(st.none(), st.floats(-10.0, 1e6)))
def test_long_only_weights_are_shares_of_the_scores(found, tradable, leverage, cash_score):
    config = AccountConfig(max_leverage=leverage)
    weight = project_weights(found, tradable, config, cash_score=cash_score)
    positive = np.where(tradable, np.maximum(found, 0.0), 0.0)
    total = positive.sum() + max(cash_score or 0.0, 0.0)
    # Three numbers in another order; those near 5e-324 have few digits.
    np.testing.assert_allclose(weight, leverage * positive / total if total > 1e-12 else 0.0, rtol=1e-14, atol=1e-300)
    assert (weight >= 0.0).all()
    assert weight.sum() <= leverage * (1.0 + 1e-15)


@given(scores, flags, st.floats(0.1, 3.0))
def test_short_weights_keep_within_the_leverage(found, tradable, leverage):
    weight = project_weights(found, tradable, AccountConfig(True, leverage))
    clipped = np.clip(np.where(tradable, found, 0.0), -leverage, leverage)
    size = np.abs(clipped).sum()
    wanted = clipped * (leverage / size if size > leverage else 1.0)
    np.testing.assert_allclose(weight, wanted, rtol=1e-14, atol=1e-300)  # near 5e-324 numbers have few digits
    assert np.abs(weight).sum() <= leverage * (1.0 + 1e-15)


@given(weights, weights)
def test_turnover_is_what_changes_hands(target, current):
    assert turnover(target, current) == sum(abs(a - b) for a, b in zip(target, current, strict=True))
    assert turnover(target, target) == 0.0


def test_batches_are_rows():
    rng = np.random.default_rng(0)
    held, changes, costs = rng.normal(size=(2, 4, 3)), rng.normal(0.0, 0.3, (2, 4, 3)), rng.random((2, 4))
    config = AccountConfig(True, 3.0, 0.02, 0.05, 0.01)
    batch = settle(held, changes, cost=costs, dt=1 / 252, config=config)
    projected, traded = project_weights(held, changes > 0, config), turnover(held, changes)
    for i in np.ndindex(2, 4):
        one = settle(held[i], changes[i], cost=costs[i], dt=1 / 252, config=config)
        for name in ("growth", "drifted", "financing", "wiped_out"):
            np.testing.assert_array_equal(getattr(batch, name)[i], getattr(one, name))
        np.testing.assert_array_equal(projected[i], project_weights(held[i], changes[i] > 0, config))
        assert traded[i] == turnover(held[i], changes[i])


def test_missing_returns_count_as_zero():
    config = AccountConfig()
    known = settle([0.5, 0.5], [0.0, 0.1], cost=0.0, dt=0.0, config=config)
    missing = settle([0.5, 0.5], [math.nan, 0.1], cost=0.0, dt=0.0, config=config)
    assert missing.growth == known.growth
    np.testing.assert_array_equal(missing.drifted, known.drifted)


def test_nan_scores_are_not_hidden():
    assert not project_weights([math.nan, 1.0], [1, 1], AccountConfig()).any()
    np.testing.assert_array_equal(project_weights([math.nan, 1.0], [1, 1], AccountConfig(True)), [math.nan, 1.0])


def test_costs_that_take_everything_leave_nothing():
    found = settle([1.0], [0.5], cost=1.0, dt=0.0, config=AccountConfig())
    assert (found.growth, found.wiped_out, found.drifted.tolist()) == (0.0, True, [0.0])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"max_leverage": 0.0}, ValueError, "max_leverage must be finite and above 0, got 0.0"),
        ({"borrow_rate": -0.1}, ValueError, "borrow_rate must be finite and at least 0, got -0.1"),
        ({"cash_rate": math.nan}, ValueError, "cash_rate must be finite, got nan"),
        ({"margin_rate": "0.1"}, ValueError, "margin_rate must be a number, got '0.1'"),
        ({"allow_short": 1}, TypeError, "allow_short must be a bool, got 1"),
    ],
)
def test_configurations_are_checked(arguments, error, message):
    with pytest.raises(error) as caught:
        AccountConfig(**arguments)
    assert str(caught.value) == message


def test_configurations_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        AccountConfig().max_leverage = 3.0
    assert AccountConfig(cash_rate=0.02).effective_margin_rate == 0.02
    assert AccountConfig(cash_rate=0.02, margin_rate=0.07).effective_margin_rate == 0.07


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda c: settle([1.0], [0.1], cost=math.nan, dt=0.0, config=c), ValueError, "cost must be finite, got nan"),
        (lambda c: settle([math.nan], [0.1], cost=0, dt=0, config=c), ValueError, "weights: entry 0 must be finite"),
        (lambda c: settle([1.0], [0.1], cost=[0.0, 0.0], dt=0, config=c), ValueError, "cost must have a shape that"),
        (lambda c: settle(1.0, 0.1, cost=0, dt=0, config=c), ValueError, "weights must have shape (…, n)"),
        (lambda c: project_weights([1.0], [0.5], c), TypeError, "tradable must hold flags, got [0.5]"),
        (lambda c: project_weights([1.0], [2], c), TypeError, "tradable must hold flags, got [2]"),
        (lambda c: project_weights([True], [1], c), TypeError, "scores: entry 0 must be a number, got"),
    ],
)
def test_arguments_are_checked(call, error, message):
    with pytest.raises(error) as caught:
        call(AccountConfig())
    assert message in str(caught.value)
