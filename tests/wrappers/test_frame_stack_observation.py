"""FrameStackObservation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekai import Box, Dict, Discrete, FrameStackObservation, Sequence, Space
from sekai.spaces import concatenate, zero_sample
from sekai.testing import strategies as sts


@given(
    space=sts.spaces(), length=st.integers(1, 4), padding=st.sampled_from(["reset", "zeros"]), steps=st.integers(0, 6)
)
def test_a_stack_is_a_slice_of_history(reel, space, length, padding, steps):
    frames = [space.sample() for _ in range(steps + 1)]
    env = FrameStackObservation(reel(space, frames), length, padding=padding)
    pad = frames[0] if padding == "reset" else zero_sample(space)
    for _ in range(2):
        history = [pad] * (length - 1) + frames[:1]
        assert str(env.reset().observation) == str(concatenate(space, history))
        for frame in frames[1:]:
            history.append(frame)
            observation = env.step(0).observation
            assert str(observation) == str(concatenate(space, history[-length:]))
            assert env.observation_space.contains(observation)


def test_observations_are_copied_in_and_out(reel):
    frame = np.zeros(1)
    env = FrameStackObservation(reel(Box(-9, 9, (1,), np.float64), [frame]), 2)
    first = env.reset().observation
    frame[0] = 1
    second = env.step(0).observation
    first[:] = second[:] = 7
    frame[0] = 2
    assert env.step(0).observation.tolist() == [[1], [2]]


def test_elements_of_sequences_are_copied_too(reel):
    env = FrameStackObservation(reel(Sequence(Box(0, 9, (1,))), [(np.ones(1, np.float32),)]), 2)
    env.reset().observation[0][0][0] = 5
    assert env.step(0).observation[0][0][0] == 1


def test_arguments_are_checked(reel):
    class Odd(Space):
        is_flattenable = False

        def sample(self, mask=None):
            return 0

        def contains(self, x):
            return True

    env = FrameStackObservation(reel(), 3, padding="zeros")
    assert (env.num_stack, env.padding) == (3, "zeros")
    for count, error in ((0, ValueError), (2.0, TypeError)):
        with pytest.raises(error, match="num_stack"):
            FrameStackObservation(reel(), count)
    with pytest.raises(ValueError, match="padding"):
        FrameStackObservation(reel(), 2, padding="edge")
    for space in (Odd(), Dict({"x": Odd(), "y": Discrete(2)})):
        with pytest.raises(TypeError, match="stacked"):
            FrameStackObservation(reel(space, [0]), 2)
