"""What keeps loops over lanes from being vectorised is found in their code."""

import math

import numpy as np
import pytest
from numba import config

import sekai
from sekai.kernels import kernel, random
from sekai.kernels.elementary import sincos
from sekai.testing.vectorised import step_code, why_not_vectorised

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="there is no machine code to look at")


class Angles(sekai.KernelVecEnv):
    """Angles that are turned."""

    class State:
        x: float

    observation_space = sekai.Box(-np.inf, np.inf, (1,))
    action_space = sekai.Box(-1, 1, ())

    @kernel
    def reset_lane(s, p, rng, i):
        s.x[i] = 0.0

    @kernel
    def observe_lane(s, p, obs, i):
        obs[i, 0] = s.x[i]

    @kernel
    def step_lane(s, p, rng, action, i):
        sin, cos = sincos(s.x[i])
        s.x[i] = action[i] * cos + random.uniform(rng, i, -1.0, 1.0)
        return sin, False, False


class SineAngles(Angles):
    @kernel
    def step_lane(s, p, rng, action, i):
        s.x[i] = action[i] + math.atan2(math.sin(s.x[i]), 2.0)
        return s.x[i], False, False


class NormalAngles(Angles):
    @kernel
    def step_lane(s, p, rng, action, i):
        s.x[i] = action[i] + random.standard_normal(rng, i)
        return s.x[i], False, False


@pytest.mark.parametrize(
    ("batch", "reason"),
    [
        (Angles, None),
        (SineAngles, "it calls atan2, sin of the C library for one lane after the other"),
        (NormalAngles, "no loop of it was vectorised"),
    ],
)
def test_reasons(batch, reason):
    vec = batch(3)
    assert why_not_vectorised(vec) == reason
    assert ("vector.body" in step_code(vec)) == (batch is not NormalAngles)


def test_code_with_bounds_checks_tells_nothing(monkeypatch):
    monkeypatch.setattr(config, "BOUNDSCHECK", 1)
    assert why_not_vectorised(NormalAngles(3)) is None
