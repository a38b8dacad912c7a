"""Cast the observations of a batch."""

from __future__ import annotations

from typing import Any, Generic

import numpy as np
from numpy.typing import DTypeLike, NDArray

from sekai._types import ActType
from sekai.vector.vec_env import VecEnv
from sekai.vector.vec_wrapper import VecObservationWrapper
from sekai.wrappers.dtype_observation import recast

Array = NDArray[Any]


class VecDtypeObservation(VecObservationWrapper[Array, ActType, Array], Generic[ActType]):
    """Casts Box observations to another dtype, always into a new array.

    Args:
        venv: The batch to wrap; its observation space is a Box.
        dtype: Anything that NumPy takes for a dtype. Floats that become integers are cut towards zero.

    Raises:
        TypeError: The observation space is no Box, or there is no such dtype.

    Attributes:
        dtype: As a `np.dtype`.
    """

    def __init__(self, venv: VecEnv[Array, ActType], dtype: DTypeLike) -> None:
        super().__init__(venv)
        self.observation_space = recast(venv.observation_space, dtype)
        self.dtype = np.dtype(dtype)

    def observation(self, observations: Array) -> Array:
        """Return the observations, cast."""
        return np.asarray(observations).astype(self.dtype)

    def _final_observations(self, observations: Any, lanes: Any) -> Any:
        return self.observation(observations)
