"""Rewards of trading.

A reward function is called once per step with what came of it, and returns one reward per lane. Functions add up, and
are multiplied with numbers:

    reward = sekai.finance.LogReturn() - 0.5 * sekai.finance.TurnoverPenalty()

The functions here, and sums of them, run inside the kernels of environments. One of your own, a subclass of
`RewardFunction`, is called once per step on arrays of all lanes, which takes longer.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekai.finance.arguments import Floats, number, numbers, spread_over
from sekai.kernels import rewards as kernels


@dataclass(frozen=True)
class StepOutcome:
    """What came of a step: float64 arrays of one shape, a number per lane.

    Attributes:
        log_return: Log return of equity.
        simple_return: Relative change of equity.
        equity: After the step; 1 at the start of an episode.
        turnover: Sum of the sizes of changes of weights.
        cost: Of trading, as a fraction of equity.
        pnl: Change of equity; None if it is not known.
    """

    log_return: Any
    simple_return: Any
    equity: Any
    turnover: Any
    cost: Any
    pnl: Any = None

    @classmethod
    def from_growth(
        cls,
        growth: ArrayLike,
        *,
        equity: ArrayLike,
        turnover: ArrayLike,
        cost: ArrayLike,
        previous_equity: ArrayLike | None = None,
    ) -> StepOutcome:
        """Return the outcome of a step in which equity grew by a factor.

        A factor below 1e-12, such as that of an account which is wiped out, counts as 1e-12.

        Args:
            growth: The factor.
            equity: After the step.
            turnover: Sum of the sizes of changes of weights.
            cost: Of trading, as a fraction of equity.
            previous_equity: Before the step, to know its profit.

        Raises:
            TypeError: An argument holds no numbers.
            ValueError: One holds text.
        """
        factors, wealth = numbers("growth", growth), numbers("equity", equity)
        log_return, simple_return = np.empty(factors.shape), np.empty(factors.shape)
        kernels.all_returns_of(factors.reshape(-1), log_return.reshape(-1), simple_return.reshape(-1))
        pnl = None if previous_equity is None else np.asarray(wealth - numbers("previous_equity", previous_equity))
        return cls(log_return, simple_return, wealth, numbers("turnover", turnover), numbers("cost", cost), pnl)


class RewardFunction(ABC):
    """A reward of trading. Subclass it for one of your own."""

    @abstractmethod
    def __call__(self, outcome: StepOutcome) -> Any:
        """Return the rewards of a step, in the shape of the outcome's arrays."""

    def reset(self, mask: NDArray[np.bool_] | None = None) -> None:  # noqa: B027 -- most remember nothing
        """Forget earlier steps.

        Args:
            mask: The lanes to forget those of; None for all, whose shape may change then.
        """

    def __add__(self, other: Any) -> WeightedSum:
        return _sum([(1.0, self), (1.0, other)])

    def __radd__(self, other: Any) -> WeightedSum:
        return _sum([(1.0, other), (1.0, self)])

    def __sub__(self, other: Any) -> WeightedSum:
        return _sum([(1.0, self), (-1.0, other)])

    def __rsub__(self, other: Any) -> WeightedSum:
        return _sum([(1.0, other), (-1.0, self)])

    def __mul__(self, factor: Any) -> WeightedSum:
        return _sum([(number("factor", factor), self)]) if _is_number(factor) else NotImplemented

    __rmul__ = __mul__

    def __neg__(self) -> WeightedSum:
        return _sum([(-1.0, self)])

    def _terms(self) -> Floats | None:
        """Return `terms` as the kernels take them; None if the function has to be called."""
        return None


