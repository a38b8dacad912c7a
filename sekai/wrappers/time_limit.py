"""Cut episodes short after a number of steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic

from sekai._types import ActType, ObsType
from sekai.core.result import ResetResult, StepResult
from sekai.core.wrapper import ResultWrapper
from sekai.utils.integers import positive_int
from sekai.wrappers.auto_reset import warn_of_inner_auto_reset
from sekai.wrappers.record_episode_statistics import warn_of_inner_recorder

if TYPE_CHECKING:
    from sekai.core.env import Env


class TimeLimit(ResultWrapper[ObsType, ActType, ObsType], Generic[ObsType, ActType]):
    """Sets `truncated` from step `max_episode_steps` of an episode on, and `info["elapsed_steps"]` in every step.

    Around an `AutoReset`, which hides where episodes begin, or a `RecordEpisodeStatistics`, which will miss the
    episodes that it ends, it warns.

    Args:
        env: the environment to wrap.
        max_episode_steps: after how many steps an episode is truncated, at least 1; may be changed later.

    Raises:
        TypeError: `max_episode_steps` is not an integer, or `env` not an `Env`.
        ValueError: `max_episode_steps` is less than 1.
    """

    def __init__(self, env: Env[ObsType, ActType], max_episode_steps: int) -> None:
        self.max_episode_steps = positive_int("max_episode_steps", max_episode_steps)
        self._elapsed_steps = 0
        super().__init__(env)
        warn_of_inner_auto_reset(self)
        warn_of_inner_recorder(self)

    @property
    def elapsed_steps(self) -> int:
        """Number of steps since the last reset."""
        return self._elapsed_steps

    def _wrap_reset(self, result: ResetResult[ObsType]) -> ResetResult[ObsType]:
        self._elapsed_steps = 0
        return result

    def _wrap_step(self, result: StepResult[ObsType]) -> StepResult[ObsType]:
        elapsed = self._elapsed_steps = self._elapsed_steps + 1
        info = result.info.copy()
        info["elapsed_steps"] = elapsed
        truncated = result.truncated or elapsed >= self.max_episode_steps
        return StepResult(result.observation, result.reward, result.terminated, truncated, info)
