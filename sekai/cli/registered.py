"""`sekai list` and `sekai info`: what there is."""

from __future__ import annotations

from typing import Any

import sekai
from sekai.cli.output import print_json, print_table


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
