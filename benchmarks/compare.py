"""Classic control against other libraries, in one table: `python -m benchmarks.compare`.

All contestants of an environment and a number of lanes take turns. The table goes into docs/benchmarks/compare.md. What
is not installed is named there as missing: gymnasium and EnvPool are looked for in this Python, gymnax in the one that
`--gymnax-python` names, a C compiler as `cc`.
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from importlib.util import find_spec
from shutil import which

import numpy as np

import sekai
from benchmarks.c_loop import PROGRAMS, CLoop
from benchmarks.gymnax_scan import GymnaxScan
from benchmarks.report import ROOT, fill, machine, table
from benchmarks.timing import interleaved, walking_gymnasium
from sekai.timing import Contestant, draw_actions, stepping

LANES = (1, 64, 4_096, 65_536, 1_048_576)
THREADS = (1, 2)
FUSED_STEPS = 4_000_000  # env-steps of a rollout, but at least 16 of each lane
SCAN_STEPS = 1_000_000  # of one of gymnax's
MOST_GYM_ENVS = 4_096  # single envs of gymnasium's that are stepped one after the other
MOST_ENVPOOL_ENVS = 65_536

STEP, FUSED = "`vec.step`", "`sekai.rollout`, fused"
GYM, GYM_BATCH, GYM_SYNC = "gymnasium, one env", "gymnasium, NumPy vector env", "gymnasium, sync vector env"
ENVPOOL, GYMNAX, C = "EnvPool", "gymnax, jitted scan", "a loop in C"
ORDER = (FUSED, STEP, C, GYM, GYM_BATCH, GYM_SYNC, ENVPOOL, GYMNAX)

Row = tuple[str, int]  # what, threads


def main() -> None:
    """Measure, print the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7, help="turns of each contestant (%(default)s)")
    parser.add_argument("--envs", nargs="+", default=classic_control(), metavar="ID", help="environments (all five)")
    parser.add_argument("--lanes", nargs="+", type=int, default=LANES, metavar="N", help="numbers of lanes")
    parser.add_argument("--gymnax-python", default="python", metavar="PATH", help="a Python that has gymnax")
    parser.add_argument("--dry-run", action="store_true", help="print the table only")
    args = parser.parse_args()

    installed = [name for name in ("gymnasium", "envpool") if find_spec(name)]
    where, missing = machine("numpy", "numba", "sekai", *installed), set[str]()
    rows: list[list[str]] = []
    for env_id in args.envs:
        rates: dict[Row, dict[int, float]] = {}
        for lanes in args.lanes:
            with ExitStack() as stack:
                found = contestants(env_id, lanes, args.gymnax_python, missing, stack)
                for row, seconds in interleaved(found, args.rounds).items():
                    rates.setdefault(row, {})[lanes] = 1e-6 / float(np.median(seconds))
        rows += [
            [env_id, what, str(threads or "all"), *(significant(rates[what, threads].get(n)) for n in args.lanes)]
            for what, threads in sorted(rates, key=lambda row: (ORDER.index(row[0]), row[1]))
        ]
    header = ("million steps/s", "", "threads", *(f"{n:,}" for n in args.lanes))
    absent = f"\n\nMissing: {'; '.join(sorted(missing))}." if missing else ""
    text = f"{where}\n\n{table(header, rows, numeric=range(2, len(header)))}{absent}"
    print(text)
    if not args.dry_run:
        fill(ROOT / "docs" / "benchmarks" / "compare.md", "compare", text)


def classic_control() -> list[str]:
    """Ids of the registered classic-control environments, those with a kernel batch of gymnasium's dynamics."""
    from sekai.envs.classic_control import ClassicControlEnv

    return [spec.id for spec in sekai.all_specs() if isinstance(spec.make().unwrapped, ClassicControlEnv)]


def significant(number: float | None) -> str:
    """Three significant digits, none of them in an exponent; a dash for what was not measured."""
    if number is None:
        return "-"
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


# ---- contestants -----------------------------------------------------------------------------------


