"""Map bounded observations and actions onto other bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekai._types import ActType, ObsType
from sekai.core.wrapper import ActionWrapper, ObservationWrapper
from sekai.spaces import Box
from sekai.utils.affine import AffineMap
from sekai.utils.bounds import as_bounds, bounded_box
from sekai.utils.masking import get_action_mask, supports_action_mask

if TYPE_CHECKING:
    from sekai.core.env import Env
    from sekai.spaces import Space

Array = NDArray[Any]


class RescaleObservation(ObservationWrapper[Array, ActType, Array], Generic[ActType]):
    """Maps the bounds of a Box observation to `[min_obs, max_obs]`, and everything between them affinely.

    Observations outside the bounds go to the nearest one. Integers, such as uint8 pixels, become float32.

    Args:
        env: The environment to wrap; its observation space is a Box with finite bounds.
        min_obs: Finite; broadcast to the shape of the space.
        max_obs: Greater than `min_obs`.

    Raises:
        TypeError: The observation space is no Box.
        ValueError: Its bounds are infinite; or `min_obs` and `max_obs` do not broadcast, are not finite, or `min_obs`
            is not less than `max_obs`.

    Attributes:
        min_obs: As an array of the dtype and shape of the new observations.
        max_obs: Likewise.
    """

    def __init__(self, env: Env[Array, ActType], min_obs: ArrayLike, max_obs: ArrayLike) -> None:
        super().__init__(env)
        self._map, self.observation_space = rescaled(env.observation_space, min_obs, max_obs)
        self.min_obs, self.max_obs = self.observation_space.low, self.observation_space.high

    def observation(self, obs: Array) -> Array:
        """Return the observation within the new bounds."""
        return self._map(obs)


def rescaled(space: Space[Any], min_obs: ArrayLike, max_obs: ArrayLike) -> tuple[AffineMap, Box]:
    """Return the map onto new bounds, and the space of its image."""
    box = bounded_box(space, "observation")
    dtype = box.dtype if box.dtype.kind == "f" else np.float32
    low, high = as_bounds(box, dtype, "obs", min_obs, max_obs)
    return AffineMap(box.low, box.high, low, high, dtype), Box(low, high, dtype=dtype)


class RescaleAction(ActionWrapper[ObsType, Array, Array], Generic[ObsType]):
    """Lets the agent act in `[min_action, max_action]`, whose bounds stand for those of the environment's Box.

    Where the environment masks an entry, it gets the entry of `action_space.zero()`.

    Args:
        env: The environment to wrap; its action space is a Box with finite bounds.
        min_action: Finite; broadcast to the shape of the space.
        max_action: Greater than `min_action`.

    Raises:
        TypeError: The action space is no Box.
        ValueError: Its bounds are infinite; or `min_action` and `max_action` do not broadcast, are not finite, or
            `min_action` is not less than `max_action`.

    Attributes:
        min_action: As an array of the dtype and shape of the actions.
        max_action: Likewise.
    """

    def __init__(self, env: Env[ObsType, Array], min_action: ArrayLike, max_action: ArrayLike) -> None:
        super().__init__(env)
        self._scaling = ActionScaling(env.action_space, min_action, max_action)
        self.min_action, self.max_action = self._scaling.low, self._scaling.high
        self.action_space = self._scaling.space
        self._has_mask = supports_action_mask(env)

    def action(self, action: Array) -> Array:
        """Return the action of `env`."""
        scaled = self._scaling.forward(action)
        return self._scaling.masked(scaled, get_action_mask(self.env)) if self._has_mask else scaled

    def reverse_action(self, action: Array) -> Array:
        """Return the action that stands for `action` of `env`; masks do not matter."""
        return self._scaling.backward(action)


class ActionScaling:
    """The way between the actions of an environment and those of an agent, single or batched.

    Attributes:
        low: Least action of the agent.
        high: Greatest action of the agent.
        space: The Box between them.
        forward: Map from the agent's actions to the environment's.
        backward: Map from the environment's actions to the agent's.
    """

    def __init__(self, space: Space[Any], min_action: ArrayLike, max_action: ArrayLike) -> None:
        box = bounded_box(space, "action")
        self.low, self.high = as_bounds(box, box.dtype, "action", min_action, max_action)
        self.space = Box(self.low, self.high, dtype=box.dtype)
        self.forward = AffineMap(self.low, self.high, box.low, box.high, box.dtype)
        self.backward = AffineMap(box.low, box.high, self.low, self.high, box.dtype)
        self._zero = box.zero()

    def masked(self, actions: Array, mask: Any) -> Array:
        """Return the environment's actions with zeros where the mask is false, if there is one that fits."""
        if mask is None:
            return actions
        try:
            allowed = np.broadcast_to(np.asarray(mask).astype(bool), actions.shape)
        except ValueError:
            return actions
        return np.where(allowed, actions, self._zero)
