"""DelayObservation and DelayAction."""

import asyncio

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekai import Box, DelayAction, DelayObservation, Discrete

SPACE = Box(1, 9, (1,), np.float64)
FRAMES = [np.array([float(k)]) for k in range(2, 9)]


@given(delay=st.integers(0, 4), padding=st.sampled_from(["zeros", "reset"]), steps=st.integers(0, 6))
def test_observations_come_late(reel, delay, padding, steps):
    env = DelayObservation(reel(SPACE, FRAMES), delay, padding=padding)
    pad = [1.0] if padding == "zeros" else [2.0]
    for _ in range(2):
        seen = [env.reset().observation] + [env.step(0).observation for _ in range(steps)]
        expected = [pad] * delay + [frame.tolist() for frame in FRAMES]
        assert [observation.tolist() for observation in seen] == expected[: steps + 1]
    assert env.observation_space is SPACE


def test_observations_are_copied_in_and_out(reel):
    frame = np.array([3.0])
    env = DelayObservation(reel(SPACE, [frame]), 2, padding="reset")
    first = env.reset().observation
    frame[0] = 4.0
    first[0] = 7.0
    second = env.step(0).observation
    assert second.tolist() == [3.0]
    second[0] = 7.0
    assert [env.step(0).observation.tolist() for _ in range(2)] == [[3.0], [4.0]]


@given(delay=st.integers(0, 4), steps=st.integers(0, 6))
def test_actions_take_effect_late(reel, delay, steps):
    env = DelayAction(reel(actions=SPACE), delay)
    buffer = np.zeros(1)
    for _ in range(2):
        env.reset()
        env.unwrapped.actions.clear()
        for k in range(steps):
            buffer[0] = 2.0 + k
            env.step(buffer)
        chosen = [[2.0 + k] for k in range(steps)]
        assert env.unwrapped.actions == ([[1.0]] * delay + chosen)[:steps]
        assert [action.tolist() for action in env.pending_actions] == chosen[max(steps - delay, 0) :][: delay or -99]
    assert (env.delay, env.noop.tolist()) == (delay, [1.0])


def test_async_resets_forget_too(reel):
    base = reel()
    env = DelayAction(base, 1, noop=3)
    env.reset()
    env.step(1)
    asyncio.run(env.async_reset(seed=0))
    assert env.pending_actions == []
    asyncio.run(env.async_step(2))
    assert (base.actions, base.awaited) == ([3, 3], 2)


def test_a_reset_that_fails_forgets_nothing(reel):
    env = DelayAction(reel(), 1, noop=3)
    env.reset()
    env.step(1)
    with pytest.raises(ValueError, match="bad options"):
        env.reset(options={"bad": 1})
    assert env.pending_actions == [1]


@pytest.mark.parametrize("wrap", [DelayObservation, lambda env, delay: DelayAction(env, delay, noop=0)])
def test_delays_are_counts(reel, wrap):
    for delay, error in ((-1, ValueError), (1.0, TypeError)):
        with pytest.raises(error, match="delay"):
            wrap(reel(), delay)


def test_other_arguments_are_checked(reel):
    with pytest.raises(ValueError, match="padding"):
        DelayObservation(reel(), 1, padding="edge")
    with pytest.raises(ValueError, match="noop must be given"):
        DelayAction(reel(actions=Discrete(3)), 0)
    with pytest.raises(ValueError, match="noop must be an action"):
        DelayAction(reel(actions=Discrete(3)), 1, noop=7)
