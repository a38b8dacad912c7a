"""Batches of kernel envs: arguments, seeds, options, infos, copies and the debug mode."""

import copy
import pickle
import re

import numpy as np
import pytest
from numpy.random import MT19937, PCG64, Generator

import sekai
from sekai.error import InvalidAction, ResetRequired, VecEnvClosed
from sekai.kernels import kernel

LANES = 4


@pytest.fixture
def vec(tank_vec_env):
    """Four tanks in mid-episode."""
    vec = tank_vec_env(LANES, max_episode_steps=30)
    vec.reset(seed=0)
    vec.step(np.zeros((LANES, 2)))
    return vec


def random_actions(steps, num_envs=LANES, seed=0):
    """Valid actions of tanks, (steps, N, 2)."""
    return np.random.default_rng(seed).uniform([-1.0, -2.0], [1.0, 2.0], (steps, num_envs, 2))


def shown(result):
    """All of a result, to be compared with another."""
    parts = [result.observations.tobytes(), repr(list(result.infos))]
    if hasattr(result, "rewards"):
        parts += [result.rewards.tobytes(), result.terminated.tobytes(), result.truncated.tobytes()]
    return parts


def play(vec, steps=40, **kwargs):
    """All results of a run of random actions."""
    first = [] if kwargs.get("seed", 0) is None else [shown(vec.reset(**{"seed": 0, **kwargs}))]
    return first + [shown(vec.step(actions)) for actions in random_actions(steps, len(vec))]


def everything(vec):
    """All that decides how a batch goes on."""
    return vec._memory.tobytes(), vec._param_rows.words.tobytes(), vec._seeded.tobytes(), vec._started, vec.initial_seed


# ---- construction ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"num_envs": 0}, ValueError, "num_envs must be >= 1, got 0"),
        ({"num_envs": 2.0}, TypeError, "num_envs must be an int, got 2.0"),
        ({"num_envs": True}, TypeError, "num_envs must be an int, got True"),
        ({"autoreset": "never"}, ValueError, r"autoreset must be a bool or one of .*'disabled'.*, got 'never'"),
        ({"max_episode_steps": 0}, ValueError, "max_episode_steps must be >= 1, got 0"),
        ({"max_episode_steps": 9.0}, TypeError, "max_episode_steps must be an int, got 9.0"),
        ({"outflow": 1.0}, TypeError, "TankVecEnv has no parameter 'outflow'; it has inflow, burst, tight"),
        ({"inflow": "1"}, TypeError, "inflow must be a number, got '1'"),
        ({"inflow": True}, TypeError, "inflow must be a number, got True"),
        ({"inflow": None}, TypeError, "inflow must be a number, got None"),
        ({"inflow": [1.0, 2.0]}, TypeError, r"inflow must be a number, got \[1.0, 2.0\]"),
        ({"inflow": np.ones(LANES)}, TypeError, r"inflow must be a number, got array"),
        ({"inflow": np.nan}, ValueError, "inflow must not be NaN"),
        ({"inflow": 10**400}, ValueError, "inflow must fit a float, got 1000"),
        ({"burst": 1.0}, TypeError, "burst must be an int, got 1.0"),
        ({"burst": True}, TypeError, "burst must be an int, got True"),
        ({"burst": 2**63}, ValueError, "burst must fit 64 bits, got 9223372036854775808"),
        ({"tight": 1}, TypeError, "tight must be a bool, got 1"),
        ({"inflow": sekai.PerLane([1.0] * 3)}, ValueError, r"one value per lane, shape \(4,\), got shape \(3,\)"),
        ({"inflow": sekai.PerLane(1.0)}, ValueError, r"inflow .* shape \(4,\), got shape \(\)"),
        ({"inflow": sekai.PerLane([[1.0]] * 4)}, ValueError, r"inflow .* shape \(4,\), got shape \(4, 1\)"),
        ({"inflow": sekai.PerLane(["1"] * 4)}, TypeError, "inflow must hold values that are each a number"),
        ({"inflow": sekai.PerLane([1.0, 1.0, np.nan, 1.0])}, ValueError, "inflow must not be NaN, got NaN in lane 2"),
        ({"burst": sekai.PerLane([1.0] * 4)}, TypeError, "burst must hold values that are each an int"),
        ({"burst": sekai.PerLane([1, 2, 3, 2**63])}, TypeError, "burst .* each an int, got an array of float64"),
        ({"burst": sekai.PerLane(np.uint64([1, 2**63, 0, 0]))}, ValueError, "burst must fit 64 bits, got .* in lane 1"),
        ({"tight": sekai.PerLane([0, 1, 0, 1])}, TypeError, "tight must hold values that are each a bool"),
    ],
)  # fmt: skip
def test_bad_arguments_are_refused(tank_vec_env, arguments, error, message):
    with pytest.raises(error, match=message):
        tank_vec_env(**{"num_envs": LANES, **arguments})
    parameters = {name: value for name, value in arguments.items() if name in ("inflow", "burst", "tight")}
    for name, value in parameters.items():  # the same as attributes
        vec = tank_vec_env(LANES)
        before = everything(vec)
        with pytest.raises(error, match=message):
            setattr(vec, name, value)
        assert everything(vec) == before


