"""Give the observations of a batch a fixed size."""

from __future__ import annotations

from typing import Any, Generic

from sekai._types import ActType, ObsType
from sekai.spaces import Sequence, Space, concatenate
from sekai.utils.leaves import map_leaves
from sekai.vector.vec_env import VecEnv
from sekai.vector.vec_wrapper import VecObservationWrapper
from sekai.wrappers.pad_sequence_observation import SequencePadding


class VecPadSequenceObservation(VecObservationWrapper[Any, ActType, ObsType], Generic[ActType, ObsType]):
    """Turns each Sequence of Box elements in observations into a MaskedBox, as `PadSequenceObservation` does.

    Args:
        venv: The batch to wrap.
        max_length: Number of slots; by default the `max_length` of each Sequence.
        truncate: What is left of a longer sequence: its last elements (`"tail"`), its first ones (`"head"`), or a
            ValueError (`"error"`).

    Raises:
        TypeError: `max_length` is not an integer, the observation space has no Sequence, or one whose elements are no
            Boxes.
        ValueError: `truncate` is something else, or `max_length` less than 1 or missing for an unlimited Sequence.

    Attributes:
        max_length: As given.
        truncate: As given.
    """

    def __init__(
        self, venv: VecEnv[ObsType, ActType], max_length: int | None = None, *, truncate: str = "tail"
    ) -> None:
        self._padding = SequencePadding(max_length, truncate)
        self.max_length, self.truncate = self._padding.max_length, truncate
        super().__init__(venv)
        self.observation_space = self._padding.space(venv.observation_space)

    def observation(self, observations: ObsType) -> Any:
        """Return the observations with padded sequences."""
        return map_leaves(self._pad, self.venv.observation_space, self.observation_space, observations)

    def _final_observations(self, observations: Any, lanes: Any) -> Any:
        return self.observation(observations)

    def _pad(self, leaf: Space[Any], slots: Space[Any], batch: Any) -> Any:
        if not isinstance(leaf, Sequence):
            return batch
        return concatenate(slots, [self._padding.pad(leaf, slots, sequence) for sequence in batch])
