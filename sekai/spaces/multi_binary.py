"""Arrays of zeros and ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekai.spaces.arguments import as_array, as_count
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
            bits = self.rng.integers(0, 2, size=self.n, dtype=np.int8)
            return bits
        flags = np.asarray(mask)
        if flags.shape != self.n:
            raise ValueError(f"mask.shape must be {self.n}, got {flags.shape}")
        bits = (flags == 1).astype(np.int8)
        free = flags == -1
        bits[free] = self.rng.integers(0, 2, size=np.count_nonzero(free), dtype=np.int8)
        return bits

    def contains(self, x: Any) -> bool:
        """Whether `x` is an integer or bool array (or list) of shape `n` that holds zeros and ones only."""
        array = as_array(x)
        if array is None or array.shape != self.n or array.dtype.kind not in "iub":
            return False
        return bool(np.all((array == 0) | (array == 1)))

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
