"""Timing of things against each other.

Times vary with the machine and with what else it does, so all that is compared takes turns, many rounds of it, and a
ratio is the median of the ratios within a round.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

TURN = 0.05  # s, about


class Contestant(NamedTuple):
    """Something to time.

    Attributes:
        run: What is timed.
        work: How many things (env-steps, say) one call of it does.
    """

    run: Callable[[], Any]
    work: int = 1


def interleaved(contestants: dict[str, Contestant], rounds: int) -> dict[str, np.ndarray]:
    """Let all take turns; returns the seconds that each took for one of its things, `(rounds,)`.

    A turn is as many calls as take some 50 ms, but one at least. A first call, in which things compile, and a first
    round, in which caches fill, do not count.
    """
    calls = {}
    for name, contestant in contestants.items():
        contestant.run()
        calls[name] = max(1, int(TURN / turn(contestant, 1)))
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(1 + rounds):
        for name, contestant in contestants.items():
            seconds[name].append(turn(contestant, calls[name]) / calls[name] / contestant.work)
    return {name: np.array(times[1:]) for name, times in seconds.items()}


def turn(contestant: Contestant, calls: int) -> float:
    """Seconds that some calls take."""
    run = contestant.run
    start = time.perf_counter()
    for _ in range(calls):
        run()
    return time.perf_counter() - start


def quartiles(values: np.ndarray) -> tuple[float, float, float]:
    """The median, and the bounds of the middle half."""
    low, median, high = np.percentile(values, [25, 50, 75])
    return float(median), float(low), float(high)
