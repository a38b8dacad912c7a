"""The equations of Acrobot against a scalar oracle and against physics, and the block of lanes against its lanes."""

import math
from math import cos, pi, sin

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekai.envs.acrobot import bound, wrap
from sekai.kernels.envs import acrobot

MODULE = acrobot
LANES = 2_000
OTHER = {"dt": 0.1, "LINK_LENGTH_1": 1.2, "LINK_MASS_1": 0.8, "LINK_MASS_2": 1.3, "LINK_COM_POS_1": 0.4}
OTHER |= {"LINK_COM_POS_2": 0.7, "LINK_MOI": 0.9, "MAX_VEL_1": 2.0, "MAX_VEL_2": 3.0, "torque_0": -2.5}


def oracle(state, action, p):
    """One step in Python floats, as the specification words it: the next state, and whether it is terminal."""
    m1, m2, l1, moi = p.LINK_MASS_1, p.LINK_MASS_2, p.LINK_LENGTH_1, p.LINK_MOI
    c1, c2, g = p.LINK_COM_POS_1, p.LINK_COM_POS_2, 9.8
    q = (p.torque_0, p.torque_1, p.torque_2)[action]

    def derivative(y):
        t1, t2, w1, w2 = y
        d1 = m1 * c1**2 + m2 * (l1**2 + c2**2 + 2 * l1 * c2 * cos(t2)) + moi + moi
        d2 = m2 * (c2**2 + l1 * c2 * cos(t2)) + moi
        p2 = m2 * c2 * g * cos(t1 + t2 - pi / 2)
        p1 = -m2 * l1 * c2 * w2**2 * sin(t2) - 2 * m2 * l1 * c2 * w2 * w1 * sin(t2)
        p1 = p1 + (m1 * c1 + m2 * l1) * g * cos(t1 - pi / 2) + p2
        if p.nips:
            a2 = (q + d2 / d1 * p1 - p2) / (m2 * c2**2 + moi - d2**2 / d1)
        else:
            a2 = (q + d2 / d1 * p1 - m2 * l1 * c2 * w1**2 * sin(t2) - p2) / (m2 * c2**2 + moi - d2**2 / d1)
        return w1, w2, -(d2 * a2 + p1) / d1, a2

    def ahead(h, k):
        return [y + h * slope for y, slope in zip(state, k, strict=True)]

    k1 = derivative(state)
    k2 = derivative(ahead(p.dt / 2, k1))
    k3 = derivative(ahead(p.dt / 2, k2))
    k4 = derivative(ahead(p.dt, k3))
    t1, t2, w1, w2 = ahead(p.dt / 6, [a + 2 * b + 2 * c + d for a, b, c, d in zip(k1, k2, k3, k4, strict=True)])
    t1, t2 = wrap(t1, -pi, pi), wrap(t2, -pi, pi)
    w1, w2 = bound(w1, -p.MAX_VEL_1, p.MAX_VEL_1), bound(w2, -p.MAX_VEL_2, p.MAX_VEL_2)
    return (t1, t2, w1, w2), -cos(t1) - cos(t2 + t1) > 1.0


def random_states(n):
    """States as (4, n): hanging, swinging, and spinning so fast that angles leave [-pi, pi] by a turn or more."""
    rng = np.random.default_rng(0)
    states = rng.uniform(-1.0, 1.0, (4, n)) * [[pi], [pi], [4 * pi], [9 * pi]]
    states[:, ::3] *= 0.05
    states[3, ::7] *= 2.0
    return states


@pytest.mark.parametrize("changes", [{}, {"nips": True}, OTHER])
def test_steps_are_those_of_the_oracle(lanes, changes):
    params = lanes.params._replace(**changes)
    states, actions = random_states(LANES), np.random.default_rng(1).integers(3, size=LANES)
    right = [oracle(state, action, params) for state, action in zip(states.T.tolist(), actions.tolist(), strict=True)]
    after, ended = np.array([state for state, _ in right]).T, np.array([end for _, end in right])
    assert 0 < ended.sum() < LANES
    for libm in (True, False):
        s = lanes.rows(states)
        s.is_float32[:] = 1
        rewards, terminated = lanes.step_block(s, actions, params, libm=libm)
        assert terminated.tolist() == ended.tolist()
        assert (rewards == np.where(ended, 0.0, -1.0)).all()
        assert not s.is_float32.any()
        if libm:
            assert np.array(s[:4]).tobytes() == after.tobytes()
        else:
            # A sine may be an ulp off, 1e-16, which the speeds squared, up to 3,200, dt and four stages make 1e-12.
            # Angles count modulo a turn.
            change = np.array(s[:4]) - after
            change[:2] = (change[:2] + pi) % (2 * pi) - pi
            assert np.abs(change).max() < 1e-12


