"""What `reset` and `step` of a vector environment return."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Generic

import numpy as np
from numpy.typing import NDArray

from sekai._types import InfoDict, ObsType
from sekai.core.result import FrozenResult


@dataclass(frozen=True, init=False)
class VecStepResult(FrozenResult, Generic[ObsType]):
    """What one step of N lanes led to.

    The ends of episodes can be read without building a dict per lane: `final_lanes` and `final_observations`.

    Attributes:
        observations: the next observations, batched; a lane that was reset in this step has its first one.
        rewards: float64 `(N,)`.
        terminated: bool `(N,)`: a terminal state of the decision process was reached.
        truncated: bool `(N,)`: the episode was cut short for another reason.
        infos: one dict per lane; kernel environments build each of them when it is looked at.
    """

    __slots__ = ("infos", "observations", "rewards", "terminated", "truncated")

    observations: ObsType
    rewards: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    infos: Sequence[InfoDict]

    # By the slots' own setters, as in `StepResult`.
    def __init__(
        self,
        observations: ObsType,
        rewards: NDArray[np.float64],
        terminated: NDArray[np.bool_],
        truncated: NDArray[np.bool_],
        infos: Sequence[InfoDict],
    ) -> None:
        _set_observations(self, observations)
        _set_rewards(self, rewards)
        _set_terminated(self, terminated)
        _set_truncated(self, truncated)
        _set_infos(self, infos)

    @property
    def dones(self) -> NDArray[np.bool_]:
        """Bool `(N,)`: the episode ended with this step."""
        return self.terminated | self.truncated

    @property
    def valid(self) -> NDArray[np.bool_]:
        """Bool `(N,)`: the row is a transition, not the mere reset of next-step autoreset or a lane that waited."""
        if hasattr(self.infos, "valid"):
            return self.infos.valid  # type: ignore[no-any-return]
        return np.array([not info.get("reset", False) for info in self.infos], np.bool_)

    @property
    def final_lanes(self) -> NDArray[np.int64]:
        """Int64 `(K,)`, ascending: the lanes whose episode ended with this step and that were reset in it."""
        if hasattr(self.infos, "final_lanes"):
            return self.infos.final_lanes  # type: ignore[no-any-return]
        return np.array([i for i, info in enumerate(self.infos) if "final_observation" in info], np.int64)

    @property
    def final_observations(self) -> ObsType:
        """The last observations of `final_lanes`, in that order, batched as `observations` are.

        Where the infos are a mere list, as in a batch of a user's own, elements of a Tuple are listed one by one.
        """
        if hasattr(self.infos, "final_observations"):
            return self.infos.final_observations  # type: ignore[no-any-return]
        rows = [info["final_observation"] for info in self.infos if "final_observation" in info]
        return _stack(rows, self.observations)  # type: ignore[no-any-return]


_set_observations, _set_rewards, _set_terminated, _set_truncated, _set_infos = (
    getattr(VecStepResult, field.name).__set__ for field in fields(VecStepResult)
)


@dataclass(frozen=True)
class GroupStepResult(VecStepResult[ObsType]):
    """What one step of some of the lanes of a batch led to; row k is that of lane `lanes[k]`.

    Attributes:
        lanes: int64 `(K,)`, ascending: the lanes.
    """

    __slots__ = ("lanes",)

    lanes: NDArray[np.int64]


@dataclass(frozen=True)
class VecResetResult(FrozenResult, Generic[ObsType]):
    """The start of an episode in N lanes.

    Attributes:
        observations: the first observations, batched.
        infos: one dict per lane; kernel environments build each of them when it is looked at.
    """

    __slots__ = ("infos", "observations")

    observations: ObsType
    infos: Sequence[InfoDict]

    @property
    def dones(self) -> NDArray[np.bool_]:
        """Bool `(N,)`: always False."""
        return np.zeros(len(self.infos), np.bool_)


def stack_infos(infos: Sequence[InfoDict]) -> dict[str, NDArray[Any]]:
    """Return one array `(N, ...)` for each key that all `infos` have, in the order of the first one's keys.

    Raises:
        ValueError: the values of a key differ in shape.
    """
    dicts = list(infos)
    if not dicts:
        return {}
    shared = [key for key in dicts[0] if all(key in info for info in dicts)]
    return {key: np.array([info[key] for info in dicts]) for key in shared}


def _stack(rows: list[Any], batch: Any) -> Any:
    """Batch single observations the way that `batch` is made: arrays, or dicts of them. Other rows are only listed."""
    if isinstance(batch, np.ndarray):
        return np.array(rows, batch.dtype).reshape(len(rows), *batch.shape[1:])
    if isinstance(batch, dict):
        return {key: _stack([row[key] for row in rows], part) for key, part in batch.items()}
    return type(batch)(rows)
