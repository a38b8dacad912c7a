"""What Pendulum's classes add to the kernels."""

import math

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekai.envs import PendulumEnv
from sekai.envs.pendulum import angle_normalize


def test_the_last_torque():
    env = PendulumEnv()
    assert env.last_u is None
    for _ in range(2):
        env.reset(seed=0)
        assert env.last_u is None
        for action, u in (([0.5], 0.5), ([9.0], 2.0), (np.array([-1.1], np.float32), float(np.float32(-1.1)))):
            env.step(action)
            assert env.last_u == u
            assert type(env.last_u) is float


def test_gravity_is_the_first_argument():
    env = PendulumEnv(9.81)
    assert env.g == 9.81
    env.reset(seed=0)
    env.state = [math.pi / 2, 0.0]
    env.step([0.0])
    assert env.state[1] == pytest.approx(1.5 * 9.81 * 0.05, rel=1e-15)  # a rounding


@pytest.mark.parametrize("options", [None, {}, {"x_init": 0.5}, {"x_init": True, "y_init": 0, "other": "x"}])
def test_the_start_is_gymnasiums(options):
    ours, gymnasiums = PendulumEnv(), gymnasium.make("Pendulum-v1").unwrapped
    for seed in range(20):
        right, _ = gymnasiums.reset(seed=seed, options=options)
        np.testing.assert_array_max_ulp(ours.reset(seed=seed, options=options).observation, right, 1)  # sines
        assert ours.state.tolist() == gymnasiums.state.tolist()


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"x_init": "a"}, TypeError),
        ({"y_init": np.array(0.1)}, TypeError),
        ({"x_init": -0.1}, ValueError),
        ({"y_init": -1}, ValueError),
        ({"x_init": math.inf}, OverflowError),
        ({"x_init": -math.inf}, OverflowError),
        ({"y_init": math.nan}, OverflowError),
        ({"y_init": 1e308}, OverflowError),
        ([1, 2], TypeError),
    ],
)
def test_bad_options_change_nothing(options, error):
    env, other = PendulumEnv(), PendulumEnv()
    env.reset(seed=1)
    other.reset(seed=1)
    with pytest.raises(error, match="option"):
        env.reset(seed=2, options=options)
    assert env.state.tolist() == other.state.tolist()
    assert env.reset().observation.tolist() == other.reset().observation.tolist()


@given(st.floats(-1e6, 1e6))
def test_normalized_angles(x):
    angle = angle_normalize(x)
    assert -math.pi <= angle <= math.pi
    assert math.remainder(angle - x, 2 * math.pi) == pytest.approx(0.0, abs=1e-9)  # an ulp of 1e6
    assert angle_normalize(np.array([x, x])).tolist() == [angle, angle]
