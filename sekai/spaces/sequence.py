"""Sequences of elements of one space, of varying length."""

from __future__ import annotations

import math
from collections.abc import Iterable
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekai.spaces.arguments import as_count
from sekai.spaces.batching import batch_space, concatenate, iterate
from sekai.spaces.box import Box
from sekai.spaces.compiled import draw_floats, draw_integers
from sekai.spaces.composite import require_space
from sekai.spaces.dict import Dict
from sekai.spaces.discrete import Discrete
from sekai.spaces.jsonable import space_from_jsonable
from sekai.spaces.multi_binary import MultiBinary
from sekai.spaces.multi_discrete import MultiDiscrete
from sekai.spaces.space import Space
from sekai.spaces.tuple import Tuple
from sekai.spaces.zero import zero_sample
from sekai.utils.seeding import child_seeds, make_seed_sequence

MEAN_LENGTH = 3  # of a sample without max_length


class Sequence(Space[Any]):
    """Sequences of elements of one space, of varying length.

    Args:
        feature_space: Space of the elements; it is not copied.
        max_length: Largest length; None for no limit. Samples then have a geometric length, 3 on average.
        stack: False: a sequence is a tuple of elements. True: it is one batch of them, as `concatenate` makes it.
        seed: What `seed` takes.

    Raises:
        TypeError: `feature_space` is not a Space, or `stack` is set and its elements cannot be stacked.
        ValueError: `max_length` is negative.
    """

    def __init__(
        self, feature_space: Space[Any], *, max_length: int | None = None, stack: bool = False, seed: Any = None
    ) -> None:
        self.feature_space = require_space(feature_space, "feature_space")
        self.max_length = None if max_length is None else as_count("max_length", max_length)
        self.stack = bool(stack)
        if self.stack:
            _require_stackable(feature_space)
        super().__init__(seed=seed)

    @property
    def is_flattenable(self) -> bool:
        """False: the length varies."""
        return False

    def seed(self, seed: Any = None) -> int:
        """Seed the length draws, and the feature space with a seed derived from it; return the seed used."""
        used = super().seed(seed)
        self.feature_space.seed(child_seeds(self.rng, used, 1)[0])
        return used

    def sample(self, mask: Any = None) -> Any:
        """Draw an element.

        Args:
            mask: Pair of a length (None to draw it) and a mask for each element's draw (None for no restriction).

        Raises:
            TypeError: The mask is not a pair, or its length not an int.
            ValueError: The length is out of range, or the feature space refuses its mask.
        """
        length, feature_mask = (None, None) if mask is None else mask
        length = self._draw_length() if length is None else self._require_length(length)
        return self.pack([self.feature_space.sample(feature_mask) for _ in range(length)])

    def pack(self, items: Iterable[Any]) -> Any:
        """Make an element of the space from elements of the feature space."""
        rows = list(items)
        if not self.stack:
            return tuple(rows)
        return concatenate(self.feature_space, rows) if rows else zero_sample(batch_space(self.feature_space, 0))

    def elements(self, x: Any) -> list[Any]:
        """Return the elements of the feature space that make up `x`; the inverse of `pack`."""
        return list(iterate(self.feature_space, x) if self.stack else x)

    def contains(self, x: Any) -> bool:
        """Whether `x` is a tuple or list of elements, or one batch of them if `stack` is set, of a length in range."""
        if self.stack:
            return self._contains_stack(x)
        if not isinstance(x, (tuple, list)) or len(x) > self._limit:
            return False
        return all(self.feature_space.contains(item) for item in x)

    def sample_batch(self, n: int, mask: Any = None) -> tuple[Any, ...]:
        """Draw `n` elements at once, as a tuple of them; all their features are one batch of the feature space.

        Args:
            n: Number of elements.
            mask: Pair of a length (an int, one per element, or None to draw them) and a mask for each feature's draw.

        Raises:
            TypeError: `n` is not an int, the mask is not a pair, or a length not an int.
            ValueError: `n` is negative, a length is out of range, or the feature space refuses its mask.
        """
        n = as_count("n", n)
        lengths, feature_mask = (None, None) if mask is None else mask
        if lengths is None:
            lengths = self._draw_lengths(n)
        else:
            lengths = np.array([self._require_length(length) for length in np.broadcast_to(lengths, n)], np.int64)
        ends = np.cumsum(lengths)
        features = self._draw_features(int(lengths.sum()), feature_mask)
        return tuple(self.pack(features[end - length : end]) for end, length in zip(ends, lengths, strict=True))

    def to_jsonable(self) -> dict[str, Any]:
        """Describe the space in plain data."""
        return {
            "type": "Sequence",
            "feature_space": self.feature_space.to_jsonable(),
            "max_length": self.max_length,
            "stack": self.stack,
        }

    @classmethod
    def from_jsonable(cls, data: dict[str, Any]) -> Sequence:
        """Rebuild the space that `to_jsonable` described; `max_length` and `stack` are optional."""
        feature_space = space_from_jsonable(data["feature_space"])
        return cls(feature_space, max_length=data.get("max_length"), stack=data.get("stack", False))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Sequence)
            and self.feature_space == other.feature_space
            and (self.max_length, self.stack) == (other.max_length, other.stack)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        length = "" if self.max_length is None else f", max_length={self.max_length}"
        return f"Sequence({self.feature_space!r}{length}{', stack=True' if self.stack else ''})"

    @property
    def _limit(self) -> float:
        return math.inf if self.max_length is None else self.max_length

    def _draw_length(self) -> int:
        if self.max_length is None:
            return int(self.rng.geometric(1 / (1 + MEAN_LENGTH))) - 1
        return int(self.rng.integers(0, self.max_length + 1))

    def _draw_lengths(self, n: int) -> NDArray[np.int64]:
        if self.max_length is None:
            zero = np.array(0.0)
            u = draw_floats(zero, zero + 1.0, n, self.stream)
            # The geometric number of failures, by inversion; 1 - u is never 0.
            lengths = np.floor(np.log1p(-u) / math.log(MEAN_LENGTH / (1 + MEAN_LENGTH)))
            return np.asarray(lengths, np.int64)
        return draw_integers(np.array(0), np.array(self.max_length), n, self.stream)

    def _draw_features(self, n: int, mask: Any) -> list[Any]:
        if self.feature_space.holds_data:
            return list(iterate(self.feature_space, self.feature_space.sample_batch(n, mask)))
        return [self.feature_space.sample(mask) for _ in range(n)]

    def _require_length(self, length: Any) -> int:
        count = as_count("mask length", length)
        if count > self._limit:
            raise ValueError(f"mask length must be at most max_length={self.max_length}, got {count}")
        return count

    def _contains_stack(self, x: Any) -> bool:
        length = _stack_length(self.feature_space, x)
        if length is None or length > self._limit:
            return False
        if length == 0:
            return batch_space(self.feature_space, 0).contains(x)
        return all(self.feature_space.contains(item) for item in iterate(self.feature_space, x))


