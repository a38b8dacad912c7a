"""What MountainCar's classes add to the kernels."""

import gymnasium
import numpy as np
import pytest

from sekai.envs import MountainCarEnv


def test_an_episode_that_reaches_the_goal():
    env = MountainCarEnv()
    result = env.reset(seed=1)
    rewards = []
    while not result.done:
        result = env.step(2 if env.state[1] >= 0 else 0)  # with the swing
        rewards.append(result.reward)
    assert result.terminated
    assert rewards == [-1.0] * 124
    assert env.state[0] >= 0.5


def test_the_least_velocity_at_the_goal():
    for needed, terminated in ((0.03, True), (0.06, False)):
        env = MountainCarEnv(needed)
        assert env.goal_velocity == needed
        env.reset(seed=0)
        env.state = [0.5, 0.05]
        assert env.step(1).terminated == terminated


def test_bounds_are_made_of_the_parameters():
    env, gymnasiums = MountainCarEnv(), gymnasium.make("MountainCar-v0").unwrapped
    assert env.low.tobytes() == gymnasiums.low.tobytes()
    assert env.high.tobytes() == gymnasiums.high.tobytes()
    env.max_speed, env.min_position, env.max_position = 0.5, -2.0, 0.75
    assert (env.low.tolist(), env.high.tolist()) == ([-2.0, -0.5], [0.75, 0.5])
    with pytest.raises(AttributeError):
        env.low = np.zeros(2)


def test_height_of_the_track():
    heights = MountainCarEnv.height(np.array([-np.pi / 6, 0.0, np.pi / 6]))
    assert heights == pytest.approx([0.1, 0.55, 1.0], rel=1e-15)  # a rounding
    assert MountainCarEnv().height(0.0) == 0.55