def contestants(
    env_id: str, lanes: int, gymnax_python: str, missing: set[str], stack: ExitStack
) -> dict[Row, Contestant]:
    """All that is timed with so many lanes; what is not there is added to `missing`, processes are left to `stack`."""
    found: dict[Row, Contestant] = {}
    actions = action_arrays(env_id, lanes)
    for threads in THREADS:
        vec = sekai.make_vec(env_id, lanes, vector_kwargs={"num_threads": threads})
        vec.reset(seed=0)
        found[STEP, threads] = stepping(vec.step, actions, lanes)
    for threads in THREADS:
        found[FUSED, threads] = fused(env_id, lanes, threads)
    if find_spec("gymnasium"):
        found |= gymnasium_contestants(env_id, lanes, actions)
    else:
        missing.add("gymnasium (not installed)")
    if find_spec("envpool"):
        found |= envpool_contestants(env_id, lanes, actions)
    else:
        missing.add("EnvPool (not installed)")
    try:
        steps = max(16, min(1_000, SCAN_STEPS // lanes))
        scan = GymnaxScan(gymnax_python, env_id, lanes, steps)
        stack.callback(scan.close)
        found[GYMNAX, 0] = Contestant(scan.run, lanes * steps)
    except (ImportError, OSError) as error:
        missing.add(f"gymnax ({error})")
    if not which("cc"):
        missing.add("C (no compiler)")
    elif env_id in PROGRAMS:
        vec = sekai.make_vec(env_id, lanes)
        vec.reset(seed=0)
        packed = [vec._actions.pack(rows, lanes).astype(vec._actions.dtype) for rows in actions]
        found[C, 1] = stepping(CLoop(vec).step, packed, lanes)
    return found


def action_arrays(env_id: str, lanes: int) -> list[np.ndarray]:
    """Batches of random actions, so that no contestant sees the same one twice in a row."""
    space = sekai.make_vec(env_id, lanes).batch_action_space
    space.seed(0)
    return draw_actions(space, lanes)


def fused(env_id: str, lanes: int, threads: int) -> Contestant:
    """A rollout with random actions, nothing recorded but statistics."""
    vec, steps = sekai.make_vec(env_id, lanes), max(16, FUSED_STEPS // lanes)
    run = lambda: sekai.rollout(vec, "random", steps, record=None, num_threads=threads)  # noqa: E731
    return Contestant(run, lanes * steps)


def gymnasium_contestants(env_id: str, lanes: int, actions: list[np.ndarray]) -> dict[Row, Contestant]:
    """A single env for one lane, else a vector env: NumPy's if there is one."""
    import gymnasium

    gymnasium.logger.min_level = gymnasium.logger.ERROR
    if lanes == 1:
        return {(GYM, 1): walking_gymnasium(gymnasium.make(env_id), [rows[0] for rows in actions])}
    if gymnasium.spec(env_id).vector_entry_point:
        batch = gymnasium.make_vec(env_id, lanes, vectorization_mode="vector_entry_point")
        batch.reset(seed=0)
        return {(GYM_BATCH, 1): stepping(batch.step, actions, lanes)}
    if lanes > MOST_GYM_ENVS:
        return {}
    batch = gymnasium.make_vec(env_id, lanes, vectorization_mode="sync")
    batch.reset(seed=0)
    return {(GYM_SYNC, 1): stepping(batch.step, actions, lanes)}


def envpool_contestants(env_id: str, lanes: int, actions: list[np.ndarray]) -> dict[Row, Contestant]:
    """Batches of EnvPool's, which takes integers of 32 bits."""
    import envpool

    if lanes > MOST_ENVPOOL_ENVS:
        return {}
    theirs = [rows if rows.dtype == np.float32 else rows.astype(np.int32) for rows in actions]
    found: dict[Row, Contestant] = {}
    for threads in THREADS:
        batch = envpool.make_gymnasium(env_id, num_envs=lanes, num_threads=threads)
        batch.reset()
        found[ENVPOOL, threads] = stepping(batch.step, theirs, lanes)
    return found


if __name__ == "__main__":
    main()
