"""TimeAwareObservation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sekai
from sekai import Box, Dict, Discrete, MaskedBox, TimeAwareObservation, TimeLimit

BOX = Box(-9, 9, (2,), np.float64)


def test_time_follows_the_observation(reel):
    env = TimeAwareObservation(reel(), 4)
    assert env.observation_space == Box(np.array([-9, -9, 0.0]), np.array([9, 9, 1.0]), dtype=np.float64)
    assert env.reset().observation.tolist() == [0, 0, 0]
    assert [env.step(0).observation.tolist() for _ in range(6)][-3:] == [[4, -4, 1], [5, -5, 1], [5, -5, 1]]
    assert env.reset().observation.tolist() == [0, 0, 0]


@given(limit=st.integers(1, 10), steps=st.integers(0, 15), normalize=st.booleans())
def test_time_in_a_dict(reel, limit, steps, normalize):
    env = TimeAwareObservation(
        reel(Dict({"x": Discrete(2)}), [{"x": 1}]), limit, normalize_time=normalize, dict_key="t"
    )
    time = env.reset().observation["t"]
    for _ in range(steps):
        time = env.step(0).observation["t"]
    assert (time.dtype, time.shape) == (np.float32, (1,))
    assert time[0] == np.float32(min(steps / limit, 1) if normalize else steps)
    assert env.observation_space == Dict({"x": Discrete(2), "t": Box(0, 1 if normalize else math.inf, (1,))})


def test_integers_become_float32(reel):
    env = TimeAwareObservation(reel(Box(0, 255, (2,), np.uint8), [np.array([3, 4], np.uint8)]), 8)
    env.reset()
    observation = env.step(0).observation
    assert (observation.tolist(), observation.dtype) == ([3, 4, 0.125], np.float32)


def test_where_the_limit_comes_from(reel):
    assert TimeAwareObservation(TimeLimit(TimeLimit(reel(), 5), 7)).max_episode_steps == 7
    assert TimeAwareObservation(TimeLimit(reel(), 5), 3).max_episode_steps == 3
    assert TimeAwareObservation(TimeLimit(reel(), 5), 0).max_episode_steps == 5
    base = reel()
    base.spec = sekai.EnvSpec("Reel-v0", max_episode_steps=9)
    assert TimeAwareObservation(base).max_episode_steps == 9
    assert TimeAwareObservation(reel(), normalize_time=False).max_episode_steps is None
    with pytest.raises(ValueError, match="max_episode_steps"):
        TimeAwareObservation(reel(Discrete(2)))


@pytest.mark.parametrize(("limit", "error"), [(-1, ValueError), (2.5, TypeError)])
def test_limits_are_counts(reel, limit, error):
    with pytest.raises(error, match="max_episode_steps"):
        TimeAwareObservation(reel(), limit)


@pytest.mark.parametrize("space", [Discrete(2), Box(0, 1, ()), Box(0, 1, (2, 2)), MaskedBox(0, 1, (1,), max_size=2)])
def test_only_vectors_and_dicts_have_room(reel, space):
    with pytest.raises(TypeError, match="1-D Box or a Dict"):
        TimeAwareObservation(reel(space), 3)


def test_keys_are_not_replaced(reel):
    with pytest.raises(KeyError, match="time"):
        TimeAwareObservation(reel(Dict({"time": BOX})), 3)
