"""Let the agent see the time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Generic

import numpy as np
from numpy.typing import NDArray

from sekai._types import ActType, ObsType
from sekai.core.wrapper import ObservationWrapper, Wrapper
from sekai.spaces import Box, Dict
from sekai.utils.integers import positive_int
from sekai.utils.leaves import is_dict
from sekai.wrappers.auto_reset import warn_of_inner_auto_reset
from sekai.wrappers.time_limit import TimeLimit

if TYPE_CHECKING:
    from sekai.core.env import Env
    from sekai.core.result import ResetResult, StepResult
    from sekai.spaces import Space


class TimeAwareObservation(ObservationWrapper[Any, ActType, ObsType], Generic[ActType, ObsType]):
    """Adds the number of steps since the last reset to observations, so that a time limit is no surprise.

    A 1-D Box gets one more entry, and integers become float32. A Dict gets one more key.

    Args:
        env: The environment to wrap.
        max_episode_steps: What time is divided by. By default the limit of a `TimeLimit` inside, or of the spec.
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

    def __init__(
        self,
        env: Env[ObsType, ActType],
        max_episode_steps: int | None = None,
        *,
        normalize_time: bool = True,
        dict_key: str = "time",
    ) -> None:
        super().__init__(env)
        self.max_episode_steps = time_scale(max_episode_steps, _limit_of(env), normalize_time)
        self.normalize_time = normalize_time
        self.dict_key = dict_key
        self.observation_space = with_time(env.observation_space, normalize_time, dict_key)
        self._steps = 0
        warn_of_inner_auto_reset(self)

    def _wrap_reset(self, result: ResetResult[ObsType]) -> ResetResult[Any]:
        self._steps = 0
        return super()._wrap_reset(result)

    def _wrap_step(self, result: StepResult[ObsType]) -> StepResult[Any]:
        self._steps += 1
        return super()._wrap_step(result)

    def observation(self, obs: ObsType) -> Any:
        """Return the observation with the time."""
        limit = self.max_episode_steps
        time = min(self._steps / limit, 1.0) if self.normalize_time and limit else float(self._steps)
        return add_time(self.observation_space, obs, time, self.dict_key)


def time_scale(given: int | None, known: int | None, normalize_time: bool) -> int | None:
    """Return the number of steps that time is divided by: the one given, or else the one known."""
    limit = positive_int("max_episode_steps", given) if given else known
    if normalize_time and limit is None:
        raise ValueError("max_episode_steps must be given to normalise time, since neither TimeLimit nor spec has one")
    return limit


def with_time(space: Space[Any], normalize_time: bool, dict_key: str) -> Space[Any]:
    """Return the space of observations with the time."""
    latest = 1.0 if normalize_time else math.inf
    if is_dict(space):
        if dict_key in space.spaces:
            raise KeyError(f"dict_key must be a new key, got {dict_key!r}")
        return Dict({**space.spaces, dict_key: Box(0.0, latest, (1,), np.float32)})
    if isinstance(space, Box) and len(space.shape) == 1:
        dtype = space.dtype if space.dtype.kind == "f" else np.float32
        return Box(np.append(space.low, 0.0), np.append(space.high, latest), dtype=dtype)
    raise TypeError(f"the observation space must be a 1-D Box or a Dict, got {space!r}")


def add_time(space: Space[Any], obs: Any, time: float | NDArray[np.float64], dict_key: str) -> Any:
    """Return an observation with its time, or a batch with the time of each; `space` is that of one with time."""
    if isinstance(obs, dict):
        return {**obs, dict_key: np.asarray(time, np.float32)[..., None]}
    shape = np.shape(obs)
    out = np.empty((*shape[:-1], shape[-1] + 1), space.dtype)
    out[..., :-1] = obs
    out[..., -1] = time
    return out


def _limit_of(env: Env[Any, Any]) -> int | None:
    layer = env
    while isinstance(layer, Wrapper):
        if isinstance(layer, TimeLimit):
            return layer.max_episode_steps
        layer = layer.env
    return None if env.spec is None else env.spec.max_episode_steps
