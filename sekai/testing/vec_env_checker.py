"""`check_vec_env`: whether a batch keeps to its contract."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sekai.core.env import Env
from sekai.testing import autoreset_checks, lane_checks, result_checks
from sekai.testing.batch_under_test import BatchUnderTest, Problem
from sekai.testing.report import Report, described

# Without these the others make no sense.
FOUNDATIONS = (result_checks.check_results, result_checks.check_seed)

CHECKS = (
    result_checks.check_stream,
    autoreset_checks.check_same_step,
    autoreset_checks.check_next_step,
    autoreset_checks.check_disabled,
    lane_checks.check_masked_step,
    lane_checks.check_masked_reset,
    result_checks.check_copies,
    lane_checks.check_single,
    lane_checks.check_place,
    lane_checks.check_threads,
    lane_checks.check_snapshot,
)


def check_vec_env(
    vec: Any,
    *,
    n_steps: int = 1_000,
    env_fn: Callable[[], Env[Any, Any]] | None = None,
    check_vectorised: bool = True,
) -> list[str]:
    """Exercise a batch of environments through the whole contract, and return what is wrong with it.

    Checked are results (shapes, dtypes, spaces), the autoreset modes that it supports, final observations, steps and
    resets with a mask, and that nothing returned is changed later. Of batches with a random stream per lane, that is
    kernel envs and batches of single envs, also that a lane is the single environment with the lane's seed, and that a
    snapshot replays; of kernel envs, that a lane is the same in a batch of any size, at any place and with any number
    of threads, and that the loop over lanes is vectorised. Where the spec says `nondeterministic=True`, nothing that
    depends on seeds is checked.

    The batch is reset and stepped, so pass a fresh one. It is left open, in the autoreset mode that it had.

    Args:
        vec: The batch.
        n_steps: Steps of a run at most; one that has seen two episodes of each lane stops.
        env_fn: Makes a single environment like those of the lanes, where the batch cannot tell: it is wrapped, or its
            environments cannot be pickled.
        check_vectorised: Whether to look at the machine code of kernel envs, which takes a second or two.

    Returns:
        A line for each problem: `ERROR: …` where the batch breaks the contract, `WARNING: …` where something is likely
        wrong. Each check tells the first one that it finds. Empty if every check passed.
    """
    report = Report()
    if not _passes(report, result_checks.check_attributes, vec):
        return report.lines()
    mode = vec.autoreset_mode
    try:
        batch = BatchUnderTest(vec, n_steps, env_fn)
        if all(_passes(report, check, batch) for check in FOUNDATIONS):
            for check in (*CHECKS, *([lane_checks.check_vectorised] if check_vectorised else [])):
                _passes(report, check, batch)
    finally:
        vec.autoreset_mode = mode
    return report.lines()


def _passes(report: Report, check: Callable[[Any], None], subject: Any) -> bool:
    """Run a check, and report what it finds. One that needs what the batch does not offer passes."""
    try:
        check(subject)
    except Problem as problem:
        report.warn(str(problem)) if problem.warning else report.error(str(problem))
        return False
    except NotImplementedError:
        return True
    except Exception as error:
        what = str(check.__doc__).partition(".")[0].replace("Check", "Checking", 1)
        report.error(f"{what} ended early, since something raised {described(error).splitlines()[0]}")
        return False
    return True
