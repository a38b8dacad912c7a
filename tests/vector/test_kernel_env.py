"""Single kernel envs: the rules of an `Env`, the state, the stream, and a user's env against plain NumPy."""

import copy
import pickle

import numpy as np
import pytest
from numpy.random import PCG64, Generator

import sekai
from sekai.error import InvalidAction, ResetRequired
from sekai.kernels import kernel

# ---- a user's env against plain NumPy --------------------------------------------------------------


class NumpyTank:
    """The tank of `conftest.py` in Python and NumPy."""

    def __init__(self, seed, inflow=0.5, burst=3, tight=False):
        self.rng = Generator(PCG64(seed))
        self.inflow, self.burst, self.tight = inflow, burst, tight

    def reset(self, level=1.0, drops=0):
        self.level = level + self.rng.uniform(-0.1, 0.1)
        self.drops = drops
        self.leaking = self.rng.random() < 0.5
        return np.array([self.level, self.drops, self.leaking], np.float32)

    def step(self, action):
        lost = int(self.rng.integers(0, self.burst + 1)) if self.leaking else 0
        self.drops += lost
        self.level += self.inflow * action[0] + 0.1 * action[1] * self.rng.standard_normal() - 0.1 * lost
        self.leaking = self.rng.random() < 0.5 and not self.tight
        terminated, truncated = self.level < 0.0 or self.level > 2.0, self.drops > 20
        info = {"height": self.level, "drops": self.drops, "leaking": self.leaking}
        return np.array([self.level, self.drops, self.leaking], np.float32), self.level, terminated, truncated, info


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("params", [{}, {"inflow": 0.05, "burst": 9}, {"tight": True}])
def test_a_users_env_is_its_numpy_twin(tank_env, params, debug):
    env, twin = tank_env(debug=debug, **params), NumpyTank(11, **params)
    actions = np.random.default_rng(0).uniform([-1.0, -2.0], [1.0, 2.0], (100, 2))
    assert env.reset(seed=11).observation.tolist() == twin.reset().tolist()
    ends = 0
    for action in actions:
        result, (observation, reward, terminated, truncated, info) = env.step(action), twin.step(action)
        # The compiler may not fuse or reorder, so that even the last bits agree.
        assert result.observation.tolist() == observation.tolist()
        assert (result.reward, result.terminated, result.truncated) == (reward, terminated, truncated)
        assert result.info == info
        if result.done:
            ends += 1
            options = {"level": 0.5, "drops": ends}
            assert env.reset(options=options).observation.tolist() == twin.reset(**options).tolist()
    assert ends > 1


@pytest.mark.parametrize("debug", [False, True])
def test_results_are_of_python_types(tank_env, debug):
    env = tank_env(debug=debug)
    first = env.reset(seed=0)
    result = env.step(np.zeros(2))
    assert [type(value) for value in (result.reward, result.terminated, result.truncated)] == [float, bool, bool]
    assert [type(value) for value in result.info.values()] == [float, int, bool]
    assert (result.observation.shape, result.observation.dtype) == ((3,), np.float32)
    assert first.info.keys() == result.info.keys()
    assert first.observation.base is not result.observation.base


# ---- the rules of an Env ---------------------------------------------------------------------------


def test_an_env_is_reset_before_it_is_stepped(tank_env):
    env = tank_env()
    with pytest.raises(InvalidAction):
        env.step([0.0, 3.0])  # the action is looked at first
    with pytest.raises(ResetRequired, match=r"call reset\(\) before step\(\)"):
        env.step([0.0, 0.0])


def test_a_step_past_the_end_is_refused(tank_env):
    env = tank_env()
    env.reset(seed=0, options={"drops": 30})
    assert env.step([0.0, 0.0]).truncated
    before = env._vec._memory.tobytes()
    with pytest.raises(ResetRequired, match="the episode is over"):
        env.step([0.0, 0.0])
    assert env._vec._memory.tobytes() == before
    env.reset()
    assert not env.step([0.0, 0.0]).truncated


@pytest.mark.parametrize(
    "action",
    [
        None,
        "left",
        0.0,
        [0.0],
        [0.0, 0.0, 0.0],
        [[0.0, 0.0]],
        [[0.0], [0.0, 0.0]],
        [True, False],
        [0j, 0j],
        ["0", "0"],
        [np.nan, 0.0],
        [0.0, np.inf],
        [0.0, np.nextafter(2.0, 3.0)],
        [2**70, 0],
        np.array([2**64 - 1, 0], np.uint64),
        {"a": 1},
    ],
)
def test_an_action_outside_a_box_changes_nothing(tank_env, action):
    env = tank_env()
    env.reset(seed=0)
    before = env._vec._memory.tobytes()
    with pytest.raises(InvalidAction, match=r"action .* does not lie in Box"):
        env.step(action)
    assert env._vec._memory.tobytes() == before


