"""Trackers that collect episodes."""

import copy
import csv
import json
import logging

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekai.stats.collectors import FileTracker, InMemoryTracker, LoggingTracker
from sekai.stats.tracker import EpisodeBatch, EpisodeStats


def episode(episode_return, length=1):
    return EpisodeStats(float(episode_return), length, 0.25, 1.0, 1.25, True, False)


def batch(returns):
    n = len(returns)
    flags = np.zeros(n, np.bool_)
    return EpisodeBatch(np.arange(n), np.array(returns, float), np.ones(n, np.int64), np.ones(n), 2.0, flags, flags)


def test_memory_keeps_the_last_episodes():
    tracker = InMemoryTracker(max_episodes=2)
    assert (tracker.summary(), tracker.mean_return(), tracker.mean_length()) == ({}, 0.0, 0.0)
    for k in (1, 2, 3):
        tracker.on_reset(env_id=None, seed=0)
        tracker.on_step(1.0, False, False, {})
        tracker.on_episode_end(episode(k, length=k))
    assert [stats.episode_return for stats in tracker.episodes] == [2.0, 3.0]
    assert list(tracker.summary().items()) == [
        ("num_episodes", 2), ("mean_return", 2.5), ("min_return", 2.0), ("max_return", 3.0), ("mean_length", 2.5),
    ]  # fmt: skip
    assert tracker.episodes.maxlen == tracker.max_episodes == 2


def test_memory_may_be_unlimited_but_not_negative():
    tracker = InMemoryTracker(None)
    tracker.on_episodes_end(batch(range(1000)))
    assert len(tracker.episodes) == 1000
    with pytest.raises(ValueError, match="maxlen"):
        InMemoryTracker(-1)
    tracker = InMemoryTracker(0)
    tracker.on_episodes_end(batch([1.0]))
    assert tracker.summary() == {}


@given(st.integers(0, 5), st.lists(st.one_of(st.integers(0, 9), st.lists(st.integers(0, 9), max_size=4))))
def test_batches_count_as_their_episodes_do(size, reports):
    tracker, kept = InMemoryTracker(size), []
    for each in reports:
        if isinstance(each, int):
            tracker.on_episode_end(episode(each))
            kept.append(each)
        else:
            tracker.on_episodes_end(batch(each))
            kept += each
    assert sum(map(len, tracker._batches)) <= max(size, 1) + 3  # no arrays are kept that nobody will look at
    assert [stats.episode_return for stats in tracker.episodes] == (kept[-size:] if size else [])


def test_logging(caplog):
    with caplog.at_level(logging.INFO, "sekai.stats"):
        tracker = LoggingTracker()
        tracker.on_reset(env_id=None, seed=0)
        tracker.on_step(1.0, False, False, {})
        tracker.on_episode_end(episode(2.5, length=3))
    (record,) = caplog.records
    assert (record.name, record.levelname, record.message) == ("sekai.stats", "INFO", "episode_end")
    values = record.episode_return, record.episode_length, record.elapsed_time, record.terminated, record.truncated
    assert values == (2.5, 3, 0.25, True, False)
    assert tracker.summary() == {}
    assert LoggingTracker(logging.getLogger("mine")).logger.name == "mine"


def test_lines_of_json(tmp_path):
    tracker = FileTracker(tmp_path / "episodes.jsonl")
    tracker.on_episode_end(episode(2.5))
    copy.deepcopy(tracker).on_episodes_end(batch([1.0, 2.0]))
    lines = [json.loads(line) for line in (tmp_path / "episodes.jsonl").read_text().splitlines()]
    assert lines[0] == {
        "episode_return": 2.5, "episode_length": 1, "elapsed_time": 0.25, "start_time": 1.0, "end_time": 1.25,
        "terminated": True, "truncated": False, "extra": {},
    }  # fmt: skip
    assert [(line["episode_return"], line["extra"]) for line in lines[1:]] == [
        (1.0, {"env_index": 0}), (2.0, {"env_index": 1}),
    ]  # fmt: skip
    assert tracker.summary() == {"num_episodes": 1}


def test_csv(tmp_path):
    path = tmp_path / "episodes.CSV"
    path.write_text("something old")
    tracker = FileTracker(str(path))
    tracker.on_episodes_end(batch([1.0]))
    (row,) = csv.DictReader(path.read_text().splitlines())
    assert (row["episode_return"], row["terminated"], row["extra"]) == ("1.0", "False", '{"env_index": 0}')
    assert tracker.summary() == {"num_episodes": 1}