def test_a_parameter_without_a_default_has_to_be_given(tank_vec_env):
    class Strict(tank_vec_env):
        class Params:
            inflow: float
            burst: int = 3
            tight: bool = False

    with pytest.raises(TypeError, match="Strict needs a value for inflow"):
        Strict(2)
    assert Strict(2, inflow=2).inflow == 2.0


def test_declarations_are_checked_when_the_class_is_made(tank_vec_env):
    with pytest.raises(TypeError, match=r"State.level must be annotated float.* got <class 'str'>"):

        class Wrong(tank_vec_env):
            class State:
                level: str

    with pytest.raises(TypeError, match=r"burst must be an int, got 1\.5"):

        class Unfit(tank_vec_env):
            class Params:
                burst: int = 1.5


def test_lane_functions_must_be_there_and_actions_be_numbers(tank_vec_env):
    class Empty(sekai.KernelVecEnv):
        observation_space = tank_vec_env.observation_space
        action_space = sekai.Discrete(2)

    with pytest.raises(TypeError, match="Empty must define reset_lane, step_lane, observe_lane"):
        Empty(2)

    class Silent(tank_vec_env):
        class Info:
            t: int

        inform_lane = None

    with pytest.raises(TypeError, match="Silent must define inform_lane, which writes what Info names"):
        Silent(2)

    for name, space in (("observation_space", None), ("action_space", "Discrete(2)")):
        with pytest.raises(TypeError, match=rf"Open must define {name}, a sekai Space, got {re.escape(repr(space))}"):
            type("Open", (tank_vec_env,), {name: space})(2)

    with pytest.raises(TypeError, match=r"State, Params, Info and Options must be classes with annotations, got \{"):
        type("Loose", (tank_vec_env,), {"State": {"x": float}})

    for name in ("debug", "copy"):
        with pytest.raises(TypeError, match=f"{name} must be a bool, got 'no'"):
            tank_vec_env(2, **{name: "no"})

    class Wordy(tank_vec_env):
        action_space = sekai.Dict({"a": sekai.Discrete(2)})

    with pytest.raises(TypeError, match="needs a Discrete, MultiDiscrete, MultiBinary or floating Box action_space"):
        Wordy(2)


def test_a_batch_describes_itself(vec, tank_vec_env):
    assert repr(vec) == "TankVecEnv(num_envs=4)"
    assert (len(vec), vec.num_envs, vec.closed, vec.spec) == (4, 4, False, None)
    assert vec.batch_observation_space.shape == (4, 3)
    assert vec.batch_action_space.shape == (4, 2)
    assert vec.batch_action_space is vec.batch_action_space
    assert vec.action_space is not tank_vec_env.action_space  # seeding one batch's leaves others alone