@pytest.mark.parametrize(
    "action",
    [None, 2, -1, 0.0, 1.0, np.nan, True, np.bool_(True), [1], np.array([1]), "1", 2**70, -(2**70), np.uint64(2**63)],
)
def test_an_action_outside_a_discrete_space_changes_nothing(action):
    env = sekai.make("CartPole-v1")
    env.reset(seed=0)
    before = env.unwrapped.state.tolist()
    with pytest.raises(InvalidAction, match=r"action .* does not lie in Discrete\(2\)"):
        env.step(action)
    assert env.unwrapped.state.tolist() == before
    assert env.elapsed_steps == 0


@pytest.mark.parametrize("action", [1, np.int8(1), np.uint64(1), np.array(1)])
def test_integers_of_all_kinds_are_discrete_actions(action):
    env, twin = sekai.make("CartPole-v1"), sekai.make("CartPole-v1")
    env.reset(seed=0)
    twin.reset(seed=0)
    assert env.step(action).observation.tolist() == twin.step(1).observation.tolist()


def test_a_negative_action_is_not_a_huge_one():
    class ShiftedVecEnv(sekai.envs.CartPoleVecEnv):
        action_space = sekai.Discrete(3, start=-1)

    class ShiftedEnv(sekai.KernelEnv):
        batch = ShiftedVecEnv

    env = ShiftedEnv()
    env.reset(seed=0)
    env.step(-1)
    with pytest.raises(InvalidAction):
        env.step(np.uint64(2**64 - 1))
    with pytest.raises(InvalidAction):
        env.step(np.array(2**64 - 1, np.uint64))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"seed": -1}, ValueError, "seed must be >= 0, got -1"),
        ({"seed": 1.0}, TypeError, r"seed must be an int, got 1\.0"),
        ({"seed": [1]}, TypeError, r"seed must be an int, got \[1\]"),
        ({"seed": 1, "options": "full"}, TypeError, "options must be a dict or None, got 'full'"),
        ({"seed": 1, "options": [{}]}, TypeError, r"options must be a dict or None, got \[\{\}\]"),
        ({"seed": 1, "options": {"drops": 1.5}}, TypeError, r"drops must be an int, got 1\.5"),
    ],
)
def test_bad_arguments_of_reset_change_nothing(tank_env, arguments, error, message):
    env = tank_env()
    env.reset(seed=0)
    state, stream = env.state, env.rng.bit_generator.state
    with pytest.raises(error, match=message):
        env.reset(**arguments)
    assert env.state == state
    assert env.rng.bit_generator.state == stream


def test_unknown_parameters_are_refused(tank_env):
    with pytest.raises(TypeError, match="TankVecEnv has no parameter 'outflow'; it has inflow, burst, tight"):
        tank_env(outflow=1.0)
    env = tank_env(burst=5)
    assert (env.inflow, env.burst, env.tight) == (0.5, 5, False)
    with pytest.raises(TypeError, match=r"burst must be an int, got 1\.5"):
        env.burst = 1.5
    assert env.burst == 5


def test_a_subclass_may_override_step(tank_env):
    class Doubled(tank_env):
        def step(self, action):
            result = super().step(action)
            return sekai.StepResult(result.observation, 2.0 * result.reward, False, False, {})

    env, twin = Doubled(), tank_env()
    env.reset(seed=0)
    twin.reset(seed=0)
    assert env.step([0.0, 0.0]).reward == 2.0 * twin.step([0.0, 0.0]).reward


# ---- state -----------------------------------------------------------------------------------------


def test_the_state_has_the_declared_names_and_types(tank_env):
    env = tank_env()
    assert env.state is None
    observation = env.reset(seed=0, options={"drops": 4}).observation
    assert env.state._fields == ("level", "drops", "leaking")
    assert [type(value) for value in env.state] == [float, int, bool]
    assert np.float32(env.state).tolist() == observation.tolist()


def test_the_state_may_be_assigned_in_whole_or_in_part(tank_env):
    env = tank_env()
    env.reset(seed=0)
    env.state = (0.5, 7, True)
    assert env.state == (0.5, 7, True)
    env.state = {"drops": 9}
    assert env.state == (0.5, 9, True)
    env.state = env.state._replace(level=np.float32(0.25))
    assert env.state == (0.25, 9, True)
    assert env.observe().tolist() == [0.25, 9.0, 1.0]


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ((1.0, 2), ValueError, r"state must have 3 values \(level, drops, leaking\), got 2"),
        ({"volume": 1.0}, ValueError, "state has no value 'volume'; it has level, drops, leaking"),
        ((1.0, 2.0, True), TypeError, r"drops must be an int, got 2\.0"),
        ((1.0, 2, 1), TypeError, "leaking must be a bool, got 1"),
        ({"drops": 5, "level": np.nan}, ValueError, "level must not be NaN"),
    ],
)
def test_a_bad_state_changes_nothing(tank_env, values, error, message):
    env = tank_env()
    env.reset(seed=0)
    before = env.state
    with pytest.raises(error, match=message):
        env.state = values
    assert env.state == before


