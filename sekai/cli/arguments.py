"""The arguments of the command."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import sekai
from sekai.cli.bench import run_bench
from sekai.cli.check import run_check
from sekai.cli.registered import run_info, run_list
from sekai.cli.rollout import run_rollout


def build_parser() -> argparse.ArgumentParser:
    """The parser of the command's arguments. Of what it returns, `run` is the function that does the work."""
    parser = argparse.ArgumentParser(
        prog="sekai",
        description="Simulate batches of reinforcement-learning environments.",
        epilog="example:\n  sekai rollout CartPole-v1 --num-envs 65536 --steps 1000",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"sekai {sekai.__version__}")
    parser.add_argument(
        "-m",
        "--import",
        dest="modules",
        metavar="MODULE",
        action="append",
        default=[],
        help="import a module first, one that registers environments say; may be repeated",
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    command = add_command(commands, "list", run_list, "list the registered environments", "--namespace my_envs")
    command.add_argument("--namespace", metavar="NS", help="only those of one namespace; '' for those of none")
    add_json_option(command)

    command = add_command(commands, "info", run_info, "tell what an environment is", "CartPole-v1")
    command.add_argument("id", metavar="ID", help="id of the environment")
    add_json_option(command)

    command = add_command(
        commands, "check", run_check, "check an environment and its batch", "CartPole-v1 --determinism --strict"
    )
    command.add_argument("id", metavar="ID", help="id of the environment")
    command.add_argument(
        "--steps", type=positive_int, default=500, metavar="T", help="steps with random actions (%(default)s)"
    )
    command.add_argument("--determinism", action="store_true", help="check that seeded rollouts match, too")
    command.add_argument("--strict", action="store_true", help="exit with 1 for warnings, not for errors alone")
    add_json_option(command)

    command = add_command(
        commands,
        "rollout",
        run_rollout,
        "step a batch, as fast as it goes, and tell how its episodes ended",
        "CartPole-v1 --num-envs 65536 --steps 1000 --seed 7",
    )
    command.add_argument("id", metavar="ID", help="id of the environment")
    command.add_argument(
        "--num-envs", type=positive_int, default=65_536, metavar="N", help="lanes, that is environments (%(default)s)"
    )
    command.add_argument(
        "--steps", type=positive_int, default=1_000, metavar="T", help="steps of each lane (%(default)s)"
    )
    add_seed_option(command)
    command.add_argument(
        "--threads", type=positive_int, metavar="K", help="threads that share the lanes (as many as pay)"
    )
    command.add_argument(
        "--policy",
        metavar="MODULE:ATTR",
        help="a policy of sekai.policies, an array of actions, a function of the observations, or what makes one of "
        "these: a class, or a function of nothing or of vec, the batch (random actions)",
    )
    command.add_argument(
        "--record",
        metavar="FILE.npz",
        help="write observations, actions, rewards, flags and episodes into a file for numpy.load",
    )
    command.add_argument("--plot", metavar="FILE.png", help="write a picture of returns, lengths and rewards")
    add_json_option(command)

    command = add_command(
        commands, "bench", run_bench, "time the steps of an environment or of a batch", "CartPole-v1 --num-envs 4096"
    )
    command.add_argument("id", metavar="ID", help="id of the environment")
    command.add_argument(
        "--steps", type=positive_int, default=10_000, metavar="T", help="calls of step() that are timed (%(default)s)"
    )
    command.add_argument(
        "--num-envs", type=positive_int, default=1, metavar="N", help="lanes; one env alone is no batch (%(default)s)"
    )
    command.add_argument(
        "--mode",
        choices=("auto", "native", "sync", "async", "proc"),
        default="auto",
        help="kind of batch (%(default)s)",
    )
    command.add_argument("--workers", type=positive_int, metavar="W", help="processes of --mode proc (one per lane)")
    add_seed_option(command)
    add_json_option(command)
    return parser


def add_command(commands: Any, name: str, run: Callable[[Any], int], what: str, example: str) -> Any:
    """Add a command, which `run` does, and return its parser."""
    command = commands.add_parser(
        name,
        help=what,
        description=f"{what[0].upper()}{what[1:]}.",
        epilog=f"example:\n  sekai {name} {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.set_defaults(run=run)
    return command


def add_seed_option(command: Any) -> None:
    """Let a command take a seed."""
    command.add_argument(
        "--seed", type=non_negative_int, default=0, metavar="S", help="seed of the lanes and of actions (%(default)s)"
    )


def add_json_option(command: Any) -> None:
    """Let a command print its data for other programs."""
    command.add_argument("--json", action="store_true", help="print JSON instead of text")


def positive_int(text: str) -> int:
    """An integer of at least 1."""
    return checked_int(text, 1, "must be a positive integer")


def non_negative_int(text: str) -> int:
    """An integer of at least 0."""
    return checked_int(text, 0, "must be a non-negative integer")


def checked_int(text: str, least: int, rule: str) -> int:
    """The integer that an argument is.

    Raises:
        ArgumentTypeError: It is none, or less than `least`.
    """
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"invalid int value: {text!r}") from None
    if number < least:
        raise argparse.ArgumentTypeError(f"{rule}, got {number}")
    return number
