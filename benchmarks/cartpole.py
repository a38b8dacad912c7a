"""CartPole against the same loop in C and against gymnasium: `python -m benchmarks.cartpole`.

Everything is measured in one run, in turns. The tables go into docs/benchmarks/cartpole.md and README.md. Exits with 1
if a figure falls short of what the project promises.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium
import numpy as np

import sekai
from benchmarks.c_loop import CLoop
from benchmarks.report import ROOT, fill, machine, table
from benchmarks.timing import interleaved, quartiles, walking_gymnasium
from sekai.timing import Contestant, stepping, walking

ID = "CartPole-v1"
SMALL, MEDIUM, LARGE = 4_096, 65_536, 1_048_576  # lanes
FUSED_STEPS = 80_000_000  # env-steps of one rollout
SINGLE_ACTIONS = 1_000
SEEDED = 100_000  # lanes
FRESH_PROCESSES = 5

C, KERNEL, STEP_SMALL, STEP_MEDIUM = "the same loop in C", "step kernel", "vec.step, small", "vec.step, medium"
FUSED_SMALL, FUSED_MEDIUM, FUSED_LARGE = "fused, small", "fused, medium", "fused, large"
SINGLE, GYM_SINGLE, GYM_BATCH, SEEDING = "single", "gymnasium single", "gymnasium batch", "seeding"

# What README.md shows, and in which words: name, lanes, threads.
RATES = {
    FUSED_LARGE: ("`sekai.rollout`, random actions, fused", LARGE, 2),
    FUSED_MEDIUM: ("`sekai.rollout`, random actions, fused", MEDIUM, 2),
    FUSED_SMALL: ("`sekai.rollout`, random actions, fused", SMALL, 2),
    STEP_MEDIUM: ("`vec.step`", MEDIUM, 1),
    STEP_SMALL: ("`vec.step`", SMALL, 1),
    KERNEL: ("the kernel behind `vec.step`", SMALL, 1),
    C: ("the same loop in C, `-O3 -march=native`", SMALL, 1),
    GYM_BATCH: ("gymnasium's NumPy vector env", MEDIUM, 1),
    SINGLE: (f'`sekai.make("{ID}")`, one env', 1, 1),
    GYM_SINGLE: (f'`gymnasium.make("{ID}")`, one env', 1, 1),
}

# A new process, for which numba is not news.
FIRST_STEP = f"""
import time
import numba
start = time.perf_counter()
import sekai
env = sekai.make({ID!r})
env.reset(seed=0)
env.step(0)
print(time.perf_counter() - start)
"""


class Row(NamedTuple):
    """A figure that is promised: what it is, its value and its spread in words, the promise, and whether it is kept."""

    what: str
    value: str
    spread: str
    promise: str
    kept: bool


def main() -> int:
    """Measure, print the tables and write them; 1 if a promise is not kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=21, help="turns of each contestant (%(default)s)")
    parser.add_argument("--dry-run", action="store_true", help="print the tables only")
    args = parser.parse_args()

    where = machine("numpy", "numba", "sekai", "gymnasium")
    seconds = interleaved(contestants(), args.rounds)
    cold, warm = first_steps()
    rates, promises = rate_table(seconds), promise_rows(seconds, cold, warm)
    promise_table = table(
        ("measure", "median", "middle half", "promised", "reached"),
        [(*row[:4], "yes" if row.kept else "**no**") for row in promises],
        numeric=(1, 2, 3),
    )
    text = f"{where}\n\n{rates}\n\n{promise_table}"
    print(text)
    if not args.dry_run:
        fill(ROOT / "docs" / "benchmarks" / "cartpole.md", "cartpole", text)
        fill(ROOT / "README.md", "cartpole", f"{rates}\n\n{where}")
    return 0 if all(row.kept for row in promises) else 1


# ---- contestants -----------------------------------------------------------------------------------


def contestants() -> dict[str, Contestant]:
    """All that is timed."""
    small, medium = action_arrays(SMALL), action_arrays(MEDIUM)
    c_loop, kernel = c_and_kernel(small)
    gym_batch = gymnasium.make_vec(ID, MEDIUM, vectorization_mode="vector_entry_point")
    gym_batch.reset(seed=0)
    single_actions = action_arrays(SINGLE_ACTIONS)[0].tolist()
    single = sekai.make(ID)
    single.reset(seed=0)
    seeded = sekai.make_vec(ID, SEEDED)
    return {
        C: stepping(c_loop.step, small, SMALL),
        KERNEL: stepping(kernel, small, SMALL),
        STEP_SMALL: stepping(batch(SMALL).step, small, SMALL),
        STEP_MEDIUM: stepping(batch(MEDIUM).step, medium, MEDIUM),
        GYM_BATCH: stepping(gym_batch.step, medium, MEDIUM),
        FUSED_SMALL: fused(SMALL),
        FUSED_MEDIUM: fused(MEDIUM),
        FUSED_LARGE: fused(LARGE),
        SINGLE: walking(single, single_actions),
        GYM_SINGLE: walking_gymnasium(gymnasium.make(ID), single_actions),
        SEEDING: Contestant(lambda: seeded.reset(seed=0)),
    }


