"""VecRecordEpisodeStatistics."""

import numpy as np
import pytest

import sekai


class Listener:
    def __init__(self):
        self.ended = []

    def on_episode_end(self, stats):
        self.ended.append(stats)


def test_episodes_go_to_infos_and_tracker(meander):
    tracker = Listener()
    vec = sekai.VecRecordEpisodeStatistics(sekai.SyncVecEnv([meander] * 3), tracker)
    vec.reset(seed=0)
    vec.batch_action_space.seed(0)
    totals, lengths, told = np.zeros(3), np.zeros(3, int), []
    for _ in range(30):
        result = vec.step(vec.batch_action_space.sample())
        totals, lengths = totals + result.rewards, lengths + 1
        for i, info in enumerate(result.infos):
            assert ("episode" in info) == result.dones[i]
            if result.dones[i]:
                stats = info["episode"]
                assert (stats.episode_return, stats.episode_length) == (totals[i], lengths[i])
                assert (stats.terminated, stats.truncated) == (result.terminated[i], result.truncated[i])
                assert stats.extra == {"env_index": i}
                assert stats.elapsed_time == stats.end_time - stats.start_time >= 0
                told.append(stats)
        totals[result.dones] = lengths[result.dones] = 0
    assert tracker.ended == told
    assert len(told) > 10
    assert not hasattr(vec, "episode_stats")


def test_the_default_tracker_keeps_arrays_until_looked_at():
    vec = sekai.VecRecordEpisodeStatistics(sekai.make_vec("CartPole-v1", 64), deque_size=50)
    vec.reset(seed=0)
    ended = 0
    for _ in range(60):
        ended += vec.step(np.zeros(64, np.int64)).dones.sum()
    assert vec.tracker._episodes.maxlen == 50
    assert len(vec.tracker._episodes) == 0
    assert len(vec.tracker.episodes) == 50 < ended
    assert vec.tracker.summary()["num_episodes"] == 50


@pytest.mark.parametrize("mode", ["next_step", "disabled"])
def test_each_episode_is_recorded_once(meander, mode):
    tracker = Listener()
    vec = sekai.VecRecordEpisodeStatistics(sekai.SyncVecEnv([meander] * 3, autoreset=mode), tracker)
    vec.reset(seed=0)
    ends = 0
    for t in range(30):
        result = vec.step(np.zeros((3, 2), np.float32))
        ends += int((result.dones & result.valid).sum())
        if t % 8 == 7:
            vec.reset(mask=np.array([True, False, True]))
    assert len(tracker.ended) == ends > 3
    assert all(stats.episode_length <= 5 for stats in tracker.ended)


def test_environments_that_reset_themselves_are_recorded(meander):
    tracker = Listener()
    envs = [lambda: sekai.AutoReset(meander())] * 2
    vec = sekai.VecRecordEpisodeStatistics(sekai.SyncVecEnv(envs, autoreset=False), tracker)
    vec.reset(seed=0)
    ends = sum(int(vec.step(np.zeros((2, 2), np.float32)).dones.sum()) for _ in range(20))
    assert len(tracker.ended) == ends > 4


def test_a_limit_outside_warns(meander):
    base = sekai.SyncVecEnv([meander])
    with pytest.warns(UserWarning, match="miss the episodes") as caught:
        sekai.VecTimeLimit(sekai.VecClipReward(sekai.VecRecordEpisodeStatistics(base)), 3)
    assert [warning.filename for warning in caught] == [__file__]
