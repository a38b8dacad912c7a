"""Give observations of varying size a fixed one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic

from sekai._types import ActType, ObsType
from sekai.core.wrapper import ObservationWrapper
from sekai.spaces import Box, MaskedBox, Sequence
from sekai.utils.integers import positive_int
from sekai.utils.leaves import map_leaves, map_space

if TYPE_CHECKING:
    from sekai.core.env import Env
    from sekai.spaces import Space

TRUNCATIONS = ("tail", "head", "error")


class PadSequenceObservation(ObservationWrapper[Any, ActType, ObsType], Generic[ActType, ObsType]):
    """Turns each Sequence of Box elements in observations into a MaskedBox, whose first slots hold the elements.

    Args:
        env: The environment to wrap.
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

    def __init__(self, env: Env[ObsType, ActType], max_length: int | None = None, *, truncate: str = "tail") -> None:
        self._padding = SequencePadding(max_length, truncate)
        self.max_length, self.truncate = self._padding.max_length, truncate
        super().__init__(env)
        self.observation_space = self._padding.space(env.observation_space)

    def observation(self, obs: ObsType) -> Any:
        """Return the observation with padded sequences."""
        return map_leaves(self._padding.pad, self.env.observation_space, self.observation_space, obs)


class SequencePadding:
    """How sequences are padded, and cut."""

    def __init__(self, max_length: int | None, truncate: str) -> None:
        if truncate not in TRUNCATIONS:
            raise ValueError(f"truncate must be one of {TRUNCATIONS}, got {truncate!r}")
        self.truncate = truncate
        self.max_length = None if max_length is None else positive_int("max_length", max_length)

    def space(self, space: Space[Any]) -> Space[Any]:
        """Return the space with a MaskedBox for each Sequence."""
        padded = map_space(self._padded, space)
        if padded == space:
            raise TypeError(f"the observation space must have a Sequence, got {space!r}")
        return padded

    def pad(self, leaf: Space[Any], slots: Any, x: Any) -> Any:
        """Return the part `x` of an observation that belongs to `leaf` as an element of `slots`."""
        if not isinstance(leaf, Sequence):
            return x
        elements = leaf.elements(x)
        size = slots.max_size
        if len(elements) > size and self.truncate == "error":
            raise ValueError(f"a sequence must have at most {size} elements, got {len(elements)}")
        kept = elements[-size:] if self.truncate == "tail" else elements[:size]
        padded = slots.empty()
        for slot, element in enumerate(kept):
            padded["values"][slot] = element
        padded["mask"][: len(kept)] = 1
        return padded

    def _padded(self, leaf: Space[Any]) -> Space[Any]:
        if not isinstance(leaf, Sequence):
            return leaf
        box, length = leaf.feature_space, self.max_length or leaf.max_length
        if not length:
            raise ValueError(f"max_length must be given for {leaf!r}")
        if not isinstance(box, Box):
            raise TypeError(f"the elements of a Sequence must be those of a Box to be padded, got {leaf!r}")
        return MaskedBox(box.low, box.high, box.shape, max_size=length, dtype=box.dtype)
