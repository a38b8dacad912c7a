"""Let the agent see the time of each lane."""

from __future__ import annotations

from typing import Any, Generic

import numpy as np
from numpy.typing import NDArray

from sekai._types import ActType, ObsType
from sekai.vector.progress import Progress
from sekai.vector.result import VecResetResult, VecStepResult
from sekai.vector.vec_env import VecEnv
from sekai.vector.vec_wrapper import Mask, VecObservationWrapper, VecWrapper
from sekai.wrappers.time_aware_observation import add_time, time_scale, with_time


class VecTimeAwareObservation(VecObservationWrapper[Any, ActType, ObsType], Generic[ActType, ObsType]):
    """Adds the number of steps since each lane's last reset to its observations, as `TimeAwareObservation` does.

    Args:
        venv: The batch to wrap.
        max_episode_steps: What time is divided by. By default the limit of a batch inside, or of the spec.
        normalize_time: Whether the feature is `min(steps / max_episode_steps, 1)`, or the number of steps itself.
        dict_key: The key of a Dict.

    Raises:
        TypeError: The observation space is neither a 1-D Box nor a Dict, or `max_episode_steps` not an integer.
        ValueError: `max_episode_steps` is negative; or time is to be normalised, and there is no limit.
        KeyError: The Dict has the key already.

    Attributes:
        max_episode_steps: As given or found; None if there is no limit. It may be changed.
        normalize_time: As given.
        dict_key: As given.
    """

    _lane_state = ("_steps", "_progress.over")

    def __init__(
        self,
        venv: VecEnv[ObsType, ActType],
        max_episode_steps: int | None = None,
        *,
        normalize_time: bool = True,
        dict_key: str = "time",
    ) -> None:
        super().__init__(venv)
        self.max_episode_steps = time_scale(max_episode_steps, _limit_of(venv), normalize_time)
        self.normalize_time = normalize_time
        self.dict_key = dict_key
        self.observation_space = with_time(venv.observation_space, normalize_time, dict_key)
        self._steps = np.zeros(self.num_envs, np.int64)
        self._progress = Progress(venv)

    def observation(self, observations: ObsType) -> Any:
        """Return the observations with the time."""
        return self._timed(observations, self._steps)

    def _timed(self, observations: Any, steps: NDArray[np.int64]) -> Any:
        limit = self.max_episode_steps
        time = np.minimum(steps / limit, 1.0) if self.normalize_time and limit else steps.astype(np.float64)
        return add_time(self.observation_space, observations, time, self.dict_key)

    def _final_observations(self, observations: Any, lanes: Any) -> Any:
        return self._timed(observations, self._steps[lanes])

    def _on_reset(self, result: VecResetResult[ObsType], mask: Mask, prepared: Any) -> VecResetResult[Any]:
        self._progress.note_reset(mask)
        self._steps[... if mask is None else mask] = 0
        return super()._on_reset(result, mask, prepared)

    def _on_step(self, result: VecStepResult[ObsType], mask: Mask) -> VecStepResult[Any]:
        moving = self._progress.moving(mask)
        started = self._progress.note_step(result, mask)
        self._steps[... if moving is None else moving] += 1
        infos = self._final_infos(result)  # with the times of the ends
        self._steps[started] = 0
        return self._seen(result, self.observation(result.observations), infos)


def _limit_of(venv: VecEnv[Any, Any]) -> int | None:
    """The limit of the outermost batch that has one, or of the spec."""
    layer = venv
    while getattr(layer, "max_episode_steps", None) is None or isinstance(layer, VecTimeAwareObservation):
        if not isinstance(layer, VecWrapper):
            return getattr(venv.spec, "max_episode_steps", None)
        layer = layer.venv
    return layer.max_episode_steps  # type: ignore[no-any-return, attr-defined]
