"""Clip the actions and rewards of a batch."""

from __future__ import annotations

import math
from typing import Any, Generic

import numpy as np
from numpy.typing import NDArray

from sekai._types import ActType, ObsType
from sekai.utils.bounds import require_box
from sekai.vector.vec_env import VecEnv
from sekai.vector.vec_wrapper import VecActionWrapper, VecRewardWrapper
from sekai.wrappers.clip import clipped, reward_bounds

Array = NDArray[Any]


class VecClipAction(VecActionWrapper[ObsType, Array, Array], Generic[ObsType]):
    """Clips actions to the bounds of the environments' Box; NaN stays NaN.

    Args:
        venv: The batch to wrap; its action space is a Box.

    Raises:
        TypeError: The action space is no Box.
    """

    def __init__(self, venv: VecEnv[ObsType, Array]) -> None:
        super().__init__(venv)
        self._box = require_box(venv.action_space, "action")

    def action(self, actions: Array) -> Array:
        """Return the actions within the bounds."""
        return clipped(self._box, actions)


class VecClipReward(VecRewardWrapper[ObsType, ActType], Generic[ObsType, ActType]):
    """Clips rewards.

    Args:
        venv: The batch to wrap.
        min_reward: None for no bound.
        max_reward: More than `min_reward`; None for no bound.

    Raises:
        ValueError: `min_reward` is not less than `max_reward`.

    Attributes:
        min_reward: As a float.
        max_reward: As a float.
    """

    def __init__(
        self, venv: VecEnv[ObsType, ActType], min_reward: float | None = -math.inf, max_reward: float | None = math.inf
    ) -> None:
        self.min_reward, self.max_reward = reward_bounds(min_reward, max_reward)
        super().__init__(venv)

    def reward(self, rewards: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the rewards within the bounds."""
        return np.minimum(np.maximum(rewards, self.min_reward), self.max_reward)