# ---- transitions by hand ---------------------------------------------------------------------------


def test_hanging_links_stay_where_they_are(lanes):
    s = lanes.rows(np.zeros((4, 1)))
    rewards, terminated = lanes.step_block(s, np.array([1]))
    assert np.abs(np.array(s[:4])).max() < 1e-15  # the cosine of pi/2 as a double is 6e-17
    assert (rewards[0], terminated[0]) == (-1.0, False)


def test_a_torque_at_rest(lanes):
    # At rest, hanging, without gravity's help: d1 = 1/4 + 9/4 + 2 = 4.5, d2 = 3/4 + 1 = 1.75,
    # alpha2 = 1 / (1/4 + 1 - 1.75^2 / 4.5) = 72 / 41, alpha1 = -1.75 / 4.5 * 72 / 41 = -28 / 41.
    dt = 1e-4
    s = lanes.rows(np.zeros((4, 1)))
    lanes.step_block(s, np.array([2]), lanes.params._replace(dt=dt))
    # Gravity's pull at the angles that come of it is of the order of dt^2.
    assert [s.omega1[0] / dt, s.omega2[0] / dt] == pytest.approx([-28 / 41, 72 / 41], rel=1e-6)
    assert [s.theta1[0] / dt**2, s.theta2[0] / dt**2] == pytest.approx([-14 / 41, 36 / 41], rel=1e-6)


@pytest.mark.parametrize(
    ("theta1", "theta2", "terminated"),
    [
        (0.0, 0.0, False),
        (pi, 0.0, True),  # stretched upwards: 2 high
        (pi, pi, False),  # folded: 0
        (2 * pi / 3, 0.01, True),  # 0.5 + a little more than 0.5
        (2 * pi / 3, -0.01, False),
        (-2 * pi / 3, -0.01, True),
    ],
)
def test_the_tip_must_be_a_link_above_the_joint(lanes, theta1, theta2, terminated):
    s = lanes.rows(np.array([[theta1], [theta2], [0.0], [0.0]]))
    rewards, ended = lanes.step_block(s, np.array([1]), lanes.params._replace(dt=0.0))
    assert (rewards[0], ended[0]) == (0.0 if terminated else -1.0, terminated)


@pytest.mark.parametrize("far", [1e5, -1e5, 1e15, math.inf, math.nan])
def test_any_angle_is_brought_back(far):
    with np.errstate(invalid="ignore"):  # of NumPy's scalars, under NUMBA_DISABLE_JIT
        turned = acrobot.wrap(np.float64(far))
    assert math.isnan(turned) if not math.isfinite(far) else abs(turned) <= pi
    if abs(far) == 1e5:
        assert turned == pytest.approx(math.remainder(far, 2 * pi), abs=1e-11)  # an ulp of 1e5


# ---- properties ------------------------------------------------------------------------------------


@given(st.floats(-4000.0, 4000.0))
def test_wrapping_is_turn_by_turn(theta):
    assert acrobot.wrap(theta) == wrap(theta, -pi, pi)


def energy(s, p):
    """Kinetic and potential energy of the links, J (by Lagrange's method; ours)."""
    m1, m2, l1, c1, c2 = p.LINK_MASS_1, p.LINK_MASS_2, p.LINK_LENGTH_1, p.LINK_COM_POS_1, p.LINK_COM_POS_2
    cos2 = np.cos(s.theta2)
    first = m1 * c1**2 + m2 * (l1**2 + c2**2 + 2 * l1 * c2 * cos2) + 2 * p.LINK_MOI
    both, second = m2 * (c2**2 + l1 * c2 * cos2) + p.LINK_MOI, m2 * c2**2 + p.LINK_MOI
    kinetic = 0.5 * first * s.omega1**2 + both * s.omega1 * s.omega2 + 0.5 * second * s.omega2**2
    return kinetic - 9.8 * ((m1 * c1 + m2 * l1) * np.cos(s.theta1) + m2 * c2 * np.cos(s.theta1 + s.theta2))


@pytest.mark.parametrize("changes", [{}, {**OTHER, "MAX_VEL_1": 1e3, "MAX_VEL_2": 1e3}])
def test_energy_is_conserved_without_torque(lanes, changes):
    # 300 steps of 1 ms: the method's error is some dt^4. The paper's equations, which lack a term, lose energy.
    rng = np.random.default_rng(4)
    start = rng.uniform(-1.0, 1.0, (4, 100)) * [[pi], [pi], [2.0], [2.0]]
    changed = {}
    for nips in (False, True):
        params = lanes.params._replace(**{**changes, "dt": 1e-3, "nips": nips})
        s = lanes.rows(start)
        before = energy(s, params)
        for _ in range(300):
            lanes.step_block(s, np.ones(100, np.int64), params)
        changed[nips] = np.abs(energy(s, params) - before)
    assert changed[False].max() < 1e-9
    assert np.median(changed[True]) > 1e-3


