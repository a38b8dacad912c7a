"""Accounts that hold assets, long or short, and cash.

An account is described by its weights: the value of each of n assets as a fraction of equity. The rest is cash, or debt
if it is negative.
"""

from sekai.kernels.costs import turnover
from sekai.kernels.jit import entry, kernel
from sekai.kernels.rows import borrow

NOTHING = 1e-12  # scores with a sum below it ask for no asset


@kernel
def project_weights(scores, tradable, allow_short, max_leverage, cash_score, weights):
    """Turn scores of one account into weights that it may hold.

    Long only, positive scores are divided by their sum, in which `cash_score` counts, and multiplied with the leverage.
    With short positions scores are weights: each is clipped to the leverage, and all are scaled down where the sum of
    their sizes exceeds it. A score of NaN makes all weights 0 when long only, else its own weight NaN.

    Args:
        scores (float64, (n,)), tradable (bool, (n,)): what may not be traded gets no weight.
        allow_short (bool), max_leverage (float), cash_score (float, 0 for none).

    Writes: weights (float64, (n,)).
    """
    total = 0.0 if allow_short else max(cash_score, 0.0)
    for j in range(scores.size):
        score = scores[j] if tradable[j] else 0.0
        least = -max_leverage if allow_short else 0.0
        score = least if score < least else score
        weights[j] = max_leverage if allow_short and score > max_leverage else score
        total += abs(weights[j])
    for j in range(scores.size):
        if allow_short:
            weights[j] = weights[j] * max_leverage / total if total > max_leverage else weights[j]
        else:
            weights[j] = max_leverage * weights[j] / total if total > NOTHING else 0.0


@kernel
def settle(weights, returns, cost, dt, cash_rate, margin_rate, borrow_rate, drifted):
    """Hold the assets of one account for a step.

    Args:
        weights (float64, (n,)): after the trades at the start of the step.
        returns (float64, (n,)): relative changes of prices; NaN counts as 0.
        cost (float): of those trades, as a fraction of equity.
        dt (float, years): of the step.
        cash_rate, margin_rate, borrow_rate (float, per year): earned on cash, paid on debt, and paid on the value of
            short positions.

    Writes: drifted (float64, (n,)): weights at the end; 0 if the account is wiped out.

    Returns:
        growth: the factor by which equity grows; 0 or less wipes the account out.
        financing: interest, as a fraction of equity.
    """
    held, short, gain = 0.0, 0.0, 0.0
    for j in range(weights.size):
        held += weights[j]
        short += max(-weights[j], 0.0)
        gain += weights[j] * known_return(returns[j])
    cash = 1.0 - held
    rate = cash_rate if cash >= 0.0 else margin_rate
    financing = cash * rate * dt - borrow_rate * dt * short
    gross = 1.0 + gain + financing
    growth = 0.0 if cost >= 1.0 else (1.0 - cost) * gross
    for j in range(weights.size):
        drifted[j] = 0.0 if growth <= 0.0 else weights[j] * (1.0 + known_return(returns[j])) / gross
    return growth, financing


@kernel
def known_return(x):
    """0 for NaN, the return of an asset without a price; else the same."""
    return x if x == x else 0.0


@entry
def project_all_weights(scores, tradable, allow_short, max_leverage, cash_scores, weights):
    """`project_weights` for M accounts: arrays are (M, n), `cash_scores` (float64, (M,))."""
    scores, tradable, weights = borrow(scores), borrow(tradable), borrow(weights)
    for i in range(cash_scores.size):
        project_weights(scores[i], tradable[i], allow_short, max_leverage, cash_scores[i], weights[i])


@entry
def settle_all(weights, returns, costs, dts, cash_rate, margin_rate, borrow_rate, growth, drifted, financing):
    """`settle` for M accounts: arrays are (M, n), and costs, dts, growth and financing (float64, (M,))."""
    weights, returns, drifted = borrow(weights), borrow(returns), borrow(drifted)
    for i in range(costs.size):
        growth[i], financing[i] = settle(
            weights[i], returns[i], costs[i], dts[i], cash_rate, margin_rate, borrow_rate, drifted[i]
        )


@entry
def turnovers(trades, out):
    """Write the sums of the sizes of trades (float64, (M, n)) to `out` (float64, (M,))."""
    trades = borrow(trades)
    for i in range(out.size):
        out[i] = turnover(trades[i])
