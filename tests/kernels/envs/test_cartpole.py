"""The equations of CartPole against a scalar oracle, and the block of lanes against its lanes."""

import math
from collections import namedtuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import PCG64, Generator

from sekai.kernels.envs import cartpole

Rows = namedtuple("Rows", "x x_dot theta theta_dot past_end")
Params = namedtuple("Params", [*cartpole.Params.__annotations__, *cartpole.Options.__annotations__])
DEFAULTS = Params(
    **{name: getattr(cartpole.Params, name, getattr(cartpole.Options, name, None)) for name in Params._fields}
)
INTEGRATORS = (cartpole.EULER, cartpole.SEMI_IMPLICIT)
LANES = 20_000


# ---- oracle ----------------------------------------------------------------------------------------


def oracle(state, action, p):
    """One step in Python floats and libm, as the specification words it: the next state, and whether it is terminal."""
    x, v, th, w = state
    total_mass, polemass_length = p.masspole + p.masscart, p.masspole * p.length
    force = p.force_mag if action == 1 else -p.force_mag
    sin, cos = math.sin(th), math.cos(th)
    h = (force + (polemass_length * (w * w)) * sin) / total_mass
    aw = (p.gravity * sin - cos * h) / (p.length * (4 / 3 - (p.masspole * (cos * cos)) / total_mass))
    av = h - ((polemass_length * aw) * cos) / total_mass
    if p.integrator == cartpole.EULER:
        x, th = x + p.tau * v, th + p.tau * w
        v, w = v + p.tau * av, w + p.tau * aw
    else:
        v, w = v + p.tau * av, w + p.tau * aw
        x, th = x + p.tau * v, th + p.tau * w
    return (x, v, th, w), abs(x) > p.x_threshold or abs(th) > p.theta_threshold_radians


def largest_summands(state, p):
    """For each value of the next states, the largest of the terms that it is the sum of, all products expanded.

    Sine and cosine may each be off by an ulp, so every term is off by some of its own ulps: where terms cancel, the
    sum is only as exact as the largest of them.
    """
    x, v, th, w = np.abs(state)
    total_mass, polemass_length = p.masspole + p.masscart, p.masspole * p.length
    sin, cos = np.abs(np.sin(th)), np.abs(np.cos(th))
    h = np.maximum(p.force_mag, polemass_length * w**2 * sin) / total_mass
    inertia = p.length * (4 / 3 - p.masspole * cos**2 / total_mass)
    aw = np.maximum(p.gravity * sin, cos * h) / inertia
    av = np.maximum(h, polemass_length * aw * cos / total_mass)
    v, w = np.maximum(v, p.tau * av), np.maximum(w, p.tau * aw)
    return np.array([np.maximum(x, p.tau * v), v, np.maximum(th, p.tau * w), w])


def random_states(n, seed=0):
    """States as (4, n): near the start, falling, spinning, and at angles of all sizes."""
    rng = np.random.default_rng(seed)
    states = rng.uniform(-1.0, 1.0, (4, n)) * [[5.0], [10.0], [0.3], [20.0]]
    for part, scale in enumerate((0.05, 1.0, 4.0, 1e3, 1e7, 1e15)):
        states[2, part::7] = rng.uniform(-scale, scale, states[2, part::7].size)
    return states


