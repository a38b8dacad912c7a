"""Turn what users pass as numbers into float64.

Text is refused with a `ValueError`, as `float("x")` is, everything else that is no real number with a `TypeError`:
`"1.5"` and `True` are mistakes more often than prices.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekai.utils.integers import as_int

Floats = NDArray[np.float64]


def number(name: str, value: Any, *, least: float = -math.inf, above: float = -math.inf) -> float:
    """Return the argument `name`, one finite number, as a float.

    Raises:
        TypeError: It is not one real number.
        ValueError: It is text, not finite, less than `least`, or not above `above`.
    """
    if np.ndim(value) != 0:
        raise TypeError(f"{name} must be one number, got {value!r}")
    return float(finite(name, value, least=least, above=above))


def finite(name: str, values: Any, *, least: float = -math.inf, above: float = -math.inf) -> Floats:
    """Return the argument `name` as `numbers` does, all of them finite and in range.

    Raises:
        TypeError: It holds something else than real numbers.
        ValueError: One is text, not finite, less than `least`, or not above `above`.
    """
    found = numbers(name, values)
    check_range(name, found, least=least, above=above)
    return found


def numbers(name: str, values: Any, place: Callable[[tuple[int, ...]], str] | None = None) -> Floats:
    """Return the argument `name`, real numbers, as a fresh float64 array; None is NaN, unless it is all there is.

    Args:
        name: What to call the argument in errors.
        values: An array, or what NumPy makes one of.
        place: What to call the place of an entry, by its index.

    Raises:
        TypeError: It holds something else than real numbers.
        ValueError: It holds text or a number too large for a float, or has rows of different lengths.
    """
    array = as_array(name, values)
    if array.dtype.kind in "iuf":
        return array.astype(np.float64, order="C")
    found = np.empty(array.shape)
    for index in np.ndindex(array.shape):
        value = array[index]
        if value is None and array.ndim:
            value = math.nan
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real) or isinstance(value, np.timedelta64):
            where = f"{name}: {(place or place_of)(index)}" if array.ndim else name
            error = ValueError if isinstance(value, str) else TypeError
            shown = value.item() if isinstance(value, np.generic) else value
            raise error(f"{where} must be a number, got {shown!r}")
        try:
            found[index] = float(value)
        except OverflowError:
            raise ValueError(f"{name} must fit a float, got {value!r}") from None
    return found


def as_array(name: str, values: Any) -> NDArray[Any]:
    """Return the argument `name` as an array of any type; what a masked array hides is None.

    Raises:
        ValueError: It has rows of different lengths.
    """
    if np.ma.is_masked(values):
        array = np.ma.getdata(values).astype(object)
        array[np.ma.getmaskarray(values)] = None
        return array
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} must have rows of one length") from error


def place_of(index: tuple[int, ...]) -> str:
    """What an entry of an array is called."""
    return f"entry {', '.join(map(str, index))}"


def lane_of(index: tuple[int, ...]) -> str:
    """What an entry of an array of one per lane is called."""
    return f"lane {index[0]}"


def check_range(
    name: str,
    values: Any,
    *,
    least: float = -math.inf,
    above: float = -math.inf,
    place: Callable[[tuple[int, ...]], str] = place_of,
) -> None:
    """Check that numbers are finite, at least `least`, and above `above`.

    Args:
        name: What to call them in errors.
        values: A number, or an array of them.
        least: The smallest that is right.
        above: What all have to be greater than.
        place: What to call the place of an entry, by its index.

    Raises:
        ValueError: One is not.
    """
    values = np.asarray(values)
    bad = np.argwhere(~(np.isfinite(values) & (values >= least) & (values > above)))
    if len(bad):
        index = tuple(int(k) for k in bad[0])
        where = f"{name}: {place(index)}" if index else name
        wanted = (
            f" and at least {least:g}" if least > -math.inf else f" and above {above:g}" if above > -math.inf else ""
        )
        raise ValueError(f"{where} must be finite{wanted}, got {values[index].item()!r}")


def spread_over(name: str, values: Floats, shape: tuple[int, ...]) -> Floats:
    """Return numbers broadcast to a shape, as a C-contiguous array.

    Raises:
        ValueError: They do not have the shape.
    """
    try:
        return np.array(np.broadcast_to(values, shape), order="C")
    except ValueError as error:
        raise ValueError(f"{name} must have a shape that broadcasts to {shape}, got {values.shape}") from error


def count(name: str, value: Any, least: int = 0) -> int:
    """Return the argument `name` as an int of at least `least`.

    Raises:
        TypeError: It is not an integer.
        ValueError: It is less.
    """
    found = as_int(name, value)
    if found < least:
        raise ValueError(f"{name} must be >= {least}, got {found}")
    return found
