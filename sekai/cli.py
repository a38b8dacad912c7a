"""The command `sekai`: roll environments out, check them, and look at what there is, from a shell."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TextIO

import sekai
from sekai.error import SekaiError

CHECKS_FAILED, USAGE_ERROR, INTERRUPTED = 1, 2, 130
CHECKED_LANES = 8

# Errors whose message is made for users; of any other, its class and place are told too.
PLAIN = (SekaiError, ImportError, TypeError, ValueError, MemoryError)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with the given arguments, or with those of the process; returns the exit code.

    Raises:
        SystemExit: The arguments are not what the parser takes (code 2), or ask for help or the version (code 0).
    """
    args = build_parser().parse_args(argv)
    try:
        import_modules(args.modules)
        code: int = args.run(args)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read the output has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is still in the buffer
        return USAGE_ERROR
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        print(f"error: {explanation(error)}", file=sys.stderr)
        return USAGE_ERROR
    return code


def explanation(error: Exception) -> str:
    """What went wrong, for a user who did not ask for a traceback."""
    if isinstance(error, PLAIN):
        return str(error) or type(error).__name__
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({place.filename}, line {place.lineno})"


def import_modules(names: Iterable[str]) -> None:
    """Import modules of the user's, from the current directory too.

    Raises:
        ImportError: One cannot be imported, for whatever reason.
    """
    if names and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    for name in names:
        try:
            import_module(name)
        except Exception as error:
            raise ImportError(f"could not import {name!r}: {explanation(error)}") from error


# ---- arguments -----------------------------------------------------------------------------------


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
        "step a batch with random actions, as fast as it goes, and tell how its episodes ended",
        "CartPole-v1 --num-envs 65536 --steps 1000 --seed 7",
    )
    command.add_argument("id", metavar="ID", help="id of the environment")
    command.add_argument(
        "--num-envs", type=positive_int, default=65_536, metavar="N", help="lanes, that is environments (%(default)s)"
    )
    command.add_argument(
        "--steps", type=positive_int, default=1_000, metavar="T", help="steps of each lane (%(default)s)"
    )
    command.add_argument(
        "--seed", type=non_negative_int, default=0, metavar="S", help="seed of the batch (%(default)s)"
    )
    command.add_argument(
        "--threads", type=positive_int, metavar="K", help="threads that share the lanes (as many as pay)"
    )
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


# ---- commands ------------------------------------------------------------------------------------


def run_list(args: Any) -> int:
    """Print a table of the registered environments."""
    specs = [spec for spec in sekai.all_specs() if args.namespace in (None, spec.namespace or "")]
    specs.sort(key=lambda spec: spec.id)
    if args.json:
        print_json(specs)
        return 0
    if not specs:
        where = "registered" if args.namespace is None else f"in namespace {args.namespace!r}"
        print(f"No environments {where}.")
        return 0
    rows = [
        (
            spec.id,
            "-" if spec.max_episode_steps is None else str(spec.max_episode_steps),
            (spec.entry_point if isinstance(spec.entry_point, str) else repr(spec.entry_point))
            + ("" if spec.vector_entry_point is None else "  [native vec]"),
        )
        for spec in specs
    ]
    print_table(("ID", "MAX STEPS", "ENTRY POINT"), rows, numeric=(1,))
    return 0


def run_info(args: Any) -> int:
    """Print an environment's spec and spaces."""
    with sekai.make(args.id) as env:
        spec = sekai.spec(args.id)
        layers = [type(layer).__name__ for layer in env] if isinstance(env, sekai.Wrapper) else []
        if args.json:
            spaces = {"observation_space": repr(env.observation_space), "action_space": repr(env.action_space)}
            print_json({**vars(spec), **spaces, "metadata": env.metadata, "wrappers": layers})
            return 0
        print(spec.pprint())
        print(f"observation_space={env.observation_space!r}")
        print(f"action_space={env.action_space!r}")
        if env.metadata:
            print(f"metadata={env.metadata}")
        if layers:
            print(f"wrappers={' -> '.join(layers)}")
    return 0


