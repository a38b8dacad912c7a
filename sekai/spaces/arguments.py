"""Turn what users pass to spaces into ints and arrays, or tell what is wrong with it."""

from __future__ import annotations

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