# ---- parameters ------------------------------------------------------------------------------------


def test_parameters_are_attributes(tank_vec_env):
    vec = tank_vec_env(3, inflow=2, tight=True)
    assert (vec.inflow, vec.burst, vec.tight) == (2.0, 3, True)
    assert [type(value) for value in (vec.inflow, vec.burst, vec.tight)] == [float, int, bool]
    vec.burst = sekai.PerLane([5, 6, 7])
    vec.tight = sekai.PerLane([True, False, True])
    assert (vec.inflow, vec.burst.tolist(), vec.tight.tolist()) == (2.0, [5, 6, 7], [True, False, True])
    assert (vec.burst.dtype, vec.tight.dtype) == (np.int64, np.bool_)
    vec.burst = -1
    assert vec.burst == -1
    vec.inflow = -np.inf
    assert vec.inflow == -np.inf


def test_a_lane_with_its_own_parameters_is_a_single_env_with_them(tank_vec_env, tank_env):
    values = {"inflow": [0.1, 0.5, 0.9, -0.2], "burst": [1, 2, 9, 0], "tight": [False, True, False, True]}
    vec = tank_vec_env(LANES, autoreset=False, **{name: sekai.PerLane(row) for name, row in values.items()})
    first = vec.reset(seed=3)
    actions = random_actions(15)
    results = [vec.step(action) for action in actions]
    for lane, seed in enumerate(sekai.lane_seeds(3, LANES)):
        env = tank_env(**{name: row[lane] for name, row in values.items()})
        assert env.reset(seed=seed).observation.tobytes() == first.observations[lane].tobytes()
        for action, batched in zip(actions, results, strict=True):
            result = env.step(action[lane])
            assert result.observation.tobytes() == batched.observations[lane].tobytes()
            assert (result.reward, result.info) == (batched.rewards[lane], batched.infos[lane])
            if result.done:
                break


def test_a_changed_parameter_takes_effect_at_the_next_step(vec):
    other = copy.deepcopy(vec)
    vec.inflow = 0.0
    other.inflow = sekai.PerLane([0.0] * LANES)
    full = np.tile([1.0, 0.0], (LANES, 1))
    leaks = vec.step(full).observations[:, 0]
    assert leaks.tolist() == other.step(full).observations[:, 0].tolist()
    assert (leaks <= vec.reset(seed=0).observations[:, 0]).all()  # nothing flowed in


# ---- seeds -----------------------------------------------------------------------------------------


def test_an_int_seeds_lanes_by_lane_seeds(tank_vec_env):
    for seed in (0, 7, 2**64 + 5, 2**200 + 1, np.int64(7)):
        vec, listed = tank_vec_env(70), tank_vec_env(70)  # more lanes than NumPy seeds one by one
        assert play(vec, seed=seed) == play(listed, seed=sekai.lane_seeds(int(seed), 70))
        assert vec.initial_seed == seed
    few = tank_vec_env(5)
    assert few.reset(seed=0).observations.tolist() == tank_vec_env(70).reset(seed=0).observations[:5].tolist()


def test_seeds_of_any_size_are_numpys(tank_vec_env):
    seeds = [0, 2**32, 2**128 - 1, 2**128, 2**300 + 17]
    first = tank_vec_env(5).reset(seed=seeds).observations[:, 0]
    uniforms = [1.0 + Generator(PCG64(seed)).uniform(-0.1, 0.1) for seed in seeds]
    assert first.tolist() == np.float32(uniforms).tolist()
    many = tank_vec_env(100).reset(seed=seeds * 20).observations[:, 0]
    assert many.tolist() == np.tile(first, 20).tolist()


def test_without_a_seed_streams_go_on(tank_vec_env):
    vec, twin = tank_vec_env(LANES), tank_vec_env(LANES)
    vec.reset(seed=1)
    twin.reset(seed=1)
    again = vec.reset().observations
    assert again.tolist() == twin.reset(seed=None).observations.tolist()
    assert again.tolist() != vec.reset(seed=1).observations.tolist()


