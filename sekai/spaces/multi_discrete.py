"""Arrays of integers, each entry from a finite range of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from sekai.spaces.arguments import as_array, as_batch, as_count, holds_ints, is_within, require_choice
from sekai.spaces.compiled import draw_allowed, draw_integers, rows_within
from sekai.spaces.plan import IntegerPlan
from sekai.spaces.space import Space


class MultiDiscrete(Space[NDArray[Any]]):
    """Arrays of integers, entry `i` from `start[i]` to `start[i] + nvec[i] - 1`.

    Args:
        nvec: How many values each entry has, at least 1; any shape.
        dtype: Integer dtype of an element.
        seed: What `seed` takes.
        start: The smallest value of each entry, of the shape of `nvec`; zeros by default.

    Raises:
        TypeError: `nvec` or `start` does not hold integers, or `dtype` is no integer dtype.
        ValueError: An entry of `nvec` is below 1, the shapes differ, or a value does not fit `dtype`.
    """

    def __init__(
        self, nvec: ArrayLike, dtype: DTypeLike = np.int64, seed: Any = None, start: ArrayLike | None = None
    ) -> None:
        self.nvec = _as_int64(nvec, "nvec")
        self.start = np.zeros_like(self.nvec) if start is None else _as_int64(start, "start")
        if self.start.shape != self.nvec.shape:
            raise ValueError(f"start must have the shape of nvec, {self.nvec.shape}, got {self.start.shape}")
        if np.any(self.nvec < 1):
            raise ValueError(f"nvec must be at least 1 everywhere, got {self.nvec.tolist()}")
        dtype = np.dtype(dtype)
        if dtype.kind not in "iu":
            raise TypeError(f"dtype must be an integer dtype, got {dtype}")
        limits = np.iinfo(dtype)
        with np.errstate(over="ignore"):
            self._last = self.start + self.nvec - 1
        if np.any((self.start < limits.min) | (self._last < self.start) | (self._last > limits.max)):
            got = f"start={self.start.tolist()}, nvec={self.nvec.tolist()}"
            raise ValueError(f"start and start + nvec - 1 must fit {dtype}, got {got}")
        self._plan = IntegerPlan(self.start, self._last)
        self._integer: np.dtype[Any] = dtype
        super().__init__(self.nvec.shape, dtype, seed)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of an element."""
        return self._integer

    @property
    def is_flattenable(self) -> bool:
        """True: an element flattens into one-hot vectors, one after the other."""
        return True

    def sample(self, mask: Any = None) -> NDArray[Any]:
        """Draw an element.

        Args:
            mask: What `entry_masks` takes; only values whose flag equals 1 are drawn.

        Raises:
            ValueError: The mask has another structure, or allows nothing for an entry. Nothing is drawn then.
        """
        rng = self._rng or self.rng
        if mask is None:
            return self._plan.draw(rng).astype(self.dtype)
        choices = [np.flatnonzero(flags == 1) for flags in self.entry_masks(mask)]
        for index, allowed in zip(np.ndindex(self.nvec.shape), choices, strict=True):
            if not allowed.size:
                raise ValueError(f"All actions masked: the mask of dimension {index} has no entry equal to 1")
        x = np.zeros(self.nvec.shape, self.dtype)
        for index, allowed in zip(np.ndindex(self.nvec.shape), choices, strict=True):
            x[index] = rng.choice(allowed) + self.start[index]
        return x

    def entry_masks(self, mask: Any, batched: bool = False) -> list[NDArray[Any]]:
        """Return the flags of each entry of `nvec`, in C order.

        Args:
            mask: Sequences nested like `nvec`, with a vector of `nvec[i]` flags for entry `i`; or one ndarray of
                shape `(*nvec.shape, W)`, where W is at least `max(nvec)` and flags past `nvec[i]` are ignored.
            batched: Whether the ndarray, or any of the vectors, may have a first axis more, for many elements.

        Raises:
            ValueError: The mask has another structure.
        """
        if not isinstance(mask, np.ndarray):
            return list(self._nested_masks(mask, (), batched))
        required = (*self.nvec.shape, int(self.nvec.max(initial=0)))
        lanes = mask.shape[:1] if batched and mask.ndim > len(required) else ()
        shape = mask.shape[len(lanes) :]
        if shape[:-1] != required[:-1] or len(shape) != len(required) or shape[-1] < required[-1]:
            raise ValueError(f"mask must have shape {required} (its last axis may be longer), got {mask.shape}")
        flags = mask.reshape(*lanes, self.nvec.size, shape[-1])
        return [flags[..., entry, :count] for entry, count in enumerate(self.nvec.flat)]

    def _nested_masks(self, mask: Any, index: tuple[int, ...], batched: bool) -> Iterator[NDArray[Any]]:
        if len(index) == self.nvec.ndim:
            flags, required = np.asarray(mask), (int(self.nvec[index]),)
            if (flags.shape[1:] if batched and flags.ndim == 2 else flags.shape) != required:
                raise ValueError(f"mask of dimension {index} must have shape {required}, got {flags.shape}")
            yield flags
            return
        size = self.nvec.shape[len(index)]
        if not isinstance(mask, (Sequence, np.ndarray)) or len(mask) != size:
            raise ValueError(f"mask of dimension {index} must be a sequence of {size} masks, got {mask!r}")
        for i in range(size):
            yield from self._nested_masks(mask[i], (*index, i), batched)

    def _batch_flags(self, mask: Any, n: int) -> NDArray[np.bool_]:
        """Return for which values an entry's flag is 1: shape `(1 or n, nvec.size, max(nvec))`."""
        masks = self.entry_masks(mask, batched=True)
        rows = {len(flags) for flags in masks if flags.ndim == 2}
        if rows - {n}:
            raise ValueError(f"mask must hold one mask, or {n} along the first axis, got {sorted(rows)}")
        allowed = np.zeros((max(rows, default=1), self.nvec.size, self.nvec.max(initial=0)), np.bool_)
        for entry, flags in enumerate(masks):
            allowed[:, entry, : flags.shape[-1]] = flags == 1
        return allowed

    def contains(self, x: Any) -> bool:
        """Whether `x` is an integer array (or list) of the shape of `nvec`, in range. Bools and floats are not."""
        array = as_array(x)
        if array is None or array.shape != self.nvec.shape or array.dtype.kind not in "iu":
            return False
        return is_within(array, self.start, self._last)

    def sample_batch(self, n: int, mask: Any = None) -> NDArray[Any]:
        """Draw `n` elements at once, shape `(n, *nvec.shape)` (see `Space.sample_batch`).

        Args:
            n: Number of elements.
            mask: As for `sample`, for all elements; or with one more axis of length n in front of the ndarray, or of
                any of the nested vectors of flags.

        Raises:
            TypeError: `n` is not an int.
            ValueError: `n` is negative, or a mask has another structure or allows nothing for an entry.
        """
        n = as_count("n", n)
        if mask is None:
            drawn = draw_integers(self.start, self._last, n, self.stream)
        else:
            flags = self._batch_flags(mask, n)
            require_choice(flags)
            drawn = draw_allowed(self.nvec, flags, n, self.stream) + self.start
        return drawn.astype(self.dtype)

    def contains_batch(self, x: Any) -> NDArray[np.bool_]:
        """Return which elements of an array (or list) `(n, *nvec.shape)` are in range; dtypes but integers are not."""
        batch = as_batch(x)
        if batch.shape[1:] != self.nvec.shape or batch.dtype.kind not in "iu":
            return np.zeros(len(batch), np.bool_)
        return rows_within(batch, self.start, self._last)

    def to_jsonable(self) -> dict[str, Any]:
        """Describe the space in plain data."""
        nvec, start = self.nvec.tolist(), self.start.tolist()
        return {"type": "MultiDiscrete", "nvec": nvec, "start": start, "dtype": str(self.dtype)}

    @classmethod
    def from_jsonable(cls, data: dict[str, Any]) -> MultiDiscrete:
        """Rebuild the space that `to_jsonable` described; `start` and `dtype` are optional."""
        return cls(data["nvec"], data.get("dtype", np.int64), start=data.get("start"))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, MultiDiscrete)
            and self.dtype == other.dtype
            and np.array_equal(self.nvec, other.nvec)
            and np.array_equal(self.start, other.start)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        start = f", start={self.start.tolist()}" if self.start.any() else ""
        return f"MultiDiscrete({self.nvec.tolist()}{start})"


def _as_int64(values: ArrayLike, name: str) -> NDArray[np.int64]:
    """Return a fresh int64 array, or raise an error that names the argument."""
    array = np.asarray(values)
    # Ints beyond int64 make one of these.
    wide = array.dtype in (np.uint64, object) and holds_ints(array.astype(object))
    if wide and np.any(array > np.iinfo(np.int64).max):
        raise ValueError(f"{name} must fit int64, got {values!r}")
    if array.dtype.kind not in "iu" and array.size:
        raise TypeError(f"{name} must hold integers, got {values!r}")
    return array.astype(np.int64)
