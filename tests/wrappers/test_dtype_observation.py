"""DtypeObservation."""

import numpy as np
import pytest

from sekai import Box, Discrete, DtypeObservation


def test_observations_and_their_space_are_cast(reel):
    env = DtypeObservation(reel(Box(-5.5, 5.5, (2,)), [np.array([1.9, -1.9], np.float32)]), "int32")
    assert env.observation_space == Box(-5, 5, (2,), np.int32)
    assert env.dtype == np.dtype(np.int32)
    observation = env.reset().observation
    assert (observation.tolist(), observation.dtype) == ([1, -1], np.int32)


def test_infinite_bounds_become_the_limits_of_integers(reel):
    env = DtypeObservation(reel(Box(-np.inf, np.inf, (1,)), [np.zeros(1)]), np.uint8)
    assert env.observation_space == Box(0, 255, (1,), np.uint8)


def test_the_result_is_always_a_copy(reel):
    frame = np.zeros(2, np.float32)
    env = DtypeObservation(reel(Box(0, 1, (2,)), [frame]), np.float32)
    assert not np.shares_memory(env.reset().observation, frame)


def test_what_cannot_be_cast_is_refused(reel):
    with pytest.raises(TypeError, match="Box"):
        DtypeObservation(reel(Discrete(2)), np.float32)
    with pytest.raises(TypeError, match="no-such"):
        DtypeObservation(reel(), "no-such")
