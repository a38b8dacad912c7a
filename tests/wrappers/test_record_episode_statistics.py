"""RecordEpisodeStatistics."""

import asyncio
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekai import AutoReset, InMemoryTracker, RecordEpisodeStatistics, TimeLimit


class Listener:
    """Notes all calls; empty, and so false, to begin with."""

    def __init__(self):
        self.calls = []

    def __len__(self):
        return len(self.calls)

    def on_reset(self, env_id, seed):
        self.calls.append(("reset", env_id, seed))

    def on_step(self, reward, terminated, truncated, info):
        self.calls.append(("step", reward, terminated, truncated, dict(info)))

    def on_episode_end(self, stats):
        self.calls.append(("end", stats))


def test_an_episode_is_recorded_when_it_ends(reel):
    env = RecordEpisodeStatistics(reel(length=3, reward=np.float32(0.1)))
    assert env.episode_stats is None
    env.reset(seed=0)
    results = [env.step(0) for _ in range(3)]
    assert [list(result.info) for result in results] == [["k"], ["k"], ["k", "episode"]]
    stats = results[-1].info["episode"]
    assert env.episode_stats is stats
    assert stats is env.tracker.episodes[-1]
    assert (stats.episode_length, stats.terminated, stats.truncated, stats.extra) == (3, True, False, {})
    assert type(stats.episode_return) is float
    assert stats.episode_return == 3 * float(np.float32(0.1))  # summed as Python floats
    assert stats.elapsed_time == stats.end_time - stats.start_time >= 0.0


@given(rewards=st.lists(st.floats(-10, 10), min_size=1, max_size=20), length=st.integers(1, 5))
def test_returns_are_sums(reel, rewards, length):
    env = RecordEpisodeStatistics(AutoReset(reel(length=length)))
    env.reset()
    total = 0.0
    for k, reward in enumerate(rewards, 1):
        env.unwrapped.reward = reward
        total += reward
        info = env.step(0).info
        assert ("episode" in info) == (k % length == 0)
        if "episode" in info:
            assert info["episode"].episode_return == total
            assert list(info)[-1] == "episode"
            assert "episode" not in info["final_info"]
            total = 0.0


def test_a_tracker_is_told_everything(reel):
    tracker = Listener()
    env = RecordEpisodeStatistics(reel(length=2), tracker)
    assert env.tracker is tracker
    env.reset(seed=5)
    env.step(0)
    env.step(0)
    env.reset()
    env.reset(seed=np.random.default_rng(0))
    (end,) = [call for call in tracker.calls if call[0] == "end"]
    assert end[1] is env.episode_stats
    assert [call for call in tracker.calls if call is not end] == [
        ("reset", None, 5),
        ("step", 1.0, False, False, {"k": 1}),
        ("step", 1.0, True, False, {"k": 2}),
        ("reset", None, 5),
        ("reset", None, -1),
    ]


def test_async_records_alike(reel):
    async def run(env):
        await env.async_reset(seed=0)
        return [await env.async_step(0) for _ in range(2)]

    base = reel(length=2, reward=1.5)
    results = asyncio.run(run(RecordEpisodeStatistics(base)))
    assert results[-1].info["episode"].episode_return == 3.0
    assert base.awaited == 3


def test_the_default_tracker_keeps_a_hundred_episodes(reel):
    assert RecordEpisodeStatistics(reel()).tracker.max_episodes == 100
    assert RecordEpisodeStatistics(reel(), deque_size=2).tracker.max_episodes == 2
    shared = InMemoryTracker(1)
    assert RecordEpisodeStatistics(reel(), shared, deque_size=7).tracker is shared


def test_a_failed_reset_keeps_the_count(reel):
    env = RecordEpisodeStatistics(reel(length=2))
    env.reset()
    env.step(0)
    with pytest.raises(ValueError, match="bad options"):
        env.reset(options={"bad": 1})
    assert env.step(0).info["episode"].episode_length == 2


def test_a_limit_outside_warns_that_it_hides_ends(reel):
    with pytest.warns(UserWarning, match="miss the episodes") as caught:
        TimeLimit(RecordEpisodeStatistics(reel()), 3)
    assert [warning.filename for warning in caught] == [__file__]
    env = RecordEpisodeStatistics(TimeLimit(reel(), 3))
    env.reset()
    assert [("episode" in env.step(0).info) for _ in range(3)] == [False, False, True]
    assert math.isfinite(env.episode_stats.episode_return)
    assert env.episode_stats.truncated is True
