"""Batches seen through gymnasium's API against what that may cost: `python -m benchmarks.bench_bridges`.

All sides of a comparison take turns, and the median of the ratios within a round counts. Exits with 1 if the bridge
costs more than it may. What it costs to look at the infos of each step is shown, and not judged.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np

import sekai
from benchmarks.report import machine
from benchmarks.timing import Contestant, interleaved, quartiles
from sekai.compat import to_gymnasium_vector

ROUNDS = 31
LANES = 4_096
MOST = {"next_step": 1.15, "same_step": 1.6}  # times the bare step


def contestants(mode: str) -> dict[str, Contestant]:
    """CartPole: the bare batch, the same through the bridge, and gymnasium's own."""
    vec, seen, looked_at = (sekai.make_vec("CartPole-v1", LANES, autoreset=mode) for _ in range(3))
    bridge = to_gymnasium_vector(looked_at)
    steps = {
        "the bare step": stepper(vec),
        "to_gymnasium_vector": stepper(to_gymnasium_vector(seen)),
        "to_gymnasium_vector, infos looked at": stepper(bridge, lambda result: len(result[-1])),
    }
    if mode == "next_step":
        theirs = gymnasium.make_vec("CartPole-v1", LANES, vectorization_mode="vector_entry_point")
        steps["gymnasium's NumPy vector env"] = stepper(theirs)
    return {name: Contestant(step) for name, step in steps.items()}


def stepper(vec: Any, look: Callable[[Any], Any] = lambda result: None) -> Callable[[], None]:
    """A function that steps a batch once, with other actions each time."""
    rng = np.random.default_rng(0)
    actions = itertools.cycle([rng.integers(2, size=LANES) for _ in range(64)])
    vec.reset(seed=0)
    return lambda: look(vec.step(next(actions)))


def main() -> int:
    """Print the tables; 1 if the bridge costs more than it may."""
    print(machine("sekai", "numpy", "gymnasium"))
    bad = 0
    for mode, most in MOST.items():
        print(f"\nCartPole, {LANES} lanes, {mode}: one step")
        times = interleaved(contestants(mode), ROUNDS)
        for name, seconds in times.items():
            ratio, low, high = quartiles(seconds / times["the bare step"])
            note = ""
            if name == "to_gymnasium_vector":
                bad += ratio > most
                note = f" (at most {most:g}{', MISSED' if ratio > most else ''})"
            print(f"{np.median(seconds) * 1e6:8.1f} us {ratio:6.2f} x  ({low:.2f} to {high:.2f})  {name}{note}")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
