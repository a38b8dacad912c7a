"""`sekai check`: what is wrong with an environment."""

from __future__ import annotations

import sys
from typing import Any

import sekai
from sekai.cli.output import busy, print_json

CHECKS_FAILED = 1
CHECKED_LANES = 8


def run_check(args: Any) -> int:
    """Print what is wrong with an environment or, if nothing is, with a batch of it."""
    from sekai.testing import check_env, check_vec_env

    spec = sekai.spec(args.id)
    seeded = not spec.nondeterministic
    issues: list[str] = []
    with busy(f"Checking {args.id}"):
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
