"""VecTimeAwareObservation."""

import numpy as np
import pytest

import sekai


def test_where_the_limit_comes_from(meander):
    vec = sekai.make_vec("CartPole-v1", 2)
    assert sekai.VecTimeAwareObservation(sekai.VecClipReward(vec)).max_episode_steps == 500
    assert sekai.VecTimeAwareObservation(sekai.VecTimeLimit(vec, 7)).max_episode_steps == 7
    assert sekai.VecTimeAwareObservation(vec, 9).max_episode_steps == 9
    nested = sekai.VecTimeAwareObservation(sekai.VecTimeAwareObservation(vec, 9), normalize_time=False)
    assert nested.max_episode_steps == 500
    base = sekai.SyncVecEnv([meander])
    base.spec = sekai.EnvSpec("Meander-v0", max_episode_steps=6)
    assert sekai.VecTimeAwareObservation(base).max_episode_steps == 6
    base.spec = None
    with pytest.raises(ValueError, match="max_episode_steps"):
        sekai.VecTimeAwareObservation(base)


def test_final_observations_have_the_time_of_the_end():
    vec = sekai.VecTimeAwareObservation(sekai.make_vec("CartPole-v1", 2, max_episode_steps=3))
    vec.reset(seed=0)
    results = [vec.step([0, 1]) for _ in range(4)]
    times = [result.observations[0, -1] for result in results]
    np.testing.assert_array_equal(times, np.float32([1 / 3, 2 / 3, 0, 1 / 3]))
    assert results[2].final_observations[:, -1].tolist() == [1, 1]
    assert results[2].infos[1]["final_observation"][-1] == 1
