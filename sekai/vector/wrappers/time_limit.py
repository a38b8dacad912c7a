"""Cut the episodes of a batch short after a number of steps."""

from __future__ import annotations

import warnings
from typing import Any, Generic, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sekai._types import ActType, InfoDict, ObsType
from sekai.spaces import Space
from sekai.utils.integers import positive_int
from sekai.vector.batches import as_arrays, as_batch, merge, take
from sekai.vector.info_layers import InfoLayer, with_count
from sekai.vector.native import take_index
from sekai.vector.progress import Progress
from sekai.vector.result import VecResetResult, VecStepResult
from sekai.vector.vec_env import VecEnv
from sekai.vector.vec_wrapper import Mask, VecWrapper, final_batch, given
from sekai.vector.wrappers.record_episode_statistics import VecRecordEpisodeStatistics

Flags = NDArray[np.bool_]


class VecTimeLimit(VecWrapper[ObsType, ActType, ObsType, ActType], Generic[ObsType, ActType]):
    """Ends each lane's episode after `max_episode_steps` steps, by `truncated`; counts in `infos[i]["elapsed_steps"]`.

    The lane then does what the autoreset mode says. A batch that takes `max_episode_steps` itself does the same for
    less.

    Args:
        venv: The batch to wrap; its `step` and `reset` take masks.
        max_episode_steps: After how many steps an episode is truncated, at least 1; may be changed later.

    Raises:
        TypeError: `max_episode_steps` is not an integer.
        ValueError: `max_episode_steps` is less than 1.
    """

    _lane_state = ("_elapsed", "_reached", "_cut", "_progress.over")

    def __init__(self, venv: VecEnv[ObsType, ActType], max_episode_steps: int) -> None:
        self.max_episode_steps = positive_int("max_episode_steps", max_episode_steps)
        super().__init__(venv)
        self._elapsed = np.zeros(self.num_envs, np.int64)
        self._reached = np.zeros(self.num_envs, np.bool_)  # lanes whose last step reached the limit
        self._cut = np.zeros(self.num_envs, np.bool_)  # those of them that `venv` would have gone on with, and wait
        self._progress = Progress(venv)
        _warn_of_inner_recorder(venv)

    @property
    def elapsed_steps(self) -> NDArray[np.int64]:
        """Number of steps of each lane since its last reset, a copy."""
        return np.array(self._elapsed)

    def _on_reset(self, result: VecResetResult[ObsType], mask: Mask, prepared: Any) -> VecResetResult[ObsType]:
        self._progress.note_reset(mask)
        self._start(... if mask is None else mask)
        self._reached[... if mask is None else mask] = False
        return result

    def _start(self, lanes: Any) -> None:
        self._elapsed[lanes] = 0
        self._cut[lanes] = False

    def step(self, actions: ActType, mask: Any = None) -> VecStepResult[ObsType]:
        """Step `venv`, count, and truncate where it is time."""
        chosen, stepping = self._plan(mask)
        limited = self._count(self.venv.step(actions, **given(stepping)), chosen, stepping)
        reset = self.venv.reset(mask=limited.resets) if limited.resets.any() else None
        return self._finish(limited, reset)

    async def async_step(self, actions: ActType, mask: Any = None) -> VecStepResult[ObsType]:
        """Step `venv` asynchronously, count, and truncate where it is time."""
        chosen, stepping = self._plan(mask)
        limited = self._count(await self.venv.async_step(actions, **given(stepping)), chosen, stepping)
        reset = await self.venv.async_reset(mask=limited.resets) if limited.resets.any() else None
        return self._finish(limited, reset)

    def _plan(self, mask: Any) -> tuple[Mask, Mask]:
        """The lanes to step that the caller chose, and those of them that `venv` steps."""
        chosen = self._check_mask(mask)
        if not self._cut.any():
            return chosen, chosen
        return chosen, ~self._cut if chosen is None else chosen & ~self._cut

    def _count(self, result: VecStepResult[ObsType], chosen: Mask, stepping: Mask) -> LimitedStep:
        """Count a step, and tell which lanes have to be reset with it."""
        mode = self.autoreset_mode
        moving = self._progress.moving(stepping)
        moving = np.ones(self.num_envs, np.bool_) if moving is None else moving
        started = self._progress.note_step(result, stepping)
        self._elapsed[moving] += 1
        if mode == "next_step":
            self._reached[started] = False
        self._reached[moving] = self._elapsed[moving] >= self.max_episode_steps
        cut = moving & self._reached & ~result.dones
        due = np.zeros_like(cut)
        if mode == "next_step":
            due = self._cut.copy() if chosen is None else self._cut & chosen
        limited = LimitedStep(result, self._elapsed.copy(), moving, cut if mode == "same_step" else due)
        self._start(started)
        self._cut |= cut
        return limited

    def _finish(self, limited: LimitedStep, reset: VecResetResult[Any] | None) -> VecStepResult[ObsType]:
        result, observations = limited.result, limited.result.observations
        self._start(limited.resets)
        self._reached[limited.resets & ~limited.moving] = False
        if reset is not None:
            observations = reset.observations  # other lanes' are those of the step
        infos = LimitInfos(limited, reset, self.venv.observation_space)
        return VecStepResult(observations, result.rewards, result.terminated, result.truncated | self._reached, infos)


