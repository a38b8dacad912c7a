"""How to draw an array between bounds with a NumPy generator, worked out once for many draws."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray


class IntegerPlan:
    """Draws arrays of integers, uniform between `low` and `high`, both included."""

    def __init__(self, low: NDArray[Any], high: NDArray[Any]) -> None:
        self.low, self.high = _scalar_if_constant(low), _scalar_if_constant(high)
        self.shape, self.dtype = low.shape, low.dtype

    def draw(self, rng: Generator) -> NDArray[Any]:
        """Draw one array."""
        drawn = rng.integers(self.low, self.high, size=self.shape, dtype=self.dtype, endpoint=True)
        return np.asarray(drawn, self.dtype)


class FloatPlan:
    """Draws arrays of floats, whose bounds may be infinite, in doubles that are then cast to the dtype of the bounds.

    Entries with two finite bounds are uniform, those with one lie a standard exponential away from it, and those with
    none are standard normal. They are drawn in this order, each kind in C order.
    """

    def __init__(self, low: NDArray[Any], high: NDArray[Any]) -> None:
        self.shape, self.dtype = low.shape, low.dtype
        limit = float(np.finfo(low.dtype).max)
        has_low, has_high = np.isfinite(low), np.isfinite(high)
        # Adding 0.0 makes 0.0 of -0.0, which `uniform` takes for less than 0.0.
        self.low, self.high = (np.clip(bound.astype(np.float64), -limit, limit) + 0.0 for bound in (low, high))
        both = has_low & has_high
        with np.errstate(over="ignore"):
            width = self.high - self.low
            # A uniform draw is at most low + width, which may round to more than high.
            within = bool((self.low + width <= self.high).all())
        # high - low may not fit a double. Between halves of the bounds it does.
        self.scale = 1.0 if np.isfinite(width[both]).all() else 0.5
        self.uniform = _group(both, self.low * self.scale, self.high * self.scale)
        self.above = _group(has_low & ~has_high, self.low, self.high)
        self.below = _group(has_high & ~has_low, self.low, self.high)
        self.normal = _group(~has_low & ~has_high, self.low, self.high)
        self.plain = within and bool(both.all())

    def draw(self, rng: Generator) -> NDArray[Any]:
        """Draw one array."""
        uniform, above, below, normal = self.uniform, self.above, self.below, self.normal
        if self.plain and uniform:
            return np.asarray(rng.uniform(uniform.low, uniform.high, uniform.shape), self.dtype)
        x = np.empty(self.shape)
        if uniform:
            drawn = rng.uniform(uniform.low, uniform.high, uniform.shape)
            x[uniform.index] = np.minimum(drawn, uniform.high) / self.scale
        if above:
            x[above.index] = above.low + rng.exponential(size=above.shape)
        if below:
            x[below.index] = below.high - rng.exponential(size=below.shape)
        if normal:
            x[normal.index] = rng.standard_normal(size=normal.shape)
        return np.asarray(np.minimum(np.maximum(x, self.low), self.high), self.dtype)


class _Group(NamedTuple):
    """Entries that are drawn alike."""

    index: Any  # into the array; ... for all of it
    low: Any
    high: Any
    shape: tuple[int, ...]


def _group(entries: NDArray[np.bool_], low: NDArray[np.float64], high: NDArray[np.float64]) -> _Group | None:
    if not entries.any():
        return None
    index = ... if entries.all() else entries
    return _Group(index, _scalar_if_constant(low[index]), _scalar_if_constant(high[index]), low[index].shape)


def _scalar_if_constant(bound: NDArray[Any]) -> Any:
    """Return the value of all entries, between which NumPy draws the same numbers in less time; else the array."""
    first = bound.flat[0] if bound.size else None
    return first.item() if first is not None and (bound == first).all() else bound