@batch_space.register
def _(space: Sequence, n: int) -> Tuple:
    """Return a Tuple of copies, each seeded from one draw of the template's generator."""
    seeds = make_seed_sequence(int(space.rng.integers(2**63)), as_count("n", n))
    copies = [deepcopy(space) for _ in seeds]
    for copy, seed in zip(copies, seeds, strict=True):
        copy.seed(seed)
    return Tuple(copies)


@concatenate.register
def _(space: Sequence, items: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(map(deepcopy, items))  # as arrays are copied: an environment may write into what it returned


@zero_sample.register
def _(space: Sequence) -> Any:
    return space.pack([])


def _require_stackable(space: Space[Any]) -> None:
    parts = [space]
    while parts:
        part = parts.pop()
        if isinstance(part, (Dict, Tuple)):
            parts.extend(part.parts)
        elif not isinstance(part, (Box, Discrete, MultiDiscrete, MultiBinary)):
            raise TypeError(f"stack=True needs array-like features, got {part!r} in feature_space {space!r}")
    if not space.holds_data:
        raise TypeError(f"stack=True needs data to stack, but feature_space {space!r} has no sub-space holding data")


def _stack_length(space: Space[Any], x: Any) -> int | None:
    """Return how many elements the batch `x` stacks, or None if it is not built as one."""
    if isinstance(space, Dict):
        if not isinstance(x, dict) or x.keys() != space.keys():
            return None
        pairs = [(part, x[key]) for key, part in space.items()]
    elif isinstance(space, Tuple):
        if not isinstance(x, tuple) or len(x) != len(space):
            return None
        pairs = list(zip(space, x, strict=True))
    else:
        return len(x) if isinstance(x, np.ndarray) and x.ndim else None
    lengths = {_stack_length(part, batch) for part, batch in pairs if part.holds_data}
    empty = all(part.contains(batch) for part, batch in pairs if not part.holds_data)
    return lengths.pop() if empty and len(lengths) == 1 else None
