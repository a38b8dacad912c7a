"""Turn what users pass into ints and arrays, or say what is wrong with it."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray


def as_int(value: Any, name: str) -> int:
    """Return an integer argument as a Python int; floats, strings and bools are a TypeError that names it."""
    if not isinstance(value, (bool, np.bool_)):
        try:
            return operator.index(value)
        except TypeError:
            pass
    raise TypeError(f"{name} must be an int, got {value!r}")


def as_count(value: Any, name: str = "n") -> int:
    """Return a number of things as a Python int; a negative one is a ValueError that names the argument."""
    count = as_int(value, name)
    if count < 0:
        raise ValueError(f"{name} must not be negative, got {count}")
    return count


def as_array(x: Any) -> NDArray[Any] | None:
    """Return an ndarray as it is, a list or tuple as an array, and None for anything else, ragged lists included."""
    if isinstance(x, np.ndarray):
        return x
    if not isinstance(x, (list, tuple)):
        return None
    try:
        return np.asarray(x)
    except Exception:  # whatever an odd entry raises when converted
        return None


def is_within(x: NDArray[Any], low: NDArray[Any], high: NDArray[Any]) -> bool:
    """Whether `low <= x <= high` everywhere; NaN is not."""
    if x.dtype == np.uint64 and low.dtype.kind == "i":
        x = x.astype(object)  # older NumPy compares the two kinds of 64-bit integers as doubles
    return bool(((low <= x) & (x <= high)).all())
