"""Points in time, and the rows of a history that they stand for."""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekai.finance.arguments import as_array
from sekai.utils.integers import as_int

Timestamps = NDArray[Any]  # (T,), numbers or datetime64, in ascending order

DATES = (str, datetime.date, np.datetime64)  # a datetime is a date


@dataclass(frozen=True, repr=False)
class Time:
    """A point in time by its value, where a bare number would be taken for a row.

    Args:
        value: A number, a string in ISO 8601, a date, datetime or datetime64.

    Raises:
        TypeError: It is nothing of the kind.
    """

    value: Any

    def __post_init__(self) -> None:
        if not (isinstance(self.value, DATES) or _is_number(self.value)):
            raise TypeError(f"a Time must be a number, a string, a date or a datetime64, got {self.value!r}")

    def __repr__(self) -> str:
        return f"Time({self.value!r})"


def row_of(timestamps: Timestamps, when: Any, side: str = "left") -> int:
    """Return the row that a point in time stands for.

    Args:
        timestamps: Those of the rows.
        when: An int is a row itself, counted from the end if it is negative, and not checked against their number.
            A float, or a string, date, datetime or datetime64, is the time by which the row is sought, as is what a
            `Time` holds.
        side: "left" for the first row not before that time, "right" for the first one after it.

    Returns:
        The row; `len(timestamps)` if all are earlier.

    Raises:
        TypeError: `when` is no point in time.
        ValueError: It is a date where timestamps are numbers, or the reverse; NaN, infinite, NaT or with a time zone.
    """
    if side not in ("left", "right"):
        raise ValueError(f'side must be "left" or "right", got {side!r}')
    is_time = isinstance(when, Time)
    value = when.value if isinstance(when, Time) else when
    if not is_time and _is_integer(value):
        row = as_int("when", value)
        return row + len(timestamps) if row < 0 else row
    if isinstance(value, DATES):
        if timestamps.dtype.kind != "M":
            raise ValueError(f"timestamps are numbers, so a point in time is one, too; got {when!r}")
        return _search(timestamps, _moment(value), side)
    if not _is_number(value):
        raise TypeError(f"a point in time must be a row, a number, a string, a date or a Time, got {when!r}")
    if timestamps.dtype.kind == "M":
        raise ValueError(f"timestamps are dates, so a point in time is a row or a date; got {when!r}")
    if not math.isfinite(value):
        raise ValueError(f"a point in time must be finite, got {when!r}")
    return int(np.searchsorted(timestamps, value, "left" if side == "left" else "right"))


def as_timestamps(name: str, values: Any, n_rows: int) -> Timestamps:
    """Return the timestamps of so many rows, read-only.

    Numbers and datetime64 keep their dtype; strings in ISO 8601, dates and datetimes become datetime64[ns].

    Raises:
        TypeError: They are of another kind.
        ValueError: Their number is another, one is missing, has a time zone or is not after the one before it.
    """
    if getattr(getattr(values, "dtype", None), "tz", None) is not None:
        raise ValueError(f"{name} must not have a time zone, got {values.dtype}; convert them and drop it")
    array = as_array(name, values)
    if array.shape != (n_rows,):
        raise ValueError(f"{name} must hold one for each of {n_rows} rows, got shape {array.shape}")
    if array.dtype.kind in "OU":
        array = np.array([_nanoseconds(f"{name}: row {row}", value) for row, value in enumerate(array)])
    elif array.dtype.kind not in "iufM":
        raise TypeError(f"{name} must hold numbers or dates, got dtype {array.dtype}")
    missing = np.isnat(array) if array.dtype.kind == "M" else ~np.isfinite(array)
    if missing.any():
        row = int(missing.argmax())
        raise ValueError(f"{name}: row {row} is {array[row]}")
    late = array[1:] <= array[:-1]
    if late.any():
        row = int(late.argmax()) + 1
        what = "a duplicate of" if array[row] == array[row - 1] else "before"
        raise ValueError(
            f"{name} must increase, but row {row}, {array[row]}, is {what} row {row - 1}, {array[row - 1]}"
        )
    array = np.array(array)
    array.flags.writeable = False
    return array


def text_of(timestamp: Any) -> str:
    """A timestamp without the zeros at its end."""
    return str(np.datetime_as_string(timestamp, unit="auto") if isinstance(timestamp, np.datetime64) else timestamp)


def years_between(first: np.datetime64, last: np.datetime64) -> float:
    """Years from one datetime64 to another."""
    if np.datetime_data(first.dtype)[0] in ("Y", "M"):
        first, last = first.astype("datetime64[D]"), last.astype("datetime64[D]")
    return float((last - first) / np.timedelta64(1, "D")) / 365.25


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_, np.timedelta64))


def _is_integer(value: Any) -> bool:
    try:
        as_int("when", value)
    except TypeError:
        return False
    return True


def _moment(value: Any) -> np.datetime64:
    """Return what is a date as a datetime64.

    Raises:
        ValueError: It is NaT, has a time zone, or a string is no date.
    """
    if isinstance(value, str):
        has_zone = any(mark in value[len("2000-01-01") :] for mark in "Zz+-")
    else:
        has_zone = getattr(value, "tzinfo", None) is not None
    if has_zone:
        raise ValueError(f"a point in time must not have a time zone, got {value!r}")
    # pandas Timestamps are datetimes, but with nanoseconds.
    moment: np.datetime64 = value.to_datetime64() if hasattr(value, "to_datetime64") else np.datetime64(value)
    if np.isnat(moment):
        raise ValueError(f"a point in time must not be missing, got {value!r}")
    return moment


def _nanoseconds(name: str, value: Any) -> np.datetime64:
    """Return what is a date as a datetime64[ns].

    Raises:
        TypeError: It is no date.
        ValueError: It is no valid one, or too far away for nanoseconds.
    """
    if not isinstance(value, DATES):
        raise TypeError(f"{name} must be a date, got {value!r}")
    try:
        moment = _moment(value)
    except ValueError as error:
        raise ValueError(f"{name} must be a date, got {value!r}: {error}") from None
    return _converted(name, moment, "datetime64[ns]")


def _converted(name: str, moment: np.datetime64, dtype: Any) -> np.datetime64:
    """Return a datetime64 in a finer unit; NumPy itself does not notice an overflow."""
    found: np.datetime64 = moment.astype(dtype)
    if found.astype(moment.dtype) != moment:
        raise ValueError(f"{name} must lie within the range of {found.dtype}, got {moment}")
    return found


def _search(timestamps: Timestamps, moment: np.datetime64, side: str) -> int:
    dtype = np.promote_types(timestamps.dtype, moment.dtype)
    moment = _converted("a point in time", moment, dtype)
    return int(np.searchsorted(timestamps.astype(dtype), moment, "left" if side == "left" else "right"))
