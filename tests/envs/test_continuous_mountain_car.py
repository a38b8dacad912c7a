"""What MountainCarContinuous' classes add to the kernels."""

import gymnasium
import numpy as np
import pytest

from sekai.envs import ContinuousMountainCarEnv


def test_an_episode_that_reaches_the_goal():
    env = ContinuousMountainCarEnv()
    result = env.reset(seed=1)
    rewards = []
    while not result.done:
        result = env.step([1.0 if env.state[1] >= 0 else -1.0])  # with the swing
        rewards.append(result.reward)
    assert result.terminated
    assert rewards == [-0.1] * 105 + [99.9]
    assert env.state[0] >= np.float32(0.45)


def test_the_least_velocity_at_the_goal():
    for needed, terminated in ((0.03, True), (0.06, False)):
        env = ContinuousMountainCarEnv(needed)
        env.reset(seed=0)
        env.state = [0.45, 0.05]
        assert env.step([0.0]).terminated == terminated


def test_the_state_is_float32_from_the_first_step_on():
    env = ContinuousMountainCarEnv()
    for _ in range(2):
        env.reset(seed=0)
        assert env.state.dtype == np.float64
        for _ in range(2):
            observation = env.step([0.3]).observation
            assert env.state.dtype == np.float32
            assert env.state.tobytes() == observation.tobytes()


def test_out_of_range_actions_are_clipped_but_paid_for():
    env = ContinuousMountainCarEnv()
    env.reset(seed=0)
    before = env.state
    full = env.step([1.0])
    env.state = before
    more = env.step([3.0])
    assert more.observation.tolist() == full.observation.tolist()
    assert (full.reward, more.reward) == (-0.1, -0.9)


def test_bounds_and_height():
    env, gymnasiums = ContinuousMountainCarEnv(), gymnasium.make("MountainCarContinuous-v0").unwrapped
    assert env.low_state.tobytes() == gymnasiums.low_state.tobytes()
    assert env.high_state.tobytes() == gymnasiums.high_state.tobytes()
    assert env.height(0.0) == 0.55
    with pytest.raises(AttributeError):
        env.high_state = np.zeros(2)