class CompiledReward(RewardFunction):
    """What the functions have in common that are terms of a kernel. Each object remembers what it has to itself."""

    _kind: ClassVar[int]
    _parameter: float = 0.0
    _state: Floats | None = None  # (…, 2 K)

    def __call__(self, outcome: StepOutcome) -> Any:
        """Return the rewards of a step, in the shape of the outcome's arrays.

        Raises:
            ValueError: The outcome's arrays have shapes that do not fit, or it lacks what the reward needs.
        """
        terms = self._arrays()
        arrays = {item.name: getattr(outcome, item.name) for item in fields(outcome)}
        if outcome.pnl is None:
            arrays["pnl"] = _profit(outcome) if (terms[:, 0] == kernels.PNL).any() else 0.0
        shape = np.broadcast_shapes(*map(np.shape, arrays.values()))
        inputs = [
            spread_over(name, numbers(name, arrays[name]), shape).reshape(-1)
            for name in ("log_return", "simple_return", "equity", "pnl", "turnover")
        ]
        if self._state is None or self._state.shape[:-1] != shape:
            self._state = np.empty((*shape, 2 * len(terms)))
            self._restart(np.ones(shape, np.bool_))
        rewards = np.empty(shape)
        kernels.rewards(terms, self._rows(), *inputs, rewards.reshape(-1))
        return rewards[()]

    def reset(self, mask: NDArray[np.bool_] | None = None) -> None:
        """Forget earlier steps.

        Args:
            mask: The lanes to forget those of; None for all, whose shape may change then.

        Raises:
            TypeError: The mask holds no bools.
            ValueError: It has another shape than the outcomes.
        """
        if mask is None:
            self._state = None
        elif self._state is not None:
            flags = np.asarray(mask)
            if flags.dtype != np.bool_:
                raise TypeError(f"mask must hold bools, got dtype {flags.dtype}")
            if flags.shape != self._state.shape[:-1]:
                raise ValueError(f"mask must have shape {self._state.shape[:-1]}, got {flags.shape}")
            self._restart(flags)

    def _restart(self, mask: NDArray[np.bool_]) -> None:
        kernels.restart_lanes(self._arrays(), np.array(mask).reshape(-1), self._rows())

    def _rows(self) -> Floats:
        """The state, `(M, 2 K)`."""
        assert self._state is not None
        return self._state.reshape(math.prod(self._state.shape[:-1]), self._state.shape[-1])

    def _arrays(self) -> Floats:
        """Return `terms`."""
        return np.array([[self._kind, 1.0, self._parameter]])

    def _terms(self) -> Floats | None:
        is_own = type(self).__call__ is not CompiledReward.__call__  # a subclass of the user's
        return None if is_own else self._arrays()

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class Constant(CompiledReward):
    """1, whatever happens: what numbers in sums are multiples of."""

    _kind = kernels.CONSTANT


class LogReturn(CompiledReward):
    """The log return of equity. Its sum over an episode is the log of the final equity."""

    _kind = kernels.LOG_RETURN


class SimpleReturn(CompiledReward):
    """The relative change of equity."""

    _kind = kernels.SIMPLE_RETURN


class ProfitAndLoss(CompiledReward):
    """The change of equity. Its sum over an episode is the profit, as a fraction of the equity at its start."""

    _kind = kernels.PNL


class MeanVariance(CompiledReward):
    """The log return x, less its risk: `x - risk_aversion / 2 * x**2`.

    Args:
        risk_aversion: At least 0.

    Raises:
        TypeError: It is not one number.
        ValueError: It is negative, not finite, or text.
    """

    _kind = kernels.MEAN_VARIANCE

    def __init__(self, risk_aversion: float = 1.0) -> None:
        self._parameter = number("risk_aversion", risk_aversion, least=0.0)

    @property
    def risk_aversion(self) -> float:
        """How much risk costs."""
        return self._parameter

    def __repr__(self) -> str:
        return f"MeanVariance({self.risk_aversion:g})"


class TurnoverPenalty(CompiledReward):
    """The turnover; to be subtracted."""

    _kind = kernels.TURNOVER


class DrawdownPenalty(CompiledReward):
    """By how much the loss since the peak of equity, as a fraction of the peak, has grown; to be subtracted."""

    _kind = kernels.DRAWDOWN


