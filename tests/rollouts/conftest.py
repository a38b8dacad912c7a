"""Environments, policies and comparisons that the tests of rollouts share."""

import numpy as np
import pytest

import sekai
from sekai import policies
from sekai.kernels import kernel, random
from sekai.kernels.jit import at

MODES = ("same_step", "next_step", "disabled")
FIELDS = ("observations", "last_observations", "actions", "rewards", "terminated", "truncated", "valid")


class TankVecEnv(sekai.KernelVecEnv):
    """A tank that leaks now and then: draws in every step, ends of both kinds, infos, and actions of two numbers."""

    class State:
        level: float
        lost: int

    class Params:
        inflow: float = 0.5
        leaks: int = 1

    class Info:
        level: float
        lost: int

    observation_space = sekai.Box(-np.inf, np.inf, (2,), np.float32)
    action_space = sekai.Box(np.array([-1.0, 0.0], np.float32), np.array([1.0, 2.0], np.float32))

    @kernel
    def reset_lane(s, p, rng, i):
        s.level[i] = 1.0 + random.uniform(rng, i, -0.1, 0.1)
        s.lost[i] = 0

    @kernel
    def step_lane(s, p, rng, action, i):
        if at(p.leaks, i):
            s.lost[i] += random.integers(rng, i, 0, 3)
        s.level[i] += at(p.inflow, i) * action[i, 0] - 0.1 * action[i, 1] * s.lost[i]
        return s.level[i], (s.level[i] < 0.0) | (s.level[i] > 2.0), s.lost[i] > 8

    @kernel
    def observe_lane(s, p, obs, i):
        obs[i, 0], obs[i, 1] = s.level[i], s.lost[i]

    @kernel
    def inform_lane(s, p, info, i):
        info.level[i], info.lost[i] = s.level[i], s.lost[i]


class TankEnv(sekai.KernelEnv):
    batch = TankVecEnv


class Hesitant(policies.Policy):
    """A user's policy for CartPole: follows the pole, now and then not; lane -1 - w[1] does what it may not."""

    @kernel
    def act_lane(w, obs, rng, action, i):
        action[i] = obs[i, 2] + random.uniform(rng, i, -0.1, 0.1) > w[0]
        if i == -1 - w[1]:
            action[i] = 7


class Pump(policies.Policy):
    """A user's policy for tanks."""

    @kernel
    def act_lane(w, obs, rng, action, i):
        action[i, 0] = random.uniform(rng, i, -1.0, 1.0) * w[0]
        action[i, 1] = min(max(1.5 - obs[i, 0], 0.0), 2.0)


def weights(policy, groups, seed=0):
    return np.random.default_rng(seed).normal(size=(groups, policy.num_weights))


def network(vec, hidden, groups=1, **kwargs):
    policy = policies.MLP(vec, hidden, **kwargs)
    policy.weights = weights(policy, groups)
    return policy


# What policies there are for which batch, by name.
KINDS = {
    ("CartPole-v1", "random"): lambda vec, groups: "random",
    ("CartPole-v1", "constant"): lambda vec, groups: policies.Constant(np.arange(groups)[:, None] % 2),
    ("CartPole-v1", "linear"): lambda vec, groups: policies.Linear(vec, weights=weights(policies.Linear(vec), groups)),
    ("CartPole-v1", "tanh, argmax"): lambda vec, groups: network(vec, (9,), groups),
    ("CartPole-v1", "relu, sample"): lambda vec, groups: network(vec, (5, 4), groups, activation="relu", head="sample"),
    ("CartPole-v1", "own"): lambda vec, groups: Hesitant(np.linspace(-0.1, 0.1, 2 * groups).reshape(groups, 2)),
    ("Tank-v0", "random"): lambda vec, groups: policies.Random(),
    ("Tank-v0", "tanh, clip"): lambda vec, groups: network(vec, (6,), groups),
    ("Tank-v0", "own"): lambda vec, groups: Pump(np.linspace(0.5, 1.0, groups)[:, None]),
}


def make(env_id="CartPole-v1", n=7, mode="same_step", limit=25, seed=3, **kwargs):
    """A batch that has been reset."""
    if env_id == "Tank-v0":
        vec = TankVecEnv(n, autoreset=mode, max_episode_steps=limit, **kwargs)
    else:
        vec = sekai.make_vec(env_id, n, max_episode_steps=limit, vector_kwargs={"autoreset": mode, **kwargs})
    vec.reset(seed=seed)
    return vec


def bits(value):
    """An array, or a dict of arrays, as what tells it from all others."""
    if isinstance(value, dict):
        return {name: bits(part) for name, part in value.items()}
    return value.dtype, value.shape, value.tobytes()


def entry(values, *index):
    """An entry of an array, or of each in a dict of arrays."""
    if isinstance(values, dict):
        return {name: part[index] for name, part in values.items()}
    return values[index]


def joined(values):
    """Arrays, or dicts of arrays, one behind the other."""
    if isinstance(values[0], dict):
        return {name: joined([value[name] for value in values]) for name in values[0]}
    return np.concatenate(values)


def assert_same(found, expected, fields=FIELDS):
    """Two rollouts recorded the same, to the last bit."""
    for name in fields:
        assert bits(getattr(found, name)) == bits(getattr(expected, name)), name
    assert found.infos.keys() == expected.infos.keys()
    for name, array in found.infos.items():
        assert bits(array) == bits(expected.infos[name]), name
    assert_same_ends(found, expected)


def assert_same_ends(found, expected):
    """The same episodes ended."""
    for name in found.episodes._fields:
        assert bits(getattr(found.episodes, name)) == bits(getattr(expected.episodes, name)), name
    assert repr(found.statistics) == repr(expected.statistics)  # as text, NaN is equal to itself


def memory(vec):
    """All that decides how a batch goes on, but for the streams of policies."""
    return vec._memory[:, : vec.num_envs].tobytes()


def kernel_specs():
    """Specs of all registered kernel envs."""
    return [spec for spec in sekai.all_specs() if isinstance(spec.make().unwrapped, sekai.KernelEnv)]


def pytest_generate_tests(metafunc):
    """Run a test for each kernel env if it asks for an `env_id`, for each mode if it asks for a `mode`."""
    if "env_id" in metafunc.fixturenames:
        metafunc.parametrize("env_id", ["Tank-v0", *(spec.id for spec in kernel_specs())])
    if "kind" in metafunc.fixturenames:
        metafunc.parametrize("kind", KINDS, ids=lambda kind: " ".join(kind))
    if "mode" in metafunc.fixturenames:
        metafunc.parametrize("mode", MODES)


@pytest.fixture(scope="session")
def lib():
    """The names above, for test modules: they cannot import a conftest."""
    import types

    return types.SimpleNamespace(**{name: value for name, value in globals().items() if not name.startswith("_")})