def test_the_seed_of_a_batch_that_never_got_one_can_be_read_and_replayed(tank_vec_env):
    vec, other = tank_vec_env(LANES), tank_vec_env(LANES)
    first, different = vec.reset().observations.tolist(), other.reset().observations.tolist()
    assert first != different
    assert tank_vec_env(LANES).reset(seed=vec.initial_seed).observations.tolist() == first
    vec.reset()
    assert tank_vec_env(LANES).reset(seed=other.initial_seed).observations.tolist() == different


def test_none_in_a_list_lets_a_stream_go_on_or_begins_one(tank_vec_env):
    vec, twin = tank_vec_env(2), tank_vec_env(2)
    first = vec.reset(seed=[5, None]).observations
    assert twin.reset(seed=vec.initial_seed).observations[1].tolist() == first[1].tolist()
    twin.reset(seed=[5, vec.initial_seed])
    twin.reset(seed=[5, sekai.lane_seeds(vec.initial_seed, 2)[1]])
    assert vec.reset(seed=[None, 6]).observations[0].tolist() == twin.reset().observations[0].tolist()


def test_a_generator_in_a_list_is_used_itself(tank_vec_env, tank_env):
    generator = Generator(PCG64(5))
    generator.integers(10)  # half a word is left for the next 32-bit draw
    replica = copy.deepcopy(generator)
    vec, env = tank_vec_env(3), tank_env()
    first = vec.reset(seed=[1, generator, 2]).observations[1]
    assert first.tolist() == env.reset(seed=replica).observation.tolist()
    for k, actions in enumerate(random_actions(12, 3)):
        if k == 6:  # the stream is shared with whoever else draws from it
            assert generator.random() == replica.random()
        result = env.step(actions[1])
        batched = vec.step(actions)
        end = batched.infos[1].get("final_observation", batched.observations[1])
        assert end.tolist() == result.observation.tolist()
        if result.done:
            env.reset()
    assert generator.bit_generator.state == replica.bit_generator.state
    before = generator.bit_generator.state
    vec.reset(seed=[1, 3, 2])
    vec.step(random_actions(1, 3)[0])
    assert generator.bit_generator.state == before  # another seed lets it go


def test_a_generator_of_another_lane_is_refused(tank_vec_env):
    generator = Generator(PCG64(5))
    vec = tank_vec_env(3)
    vec.reset(seed=[generator, 1, 2])
    before = everything(vec)
    with pytest.raises(ValueError, match="lanes 0 and 2 the same Generator"):
        vec.reset(seed=[None, 3, generator])
    assert everything(vec) == before
    vec.reset(seed=[4, 3, generator])  # lane 0 has let it go


BAD_SEEDS = [
    (-1, ValueError, "seed must be >= 0, got -1"),
    (1.0, TypeError, "seed must be an int, got 1.0"),
    ("1", ValueError, "an int, a list with one seed per lane or None, got '1'"),
    (True, TypeError, "seed must be an int, got True"),
    ((1, 2, 3, 4), TypeError, r"got \(1, 2, 3, 4\): pass list\(seed\)"),
    (np.arange(4), TypeError, r"got array\(\[0, 1, 2, 3\]\): pass list\(seed\)"),
    ([1, 2, 3], ValueError, "seed must have one entry per lane, 4, got 3"),
    ([1, 2, 3, -4], ValueError, "seed must be >= 0, got -4"),
    ([1, 2, 3, 4.0], TypeError, "seed must be an int, got 4.0"),
    ([1, 2, 3, False], TypeError, "seed must be an int, got False"),
    (Generator(PCG64(1)), TypeError, "seed must be an int, a list with one seed per lane or None, not one Generator"),
    ([1, 2, 3, Generator(MT19937(1))], TypeError, "Generator of lane 3 must be over a PCG64.*, not over MT19937"),
    ([1, *[Generator(PCG64(1))] * 2, 4], ValueError, "lanes 1 and 2 the same Generator"),
]


