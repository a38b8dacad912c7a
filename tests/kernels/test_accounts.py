"""Accounts, row by row. `tests/finance/test_account.py` holds a ledger against them."""

import math

import numpy as np
import pytest

from sekai.kernels import accounts
from sekai.kernels.jit import interpret


@pytest.mark.parametrize("value", [0.25, -1.0, 0.0])
def test_a_missing_price_earns_nothing(value):
    assert accounts.known_return(value) == value
    assert accounts.known_return(math.nan) == 0.0


@pytest.mark.parametrize("allow_short", [False, True])
def test_plain_python_gives_the_same_bits(allow_short):
    rng = np.random.default_rng(0)
    scores, tradable, cash_scores = rng.normal(size=(20, 3)), rng.random((20, 3)) < 0.8, rng.random(20)
    weights, plain = np.empty((2, 20, 3))
    arguments = scores, tradable, allow_short, 1.5, cash_scores
    accounts.project_all_weights(*arguments, weights)
    interpret(accounts.project_all_weights)(*arguments, plain)
    np.testing.assert_array_equal(weights, plain)

    returns, costs, dts = rng.normal(0.0, 0.5, (20, 3)), rng.random(20), rng.random(20)
    found, same = ([np.empty(20), np.empty((20, 3)), np.empty(20)] for _ in range(2))
    arguments = weights, returns, costs, dts, 0.02, 0.05, 0.01
    accounts.settle_all(*arguments, *found)
    interpret(accounts.settle_all)(*arguments, *same)
    for one, other in zip(found, same, strict=True):
        np.testing.assert_array_equal(one, other)


def test_turnovers_are_the_sums_of_the_sizes_of_trades():
    out = np.empty(3)
    accounts.turnovers(np.array([[0.5, -0.25], [0.0, 0.0], [-1.0, -0.125]]), out)
    assert out.tolist() == [0.75, 0.0, 1.125]
