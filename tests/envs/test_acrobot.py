"""What Acrobot's classes add to the kernels."""

import math

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sekai
from sekai.envs import AcrobotEnv
from sekai.envs.acrobot import bound, wrap


def pair():
    """Our env, by libm's functions, and Gymnasium's; both reset with the same seed."""
    ours, gymnasiums = AcrobotEnv(math="libm"), gymnasium.make("Acrobot-v1").unwrapped
    ours.reset(seed=3)
    gymnasiums.reset(seed=3)
    return ours, gymnasiums


def assert_same_steps(ours, gymnasiums):
    for action in np.random.default_rng(0).integers(3, size=50).tolist():
        observation, reward, terminated, *_ = gymnasiums.step(action)
        result = ours.step(action)
        assert result.observation.tobytes() == observation.tobytes()
        assert (result.reward, result.terminated) == (reward, terminated)


def test_class_attributes_are_gymnasiums():
    for name in ("dt", "LINK_LENGTH_2", "LINK_MOI", "MAX_VEL_1", "MAX_VEL_2", "torque_noise_max", "book_or_nips"):
        right = getattr(gymnasium.make("Acrobot-v1").unwrapped, name)
        assert getattr(AcrobotEnv, name) == getattr(AcrobotEnv(), name) == right
    assert AcrobotEnv.AVAIL_TORQUE == AcrobotEnv().AVAIL_TORQUE == (-1.0, 0.0, 1.0)


def test_the_equations_of_the_paper():
    ours, gymnasiums = pair()
    ours.book_or_nips = gymnasiums.book_or_nips = "nips"
    assert_same_steps(ours, gymnasiums)
    assert ours.nips is True
    with pytest.raises(ValueError, match='book_or_nips must be "book" or "nips", got \'java\''):
        ours.book_or_nips = "java"
    assert ours.book_or_nips == "nips"
    ours.book_or_nips = "book"
    assert ours.nips is False


def test_the_torques_of_actions():
    ours, gymnasiums = pair()
    ours.AVAIL_TORQUE = gymnasiums.AVAIL_TORQUE = [-3.0, 0.5, 2.0]
    assert_same_steps(ours, gymnasiums)
    for bad, error in (((1.0, 2.0), ValueError), ((9.0, "a", 9.0), TypeError)):
        with pytest.raises(error, match="must"):
            ours.AVAIL_TORQUE = bad
    assert ours.AVAIL_TORQUE == (-3.0, 0.5, 2.0)


def test_noise_comes_from_the_environments_stream():
    ours, gymnasiums = pair()
    ours.torque_noise_max = gymnasiums.torque_noise_max = 0.4
    assert_same_steps(ours, gymnasiums)
    assert ours.rng.random() == gymnasiums.np_random.random()


def test_a_batch_with_noise_is_its_lanes():
    noise = np.array([0.0, 0.2, 0.0, 0.4])
    vec = sekai.make_vec("Acrobot-v1", 4, torque_noise_max=sekai.PerLane(noise))
    vec.reset(seed=0)
    singles = [vec.lane(i) for i in range(4)]
    for actions in np.random.default_rng(0).integers(3, size=(50, 4)):
        result = vec.step(actions)
        for i, single in enumerate(singles):
            assert result.observations[i].tobytes() == single.step(actions[i]).observation.tobytes()


def test_the_start_is_float32():
    env = AcrobotEnv()
    env.reset(seed=0)
    assert env.state.dtype == np.float32
    assert env.state.tolist() == np.random.default_rng(0).uniform(-0.1, 0.1, 4).astype(np.float32).tolist()
    env.step(0)
    assert env.state.dtype == np.float64


@given(st.floats(-100.0, 100.0))
def test_wrapping(x):
    turned = wrap(x, -math.pi, math.pi)
    assert -math.pi <= turned <= math.pi
    assert math.remainder(turned - x, 2 * math.pi) == pytest.approx(0.0, abs=1e-12)  # some ulps of 100
    assert wrap(x, -180, 180) == pytest.approx(math.remainder(x, 360), abs=1e-12)


@pytest.mark.parametrize(("x", "clipped"), [(-2.0, -1.0), (-1.0, -1.0), (0.5, 0.5), (3.0, 1.0)])
def test_bounding(x, clipped):
    assert bound(x, -1.0, 1.0) == bound(x, [-1.0, 1.0]) == clipped
