"""CartPole against Gymnasium's, and what its classes add to the kernels."""

import copy
import pickle
import warnings
from fractions import Fraction

import numpy as np
import pytest
from gymnasium.envs.classic_control import CartPoleEnv as GymnasiumCartPole

import sekai
from sekai.envs import CartPoleEnv, CartPoleVecEnv

INTEGRATORS = {"euler": 0, "semi-implicit euler": 1}
NAMES = ("x", "x_dot", "theta", "theta_dot")
LANES = 100_000


# ---- against Gymnasium -----------------------------------------------------------------------------


def random_states(n):
    """States as (4, n): near the start, falling, spinning, and at angles of all sizes."""
    rng = np.random.default_rng(0)
    states = rng.uniform(-1.0, 1.0, (4, n)) * [[5.0], [10.0], [0.3], [20.0]]
    for part, scale in enumerate((0.05, 1.0, 4.0, 1e3, 1e7, 1e15)):
        states[2, part::7] = rng.uniform(-scale, scale, states[2, part::7].size)
    return states


def largest_summands(state, env):
    """For each value of the next states, the largest of the terms that it is the sum of, all products expanded.

    Both libraries' sines and cosines may be off by an ulp, so every term is off by some of its own ulps: where terms
    cancel, the sum is only as exact as the largest of them.
    """
    x, v, th, w = np.abs(state)
    sin, cos = np.abs(np.sin(th)), np.abs(np.cos(th))
    h = np.maximum(env.force_mag, env.polemass_length * w**2 * sin) / env.total_mass
    inertia = env.length * (4 / 3 - env.masspole * cos**2 / env.total_mass)
    aw = np.maximum(env.gravity * sin, cos * h) / inertia
    av = np.maximum(h, env.polemass_length * aw * cos / env.total_mass)
    v, w = np.maximum(v, env.tau * av), np.maximum(w, env.tau * aw)
    return np.array([np.maximum(x, env.tau * v), v, np.maximum(th, env.tau * w), w])


def steps_of_gymnasium(env, states, actions):
    """Next states (4, n), observations (n, 4), rewards and terminated; each step is the first of an episode."""
    after, observations = np.empty_like(states), np.empty((states.shape[1], 4), np.float32)
    rewards, terminated = np.empty(states.shape[1]), np.empty(states.shape[1], np.bool_)
    for i, (state, action) in enumerate(zip(states.T.tolist(), actions.tolist(), strict=True)):
        env.state, env.steps_beyond_terminated = state, None
        observations[i], rewards[i], terminated[i], _, _ = env.step(action)
        after[:, i] = env.state
    return after, observations, rewards, terminated


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_steps_are_gymnasiums(integrator):
    states, actions = random_states(LANES), np.random.default_rng(1).integers(2, size=LANES)
    gymnasiums = GymnasiumCartPole()
    gymnasiums.kinematics_integrator = integrator
    right, observations, rewards, terminated = steps_of_gymnasium(gymnasiums, states, actions)

    vec = CartPoleVecEnv(LANES, autoreset=False, integrator=INTEGRATORS[integrator])
    vec.reset(seed=0)
    for name, row in zip(NAMES, states, strict=True):
        vec._state_row(name)[:] = row
    result = vec.step(actions)
    after = np.array([vec._state_row(name) for name in NAMES])

    tolerance = 4 * np.spacing(largest_summands(states, gymnasiums))
    assert (np.abs(after - right) <= tolerance).all()
    np.testing.assert_array_max_ulp(result.observations, observations, 1)
    doubtful = np.abs(np.abs(right[0]) - gymnasiums.x_threshold) <= tolerance[0]
    doubtful |= np.abs(np.abs(right[2]) - gymnasiums.theta_threshold_radians) <= tolerance[2]
    assert doubtful.sum() < 5
    assert (result.terminated == terminated)[~doubtful].all()
    assert (result.rewards == rewards)[~doubtful].all()
    assert not result.truncated.any()
    if integrator == "euler":  # positions do not depend on sine and cosine
        assert after[[0, 2]].tobytes() == right[[0, 2]].tobytes()


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_episodes_of_a_random_policy_are_as_long_as_gymnasiums(integrator):
    actions = np.random.default_rng(2).integers(2, size=(500, 1000))
    vec = CartPoleVecEnv(1000, autoreset=False, max_episode_steps=500, integrator=INTEGRATORS[integrator])
    first = vec.reset(seed=list(range(1000))).observations
    lengths = np.zeros(1000, np.int64)
    dones = np.zeros(1000, np.bool_)
    for row in actions:
        lengths += ~dones
        dones = vec.step(row).dones
    assert dones.all()

    gymnasiums = GymnasiumCartPole()
    gymnasiums.kinematics_integrator = integrator
    for i in range(1000):
        observation, _ = gymnasiums.reset(seed=i)
        assert first[i].tobytes() == observation.tobytes()
        ended, t = False, 0
        while not ended and t < 500:
            ended = gymnasiums.step(actions[t, i])[2]
            t += 1
        assert lengths[i] == t


