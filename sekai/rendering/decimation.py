"""Fewer points for the same line."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def thin_lines(x: Any, y: Any, pixels: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Reduce a line to about four points per pixel of its width, such that its picture stays the same.

    Of the points of one pixel the first, the last, the lowest and the highest stay; a NaN stays where all are NaN.

    Args:
        x: `(n,)`, increasing.
        y: `(n,)`.
        pixels: Width of the picture.
    """
    x, y = np.asarray(x, float), np.asarray(y, float)
    size = len(x) // pixels
    if size <= 4:
        return x, y
    whole = len(x) // size * size
    blocks = y[:whole].reshape(-1, size)
    starts = np.arange(0, whole, size)
    holes = np.isnan(blocks)
    lowest = starts + np.where(holes, np.inf, blocks).argmin(axis=1)
    highest = starts + np.where(holes, -np.inf, blocks).argmax(axis=1)
    kept = np.unique(np.concatenate([starts, lowest, highest, starts + size - 1, np.arange(whole, len(x))]))
    return x[kept], y[kept]