def step_block(states, actions, params=DEFAULTS, past_end=None):
    """Next states (4, n), rewards, terminated, past_end, by the kernel for blocks."""
    n = states.shape[1]
    s = Rows(*states.copy(), np.zeros(n, np.int64) if past_end is None else past_end.copy())
    rewards, terminated, truncated = np.empty(n), np.empty(n, np.bool_), np.ones(n, np.bool_)
    cartpole.step_block(s, params, None, actions, rewards, terminated, truncated)
    assert not truncated.any()
    return np.array(s[:4]), rewards, terminated, s.past_end


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_steps_are_those_of_the_oracle(integrator):
    params = DEFAULTS._replace(integrator=integrator)
    states = random_states(LANES)
    actions = np.random.default_rng(1).integers(2, size=LANES)
    after, rewards, terminated, _ = step_block(states, actions, params)
    expected = [
        oracle(state, action, params) for state, action in zip(states.T.tolist(), actions.tolist(), strict=True)
    ]
    right = np.array([state for state, _ in expected]).T
    tolerance = 4 * np.spacing(largest_summands(states, params))
    assert (np.abs(after - right) <= tolerance).all()
    ended = np.array([end for _, end in expected])
    doubtful = np.abs(np.abs(right[0]) - params.x_threshold) <= tolerance[0]
    doubtful |= np.abs(np.abs(right[2]) - params.theta_threshold_radians) <= tolerance[2]
    assert (terminated == ended)[~doubtful].all()
    assert doubtful.sum() < 5
    assert (rewards == 1.0).all()
    if integrator == cartpole.EULER:  # positions do not depend on sine and cosine
        assert after[[0, 2]].tobytes() == right[[0, 2]].tobytes()
        assert (terminated == ended).all()


# ---- transitions by hand ---------------------------------------------------------------------------


@pytest.mark.parametrize("action", [0, 1])
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_push_at_rest(integrator, action):
    # Upright, sin = 0 and cos = 1: h = 10 / 1.1 = 100/11; theta'' = -h / (1/2 (4/3 - 1/11)) = -600/41;
    # x'' = 100/11 + 0.05 (600/41) / 1.1 = 400/41. Times 0.02 s: 8/41 m/s and -12/41 rad/s.
    sign = 1 if action == 1 else -1
    after, *_ = step_block(np.zeros((4, 1)), np.array([action]), DEFAULTS._replace(integrator=integrator))
    moved = 0.0 if integrator == cartpole.EULER else 0.02
    right = [moved * 8 / 41, 8 / 41, -moved * 12 / 41, -12 / 41]
    assert after[:, 0] == pytest.approx(sign * np.array(right), rel=1e-15, abs=0)  # a few roundings


def test_a_hanging_pole_stays_where_it_is_without_a_push():
    hanging = np.array([[1.0], [0.0], [math.pi], [0.0]])
    after, _, terminated, _ = step_block(hanging, np.array([1]), DEFAULTS._replace(force_mag=0.0))
    # sin(pi as a double) is 1.2e-16, so gravity pulls a little: 9.8 * 1.2e-16 / 0.6 * 0.02
    assert after[:, 0] == pytest.approx(hanging[:, 0], abs=4e-17)
    assert terminated.all()


@pytest.mark.parametrize(
    ("state", "ended"),
    [
        ((2.4, 0.0, 0.0, 0.0), False),
        ((np.nextafter(2.4, 3), 0.0, 0.0, 0.0), True),
        ((-2.4, 0.0, 0.0, 0.0), False),
        ((np.nextafter(-2.4, -3), 0.0, 0.0, 0.0), True),
        ((0.0, 0.0, 0.20943951023931953, 0.0), False),
        ((0.0, 0.0, np.nextafter(0.20943951023931953, 1), 0.0), True),
        ((0.0, 0.0, -0.20943951023931953, 0.0), False),
        ((0.0, 0.0, np.nextafter(-0.20943951023931953, -1), 0.0), True),
        ((math.nan, 0.0, 0.0, 0.0), False),  # as in Gymnasium
    ],
)
def test_thresholds_are_exclusive(state, ended):
    *_, terminated, past_end = step_block(np.array(state).reshape(4, 1), np.array([1]))
    assert (terminated[0], past_end[0]) == (ended, ended)


