"""What spaces made of other spaces have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

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


def contain_all(whole: Space[Any], parts: Iterable[Space[Any]], batches: Iterable[Any]) -> NDArray[np.bool_]:
    """Return which rows of the batches of the parts of `whole` are elements in all of them."""
    pairs = list(zip(parts, batches, strict=True))
    insides = [part.contains_batch(batch) for part, batch in pairs if part.holds_data]
    require_one_length(whole, [len(inside) for inside in insides])
    empties = all(part.contains(batch) for part, batch in pairs if not part.holds_data)
    inside: NDArray[np.bool_] = np.logical_and.reduce(insides) & empties
    return inside


def require_one_length(whole: Space[Any], lengths: Collection[int]) -> int:
    """Return the length that the batches of the parts of `whole` agree on, or raise a ValueError."""
    if not lengths:
        raise ValueError(f"{whole!r} has no sub-space holding data, so its batch has no length")
    if len(set(lengths)) > 1:
        raise ValueError(f"the parts of a batch of {whole!r} hold different numbers of elements: {list(lengths)}")
    return next(iter(lengths))


def require_space(space: Any, name: str) -> Space[Any]:
    """Return `space`, or raise a TypeError that names the argument if it is none."""
    if not isinstance(space, Space):
        raise TypeError(f"{name} must be a sekai Space, got {space!r}")
    return space
