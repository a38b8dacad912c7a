"""Reward functions, against plain Python."""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekai.finance import (
    DifferentialSharpe,
    DrawdownPenalty,
    LogReturn,
    MeanVariance,
    ProfitAndLoss,
    RewardFunction,
    SimpleReturn,
    StepOutcome,
    TurnoverPenalty,
)

FUNCTIONS = [
    LogReturn(),
    SimpleReturn(),
    ProfitAndLoss(),
    MeanVariance(2.0),
    TurnoverPenalty(),
    DrawdownPenalty(),
    DifferentialSharpe(0.1),
]


class Cost(RewardFunction):
    """A user's: the cost, and how often it was asked for."""

    def __init__(self):
        self.calls, self.masks = 0, []

    def __call__(self, outcome):
        self.calls += 1
        return outcome.cost

    def reset(self, mask=None):
        self.masks.append(mask)


def naive_rewards(function, growths, turnovers):
    """Rewards of the steps of one episode."""
    equity, peak, drawdown, a, b = 1.0, 1.0, 0.0, 0.0, 0.0
    rewards = []
    for growth, turnover in zip(growths, turnovers, strict=True):
        before, x = equity, growth - 1.0
        equity *= growth
        if isinstance(function, LogReturn):
            value = math.log(growth)
        elif isinstance(function, SimpleReturn):
            value = x
        elif isinstance(function, ProfitAndLoss):
            value = equity - before
        elif isinstance(function, MeanVariance):
            value = math.log(growth) - 0.5 * function.risk_aversion * math.log(growth) ** 2
        elif isinstance(function, TurnoverPenalty):
            value = turnover
        elif isinstance(function, DrawdownPenalty):
            peak = max(peak, equity)
            value, drawdown = max(1 - equity / peak - drawdown, 0.0), 1 - equity / peak
        else:
            variance = b - a * a
            value = (b * (x - a) - 0.5 * a * (x * x - b)) / variance**1.5 if variance > 1e-12 else 0.0
            a, b = a + function.eta * (x - a), b + function.eta * (x * x - b)
        rewards.append(value)
    return rewards


def outcomes(growths, turnovers):
    """Outcomes of the steps; rows of the arguments are lanes."""
    equity = np.ones(len(growths))
    for growth, turnover in zip(np.transpose(growths), np.transpose(turnovers), strict=True):
        before, equity = equity, equity * growth
        yield StepOutcome.from_growth(
            growth, equity=equity, turnover=turnover, cost=np.full(len(equity), 0.5), previous_equity=before
        )


episodes = st.integers(0, 1000).map(lambda seed: np.random.default_rng(seed).uniform(0.7, 1.4, (2, 3, 12)))


@given(episodes, st.integers(0, len(FUNCTIONS) - 1))
def test_functions_follow_their_formulas(episode, index):
    growths, turnovers = episode
    function = copy.deepcopy(FUNCTIONS[index])
    found = np.transpose([function(outcome) for outcome in outcomes(growths, turnovers)])
    naive = [naive_rewards(function, *lane) for lane in zip(growths, turnovers, strict=True)]
    # Logarithms of another library, and powers of 3/2 instead of square roots, where digits cancel.
    np.testing.assert_allclose(found, naive, rtol=1e-9, atol=1e-12)


@given(episodes)
def test_sums_are_sums(episode):
    total = (2.0 * LogReturn() - DrawdownPenalty()) * 0.5 + 3 - (DifferentialSharpe(0.1) - 1.5)
    parts = LogReturn(), DrawdownPenalty(), DifferentialSharpe(0.1)
    for outcome in outcomes(*episode):
        log_return, drawdown, sharpe = (part(outcome) for part in parts)
        # The same numbers, added in another order.
        np.testing.assert_allclose(total(outcome), log_return - 0.5 * drawdown - sharpe + 4.5, rtol=1e-12)


def test_drawdowns_add_up_to_the_deepest_one_of_a_single_fall():
    function = DrawdownPenalty()
    falls = [function(outcome)[0] for outcome in outcomes([[0.9, 0.8, 1.0, 0.5]], [[0.0] * 4])]
    assert sum(falls) == pytest.approx(1 - 0.9 * 0.8 * 0.5, abs=1e-15)  # four roundings
    assert falls[2] == 0.0


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (LogReturn() - 0.5 * TurnoverPenalty() + 0.01, "LogReturn() - 0.5 * TurnoverPenalty() + 0.01"),
        (1 - LogReturn(), "1 - LogReturn()"),
        (-LogReturn(), "-LogReturn()"),
        (2 * (SimpleReturn() - 0.25) * 3, "6 * SimpleReturn() - 1.5"),
        (MeanVariance(1), "MeanVariance(1)"),
        (DifferentialSharpe(), "DifferentialSharpe(eta=0.01)"),
    ],
)
def test_functions_print_as_they_are_written(function, text):
    assert repr(function) == text


