"""Tell how the episodes of a batch went."""

from __future__ import annotations

import time
from typing import Any, Generic

import numpy as np

from sekai._types import ActType, ObsType
from sekai.stats import EpisodeBatch, InMemoryTracker, StatsTracker
from sekai.stats.tracker import report
from sekai.vector.info_layers import EpisodeInfos
from sekai.vector.progress import Progress
from sekai.vector.result import VecResetResult, VecStepResult
from sekai.vector.vec_env import VecEnv
from sekai.vector.vec_wrapper import Mask, VecWrapper


class VecRecordEpisodeStatistics(VecWrapper[ObsType, ActType, ObsType, ActType], Generic[ObsType, ActType]):
    """Puts an `EpisodeStats` into `infos[i]["episode"]` of the step that ends an episode, and tells a tracker.

    Its `extra` has `env_index`, the lane. The statistics stay arrays until they are looked at. A tracker is told of
    ends of episodes only, in the order of lanes; not of resets and steps, since it could not tell whose they are.

    Args:
        venv: The batch to wrap.
        tracker: What gets to know of ends of episodes; an `InMemoryTracker` by default.
        deque_size: How many episodes that default one keeps; None: all.

    Raises:
        ValueError: `deque_size` is negative.

    Attributes:
        tracker: As given, or the default one.
    """

    _lane_state = ("_returns", "_lengths", "_progress.over")

    def __init__(
        self, venv: VecEnv[ObsType, ActType], tracker: StatsTracker | None = None, deque_size: int | None = 100
    ) -> None:
        super().__init__(venv)
        self.tracker: Any = InMemoryTracker(deque_size) if tracker is None else tracker
        self._returns = np.zeros(self.num_envs)
        self._lengths = np.zeros(self.num_envs, np.int64)
        self._start_times = np.full(self.num_envs, time.monotonic())
        self._progress = Progress(venv)

    def _start(self, lanes: Any, now: float) -> None:
        self._returns[lanes] = 0.0
        self._lengths[lanes] = 0
        self._start_times[lanes] = now

    def _on_reset(self, result: VecResetResult[ObsType], mask: Mask, prepared: Any) -> VecResetResult[ObsType]:
        self._progress.note_reset(mask)
        self._start(... if mask is None else mask, time.monotonic())
        return result

    def _on_step(self, result: VecStepResult[ObsType], mask: Mask) -> VecStepResult[ObsType]:
        moving = self._progress.moving(mask)
        started = self._progress.note_step(result, mask)
        ended = result.dones
        if moving is None:
            self._returns += result.rewards
            self._lengths += 1
        else:
            ended &= moving
            self._returns[moving] += result.rewards[moving]
            self._lengths[moving] += 1
        lanes = np.flatnonzero(ended)
        now = time.monotonic()
        if lanes.size:
            episodes = EpisodeBatch(
                lanes, self._returns[lanes], self._lengths[lanes], self._start_times[lanes], now,
                result.terminated[lanes], result.truncated[lanes],
            )  # fmt: skip
            report(self.tracker, episodes)
            infos = EpisodeInfos(result, episodes)
            result = VecStepResult(result.observations, result.rewards, result.terminated, result.truncated, infos)
        for begun in (lanes, started):
            self._start(begun, now)
        return result
