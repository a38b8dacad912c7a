"""Trackers that come with the library."""

from __future__ import annotations

import csv
import json
import logging
from collections import deque
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

from sekai._types import InfoDict
from sekai.stats.tracker import EpisodeBatch, EpisodeStats

FIELDS = [field.name for field in fields(EpisodeStats)]


class _EpisodeTracker:
    """A tracker that looks at whole episodes only."""

    def on_reset(self, env_id: str | None, seed: int | None) -> None:
        """Do nothing."""

    def on_step(self, reward: float, terminated: bool, truncated: bool, info: InfoDict) -> None:
        """Do nothing."""


class InMemoryTracker(_EpisodeTracker):
    """Keeps the last episodes.

    Args:
        max_episodes: How many; None: all.

    Raises:
        ValueError: `max_episodes` is negative.

    Attributes:
        max_episodes: As given.
    """

    def __init__(self, max_episodes: int | None = 100) -> None:
        self.max_episodes = max_episodes
        self._episodes: deque[EpisodeStats] = deque(maxlen=max_episodes)
        self._batches: deque[EpisodeBatch] = deque()  # came after those above
        self._waiting = 0  # episodes in them

    @property
    def episodes(self) -> deque[EpisodeStats]:
        """The last episodes, oldest first."""
        while self._batches:
            self._episodes.extend(self._batches.popleft())
        self._waiting = 0
        return self._episodes

    def on_episode_end(self, stats: EpisodeStats) -> None:
        """Keep the episode."""
        self.episodes.append(stats)

    def on_episodes_end(self, episodes: EpisodeBatch) -> None:
        """Keep the episodes, as the arrays that they are until they are looked at."""
        self._batches.append(episodes)
        self._waiting += len(episodes)
        while self.max_episodes is not None and self._waiting - len(self._batches[0]) >= max(self.max_episodes, 1):
            self._waiting -= len(self._batches.popleft())

    def summary(self) -> dict[str, Any]:
        """Return number, mean, least and largest return, and mean length of the episodes kept; empty without any."""
        returns = [stats.episode_return for stats in self.episodes]
        if not returns:
            return {}
        return {
            "num_episodes": len(returns),
            "mean_return": self.mean_return(),
            "min_return": min(returns),
            "max_return": max(returns),
            "mean_length": self.mean_length(),
        }

    def mean_return(self) -> float:
        """Return the mean return of the episodes kept; 0 without any."""
        return _mean([stats.episode_return for stats in self.episodes])

    def mean_length(self) -> float:
        """Return the mean length of the episodes kept; 0 without any."""
        return _mean([stats.episode_length for stats in self.episodes])


class LoggingTracker(_EpisodeTracker):
    """Logs each episode: a record `episode_end` of level INFO, with the numbers as its attributes.

    Args:
        logger: By default `logging.getLogger("sekai.stats")`.

    Attributes:
        logger: As given, or the default one.
    """

    def __init__(self, logger: logging.Logger | None = None) -> None:
        self.logger = logging.getLogger("sekai.stats") if logger is None else logger

    def on_episode_end(self, stats: EpisodeStats) -> None:
        """Log the episode."""
        names = ("episode_return", "episode_length", "elapsed_time", "terminated", "truncated")
        self.logger.info("episode_end", extra={name: getattr(stats, name) for name in names})

    def summary(self) -> dict[str, Any]:
        """Return an empty dict."""
        return {}


class FileTracker(_EpisodeTracker):
    """Writes a line per episode to a file, with the fields of `EpisodeStats`.

    The file is opened for each write, so that copies of an environment, in other processes too, may add to it.

    Args:
        path: The file, which is started anew. CSV if it ends in `.csv`, with `extra` as JSON; else lines of JSON.

    Attributes:
        path: As given.
        num_episodes: How many lines this object has written.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.num_episodes = 0
        with self.path.open("w", newline="") as file:
            if self._is_csv:
                csv.writer(file).writerow(FIELDS)

    @property
    def _is_csv(self) -> bool:
        return self.path.suffix.lower() == ".csv"

    def on_episode_end(self, stats: EpisodeStats) -> None:
        """Write the episode."""
        self.on_episodes_end([stats])

    def on_episodes_end(self, episodes: Iterable[EpisodeStats]) -> None:
        """Write the episodes."""
        rows = [[getattr(stats, name) for name in FIELDS] for stats in episodes]
        with self.path.open("a", newline="") as file:
            if self._is_csv:
                csv.writer(file).writerows([*row, _to_json(extra)] for *row, extra in rows)
            else:
                file.writelines(_to_json(dict(zip(FIELDS, row, strict=True))) + "\n" for row in rows)
        self.num_episodes += len(rows)

    def summary(self) -> dict[str, Any]:
        """Return how many episodes were written."""
        return {"num_episodes": self.num_episodes}


def _mean(numbers: list[float]) -> float:
    return sum(numbers) / len(numbers) if numbers else 0.0


def _to_json(value: Any) -> str:
    return json.dumps(value, default=str)
