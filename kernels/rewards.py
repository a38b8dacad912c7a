"""Rewards of trading.

A reward is a weighted sum of terms. `terms` (float64, (K, 3)) holds a row of each: its kind, its weight and its
parameter. Term k of a lane remembers two numbers from step to step, `state[2 k]` and `state[2 k + 1]`:

    kind                   value                                              parameter         remembers
    CONSTANT               1
    LOG_RETURN             log return of equity
    SIMPLE_RETURN          relative change of equity
    PNL                    change of equity
    MEAN_VARIANCE          log return, less a penalty on its square           risk aversion
    TURNOVER               turnover
    DRAWDOWN               growth of the drawdown                                               peak, drawdown
    DIFFERENTIAL_SHARPE    what the step adds to the running Sharpe ratio     eta               moments of returns
"""

import math

from sekai.kernels.elementary import log
from sekai.kernels.jit import entry, kernel
from sekai.kernels.rows import borrow

CONSTANT, LOG_RETURN, SIMPLE_RETURN, PNL, MEAN_VARIANCE, TURNOVER, DRAWDOWN, DIFFERENTIAL_SHARPE = range(8)

SMALLEST_GROWTH = 1e-12  # a factor of equity below it, such as that of a ruined account, counts as this
SMALLEST_VARIANCE = 1e-12  # returns that vary less have no Sharpe ratio


@kernel
def reward(terms, state, log_return, simple_return, equity, pnl, turnover):
    """Reward of a step of one lane.

    Args:
        terms: see the module.
        state (float64, (2 K,)): of the lane, updated.
        log_return, simple_return (float): of equity in this step.
        equity (float): after the step, 1 at the start of the episode; pnl (float): its change.
        turnover (float): of the step.
    """
    total = 0.0
    for k in range(terms.shape[0]):
        value = term(terms, k, state, log_return, simple_return, equity, pnl, turnover)
        total += terms[k, 1] * value
    return total


@kernel
def term(terms, k, state, log_return, simple_return, equity, pnl, turnover):
    """Value of term k, before it is weighted; the other arguments are those of `reward`."""
    kind, parameter = terms[k, 0], terms[k, 2]
    if kind == LOG_RETURN:
        return log_return
    if kind == SIMPLE_RETURN:
        return simple_return
    if kind == PNL:
        return pnl
    if kind == MEAN_VARIANCE:
        return log_return - 0.5 * parameter * log_return * log_return
    if kind == TURNOVER:
        return turnover
    if kind == DRAWDOWN:
        return growth_of_drawdown(state, 2 * k, equity)
    if kind == DIFFERENTIAL_SHARPE:
        return differential_sharpe(state, 2 * k, parameter, simple_return)
    return 1.0


@kernel
def reward_block(terms, state, before, growth, turnover, out):
    """`reward` for a block of lanes whose equity grows from `before` by factors; term by term, so that logs vectorise.

    Args:
        terms: see the module.
        state (float64, (n, 2 K)), updated.
        before, growth, turnover (float64, (n,)).

    Writes: out (float64, (n,)).
    """
    for i in range(out.size):
        out[i] = 0.0
    for k in range(terms.shape[0]):
        weight = terms[k, 1]
        if terms[k, 0] == LOG_RETURN:
            for i in range(out.size):
                out[i] += weight * returns_of(growth[i])[0]
        else:
            for i in range(out.size):
                log_return, simple_return = returns_of(growth[i])
                equity = grown(before[i], growth[i])
                pnl = equity - before[i]
                value = term(terms, k, state[i], log_return, simple_return, equity, pnl, turnover[i])
                out[i] += weight * value


@kernel
def grown(equity, growth):
    """Equity that has grown by a factor; it is lost, not owed, if the factor is negative."""
    return max(equity * growth, 0.0)


@kernel
def restart(terms, state):
    """Set the state (float64, (2 K,)) of one lane to that at the start of an episode."""
    for k in range(terms.shape[0]):
        state[2 * k] = 1.0 if terms[k, 0] == DRAWDOWN else 0.0
        state[2 * k + 1] = 0.0


@kernel
def returns_of(growth):
    """Log return and simple return of equity that grew by a factor."""
    g = SMALLEST_GROWTH if growth < SMALLEST_GROWTH else growth  # NaN stays NaN
    return log(g), g - 1.0


@kernel
def growth_of_drawdown(state, k, equity):
    """By how much the drawdown, the loss since the peak as a fraction of the peak, has grown; 0 if it has not."""
    peak, before = state[k], state[k + 1]
    peak = equity if equity > peak else peak
    drawdown = 1.0 - equity / peak if peak > 0.0 else 1.0
    state[k], state[k + 1] = peak, drawdown
    return drawdown - before if drawdown > before else 0.0


@kernel
def differential_sharpe(state, k, eta, x):
    """Derivative of the Sharpe ratio of a moving average by the weight `eta` of the latest return x.

    Source: Moody & Saffell, Learning to trade via direct reinforcement, 2001.
    """
    first, second = state[k], state[k + 1]  # moving averages of returns and of their squares
    of_first, of_second = x - first, x * x - second
    variance = second - first * first
    state[k], state[k + 1] = first + eta * of_first, second + eta * of_second
    if variance > SMALLEST_VARIANCE:
        return (second * of_first - 0.5 * first * of_second) / (variance * math.sqrt(variance))
    return 0.0


@entry
def rewards(terms, state, log_return, simple_return, equity, pnl, turnover, out):
    """Write the rewards of M lanes to `out` (float64, (M,)); `state` (float64, (M, 2 K)) is updated.

    Args:
        terms: see the module.
        log_return, simple_return, equity, pnl, turnover (float64, (M,)): as for `reward`.
    """
    terms, state = borrow(terms), borrow(state)
    for i in range(out.size):
        out[i] = reward(terms, state[i], log_return[i], simple_return[i], equity[i], pnl[i], turnover[i])


@entry
def restart_lanes(terms, mask, state):
    """Set the state (float64, (M, 2 K)) of the lanes in `mask` (bool, (M,)) to that at the start of an episode."""
    terms, state = borrow(terms), borrow(state)
    for i in range(mask.size):
        if mask[i]:
            restart(terms, state[i])


@entry
def all_returns_of(growth, log_return, simple_return):
    """Write log returns and simple returns (float64, (M,)) of equity that grew by factors."""
    for i in range(growth.size):
        log_return[i], simple_return[i] = returns_of(growth[i])