def test_an_episode_is_gymnasiums_to_the_end_and_beyond():
    ours, gymnasiums = CartPoleEnv(sutton_barto_reward=True), GymnasiumCartPole(sutton_barto_reward=True)
    assert ours.reset(seed=5).observation.tobytes() == gymnasiums.reset(seed=5)[0].tobytes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # both warn past the end
        for _ in range(20):
            result = ours.step(1)
            observation, reward, terminated, truncated, info = gymnasiums.step(1)
            assert (result.reward, result.terminated, result.truncated) == (reward, terminated, truncated)
            assert result.info == info
            np.testing.assert_array_max_ulp(result.observation, observation, 1)  # sines may differ by an ulp
    assert result.terminated


def test_spaces_are_gymnasiums():
    ours, gymnasiums = CartPoleEnv(), GymnasiumCartPole()
    assert ours.observation_space.low.tolist() == gymnasiums.observation_space.low.tolist()
    assert ours.observation_space.high.tolist() == gymnasiums.observation_space.high.tolist()
    assert ours.observation_space.dtype == np.float32
    assert (ours.action_space.n, ours.action_space.start) == (2, 0)


# ---- the single environment ------------------------------------------------------------------------


def test_a_push_at_rest():
    env = CartPoleEnv()
    env.reset(seed=0)
    env.state = [0, 0, 0, 0]
    result = env.step(1)
    # h = 10 / 1.1, theta'' = -h / (1/2 (4/3 - 1/11)) = -600/41, x'' = 400/41; times 0.02 s
    assert env.state == pytest.approx([0.0, 8 / 41, 0.0, -12 / 41], rel=1e-15, abs=0)  # a few roundings
    assert result.observation.tolist() == env.state.astype(np.float32).tolist()
    assert (result.reward, result.terminated, result.truncated, result.info) == (1.0, False, False, {})
    assert [type(value) for value in (result.reward, result.terminated, result.truncated)] == [float, bool, bool]


def test_the_registered_environment():
    env = sekai.make("CartPole-v1")
    assert isinstance(env.unwrapped, CartPoleEnv)
    assert (env.spec.max_episode_steps, env.spec.reward_threshold) == (500, 475.0)
    vec = sekai.make_vec("CartPole-v1", 2)
    assert isinstance(vec, CartPoleVecEnv)
    assert vec.max_episode_steps == 500
    assert env.unwrapped.metadata == vec.metadata == {"render_fps": 50}


CHANGES = {
    "gravity": 3.7,
    "masscart": 2.0,
    "masspole": 0.3,
    "length": 0.8,
    "force_mag": 5.0,
    "tau": 0.05,
    "kinematics_integrator": "semi-implicit euler",
    "theta_threshold_radians": 0.01,
    "x_threshold": 0.01,
    "sutton_barto_reward": True,
}


def test_parameters_are_gymnasiums_attributes():
    env, gymnasiums = CartPoleEnv(), GymnasiumCartPole()
    for name in {*CHANGES, "total_mass", "polemass_length"} - {"sutton_barto_reward"}:
        assert getattr(env, name) == getattr(gymnasiums, name)


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_parameter_takes_effect_at_the_next_step(name):
    state = [0.1, 0.2, 0.15, 0.3]
    env, gymnasiums = CartPoleEnv(), GymnasiumCartPole()
    setattr(env, name, CHANGES[name])
    setattr(gymnasiums, {"sutton_barto_reward": "_sutton_barto_reward"}.get(name, name), CHANGES[name])
    gymnasiums.total_mass = gymnasiums.masspole + gymnasiums.masscart  # Gymnasium's go stale
    gymnasiums.polemass_length = gymnasiums.masspole * gymnasiums.length
    env.reset(seed=0)
    gymnasiums.reset(seed=0)
    env.state = gymnasiums.state = state
    result, (observation, reward, terminated, *_) = env.step(1), gymnasiums.step(1)
    np.testing.assert_array_max_ulp(env.state, gymnasiums.state, 4)  # sines may differ by an ulp
    np.testing.assert_array_max_ulp(result.observation, observation, 1)
    assert (result.reward, result.terminated) == (reward, terminated)
    assert getattr(env, name) == CHANGES[name]
    unchanged = CartPoleEnv()
    unchanged.reset(seed=0)
    unchanged.state = state
    before = unchanged.step(1)
    assert (unchanged.state.tolist(), before.reward, before.terminated) != (
        env.state.tolist(),
        result.reward,
        result.terminated,
    )


def test_derived_quantities_follow_their_parts():
    env = CartPoleEnv(masspole=0.2)
    assert (env.total_mass, env.polemass_length) == (1.2, 0.1)
    env.masscart, env.length = 3.0, 2.0
    assert (env.total_mass, env.polemass_length) == (3.2, 0.4)
    with pytest.raises(AttributeError):
        env.total_mass = 1.0


def test_the_name_of_the_integrator_follows_the_parameter():
    env = CartPoleEnv(integrator=1)
    assert env.kinematics_integrator == "semi-implicit euler"
    env.kinematics_integrator = "euler"
    assert env.integrator == 0
    env.kinematics_integrator = "leapfrog"
    assert (env.kinematics_integrator, env.integrator) == ("leapfrog", 1)


