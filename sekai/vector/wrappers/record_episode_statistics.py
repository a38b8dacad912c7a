"""Tell how the episodes of a batch went."""

from __future__ import annotations

import time
from typing import Any, Generic

import numpy as np

from sekai._types import ActType, ObsType
from sekai.kernels.transforms import ENDS, record_step
from sekai.stats import EpisodeBatch, InMemoryTracker, StatsTracker
from sekai.stats.tracker import report
from sekai.vector.info_layers import EpisodeInfos
from sekai.vector.progress import Progress
from sekai.vector.result import VecResetResult, VecStepResult
from sekai.vector.vec_env import VecEnv
from sekai.vector.vec_wrapper import Mask, VecWrapper, as_floats


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
        self._everyone = np.ones(self.num_envs, np.bool_)
        self._lanes = np.empty(self.num_envs + 1, np.int64)  # for the kernel to write in, with the next one
        self._ends = np.empty((ENDS, self.num_envs + 1))

    def _on_reset(self, result: VecResetResult[ObsType], mask: Mask, prepared: Any) -> VecResetResult[ObsType]:
        self._progress.note_reset(mask)
        lanes = ... if mask is None else mask
        self._returns[lanes], self._lengths[lanes], self._start_times[lanes] = 0.0, 0, time.monotonic()
        return result

    def _on_step(self, result: VecStepResult[ObsType], mask: Mask) -> VecStepResult[ObsType]:
        moving = self._progress.moving(mask)
        started = self._progress.note_step(result, mask)
        now = time.monotonic()
        count = record_step(
            as_floats(result.rewards), result.terminated, result.truncated,
            self._everyone if moving is None else moving, now, self._returns, self._lengths, self._start_times,
            self._lanes, self._ends,
        )  # fmt: skip
        if self.autoreset_mode == "next_step":
            self._start_times[started] = now
        if not count:
            return result
        returns, lengths, starts, terminated, truncated = self._ends[:, :count].copy()
        episodes = EpisodeBatch(
            self._lanes[:count].copy(), returns, lengths.astype(np.int64), starts, now, terminated != 0, truncated != 0
        )
        report(self.tracker, episodes)
        infos = EpisodeInfos(result, episodes)
        return VecStepResult(result.observations, result.rewards, result.terminated, result.truncated, infos)
