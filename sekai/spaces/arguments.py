"""Turn what users pass to spaces into ints and arrays, or tell what is wrong with it."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekai.utils.integers import as_int


def as_count(name: str, value: Any) -> int:
    """Return the count `name`, which may be 0, as a Python int; a negative one is a ValueError."""
    count = as_int(name, value)
    if count < 0:
        raise ValueError(f"{name} must not be negative, got {count}")
    return count


def as_shape(shape: Iterable[Any]) -> tuple[int, ...]:
    """Return a shape as a tuple of Python ints; anything but a sequence of ints is a TypeError."""
    try:
        return tuple(operator.index(size) for size in shape)
    except TypeError:
        raise TypeError(f"shape must be a sequence of ints, got {shape!r}") from None


def as_array(x: Any) -> NDArray[Any] | None:
    """Return an array as it is, a list, tuple or NumPy scalar as one, and None for anything else, or a ragged list."""
    if isinstance(x, np.ndarray):
        return x
    if not isinstance(x, (list, tuple, np.generic)):
        return None
    try:
        return np.asarray(x)
    except Exception:  # whatever an odd entry raises when converted
        return None


def holds_ints(array: NDArray[np.object_]) -> bool:
    """Whether every entry of an object array is an int (a bool is one)."""
    return all(isinstance(entry, (int, np.integer, np.bool_)) for entry in array.flat)


def is_within(x: NDArray[Any], low: NDArray[Any], high: NDArray[Any]) -> bool:
    """Whether `low <= x <= high` everywhere; NaN is not."""
    if x.dtype == np.uint64 and low.dtype.kind == "i":
        x = x.astype(object)  # older NumPy compares the two kinds of 64-bit integers as doubles
    return bool(np.logical_and(low <= x, x <= high).all())


def require_choice(allowed: NDArray[np.bool_]) -> None:
    """Raise a ValueError unless each entry of each row of `allowed`, shape `(rows, entries, values)`, has a choice."""
    stuck = np.argwhere(~allowed.any(axis=-1))
    if stuck.size:
        row, entry = stuck[0]
        raise ValueError(f"All actions masked: row {row} of the mask has no flag equal to 1 for entry {entry}")


def as_batch(x: Any) -> NDArray[Any]:
    """Return a batch of arrays or numbers as one array with a leading axis; anything else is a ValueError."""
    array = as_array(x)
    if array is None or array.ndim == 0:
        raise ValueError(f"x must be a batch, an array whose first axis goes through the elements, got {x!r}")
    return array