def action_arrays(num: int) -> np.ndarray:
    """Two arrays of random actions, so that no contestant sees the same one twice in a row."""
    return np.random.default_rng(0).integers(0, 2, (2, num))


def batch(num_envs: int) -> Any:
    """A batch that is stepped by one thread."""
    vec = sekai.make_vec(ID, num_envs, vector_kwargs={"num_threads": 1})
    vec.reset(seed=0)
    return vec


def c_and_kernel(actions: np.ndarray) -> tuple[CLoop, Callable[[np.ndarray], Any]]:
    """The loop in C and the step kernel, each on a batch of its own; both do the same, which is checked first."""
    vec = batch(SMALL)
    c_loop, out = CLoop(batch(SMALL)), vec._outputs()

    def kernel(actions: np.ndarray) -> Any:
        return vec._program.step(
            vec._packed_memory, vec._param_rows.packed(vec._param_rows.words), actions, vec._actions.accepted,
            vec._everyone, False, vec.max_episode_steps, 0, 0, vec.num_envs, False, *out, vec._ends,
            vec._final_observations, vec._reset_info,
        )  # fmt: skip

    for t in range(50):
        c_loop.step(actions[t % 2])
        kernel(actions[t % 2])
        assert np.array_equal(c_loop.rewards, out.rewards)
        assert np.array_equal(c_loop.terminated, out.terminated)
        # The C compiler contracts products and sums, ours does not.
        np.testing.assert_allclose(c_loop.observations, out.observations, rtol=1e-5, atol=1e-6)
    return c_loop, kernel


def fused(num_envs: int) -> Contestant:
    """A rollout with random actions by two threads, nothing recorded but statistics."""
    vec, steps = sekai.make_vec(ID, num_envs), FUSED_STEPS // num_envs
    run = lambda: sekai.rollout(vec, "random", steps, record=None, num_threads=2)  # noqa: E731
    return Contestant(run, num_envs * steps)


def first_steps() -> tuple[np.ndarray, np.ndarray]:
    """Seconds until the first step in new processes, numba imported: without machine code on disk, and with it."""
    seconds: list[list[float]] = [[], []]
    for _ in range(FRESH_PROCESSES):
        with tempfile.TemporaryDirectory() as cache:
            for found in seconds:
                run = subprocess.run(
                    [sys.executable, "-c", FIRST_STEP],
                    env={**os.environ, "SEKAI_CACHE_DIR": cache},
                    capture_output=True,
                    text=True,
                    check=True,
                )
                found.append(float(run.stdout))
    return np.array(seconds[0]), np.array(seconds[1])


# ---- tables ----------------------------------------------------------------------------------------


def rate_table(seconds: dict[str, np.ndarray]) -> str:
    """Env-steps a second."""
    rows = []
    for name, (what, lanes, threads) in RATES.items():
        each = statistics.median(seconds[name])
        rows.append((what, f"{lanes:,}", str(threads), significant(1e-6 / each), significant(1e9 * each)))
    return table(("CartPole-v1", "lanes", "threads", "million steps/s", "ns a step"), rows, numeric=(1, 2, 3, 4))


def promise_rows(seconds: dict[str, np.ndarray], cold: np.ndarray, warm: np.ndarray) -> list[Row]:
    """Each figure that the project promises."""

    def faster(what: str, ours: str, theirs: str, least: float) -> Row:
        median, low, high = quartiles(seconds[theirs] / seconds[ours])
        return Row(what, f"{median:.2f} x", f"{low:.2f} to {high:.2f}", f"at least {least:g} x", median >= least)

    def sooner(what: str, times: np.ndarray, most: float) -> Row:
        median, low, high = quartiles(times)
        return Row(what, f"{median:.3f} s", f"{low:.3f} to {high:.3f}", f"at most {most:g} s", median <= most)

    return [
        faster("step kernel, 4,096 lanes, against the same loop in C", KERNEL, C, 0.85),
        faster("`vec.step`, 4,096 lanes, against the same loop in C", STEP_SMALL, C, 0.7),
        faster("`vec.step`, 65,536 lanes, against gymnasium's NumPy vector env", STEP_MEDIUM, GYM_BATCH, 5),
        faster("fused rollout, 65,536 lanes, 2 threads, against gymnasium's vector env", FUSED_MEDIUM, GYM_BATCH, 10),
        faster("fused rollout, 1,048,576 lanes, against its own rate at 4,096", FUSED_LARGE, FUSED_SMALL, 0.7),
        faster("one env with its time limit, against gymnasium's", SINGLE, GYM_SINGLE, 1.5),
        sooner("first step in a new process, after `import numba`, machine code on disk", warm, 0.3),
        sooner("the same, nothing on disk", cold, 3),
        sooner("seeding and resetting 100,000 lanes", seconds[SEEDING], 0.05),
    ]


def significant(number: float) -> str:
    """Three significant digits, none of them in an exponent."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


if __name__ == "__main__":
    sys.exit(main())
