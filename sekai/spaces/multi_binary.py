"""Arrays of zeros and ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekai.spaces.arguments import as_array, as_batch, as_count
from sekai.spaces.compiled import draw_integers, rows_within
from sekai.spaces.space import Space


class MultiBinary(Space[NDArray[np.int8]]):
    """Arrays of zeros and ones.

    Args:
        n: Length, or the sizes of several axes.
        seed: What `seed` takes.

    Raises:
        TypeError: `n` is neither an int nor a sequence of ints.
        ValueError: A size is negative.
    """

    def __init__(self, n: int | Sequence[int], seed: Any = None) -> None:
        sizes = n if isinstance(n, (Sequence, np.ndarray)) and np.ndim(n) else [n]
        self.n = tuple(as_count("n", size) for size in sizes)
        super().__init__(self.n, np.int8, seed)

    @property
    def is_flattenable(self) -> bool:
        """True: an element flattens into its entries."""
        return True

    def sample(self, mask: Any = None) -> NDArray[np.int8]:
        """Draw an element.

        Args:
            mask: Shape `n`; an entry of -1 leaves that bit free, 1 sets it, and anything else clears it.

        Raises:
            ValueError: The mask has another shape.
        """
        bits: NDArray[np.int8]
        if mask is None:
            bits = np.asarray(self.rng.integers(0, 2, size=self.n, dtype=np.int8))
            return bits
        flags = np.asarray(mask)
        if flags.shape != self.n:
            raise ValueError(f"mask.shape must be {self.n}, got {flags.shape}")
        bits = np.asarray(flags == 1, np.int8)
        free = flags == -1
        bits[free] = self.rng.integers(0, 2, size=np.count_nonzero(free), dtype=np.int8)
        return bits

    def contains(self, x: Any) -> bool:
        """Whether `x` is an integer or bool array (or list) of shape `n` that holds zeros and ones only."""
        array = as_array(x)
        if array is None or array.shape != self.n or array.dtype.kind not in "iub":
            return False
        return bool(np.all((array == 0) | (array == 1)))

    def sample_batch(self, n: int, mask: Any = None) -> NDArray[np.int8]:
        """Draw `n` elements at once, shape `(n, *self.n)` (see `Space.sample_batch`).

        Args:
            n: Number of elements.
            mask: As for `sample`, for all elements, or one for each along a further first axis.

        Raises:
            TypeError: `n` is not an int.
            ValueError: `n` is negative, or a mask has another shape.
        """
        n = as_count("n", n)
        flags = None if mask is None else np.asarray(mask)
        if flags is not None and flags.shape not in (self.n, (n, *self.n)):
            raise ValueError(f"mask.shape must be {self.n} or {(n, *self.n)}, got {flags.shape}")
        zeros = np.zeros(self.n, np.int64)
        bits = draw_integers(zeros, zeros + 1, n, self.stream).astype(np.int8)
        return bits if flags is None else np.where(flags == -1, bits, flags == 1).astype(np.int8)

    def contains_batch(self, x: Any) -> NDArray[np.bool_]:
        """Return which elements of an array (or list) of shape `(n, *self.n)` hold zeros and ones only."""
        batch = as_batch(x)
        if batch.shape[1:] != self.n or batch.dtype.kind not in "iub":
            return np.zeros(len(batch), np.bool_)
        zeros = np.zeros(self.n, np.int64)
        return rows_within(batch, zeros, zeros + 1)

    def to_jsonable(self) -> dict[str, Any]:
        """Describe the space in plain data."""
        return {"type": "MultiBinary", "n": list(self.n)}

    @classmethod
    def from_jsonable(cls, data: dict[str, Any]) -> MultiBinary:
        """Rebuild the space that `to_jsonable` described."""
        return cls(data["n"])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MultiBinary) and self.n == other.n

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"MultiBinary({self.n[0] if len(self.n) == 1 else self.n})"
