"""VecTimeLimit."""

import numpy as np
import pytest

import sekai


@pytest.mark.parametrize("mode", ["same_step", "next_step", "disabled"])
def test_it_does_what_a_limit_inside_the_batch_does(same, mode):
    inside = sekai.make_vec("CartPole-v1", 5, max_episode_steps=12, vector_kwargs={"autoreset": mode})
    outside = sekai.make_vec("CartPole-v1", 5, max_episode_steps=-1, vector_kwargs={"autoreset": mode})
    outside = sekai.VecTimeLimit(outside, 12)
    rng = np.random.default_rng(0)
    assert same(inside.reset(seed=0), outside.reset(seed=0))
    for t in range(60):
        actions, mask = rng.integers(2, size=5), rng.random(5) < 0.8
        assert same(inside.step(actions, mask), outside.step(actions, mask)), t
        if t % 20 == 19:
            assert same(inside.reset(mask=mask), outside.reset(mask=mask))
    assert outside.elapsed_steps.max() <= 12


def test_arrays_of_infos():
    vec = sekai.VecTimeLimit(sekai.make_vec("CartPole-v1", 2, max_episode_steps=-1), 3)
    vec.reset(seed=0)
    infos = [vec.step([0, 1]).infos for _ in range(4)]
    assert [each.arrays["elapsed_steps"].tolist() for each in infos] == [[1, 1], [2, 2], [3, 3], [1, 1]]
    assert infos[2].final_lanes.tolist() == [0, 1]


def test_the_limit_can_be_changed_and_is_a_count(meander):
    vec = sekai.VecTimeLimit(sekai.SyncVecEnv([meander]), 50)
    vec.reset(seed=0)
    vec.max_episode_steps = 1
    assert vec.step(np.zeros((1, 2), np.float32)).truncated.tolist() == [True]
    for limit, error in ((0, ValueError), (2.5, TypeError)):
        with pytest.raises(error, match="max_episode_steps"):
            sekai.VecTimeLimit(vec, limit)
