"""Let the agent see which actions each lane allows."""

from __future__ import annotations

from typing import Any, Generic

import numpy as np

from sekai._types import ActType, ObsType
from sekai.spaces import flatdim
from sekai.utils.leaves import is_dict
from sekai.vector.vec_env import VecEnv
from sekai.vector.vec_wrapper import VecObservationWrapper
from sekai.wrappers.action_mask_observation import add_mask, with_mask


class VecActionMaskObservation(VecObservationWrapper[dict[Any, Any], ActType, ObsType], Generic[ActType, ObsType]):
    """Adds the current action masks, as rows of int8, to observations, as `ActionMaskObservation` does.

    The mask in a final observation allows everything: when the lane has been reset, its last one is gone.

    Args:
        venv: The batch to wrap; it, a wrapper inside or its environments define `action_mask()`.
        key: The key of the masks.

    Raises:
        TypeError: There is no `action_mask`, or the action space has no flat masks.
        KeyError: The Dict has the key already.

    Attributes:
        key: As given.
    """

    def __init__(self, venv: VecEnv[ObsType, ActType], *, key: str = "action_mask") -> None:
        super().__init__(venv)
        self.key = key
        self.observation_space = with_mask(venv, key)

    def observation(self, observations: ObsType) -> dict[Any, Any]:
        """Return the observations with the masks.

        Raises:
            ValueError: A mask is not one of the action space.
        """
        return add_mask(self.venv, observations, self.key, (self.num_envs,))

    def _final_observations(self, observations: Any, lanes: Any) -> Any:
        parts = observations if is_dict(self.venv.observation_space) else {"observation": observations}
        return {**parts, self.key: np.ones((lanes.size, flatdim(self.venv.action_space)), np.int8)}