def test_a_step_past_the_end_warns_once_an_episode():
    env = CartPoleEnv()
    for _ in range(2):
        env.reset(seed=0)
        env.state = [0.0, 0.0, 1.0, 0.0]
        assert env.step(0).reward == 1.0
        with pytest.warns(UserWarning, match=r"call reset\(\)") as caught:
            assert env.step(0).reward == 0.0
        assert caught[0].filename == __file__
        result = env.step(0)  # a warning would be an error
        assert (result.reward, result.terminated) == (0.0, True)


def test_the_state_is_a_copy_and_may_be_assigned():
    env = CartPoleEnv()
    assert env.state is None
    first = env.reset(seed=0).observation
    state = env.state
    assert state.dtype == np.float64
    assert state.astype(np.float32).tolist() == first.tolist()
    state[:] = 7.0
    assert env.state[0] != 7.0
    env.state = (1, 2.5, 3, 4)
    assert env.state.tolist() == [1.0, 2.5, 3.0, 4.0]


@pytest.mark.parametrize("values", [[1.0, 2.0, 3.0], [[1.0, 2.0, 3.0, 4.0]], ["1", "2", "3", "4"], None, 1.0])
def test_a_state_of_another_shape_or_kind_is_refused(values):
    env = CartPoleEnv()
    env.reset(seed=0)
    before = env.state.tolist()
    with pytest.raises(ValueError, match="state must be 4 numbers"):
        env.state = values
    with pytest.raises(ValueError, match="theta must not be NaN"):
        env.state = [1.0, 1.0, np.nan, 1.0]
    assert env.state.tolist() == before


def test_a_copy_in_mid_episode_goes_on_as_the_original():
    env = CartPoleEnv(force_mag=7.0)
    env.kinematics_integrator = "semi-implicit euler"
    env.reset(seed=3)
    env.step(1)
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert (twin.kinematics_integrator, twin.force_mag) == ("semi-implicit euler", 7.0)
        original = copy.deepcopy(env)
        for action in (0, 1, 1):
            assert twin.step(action).observation.tobytes() == original.step(action).observation.tobytes()
        assert twin.reset().observation.tobytes() == original.reset().observation.tobytes()


# ---- options ---------------------------------------------------------------------------------------


def started(options):
    """The first state of a new environment reset with seed 9."""
    env = CartPoleEnv()
    env.reset(seed=9, options=options)
    return env.state.tolist()


def test_options_choose_the_range_of_the_first_state():
    uniform = np.random.Generator(np.random.PCG64(9)).uniform
    assert started({"low": -0.5, "high": 0.25}) == uniform(-0.5, 0.25, 4).tolist()
    uniform = np.random.Generator(np.random.PCG64(9)).uniform
    assert started({"high": 1}) == uniform(-0.05, 1.0, 4).tolist()
    assert started({"low": 0.01, "unknown": "ignored"}) == started({"low": 0.01})
    assert started({"low": False, "high": True}) == started({"low": 0, "high": 1})
    assert started({"low": Fraction(1, 64), "high": np.float32(0.5)}) == started({"low": 1 / 64, "high": 0.5})
    assert started({"low": 7.0, "high": 7.0}) == [7.0] * 4  # outside the observation space
    assert started({}) == started(None)


BAD_OPTIONS = [
    ({"low": "0"}, TypeError, r"options\['low'\] must be a real number, got '0'"),
    ({"high": np.array(1.0)}, TypeError, r"options\['high'\] must be a real number"),
    ({"low": 1j}, TypeError, r"options\['low'\] must be a real number"),
    ({"low": 0.2, "high": 0.1}, ValueError, r"options\['low'\] must not be greater than .* got 0.2 and 0.1"),
    ({"low": 0.2}, ValueError, r"must not be greater"),
    ({"low": np.nan}, OverflowError, r"must be finite, got nan to 0.05"),
    ({"high": np.inf}, OverflowError, r"must be finite"),
    ({"low": -1e308, "high": 1e308}, OverflowError, r"must be finite"),
    (["low"], TypeError, r"options must be a dict or None, got \['low'\]"),
    ("low", TypeError, r"options must be a dict or None, got 'low'"),
    (0, TypeError, r"options must be a dict or None, got 0"),
]


@pytest.mark.parametrize(("options", "error", "message"), BAD_OPTIONS)
def test_bad_options_change_nothing(options, error, message):
    env = CartPoleEnv()
    env.reset(seed=0)
    state, stream = env.state.tolist(), env.rng.bit_generator.state
    with pytest.raises(error, match=message):
        env.reset(seed=1, options=options)
    assert env.state.tolist() == state
    assert env.rng.bit_generator.state == stream


def test_options_of_a_batch_may_differ_by_lane():
    vec = CartPoleVecEnv(3)
    vec.reset(seed=[9, 9, 9], options=[{"low": -0.5, "high": 0.25}, None, {"high": 1}])
    states = np.array([vec._state_row(name) for name in NAMES]).T.tolist()
    assert states == [started({"low": -0.5, "high": 0.25}), started(None), started({"high": 1})]