@pytest.mark.parametrize(("seed", "error", "message"), BAD_SEEDS)
def test_bad_seeds_change_nothing(vec, seed, error, message):
    before = everything(vec)
    with pytest.raises(error, match=message):
        vec.reset(seed=seed, options={"level": 0.5})
    assert everything(vec) == before


# ---- options ---------------------------------------------------------------------------------------


def test_options_go_to_all_lanes_or_to_each(tank_vec_env):
    vec = tank_vec_env(LANES)
    plain = vec.reset(seed=0).observations
    vec.reset(seed=0, options={"level": 0.5, "drops": 4, "unknown": "ignored"})
    assert vec._state_row("level").tolist() == pytest.approx(plain[:, 0] - 0.5, abs=1e-7)  # float32
    assert vec._state_row("drops").tolist() == [4] * LANES
    listed = vec.reset(seed=0, options=[{"drops": 1}, None, {}, {"level": np.float32(0.5), "drops": np.int8(3)}])
    assert vec._state_row("drops").tolist() == [1, 0, 0, 3]
    assert listed.observations[:3, 0].tolist() == plain[:3, 0].tolist()
    assert listed.observations[3, 0] == np.float32(vec._state_row("level")[3])
    assert vec.reset(seed=0).observations.tolist() == plain.tolist()  # they were for one reset
    assert tank_vec_env(1).reset(seed=0, options=[{"drops": 7}]).observations[0, 1] == 7.0


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ("full", TypeError, "options must be a dict or None, got 'full'"),
        (({"level": 1.0},) * 4, TypeError, "options must be a dict or None, got"),
        ([{}, {}], ValueError, "options must have one entry per lane, 4, got 2"),
        ([{}, {}, {}, 3], TypeError, "options must be a dict or None, got 3"),
        ({"level": "1"}, TypeError, "level must be a number, got '1'"),
        ({"level": np.nan}, ValueError, "level must not be NaN"),
        ([{}, {}, {}, {"drops": 1.5}], TypeError, "drops must be an int, got 1.5"),
    ],
)
def test_bad_options_change_nothing(vec, options, error, message):
    before = everything(vec)
    with pytest.raises(error, match=message):
        vec.reset(seed=9, options=options)
    assert everything(vec) == before


# ---- actions ---------------------------------------------------------------------------------------


def with_action(lane, action):
    """Valid actions but for one lane."""
    actions = np.zeros((LANES, 2))
    actions[lane] = action
    return actions


BAD_ACTIONS = [
    (np.zeros((3, 2)), ValueError, r"actions must have shape \(4, 2\), got \(3, 2\)"),
    (np.zeros(4), ValueError, r"actions must have shape \(4, 2\), got \(4,\)"),
    (np.zeros((4, 2, 1)), ValueError, r"actions must have shape \(4, 2\), got \(4, 2, 1\)"),
    ([[0, 0], [0, 0], [0, 0], [0]], ValueError, r"actions must have shape \(4, 2\), got rows of different lengths"),
    (None, ValueError, r"actions must have shape \(4, 2\), got \(\)"),
    ("left", ValueError, r"actions must have shape \(4, 2\), got \(\)"),
    (np.zeros((4, 2), np.bool_), InvalidAction, r"(?s)action array.*does not lie in Box"),
    (np.zeros((4, 2), np.complex128), InvalidAction, r"does not lie in Box"),
    (np.full((4, 2), "0"), InvalidAction, r"does not lie in Box"),
    ([[2**70, 0]] * 4, InvalidAction, r"does not lie in Box"),
    (with_action(2, [np.nan, 0.0]), InvalidAction, r"action array\(\[nan,  0.\]\) of lane 2 does not lie in Box"),
    (with_action(0, [0.0, np.nextafter(2.0, 3.0)]), InvalidAction, r"of lane 0 does not lie in Box"),
    (with_action(3, [-np.inf, 0.0]), InvalidAction, r"of lane 3 does not lie in Box"),
    (np.full((4, 2), 2**64 - 1, np.uint64), InvalidAction, r"of lane 0 does not lie in Box"),
]