def test_an_env_may_begin_with_an_assigned_state(tank_env):
    envs = [tank_env(), tank_env()]
    for env in envs:
        env.state = (1.0, 0, True)
    first, second = ([env.step([0.0, 1.0]).reward for _ in range(3)] for env in envs)
    assert first != second  # each has a stream from the operating system


# ---- stream ----------------------------------------------------------------------------------------


def test_the_stream_is_a_numpy_generator_in_step_with_the_kernels(tank_env):
    env, twin = tank_env(), NumpyTank(3)
    env.reset(seed=3)
    twin.reset()
    generator = env.rng
    assert isinstance(generator, Generator)
    for k in range(6):
        if k % 2:
            assert generator.integers(10) == twin.rng.integers(10)  # leaves half a word, which the kernels go on with
        assert env.step([0.1, 1.0]).reward == twin.step([0.1, 1.0])[1]
        assert env.rng is generator
        assert generator.bit_generator.state == twin.rng.bit_generator.state


def test_a_generator_given_as_seed_is_used_itself(tank_env):
    generator, replica = Generator(PCG64(5)), Generator(PCG64(5))
    env, twin = tank_env(), tank_env()
    assert env.reset(seed=generator).observation.tolist() == twin.reset(seed=5).observation.tolist()
    assert env.rng is generator
    assert generator.random() == twin.rng.random() != replica.random()
    env.rng = replica
    assert env.rng is replica
    before = generator.bit_generator.state
    env.reset()
    assert generator.bit_generator.state == before


def test_one_generator_may_serve_two_envs_in_turn(tank_env):
    shared, replica = Generator(PCG64(5)), Generator(PCG64(5))
    first, second = tank_env(), tank_env()
    found = [env.reset(seed=shared).observation[0] for env in (first, second)]
    found += [env.reset().observation[0] for env in (second, first)]
    expected = []
    for _ in range(4):
        expected.append(np.float32(1.0 + replica.uniform(-0.1, 0.1)))
        replica.random()
    assert found == expected


def test_an_env_without_a_seed_begins_anywhere_and_goes_on(tank_env):
    env, other = tank_env(), tank_env()
    starts = [env.reset().observation.tolist(), env.reset().observation.tolist(), other.reset().observation.tolist()]
    assert len({tuple(start) for start in starts}) == 3
    assert env.rng is env.rng


# ---- copies ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("asked", [False, True])
def test_a_copy_in_mid_episode_goes_on_as_the_original(tank_env, duplicate, asked):
    env = tank_env(inflow=0.1)
    env.reset(seed=6)
    env.step([0.5, 1.0])
    if asked:
        env.rng.integers(10)  # the generator exists from now on
    twin = duplicate(env)
    assert twin.inflow == 0.1
    for action in np.random.default_rng(0).uniform(-1.0, 1.0, (40, 2)):
        ours, theirs = env.step(action), twin.step(action)
        assert ours.observation.tolist() == theirs.observation.tolist()
        assert (ours.reward, ours.done, ours.info) == (theirs.reward, theirs.done, theirs.info)
        if ours.done:
            assert env.reset().observation.tolist() == twin.reset().observation.tolist()
    assert env.rng.random() == twin.rng.random()
    assert env.rng is not twin.rng


def test_a_copy_of_an_ended_episode_is_over_too(tank_env):
    env = tank_env()
    env.reset(seed=0, options={"drops": 30})
    env.step([0.0, 0.0])
    with pytest.raises(ResetRequired):
        copy.deepcopy(env).step([0.0, 0.0])


# ---- debug mode ------------------------------------------------------------------------------------


def test_lane_functions_may_print_in_debug_mode(tank_vec_env, capsys):
    class TalkingVecEnv(tank_vec_env):
        @kernel
        def step_lane(s, p, rng, action, i):
            print("lane", i, "pours", action[i, 0])  # noqa: T201
            return 0.0, False, False

    class TalkingEnv(sekai.KernelEnv):
        batch = TalkingVecEnv

    env = TalkingEnv(debug=True)
    env.reset(seed=0)
    env.step([0.5, 0.0])
    assert capsys.readouterr().out == "lane 0 pours 0.5\n"
