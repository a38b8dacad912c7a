"""`sekai rollout`: what happens in a batch."""

from __future__ import annotations

import inspect
import sys
from typing import Any

import sekai
from sekai.cli.modules import load_attribute
from sekai.cli.output import busy, may_draw, moments, print_json, print_table


def run_rollout(args: Any) -> int:
    """Step a batch, print its speed and the moments of its episodes, and write the files that are asked for."""
    from sekai._extras import import_extra
    from sekai.cli.files import PICTURES, check_file, save_plot, save_rollout
    from sekai.rollouts.recording import ARRAYS

    record_file = None if args.record is None else check_file("--record", args.record, (".npz",))
    plot_file = None if args.plot is None else check_file("--plot", args.plot, PICTURES)
    if plot_file is not None:
        import_extra("matplotlib", "render")
    policy = None if args.policy is None else load_attribute("--policy", args.policy)
    with busy(f"Making {args.id}"):
        vec = sekai.make_vec(args.id, args.num_envs)
    with vec:
        done = sekai.rollout(
            vec,
            "random" if policy is None else made_policy(policy, vec),
            args.steps,
            record=ARRAYS if record_file else ("rewards",) if plot_file else None,
            seed=args.seed,
            num_threads=args.threads,
            progress=may_draw(sys.stderr),
        )
    if record_file:
        save_rollout(record_file, done)
    if plot_file:
        save_plot(plot_file, done)
    (print_data if args.json else print_summary)(args, done)
    return 0


def made_policy(policy: Any, vec: Any) -> Any:
    """The policy itself, or what a class or function that makes one returns for a batch.

    A function of the observations is a policy: one that makes policies takes `vec`, by that name, or nothing. A class
    takes a batch first unless it can do without: a user's `Policy` has weights there, `()` by default.
    """
    if isinstance(policy, sekai.policies.Policy) or not callable(policy):
        return policy
    first = next(iter(inspect.signature(policy).parameters.values()), None)
    if first is not None and first.name == "vec":
        return policy(vec)
    if isinstance(policy, type):
        return policy() if first is None or first.default is not first.empty else policy(vec)
    return policy() if first is None else policy


def print_data(args: Any, done: Any) -> None:
    """Print a rollout's speed and the moments of its episodes as JSON."""
    measured = {
        "id": args.id,
        "num_envs": done.num_envs,
        "num_steps": done.num_steps,
        "seed": args.seed,
        "policy": args.policy or "random",
        "record": args.record,
        "plot": args.plot,
        "seconds": done.seconds,
        "steps_per_second": done.steps_per_second,
        **done.statistics._asdict(),
    }
    print_json({key: None if value != value else value for key, value in measured.items()})  # JSON has no NaN


def print_summary(args: Any, done: Any) -> None:
    """Print the same as a table."""
    episodes = done.statistics
    rows = [
        ("environment", args.id),
        ("lanes", f"{done.num_envs:,}"),
        ("steps", f"{done.num_steps:,} of each lane, {done.num_envs * done.num_steps:,} in all"),
        ("seed", f"{args.seed}"),
        ("policy", args.policy or "random"),
        ("time", f"{done.seconds:.3g} s"),
        ("env-steps/s", f"{done.steps_per_second:,.0f}"),
        ("episodes", f"{episodes.num_episodes:,}"),
        ("return", moments(episodes.return_mean, episodes.return_std)),
        ("length", moments(episodes.length_mean, episodes.length_std)),
        *((what, name) for what, name in (("record", args.record), ("plot", args.plot)) if name),
    ]
    print_table((), rows)
