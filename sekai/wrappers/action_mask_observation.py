"""Let the agent see which actions are allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic

import numpy as np

from sekai._types import ActType, ObsType
from sekai.core.wrapper import ObservationWrapper
from sekai.spaces import Dict, flatdim
from sekai.utils.leaves import is_dict
from sekai.utils.masking import action_mask_space, flatten_action_mask, get_action_mask, supports_action_mask

if TYPE_CHECKING:
    from sekai.core.env import Env


class ActionMaskObservation(ObservationWrapper[dict[Any, Any], ActType, ObsType], Generic[ActType, ObsType]):
    """Adds the current action mask, as a vector of int8, to observations.

    A Dict gets one more key. Anything else becomes a Dict of `"observation"` and the mask.

    Args:
        env: The environment to wrap; it or a wrapper inside defines `action_mask()`.
        key: The key of the mask.

    Raises:
        TypeError: There is no `action_mask`, or the action space has no flat masks.
        KeyError: The Dict has the key already.

    Attributes:
        key: As given.
    """

    def __init__(self, env: Env[ObsType, ActType], *, key: str = "action_mask") -> None:
        super().__init__(env)
        self.key = key
        self.observation_space = with_mask(env, key)

    def observation(self, obs: ObsType) -> dict[Any, Any]:
        """Return the observation with the mask.

        Raises:
            ValueError: The mask is not one of the action space.
        """
        return add_mask(self.env, obs, self.key)


def with_mask(env: Any, key: str) -> Dict:
    """Return the space of observations with a mask, of an environment or of one lane of a batch."""
    if not supports_action_mask(env):
        raise TypeError(f"{env!r} must have an action_mask")
    mask_space, space = action_mask_space(env.action_space), env.observation_space
    spaces = dict(space.items()) if is_dict(space) else {"observation": space}
    if key in spaces:
        raise KeyError(f"key must be a new key, got {key!r}")
    return Dict({**spaces, key: mask_space})


def add_mask(env: Any, obs: Any, key: str, lanes: tuple[int, ...] = ()) -> dict[Any, Any]:
    """Return an observation with the current mask of an environment; or a batch, where `lanes` is `(num_envs,)`."""
    space, mask = env.action_space, get_action_mask(env)
    if mask is None:
        flags = np.ones((*lanes, flatdim(space)), np.int8)
    else:
        flags = flatten_action_mask(space, mask, batched=bool(lanes)).astype(np.int8)
    parts = obs if is_dict(env.observation_space) else {"observation": obs}
    return {**parts, key: flags}