@given(st.floats(-pi, pi), st.floats(-pi, pi), st.floats(-5.0, 5.0), st.floats(-5.0, 5.0), st.integers(0, 2))
def test_the_mirror_image_of_a_step_is_the_step_of_the_mirror_image(lanes, t1, t2, w1, w2, action):
    state = np.array([[t1], [t2], [w1], [w2]])
    s, mirrored = lanes.rows(state), lanes.rows(-state)
    lanes.step_block(s, np.array([action]))
    lanes.step_block(mirrored, np.array([2 - action]))
    change = np.array(s[:4])[:, 0] + np.array(mirrored[:4])[:, 0]
    change[:2] = (change[:2] + pi) % (2 * pi) - pi
    # theta - pi/2 is rounded in other places for the other sign: 2e-16, times some tens in the accelerations.
    assert np.abs(change).max() < 1e-13


def test_a_lane_of_a_block_is_a_lane_alone(lanes):
    states, actions = random_states(500), np.random.default_rng(2).integers(3, size=500)
    states[0, 7], states[1, 8], states[0, 9], states[2, 10] = 1e9, -1e300, math.nan, 1e200
    block, alone = lanes.rows(states), lanes.rows(states)
    with np.errstate(all="ignore"):  # of NumPy's scalars, under NUMBA_DISABLE_JIT
        results, others = lanes.step_block(block, actions), lanes.step_lanes(alone, actions)
    for row, other in zip((*block, *results), (*alone, *others), strict=True):
        np.testing.assert_array_equal(row, other)


def test_noise_is_drawn_and_added_to_the_torque(lanes, stream):
    rng, generator = stream(5)
    state, noisy = random_states(1), lanes.params._replace(torque_noise_max=0.4)
    s, right = lanes.rows(state), lanes.rows(state)
    for action in (0, 2, 1):
        lanes.step_block(s, np.array([action]), noisy, rng)
        torque = (-1.0, 0.0, 1.0)[action] + generator.uniform(-0.4, 0.4)
        lanes.step_block(right, np.array([action]), lanes.params._replace(**{f"torque_{action}": torque}))
        assert [row.tolist() for row in s] == [row.tolist() for row in right]


def test_parameters_may_differ_by_lane(lanes, stream):
    random = np.random.default_rng(3)
    states, actions = random_states(30), random.integers(3, size=30)
    scaled = lanes.params._replace(torque_noise_max=0.1)
    params = type(scaled)(*(value * random.uniform(0.5, 1.5, 30) for value in scaled))
    params = params._replace(nips=random.integers(2, size=30), torque_noise_max=params.torque_noise_max * (actions > 0))
    words = np.concatenate([stream(seed)[0] for seed in range(30)], axis=1)
    s, rng = lanes.rows(states), words.copy()
    rewards, _ = lanes.step_block(s, actions, params, rng)
    for i in range(30):
        one, own = lanes.rows(states[:, i : i + 1]), type(params)(*(row[i].item() for row in params))
        own_rng = words[:, i : i + 1].copy()
        reward, _ = lanes.step_block(one, actions[i : i + 1], own, own_rng)
        assert [row[0] for row in one] == [row[i] for row in s]
        assert reward[0] == rewards[i]
        assert own_rng[:, 0].tolist() == rng[:, i].tolist()


def test_a_reset_draws_four_uniforms_and_rounds_them(lanes, stream):
    rng, generator = stream(7)
    s = lanes.rows(np.ones((4, 1)))
    acrobot.reset_lane(s, lanes.params._replace(low=-0.25, high=0.5), rng, 0)
    assert np.array(s[:4])[:, 0].tolist() == generator.uniform(-0.25, 0.5, 4).astype(np.float32).tolist()
    assert s.is_float32[0] == 1


def test_observations(lanes):
    s = lanes.rows(random_states(30))
    obs = np.empty((30, 6), np.float32)
    for i in range(30):
        acrobot.observe_lane(s, lanes.params, obs, i)
    right = np.cos(s.theta1), np.sin(s.theta1), np.cos(s.theta2), np.sin(s.theta2), s.omega1, s.omega2
    # Sine and cosine may be an ulp of a double off, which seldom changes the float32.
    np.testing.assert_array_max_ulp(obs, np.array(right, np.float32).T, 1)
