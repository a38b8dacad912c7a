"""The finance environments against what the project promises: `python -m benchmarks.bench_finance`.

Public steps of one thread, with autoreset and infos that nobody reads, and fused rollouts of random actions on two.
All take turns, with CartPole among them to tell how busy the machine is. The table goes into
docs/benchmarks/finance.md. Exits with 1 if a rate falls short.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np

import sekai
from benchmarks.report import ROOT, fill, machine, table
from benchmarks.timing import interleaved, quartiles
from sekai.timing import Contestant, draw_actions, stepping

LANES, STEPS, EPISODE = 4_096, 200, 252
YARDSTICK = "CartPole-v1"
LEAST = {"Trading-v0": 18.0, "Portfolio-v0": 5.0, "MarketMaking-v0": 20.0, "OptimalExecution-v0": 40.0}  # M steps/s
FUSED = 1.6  # times that, at least


def contestants(env_id: str) -> dict[str, Contestant]:
    """Stepping a batch, rolling it out, and writing as many bytes as its observations have."""
    stepped = sekai.make_vec(env_id, LANES, vector_kwargs={"num_threads": 1})
    stepped.batch_action_space.seed(0)
    actions = draw_actions(stepped.batch_action_space, LANES)
    observations = as_leaves(stepped.reset(seed=0).observations)
    rolled = sekai.make_vec(env_id, LANES, vector_kwargs={"num_threads": 2})
    rolled.reset(seed=0)
    for vec in (stepped, rolled):
        spread_out(vec, actions)

    def write() -> None:
        for leaf in observations:
            leaf.fill(0)

    return {
        f"{env_id} step": stepping(stepped.step, actions, LANES),
        f"{env_id} rollout": Contestant(lambda: sekai.rollout(rolled, "random", STEPS, record=None), LANES * STEPS),
        f"{env_id} write": Contestant(write, LANES),
    }


def spread_out(vec: Any, actions: list[Any]) -> None:
    """Bring lanes to different points of their episodes, so that resets do not all fall into one step."""
    ages = np.random.default_rng(0).integers(0, EPISODE, LANES)
    for k in range(EPISODE):
        vec.step(actions[k % len(actions)])
        vec.reset(mask=ages == k)


def as_leaves(observations: Any) -> list[np.ndarray]:
    """Copies of the arrays of observations."""
    return [leaf.copy() for leaf in (observations.values() if isinstance(observations, dict) else [observations])]


def bytes_per_lane(env_id: str) -> int:
    """What a lane keeps between steps."""
    vec = sekai.make_vec(env_id, LANES)
    return sum(array.nbytes for array in (vec._memory, *vec._arrays)) // LANES


def main() -> int:
    """Measure, print the table and write it; 1 if a promise is not kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=11, help="turns of each contestant (%(default)s)")
    parser.add_argument("--dry-run", action="store_true", help="print the table only")
    args = parser.parse_args()
    where = machine("sekai", "numpy", "numba")
    ids = [YARDSTICK, *LEAST]
    seconds = interleaved({name: one for env_id in ids for name, one in contestants(env_id).items()}, args.rounds)
    rows, short = [], False
    for env_id in ids:
        step, rollout, write = (seconds[f"{env_id} {what}"] for what in ("step", "rollout", "write"))
        rate, fused = 1e-6 / np.median(step), 1e-6 / np.median(rollout)
        least = LEAST.get(env_id)
        kept = least is None or (rate >= least and fused >= FUSED * least)
        short |= not kept
        share, *_ = quartiles(seconds[f"{YARDSTICK} step"] / step)
        rows.append(
            (
                env_id, f"{rate:.1f}", f"{least:g}" if least else "", f"{share:.2f}", f"{fused:.1f}",
                f"{FUSED * least:g}" if least else "", f"{np.median(step / write):.1f} x", str(bytes_per_lane(env_id)),
                ("yes" if kept else "**no**") if least else "",
            )
        )  # fmt: skip
    header = (
        "environment", "step, M/s", "promised", f"of {YARDSTICK}", "rollout, M/s", "promised",
        "step / writing its observations", "bytes a lane", "reached",
    )  # fmt: skip
    text = f"{where}\n\n{table(header, rows, numeric=range(1, 8))}"
    print(text)
    if not args.dry_run:
        fill(ROOT / "docs" / "benchmarks" / "finance.md", "finance", text)
    return int(short)


if __name__ == "__main__":
    sys.exit(main())
