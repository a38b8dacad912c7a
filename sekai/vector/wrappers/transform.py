"""Apply a function to the observations or rewards of a batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekai._types import ActType, ObsType, WObsType
from sekai.spaces import Space
from sekai.vector.vec_env import VecEnv
from sekai.vector.vec_wrapper import VecObservationWrapper, VecRewardWrapper
from sekai.wrappers.transform import the_function


class VecTransformObservation(VecObservationWrapper[WObsType, ActType, ObsType], Generic[WObsType, ActType, ObsType]):
    """Applies a function to every batch of observations; to a final observation as to a batch of one.

    Args:
        venv: The batch to wrap.
        func: Gets a batch of observations and returns what the agent sees.
        new_observation_space: Where one of those lies; None: where the observations of `venv` lie.

    Raises:
        TypeError: `func` is not a function.

    Attributes:
        func: As given.
    """

    def __init__(
        self,
        venv: VecEnv[ObsType, ActType],
        func: Callable[[ObsType], WObsType],
        new_observation_space: Space[Any] | None = None,
    ) -> None:
        self.func: Callable[[ObsType], WObsType] = the_function(self, func)
        super().__init__(venv)
        self.observation_space = new_observation_space

    def observation(self, observations: ObsType) -> WObsType:
        """Return what the function makes of the observations."""
        return self.func(observations)


class VecTransformReward(VecRewardWrapper[ObsType, ActType], Generic[ObsType, ActType]):
    """Applies a function to the rewards `(N,)` of every step.

    Args:
        venv: The batch to wrap.
        func: Gets rewards and returns as many.

    Raises:
        TypeError: `func` is not a function.

    Attributes:
        func: As given.
    """

    def __init__(self, venv: VecEnv[ObsType, ActType], func: Callable[[NDArray[np.float64]], ArrayLike]) -> None:
        self.func: Callable[[NDArray[np.float64]], ArrayLike] = the_function(self, func)
        super().__init__(venv)

    def reward(self, rewards: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what the function makes of the rewards, as float64.

        Raises:
            ValueError: That is not one number per lane.
        """
        changed = np.asarray(self.func(rewards), np.float64)
        if changed.shape != rewards.shape:
            raise ValueError(f"func must return rewards of shape {rewards.shape}, got shape {changed.shape}")
        return changed
