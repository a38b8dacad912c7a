"""A finite range of integers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekai.spaces.arguments import as_batch, as_count, require_choice
from sekai.spaces.compiled import draw_allowed, draw_integers, rows_within
from sekai.spaces.space import Space
from sekai.utils.integers import as_int, positive_int

INT64 = np.iinfo(np.int64)


class Discrete(Space[np.intp]):
    """The integers `start`, …, `start + n - 1`.

    Args:
        n: How many, at least 1.
        seed: What `seed` takes.
        start: The smallest.

    Raises:
        TypeError: `n` or `start` is not an integer.
        ValueError: `n` < 1, or a value does not fit int64.
    """

    def __init__(self, n: int, seed: Any = None, start: int = 0) -> None:
        self.n = positive_int("n", n)
        self.start = as_int("start", start)
        self._stop = self.start + self.n
        if self.start < INT64.min or self._stop - 1 > INT64.max:
            raise ValueError(f"start and start + n - 1 must fit int64, got n={self.n}, start={self.start}")
        super().__init__((), np.int64, seed)

    @property
    def is_flattenable(self) -> bool:
        """True: an element flattens into a one-hot vector."""
        return True

    def sample(self, mask: Any = None) -> np.intp:
        """Draw an element.

        Args:
            mask: Shape `(n,)`; only values `start + i` with `mask[i] == 1` are drawn.

        Raises:
            ValueError: The mask has another shape, or allows nothing.
        """
        rng = self._rng or self.rng
        if mask is None:
            drawn = rng.integers(self.start, self._stop)
            return drawn if type(drawn) is np.intp else np.intp(drawn)
        flags = np.asarray(mask)
        if flags.shape != (self.n,):
            raise ValueError(f"mask.shape must be {(self.n,)}, got {flags.shape}")
        allowed = np.flatnonzero(flags == 1)
        if not allowed.size:
            raise ValueError(f"All actions masked: mask of {self!r} has no entry equal to 1")
        value: np.intp = np.intp(int(rng.choice(allowed)) + self.start)
        return value

    def contains(self, x: Any) -> bool:
        """Whether `x` is an int, or a NumPy integer without axes, in range. Bools and floats are not."""
        if isinstance(x, (np.integer, np.ndarray)):
            if x.dtype.kind not in "iu" or x.shape:
                return False
        elif not isinstance(x, int) or isinstance(x, bool):
            return False
        return self.start <= int(x) < self._stop

    def sample_batch(self, n: int, mask: Any = None) -> NDArray[np.int64]:
        """Draw `n` elements at once as an int64 array (see `Space.sample_batch`).

        Args:
            n: Number of elements.
            mask: Shape `(self.n,)` for all elements, or `(n, self.n)`.

        Raises:
            TypeError: `n` is not an int.
            ValueError: `n` is negative, or a mask has another shape or allows nothing.
        """
        n = as_count("n", n)
        if mask is None:
            return draw_integers(np.array(self.start), np.array(self._stop - 1), n, self.stream)
        flags = np.asarray(mask) == 1
        if flags.shape not in ((self.n,), (n, self.n)):
            raise ValueError(f"mask.shape must be {(self.n,)} or {(n, self.n)}, got {flags.shape}")
        flags = flags.reshape(-1, 1, self.n)
        require_choice(flags)
        return draw_allowed(np.array(self.n), flags, n, self.stream) + self.start

    def contains_batch(self, x: Any) -> NDArray[np.bool_]:
        """Return which elements of an array (or list) of shape `(n,)` are in range; dtypes but integers are not."""
        batch = as_batch(x)
        if batch.ndim > 1 or batch.dtype.kind not in "iu":
            return np.zeros(len(batch), np.bool_)
        return rows_within(batch, np.array(self.start), np.array(self._stop - 1))

    def to_jsonable(self) -> dict[str, Any]:
        """Describe the space in plain data."""
        return {"type": "Discrete", "n": self.n, "start": self.start}

    @classmethod
    def from_jsonable(cls, data: dict[str, Any]) -> Discrete:
        """Rebuild the space that `to_jsonable` described; `start` is optional."""
        return cls(data["n"], start=data.get("start", 0))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Discrete) and (self.n, self.start) == (other.n, other.start)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Discrete({self.n}, start={self.start})" if self.start else f"Discrete({self.n})"