@pytest.mark.parametrize(
    "expression",
    [
        lambda r: r * r,
        lambda r: r + "x",
        lambda r: None - r,
        lambda r: r * "2",
        lambda r: r + True,
        lambda r: r * True,
        lambda r: r / 2,
    ],
)
def test_other_algebra_is_refused(expression):
    with pytest.raises(TypeError):
        expression(LogReturn())


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_numbers_in_sums_are_finite(number):
    with pytest.raises(ValueError, match="must be finite"):
        LogReturn() * number
    with pytest.raises(ValueError, match="must be finite"):
        LogReturn() + number


def step(equity, growth=1.0, **others):
    zeros = np.zeros(np.shape(equity))
    return StepOutcome.from_growth(
        np.full(np.shape(equity), growth), equity=np.array(equity), turnover=zeros, cost=zeros, **others
    )


def test_lanes_are_reset_by_themselves():
    function = 2 * DrawdownPenalty()
    function(step([0.5, 0.5]))
    function.reset(np.array([True, False]))
    np.testing.assert_array_equal(function(step([0.25, 0.25])), [2 * 0.75, 2 * 0.25])
    function.reset()
    assert float(function(step(0.5))) == 1.0  # of another shape
    assert function(step([0.5, 1.0, 2.0])).tolist() == [1.0, 0.0, 0.0]  # as are all that come without a reset


def test_masks_are_checked():
    function = DrawdownPenalty()
    function.reset(np.array([True]))  # there is nothing to forget
    function(step([0.5, 0.5]))
    with pytest.raises(ValueError, match=r"mask must have shape \(2,\), got \(3,\)"):
        function.reset(np.ones(3, bool))
    with pytest.raises(TypeError, match="mask must hold bools, got dtype int64"):
        function.reset(np.ones(2, np.int64))


def test_a_sum_does_not_share_what_its_parts_remember():
    part = DrawdownPenalty()
    total = part + part
    assert float(total(step(0.5))) == 1.0
    assert float(part(step(0.5))) == 0.5


def test_functions_of_ones_own_are_called():
    own = Cost()
    total = LogReturn() - 2 * own
    outcome = next(outcomes([[0.9, 1.1]], [[0.1, 0.2]]))
    np.testing.assert_array_equal(total(outcome), LogReturn()(outcome) - 2 * 0.5)
    mask = np.array([True])
    total.reset(mask)
    assert (own.calls, own.masks) == (1, [mask])
    assert total._terms() is None
    assert own._terms() is None


def test_a_subclass_with_a_call_of_its_own_is_called():
    class Halved(LogReturn):
        def __call__(self, outcome):
            return 0.5 * super().__call__(outcome)

    assert Halved()._terms() is None
    outcome = step([2.0], 2.0)
    np.testing.assert_array_equal((Halved() + 0.0)(outcome), 0.5 * LogReturn()(outcome))


def test_kernels_are_told_the_terms():
    terms = (LogReturn() - 0.5 * MeanVariance(3.0) + 0.25)._terms()
    np.testing.assert_array_equal(terms, [[1, 1, 0], [4, -0.5, 3], [0, 0.25, 0]])


@pytest.mark.parametrize("function", [*FUNCTIONS, LogReturn() - 0.5 * DrawdownPenalty()], ids=repr)
def test_copies_and_pickles_go_on_alike(function):
    first, second = outcomes([[0.9, 1.1]], [[0.1, 0.2]])
    function = copy.deepcopy(function)
    function(first)
    clones = copy.deepcopy(function), pickle.loads(pickle.dumps(function))
    expected = function(second)
    for clone in clones:
        np.testing.assert_array_equal(clone(second), expected)


def test_a_profit_follows_from_equity_and_return():
    outcome = step([1.1, 0.9], 1.25)
    np.testing.assert_allclose(ProfitAndLoss()(outcome), [1.1 - 1.1 / 1.25, 0.9 - 0.9 / 1.25], rtol=1e-14)
    known = step([1.1], 1.25, previous_equity=[1.0])
    np.testing.assert_array_equal(ProfitAndLoss()(known), known.pnl)
    with pytest.raises(ValueError, match="ends without equity"):
        ProfitAndLoss()(step([1.0, 0.0]))


def test_outcomes_are_float64_arrays():
    outcome = StepOutcome.from_growth(-1, equity=0, turnover=1, cost=0, previous_equity=1)
    assert [float(x) for x in (outcome.log_return, outcome.simple_return, outcome.pnl)] == [
        math.log(1e-12), 1e-12 - 1.0, -1.0,
    ]  # fmt: skip
    assert {array.dtype for array in vars(outcome).values()} == {np.dtype(np.float64)}
    assert StepOutcome.from_growth(1.0, equity=1.0, turnover=0.0, cost=0.0).pnl is None


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: MeanVariance(-1.0), ValueError),
        (lambda: MeanVariance([1.0]), TypeError),
        (lambda: DifferentialSharpe(0.0), ValueError),
        (lambda: DifferentialSharpe(1.0), ValueError),
        (lambda: DifferentialSharpe(True), TypeError),
        (RewardFunction, TypeError),
    ],
)
def test_parameters_are_checked(make, error):
    with pytest.raises(error):
        make()


def test_parameters_are_read_only():
    with pytest.raises(AttributeError):
        MeanVariance(1.0).risk_aversion = 2.0
    with pytest.raises(AttributeError):
        DifferentialSharpe(0.5).eta = 0.1
