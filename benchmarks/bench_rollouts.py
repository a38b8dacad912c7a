"""Rollouts and returns against what the project promises: `python -m benchmarks.bench_rollouts`.

All sides take turns, and the median of the ratios within a round counts. gymnax is looked for in the Python that
`--gymnax-python` names. The table goes into docs/benchmarks/rollouts.md. Exits with 1 if a ratio falls short.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import numpy as np

import sekai
from benchmarks.bench_returns import LEAST, Data, N, T, pairs
from benchmarks.gymnax_scan import GymnaxScan
from benchmarks.report import ROOT, fill, machine, table
from benchmarks.timing import interleaved, quartiles
from sekai.rollouts.recording import ARRAYS
from sekai.timing import Contestant

ID = "CartPole-v1"
MEDIUM, SMALL = 65_536, 4_096  # lanes
RECORDED_STEPS, NETWORK_STEPS, SCAN_STEPS = 128, 50, 16
FUSED_STEPS = 40_000_000 // MEDIUM

# What is promised: name, whose seconds, divided by whose, at least.
PROMISES = (
    ("fused, random, statistics only, 65,536 lanes, against gymnax's jitted scan", "gymnax", "statistics", 20.0),
    ("the same recording all five arrays of 128 steps, against statistics only", "statistics", "recording", 0.4),
    ("fused with a network 4-64-64-2, 4,096 lanes, against stepping with it in NumPy", "NumPy", "network", 3.0),
    (f"GAE over ({T:,}, {N:,}) against a NumPy loop over time", "loop", "gae", LEAST),
)


def main() -> int:
    """Measure, print the table and write it; 1 if a promise is not kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=11, help="turns of each contestant (%(default)s)")
    parser.add_argument("--gymnax-python", default="python", metavar="PATH", help="a Python that has gymnax")
    parser.add_argument("--dry-run", action="store_true", help="print the table only")
    args = parser.parse_args()

    where = machine("numpy", "numba", "sekai")
    with ExitStack() as stack:
        contestants = {**rollouts(), **networks(), **advantages()}
        try:
            scan = GymnaxScan(args.gymnax_python, ID, MEDIUM, SCAN_STEPS)
            stack.callback(scan.close)
            contestants["gymnax"] = Contestant(scan.run, MEDIUM * SCAN_STEPS)
            where += f" {scan.versions}."
        except (ImportError, OSError) as error:
            where += f" Missing: gymnax ({error})."
        seconds = interleaved(contestants, args.rounds)
    rows, kept = [], True
    for what, theirs, ours, least in PROMISES:
        if theirs in seconds:
            median, low, high = quartiles(seconds[theirs] / seconds[ours])
            kept &= median >= least
            reached = "yes" if median >= least else "**no**"
            rate = f"{1e-6 / np.median(seconds[ours]):,.1f}"
            rows.append((what, rate, f"{median:.2f} x", f"{low:.2f} to {high:.2f}", f"at least {least:g} x", reached))
    header = ("measure", "million a second", "ratio", "middle half", "promised", "reached")
    text = f"{where}\n\n{table(header, rows, numeric=(1, 2, 3, 4))}"
    print(text)
    if not args.dry_run:
        fill(ROOT / "docs" / "benchmarks" / "rollouts.md", "rollouts", text)
    return int(not kept)


def rollouts() -> dict[str, Contestant]:
    """Random actions: with nothing recorded but statistics, and with all arrays, overwritten each time."""
    bare, full = sekai.make_vec(ID, MEDIUM), sekai.make_vec(ID, MEDIUM)
    out = sekai.rollout(full, "random", RECORDED_STEPS, record=ARRAYS)
    return {
        "statistics": Contestant(
            lambda: sekai.rollout(bare, "random", FUSED_STEPS, record=None), MEDIUM * FUSED_STEPS
        ),
        "recording": Contestant(
            lambda: sekai.rollout(full, "random", RECORDED_STEPS, record=ARRAYS, out=out), MEDIUM * RECORDED_STEPS
        ),
    }  # fmt: skip


def networks() -> dict[str, Contestant]:
    """The same network in a fused rollout, and in NumPy between two steps."""
    vec, stepped = sekai.make_vec(ID, SMALL), sekai.make_vec(ID, SMALL)
    policy = sekai.policies.MLP(vec, (64, 64))
    rng = np.random.default_rng(0)
    shapes = ((64, 4), (64, 64), (2, 64))
    layers = [(rng.normal(size=shape) / np.sqrt(shape[1]), 0.1 * rng.normal(size=shape[0])) for shape in shapes]
    policy.weights = policy.pack(layers)
    step = by_numpy(stepped, layers)
    return {
        "network": Contestant(lambda: sekai.rollout(vec, policy, NETWORK_STEPS, record=None), SMALL * NETWORK_STEPS),
        "NumPy": Contestant(step, SMALL),
    }


def by_numpy(vec: Any, layers: list[tuple[np.ndarray, np.ndarray]]) -> Callable[[], None]:
    """Steps a batch with a network in NumPy, float64 as ours."""
    *hidden, (matrix, bias) = [(np.ascontiguousarray(matrix.T), bias) for matrix, bias in layers]
    last = vec.reset(seed=0)

    def step() -> None:
        nonlocal last
        x = last.observations.astype(np.float64)
        for weights, offset in hidden:
            x = np.tanh(x @ weights + offset)
        last = vec.step((x @ matrix + bias).argmax(axis=1))

    return step


def advantages() -> dict[str, Contestant]:
    """GAE, and the loop that does the same.

    The loop comes first: NumPy's BLAS, which runs before, keeps its threads spinning for a while, and the loop needs
    one processor only.
    """
    ours, loop = pairs(Data())["gae"]
    return {"loop": Contestant(loop, T * N), "gae": Contestant(ours, T * N)}


if __name__ == "__main__":
    sys.exit(main())
