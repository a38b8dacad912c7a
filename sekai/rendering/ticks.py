"""Numbers as people like to read them: round steps, short labels, ranges with some room."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

MINUS = "\N{MINUS SIGN}"
MISSING = "\N{EM DASH}"
MOST_DECIMALS = 4  # of labels of ticks that are small numbers
COMPACT_ZEROS = re.compile(r"(?:\.0+|(?<=\.\d)0)([TBMK])$")
SUFFIXES = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K"))


def nice_step(span: float, count: int = 4) -> float:
    """The least 1, 2, 2.5 or 5 times a power of ten that covers `span` in `count` steps; 1 if `span` is no length."""
    raw = span / max(count, 1)
    if not (math.isfinite(raw) and raw > 0):
        return 1.0
    power = 10.0 ** math.floor(math.log10(raw))
    return next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= raw * (1 - 1e-9))


def value_range(*arrays: Any, include: Iterable[float] = (), pad: float = 0.0) -> tuple[float, float]:
    """The range of all finite values, `pad` times its length wider on each side; (0, 1) if there are none.

    A single value gets a hundredth of itself on each side, and zero gets 1.
    """
    values = np.concatenate([np.asarray(a, float).ravel() for a in (*arrays, list(include))])
    values = values[np.isfinite(values)]
    if not values.size:
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    flat = high - low <= 1e-12 * max(abs(low), abs(high), 1.0)
    alone = 1.0 if low == high == 0.0 else max(0.01 * abs(low), 1e-6)
    room = alone if flat else pad * (high - low)
    return low - room, high + room


def nice_limits(low: float, high: float, count: int = 5) -> tuple[float, float]:
    """Round numbers below and above a range, the same for all ranges that differ by little."""
    step = nice_step(high - low, count)
    return math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step


def decimals_for(step: float) -> int:
    """How many decimals, 8 at most, tell multiples of `step` apart exactly."""
    if not (math.isfinite(step) and step > 0):
        return 0
    for decimals in range(9):
        scaled = step * 10**decimals
        if abs(scaled - round(scaled)) < 1e-6 * scaled:
            return decimals
    return 8


def format_number(
    value: Any, decimals: int = 2, *, sign: bool = False, percent: bool = False, compact: bool = False
) -> str:
    """A number with commas and a real minus sign; a dash if there is none.

    Args:
        value: The number; None, NaN and infinities have none.
        decimals: How many decimals.
        sign: Whether positive numbers get a plus sign.
        percent: Whether to write 0.5 as 50%.
        compact: Whether to write 12500 as 12.5K.
    """
    if value is None or not math.isfinite(value):
        return MISSING
    size, suffix = abs(value) * (100 if percent else 1), ""
    if compact and size >= 1000:
        unit, suffix = next(pair for pair in SUFFIXES if size >= pair[0])
        size /= unit
        decimals = 0 if size >= 100 else 1 if size >= 10 else 2
    text = f"{size:,.{max(decimals, 0)}f}"
    is_zero = not text.strip("0.,")
    mark = "" if is_zero else MINUS if value < 0 else "+" if sign else ""
    return f"{mark}{text}{suffix}{'%' if percent else ''}"


def scientific(value: float) -> str:
    """A small number in powers of ten, as 2.5e-6, with real minus signs."""
    digits, _, power = f"{value:.3e}".partition("e")
    digits = digits.rstrip("0").rstrip(".")
    return "0" if float(digits) == 0 else f"{digits}e{int(power)}".replace("-", MINUS)


def tick_labels(ticks: Sequence[float], *, percent: bool = False) -> list[str]:
    """Labels of ticks, with as many decimals as tell them apart; large ones are compact if they stay distinct."""
    if not len(ticks):
        return []
    factor = 100 if percent else 1
    gaps = np.abs(np.diff(ticks))
    smallest = float(gaps[gaps > 0].min()) if (gaps > 0).any() else abs(float(ticks[0])) or 1.0
    decimals = decimals_for(smallest * factor)
    if decimals > MOST_DECIMALS and max(map(abs, ticks)) < 0.1:
        return [scientific(tick) for tick in ticks]
    plain = [format_number(tick, decimals, percent=percent) for tick in ticks]
    if percent or max(map(abs, ticks)) < 10_000:
        return plain
    short = [COMPACT_ZEROS.sub(r"\1", format_number(tick, decimals, compact=True)) for tick in ticks]
    return short if len(set(short)) == len(set(plain)) else plain
