"""Checks of what a batch does with lanes whose episode ended, in each autoreset mode."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekai.testing.batch_under_test import ENDING_KEYS, BatchUnderTest, require
from sekai.testing.comparison import frozen


def check_same_step(batch: BatchUnderTest) -> None:
    """Check autoreset in the same step."""
    for _, _, result in batch.run("same_step"):
        require(result.valid.all(), "In same-step mode every row is a transition: `valid` must be True everywhere.")
        ended, found = np.flatnonzero(result.dones).tolist(), np.asarray(result.final_lanes).tolist()
        require(
            ended == found,
            f"Lanes {ended} ended, but final_lanes is {found}. In same-step mode put the last observation into the info"
            " of each lane that ended, as `final_observation`.",
        )
        for k, i in enumerate(ended):
            if i in batch.lanes:
                _check_end(batch, i, k, result)


def _check_end(batch: BatchUnderTest, i: int, k: int, result: Any) -> None:
    """Check what is told about the end of an episode of lane i, the k-th that ended."""
    info, space, finals = result.infos[i], batch.vec.observation_space, result.final_observations
    missing = [key for key in ENDING_KEYS if key not in info]
    require(not missing, f"The info of lane {i}, which ended, lacks {', '.join(missing)}.")
    final = info["final_observation"]
    inside = space.contains(final)
    require(inside, f"The final observation of lane {i} is not within observation_space {space!r}.", warning=True)
    if isinstance(finals, np.ndarray):
        require(
            len(finals) == len(result.final_lanes) and frozen(finals[k]) == frozen(final),
            "final_observations must hold the final observations of final_lanes, a row for each.",
        )
    for key in ENDING_KEYS[1:]:
        require(isinstance(info[key], dict), f"{key} of lane {i} must be a dict, got {info[key]!r}.")


def check_next_step(batch: BatchUnderTest) -> None:
    """Check autoreset in the next step."""
    for waiting, _, result in batch.run("next_step"):
        for i in batch.lanes:
            reset = result.infos[i].get("reset", False)
            if waiting[i]:
                require(
                    reset is True and not result.rewards[i] and not result.dones[i],
                    f"Lane {i} ended in the last step: in next-step mode this one must reset it, with reward 0, flags"
                    " False, and `reset` True in its info.",
                )
            require(
                waiting[i] or not reset, f"Lane {i} was reset in next-step mode, but had not ended in the last step."
            )
        require(
            np.array_equal(result.valid, ~waiting),
            "In next-step mode `valid` must be False for lanes that were reset in the step, and True for the others.",
        )


def check_disabled(batch: BatchUnderTest) -> None:
    """Check that without autoreset lanes that ended are frozen."""
    for waiting, last, result in batch.run("disabled"):
        check_idle(batch, waiting, last, result, "Without autoreset, a lane that ended")
        require(
            np.array_equal(result.valid, ~waiting),
            "Without autoreset `valid` must be False for lanes that wait for a reset, and True for the others.",
        )


def check_idle(batch: BatchUnderTest, idle: NDArray[np.bool_], last: Any, result: Any, which: str) -> None:
    """Check the rows of lanes that took no part in a step."""
    rows = zip(batch.lanes, batch.frozen_observations(last), batch.frozen_observations(result), strict=True)
    for i, before, now in rows:
        if idle[i]:
            kept = all(getattr(last, name)[i] == getattr(result, name)[i] for name in ("terminated", "truncated"))
            require(
                before == now and kept and result.rewards[i] == 0.0 and result.infos[i] == {},
                f"{which} must repeat its last observation and flags, with reward 0 and an empty info; see lane {i}.",
            )
