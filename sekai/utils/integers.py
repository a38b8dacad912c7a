"""Turn what users pass as counts into Python ints."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np


def as_int(name: str, value: Any) -> int:
    """Return the integer argument `name` as a Python int.

    Raises:
        TypeError: it is not an integer; floats, strings and bools are not converted.
    """
    if not isinstance(value, (bool, np.bool_)):  # older NumPy's bools have an index
        try:
            return operator.index(value)
        except TypeError:
            pass
    raise TypeError(f"{name} must be an int, got {value!r}")


def positive_int(name: str, value: Any) -> int:
    """Return the count `name` as a Python int.

    Raises:
        TypeError: it is not an integer.
        ValueError: it is less than 1.
    """
    number = as_int(name, value)
    if number < 1:
        raise ValueError(f"{name} must be >= 1, got {number}")
    return number
