"""ActionRepeat."""

import asyncio

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekai import ActionRepeat, TimeLimit


@given(repeat=st.integers(1, 5), length=st.integers(1, 12))
def test_an_action_is_repeated_until_the_episode_ends(reel, repeat, length):
    env = ActionRepeat(reel(length=length, reward=np.float32(0.1)), repeat)
    env.reset()
    done, left = False, length
    while not done:
        result = env.step(3)
        count = min(repeat, left)
        left -= count
        done = result.terminated
        assert done == (left == 0)
        assert result.info == {"k": length - left, "action_repeats": count}
        assert type(result.reward) is float
        assert result.reward == sum([float(np.float32(0.1))] * count)
    assert env.unwrapped.actions == [3] * length


def test_async_stays_async(reel):
    async def run(env):
        await env.async_reset(seed=0)
        return await env.async_step(2)

    base = TimeLimit(reel(), 4)
    result = asyncio.run(run(ActionRepeat(base, 9)))
    assert (result.reward, result.truncated) == (4.0, True)
    assert list(result.info.items()) == [("k", 4), ("elapsed_steps", 4), ("action_repeats", 4)]
    assert base.unwrapped.awaited == 5


@pytest.mark.parametrize(("repeat", "error"), [(0, ValueError), (-1, ValueError), (2.5, TypeError)])
def test_repeats_are_counts(reel, repeat, error):
    with pytest.raises(error, match="repeat"):
        ActionRepeat(reel(), repeat)
    assert ActionRepeat(reel(), 3).repeat == 3
