"""Keep only a part of the observations of a batch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Generic

from sekai._types import ActType
from sekai.vector.vec_env import VecEnv
from sekai.vector.vec_wrapper import VecObservationWrapper
from sekai.wrappers.filter_observation import filtered


class VecFilterObservation(VecObservationWrapper[dict[Any, Any], ActType, dict[Any, Any]], Generic[ActType]):
    """Keeps only some keys of Dict observations, in the order given.

    Args:
        venv: The batch to wrap; its observation space is a Dict.
        keys: What to keep.

    Raises:
        TypeError: The observation space is no Dict, or `keys` is a string.
        KeyError: The Dict lacks a key.
        ValueError: There are no keys.

    Attributes:
        keys: As a tuple.
    """

    def __init__(self, venv: VecEnv[dict[Any, Any], ActType], keys: Iterable[Any]) -> None:
        super().__init__(venv)
        self.keys, self.observation_space = filtered(venv.observation_space, keys)

    def observation(self, observations: dict[Any, Any]) -> dict[Any, Any]:
        """Return the part of the observations that is kept."""
        return {key: observations[key] for key in self.keys}

    def _final_observations(self, observations: Any, lanes: Any) -> Any:
        return self.observation(observations)
