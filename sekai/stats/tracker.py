"""How an episode went, and who wants to know."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sekai._types import InfoDict


@dataclass(slots=True)
class EpisodeStats:
    """One episode that ended.

    Attributes:
        episode_return: Sum of the rewards.
        episode_length: Number of steps.
        elapsed_time: From its start to its end, in seconds.
        start_time: By `time.monotonic()`.
        end_time: By `time.monotonic()`.
        terminated: Whether a terminal state was reached.
        truncated: Whether it was cut short.
        extra: Whatever else there is to tell; `env_index`, the lane, if it was one of a batch.
    """

    episode_return: float
    episode_length: int
    elapsed_time: float
    start_time: float
    end_time: float
    terminated: bool
    truncated: bool
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def done(self) -> bool:
        """Whether the episode is over."""
        return self.terminated or self.truncated


@dataclass(eq=False)
class EpisodeBatch(Sequence[EpisodeStats]):
    """Episodes of a batch of environments that ended in one step: arrays, of which each is made when it is looked at.

    Attributes:
        lanes: int64 `(K,)`: the lanes whose episodes they were, ascending.
        returns: float64 `(K,)`.
        lengths: int64 `(K,)`.
        start_times: float64 `(K,)`, by `time.monotonic()`.
        end_time: By `time.monotonic()`.
        terminated: bool `(K,)`.
        truncated: bool `(K,)`.
    """

    lanes: NDArray[np.int64]
    returns: NDArray[np.float64]
    lengths: NDArray[np.int64]
    start_times: NDArray[np.float64]
    end_time: float
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]

    def __len__(self) -> int:
        return self.lanes.size

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        k = range(len(self))[index]
        start = float(self.start_times[k])
        return EpisodeStats(
            float(self.returns[k]),
            int(self.lengths[k]),
            self.end_time - start,
            start,
            self.end_time,
            bool(self.terminated[k]),
            bool(self.truncated[k]),
            {"env_index": int(self.lanes[k])},
        )

    def __iter__(self) -> Iterator[EpisodeStats]:
        return (self[k] for k in range(len(self)))


@runtime_checkable
class StatsTracker(Protocol):
    """Gets to know of what happens in an environment.

    A batch only reports ends of episodes, one by one; or, to a tracker that has a method `on_episodes_end(episodes)`,
    all those of a step at once, as an `EpisodeBatch`.
    """

    def on_reset(self, env_id: str | None, seed: int | None) -> None:
        """An episode starts; `seed` is the recorded one, -1 if it was a Generator."""

    def on_step(self, reward: float, terminated: bool, truncated: bool, info: InfoDict) -> None:
        """A step was made."""

    def on_episode_end(self, stats: EpisodeStats) -> None:
        """An episode ended."""

    def summary(self) -> dict[str, Any]:
        """Return what is to be told of the episodes so far."""


def report(tracker: Any, episodes: EpisodeBatch) -> None:
    """Tell a tracker of the episodes that ended in one step of a batch."""
    if hasattr(tracker, "on_episodes_end"):
        tracker.on_episodes_end(episodes)
    else:
        for stats in episodes:
            tracker.on_episode_end(stats)
