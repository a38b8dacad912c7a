"""EpisodeStats, batches of them, and the protocol of trackers."""

import dataclasses

import numpy as np
import pytest

from sekai.stats.collectors import InMemoryTracker, LoggingTracker
from sekai.stats.tracker import EpisodeBatch, EpisodeStats, StatsTracker, report


def batch(lanes=(1, 4)):
    n = len(lanes)
    return EpisodeBatch(
        np.array(lanes, np.int64), np.arange(n) + 0.5, np.arange(n) + 3, np.full(n, 1.0), 3.5,
        np.arange(n) == 0, np.arange(n) == 1,
    )  # fmt: skip


def test_fields():
    stats = EpisodeStats(1.0, 2, 0.5, 10.0, 10.5, False, True)
    assert [field.name for field in dataclasses.fields(stats)] == [
        "episode_return", "episode_length", "elapsed_time", "start_time", "end_time", "terminated", "truncated",
        "extra",
    ]  # fmt: skip
    assert (stats.done, stats.extra, hasattr(stats, "__dict__")) == (True, {}, False)
    assert not EpisodeStats(1.0, 2, 0.5, 10.0, 10.5, False, False).done
    stats.episode_return = 4.0
    assert stats.episode_return == 4.0
    with pytest.raises(AttributeError):
        stats.other = 1


def test_a_batch_makes_its_episodes_of_python_numbers():
    first, second = batch()
    assert first == EpisodeStats(0.5, 3, 2.5, 1.0, 3.5, True, False, {"env_index": 1})
    assert second == EpisodeStats(1.5, 4, 2.5, 1.0, 3.5, False, True, {"env_index": 4})
    types = [type(getattr(first, field.name)) for field in dataclasses.fields(first)]
    assert types == [float, int, float, float, float, bool, bool, dict]
    assert type(first.extra["env_index"]) is int


def test_a_batch_is_a_sequence():
    episodes = batch()
    assert len(episodes) == 2
    assert episodes[-1] == episodes[1]
    assert episodes[:1] == [episodes[0]]
    with pytest.raises(IndexError):
        episodes[2]


def test_trackers_are_recognised():
    assert isinstance(InMemoryTracker(), StatsTracker)
    assert isinstance(LoggingTracker(), StatsTracker)
    assert not isinstance(object(), StatsTracker)


def test_trackers_get_whole_batches_if_they_can():
    class One:
        def __init__(self):
            self.got = []

        def on_episode_end(self, stats):
            self.got.append(stats)

    class All(One):
        def on_episodes_end(self, episodes):
            self.got.append(episodes)

    one, whole, episodes = One(), All(), batch()
    report(one, episodes)
    report(whole, episodes)
    assert one.got == list(episodes)
    assert whole.got == [episodes]
