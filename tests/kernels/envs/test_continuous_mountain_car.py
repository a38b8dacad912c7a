"""The equations of MountainCarContinuous against a scalar oracle, and the block of lanes against its lanes."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekai.kernels.envs import continuous_mountain_car

MODULE = continuous_mountain_car
LANES = 5_000
TYPES = (np.float32, np.float64)


def oracle(x, v, action, p):
    """One step in NumPy's scalars, which round as the specification says: position, velocity, reward, terminated.

    Numbers that come from parameters are Python floats, and so take the type of what they meet.
    """
    force = min(max(action, p.min_action), p.max_action)
    v = v + (force * p.power - 0.0025 * math.cos(3 * x))
    v = p.max_speed if v > p.max_speed else v
    v = -p.max_speed if v < -p.max_speed else v
    x = x + v
    x = p.max_position if x > p.max_position else x
    x = p.min_position if x < p.min_position else x
    if x == p.min_position and v < 0:
        v = 0.0
    terminated = bool(x >= p.goal_position and v >= p.goal_velocity)
    return float(np.float32(x)), float(np.float32(v)), 100.0 * terminated - math.pow(action, 2) * 0.1, terminated


def random_states(n, dtype):
    """States as (2, n), on the track, at its ends and beyond."""
    rng = np.random.default_rng(0)
    states = np.array([rng.uniform(-1.3, 0.7, n), rng.uniform(-0.09, 0.09, n)])
    states[0, ::10] = rng.choice([-1.2, 0.45, 0.6], states[0, ::10].size)
    return states.astype(dtype)


@pytest.mark.parametrize("changes", [{}, {"goal_velocity": 0.03, "max_speed": 0.05, "power": 0.01, "max_action": 0.7}])
@pytest.mark.parametrize("action_type", TYPES)
@pytest.mark.parametrize("state_type", TYPES)
def test_steps_are_those_of_the_oracle(lanes, state_type, action_type, changes):
    params = lanes.params._replace(**changes)
    states = random_states(LANES, state_type)
    actions = np.random.default_rng(1).uniform(-2.0, 2.0, (LANES, 1)).astype(action_type)
    right = np.array([oracle(x, v, a, params) for x, v, a in zip(*states, actions[:, 0], strict=True)]).T
    assert 0 < right[3].sum() < LANES
    for libm in (True, False):
        s = lanes.rows(states)
        s.is_float32[:] = state_type is np.float32
        rewards, terminated = lanes.step_block(s, actions, params, libm=libm)
        if libm:
            assert np.array(s[:2]).tobytes() == right[:2].tobytes()
            assert rewards.tolist() == right[2].tolist()
        else:  # a cosine that is an ulp off shows in float32 only where a sum is halfway between two of them
            np.testing.assert_array_max_ulp(np.array(s[:2], np.float32), right[:2].astype(np.float32), 1)
            np.testing.assert_array_max_ulp(rewards, right[2], 2)  # a square by `pow` may be an ulp off
        assert terminated.tolist() == right[3].astype(bool).tolist()
        assert (s.is_float32 == 1).all()


# ---- transitions by hand ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "v", "action", "after", "reward"),
    [
        (0.0, 0.0, 1.0, (0.015625, 0.015625), -0.1),
        (0.0, 0.0, 3.0, (0.015625, 0.015625), -0.9),  # the force is clipped, but paid for as it was asked for
        (0.0, 0.0, -3.0, (-0.015625, -0.015625), -0.9),
        (-1.25, -0.0625, 0.0, (-1.25, 0.0), 0.0),  # against the wall
        (-1.25, 0.0625, 0.0, (-1.1875, 0.0625), 0.0),
        (0.5, 0.0625, 0.0, (0.5625, 0.0625), 100.0),
        (0.4375, 0.0625, 0.0, (0.5, 0.0625), 100.0),  # the goal itself counts
        (0.5, 0.03125, 0.0, (0.53125, 0.03125), 100.0),  # and so does the least velocity
        (0.5, 0.015625, 0.0, (0.515625, 0.015625), 0.0),
        (0.5625, 0.0625, 1.0, (0.625, 0.0625), 99.9),  # over the top
    ],
)
@pytest.mark.parametrize("dtype", TYPES)
def test_by_hand(lanes, dtype, x, v, action, after, reward):
    # With limits and a power that are powers of two, and cos(3 x) = 0, all numbers are exact.
    params = lanes.params._replace(max_speed=0.0625, min_position=-1.25, max_position=0.625, power=0.015625)
    params = params._replace(goal_position=0.5, goal_velocity=0.03125)
    s = lanes.rows(np.array([[x], [v]]))
    result = continuous_mountain_car.drive(s, params, np.array([[action]], dtype), 0, 0.0)
    assert (s.position[0], s.velocity[0], s.is_float32[0]) == (*after, 1)
    assert result == (reward, reward > 50, False)


@pytest.mark.parametrize(("narrow", "after"), [(True, 0.25), (False, 0.25 + 2.0**-25)])
def test_precision_by_hand(lanes, narrow, after):
    # Near 1/32 float32 numbers are 2**-28 apart, so that a change of 2**-30 is lost; to a float64 velocity it is not.
    # Near 1/4 they are 2**-25 apart: 1/4 + 2**-26 is halfway and goes to the even one, 1/4; more than that goes up.
    params = lanes.params._replace(power=2.0**-30)
    s = lanes.rows(np.array([[0.25 + 2.0**-26 - 2.0**-5], [2.0**-5]]))
    s.is_float32[0] = narrow
    continuous_mountain_car.drive(s, params, np.array([[1.0]], np.float32), 0, 0.0)
    assert s.position[0] == after
    assert s.velocity[0] == 2.0**-5


# ---- properties ------------------------------------------------------------------------------------


@given(st.floats(-1.2, 0.6), st.floats(-0.07, 0.07), st.floats(-1e150, 1e150), st.booleans())
def test_a_car_stays_on_the_track(lanes, x, v, action, narrow):
    s = lanes.rows(np.array([[x], [v]]))
    s.is_float32[0] = narrow
    reward, _ = lanes.step_block(s, np.array([[action]]))
    assert np.float32(-1.2) <= s.position[0] <= np.float32(0.6)
    assert -np.float32(0.07) <= s.velocity[0] <= np.float32(0.07)
    assert reward[0] <= 100.0


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("far", [False, True])
def test_a_lane_of_a_block_is_a_lane_alone(lanes, far, dtype):
    states, actions = random_states(500, np.float64), np.random.default_rng(2).uniform(-1.5, 1.5, (500, 1))
    if far:  # where the block needs the full range reduction
        states[0, 7], states[0, 8], states[0, 9] = 1e9, -1e30, math.nan
    params = lanes.params._replace(min_position=-1e10)
    block, alone = lanes.rows(states), lanes.rows(states)
    for s in (block, alone):
        s.is_float32[::2] = 1
    results = lanes.step_block(block, actions.astype(dtype), params)
    others = lanes.step_lanes(alone, actions.astype(dtype), params)
    assert [row.tobytes() for row in block] == [row.tobytes() for row in alone]
    np.testing.assert_array_equal(results, others)


def test_a_reset_draws_the_position(lanes, stream):
    rng, generator = stream(7)
    s = lanes.rows(np.ones((2, 1)))
    s.is_float32[0] = 1
    continuous_mountain_car.reset_lane(s, lanes.params._replace(low=-0.25, high=0.5), rng, 0)
    assert (s.position[0], s.velocity[0], s.is_float32[0]) == (generator.uniform(-0.25, 0.5), 0.0, 0)


def test_observations_are_the_state_rounded(lanes):
    s = lanes.rows(random_states(3, np.float64))
    obs = np.empty((3, 2), np.float32)
    for i in range(3):
        continuous_mountain_car.observe_lane(s, lanes.params, obs, i)
    assert obs.tolist() == np.array(s[:2], np.float32).T.tolist()
