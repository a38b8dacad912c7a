"""FlattenObservation."""

import numpy as np
import pytest
from hypothesis import given

from sekai import Box, Dict, Discrete, FlattenObservation, Sequence
from sekai.spaces import flatten, flatten_space
from sekai.testing import strategies as sts


def test_parts_follow_each_other(reel):
    space = Dict({"d": Discrete(3, start=1), "b": Box(0, 255, (2, 1), np.uint8)})
    env = FlattenObservation(reel(space, [{"d": 2, "b": np.array([[7], [8]], np.uint8)}]))
    assert env.observation_space == Box(np.zeros(5), np.array([1, 1, 1, 255, 255]), dtype=np.float32)
    observation = env.reset().observation
    assert observation.tolist() == [0, 1, 0, 7, 8]
    assert observation.dtype == np.float32


@given(sts.spaces().filter(lambda space: space.is_flattenable))
def test_all_spaces_flatten_as_the_function_does(reel, space):
    element = space.sample()
    env = FlattenObservation(reel(space, [element]))
    assert env.observation_space == flatten_space(space)
    np.testing.assert_array_equal(env.step(0).observation, flatten(space, element))


def test_sequences_do_not_flatten(reel):
    with pytest.raises(NotImplementedError, match="vary in length"):
        FlattenObservation(reel(Sequence(Discrete(2)), [()]))
