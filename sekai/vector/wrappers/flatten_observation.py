"""Flatten the observations of a batch."""

from __future__ import annotations

from typing import Any, Generic

import numpy as np
from numpy.typing import NDArray

from sekai._types import ActType, ObsType
from sekai.spaces import Dict, Space, Tuple, batch_space, flatten, flatten_space, iterate
from sekai.vector.batches import ARRAY_SPACES
from sekai.vector.vec_env import VecEnv
from sekai.vector.vec_wrapper import VecObservationWrapper


class VecFlattenObservation(VecObservationWrapper[NDArray[np.float32], ActType, ObsType], Generic[ActType, ObsType]):
    """Turns observations into rows of float32, as `FlattenObservation` does.

    Args:
        venv: The batch to wrap.

    Raises:
        NotImplementedError: The observation space does not flatten.
    """

    def __init__(self, venv: VecEnv[ObsType, ActType]) -> None:
        super().__init__(venv)
        self.observation_space = flatten_space(venv.observation_space)

    def observation(self, observations: ObsType) -> NDArray[np.float32]:
        """Return the observations as rows."""
        return flatten_rows(self.venv.observation_space, observations, self.num_envs)

    def _final_observations(self, observations: Any, lanes: Any) -> Any:
        return flatten_rows(self.venv.observation_space, observations, lanes.size)


def flatten_rows(space: Space[Any], batch: Any, n: int) -> NDArray[np.float32]:
    """Return a batch of n elements of `space` with each flattened."""
    if isinstance(space, (Dict, Tuple)):
        parts = [batch[key] for key in space] if isinstance(space, Dict) else batch
        pairs = zip(space.parts, parts, strict=True)
        return np.concatenate([np.zeros((n, 0), np.float32), *(flatten_rows(*pair, n) for pair in pairs)], axis=1)
    if isinstance(space, ARRAY_SPACES):  # their batches are laid out row by row
        return flatten(batch_space(space, n), batch).reshape(n, -1)
    return np.stack([flatten(space, element) for element in iterate(space, batch)])
