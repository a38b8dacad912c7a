"""`sekai bench`: how fast an environment steps."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import sekai
from sekai.cli.output import busy, print_json

if TYPE_CHECKING:
    from sekai.timing import Contestant

MOST_WARM_UP = 100  # calls
COUNTED_SINGLE = "step() with actions drawn beforehand, and reset() where an episode ends"
COUNTED_BATCH = "step() of the batch with actions drawn beforehand, resets of lanes within it"


def run_bench(args: Any) -> int:
    """Time the steps of an environment or of a batch of it, after some that compile and fill caches."""
    from sekai.timing import turn

    if args.workers is not None and args.mode != "proc":
        raise ValueError("--workers applies to --mode proc only")
    single = args.num_envs == 1 and args.mode in ("auto", "sync")
    warm_up = min(args.steps // 10, MOST_WARM_UP)
    with ExitStack() as stack:
        with busy(f"Warming {args.id} up"):
            contestant, facts = (single_env if single else batch)(args, stack)
            turn(contestant, warm_up)
        seconds = turn(contestant, args.steps)
    total = args.steps * contestant.work
    if args.json:
        measured = {"env_steps": total, "seconds": seconds, "steps_per_second": total / seconds}
        arguments = {"num_envs": args.num_envs, "num_steps": args.steps, "warm_up": warm_up, "seed": args.seed}
        print_json({"id": args.id, **facts, **arguments, **measured})
        return 0
    print(f"{args.id} [{facts['label']}]: {total:,} env steps in {seconds:.2f}s = {total / seconds:,.0f} steps/s")
    by = plural(facts["num_workers"], "process") if facts["num_workers"] else plural(facts["num_threads"], "thread")
    lanes, calls = plural(args.num_envs, "lane"), plural(warm_up, "call")
    print(f"{lanes}, {by}, {calls} to warm up. Counted: {facts['counted']}.")
    return 0


def single_env(args: Any, stack: ExitStack) -> tuple[Contestant, dict[str, Any]]:
    """What steps a single environment, and what it is."""
    from sekai.timing import draw_actions, walking

    env = stack.enter_context(sekai.make(args.id))
    env.reset(seed=args.seed)
    env.action_space.seed(args.seed)
    facts = {"label": "single env", "num_threads": 1, "num_workers": None, "counted": COUNTED_SINGLE}
    return walking(env, draw_actions(env.action_space, 1)), facts


def batch(args: Any, stack: ExitStack) -> tuple[Contestant, dict[str, Any]]:
    """What steps a batch, and what it is."""
    from sekai.timing import draw_actions, stepping
    from sekai.vector import KernelVecEnv

    mode = None if args.mode == "auto" else args.mode
    workers = {} if args.workers is None else {"num_workers": args.workers}
    vec = sekai.make_vec(args.id, args.num_envs, vectorization_mode=mode, vector_kwargs=workers)
    stack.enter_context(vec)
    vec.reset(seed=args.seed)
    vec.batch_action_space.seed(args.seed)
    base = getattr(vec, "unwrapped", vec)
    facts = {
        "label": f"{type(base).__name__} x{args.num_envs}",
        "num_threads": base._threads() if isinstance(base, KernelVecEnv) else 1,
        "num_workers": getattr(base, "num_workers", None),
        "counted": COUNTED_BATCH,
    }
    return stepping(vec.step, draw_actions(vec.batch_action_space, args.num_envs), args.num_envs), facts


def plural(count: int, noun: str) -> str:
    """So many of something, in words."""
    ending = "" if count == 1 else "es" if noun.endswith("s") else "s"
    return f"{count:,} {noun}{ending}"
