"""`math="libm"`: bit for bit Gymnasium's, for all environments that Gymnasium has too."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import sekai
from sekai.envs.classic_control import ClassicControlEnv

IDS = [spec.id for spec in sekai.all_specs() if isinstance(sekai.make(spec.id).unwrapped, ClassicControlEnv)]
CONTINUOUS = ["MountainCarContinuous-v0", "Pendulum-v1"]
SEEDS, STEPS = 20, 500


def make_both(env_id, **kwargs):
    """Our env and Gymnasium's, with no wrapper around them."""
    return sekai.make(env_id, math="libm", **kwargs).unwrapped, gymnasium.make(env_id).unwrapped


def assert_same_steps(ours, gymnasiums, actions, seed):
    """Both return the same bits for these actions, from a reset on; they are reset where an episode ends."""
    assert ours.reset(seed=seed).observation.tobytes() == gymnasiums.reset(seed=seed)[0].tobytes()
    for action in actions:
        result = ours.step(action)
        observation, reward, terminated, truncated, _ = gymnasiums.step(action)
        assert result.observation.tobytes() == observation.tobytes()
        assert (result.reward, result.terminated, result.truncated) == (reward, terminated, truncated)
        if terminated:
            assert ours.reset().observation.tobytes() == gymnasiums.reset()[0].tobytes()


def test_it_covers_classic_control():
    assert len(IDS) == 5


@pytest.mark.parametrize("env_id", IDS)
def test_random_steps(env_id):
    ours, gymnasiums = make_both(env_id)
    gymnasiums.action_space.seed(0)
    for seed in range(SEEDS):
        actions = [gymnasiums.action_space.sample() for _ in range(STEPS)]
        assert_same_steps(ours, gymnasiums, actions, seed)
        assert np.asarray(ours.state).tolist() == np.asarray(gymnasiums.state).tolist()


@pytest.mark.parametrize("env_id", IDS)
def test_steps_past_the_end(env_id):
    ours, gymnasiums = make_both(env_id)
    gymnasiums.action_space.seed(1)
    ours.reset(seed=0)
    gymnasiums.reset(seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # CartPole's, of both
        for _ in range(STEPS):
            action = gymnasiums.action_space.sample()
            result, (observation, reward, terminated, *_) = ours.step(action), gymnasiums.step(action)
            assert result.observation.tobytes() == observation.tobytes()
            assert (result.reward, result.terminated) == (reward, terminated)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("env_id", CONTINUOUS)
def test_precision_follows_that_of_the_action(env_id, dtype):
    ours, gymnasiums = make_both(env_id)
    rng = np.random.default_rng(0)
    for seed in range(SEEDS):
        actions = rng.uniform(-3.0, 3.0, (100, 1)).astype(dtype)  # some of them are clipped
        assert_same_steps(ours, gymnasiums, actions, seed)
    mixed = [action.astype(rng.choice([np.float32, np.float64])) for action in rng.uniform(-1.2, 1.2, (500, 1))]
    assert_same_steps(ours, gymnasiums, mixed, 0)


@pytest.mark.parametrize("env_id", CONTINUOUS)
def test_precision_in_a_batch_is_that_of_a_single_env(env_id):
    vec, single = sekai.make_vec(env_id, 3), sekai.make(env_id)
    for dtype in (np.float32, np.float64):
        vec.reset(seed=[1, 2, 3])
        single.reset(seed=2)
        for actions in np.random.default_rng(0).uniform(-3.0, 3.0, (50, 3, 1)).astype(dtype):
            batch, one = vec.step(actions), single.step(actions[1])
            assert batch.observations[1].tobytes() == one.observation.tobytes()
            assert batch.rewards[1] == one.reward


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("env_id", ["Acrobot-v1", "MountainCarContinuous-v0"])
def test_the_precision_of_an_assigned_state_counts(env_id, dtype):
    ours, gymnasiums = make_both(env_id)
    gymnasiums.action_space.seed(0)
    for seed in range(SEEDS):
        ours.reset(seed=seed)
        gymnasiums.reset(seed=seed)
        state = np.random.default_rng(seed).uniform(-0.07, 0.07, np.shape(gymnasiums.state)).astype(dtype)
        ours.state, gymnasiums.state = state, state.copy()
        assert ours.state.dtype == dtype
        for _ in range(5):
            action = gymnasiums.action_space.sample()
            assert ours.step(action).observation.tobytes() == gymnasiums.step(action)[0].tobytes()
            assert ours.state.dtype == gymnasiums.state.dtype
            assert ours.state.tolist() == gymnasiums.state.tolist()


@pytest.mark.parametrize("env_id", IDS)
def test_next_step_autoreset_is_gymnasiums(env_id):
    vec = sekai.make_vec(env_id, 5, math="libm", max_episode_steps=30, vector_kwargs={"autoreset": "next_step"})
    gymnasiums = SyncVectorEnv(
        [lambda: gymnasium.make(env_id, max_episode_steps=30)] * 5, autoreset_mode=AutoresetMode.NEXT_STEP
    )
    seeds = [3, 1, 4, 1, 5]
    assert vec.reset(seed=seeds).observations.tobytes() == gymnasiums.reset(seed=seeds)[0].tobytes()
    gymnasiums.action_space.seed(0)
    for _ in range(100):
        actions = gymnasiums.action_space.sample()
        result = vec.step(actions)
        observations, rewards, terminated, truncated, _ = gymnasiums.step(actions)
        assert result.observations.tobytes() == observations.tobytes()
        assert result.rewards.tolist() == rewards.tolist()
        assert result.terminated.tolist() == terminated.tolist()
        assert result.truncated.tolist() == truncated.tolist()


@pytest.mark.parametrize("env_id", IDS)
def test_our_own_functions_are_the_default_and_close(env_id):
    own, libm = sekai.make(env_id), sekai.make(env_id, math="libm")
    assert (own.unwrapped.math, libm.unwrapped.math) == ("own", "libm")
    assert sekai.make_vec(env_id, 2).math == "own"
    assert sekai.make_vec(env_id, 2, math="libm").math == "libm"
    own.reset(seed=0)
    libm.reset(seed=0)
    own.action_space.seed(0)
    for _ in range(8):
        action = own.action_space.sample()
        a, b = own.step(action), libm.step(action)
        # An ulp of a sine is 1e-16; in so few steps what comes of it stays far below a float32's.
        np.testing.assert_array_max_ulp(a.observation, b.observation, 1)
        assert a.reward == pytest.approx(b.reward, rel=1e-12, abs=0)


def test_other_maths_are_refused():
    with pytest.raises(ValueError, match=r'math must be "own" or "libm", got \'fast\''):
        sekai.make("CartPole-v1", math="fast")


@pytest.mark.parametrize("math", ["own", "libm"])
@pytest.mark.parametrize("env_id", IDS)
def test_plain_python_gives_the_same_bits(env_id, math):
    compiled, plain = sekai.make(env_id, math=math), sekai.make(env_id, math=math, debug=True)
    compiled.reset(seed=0)
    plain.reset(seed=0)
    compiled.action_space.seed(0)
    for _ in range(10):
        action = compiled.action_space.sample()
        a, b = compiled.step(action), plain.step(action)
        assert a.observation.tobytes() == b.observation.tobytes()
        assert a.reward == b.reward
