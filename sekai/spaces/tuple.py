"""Tuples with one sub-space for each place."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from sekai.spaces.arguments import as_count
from sekai.spaces.composite import Composite, contain_all, require_space
from sekai.spaces.jsonable import space_from_jsonable
from sekai.spaces.space import Space


class Tuple(Composite[tuple[Any, ...]]):
    """Tuples with one sub-space for each place.

    Args:
        spaces: The sub-spaces, in order; they are not copied.
        seed: What `seed` takes.

    Raises:
        TypeError: Not all of `spaces` are Spaces.
    """

    def __init__(self, spaces: Iterable[Space[Any]], seed: Any = None) -> None:
        self.spaces = tuple(require_space(space, f"spaces[{i}]") for i, space in enumerate(spaces))
        super().__init__(seed=seed)

    @property
    def parts(self) -> Collection[Space[Any]]:
        """The sub-spaces, in order."""
        return self.spaces

    def seed(self, seed: Any = None) -> int:
        """Seed the space and its sub-spaces, and return the seed used.

        Args:
            seed: What `Space.seed` takes, from which each sub-space gets a seed of its own. Or a list or tuple of
                seeds: only the first so many sub-spaces are seeded then, and None skips one.

        Returns:
            The seed, -1 for a Generator, list or tuple.

        Raises:
            TypeError: A seed is none of these.
            ValueError: A seed is negative, or there are more seeds than sub-spaces.
        """
        if not isinstance(seed, (list, tuple)):
            return super().seed(seed)
        if len(seed) > len(self.spaces):
            raise ValueError(f"seed must hold at most {len(self.spaces)} entries, got {len(seed)} seeds")
        for space, part_seed in zip(self.spaces, seed, strict=False):
            if part_seed is not None:
                space.seed(part_seed)
        return -1

    def sample(self, mask: Any = None) -> tuple[Any, ...]:
        """Draw an element.

        Args:
            mask: Sequence with one mask per sub-space, or None for one that is unrestricted.

        Raises:
            ValueError: The mask has another length, or a sub-space refuses its mask.
        """
        masks = self.part_masks(mask)
        return tuple(space.sample(part) for space, part in zip(self.spaces, masks, strict=True))

    def part_masks(self, mask: Any) -> Sequence[Any]:
        """Return one mask (or None) per sub-space; a mask of another length is a ValueError."""
        if mask is None:
            return (None,) * len(self.spaces)
        if not hasattr(mask, "__len__") or len(mask) != len(self.spaces):
            raise ValueError(f"mask must hold one mask per sub-space, {len(self.spaces)} in all, got {mask!r}")
        return tuple(mask)

    def contains(self, x: Any) -> bool:
        """Whether `x` is a tuple or list of this length, each entry an element of its sub-space."""
        if not isinstance(x, (tuple, list)) or len(x) != len(self.spaces):
            return False
        return all(space.contains(entry) for space, entry in zip(self.spaces, x, strict=True))

    def sample_batch(self, n: int, mask: Any = None) -> tuple[Any, ...]:
        """Draw `n` elements at once, as a tuple of batches; `mask` holds what each part takes."""
        n, masks = as_count("n", n), self.part_masks(mask)
        return tuple(space.sample_batch(n, part) for space, part in zip(self.spaces, masks, strict=True))

    def contains_batch(self, x: Any) -> NDArray[np.bool_]:
        """Return which elements of a tuple of batches are elements of the space.

        Raises:
            ValueError: `x` is no tuple of batches of one length, one per sub-space, or no sub-space holds data.
        """
        if not isinstance(x, tuple) or len(x) != len(self.spaces):
            raise ValueError(f"x must be a tuple of {len(self.spaces)} batches, got {x!r}")
        return contain_all(self, self.spaces, x)

    def to_jsonable(self) -> dict[str, Any]:
        """Describe the space in plain data."""
        return {"type": "Tuple", "spaces": [space.to_jsonable() for space in self.spaces]}

    @classmethod
    def from_jsonable(cls, data: dict[str, Any]) -> Tuple:
        """Rebuild the space that `to_jsonable` described."""
        return cls([space_from_jsonable(space) for space in data["spaces"]])

    @overload
    def __getitem__(self, index: int) -> Space[Any]: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Space[Any], ...]: ...
    def __getitem__(self, index: int | slice) -> Space[Any] | tuple[Space[Any], ...]:
        return self.spaces[index]

    def __len__(self) -> int:
        return len(self.spaces)

    def __iter__(self) -> Iterator[Space[Any]]:
        return iter(self.spaces)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tuple) and self.spaces == other.spaces

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Tuple({', '.join(map(repr, self.spaces))})"