class LimitedStep(NamedTuple):
    """A step of the batch inside.

    Attributes:
        result: What it returned.
        elapsed: int64 `(N,)`: steps of each lane's episode.
        moving: Bool `(N,)`: lanes that made a transition.
        resets: Bool `(N,)`: lanes that the limit has reset with this step; those that moved in the same one, others
            because their episodes were cut short by an earlier one.
    """

    result: VecStepResult[Any]
    elapsed: NDArray[np.int64]
    moving: Flags
    resets: Flags


class LimitInfos(InfoLayer):
    """Infos with the steps of the episode, and with the ends of those that the limit cut short.

    Args:
        limited: The step.
        reset: What the reset that came with it returned, or None.
        space: Space of one observation.
    """

    def __init__(self, limited: LimitedStep, reset: VecResetResult[Any] | None, space: Space[Any]) -> None:
        super().__init__(limited.result)
        self._limited = limited
        self._reset = reset
        self._space = space
        self._cut = np.flatnonzero(limited.resets & limited.moving)
        self._cut_observations: Any = None
        self._ends = self.result.final_lanes, self.result.final_observations
        if self._cut.size:
            rows = as_batch(space, take(as_arrays(space, self.result.observations), self._cut))
            self._cut_observations = rows
            ends = [(self._cut, rows)]
            if self.result.final_lanes.size:
                ends.append((self.result.final_lanes, final_batch(space, self.result)))
            self._ends = merge(space, ends)

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Name to array `(N, …)`; only if the infos inside have it."""
        return {**super().arrays, "elapsed_steps": self._limited.elapsed}

    @property
    def valid(self) -> Flags:
        """Bool array `(N,)`: rows that are transitions."""
        return self._limited.moving

    @property
    def final_lanes(self) -> NDArray[np.int64]:
        """The lanes whose episode ended in this step and that were reset in it, ascending."""
        return self._ends[0]

    @property
    def final_observations(self) -> Any:
        """Their last observations, a batch in that order."""
        return self._ends[1]

    def lane(self, i: int) -> InfoDict:
        """Build the info of lane i."""
        info = super().lane(i)
        if self._limited.moving[i]:
            info = with_count(info, "elapsed_steps", int(self._limited.elapsed[i]))
        if self._reset is None or not self._limited.resets[i]:
            return info
        first = self._reset.infos[i]
        if not self._limited.moving[i]:
            return {**first, "reset": True}
        final = take_index(self._space, self._cut_observations, int(np.searchsorted(self._cut, i)))
        return {**info, "final_observation": final, "final_info": info, "reset_info": first}


def _warn_of_inner_recorder(venv: Any) -> None:
    layer = venv
    while isinstance(layer, VecWrapper):
        if isinstance(layer, VecRecordEpisodeStatistics):
            warnings.warn(
                "the VecRecordEpisodeStatistics inside VecTimeLimit will miss the episodes that this truncates; "
                "put it outside",
                UserWarning,
                stacklevel=3,
            )
        layer = layer.venv