def run_check(args: Any) -> int:
    """Print what is wrong with an environment or, if nothing is, with a batch of it."""
    from sekai.testing import check_env, check_vec_env

    spec = sekai.spec(args.id)
    seeded = not spec.nondeterministic
    issues: list[str] = []
    if spec.entry_point is not None:
        issues = check_env(
            sekai.make(args.id),
            n_steps=args.steps,
            check_reset_seed=seeded,
            check_determinism=seeded and args.determinism,
            check_close=True,
        )
    if not issues:
        with sekai.make_vec(args.id, CHECKED_LANES) as vec:
            issues = check_vec_env(vec, n_steps=args.steps)
    if not seeded:
        print(f"note: {args.id} is registered with nondeterministic=True, so seeds were not checked.", file=sys.stderr)
    if args.json:
        levels = [dict(zip(("level", "text"), issue.split(": ", 1), strict=True)) for issue in issues]
        print_json({"id": args.id, "passed": not issues, "issues": levels})
    else:
        for line in issues or [f"{args.id}: all checks passed."]:
            print(" ".join(line.splitlines()))
    failed = issues if args.strict else [issue for issue in issues if issue.startswith("ERROR")]
    return CHECKS_FAILED if failed else 0


def run_rollout(args: Any) -> int:
    """Step a batch with random actions, and print its speed and the moments of its episodes."""
    with sekai.make_vec(args.id, args.num_envs) as vec:
        done = sekai.rollout(
            vec,
            "random",
            args.steps,
            record=None,
            seed=args.seed,
            num_threads=args.threads,
            progress=may_draw(sys.stderr),
        )
    episodes = done.statistics
    if args.json:
        measured = {
            "id": args.id,
            "num_envs": done.num_envs,
            "num_steps": done.num_steps,
            "seed": args.seed,
            "seconds": done.seconds,
            "steps_per_second": done.steps_per_second,
            **episodes._asdict(),
        }
        print_json({key: None if value != value else value for key, value in measured.items()})  # JSON has no NaN
        return 0
    rows = [
        ("environment", args.id),
        ("lanes", f"{done.num_envs:,}"),
        ("steps", f"{done.num_steps:,} of each lane, {done.num_envs * done.num_steps:,} in all"),
        ("seed", f"{args.seed}"),
        ("time", f"{done.seconds:.3g} s"),
        ("env-steps/s", f"{done.steps_per_second:,.0f}"),
        ("episodes", f"{episodes.num_episodes:,}"),
        ("return", moments(episodes.return_mean, episodes.return_std)),
        ("length", moments(episodes.length_mean, episodes.length_std)),
    ]
    print_table((), rows)
    return 0


# ---- output --------------------------------------------------------------------------------------


def may_draw(stream: TextIO) -> bool:
    """Whether a stream is a terminal, and the package that draws tables and progress bars is installed."""
    return stream.isatty() and find_spec("rich") is not None


def moments(mean: float, deviation: float) -> str:
    """Mean and spread in words; NaN if no episode ended."""
    return "-" if math.isnan(mean) else f"mean {mean:.4g}, standard deviation {deviation:.4g}"


def print_json(data: Any) -> None:
    """Print data as one line of JSON: specs as objects, and what JSON has no form for as its `repr`."""
    specs = (sekai.EnvSpec, sekai.WrapperSpec)
    print(json.dumps(data, default=lambda value: vars(value) if isinstance(value, specs) else repr(value)))


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[int] = ()) -> None:
    """Print rows of text: as a table on a terminal, if rich is installed, and else in plain columns.

    Args:
        header: Titles of the columns, or none.
        rows: Their cells.
        numeric: Columns that are aligned to the right.
    """
    if may_draw(sys.stdout):
        print_rich_table(header, rows, numeric)
        return
    lines = [*([header] if header else []), *rows]
    widths = [max(len(line[k]) for line in lines) for k in range(len(rows[0]))]
    for line in lines:
        cells = [cell.rjust(widths[k]) if k in numeric else cell.ljust(widths[k]) for k, cell in enumerate(line)]
        print("  ".join(cells).rstrip())


def print_rich_table(header: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[int]) -> None:
    """The same with rich."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_header=bool(header))
    for k in range(len(rows[0])):
        table.add_column(header[k] if header else "", justify="right" if k in numeric else "left")
    for row in rows:
        table.add_row(*map(Text, row))  # as text, since rich would take [native vec] for markup
    Console().print(table)