@pytest.mark.parametrize(("actions", "error", "message"), BAD_ACTIONS)
def test_bad_actions_change_nothing(vec, actions, error, message):
    before = everything(vec)
    with pytest.raises(error, match=message):
        vec.step(actions)
    assert everything(vec) == before


@pytest.mark.parametrize(
    ("actions", "error", "message"),
    [
        ([0.0, 1.0], InvalidAction, r"action array\(\[0., 1.\]\) does not lie in Discrete\(2\)"),
        ([True, False], InvalidAction, r"does not lie in Discrete\(2\)"),
        ([0, 2], InvalidAction, r"action .*2.* of lane 1 does not lie in Discrete\(2\)"),
        ([-1, 0], InvalidAction, r"action .*-1.* of lane 0 does not lie in Discrete\(2\)"),
        (np.array([0, 2**63], np.uint64), InvalidAction, r"of lane 1 does not lie in Discrete\(2\)"),
        (np.array([2**32, 0]), InvalidAction, r"of lane 0 does not lie in Discrete\(2\)"),
        ([2**70, 0], InvalidAction, r"does not lie in Discrete\(2\)"),
        ([[0], [1]], ValueError, r"actions must have shape \(2,\), got \(2, 1\)"),
    ],
)
def test_bad_discrete_actions_change_nothing(actions, error, message):
    vec = sekai.make_vec("CartPole-v1", 2)
    vec.reset(seed=0)
    before = everything(vec)
    with pytest.raises(error, match=message):
        vec.step(actions)
    assert everything(vec) == before


def test_actions_may_be_any_array_of_the_right_numbers(vec):
    numbers = np.array([[1, -2], [0, 1], [-1, 0], [1, 2]])
    twins = [copy.deepcopy(vec) for _ in range(8)]
    wide = np.zeros((LANES, 4))
    wide[:, ::2] = numbers
    read_only = numbers.astype(np.float64)
    read_only.flags.writeable = False
    kinds = [
        numbers.tolist(), numbers, numbers.astype(np.int8), numbers.astype(np.float32), wide[:, ::2],
        np.asfortranarray(numbers.astype(np.float64)), read_only, numbers.astype(">f8"),
    ]  # fmt: skip
    expected = shown(vec.step(numbers.astype(np.float64)))
    assert [shown(twin.step(actions)) for twin, actions in zip(twins, kinds, strict=True)] == [expected] * 8


def test_actions_of_frozen_lanes_are_ignored(tank_vec_env):
    vec = tank_vec_env(LANES, autoreset=False)
    vec.reset(seed=0, options=[{"drops": 30}, None, None, None])
    assert vec.step(np.zeros((LANES, 2))).dones.tolist() == [True, False, False, False]
    result = vec.step(with_action(0, [np.nan, 9.0]))
    assert (result.rewards[0], result.truncated[0], result.infos[0]) == (0.0, True, {})
    with pytest.raises(InvalidAction, match="of lane 1"):
        vec.step(with_action(1, [np.nan, 9.0]))


# ---- life cycle ------------------------------------------------------------------------------------


def test_a_batch_is_reset_before_it_is_stepped(tank_vec_env):
    vec = tank_vec_env(LANES)
    with pytest.raises(ResetRequired, match=r"call reset\(\) before step\(\)"):
        vec.step(np.zeros((LANES, 2)))


def test_a_closed_batch_refuses_to_go_on(tank_vec_env):
    with tank_vec_env(LANES) as vec:
        vec.reset(seed=0)
    assert vec.closed
    vec.close()
    for act in (vec.reset, lambda: vec.step(np.zeros((LANES, 2)))):
        with pytest.raises(VecEnvClosed, match="closed"):
            act()


# ---- infos -----------------------------------------------------------------------------------------


