"""Affine maps from one box of numbers to another."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from sekai.kernels.running import width
from sekai.kernels.transforms import rescale
from sekai.utils.flat import FLOATS, flat


class AffineMap:
    """Maps `low` to `to_low` and `high` to `to_high`, and what lies beyond to the nearer of the two.

    Entries whose `low` and `high` are equal go to `to_low`.

    Args:
        low: Finite lower bounds, an array.
        high: Upper bounds, likewise.
        to_low: Lower bounds of the image, likewise.
        to_high: Upper bounds of the image, likewise.
        dtype: Of the image.
    """

    def __init__(
        self, low: NDArray[Any], high: NDArray[Any], to_low: NDArray[Any], to_high: NDArray[Any], dtype: DTypeLike
    ) -> None:
        bounds = (low, high, to_low, to_high)
        start, stop, to_start, to_stop = (np.asarray(bound, np.float64).ravel() for bound in bounds)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            scale = np.where(stop > start, (to_stop - to_start) / (stop - start), 0.0)
        rows = np.array([start, scale, to_start, to_start, to_stop])
        self._dtype = np.dtype(dtype)
        self._out_dtype = self._dtype if self._dtype in FLOATS else np.dtype(np.float64)
        self._rows = np.tile(rows, width(start.size) // start.size) if start.size else rows

    def __call__(self, x: ArrayLike) -> NDArray[Any]:
        """Return the image of an array of the bounds' shape, or of a batch of such; NaN stays NaN."""
        array = flat(x)
        out = np.empty(array.size, self._out_dtype)
        if out.size:
            rescale(array, self._rows, out)
        if out.dtype is not self._dtype:
            out = out.astype(self._dtype)
        return out if array is x else out.reshape(np.shape(x))
