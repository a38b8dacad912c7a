"""Bounds that a caller gives for the entries of a Box."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from sekai.spaces import Box, Space


def bounded_box(space: Space[Any], what: str) -> Box:
    """Return `space` if it is a Box with finite bounds.

    Raises:
        TypeError: It is no Box.
        ValueError: A bound is infinite.
    """
    box = require_box(space, what)
    if not all(box.is_bounded):
        raise ValueError(f"the {what} space must have finite bounds, got {space!r}")
    return box


def require_box(space: Space[Any], what: str) -> Box:
    """Return `space` if it is a Box, or raise a TypeError."""
    if not isinstance(space, Box):
        raise TypeError(f"the {what} space must be a Box, got {space!r}")
    return space


def as_bounds(
    box: Box, dtype: DTypeLike, what: str, low: ArrayLike, high: ArrayLike
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the bounds `min_{what}` and `max_{what}` as arrays of the Box's shape.

    Raises:
        ValueError: They do not broadcast to it, are not finite, or some lower one is not below the upper one.
    """
    bounds = [np.array(np.broadcast_to(np.asarray(bound, dtype), box.shape)) for bound in (low, high)]
    if not (np.isfinite(bounds).all() and np.all(bounds[0] < bounds[1])):
        raise ValueError(f"min_{what} must be less than max_{what}, both finite, got {low!r} and {high!r}")
    return bounds[0], bounds[1]
