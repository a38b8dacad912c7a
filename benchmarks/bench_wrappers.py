"""Wrappers against what they may cost: `python -m benchmarks.bench_wrappers`.

All sides of a comparison take turns, and the best turn of each counts, since a busy machine can only make it slower.
Exits with 1 if a wrapper costs more than it may.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import sekai
from benchmarks.report import machine
from benchmarks.timing import interleaved
from sekai.timing import Contestant

ROUNDS = 15
LANES = 4_096
MOST_OF_A_STEP = 3.0  # times the bare step, for statistics and both normalisations together
MOST_OF_A_SINGLE = 1.5  # us, of each wrapper of an environment whose step has nothing to copy
FREE = "copies"  # such wrappers make a new observation or action; they are shown, and not judged


class Still(sekai.Env[np.ndarray, Any]):
    """Does nothing at all."""

    def __init__(self, actions: Any = None) -> None:
        self.observation_space = sekai.Box(-1, 1, (4,))
        self.action_space = sekai.Discrete(2) if actions is None else actions
        self.first = sekai.ResetResult(np.zeros(4, np.float32), {})
        self.next = sekai.StepResult(self.first.observation, 1.0, False, False, {})

    def reset(self, *, seed=None, options=None):
        return self.first

    def step(self, action):
        return self.next


class Masked(Still):
    """Allows everything."""

    def action_mask(self):
        return [1, 1]


BOX = sekai.Box(-1, 1, (1,))
SINGLES: dict[str, tuple[Callable[[], Any], Any, str]] = {
    "TimeLimit": (lambda: sekai.TimeLimit(Still(), 10**9), 0, ""),
    "AutoReset": (lambda: sekai.AutoReset(Still()), 0, ""),
    "OrderEnforcing": (lambda: sekai.OrderEnforcing(Still()), 0, ""),
    "RecordEpisodeStatistics": (lambda: sekai.RecordEpisodeStatistics(Still()), 0, ""),
    "TransformObservation": (lambda: sekai.TransformObservation(Still(), lambda obs: obs), 0, ""),
    "StickyAction": (lambda: sekai.StickyAction(Still(), 0.25), 0, ""),
    "ActionRepeat": (lambda: sekai.ActionRepeat(Still(), 1), 0, ""),
    "DelayAction": (lambda: sekai.DelayAction(Still(), 2, noop=0), 0, ""),
    "NormalizeReward": (lambda: sekai.NormalizeReward(Still()), 0, ""),
    "TransformReward": (lambda: sekai.TransformReward(Still(), lambda reward: reward), 0, ""),
    "ClipReward": (lambda: sekai.ClipReward(Still(), -1, 1), 0, ""),
    "ClipAction": (lambda: sekai.ClipAction(Still(BOX)), BOX.low, FREE),
    "RescaleAction": (lambda: sekai.RescaleAction(Still(BOX), -2, 2), BOX.low, FREE),
    "NormalizeObservation": (lambda: sekai.NormalizeObservation(Still()), 0, FREE),
    "RescaleObservation": (lambda: sekai.RescaleObservation(Still(), 0, 1), 0, FREE),
    "DtypeObservation": (lambda: sekai.DtypeObservation(Still(), np.float64), 0, FREE),
    "DelayObservation": (lambda: sekai.DelayObservation(Still(), 2), 0, FREE),
    "TimeAwareObservation": (lambda: sekai.TimeAwareObservation(Still(), 100), 0, FREE),
    "FlattenObservation": (lambda: sekai.FlattenObservation(Still()), 0, FREE),
    "FrameStackObservation": (lambda: sekai.FrameStackObservation(Still(), 4), 0, FREE),
    "ActionMaskObservation": (lambda: sekai.ActionMaskObservation(Masked()), 0, FREE),
}


def batches() -> dict[str, Contestant]:
    """CartPole, and CartPole in more and more wrappers."""
    makers = {
        "bare step": lambda: sekai.make_vec("CartPole-v1", LANES),
        "+ episode statistics": lambda: sekai.VecRecordEpisodeStatistics(makers["bare step"]()),
        "+ observation normalisation": lambda: sekai.VecNormalizeObservation(makers["+ episode statistics"]()),
        "+ reward normalisation": lambda: sekai.VecNormalizeReward(makers["+ observation normalisation"]()),
    }
    rng = np.random.default_rng(0)
    actions = [rng.integers(2, size=LANES) for _ in range(64)]
    return {name: Contestant(stepper(make(), actions)) for name, make in makers.items()}


def stepper(vec: Any, actions: list[Any]) -> Callable[[], Any]:
    """A function that steps a batch once, with other actions each time."""
    vec.reset(seed=0)
    given = itertools.cycle(actions)
    return warm(lambda: vec.step(next(given)))


def warm(run: Callable[[], Any]) -> Callable[[], Any]:
    """The same function, whose kernels have been loaded."""
    run()
    return run


def singles() -> dict[str, Contestant]:
    """The wrappers of single environments, and none."""

    def step(make: Callable[[], Any], action: Any) -> Contestant:
        env = make()
        env.reset(seed=0)
        return Contestant(warm(lambda: env.step(action)))

    return {"": step(Still, 0), **{name: step(make, action) for name, (make, action, _) in SINGLES.items()}}


def main() -> int:
    """Print the tables; 1 if anything costs more than it may."""
    print(machine("numpy", "numba"))
    print(f"\nCartPole, {LANES} lanes: one step")
    times = {name: seconds.min() * 1e6 for name, seconds in interleaved(batches(), ROUNDS).items()}
    bare = times["bare step"]
    for name, took in times.items():
        print(f"{took:8.1f} us {took / bare:6.2f} x  {name}")
    slow = took > MOST_OF_A_STEP * bare
    print(f"all of it: {took / bare:.2f} x (at most {MOST_OF_A_STEP:g})")

    print("\nWhat a wrapper adds to a step that does nothing")
    times = {name: seconds.min() * 1e6 for name, seconds in interleaved(singles(), ROUNDS).items()}
    for name, (_, _, note) in SINGLES.items():
        added = times[name] - times[""]
        slow |= not note and added > MOST_OF_A_SINGLE
        print(f"{added:8.2f} us  {f'({note})' if note else f'(at most {MOST_OF_A_SINGLE:g} us)':18} {name}")
    return int(slow)


if __name__ == "__main__":
    sys.exit(main())