def stepped_to_an_end(tank_vec_env):
    """The result of a step in which tank 1 of 3 ran dry and was reset, and the dict of its last step."""
    vec = tank_vec_env(3, max_episode_steps=30)
    vec.reset(seed=4, options=[None, {"level": 0.2}, None])
    result = vec.step([[0, 0], [-1, 0], [0, 0]])
    assert result.dones.tolist() == [False, True, False]
    return result


def test_infos_are_dicts_of_python_numbers(tank_vec_env):
    result = stepped_to_an_end(tank_vec_env)
    infos = result.infos
    assert list(infos[0]) == ["height", "drops", "leaking", "elapsed_steps"]
    assert [type(value) for value in infos[0].values()] == [float, int, bool, int]
    assert infos[0]["height"] == result.rewards[0]
    assert infos[0]["elapsed_steps"] == 1
    assert infos[0] is not infos[0]


def test_the_info_of_an_end_holds_the_specified_keys(tank_vec_env):
    result = stepped_to_an_end(tank_vec_env)
    info = result.infos[1]
    own = {name: info[name] for name in ("height", "drops", "leaking", "elapsed_steps")}
    assert info.keys() == own.keys() | {"final_observation", "final_info", "reset_info"}
    assert info["final_info"] == own
    assert info["height"] == result.rewards[1] < 0.0
    assert info["reset_info"].keys() == {"height", "drops", "leaking"}
    assert np.float32(info["reset_info"]["height"]) == result.observations[1, 0]
    assert info["final_observation"].tolist() == [np.float32(own["height"]), own["drops"], own["leaking"]]
    assert (result.final_lanes.tolist(), result.final_lanes.dtype) == ([1], np.int64)
    assert result.final_observations.tolist() == [info["final_observation"].tolist()]


@pytest.mark.parametrize("mode", ["same_step", "next_step", "disabled"])
def test_infos_of_resets_are_arrays_too(tank_vec_env, mode):
    vec = tank_vec_env(5, max_episode_steps=3, autoreset=mode)
    lanes, arrays = vec.reset(seed=1).infos.reset_arrays()
    assert (lanes.tolist(), arrays) == ([], {})  # a step's alone
    found = 0
    for _ in range(12):
        infos = vec.step(np.zeros((5, 2), np.int64)).infos
        told = {
            i: info.get("reset_info") or {name: value for name, value in info.items() if name != "reset"}
            for i, info in enumerate(infos)
            if "reset_info" in info or "reset" in info
        }
        lanes, arrays = infos.reset_arrays()
        assert lanes.tolist() == list(told)
        for k, info in enumerate(told.values()):
            assert {name: column[k].item() for name, column in arrays.items()} == info
        found += len(told)
    assert (found > 0) == (mode != "disabled")


def test_infos_are_a_sequence(tank_vec_env):
    infos = stepped_to_an_end(tank_vec_env).infos
    assert len(infos) == 3
    assert infos[-3] == infos[0] == infos[np.int64(0)]
    assert infos[::2] == [infos[0], infos[2]]
    assert infos[2:] == [infos[2]]
    assert [info["drops"] for info in infos] == [infos[i]["drops"] for i in range(3)]
    for index in (3, -4):
        with pytest.raises(IndexError):
            infos[index]
    with pytest.raises(TypeError):
        infos["drops"]
    assert repr(infos) == "LazyInfos(num_envs=3, names=['height', 'drops', 'leaking', 'elapsed_steps'])"


def test_arrays_of_infos_are_those_of_the_step(tank_vec_env):
    result = stepped_to_an_end(tank_vec_env)
    arrays = result.infos.arrays
    assert {name: array.dtype for name, array in arrays.items()} == {
        "height": np.float64,
        "drops": np.int64,
        "leaking": np.bool_,
        "elapsed_steps": np.int64,
    }
    for i in range(3):
        info = result.infos[i]
        assert {name: array[i] for name, array in arrays.items()} == info.get("final_info", info)
    assert sekai.stack_infos(result.infos)["height"].tolist() == arrays["height"].tolist()


