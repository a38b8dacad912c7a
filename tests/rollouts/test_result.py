"""What a rollout returns: episodes, statistics, successors, and episodes played again."""

import pickle

import numpy as np
import pytest

import sekai
from sekai.rollouts.result import Statistics


def naive_episodes(found):
    """Episodes of a rollout that began with fresh episodes, from its arrays, lane by lane."""
    rows = []
    for lane in range(found.num_envs):
        total, length = 0.0, 0
        for t in range(found.num_steps):
            if not found.valid[t, lane]:
                continue
            total, length = total + found.rewards[t, lane], length + 1
            flags = found.terminated[t, lane], found.truncated[t, lane]
            if any(flags):
                rows.append((t, lane, total, length, *flags))
                total, length = 0.0, 0
    return sorted(rows)


def test_episodes_against_a_loop(lib, env_id, mode):
    found = sekai.rollout(lib.make(env_id, 13, mode, limit=6), "random", 30)
    ends = found.episodes
    columns = ends.end_steps, ends.lanes, ends.returns, ends.lengths, ends.terminated, ends.truncated
    assert [*zip(*(column.tolist() for column in columns), strict=True)] == naive_episodes(found)
    assert ends.lengths.size >= 13


def test_episodes_that_end_both_ways_at_once(lib, mode):
    """A CartPole that is pushed to the right falls with its 9th or 10th step."""
    found = sekai.rollout(lib.make(n=200, mode=mode, limit=9), np.ones((20, 200), int), 20)
    both = found.episodes.terminated & found.episodes.truncated
    assert 0 < both.sum() < both.size
    assert (found.episodes.lengths[found.episodes.truncated] == 9).all()


def test_statistics_are_the_moments_of_the_episodes(lib):
    found = sekai.rollout(lib.make("Tank-v0", 3000), "random", 40)
    ends, got = found.episodes, found.statistics
    want = ends.returns.size, ends.returns.mean(), ends.returns.std(), ends.lengths.mean(), ends.lengths.std()
    assert want[0] > 3000
    np.testing.assert_allclose(got, want, rtol=1e-12)  # sums in another order, of some thousand numbers


def test_statistics_without_episodes(lib):
    found = sekai.rollout(lib.make(n=3, limit=None), np.zeros((1, 3), int), 1)
    assert repr(found.statistics) == repr(Statistics(0, np.nan, np.nan, np.nan, np.nan))
    assert [len(column) for column in found.episodes] == [0] * 7
    assert found.episodes.final_observations.shape == (0, 4)


def test_next_observations_are_the_true_successors(lib, env_id, mode):
    found = sekai.rollout(lib.make(env_id, 5, mode, limit=6), "random", 20)
    successors = found.next_observations
    for lane in range(5):
        seed = sekai.lane_seeds(3, 5)[lane]
        env = lib.TankEnv() if env_id == "Tank-v0" else sekai.make(env_id, max_episode_steps=6).unwrapped
        env.reset(seed=seed)
        for t in range(20):
            if not found.valid[t, lane]:
                if mode == "next_step":
                    assert lib.bits(lib.entry(successors, t, lane)) == lib.bits(env.reset().observation)
                continue
            assert lib.bits(lib.entry(successors, t, lane)) == lib.bits(env.step(found.actions[t, lane]).observation)
            if mode == "same_step" and (found.terminated | found.truncated)[t, lane]:
                env.reset()


def test_next_observations_need_observations(lib):
    with pytest.raises(ValueError, match='"observations" in record'):
        _ = sekai.rollout(lib.make(), "random", 3, record=("rewards",)).next_observations


# ---- replay --------------------------------------------------------------------------------------


def episode_rows(found, lane, episode):
    """Steps of an episode, by the ends of the lane's."""
    ends = found.episodes.end_steps[found.episodes.lanes == lane]
    steps = np.flatnonzero(found.valid[:, lane])
    first, last = ([-1, *ends, found.num_steps][episode + k] for k in (0, 1))
    return steps[(steps > first) & (steps <= last)]


