"""Keep only a part of each observation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Generic

from sekai._types import ActType
from sekai.core.wrapper import ObservationWrapper
from sekai.spaces import Dict

if TYPE_CHECKING:
    from sekai.core.env import Env
    from sekai.spaces import Space


class FilterObservation(ObservationWrapper[dict[Any, Any], ActType, dict[Any, Any]], Generic[ActType]):
    """Keeps only some keys of Dict observations, in the order given.

    Args:
        env: The environment to wrap; its observation space is a Dict.
        keys: What to keep.

    Raises:
        TypeError: The observation space is no Dict, or `keys` is a string.
        KeyError: The Dict lacks a key.
        ValueError: There are no keys.

    Attributes:
        keys: As a tuple.
    """

    def __init__(self, env: Env[dict[Any, Any], ActType], keys: Iterable[Any]) -> None:
        super().__init__(env)
        self.keys, self.observation_space = filtered(env.observation_space, keys)

    def observation(self, obs: dict[Any, Any]) -> dict[Any, Any]:
        """Return the part of the observation that is kept."""
        return {key: obs[key] for key in self.keys}


def filtered(space: Space[Any], keys: Iterable[Any]) -> tuple[tuple[Any, ...], Dict]:
    """Return the keys to keep, and the space of what is kept."""
    if not isinstance(space, Dict):
        raise TypeError(f"the observation space must be a Dict, got {space!r}")
    if isinstance(keys, (str, bytes)):
        raise TypeError(f"keys must be a collection of keys, got the single {keys!r}")
    kept = tuple(keys)
    for key in kept:
        if key not in space.spaces:
            raise KeyError(f"keys must be among {list(space.keys())}, got {key!r}")
    if not kept:
        raise ValueError("keys must name at least one key, got none")
    return kept, Dict({key: space[key] for key in kept})