@pytest.mark.parametrize(
    ("sutton_barto", "on_time", "ending", "late"), [(False, 1.0, 1.0, 0.0), (True, 0.0, -1.0, -1.0)]
)
def test_rewards(sutton_barto, on_time, ending, late):
    upright, fallen = np.zeros((4, 1)), np.array([[0.0], [0.0], [1.0], [0.0]])
    params, action = DEFAULTS._replace(sutton_barto_reward=sutton_barto), np.array([0])
    found = []
    past_end = np.zeros(1, np.int64)
    for state in (upright, fallen, fallen, upright, fallen):
        _, reward, _, past_end = step_block(state, action, params, past_end)
        found.append((reward[0], past_end[0]))
    assert found == [(on_time, 0), (ending, 1), (late, 2), (on_time, 3), (late, 4)]


# ---- properties ------------------------------------------------------------------------------------

values = st.floats(-1e3, 1e3)


@given(st.tuples(values, values, values, values), st.sampled_from(INTEGRATORS))
def test_the_mirror_image_of_a_step_is_the_step_of_the_mirror_image(state, integrator):
    params = DEFAULTS._replace(integrator=integrator)
    state = np.array(state).reshape(4, 1)
    after, *flags = step_block(state, np.array([1]), params)
    mirrored, *mirrored_flags = step_block(-state, np.array([0]), params)
    assert (after == -mirrored).all()
    assert flags == mirrored_flags


def test_a_lane_of_a_block_is_a_lane_alone():
    states = random_states(2_000)
    near = np.abs(states[2]) <= cartpole.QUARTER
    assert near.any()
    assert not near.all()
    actions = np.random.default_rng(2).integers(2, size=2_000)
    after, *flags = step_block(states, actions)  # some poles lean far: with range reduction
    after_near, *flags_near = step_block(states[:, near], actions[near])  # without
    assert after[:, near].tobytes() == after_near.tobytes()
    assert all((all_lanes[near] == near_lanes).all() for all_lanes, near_lanes in zip(flags, flags_near, strict=True))

    s = Rows(*states.copy(), np.zeros(2_000, np.int64))
    alone = [cartpole.step_lane(s, DEFAULTS, None, actions, i) for i in range(2_000)]
    assert np.array(s[:4]).tobytes() == after.tobytes()
    assert alone == [(reward, end, False) for reward, end in zip(flags[0].tolist(), flags[1].tolist(), strict=True)]


def test_parameters_may_differ_by_lane():
    rng = np.random.default_rng(3)
    states, actions = random_states(50), rng.integers(2, size=50)
    scaled = {name: getattr(DEFAULTS, name) * rng.uniform(0.5, 2.0, 50) for name in Params._fields[1:]}
    params = Params(
        **{
            **scaled,
            "sutton_barto_reward": rng.integers(2, size=50),
            "integrator": rng.integers(2, size=50),
        }
    )
    after, rewards, terminated, _ = step_block(states, actions, params)
    for i in range(50):
        own = Params(*(row[i].item() for row in params))
        alone = step_block(states[:, i : i + 1], actions[i : i + 1], own)
        assert alone[0].tobytes() == after[:, i].tobytes()
        assert (alone[1][0], alone[2][0]) == (rewards[i], terminated[i])


def test_a_reset_draws_four_uniforms():
    generator = Generator(PCG64(7))
    state = generator.bit_generator.state["state"]
    numbers = [state["state"] >> 64, state["state"] % 2**64, state["inc"] >> 64, state["inc"] % 2**64, 0, 0]
    rng = np.array(numbers, np.uint64).reshape(6, 1)
    s = Rows(*np.ones((4, 1)), np.ones(1, np.int64))
    cartpole.reset_lane(s, DEFAULTS._replace(low=-0.25, high=0.5), rng, 0)
    assert np.array(s[:4])[:, 0].tolist() == generator.uniform(-0.25, 0.5, 4).tolist()
    assert s.past_end[0] == 0


def test_observations_are_the_state_rounded():
    s = Rows(*random_states(3), np.zeros(3, np.int64))
    obs = np.empty((3, 4), np.float32)
    for i in range(3):
        cartpole.observe_lane(s, DEFAULTS, obs, i)
    assert obs.tolist() == np.array(s[:4], np.float32).T.tolist()
