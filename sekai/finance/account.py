"""Accounts that hold assets, long or short, and cash.

Weights `(…, n)` are values of assets as fractions of equity; the rest, `1 - sum(weights)`, is cash, or debt if it is
negative.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sekai.finance.arguments import Floats, as_array, check_range, number, numbers, spread_over
from sekai.kernels import accounts


@dataclass(frozen=True)
class AccountConfig:
    """What an account may hold, and the interest it earns and pays.

    Args:
        allow_short: Whether weights may be negative.
        max_leverage: What the sizes of weights add up to at most.
        cash_rate: Interest on cash, per year.
        margin_rate: Interest on debt, per year; None for `cash_rate`.
        borrow_rate: Fee on the value of short positions, per year.

    Raises:
        TypeError: An argument is of the wrong type.
        ValueError: A number is not finite, `max_leverage` not positive, or `borrow_rate` negative.
    """

    allow_short: bool = False
    max_leverage: float = 1.0
    cash_rate: float = 0.0
    margin_rate: float | None = None
    borrow_rate: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.allow_short, (bool, np.bool_)):
            raise TypeError(f"allow_short must be a bool, got {self.allow_short!r}")
        number("max_leverage", self.max_leverage, above=0.0)
        number("cash_rate", self.cash_rate)
        if self.margin_rate is not None:
            number("margin_rate", self.margin_rate)
        number("borrow_rate", self.borrow_rate, least=0.0)

    @property
    def effective_margin_rate(self) -> float:
        """Interest on debt, per year."""
        return self.cash_rate if self.margin_rate is None else self.margin_rate


@dataclass(frozen=True)
class Settlement:
    """What has become of accounts after a step.

    Attributes:
        growth: Factor by which equity grows, float64 `(…,)`; it may be negative.
        drifted: Weights at the end, float64 `(…, n)`; 0 if the account is wiped out.
        financing: Interest and fees, as a fraction of equity, float64 `(…,)`.
        wiped_out: Whether nothing is left, bool `(…,)`.
    """

    growth: Any
    drifted: Floats
    financing: Any
    wiped_out: Any


def project_weights(
    scores: ArrayLike, tradable: ArrayLike, config: AccountConfig, *, cash_score: ArrayLike | None = None
) -> Floats:
    """Turn scores into weights that an account may hold.

    Long only, positive scores are divided by their sum, in which `cash_score` counts, and multiplied with the largest
    leverage; if they are all 0, so are the weights. With short positions scores are weights: each is clipped to the
    largest leverage, and all are scaled down where the sum of their sizes exceeds it.

    Args:
        scores: `(…, n)`. NaN makes all weights 0 when long only, else its own weight NaN.
        tradable: Flags, or 0 and 1, `(…, n)`; what may not be traded gets no weight.
        config: What the account may hold.
        cash_score: `(…,)`; None for nothing.

    Returns:
        float64 `(…, n)`.

    Raises:
        TypeError: An argument is of the wrong type.
        ValueError: A shape or value is wrong.
    """
    found = _rows("scores", scores)
    flags = as_array("tradable", tradable)
    if flags.dtype.kind not in "biu" or not np.isin(flags, (0, 1)).all():
        raise TypeError(f"tradable must hold flags, got {tradable!r}")
    shape = np.broadcast_shapes(found.shape, flags.shape)
    found = spread_over("scores", found, shape)
    cash = spread_over("cash_score", numbers("cash_score", 0.0 if cash_score is None else cash_score), shape[:-1])
    weights, size = np.empty(shape), math.prod(shape[:-1])
    accounts.project_all_weights(
        found.reshape(size, shape[-1]), np.array(np.broadcast_to(flags != 0, shape)).reshape(size, shape[-1]),
        bool(config.allow_short), float(config.max_leverage), cash.reshape(size), weights.reshape(size, shape[-1]),
    )  # fmt: skip
    return weights


def settle(
    weights: ArrayLike, returns: ArrayLike, *, cost: ArrayLike, dt: ArrayLike, config: AccountConfig
) -> Settlement:
    """Hold assets for a step.

    Args:
        weights: After the trades at its start, `(…, n)`.
        returns: Relative changes of prices, `(…, n)`; NaN counts as 0.
        cost: Of those trades, as a fraction of equity, `(…,)`.
        dt: Years, `(…,)`.
        config: Rates of interest.

    Raises:
        TypeError: An argument holds no numbers.
        ValueError: A shape is wrong, or a number that counts is not finite.
    """
    held, changes = _rows("weights", weights), _rows("returns", returns)
    shape = np.broadcast_shapes(held.shape, changes.shape)
    held, changes = spread_over("weights", held, shape), spread_over("returns", changes, shape)
    costs = spread_over("cost", numbers("cost", cost), shape[:-1])
    dts = spread_over("dt", numbers("dt", dt), shape[:-1])
    for name, values in {"weights": held, "cost": costs, "dt": dts}.items():
        check_range(name, values)
    size, n = math.prod(shape[:-1]), shape[-1]
    growth, financing, drifted = np.empty(shape[:-1]), np.empty(shape[:-1]), np.empty(shape)
    accounts.settle_all(
        held.reshape(size, n), changes.reshape(size, n), costs.reshape(size), dts.reshape(size),
        float(config.cash_rate), float(config.effective_margin_rate), float(config.borrow_rate),
        growth.reshape(size), drifted.reshape(size, n), financing.reshape(size),
    )  # fmt: skip
    return Settlement(growth[()], drifted, financing[()], (growth <= 0.0)[()])


def turnover(target: ArrayLike, current: ArrayLike) -> Any:
    """Return how much is traded to get from current weights `(…, n)` to others, float64 `(…,)`.

    Raises:
        TypeError: An argument holds no numbers.
        ValueError: Shapes do not fit.
    """
    trades = _rows("target", target) - _rows("current", current)
    shape = trades.shape
    traded = np.empty(shape[:-1])
    accounts.turnovers(trades.reshape(traded.size, shape[-1]), traded.reshape(traded.size))
    return traded[()]


def _rows(name: str, values: ArrayLike) -> Floats:
    """Return the argument `name` as float64 `(…, n)`."""
    found = numbers(name, values)
    if found.ndim == 0:
        raise ValueError(f"{name} must have shape (…, n), got a single number")
    return found
