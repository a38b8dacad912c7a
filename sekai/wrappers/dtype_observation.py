"""Cast observations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic

import numpy as np
from numpy.typing import DTypeLike, NDArray

from sekai._types import ActType
from sekai.core.wrapper import ObservationWrapper
from sekai.spaces import Box
from sekai.utils.bounds import require_box

if TYPE_CHECKING:
    from sekai.core.env import Env
    from sekai.spaces import Space

Array = NDArray[Any]


class DtypeObservation(ObservationWrapper[Array, ActType, Array], Generic[ActType]):
    """Casts Box observations to another dtype, always into a new array.

    Args:
        env: The environment to wrap; its observation space is a Box.
        dtype: Anything that NumPy takes for a dtype. Floats that become integers are cut towards zero.

    Raises:
        TypeError: The observation space is no Box, or there is no such dtype.

    Attributes:
        dtype: As a `np.dtype`.
    """

    def __init__(self, env: Env[Array, ActType], dtype: DTypeLike) -> None:
        super().__init__(env)
        self.observation_space = recast(env.observation_space, dtype)
        self.dtype = np.dtype(dtype)

    def observation(self, obs: Array) -> Array:
        """Return the observation, cast."""
        return np.asarray(obs).astype(self.dtype)


def recast(space: Space[Any], dtype: DTypeLike) -> Box:
    """Return a Box with the same bounds but another dtype."""
    box = require_box(space, "observation")
    return Box(box.low, box.high, dtype=np.dtype(dtype))
