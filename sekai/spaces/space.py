"""The base class of all spaces."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import DTypeLike

from sekai.utils.seeding import np_random

T = TypeVar("T")


class Space(ABC, Generic[T]):
    """A set of values that can be drawn from and checked against.

    Args:
        shape: Shape of an element, or None if elements are not arrays.
        dtype: Dtype of an element, or None.
        seed: What `seed` takes. None leaves the space unseeded until the first draw.
    """

    _rng: Generator | None = None
    _seed_used: int = -1

    def __init__(self, shape: Sequence[int] | None = None, dtype: DTypeLike | None = None, seed: Any = None) -> None:
        self._shape = None if shape is None else tuple(int(size) for size in shape)
        self._dtype = None if dtype is None else np.dtype(dtype)
        if seed is not None:
            self.seed(seed)

    @property
    def shape(self) -> tuple[int, ...] | None:
        """Shape of an element, or None if elements are not arrays."""
        return self._shape

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """Dtype of an element, or None if elements are not arrays."""
        return self._dtype

    @property
    def rng(self) -> Generator:
        """The generator behind `sample`; seeded by the operating system when nobody did."""
        if self._rng is None:
            self._rng, self._seed_used = np_random()
        return self._rng

    def seed(self, seed: Any = None) -> int:
        """Seed the space, and return the seed used.

        Args:
            seed: An int >= 0, None for a seed from the operating system, or a Generator, which is then shared.

        Returns:
            The seed, -1 for a Generator.

        Raises:
            TypeError: `seed` is anything else.
            ValueError: `seed` is negative.
        """
        self._rng, self._seed_used = np_random(seed)
        return self._seed_used

    @abstractmethod
    def sample(self, mask: Any = None) -> T:
        """Draw an element; `mask` restricts which (see each space for its format)."""

    @abstractmethod
    def contains(self, x: Any) -> bool:
        """Whether `x` is an element."""

    @property
    @abstractmethod
    def is_flattenable(self) -> bool:
        """Whether elements flatten into a vector of fixed length."""

    @property
    def holds_data(self) -> bool:
        """Whether elements hold any array or number at all; an empty Dict or Tuple does not."""
        return True

    def to_jsonable(self) -> dict[str, Any]:
        """Describe the space in plain data that `space_from_jsonable` reads."""
        raise NotImplementedError(f"{type(self).__name__} has no to_jsonable()")

    @classmethod
    def from_jsonable(cls, data: dict[str, Any]) -> Space[Any]:
        """Rebuild the space that `to_jsonable` described."""
        raise NotImplementedError(f"{cls.__name__} has no from_jsonable()")

    def __contains__(self, x: Any) -> bool:
        return self.contains(x)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"