def test_without_a_time_limit_steps_are_not_told(tank_vec_env):
    vec = tank_vec_env(2)
    assert (
        list(vec.reset(seed=0).infos[0]) == list(vec.step(np.zeros((2, 2))).infos[0]) == ["height", "drops", "leaking"]
    )


def test_results_can_be_pickled(tank_vec_env):
    result = stepped_to_an_end(tank_vec_env)
    for twin in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        assert shown(twin) == shown(result)
        assert twin.final_lanes.tolist() == [1]
    first = tank_vec_env(2).reset(seed=0)
    assert shown(pickle.loads(pickle.dumps(first))) == shown(first)


def test_a_step_without_ends_has_an_empty_batch_of_final_observations(vec):
    result = vec.step(np.zeros((LANES, 2)))
    assert (result.final_observations.shape, result.final_observations.dtype) == ((0, 3), np.float32)
    assert (result.final_lanes.shape, result.final_lanes.dtype) == ((0,), np.int64)


# ---- copies ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda vec: pickle.loads(pickle.dumps(vec))])
def test_a_copy_goes_on_as_the_original(tank_vec_env, duplicate):
    vec = tank_vec_env(LANES, max_episode_steps=9, inflow=sekai.PerLane([0.1, 0.2, 0.3, 0.4]))
    generator = Generator(PCG64(8))
    vec.reset(seed=[1, generator, 2, 3])
    vec.step(np.zeros((LANES, 2)))
    twin = duplicate(vec)
    before = generator.bit_generator.state
    found = play(twin, seed=None)
    assert generator.bit_generator.state == before  # the copy has one of its own
    assert found == play(vec, seed=None)
    assert shown(twin.reset()) == shown(vec.reset())
    assert twin.initial_seed == vec.initial_seed


def test_a_snapshot_fits_a_batch_of_equal_parameters(tank_vec_env):
    vec, other = tank_vec_env(LANES, burst=-1), tank_vec_env(LANES, burst=-1)  # -1 has the bits of a NaN
    first = vec.reset(seed=0).observations
    other.set_state(vec.get_state())
    assert other.reset(mask=np.zeros(LANES, np.bool_)).observations.tolist() == first.tolist()


# ---- debug mode ------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["same_step", "next_step", "disabled"])
def test_debug_mode_gives_the_same_bits(tank_vec_env, mode):
    arguments = {"autoreset": mode, "max_episode_steps": 9, "inflow": sekai.PerLane([0.1, 0.2, 0.9])}
    plain, compiled = tank_vec_env(3, debug=True, **arguments), tank_vec_env(3, **arguments)
    options = [{"level": 0.5}, None, {"drops": 12}]
    assert play(plain, steps=25, options=options) == play(compiled, steps=25, options=options)


def test_debug_mode_gives_cartpole_the_same_bits():
    runs = []
    for debug in (True, False):
        vec = sekai.make_vec("CartPole-v1", 3, max_episode_steps=15, debug=debug)
        vec.reset(seed=0, options={"low": -0.2, "high": 0.2})
        runs.append([shown(vec.step(actions)) for actions in np.random.default_rng(0).integers(2, size=(30, 3))])
    assert runs[0] == runs[1]


def test_an_error_in_a_lane_function_changes_nothing(tank_vec_env):
    class Faulty(tank_vec_env):
        @kernel
        def step_lane(s, p, rng, action, i):
            s.level[i] += 1.0
            return s.level[i + 1], False, False  # beyond the last lane

    vec = Faulty(3, debug=True)
    generator = Generator(PCG64(1))
    vec.reset(seed=[0, generator, 1])
    before, stream = everything(vec), generator.bit_generator.state
    with pytest.raises(IndexError, match="out of bounds"):
        vec.step(np.zeros((3, 2)))
    assert everything(vec) == before
    assert generator.bit_generator.state == stream
