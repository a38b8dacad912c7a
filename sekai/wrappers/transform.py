"""Apply a function to observations or rewards."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic

from sekai._types import ActType, ObsType, WObsType
from sekai.core.wrapper import ObservationWrapper, RewardWrapper

if TYPE_CHECKING:
    from sekai.core.env import Env
    from sekai.spaces import Space


class TransformObservation(ObservationWrapper[WObsType, ActType, ObsType], Generic[WObsType, ActType, ObsType]):
    """Applies a function to every observation.

    Args:
        env: The environment to wrap.
        func: Gets an observation and returns what the agent sees.
        new_observation_space: Where that lies; None: where the observations of `env` lie.
        fn: Deprecated name of `func`.

    Raises:
        TypeError: Not exactly one function is given.

    Attributes:
        func: As given.
    """

    def __init__(
        self,
        env: Env[ObsType, ActType],
        func: Callable[[ObsType], WObsType] | None = None,
        new_observation_space: Space[WObsType] | None = None,
        *,
        fn: Callable[[ObsType], WObsType] | None = None,
    ) -> None:
        self.func: Callable[[ObsType], WObsType] = the_function(self, func, fn)
        super().__init__(env)
        self.observation_space = new_observation_space

    def observation(self, obs: ObsType) -> WObsType:
        """Return what the function makes of the observation."""
        return self.func(obs)


class TransformReward(RewardWrapper[ObsType, ActType], Generic[ObsType, ActType]):
    """Applies a function to every reward.

    Args:
        env: The environment to wrap.
        func: Gets a reward and returns what the agent gets.
        fn: Deprecated name of `func`.

    Raises:
        TypeError: Not exactly one function is given.

    Attributes:
        func: As given.
    """

    def __init__(
        self,
        env: Env[ObsType, ActType],
        func: Callable[[float], float] | None = None,
        *,
        fn: Callable[[float], float] | None = None,
    ) -> None:
        self.func: Callable[[float], float] = the_function(self, func, fn)
        super().__init__(env)

    def reward(self, reward: float) -> float:
        """Return what the function makes of the reward."""
        return self.func(reward)


def the_function(wrapper: Any, func: Any, fn: Any = None) -> Callable[[Any], Any]:
    """Return the one function that the constructor of `wrapper` was given."""
    name = type(wrapper).__name__
    if func is not None and fn is not None:
        raise TypeError(f"{name} takes func or fn, not both")
    if fn is not None:
        warnings.warn(f"{name}(fn=…) is deprecated, use func", DeprecationWarning, stacklevel=3)
    function = fn if func is None else func
    if not callable(function):
        raise TypeError(f"{name} needs a function func, got {function!r}")
    return function  # type: ignore[no-any-return]
