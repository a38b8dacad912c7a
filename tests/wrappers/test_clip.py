"""ClipAction and ClipReward."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekai import Box, ClipAction, ClipReward, Discrete

BOX = Box(np.array([-1.0, 0.0]), np.array([1.0, np.inf]), dtype=np.float32)


@given(st.lists(st.floats(width=32), min_size=2, max_size=2), st.sampled_from([np.float32, np.float64, list]))
def test_actions_are_clipped_as_numpy_clips(reel, numbers, kind):
    action = numbers if kind is list else np.array(numbers, kind)
    clipped = ClipAction(reel(actions=BOX)).action(action)
    expected = np.clip(action, BOX.low, BOX.high)
    np.testing.assert_array_equal(clipped, expected)
    assert clipped.dtype == expected.dtype


def test_the_env_gets_clipped_actions(reel):
    env = ClipAction(reel(actions=BOX))
    assert env.action_space is BOX
    env.reset()
    action = np.array([5, -5], np.float32)
    env.step(action)
    assert env.unwrapped.actions == [[1.0, 0.0]]
    assert env.reverse_action(action) is action
    assert action.tolist() == [5, -5]


def test_only_boxes_are_clipped(reel):
    with pytest.raises(TypeError, match="Box"):
        ClipAction(reel(actions=Discrete(3)))


@pytest.mark.parametrize(
    ("bounds", "rewards"),
    [
        ((), [-7.0, 3.0, math.inf]),
        ((-1, None), [-1.0, 3.0, math.inf]),
        ((None, 2), [-7.0, 2.0, 2.0]),
        ((0, 1), [0, 1, 1]),
    ],
)
def test_rewards_are_clipped(reel, bounds, rewards):
    env = ClipReward(reel(), *bounds)
    assert [env.reward(reward) for reward in (-7, np.float32(3), math.inf)] == rewards
    assert type(env.reward(np.float32(0.5))) is float
    assert math.isnan(env.reward(math.nan))


def test_reward_bounds_are_floats_in_order(reel):
    env = ClipReward(reel(), None, 3)
    assert (env.min_reward, env.max_reward) == (-math.inf, 3.0)
    env.reset()
    env.unwrapped.reward = 7
    assert env.step(0).reward == 3.0
    for low, high in ((1, 1), (2, 1), (math.nan, 1), (0, math.nan)):
        with pytest.raises(ValueError, match="min_reward"):
            ClipReward(None, low, high)
    with pytest.raises(TypeError, match=r"sekai\.Env"):
        ClipReward(None, 0, 1)
