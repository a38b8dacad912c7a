"""The equations of MountainCar against a scalar oracle, and the block of lanes against its lanes."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekai.kernels.envs import mountain_car

MODULE = mountain_car
LANES = 20_000


def oracle(x, v, action, p):
    """One step in Python floats and libm, as the specification words it: position, velocity, terminated."""
    v = v + ((action - 1) * p.force + math.cos(3 * x) * (-p.gravity))
    v = min(max(v, -p.max_speed), p.max_speed)
    x = min(max(x + v, p.min_position), p.max_position)
    if x == p.min_position and v < 0:
        v = 0.0
    return x, v, x >= p.goal_position and v >= p.goal_velocity


def random_states(n):
    """States as (2, n), on the track, at its ends and beyond."""
    rng = np.random.default_rng(0)
    states = np.array([rng.uniform(-1.3, 0.7, n), rng.uniform(-0.09, 0.09, n)])
    states[0, ::10] = rng.choice([-1.2, 0.5, 0.6], states[0, ::10].size)
    return states


@pytest.mark.parametrize("changes", [{}, {"goal_velocity": 0.03, "max_speed": 0.05, "force": 0.01}])
def test_steps_are_those_of_the_oracle(lanes, changes):
    params = lanes.params._replace(**changes)
    states, actions = random_states(LANES), np.random.default_rng(1).integers(3, size=LANES)
    right = np.array([oracle(x, v, a, params) for x, v, a in zip(*states.tolist(), actions.tolist(), strict=True)]).T
    assert 0 < right[2].sum() < LANES
    for libm in (True, False):
        s = lanes.rows(states)
        rewards, terminated = lanes.step_block(s, actions, params, libm=libm)
        if libm:
            assert np.array(s).tobytes() == right[:2].tobytes()
        else:  # a cosine an ulp off moves the velocity by an ulp, and that the position
            np.testing.assert_allclose(s.velocity, right[1], rtol=0, atol=np.spacing(0.09))
            np.testing.assert_allclose(s.position, right[0], rtol=0, atol=np.spacing(1.0))
        assert terminated.tolist() == right[2].astype(bool).tolist()
        assert (rewards == -1.0).all()


# ---- transitions by hand ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "v", "action", "after", "terminated"),
    [
        (0.0, 0.0, 2, (0.001, 0.001), False),
        (0.0, 0.0, 1, (0.0, 0.0), False),
        (0.0, 0.0, 0, (-0.001, -0.001), False),
        (0.0, 0.5, 1, (0.0625, 0.0625), False),  # at full speed
        (-1.25, -0.0625, 1, (-1.25, 0.0), False),  # against the wall
        (-1.1875, -0.0625, 1, (-1.25, 0.0), False),  # just up to it
        (-1.25, 0.0625, 1, (-1.1875, 0.0625), False),  # away from it
        (0.5625, 0.0625, 1, (0.625, 0.0625), True),
        (0.625, 0.0625, 1, (0.625, 0.0625), True),  # over the top
        (0.4375, 0.0625, 1, (0.5, 0.0625), True),  # the goal itself counts
        (0.5, 0.03125, 1, (0.53125, 0.03125), True),  # and so does the least velocity
        (0.5, 0.015625, 1, (0.515625, 0.015625), False),
    ],
)
def test_by_hand(lanes, x, v, action, after, terminated):
    # Without gravity and with limits that are sums of powers of two, all numbers are exact.
    params = lanes.params._replace(
        gravity=0.0, max_speed=0.0625, min_position=-1.25, max_position=0.625, goal_velocity=0.03125
    )
    s = lanes.rows(np.array([[x], [v]]))
    rewards, ended = lanes.step_block(s, np.array([action]), params)
    assert (s.position[0], s.velocity[0]) == after
    assert (rewards[0], ended[0]) == (-1.0, terminated)


def test_the_bottom_of_the_valley_is_a_place_of_rest(lanes):
    s = lanes.rows(np.array([[-math.pi / 6], [0.0]]))
    lanes.step_block(s, np.array([1]))
    assert abs(s.velocity[0]) < 1e-18  # 0.0025 times the cosine of pi/2 as a double, 6e-17


# ---- properties ------------------------------------------------------------------------------------


@given(st.floats(-1.2, 0.6), st.floats(-0.07, 0.07), st.integers(0, 2))
def test_a_car_stays_on_the_track(lanes, x, v, action):
    s = lanes.rows(np.array([[x], [v]]))
    lanes.step_block(s, np.array([action]))
    assert -1.2 <= s.position[0] <= 0.6
    assert -0.07 <= s.velocity[0] <= 0.07
    assert s.position[0] > -1.2 or s.velocity[0] >= 0.0


@pytest.mark.parametrize("far", [False, True])
def test_a_lane_of_a_block_is_a_lane_alone(lanes, far):
    states, actions = random_states(500), np.random.default_rng(2).integers(3, size=500)
    if far:  # where the block needs the full range reduction
        states[0, 7], states[0, 8], states[0, 9] = 1e9, -1e300, math.nan
    params = lanes.params._replace(min_position=-1e10)
    block, alone = lanes.rows(states), lanes.rows(states)
    results, others = lanes.step_block(block, actions, params), lanes.step_lanes(alone, actions, params)
    assert np.array(block).tobytes() == np.array(alone).tobytes()
    assert np.array(results).tolist() == np.array(others).tolist()


def test_a_reset_draws_the_position(lanes, stream):
    rng, generator = stream(7)
    s = lanes.rows(np.ones((2, 1)))
    mountain_car.reset_lane(s, lanes.params._replace(low=-0.25, high=0.5), rng, 0)
    assert (s.position[0], s.velocity[0]) == (generator.uniform(-0.25, 0.5), 0.0)


def test_observations_are_the_state_rounded(lanes):
    s = lanes.rows(random_states(3))
    obs = np.empty((3, 2), np.float32)
    for i in range(3):
        mountain_car.observe_lane(s, lanes.params, obs, i)
    assert obs.tolist() == np.array(s, np.float32).T.tolist()
