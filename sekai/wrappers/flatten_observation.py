"""Flatten observations of any structure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic

import numpy as np
from numpy.typing import NDArray

from sekai._types import ActType, ObsType
from sekai.core.wrapper import ObservationWrapper
from sekai.spaces import flatten, flatten_space

if TYPE_CHECKING:
    from sekai.core.env import Env


class FlattenObservation(ObservationWrapper[NDArray[np.float32], ActType, ObsType], Generic[ActType, ObsType]):
    """Turns observations into vectors of float32, as `sekai.spaces.flatten` does.

    Args:
        env: The environment to wrap.

    Raises:
        NotImplementedError: The observation space does not flatten.
    """

    def __init__(self, env: Env[ObsType, ActType]) -> None:
        super().__init__(env)
        self.observation_space = flatten_space(env.observation_space)

    def observation(self, obs: ObsType) -> NDArray[np.float32]:
        """Return the observation as a vector."""
        vector: NDArray[Any] = flatten(self.env.observation_space, obs)
        return vector
