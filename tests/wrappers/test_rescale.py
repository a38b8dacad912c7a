"""RescaleObservation and RescaleAction."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekai import Box, Discrete, RescaleAction, RescaleObservation

BOX = Box(np.array([-0.3, 2.0]), np.array([1.1, 2.0]), dtype=np.float32)


def test_observations_are_mapped_onto_the_new_bounds(reel):
    space = Box(np.array([0.0, 1.0, 5.0]), np.array([0.0, 3.0, 6.0]), dtype=np.float64)
    env = RescaleObservation(
        reel(space, [np.array([0.0, 2.0, 9.0]), np.array([0.0, 1.5, 5.0])]), [-1, -1, 0], [1, 2, 4]
    )
    assert env.observation_space == Box(np.array([-1.0, -1, 0]), np.array([1.0, 2, 4]), dtype=np.float64)
    assert (env.min_obs.tolist(), env.max_obs.tolist()) == ([-1, -1, 0], [1, 2, 4])
    assert env.reset().observation.tolist() == [-1.0, 0.5, 4.0]
    assert env.step(0).observation.tolist() == [-1.0, -0.25, 0.0]


def test_pixels_become_float32(reel):
    env = RescaleObservation(reel(Box(0, 255, (2, 2), np.uint8), [np.array([[0, 255], [51, 0]], np.uint8)]), 0, 1)
    observation = env.reset().observation
    np.testing.assert_array_equal(observation, np.float32([[0, 1], [0.2, 0]]))
    assert observation.dtype == env.observation_space.dtype == np.float32


def test_spaces_must_be_bounded_boxes(reel):
    for wrap in (RescaleObservation, RescaleAction):
        with pytest.raises(TypeError, match="Box"):
            wrap(reel(Discrete(2), [0]), 0, 1)
        with pytest.raises(ValueError, match="finite bounds"):
            wrap(reel(Box(0, np.inf, (1,)), actions=Box(0, np.inf, (1,))), 0, 1)
        for bounds in ((1, 1), ([0, 3], [1, 2]), (0, np.inf), ([0, 0, 0], 1)):
            with pytest.raises(ValueError, match=r"min_|broadcast"):
                wrap(reel(Box(0, 1, (2,)), actions=Box(0, 1, (2,))), *bounds)


@given(st.lists(st.floats(-3, 3, width=32), min_size=2, max_size=2))
def test_actions_lie_in_the_space_of_the_env(reel, numbers):
    env = RescaleAction(reel(actions=BOX), -1, 1)
    action = np.array(numbers, np.float32)
    assert env.action_space == Box(-1, 1, (2,))
    scaled = env.action(action)
    assert BOX.contains(scaled)
    assert scaled.dtype == np.float32
    assert env.action_space.contains(env.reverse_action(scaled))
    # Two roundings to float32, stretched by the ratio of the ranges.
    assert env.reverse_action(scaled)[0] == pytest.approx(np.clip(action[0], -1, 1), abs=1e-6)
    assert env.reverse_action(scaled)[1] == -1.0  # an entry without extent


def test_the_env_gets_scaled_actions(reel):
    env = RescaleAction(reel(actions=Box(-2, 2, (1,))), -1.0, 1.0)
    assert env.action(np.array([0.5], np.float32)).tolist() == [1.0]
    assert env.action([-5.0]).tolist() == [-2.0]
    env.reset()
    env.step(np.array([0.5], np.float32))
    assert env.unwrapped.actions == [[1.0]]


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        (None, [2.0, 3.0]),
        ([True, False], [2.0, 1.0]),
        ([0, 1], [1.0, 3.0]),
        (False, [1.0, 1.0]),
        ([1, 0, 1], [2.0, 3.0]),
    ],
)
def test_masked_entries_get_zeros(reel, mask, expected):
    class Masked(reel):
        def action_mask(self):
            return mask

    env = RescaleAction(Masked(actions=Box(1, 3, (2,), np.float64)), -1, 1)
    assert env.action(np.array([0.0, 1.0])).tolist() == expected
    nested = RescaleAction(env, 0, 1)
    assert nested.env.action(nested.action(np.array([0.5, 1.0]))).tolist() == expected
    assert env.reverse_action(np.array([2.0, 3.0])).tolist() == [0.0, 1.0]
