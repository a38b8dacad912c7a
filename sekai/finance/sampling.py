"""Where in a history episodes start.

A history of T rows has `n_starts = T - window + 1` windows of as many rows as an episode takes. The first decision is
made `lookback` rows after the start of the window.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from sekai.finance.arguments import Floats, count, numbers
from sekai.finance.data import row_of
from sekai.utils.integers import as_int

if TYPE_CHECKING:
    from typing_extensions import Self


class EpisodeSampler(ABC):
    """Chooses where episodes start. Subclass it for a rule of your own."""

    @abstractmethod
    def sample(self, rng: Generator, n_starts: int, episode_length: int) -> int:
        """Return the start of the next episode.

        Args:
            rng: The environment's generator; draw from no other.
            n_starts: How many starts there are.
            episode_length: Steps of an episode.

        Returns:
            An int in [0, n_starts).
        """

    def reset(self) -> None:  # noqa: B027 -- most samplers remember nothing
        """Forget earlier episodes."""

    def spawn(self) -> EpisodeSampler:
        """Return the sampler of one lane of a batch: this one, if lanes may share it."""
        return self


class RandomStart(EpisodeSampler):
    """Every start is equally likely."""

    def sample(self, rng: Generator, n_starts: int, episode_length: int) -> int:
        """Return the start of the next episode; draws one integer."""
        return int(rng.integers(0, n_starts))

    def __repr__(self) -> str:
        return "RandomStart()"


class FixedStart(EpisodeSampler):
    """Every episode starts at the same place.

    Args:
        start: At least 0.

    Raises:
        TypeError: `start` is not an integer.
        ValueError: It is negative.
    """

    def __init__(self, start: int) -> None:
        self.start = count("start", start)

    def sample(self, rng: Generator, n_starts: int, episode_length: int) -> int:
        """Return the start.

        Raises:
            ValueError: There is no such start.
        """
        return _existing(self.start, n_starts)

    def __repr__(self) -> str:
        return f"FixedStart({self.start})"


class SequentialStart(EpisodeSampler):
    """Episodes follow one another through the history, again and again.

    Args:
        start: Of the first episode of each pass.
        stride: Rows from one start to the next; None for the length of an episode.

    Raises:
        TypeError: An argument is not an integer.
        ValueError: `start` is negative or `stride` less than 1.

    Attributes:
        next: Start of the next episode.
        epoch: How many passes are complete.
    """

    def __init__(self, start: int = 0, stride: int | None = None) -> None:
        self.start = count("start", start)
        self.stride = None if stride is None else count("stride", stride, 1)
        self.next, self.epoch = self.start, 0

    def sample(self, rng: Generator, n_starts: int, episode_length: int) -> int:
        """Return the start of the next episode.

        Raises:
            ValueError: There is no such start as the first.
        """
        first = _existing(self.start, n_starts)
        found = self.next if self.next < n_starts else first
        self.next = found + (self.stride or episode_length)
        if self.next >= n_starts:
            self.next = first
            self.epoch += 1
        return found

    def reset(self) -> None:
        """Begin with the first episode again."""
        self.next, self.epoch = self.start, 0

    def spawn(self) -> Self:
        """Return a fresh copy: each lane goes its own way."""
        fresh = copy(self)
        fresh.reset()
        return fresh

    def __repr__(self) -> str:
        return f"SequentialStart(start={self.start}, stride={self.stride})"


def as_sampler(sampler: Any) -> EpisodeSampler:
    """Return a sampler as it is, and make one of "random", "sequential" or an integer.

    Raises:
        ValueError: It is nothing of the kind, or the integer is negative.
    """
    if isinstance(sampler, EpisodeSampler):
        return sampler
    if isinstance(sampler, str) and sampler in ("random", "sequential"):
        return RandomStart() if sampler == "random" else SequentialStart()
    try:
        start = as_int("sampler", sampler)
    except TypeError:
        raise ValueError(
            f'sampler must be "random", "sequential", an int or an EpisodeSampler, got {sampler!r}'
        ) from None
    return FixedStart(start)


def first_start(lookback: int, warmup: int) -> int:
    """Return the first start whose decisions all lie after the warm-up."""
    return max(0, warmup - lookback)


def sample_start(
    sampler: EpisodeSampler, rng: Generator, *, n_starts: int, episode_length: int, lookback: int, warmup: int = 0
) -> int:
    """Return the start of the next episode, in [0, n_starts).

    Args:
        sampler: Chooses among the starts whose decisions lie after the warm-up.
        rng: What it draws from.
        n_starts: How many starts there are, those within the warm-up included.
        episode_length: Steps of an episode.
        lookback: Rows before the first decision.
        warmup: Rows at the beginning of the history in which nothing is decided.

    Raises:
        ValueError: No start is left, or the sampler's choice is none of them.
    """
    first = first_start(lookback, warmup)
    if first >= n_starts:
        raise ValueError(
            f"a warm-up of {warmup} rows leaves no episode of the {n_starts} that the history has room for"
        )
    return first + _existing(sampler.sample(rng, n_starts - first, episode_length), n_starts - first)


def resolve_start(option: Any, *, timestamps: NDArray[Any], lookback: int, n_starts: int, warmup: int = 0) -> int:
    """Return the start of the episode whose first decision is made at a point in time.

    Args:
        option: The point in time, as for `MarketData.index_of`.
        timestamps: Of the history.
        lookback: Rows before the first decision.
        n_starts: How many starts there are.
        warmup: Rows at the beginning of the history in which nothing is decided.

    Raises:
        TypeError: `option` is no point in time.
        ValueError: No episode can begin there.
    """
    decision = row_of(timestamps, option)
    earliest, latest = max(lookback, warmup), lookback + n_starts - 1
    if earliest > latest:
        raise ValueError(f"no episode can start: the first decision would be row {earliest}, the last one {latest}")
    if not earliest <= decision <= latest:
        raise ValueError(f"start must be from row {earliest} to row {latest}, got {option!r}, which is row {decision}")
    return decision - lookback


def sample_window(rng: Generator, prices: Any, length: int) -> Floats:
    """Return `length` successive rows of prices, each such window with the same probability; draws one integer.

    Args:
        rng: What to draw from.
        prices: Real numbers, `(T,)` or `(T, n)`.
        length: Rows, from 1 to T.

    Returns:
        A float64 copy, `(length,)` or `(length, n)`.

    Raises:
        TypeError: An argument is of the wrong type.
        ValueError: There are fewer rows, or text instead of numbers.
    """
    length, array = count("length", length, 1), numbers("prices", prices)
    if array.ndim == 0 or len(array) < length:
        raise ValueError(f"prices must have at least {length} rows, got shape {array.shape}")
    start = int(rng.integers(0, len(array) - length + 1))
    return np.array(array[start : start + length])


def _existing(start: int, n_starts: int) -> int:
    """Return a start if it exists.

    Raises:
        TypeError: It is not an integer.
        ValueError: It does not exist.
    """
    start = as_int("start", start)
    if not 0 <= start < n_starts:
        raise ValueError(f"start must be one of the {n_starts} there are, 0 … {n_starts - 1}, got {start}")
    return start
