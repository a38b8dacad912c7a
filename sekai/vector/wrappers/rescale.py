"""Map bounded observations and actions of a batch onto other bounds."""

from __future__ import annotations

from typing import Any, Generic

from numpy.typing import ArrayLike, NDArray

from sekai._types import ActType, ObsType
from sekai.utils.masking import get_action_mask, supports_action_mask
from sekai.vector.vec_env import VecEnv
from sekai.vector.vec_wrapper import VecActionWrapper, VecObservationWrapper
from sekai.wrappers.rescale import ActionScaling, rescaled

Array = NDArray[Any]


class VecRescaleObservation(VecObservationWrapper[Array, ActType, Array], Generic[ActType]):
    """Maps the bounds of Box observations to `[min_obs, max_obs]`, as `RescaleObservation` does.

    Args:
        venv: The batch to wrap; its observation space is a Box with finite bounds.
        min_obs: Finite; broadcast to the shape of one observation.
        max_obs: Greater than `min_obs`.

    Raises:
        TypeError: The observation space is no Box.
        ValueError: Its bounds are infinite; or `min_obs` and `max_obs` do not broadcast, are not finite, or `min_obs`
            is not less than `max_obs`.

    Attributes:
        min_obs: As an array of the dtype and shape of one new observation.
        max_obs: Likewise.
    """

    def __init__(self, venv: VecEnv[Array, ActType], min_obs: ArrayLike, max_obs: ArrayLike) -> None:
        super().__init__(venv)
        self._map, self.observation_space = rescaled(venv.observation_space, min_obs, max_obs)
        self.min_obs, self.max_obs = self.observation_space.low, self.observation_space.high

    def observation(self, observations: Array) -> Array:
        """Return the observations within the new bounds."""
        return self._map(observations)

    def _final_observations(self, observations: Any, lanes: Any) -> Any:
        return self._map(observations)


class VecRescaleAction(VecActionWrapper[ObsType, Array, Array], Generic[ObsType]):
    """Lets the agent act in `[min_action, max_action]`, as `RescaleAction` does.

    Args:
        venv: The batch to wrap; its action space is a Box with finite bounds.
        min_action: Finite; broadcast to the shape of one action.
        max_action: Greater than `min_action`.

    Raises:
        TypeError: The action space is no Box.
        ValueError: Its bounds are infinite; or `min_action` and `max_action` do not broadcast, are not finite, or
            `min_action` is not less than `max_action`.

    Attributes:
        min_action: As an array of the dtype and shape of one action.
        max_action: Likewise.
    """

    def __init__(self, venv: VecEnv[ObsType, Array], min_action: ArrayLike, max_action: ArrayLike) -> None:
        super().__init__(venv)
        self._scaling = ActionScaling(venv.action_space, min_action, max_action)
        self.min_action, self.max_action = self._scaling.low, self._scaling.high
        self.action_space = self._scaling.space
        self._has_mask = supports_action_mask(venv)

    def action(self, actions: Array) -> Array:
        """Return the actions of `venv`."""
        scaled = self._scaling.forward(actions)
        return self._scaling.masked(scaled, get_action_mask(self.venv)) if self._has_mask else scaled

    def reverse_action(self, actions: Array) -> Array:
        """Return the actions that stand for `actions` of `venv`; masks do not matter."""
        return self._scaling.backward(actions)
