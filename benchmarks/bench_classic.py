"""Classic control against EnvPool, one thread each: `python -m benchmarks.bench_classic`.

Needs `pip install envpool`. Both sides take turns, and the median of the ratios within a round counts. Exits with 1 if
one falls short of what the project promises.
"""

from __future__ import annotations

import sys

import gymnasium
import numpy as np

import sekai
from benchmarks.report import machine
from benchmarks.timing import interleaved, quartiles
from sekai.timing import stepping

LANES, ROUNDS, ACTIONS = 4_096, 11, 16
LEAST = {"MountainCar-v0": 40.0, "MountainCarContinuous-v0": 40.0, "Pendulum-v1": 40.0, "Acrobot-v1": 8.0}


def compare(env_id: str) -> dict[str, np.ndarray]:
    """Seconds for an env-step, `(ROUNDS,)`, of both."""
    import envpool

    ours = sekai.make_vec(env_id, LANES, vector_kwargs={"num_threads": 1})
    ours.batch_action_space.seed(0)
    actions = [ours.batch_action_space.sample() for _ in range(ACTIONS)]
    theirs = envpool.make_gymnasium(env_id, num_envs=LANES, num_threads=1)
    their_actions = [action if action.dtype == np.float32 else action.astype(np.int32) for action in actions]
    ours.reset(seed=0)
    theirs.reset()
    contestants = {
        "ours": stepping(ours.step, actions, LANES),
        "theirs": stepping(theirs.step, their_actions, LANES),
    }
    return interleaved(contestants, ROUNDS)


def main() -> int:
    """Print the figures; 1 if one is not what it should be."""
    gymnasium.logger.min_level = gymnasium.logger.ERROR  # EnvPool's spaces lose precision, it warns
    print(machine("sekai", "numpy", "numba", "envpool"))
    bad = 0
    for env_id, least in LEAST.items():
        seconds = compare(env_id)
        ratio, low, high = quartiles(seconds["theirs"] / seconds["ours"])
        bad += ratio < least
        rates = " against ".join(f"{1e-6 / np.median(seconds[name]):.1f}" for name in ("ours", "theirs"))
        verdict = "" if ratio >= least else ", MISSED"
        print(f"{ratio:6.1f} x  ({low:.1f} to {high:.1f}; at least {least:g}{verdict})  {env_id}: {rates} M steps/s")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
