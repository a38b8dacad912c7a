"""VecActionRepeat."""

import numpy as np
import pytest

import sekai


@pytest.mark.parametrize("mode", ["same_step", "next_step", "disabled"])
def test_lanes_of_a_kernel_env_repeat_as_single_environments_do(same, mode):
    def single():
        return sekai.ActionRepeat(sekai.make("CartPole-v1"), 4)

    inside = sekai.SyncVecEnv([single] * 6, autoreset=mode)
    outside = sekai.VecActionRepeat(sekai.make_vec("CartPole-v1", 6, vector_kwargs={"autoreset": mode}), 4)
    rng = np.random.default_rng(0)
    assert same(inside.reset(seed=0), outside.reset(seed=0))
    for t in range(30):
        actions, mask = rng.integers(2, size=6), rng.random(6) < 0.8
        assert same(inside.step(actions, mask), outside.step(actions, mask)), t


def test_lanes_that_ended_wait_for_the_others():
    vec = sekai.VecActionRepeat(sekai.make_vec("CartPole-v1", 3), 100)
    vec.reset(seed=0)
    result = vec.step([0, 1, 0])
    counts = [info["action_repeats"] for info in result.infos]
    assert result.dones.all()
    assert counts == [info["final_info"]["elapsed_steps"] for info in result.infos] == result.rewards.tolist()
    assert result.infos.arrays["action_repeats"].tolist() == result.infos.arrays["elapsed_steps"].tolist() == counts
    assert result.final_lanes.tolist() == [0, 1, 2]
    for row, info in zip(result.final_observations, result.infos, strict=True):
        np.testing.assert_array_equal(row, info["final_observation"])


def test_repeats_are_counts(meander):
    with pytest.raises(ValueError, match="repeat"):
        sekai.VecActionRepeat(sekai.SyncVecEnv([meander]), 0)
