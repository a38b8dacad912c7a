"""Numbers as the kernels of statistics and transforms take them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FLOATS = FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)


def flat(x: Any) -> NDArray[Any]:
    """Return all numbers of `x` in one row, as float32 or float64; copied only if need be.

    Kernels are compiled for these two types only. Integers beyond 2**53 are rounded.

    Raises:
        TypeError: `x` does not consist of real numbers.
    """
    array = x if isinstance(x, np.ndarray) else np.asarray(x)
    if not (array.dtype is FLOAT32 or array.dtype is FLOAT64 or array.dtype in FLOATS):
        if array.dtype.kind not in "biuf":
            raise TypeError(f"real numbers are needed, got {x!r}")
        array = array.astype(np.float32 if array.dtype.itemsize <= 2 else np.float64)  # two bytes fit a float32
    if array.ndim != 1:
        array = array.reshape(-1)
    return array if array.flags.carray else np.require(array, requirements=["C", "A", "W"])
