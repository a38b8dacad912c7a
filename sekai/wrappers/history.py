"""The last values of an episode, for wrappers that remember."""

from __future__ import annotations

from collections import deque
from typing import Any, Generic, TypeVar

from sekai.spaces import Space, zero_sample
from sekai.utils.leaves import copied

T = TypeVar("T")

PADDINGS = ("reset", "zeros")


class History(Generic[T]):
    """The last observations of an episode; at its start, padding stands in for earlier ones.

    It keeps copies and hands out copies, since an environment may use one array for all its observations.

    Args:
        space: Space of the observations.
        length: How many of them.
        padding: `"reset"`: the first observation. `"zeros"`: the space's zero sample.
    """

    def __init__(self, space: Space[T], length: int, padding: str) -> None:
        self._values: deque[Any] = deque(maxlen=length)
        self._pad = zero_sample(space) if padding == "zeros" else None

    def restart(self, first: T) -> None:
        """Start an episode with its first observation."""
        pad = copied(first if self._pad is None else self._pad)
        self._values.extend([pad] * (self._values.maxlen or 0))
        self.push(first)

    def push(self, value: T) -> None:
        """Add the latest observation, and drop the oldest."""
        self._values.append(copied(value))

    def oldest(self) -> Any:
        """Return the oldest observation."""
        return copied(self._values[0])

    def values(self) -> list[Any]:
        """Return all observations, the oldest first."""
        return [copied(value) for value in self._values]


def require_padding(padding: str) -> str:
    """Return `padding` if it is one of the two kinds, or raise a ValueError."""
    if padding not in PADDINGS:
        raise ValueError(f"padding must be one of {PADDINGS}, got {padding!r}")
    return padding
