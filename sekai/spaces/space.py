"""The base class of all spaces."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import DTypeLike, NDArray

from sekai.spaces.arguments import as_count
from sekai.spaces.compiled import Stream, start_stream
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
    _stream: Stream | None = None

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
        self._stream = None
        return self._seed_used

    @abstractmethod
    def sample(self, mask: Any = None) -> T:
        """Draw an element; `mask` restricts which (see each space for its format)."""

    @abstractmethod
    def contains(self, x: Any) -> bool:
        """Whether `x` is an element."""

    def sample_batch(self, n: int, mask: Any = None) -> Any:
        """Draw `n` elements at once, stacked as `concatenate` stacks them: an element of `batch_space(self, n)`.

        The built-in spaces draw them with a kernel, from a stream of their own: the values differ from those of
        `sample`, and neither stream moves the other. It starts from the seed of the space; when that was a Generator,
        from one draw of it. Two batches in a row hold what one large batch would.

        Args:
            n: Number of elements.
            mask: For all of them, as `sample` takes it; or an array of masks, one per element along its first axis.

        Raises:
            TypeError: `n` is not an int.
            ValueError: `n` is negative, or the mask is one that `sample` would refuse for some element.
        """
        from sekai.spaces.batching import concatenate

        return concatenate(self, [self.sample(mask) for _ in range(as_count("n", n))])

    def contains_batch(self, x: Any) -> NDArray[np.bool_]:
        """Return which elements of the batch `x` are elements of the space, as a bool array.

        A list is made an array first where elements are arrays.

        Raises:
            ValueError: `x` is no batch: nothing tells how many elements it holds.
        """
        from sekai.spaces.batching import iterate

        try:
            rows = iterate(self, x)
        except TypeError:
            raise ValueError(f"x must be a batch of elements, got {x!r}") from None
        return np.array([self.contains(row) for row in rows], np.bool_)

    @property
    def stream(self) -> Stream:
        """State of the generator behind `sample_batch`, which kernels read and advance."""
        if self._stream is None:
            rng = self.rng
            self._stream = start_stream(int(rng.integers(2**63)) if self._seed_used == -1 else self._seed_used)
        return self._stream

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
