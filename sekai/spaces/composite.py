"""What spaces made of other spaces have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection
from typing import Any, TypeVar

from sekai.spaces.space import Space
from sekai.utils.seeding import child_seeds

T = TypeVar("T")


class Composite(Space[T]):
    """A space whose elements are made of elements of sub-spaces."""

    @property
    @abstractmethod
    def parts(self) -> Collection[Space[Any]]:
        """The sub-spaces, in order."""

    @property
    def is_flattenable(self) -> bool:
        """Whether all sub-spaces are flattenable."""
        return all(part.is_flattenable for part in self.parts)

    @property
    def holds_data(self) -> bool:
        """Whether any sub-space holds data."""
        return any(part.holds_data for part in self.parts)

    def seed(self, seed: Any = None) -> int:
        """Seed the space, and each sub-space with a seed derived from it; return the seed used (-1: a Generator)."""
        used = super().seed(seed)
        for part, part_seed in zip(self.parts, child_seeds(self.rng, used, len(self.parts)), strict=True):
            part.seed(part_seed)
        return used


def require_space(space: Any, name: str) -> Space[Any]:
    """Return `space`, or raise a TypeError that names the argument if it is none."""
    if not isinstance(space, Space):
        raise TypeError(f"{name} must be a sekai Space, got {space!r}")
    return space
