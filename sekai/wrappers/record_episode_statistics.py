"""Tell how episodes went."""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING, Any, Generic

from sekai._types import ActType, ObsType
from sekai.core.result import ResetResult, StepResult
from sekai.core.wrapper import ResultWrapper, Wrapper
from sekai.stats import EpisodeStats, InMemoryTracker

if TYPE_CHECKING:
    from sekai.core.env import Env
    from sekai.stats import StatsTracker


class RecordEpisodeStatistics(ResultWrapper[ObsType, ActType, ObsType], Generic[ObsType, ActType]):
    """Puts an `EpisodeStats` into `info["episode"]` of the step that ends an episode, and tells a tracker.

    It goes outside a `TimeLimit`, or it will miss the episodes that the limit ends, and inside wrappers that change
    rewards, to record the raw ones.

    Args:
        env: The environment to wrap.
        tracker: What gets to know of resets, steps and ends of episodes; an `InMemoryTracker` by default.
        deque_size: How many episodes that default one keeps; None: all.

    Raises:
        ValueError: `deque_size` is negative.

    Attributes:
        tracker: As given, or the default one.
    """

    def __init__(
        self, env: Env[ObsType, ActType], tracker: StatsTracker | None = None, deque_size: int | None = 100
    ) -> None:
        super().__init__(env)
        self.tracker: Any = InMemoryTracker(deque_size) if tracker is None else tracker
        self._episode_stats: EpisodeStats | None = None
        self._start_episode(time.monotonic())

    @property
    def episode_stats(self) -> EpisodeStats | None:
        """The last episode that ended, or None."""
        return self._episode_stats

    def _start_episode(self, now: float) -> None:
        self._return = 0.0
        self._length = 0
        self._start_time = now

    def _wrap_reset(self, result: ResetResult[ObsType]) -> ResetResult[ObsType]:
        self._start_episode(time.monotonic())
        spec = self.spec
        self.tracker.on_reset(env_id=None if spec is None else spec.id, seed=self._rng_seed)
        return result

    def _wrap_step(self, result: StepResult[ObsType]) -> StepResult[ObsType]:
        terminated, truncated = result.terminated, result.truncated
        self._return += float(result.reward)
        self._length += 1
        self.tracker.on_step(result.reward, terminated, truncated, result.info)
        if not (terminated or truncated):
            return result
        now, start = time.monotonic(), self._start_time
        stats = EpisodeStats(self._return, self._length, now - start, start, now, bool(terminated), bool(truncated))
        self._episode_stats = stats
        self.tracker.on_episode_end(stats)
        self._start_episode(now)  # an AutoReset inside may have started it
        info = {**result.info, "episode": stats}
        return StepResult(result.observation, result.reward, terminated, truncated, info)


def warn_of_inner_recorder(wrapper: Wrapper[Any, Any, Any, Any]) -> None:
    """Warn whoever constructs `wrapper`, which ends episodes, of a RecordEpisodeStatistics below."""
    if any(isinstance(layer, RecordEpisodeStatistics) for layer in wrapper):
        warnings.warn(
            f"the RecordEpisodeStatistics inside {type(wrapper).__name__} will miss the episodes that this truncates; "
            "put it outside",
            UserWarning,
            stacklevel=3,
        )