class DifferentialSharpe(CompiledReward):
    """What a step adds to the Sharpe ratio of a moving average of returns (Moody & Saffell 2001).

    Args:
        eta: Weight of the latest return in the average, between 0 and 1, both excluded.

    Raises:
        TypeError: It is not one number.
        ValueError: It is not between 0 and 1.
    """

    _kind = kernels.DIFFERENTIAL_SHARPE

    def __init__(self, eta: float = 0.01) -> None:
        self._parameter = number("eta", eta, above=0.0)
        if self.eta >= 1.0:
            raise ValueError(f"eta must be less than 1, got {eta!r}")

    @property
    def eta(self) -> float:
        """Weight of the latest return."""
        return self._parameter

    def __repr__(self) -> str:
        return f"DifferentialSharpe(eta={self.eta})"


class CompiledSum(CompiledReward):
    """The part of a weighted sum that kernels compute.

    Args:
        terms: `terms` as the kernels take them, of each function with its weight.
    """

    def __init__(self, terms: Sequence[tuple[float, Floats]]) -> None:
        self._stacked = np.concatenate([np.empty((0, 3)), *(rows * [1.0, weight, 1.0] for weight, rows in terms)])

    def _arrays(self) -> Floats:
        return self._stacked


class WeightedSum(RewardFunction):
    """A weighted sum of reward functions, as `+`, `-` and `*` make it.

    Functions of this module are computed together, and what they have to remember is the sum's. What others return is
    added to that.

    Attributes:
        terms: Pairs of a weight and a function that is no sum itself.
    """

    def __init__(self, terms: Sequence[tuple[float, RewardFunction]]) -> None:
        self.terms = tuple(terms)
        self._others = [(weight, reward) for weight, reward in terms if reward._terms() is None]
        rows = [(weight, reward._terms()) for weight, reward in terms]
        self._compiled = CompiledSum([(weight, row) for weight, row in rows if row is not None])

    def __call__(self, outcome: StepOutcome) -> Any:
        """Return the rewards of a step, in the shape of the outcome's arrays; see `CompiledReward`."""
        total = self._compiled(outcome)
        for weight, reward in self._others:
            total = total + weight * reward(outcome)
        return total

    def reset(self, mask: NDArray[np.bool_] | None = None) -> None:
        """Forget earlier steps; see `CompiledReward`."""
        self._compiled.reset(mask)
        for _, reward in self._others:
            reward.reset(mask)

    def _terms(self) -> Floats | None:
        return None if self._others else self._compiled._terms()

    def __repr__(self) -> str:
        text = ""
        for weight, reward in self.terms:
            sign = "-" if weight < 0.0 else "+"
            text += f" {sign} " if text else sign.strip("+")
            size = f"{abs(weight):g}"
            text += size if isinstance(reward, Constant) else f"{size} * {reward!r}" if size != "1" else repr(reward)
        return text


def _sum(terms: Sequence[tuple[float, Any]]) -> WeightedSum:
    """Return a weighted sum of numbers, reward functions, and sums of them."""
    parts: list[tuple[float, RewardFunction]] = []
    for weight, item in terms:
        if isinstance(item, WeightedSum):
            parts.extend((weight * factor, reward) for factor, reward in item.terms)
        elif isinstance(item, RewardFunction):
            parts.append((weight, item))
        elif _is_number(item):
            parts.append((weight * number("a reward", item), Constant()))
        else:
            return cast(WeightedSum, NotImplemented)
    return WeightedSum(parts)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _profit(outcome: StepOutcome) -> Floats:
    """The change of equity, from equity after the step and its relative change."""
    equity, change = numbers("equity", outcome.equity), numbers("simple_return", outcome.simple_return)
    if (equity <= 0.0).any():
        raise ValueError("the profit of a step that ends without equity is not known unless the outcome has a pnl")
    return np.asarray(equity * change / (1.0 + change))
