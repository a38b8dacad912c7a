"""The equations of Pendulum against a scalar oracle, and the block of lanes against its lanes."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekai.kernels.elementary import NEAR
from sekai.kernels.envs import pendulum

MODULE = pendulum
LANES = 5_000
TYPES = (np.float32, np.float64)


def oracle(theta, theta_dot, action, p):
    """One step in NumPy's scalars, as the specification words it: angle, speed, torque, reward.

    Numbers that come from parameters are Python floats, and so take the type of what they meet.
    """
    u = np.clip(action, -p.max_torque, p.max_torque)
    angle = ((theta + np.pi) % (2 * np.pi)) - np.pi
    cost = angle**2 + 0.1 * theta_dot**2 + 0.001 * (u**2)
    change = (3 * p.g / (2 * p.l) * np.sin(theta) + 3.0 / (p.m * p.l**2) * u) * p.dt
    theta_dot = np.clip(theta_dot + change, -p.max_speed, p.max_speed)
    return theta + theta_dot * p.dt, theta_dot, float(u), -cost


def random_states(n):
    """States as (2, n), at angles of all sizes."""
    rng = np.random.default_rng(0)
    states = rng.uniform(-1.0, 1.0, (2, n)) * [[math.pi], [9.0]]
    for part, scale in enumerate((1e-3, 30.0, 1e3, 1e6)):
        states[0, part::6] = rng.uniform(-scale, scale, states[0, part::6].size)
    return states


@pytest.mark.parametrize(
    "changes", [{}, {"g": 3.7, "m": 0.3, "l": 0.7, "dt": 0.1, "max_speed": 2.0, "max_torque": 0.3}]
)
@pytest.mark.parametrize("action_type", TYPES)
def test_steps_are_those_of_the_oracle(lanes, action_type, changes):
    params = lanes.params._replace(**changes)
    states = random_states(LANES)
    actions = np.random.default_rng(1).uniform(-3.0, 3.0, (LANES, 1)).astype(action_type)
    right = np.array([oracle(*state, a, params) for *state, a in zip(*states, actions[:, 0], strict=True)]).T
    for libm in (True, False):
        s = lanes.rows(states)
        rewards, terminated = lanes.step_block(s, actions, params, libm=libm)
        assert not terminated.any()
        assert s.last_u.tolist() == right[2].tolist()
        if libm:
            assert np.array(s[:2]).tobytes() == right[:2].tobytes()
            assert rewards.tolist() == right[3].tolist()
        else:
            # The sine may be an ulp off, which its factor times dt, here below 2, makes two ulps of at most 1; adding
            # rounds that to a neighbour of the sum or (times dt, at most 0.1) of the angle.
            np.testing.assert_allclose(s.theta_dot, right[1], rtol=2**-52, atol=2**-52)
            np.testing.assert_allclose(s.theta, right[0], rtol=2**-52, atol=2**-55)
            # In float32 a square by `pow` may be an ulp off: 2**-23 of 0.001 u^2, which is at most 0.004.
            atol = 0.004 * 2**-22 if action_type is np.float32 else 0.0
            np.testing.assert_allclose(rewards, right[3], rtol=2**-50, atol=atol)


# ---- transitions by hand ---------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    ("theta", "theta_dot", "action", "after", "reward"),
    [
        (0.0, 0.0, 0.0, (0.0, 0.0), 0.0),  # upright
        (0.0, 0.0, 2.0, (0.015, 0.3), -0.004),  # 3 u dt = 0.3
        (0.0, 0.0, 5.0, (0.015, 0.3), -0.004),  # clipped
        (0.0, 0.0, -5.0, (-0.015, -0.3), -0.004),
        (math.pi / 2, 0.0, 0.0, (math.pi / 2 + 0.0375, 0.75), -(math.pi**2) / 4),  # 3/2 g dt = 0.75
        (math.pi / 2, 7.9, 0.0, (math.pi / 2 + 0.4, 8.0), -(math.pi**2) / 4 - 6.241),  # at full speed
        (2 * math.pi + 0.5, 0.0, 0.0, None, -0.25),  # the angle counts modulo a turn
        (-2 * math.pi - 0.5, 0.0, 0.0, None, -0.25),
        (3.5 * math.pi, 0.0, 0.0, None, -(math.pi**2) / 4),
    ],
)
def test_by_hand(lanes, theta, theta_dot, action, after, reward, dtype):
    s = lanes.rows(np.array([[theta], [theta_dot]]))
    rewards, terminated = lanes.step_block(s, np.array([[action]], dtype))
    if after is not None:
        assert (s.theta[0], s.theta_dot[0]) == pytest.approx(after, rel=1e-7, abs=0)  # float32 rounds to 6e-8
    assert rewards[0] == pytest.approx(reward, rel=1e-7, abs=0)
    assert not terminated[0]


def test_a_hanging_pendulum_stays_where_it_is(lanes):
    s = lanes.rows(np.array([[math.pi], [0.0]]))
    rewards, _ = lanes.step_block(s, np.zeros((1, 1)))
    assert abs(s.theta_dot[0]) < 1e-16  # 0.75 times the sine of pi as a double, 1.2e-16
    assert rewards[0] == -(math.pi**2)


# ---- properties ------------------------------------------------------------------------------------


@given(st.floats(-NEAR, NEAR) | st.floats(-10.0, 10.0) | st.integers(-(10**5), 10**5).map(lambda k: 2 * math.pi * k))
def test_the_part_of_a_turn_is_pythons_remainder(x):
    for y in (x, math.nextafter(x, math.inf), math.nextafter(x, -math.inf)):
        assert pendulum.turn_part(y) == y % (2 * math.pi)


@given(st.floats(-1e3, 1e3), st.floats(-8.0, 8.0), st.floats(-3.0, 3.0))
def test_the_mirror_image_of_a_step_is_the_step_of_the_mirror_image(lanes, theta, theta_dot, action):
    state, actions = np.array([[theta], [theta_dot]]), np.array([[action]])
    s, mirrored = lanes.rows(state), lanes.rows(-state)
    lanes.step_block(s, actions)
    lanes.step_block(mirrored, -actions)
    assert [row[0] for row in s] == [-row[0] for row in mirrored]


@given(st.floats(-1e6, 1e6), st.floats(-8.0, 8.0), st.floats(-1e300, 1e300))
def test_bounds(lanes, theta, theta_dot, action):
    s = lanes.rows(np.array([[theta], [theta_dot]]))
    rewards, _ = lanes.step_block(s, np.array([[action]]))
    assert abs(s.theta_dot[0]) <= 8.0
    assert abs(s.last_u[0]) <= 2.0
    assert -(math.pi**2 + 6.4 + 0.004) * (1 + 1e-15) <= rewards[0] <= 0.0  # three roundings


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("far", [False, True])
def test_a_lane_of_a_block_is_a_lane_alone(lanes, far, dtype):
    states, actions = random_states(500), np.random.default_rng(2).uniform(-3.0, 3.0, (500, 1)).astype(dtype)
    if far:  # where the block needs the full range reductions
        states[0, 7], states[0, 8], states[0, 9] = 1e9, -1e300, math.nan
    block, alone = lanes.rows(states), lanes.rows(states)
    results, others = lanes.step_block(block, actions), lanes.step_lanes(alone, actions)
    assert [row.tobytes() for row in block] == [row.tobytes() for row in alone]
    np.testing.assert_array_equal(results, others)


def test_parameters_may_differ_by_lane(lanes):
    rng = np.random.default_rng(3)
    states, actions = random_states(50), rng.uniform(-3.0, 3.0, (50, 1))
    params = type(lanes.params)(*(value * rng.uniform(0.5, 2.0, 50) for value in lanes.params))
    s = lanes.rows(states)
    rewards, _ = lanes.step_block(s, actions, params)
    for i in range(50):
        one = lanes.rows(states[:, i : i + 1])
        reward, _ = lanes.step_block(one, actions[i : i + 1], type(params)(*(row[i].item() for row in params)))
        assert [row[0] for row in one] == [row[i] for row in s]
        assert reward[0] == rewards[i]


def test_a_reset_draws_angle_and_speed(lanes, stream):
    rng, generator = stream(7)
    s = lanes.rows(np.ones((3, 1)))
    pendulum.reset_lane(s, lanes.params._replace(x_init=0.5, y_init=0.25), rng, 0)
    assert [s.theta[0], s.theta_dot[0]] == generator.uniform([-0.5, -0.25], [0.5, 0.25]).tolist()
    assert math.isnan(s.last_u[0])


def test_observations(lanes):
    s = lanes.rows(random_states(30))
    obs = np.empty((30, 3), np.float32)
    for i in range(30):
        pendulum.observe_lane(s, lanes.params, obs, i)
    # Sine and cosine may be an ulp of a double off, which seldom changes the float32.
    np.testing.assert_array_max_ulp(obs, np.array([np.cos(s.theta), np.sin(s.theta), s.theta_dot], np.float32).T, 1)
