"""Checks of the numbers that environments are made with."""

from __future__ import annotations

from typing import Any

import numpy as np


def check_range(name: str, value: Any, *, above: float = -np.inf, least: float = -np.inf) -> None:
    """Check that a number, or each of an array of one per lane, is finite and in range.

    Raises:
        ValueError: It is not.
    """
    values = np.asarray(value)
    good = np.isfinite(values) & (values > above) & (values >= least)
    if not good.all():
        wanted = f" and above {above:g}" if above > -np.inf else f" and at least {least:g}" if least > -np.inf else ""
        lane = f" in lane {int(good.argmin())}" if values.ndim else ""
        raise ValueError(f"{name} must be finite{wanted}, got {values[~good].flat[0]}{lane}")


def as_numbers(name: str, value: Any) -> np.ndarray:
    """Return finite numbers as a float64 array of any shape.

    Raises:
        TypeError: They are not numbers.
        ValueError: One is not finite.
    """
    values = np.asarray(value)
    if values.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be numbers, got {value!r}")
    if not np.isfinite(values).all():
        raise ValueError(f"{name} must be finite, got {value!r}")
    return values.astype(np.float64)
