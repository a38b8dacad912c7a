"""Arrays with a lower and an upper bound for each entry."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import DTypeLike, NDArray

from sekai.spaces.arguments import as_batch, as_count, as_shape, holds_ints, is_within
from sekai.spaces.compiled import draw_floats, draw_integers, rows_within
from sekai.spaces.plan import FloatPlan, IntegerPlan
from sekai.spaces.space import Space


class Box(Space[NDArray[Any]]):
    """Arrays of one shape and dtype, each entry between its two bounds (inclusive; they may be infinite).

    Args:
        low: Smallest value of each entry; a scalar stands for all entries.
        high: Largest value of each entry.
        shape: Shape of an element, to which the bounds are broadcast. Without it, the bounds' own shape.
        dtype: Dtype of an element. A finite bound beyond its range becomes the nearest value in range, with a
            UserWarning. For integers and bools an infinite bound means the dtype's limit, and a fractional one is
            rounded into the box.
        seed: What `seed` takes.

    Raises:
        TypeError: A bound is not a number, or `shape` is not a sequence of ints.
        ValueError: A bound is NaN, some `low > high`, a float `low` is inf or `high` -inf, or the shapes disagree.
    """

    _plan: FloatPlan | IntegerPlan | None = None

    def __init__(
        self, low: Any, high: Any, shape: Sequence[int] | None = None, dtype: DTypeLike = np.float32, seed: Any = None
    ) -> None:
        dtype = np.dtype(dtype)
        self.low = _as_bound(low, dtype, "low")
        self.high = _as_bound(high, dtype, "high")
        if shape is not None:
            shape = as_shape(shape)
            self.low = np.broadcast_to(self.low, shape).copy()
            self.high = np.broadcast_to(self.high, shape).copy()
        elif self.low.shape != self.high.shape:
            raise ValueError(
                f"low and high must have one shape when shape is not given, got {self.low.shape} and {self.high.shape}"
            )
        if np.any(self.low > self.high):
            raise ValueError(f"low must not exceed high, got low={self.low!r}, high={self.high!r}")
        if dtype.kind == "f" and np.any((self.low == np.inf) | (self.high == -np.inf)):
            raise ValueError(f"low must be below inf and high above -inf, got low={self.low!r}, high={self.high!r}")
        super().__init__(self.low.shape, dtype, seed)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of an element."""
        return self.low.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of an element."""
        return self.low.dtype

    @property
    def is_flattenable(self) -> bool:
        """True: an element flattens into its entries."""
        return True

    @property
    def is_bounded(self) -> tuple[bool, bool]:
        """Whether all lower bounds are finite, and whether all upper bounds are."""
        if self.dtype.kind not in "fc":
            return True, True
        return bool(np.isfinite(self.low).all()), bool(np.isfinite(self.high).all())

    def zero(self) -> NDArray[Any]:
        """Return the element nearest to zero."""
        return np.asarray(np.minimum(np.maximum(np.zeros((), self.dtype), self.low), self.high))

    def sample(self, mask: Any = None) -> NDArray[Any]:
        """Draw an element.

        Float entries with two finite bounds are uniform, those with one lie a standard exponential away from it,
        and those with none are standard normal. Integers are uniform.

        Args:
            mask: Broadcastable to `shape`; entries where it is false are `zero()` instead. The stream advances
                as without a mask.

        Raises:
            TypeError: The dtype is neither an integer nor a float of at most 64 bits.
            ValueError: The mask does not broadcast to `shape`.
        """
        keep = None if mask is None else np.broadcast_to(np.asarray(mask).astype(bool), self.shape)
        x = self._draw(self._rng or self.rng)
        return x if keep is None else np.where(keep, x, self.zero())

    def contains(self, x: Any) -> bool:
        """Whether `x` has the shape, a dtype that casts to the space's within its kind, and no entry out of bounds.

        What is no array becomes one first, but ints given to an integer Box are judged by their exact values.
        """
        try:
            numbers = self.as_numbers(x)
            return numbers is not None and numbers.shape == self.shape and is_within(numbers, self.low, self.high)
        except Exception:  # odd input may raise anything when converted or compared, and is no element
            return False

    def sample_batch(self, n: int, mask: Any = None) -> NDArray[Any]:
        """Draw `n` elements at once, shape `(n, *shape)` (see `Space.sample_batch`).

        Args:
            n: Number of elements.
            mask: Broadcastable to `(n, *shape)`; entries where it is false are `zero()` instead.

        Raises:
            TypeError: `n` is not an int, or the dtype is one that cannot be sampled.
            ValueError: `n` is negative, or the mask does not broadcast.
        """
        n = as_count("n", n)
        self._require_samplable()
        keep = None if mask is None else np.broadcast_to(np.asarray(mask).astype(bool), (n, *self.shape))
        draw = draw_floats if self.dtype.kind == "f" else draw_integers
        x = draw(self.low, self.high, n, self.stream).astype(self.dtype, copy=False)
        return x if keep is None else np.where(keep, x, self.zero())

    def contains_batch(self, x: Any) -> NDArray[np.bool_]:
        """Return which elements of an array (or list) `(n, *shape)` are in the Box, by the rules of `contains`."""
        n = len(as_batch(x))
        numbers = self.as_numbers(x)
        if numbers is None or numbers.shape != (n, *self.shape):
            return np.zeros(n, np.bool_)
        if _is_plain(numbers.dtype) and _is_plain(self.dtype):
            return rows_within(numbers, self.low, self.high)
        return np.array([is_within(numbers[i, ...], self.low, self.high) for i in range(n)], np.bool_)

    def as_numbers(self, x: Any) -> NDArray[Any] | None:
        """Return `x` as an array that can be compared with the bounds; None if its dtype rules it out."""
        if not isinstance(x, np.ndarray):
            exact = np.asarray(x, object)
            if self.dtype.kind in "iu" and holds_ints(exact):
                return exact
            x = np.asarray(x)
        fits = x.dtype is self.low.dtype or np.can_cast(x.dtype, self.low.dtype, "same_kind")
        return x if fits else None

    def to_jsonable(self) -> dict[str, Any]:
        """Describe the space in plain data."""
        return {
            "type": "Box",
            "low": self.low.tolist(),
            "high": self.high.tolist(),
            "shape": list(self.shape),
            "dtype": str(self.dtype),
        }

    @classmethod
    def from_jsonable(cls, data: dict[str, Any]) -> Box:
        """Rebuild the space that `to_jsonable` described."""
        low, high = (np.array(data[name], data["dtype"]).reshape(data["shape"]) for name in ("low", "high"))
        return cls(low, high, dtype=data["dtype"])

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Box)
            and self.dtype == other.dtype
            and np.array_equal(self.low, other.low)
            and np.array_equal(self.high, other.high)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Box({format_bound(self.low)}, {format_bound(self.high)}, {self.shape}, {self.dtype})"

    def _require_samplable(self) -> None:
        if self.dtype.kind not in "iuf" or self.dtype.itemsize > 8:
            raise TypeError(f"a Box of dtype {self.dtype} cannot be sampled, only integer and float ones up to 64 bits")

    def _draw(self, rng: Generator) -> NDArray[Any]:
        if self._plan is None:
            self._require_samplable()
            self._plan = (FloatPlan if self.dtype.kind == "f" else IntegerPlan)(self.low, self.high)
        return self._plan.draw(rng)


def _is_plain(dtype: np.dtype[Any]) -> bool:
    """Whether kernels can compare numbers of this dtype exactly."""
    return dtype.kind in "biuf" and dtype.itemsize <= 8


def format_bound(bound: NDArray[Any]) -> str:
    """Write a bound as one value if all its entries are equal, else as a list, shortened in the middle."""
    values = bound.ravel()
    if values.size and (values == values[0]).all():
        return _format_number(values[0])
    shown = [_format_number(value) for value in (values if values.size <= 8 else values[[0, 1, 2, -3, -2, -1]])]
    if values.size > 8:
        shown.insert(3, "...")
    return f"[{', '.join(shown)}]"


def _format_number(value: Any) -> str:
    return np.format_float_positional(value, trim="0") if isinstance(value, np.floating) else str(value)


def _as_bound(value: Any, dtype: np.dtype[Any], name: str) -> NDArray[Any]:
    """Return `value` as a fresh array of `dtype`, by the rules of `Box`; `name` is "low" or "high"."""
    array = np.asarray(value)
    if array.dtype == object and holds_ints(array):
        array = array.astype(np.float64)  # beyond 64 bits
    if array.dtype.kind not in "biufc" or (array.dtype.kind == "c" and dtype.kind not in "cO"):
        raise TypeError(f"{name} must be a number or an array of numbers that fit {dtype}, got {value!r}")
    if array.dtype.kind in "fc" and np.isnan(array).any():
        raise ValueError(f"{name} must not be NaN, got {value!r}")
    if dtype.kind not in "iub":
        return _float_bound(array, dtype, name)
    if isinstance(value, np.ndarray) and np.can_cast(array.dtype, dtype):
        return array.astype(dtype)
    exact = np.asarray(value, object)
    return _int_bound(exact, dtype, name) if holds_ints(exact) else _rounded_bound(array, dtype, name)


def _float_bound(array: NDArray[Any], dtype: np.dtype[Any], name: str) -> NDArray[Any]:
    with np.errstate(over="ignore"):
        bound = array.astype(dtype)
    if dtype.kind == "f":
        lost = np.isinf(bound) & np.isfinite(array)
        _warn_if_clipped(lost, dtype, name)
        bound[lost] = np.copysign(np.finfo(dtype).max, bound[lost])
    return bound


def _int_bound(exact: NDArray[np.object_], dtype: np.dtype[Any], name: str) -> NDArray[Any]:
    smallest, largest = _limits(dtype)
    clipped = np.clip(exact, smallest, largest)
    _warn_if_clipped(clipped != exact, dtype, name)
    return np.array(clipped, dtype)


def _rounded_bound(array: NDArray[Any], dtype: np.dtype[Any], name: str) -> NDArray[Any]:
    whole = (np.ceil if name == "low" else np.floor)(array.astype(np.float64))
    smallest, largest = _limits(dtype)
    # The largest 64-bit integers are no doubles, the number after them is.
    below, above = whole < float(smallest), whole >= float(largest) + 1.0
    _warn_if_clipped((below | above) & np.isfinite(whole), dtype, name)
    bound = np.asarray(np.where(below | above, 0.0, whole)).astype(dtype)
    bound[below], bound[above] = smallest, largest
    return bound


def _limits(dtype: np.dtype[Any]) -> tuple[int, int]:
    return (0, 1) if dtype.kind == "b" else (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))


def _warn_if_clipped(lost: Any, dtype: np.dtype[Any], name: str) -> None:
    if np.any(lost):
        message = f"{name} lies beyond the range of {dtype} and was moved to its limit"
        warnings.warn(message, UserWarning, stacklevel=5)
