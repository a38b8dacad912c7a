"""Dicts with one sub-space for each key."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, ItemsView, Iterator, KeysView, Mapping, ValuesView
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekai.spaces.arguments import as_count
from sekai.spaces.composite import Composite, contain_all, require_space
from sekai.spaces.jsonable import space_from_jsonable
from sekai.spaces.space import Space


class Dict(Composite[dict[Any, Any]]):
    """Dicts with one sub-space for each key.

    The order of the keys matters for seeding, flattening and equality, not for membership. Going through the space
    gives its keys; `x in space` asks whether `x` is an element.

    Args:
        spaces: Mapping of keys to sub-spaces. The mapping is copied, the sub-spaces are not.
        seed: What `seed` takes.
        **spaces_kwargs: Further sub-spaces, which win over equal keys of `spaces`.

    Raises:
        TypeError: `spaces` is not a mapping, or a value is not a Space.
    """

    def __init__(
        self, spaces: Mapping[Any, Space[Any]] | None = None, seed: Any = None, **spaces_kwargs: Space[Any]
    ) -> None:
        if spaces is not None and not isinstance(spaces, Mapping):
            raise TypeError(f"spaces must be a mapping of keys to spaces, got {spaces!r}")
        self.spaces: OrderedDict[Any, Space[Any]] = OrderedDict({**(spaces or {}), **spaces_kwargs})
        for key, space in self.spaces.items():
            require_space(space, f"spaces[{key!r}]")
        super().__init__(seed=seed)

    @property
    def parts(self) -> Collection[Space[Any]]:
        """The sub-spaces, in the order of the keys."""
        return self.spaces.values()

    def keys(self) -> KeysView[Any]:
        """Return the keys, in order."""
        return self.spaces.keys()

    def values(self) -> ValuesView[Space[Any]]:
        """Return the sub-spaces, in order."""
        return self.spaces.values()

    def items(self) -> ItemsView[Any, Space[Any]]:
        """Return the pairs of key and sub-space, in order."""
        return self.spaces.items()

    def seed(self, seed: Any = None) -> int:
        """Seed the space and its sub-spaces, and return the seed used.

        Args:
            seed: What `Space.seed` takes, from which each sub-space gets a seed of its own. Or a mapping of keys to
                seeds: only the sub-spaces named are seeded then, and None skips one.

        Returns:
            The seed, -1 for a Generator or a mapping.

        Raises:
            TypeError: A seed is none of these.
            ValueError: A seed is negative, or a name is not a key of the space.
        """
        if not isinstance(seed, Mapping):
            return super().seed(seed)
        unknown = [key for key in seed if key not in self.spaces]
        if unknown:
            raise ValueError(f"seed names {unknown}, which are not keys of the space; it has {list(self.spaces)}")
        for key, part_seed in seed.items():
            if part_seed is not None:
                self.spaces[key].seed(part_seed)
        return -1

    def sample(self, mask: Any = None) -> dict[Any, Any]:
        """Draw an element.

        Args:
            mask: Mapping of keys to masks of the sub-spaces. A key that is missing or has None is unrestricted;
                others than the space's are ignored.

        Raises:
            TypeError: The mask is not a mapping.
            ValueError: A sub-space refuses its mask.
        """
        return {key: space.sample(part_mask(mask, key)) for key, space in self.spaces.items()}

    def contains(self, x: Any) -> bool:
        """Whether `x` is a dict with exactly these keys, each with an element of its sub-space."""
        if not isinstance(x, dict) or x.keys() != self.spaces.keys():
            return False
        return all(space.contains(x[key]) for key, space in self.spaces.items())

    def sample_batch(self, n: int, mask: Any = None) -> dict[Any, Any]:
        """Draw `n` elements at once, as a dict of batches; `mask` maps keys to what the parts take."""
        n = as_count("n", n)
        return {key: space.sample_batch(n, part_mask(mask, key)) for key, space in self.spaces.items()}

    def contains_batch(self, x: Any) -> NDArray[np.bool_]:
        """Return which elements of a dict of batches are elements of the space.

        Raises:
            ValueError: `x` is no dict of batches of one length with exactly these keys, or no sub-space holds data.
        """
        if not isinstance(x, dict) or x.keys() != self.spaces.keys():
            raise ValueError(f"x must be a dict of batches with the keys {list(self.spaces)}, got {x!r}")
        return contain_all(self, self.parts, [x[key] for key in self.spaces])

    def to_jsonable(self) -> dict[str, Any]:
        """Describe the space in plain data."""
        return {"type": "Dict", "spaces": {key: space.to_jsonable() for key, space in self.spaces.items()}}

    @classmethod
    def from_jsonable(cls, data: dict[str, Any]) -> Dict:
        """Rebuild the space that `to_jsonable` described."""
        return cls({key: space_from_jsonable(space) for key, space in data["spaces"].items()})

    def __getitem__(self, key: Any) -> Space[Any]:
        return self.spaces[key]

    def __setitem__(self, key: Any, space: Space[Any]) -> None:
        self.spaces[key] = require_space(space, f"space[{key!r}]")

    def __len__(self) -> int:
        return len(self.spaces)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.spaces)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dict) and self.spaces == other.spaces

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Dict({{{', '.join(f'{key}: {space!r}' for key, space in self.spaces.items())}}})"


def part_mask(mask: Any, key: Any) -> Any:
    """Return the mask of one sub-space from a mapping of masks."""
    if mask is None:
        return None
    if not isinstance(mask, Mapping):
        raise TypeError(f"mask must be a mapping of keys to masks, got {mask!r}")
    return mask.get(key)
