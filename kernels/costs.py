"""Transaction costs, as fractions of equity.

A cost is a sum of terms. `terms` (float64, (K, 3)) holds a row of each: its kind, its parameter and a second one;
`rates` (float64, (K, n)) holds what differs by asset. Trades are signed changes of weights.

    kind             parameter      second                       in `rates`
    PROPORTIONAL     rate
    PER_ASSET                                                    rate
    FIXED            amount [$]     threshold of |trade|
    QUOTED_SPREAD                   fallback spread or NaN
    IMPACT           coefficient    fallback volatility or NaN
"""

import math

import numpy as np

from sekai.kernels.jit import entry, kernel
from sekai.kernels.rows import borrow

PROPORTIONAL, PER_ASSET, FIXED, QUOTED_SPREAD, IMPACT = range(5)


@kernel
def trade_cost(terms, rates, trades, equity, volatility, volume, spread):
    """Cost of the trades of one account.

    Args:
        terms, rates: see the module.
        trades (float64, (n,)).
        equity (float, $).
        volatility (float64, (n,)): per step; volume (float64, (n,), $): of the step; spread (float64, (n,)): as a
            fraction of the price. Of any length where no term reads them.

    Returns:
        The sum of the terms in their order; NaN where a trade needs an input that has no valid entry and no fallback.
    """
    total = 0.0
    for k in range(terms.shape[0]):
        kind, parameter, second = terms[k, 0], terms[k, 1], terms[k, 2]
        if kind == PROPORTIONAL:
            total += parameter * turnover(trades)
        elif kind == PER_ASSET:
            total += per_asset_cost(rates[k], trades)
        elif kind == FIXED:
            total += fixed_cost(parameter, second, trades, equity)
        elif kind == QUOTED_SPREAD:
            total += quoted_spread_cost(second, trades, spread)
        else:
            total += impact_cost(parameter, second, trades, equity, volatility, volume)
    return total


@kernel
def depends_on_turnover(terms):
    """Whether nothing else is needed, so that `charge_turnover` may take the place of `trade_cost`."""
    found = True
    for k in range(terms.shape[0]):
        found &= terms[k, 0] == PROPORTIONAL
    return found


@kernel
def charge_turnover(terms, turnover, out):
    """Write the costs of a block of accounts whose turnover (float64, (n,)) is known, in vector instructions."""
    for i in range(out.size):
        out[i] = 0.0
    for k in range(terms.shape[0]):
        rate = terms[k, 1]
        for i in range(out.size):
            out[i] += rate * turnover[i]


@kernel
def turnover(trades):
    """Sum of the sizes of trades."""
    total = 0.0
    for j in range(trades.size):
        total += abs(trades[j])
    return total


@kernel
def per_asset_cost(rates, trades):
    """Each asset's rate times the size of its trade."""
    total = 0.0
    for j in range(trades.size):
        total += rates[j] * abs(trades[j])
    return total


@kernel
def fixed_cost(amount, threshold, trades, equity):
    """`amount` for each trade larger than the threshold; nothing if there is no equity to relate it to."""
    count = 0
    for j in range(trades.size):
        count += abs(trades[j]) > threshold
    return amount * count / equity if equity > 0.0 else 0.0


@kernel
def quoted_spread_cost(fallback, trades, spread):
    """Half the spread on each trade."""
    substitute = substitute_for_invalid(spread, fallback)
    total = 0.0
    for j in range(trades.size):
        if trades[j] != 0.0:
            total += 0.5 * (spread[j] if is_valid(spread[j]) else substitute) * abs(trades[j])
    return total


@kernel
def impact_cost(coefficient, fallback, trades, equity, volatility, volume):
    """Square-root impact: a trade costs coefficient * volatility * sqrt(its share of the volume), at most all of it.

    All of it, too, where nobody else trades: the volume is not positive or unknown.

    Source: Almgren, Thum, Hauptmann & Li, Direct estimation of equity market impact, 2005, whose exponent is 3/5; the
        square root is Grinold & Kahn's, Active portfolio management, 1999, chapter 16.
    """
    substitute = substitute_for_invalid(volatility, fallback)
    wealth = equity if equity > 0.0 else 0.0
    total = 0.0
    for j in range(trades.size):
        size = abs(trades[j])
        if size > 0.0:
            deviation = volatility[j] if is_valid(volatility[j]) else substitute
            if math.isnan(deviation):
                return np.nan
            is_traded = is_valid(volume[j]) & (volume[j] > 0.0)
            unit = coefficient * deviation * math.sqrt(size * wealth / volume[j]) if is_traded else 1.0
            total += (unit if unit < 1.0 else 1.0) * size
    return total


@kernel
def is_valid(x):
    """Whether x is a finite number and not negative."""
    return 0.0 <= x < np.inf


@kernel
def substitute_for_invalid(values, fallback):
    """What stands for invalid entries: the median of the valid ones, or the fallback if there are none."""
    count = 0
    for j in range(values.size):
        count += is_valid(values[j])
    if 0 < count < values.size:
        return 0.5 * (valid_of_rank(values, (count - 1) // 2) + valid_of_rank(values, count // 2))
    return fallback


@kernel
def valid_of_rank(values, rank):
    """The valid entry that has `rank` others before it in ascending order; rows are short, so none is sorted."""
    found = np.nan
    for j in range(values.size):
        below, equal = 0, 0
        for k in range(values.size):
            below += is_valid(values[k]) & (values[k] < values[j])
            equal += values[k] == values[j]
        if is_valid(values[j]) & (below <= rank < below + equal):
            found = values[j]
    return found


@entry
def trade_costs(terms, rates, trades, equity, volatility, volume, spread, out):
    """Write the costs of M accounts to `out` (float64, (M,)).

    Args:
        terms, rates: see the module.
        trades (float64, (M, n)), equity (float64, (M,)).
        volatility, volume, spread (float64, (M, n)); (M, 0) where no term reads them.
    """
    terms, rates, trades, equity = borrow(terms), borrow(rates), borrow(trades), borrow(equity)
    volatility, volume, spread = borrow(volatility), borrow(volume), borrow(spread)
    for i in range(out.size):
        out[i] = trade_cost(terms, rates, trades[i], equity[i], volatility[i], volume[i], spread[i])
