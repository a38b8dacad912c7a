"""What trading costs.

A cost model is called with trades, signed changes of weights `(…, n)`, and with what it needs to know about them; it
returns costs `(…,)` as fractions of equity. The models here run inside the kernels of environments. One of your own, a
subclass of `CostModel`, is called once per step on the trades of all lanes, which takes longer.

    inputs      shape     unit
    equity      (…,)      currency
    volatility  (…, n)    standard deviation of the log return of a step
    volume      (…, n)    currency, traded by all in the step
    spread      (…, n)    ask less bid, as a fraction of the price

An input that is NaN, infinite or negative is taken for the median of the valid ones of its row, and where a row has
none for the model's fallback.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sekai.finance.arguments import Floats, check_range, finite, number, numbers, spread_over
from sekai.finance.frozen import Frozen, read_only
from sekai.kernels import costs as kernels

PER_ASSET_INPUTS = ("volatility", "volume", "spread")


class CostModel(ABC):
    """What trades cost. Subclass it for a model of your own.

    Attributes:
        requires: Names of the inputs that the model reads.
        fallbacks: Those of them for which it has a fallback.
    """

    requires: frozenset[str] = frozenset()
    fallbacks: frozenset[str] = frozenset()

    @abstractmethod
    def __call__(
        self,
        trades: ArrayLike,
        *,
        equity: ArrayLike | None = None,
        volatility: ArrayLike | None = None,
        volume: ArrayLike | None = None,
        spread: ArrayLike | None = None,
    ) -> Any:
        """Return the costs of trades, float64 `(…,)`; for arguments and errors see the module."""

    def __add__(self, other: Any) -> CompositeCost:
        """Return the sum of two models."""
        return CompositeCost([self, other]) if isinstance(other, CostModel) else NotImplemented

    def _terms(self, n_assets: int) -> tuple[Floats, Floats] | None:
        """Return `terms` and `rates` as the kernels take them; None if the model has to be called."""
        return None


class CompiledCost(Frozen, CostModel):
    """What the models have in common that are terms of a kernel."""

    def __call__(
        self,
        trades: ArrayLike,
        *,
        equity: ArrayLike | None = None,
        volatility: ArrayLike | None = None,
        volume: ArrayLike | None = None,
        spread: ArrayLike | None = None,
    ) -> Any:
        """Return the costs of trades, float64 `(…,)`; for arguments see the module.

        Raises:
            TypeError: An argument holds no numbers.
            ValueError: A shape is wrong, an input missing, or no number stands for an invalid one.
        """
        found = finite("trades", trades)
        if found.ndim == 0:
            raise ValueError("trades must have shape (…, n), got a single number")
        given = {"equity": equity, "volatility": volatility, "volume": volume, "spread": spread}
        n, lead = found.shape[-1], found.shape[:-1]
        inputs = {name: self._input(name, value, found.shape) for name, value in given.items()}
        costs = np.empty(math.prod(lead))
        terms, rates = self._arrays(n)
        kernels.trade_costs(
            terms, rates, found.reshape(costs.size, n), inputs["equity"].reshape(costs.size),
            *(inputs[name].reshape(costs.size, n if name in self.requires else 0) for name in PER_ASSET_INPUTS), costs,
        )  # fmt: skip
        unknown = np.isnan(costs)
        if unknown.any():
            name = "volatility" if "volatility" in self.requires else "spread"
            raise ValueError(f"{name}: row {unknown.argmax()} has no valid entry, and {self!r} has no fallback")
        return costs.reshape(lead)[()]

    def _input(self, name: str, value: ArrayLike | None, shape: tuple[int, ...]) -> Floats:
        """Return an input in the shape that belongs to trades; of no size if it is not read and has one per asset."""
        if name not in self.requires:
            return np.zeros(shape[:-1] if name == "equity" else (*shape[:-1], 0))
        if value is None:
            raise ValueError(f"{self!r} needs {name}=")
        found = spread_over(name, numbers(name, value), shape[:-1] if name == "equity" else shape)
        if name == "equity":
            check_range(name, found)
        return found

    @abstractmethod
    def _term(self) -> tuple[float, float, float]:
        """Return the kind of the term, its parameter, and the second one."""

    def _rates(self) -> float | Floats:
        """Return what differs by asset: one number for all, or one each."""
        return 0.0

    def _arrays(self, n_assets: int) -> tuple[Floats, Floats]:
        """Return `terms` and `rates`."""
        rates = np.asarray(self._rates())
        if rates.ndim and rates.size != n_assets:
            raise ValueError(f"{self!r} is for {rates.size} asset(s), but there are {n_assets}")
        return np.array([self._term()]), np.array(np.broadcast_to(rates, (1, n_assets)))

    def _terms(self, n_assets: int) -> tuple[Floats, Floats] | None:
        is_own = type(self).__call__ is not CompiledCost.__call__  # a subclass of the user's
        return None if is_own else self._arrays(n_assets)


class NoCost(CompiledCost):
    """Trading is free."""

    def _term(self) -> tuple[float, float, float]:
        return kernels.PROPORTIONAL, 0.0, 0.0

    def __repr__(self) -> str:
        return "NoCost()"


class ProportionalCost(CompiledCost):
    """A fee in proportion to what is traded.

    Args:
        rate: Fraction of the value traded, such as 0.001 for 10 basis points; one for all assets, or `(n,)`.

    Raises:
        TypeError: `rate` is no number.
        ValueError: It is negative, not finite, or text.
    """

    rate: float | Floats

    def __init__(self, rate: ArrayLike) -> None:
        vars(self).update(rate=_rates("rate", rate))

    def _term(self) -> tuple[float, float, float]:
        if isinstance(self.rate, float):
            return kernels.PROPORTIONAL, self.rate, 0.0
        return kernels.PER_ASSET, 0.0, 0.0

    def _rates(self) -> float | Floats:
        return self.rate

    def __repr__(self) -> str:
        return f"ProportionalCost({_shown(self.rate)})"


class SpreadCost(CompiledCost):
    """Half the spread between bid and ask, which each trade pays.

    Args:
        half_spread: As a fraction of the price, one for all assets or `(n,)`; None to read the spread from the data.
        fallback_spread: The whole spread where the data has none; goes with the latter only.

    Raises:
        TypeError: An argument is no number.
        ValueError: One is negative, not finite, or text, or both are given.
    """

    half_spread: float | Floats | None
    fallback_spread: float | None

    def __init__(self, half_spread: ArrayLike | None = None, *, fallback_spread: float | None = None) -> None:
        if half_spread is not None and fallback_spread is not None:
            raise ValueError("fallback_spread goes with spreads from the data, not with half_spread")
        vars(self).update(
            half_spread=None if half_spread is None else _rates("half_spread", half_spread),
            fallback_spread=_fallback("fallback_spread", fallback_spread),
            requires=frozenset({"spread"} if half_spread is None else ()),
            fallbacks=frozenset(() if fallback_spread is None else {"spread"}),
        )

    def _term(self) -> tuple[float, float, float]:
        if self.half_spread is None:
            return kernels.QUOTED_SPREAD, 0.0, _or_nan(self.fallback_spread)
        return kernels.PER_ASSET, 0.0, 0.0

    def _rates(self) -> float | Floats:
        return 0.0 if self.half_spread is None else self.half_spread

    def __repr__(self) -> str:
        half = "from data" if self.half_spread is None else _shown(self.half_spread)
        fallback = "" if self.fallback_spread is None else f", fallback_spread={self.fallback_spread}"
        return f"SpreadCost(half_spread={half}{fallback})"


class FixedCost(CompiledCost):
    """A fee for every trade, however large.

    Args:
        amount: In currency.
        threshold: A change of weight up to this size is no trade.

    Raises:
        TypeError: An argument is not one number.
        ValueError: It is negative, not finite, or text.
    """

    requires = frozenset({"equity"})
    amount: float
    threshold: float

    def __init__(self, amount: float, *, threshold: float = 1e-6) -> None:
        vars(self).update(
            amount=number("amount", amount, least=0.0), threshold=number("threshold", threshold, least=0.0)
        )

    def _term(self) -> tuple[float, float, float]:
        return kernels.FIXED, self.amount, self.threshold

    def __repr__(self) -> str:
        threshold = "" if self.threshold == 1e-6 else f", threshold={self.threshold}"
        return f"FixedCost({self.amount}{threshold})"


class SquareRootImpact(CompiledCost):
    """Large trades move the price: they cost `coefficient * volatility * sqrt(traded / volume)` of what is traded.

    At most all of it, which is also what a trade costs where there is no volume. The square root is a rule of thumb of
    practitioners (Grinold & Kahn 1999, chapter 16); Almgren et al. (2005) measured the power 3/5.

    Args:
        coefficient: Of the order of 1.
        fallback_volatility: Where the data has none.

    Raises:
        TypeError: An argument is not one number.
        ValueError: It is negative, not finite, or text.
    """

    requires = frozenset({"equity", "volatility", "volume"})
    coefficient: float
    fallback_volatility: float | None

    def __init__(self, coefficient: float = 0.5, *, fallback_volatility: float | None = None) -> None:
        vars(self).update(
            coefficient=number("coefficient", coefficient, least=0.0),
            fallback_volatility=_fallback("fallback_volatility", fallback_volatility),
            fallbacks=frozenset(() if fallback_volatility is None else {"volatility"}),
        )

    def _term(self) -> tuple[float, float, float]:
        return kernels.IMPACT, self.coefficient, _or_nan(self.fallback_volatility)

    def __repr__(self) -> str:
        fallback = "" if self.fallback_volatility is None else f", fallback_volatility={self.fallback_volatility}"
        return f"SquareRootImpact({self.coefficient}{fallback})"


class CompositeCost(Frozen, CostModel):
    """The sum of several models.

    Args:
        models: Sums among them are replaced by what they are sums of.

    Raises:
        TypeError: One is no cost model.

    Attributes:
        models: A tuple.
    """

    models: tuple[CostModel, ...]

    def __init__(self, models: Iterable[CostModel]) -> None:
        parts: list[CostModel] = []
        for model in models:
            if not isinstance(model, CostModel):
                raise TypeError(f"models must be cost models, got {model!r}")
            parts.extend(model.models if isinstance(model, CompositeCost) else [model])
        requires = frozenset[str]().union(*(part.requires for part in parts))
        lacking = frozenset[str]().union(*(part.requires - part.fallbacks for part in parts))
        vars(self).update(models=tuple(parts), requires=requires, fallbacks=requires - lacking)

    def __call__(self, trades: ArrayLike, **inputs: ArrayLike | None) -> Any:
        """Return the costs of trades, float64 `(…,)`; for arguments and errors see the module."""
        total = NoCost()(trades)
        for model in self.models:
            total = total + model(trades, **inputs)
        return total

    def _terms(self, n_assets: int) -> tuple[Floats, Floats] | None:
        found = [(np.empty((0, 3)), np.empty((0, n_assets)))]
        for model in self.models:
            terms = model._terms(n_assets)
            if terms is None or type(self).__call__ is not CompositeCost.__call__:
                return None
            found.append(terms)
        return np.concatenate([terms for terms, _ in found]), np.concatenate([rates for _, rates in found])

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.models)) or "CompositeCost([])"


def as_cost_model(cost: Any) -> CostModel:
    """Return a cost model as it is, and a `ProportionalCost` for a number.

    Raises:
        TypeError: It is neither.
        ValueError: The number is negative or not finite.
    """
    if isinstance(cost, CostModel):
        return cost
    if isinstance(cost, Real) and not isinstance(cost, bool):
        return ProportionalCost(number("the rate of costs", cost, least=0.0))
    raise TypeError(f"costs must be a number or a CostModel, got {cost!r}")


def _rates(name: str, value: ArrayLike) -> float | Floats:
    """Return one number for all assets as a float, or one each as a read-only array."""
    if np.ndim(value) == 0:
        return number(name, value, least=0.0)
    rates = finite(name, value, least=0.0)
    if rates.ndim != 1 or rates.size == 0:
        raise ValueError(f"{name} must be one number or have shape (n,), got shape {rates.shape}")
    return read_only(rates)


def _fallback(name: str, value: float | None) -> float | None:
    return None if value is None else number(name, value, least=0.0)


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value


def _shown(rates: float | Floats) -> str:
    return repr(rates if isinstance(rates, float) else rates.tolist())
