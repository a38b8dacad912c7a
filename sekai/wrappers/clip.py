"""Clip actions and rewards."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Generic

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekai._types import ActType, ObsType
from sekai.core.wrapper import ActionWrapper, RewardWrapper
from sekai.spaces import Box
from sekai.utils.bounds import require_box

if TYPE_CHECKING:
    from sekai.core.env import Env

Array = NDArray[Any]


class ClipAction(ActionWrapper[ObsType, Array, Array], Generic[ObsType]):
    """Clips actions to the bounds of the environment's Box; NaN stays NaN.

    Args:
        env: The environment to wrap; its action space is a Box.

    Raises:
        TypeError: The action space is no Box.
    """

    def __init__(self, env: Env[ObsType, Array]) -> None:
        super().__init__(env)
        self._box = require_box(env.action_space, "action")

    def action(self, action: Array) -> Array:
        """Return the action within the bounds."""
        return clipped(self._box, action)

    def reverse_action(self, action: Array) -> Array:
        """Return the action, which stands for itself."""
        return action


def clipped(box: Box, x: ArrayLike) -> Array:
    """Return an element, or a batch, within the bounds of the Box; as `np.clip`, in a fraction of its time."""
    return np.asarray(np.minimum(np.maximum(x, box.low), box.high))


class ClipReward(RewardWrapper[ObsType, ActType], Generic[ObsType, ActType]):
    """Clips rewards.

    Args:
        env: The environment to wrap.
        min_reward: None for no bound.
        max_reward: More than `min_reward`; None for no bound.

    Raises:
        ValueError: `min_reward` is not less than `max_reward`.

    Attributes:
        min_reward: As a float.
        max_reward: As a float.
    """

    def __init__(
        self, env: Env[ObsType, ActType], min_reward: float | None = -math.inf, max_reward: float | None = math.inf
    ) -> None:
        self.min_reward, self.max_reward = reward_bounds(min_reward, max_reward)
        super().__init__(env)

    def reward(self, reward: float) -> float:
        """Return the reward within the bounds, as a Python float."""
        return float(min(max(reward, self.min_reward), self.max_reward))


def reward_bounds(min_reward: float | None, max_reward: float | None) -> tuple[float, float]:
    """Return the bounds of rewards as floats, checked."""
    low = -math.inf if min_reward is None else float(min_reward)
    high = math.inf if max_reward is None else float(max_reward)
    if not low < high:
        raise ValueError(f"min_reward must be less than max_reward, got {min_reward!r} and {max_reward!r}")
    return low, high
