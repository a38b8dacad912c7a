"""Statistics of episodes, and the trackers that they are reported to."""

from sekai.stats.collectors import FileTracker, InMemoryTracker, LoggingTracker
from sekai.stats.tracker import EpisodeBatch, EpisodeStats, StatsTracker

__all__ = ["EpisodeBatch", "EpisodeStats", "FileTracker", "InMemoryTracker", "LoggingTracker", "StatsTracker"]
