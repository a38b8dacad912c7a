"""Spaces against gymnasium's, and batches against loops: `python benchmarks/bench_spaces.py`.

Times vary with the machine and what else it does, so only ratios are judged. The two sides of a ratio are timed in
turns, many times over, and the best time of each side counts. Exits with 1 if a ratio is below what it should be.
"""

from __future__ import annotations

import sys
import timeit
from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium
import numpy as np

from sekai.spaces import Box, Discrete, MultiDiscrete, Space

ROUNDS = 30
CALLS = 300
BATCH = 65_536


class Ratio(NamedTuple):
    name: str
    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    scale: float  # calls of `theirs` that do what one of `ours` does
    least: float


def against_gymnasium(ours: Space[Any], theirs: gymnasium.Space[Any]) -> list[Ratio]:
    """`sample` and `contains` of one kind of space in both libraries."""
    x, y = ours.sample(), theirs.sample()
    return [
        Ratio(f"{ours} sample()", ours.sample, theirs.sample, 1, 1.0),
        Ratio(f"{ours} contains()", lambda: ours.contains(x), lambda: theirs.contains(y), 1, 1.0),
    ]


def against_a_loop(space: Space[Any]) -> Ratio:
    """One large batch against as many samples."""
    space.sample_batch(BATCH)  # compiles
    return Ratio(f"{space} sample_batch({BATCH})", lambda: space.sample_batch(BATCH), space.sample, BATCH, 50.0)


def ratios() -> list[Ratio]:
    """All that is compared."""
    found = against_gymnasium(Discrete(10, seed=0), gymnasium.spaces.Discrete(10, seed=0))
    for low, high, shape, dtype in [
        (-1, 1, (4,), np.float32),
        (-np.inf, np.inf, (4,), np.float32),
        ([-2, 0, -np.inf], [2, np.inf, np.inf], (3,), np.float32),
        (0, 255, (4,), np.uint8),
        (0, 255, (84, 84, 3), np.uint8),
    ]:
        ours = Box(low, high, shape, dtype, seed=0)
        found += against_gymnasium(ours, gymnasium.spaces.Box(ours.low, ours.high, dtype=dtype, seed=0))
    batched = [
        Discrete(10, seed=0),
        MultiDiscrete([3, 4, 5], seed=0),
        Box(-1, 1, (4,), seed=0),
        Box(0, 255, (4,), np.uint8),
    ]
    return found + [against_a_loop(space) for space in batched]


def measure(ratio: Ratio) -> float:
    """How many times as long `theirs` takes for the same work."""
    ours = theirs = float("inf")
    for _ in range(ROUNDS):
        calls = CALLS if ratio.scale == 1 else 1
        ours = min(ours, timeit.timeit(ratio.ours, number=calls) / calls)
        theirs = min(theirs, timeit.timeit(ratio.theirs, number=CALLS) / CALLS)
    return theirs * ratio.scale / ours


def main() -> int:
    """Print the table; 1 if anything is slower than it should be."""
    slow = 0
    for ratio in ratios():
        times = measure(ratio)
        slow += times < ratio.least
        print(f"{times:8.1f} x  (at least {ratio.least:g})  {ratio.name}")
    return slow > 0


if __name__ == "__main__":
    sys.exit(main())
