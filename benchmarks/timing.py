"""Timing of things against each other.

Times vary with the machine and with what else it does, so all that is compared takes turns, many rounds of it, and a
ratio is the median of the ratios within a round.
"""

from __future__ import annotations

from itertools import cycle
from typing import Any

import numpy as np

from sekai.timing import Contestant, turn

TURN = 0.05  # s, about


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


def quartiles(values: np.ndarray) -> tuple[float, float, float]:
    """The median, and the bounds of the middle half."""
    low, median, high = np.percentile(values, [25, 50, 75])
    return float(median), float(low), float(high)


def walking_gymnasium(env: Any, actions: list[Any]) -> Contestant:
    """What `sekai.timing.walking` does, with a single env of gymnasium's."""
    turns = cycle(actions)
    env.reset(seed=0)

    def run() -> None:
        _, _, terminated, truncated, _ = env.step(next(turns))
        if terminated or truncated:
            env.reset()

    return Contestant(run)