def assert_replays(lib, found, lane, episode):
    rows = episode_rows(found, lane, episode)
    start, *steps = found.replay(lane, episode)
    assert lib.bits(start.observation) == lib.bits(lib.entry(found.observations, rows[0], lane))
    assert len(steps) == rows.size
    for t, step in zip(rows, steps, strict=True):
        assert lib.bits(step.observation) == lib.bits(lib.entry(found.next_observations, t, lane))
        assert (step.reward, step.terminated, step.truncated) == (
            found.rewards[t, lane], found.terminated[t, lane], found.truncated[t, lane],
        )  # fmt: skip
    assert steps[-1].info["elapsed_steps"] >= len(steps)


def test_every_episode_of_a_rollout_replays(lib, env_id, mode):
    """From the middle of episodes, and (in other modes than same-step) with lanes that wait."""
    vec = lib.make(env_id, 4, mode, limit=6)
    sekai.rollout(vec, "random", 6)
    found = sekai.rollout(vec, "random", 17)
    vec.reset(seed=1)  # what the batch does later plays no part
    for lane in range(4):
        for episode in range(np.count_nonzero(found.episodes.lanes == lane) + 1):
            if episode_rows(found, lane, episode).size:
                assert_replays(lib, found, lane, episode)
            else:
                with pytest.raises(IndexError, match=f"lane {lane} has {episode} episodes here, got episode {episode}"):
                    found.replay(lane, episode)


def test_a_rollout_of_a_function_replays(lib):
    found = sekai.rollout(lib.make(n=3), lambda observations: (observations[:, 2] > 0).astype(int), 60)
    assert_replays(lib, found, 1, 1)


def test_replay_has_the_parameters_of_then(lib):
    gravity = np.array([5.0, 9.8, 20.0])
    vec = lib.make(n=3, gravity=sekai.PerLane(gravity))
    found = sekai.rollout(vec, "random", 30)
    vec.gravity = 1.0
    for lane in range(3):
        assert_replays(lib, found, lane, 0)


def test_a_rollout_can_be_pickled_and_replayed(lib):
    found = sekai.rollout(lib.make(n=3), "random", 30)
    copy = pickle.loads(pickle.dumps(found))
    lib.assert_same(copy, found)
    assert_replays(lib, copy, 2, 0)


def test_replay_needs_actions_and_a_kernel_env(lib):
    walk = sekai.SyncVecEnv([lambda: sekai.make("CartPole-v1")])
    for found in (
        sekai.rollout(lib.make(), "random", 3, record=("observations",)),
        sekai.rollout(lib.make(), np.zeros((3, 7), int), 3, record=("rewards",)),
        sekai.rollout(walk, "random", 3),
    ):
        with pytest.raises(ValueError, match='replay needs "actions" in record, and a kernel env that calls no Python'):
            found.replay(0, 0)


def test_replay_of_what_is_not_there(lib):
    found = sekai.rollout(lib.make(n=3), "random", 30)
    for lane in (-1, 3):
        with pytest.raises(IndexError, match=rf"lane must lie in 0 … 2, got {lane}"):
            found.replay(lane, 0)
    for episode in (-1, 30):
        with pytest.raises(IndexError, match=f"episodes here, got episode {episode}"):
            found.replay(0, episode)


def test_steps_per_second(lib):
    found = sekai.rollout(lib.make(n=3), "random", 30, record=None)
    assert found.steps_per_second == 90 / found.seconds


def test_a_printed_rollout_hides_its_insides(lib):
    assert "_arrays" not in repr(sekai.rollout(lib.make(n=1), "random", 1, record=()))


@pytest.mark.parametrize(("lane", "episode", "name"), [(1.0, 0, "lane"), (True, 0, "lane"), (0, "0", "episode")])
def test_lanes_and_episodes_to_replay_are_ints(lib, lane, episode, name):
    found = sekai.rollout(lib.make(n=3), "random", 30)
    with pytest.raises(TypeError, match=f"{name} must be an int, got {(lane, episode)[name == 'episode']!r}"):
        found.replay(lane, episode)
    first = next(iter(found.replay(np.int64(1), np.uint8(0))))
    assert np.array_equal(first.observation, found.observations[0, 1])
