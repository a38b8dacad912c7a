"""What the classic-control environments have in common: parameters, options, state and errors, against Gymnasium's."""

import copy
import pickle
from fractions import Fraction

import gymnasium
import numpy as np
import pytest

import sekai
from sekai.envs import classic_control
from sekai.envs.classic_control import ClassicControlEnv
from sekai.error import InvalidAction, ResetRequired

IDS = [spec.id for spec in sekai.all_specs() if isinstance(sekai.make(spec.id).unwrapped, ClassicControlEnv)]
CONTINUOUS = ["MountainCarContinuous-v0", "Pendulum-v1"]
DISCRETE = [env_id for env_id in IDS if env_id not in CONTINUOUS]
RANGED = [env_id for env_id in IDS if env_id != "Pendulum-v1"]  # by `low` and `high`
NOT_GYMNASIUMS = {"torque_0", "torque_1", "torque_2"}  # there a list


@pytest.fixture(params=IDS)
def env_id(request):
    return request.param


def make(env_id, **kwargs):
    return sekai.make(env_id, **kwargs).unwrapped


def float_params(env_id):
    kinds = make(env_id).batch._params.kinds
    return [name for name, kind in kinds.items() if kind is float and name not in NOT_GYMNASIUMS]


# ---- classes ---------------------------------------------------------------------------------------


def test_the_module_exports_the_classes():
    classes = {type(make(env_id)) for env_id in IDS}
    exported = {getattr(classic_control, name) for name in classic_control.__all__}
    assert classes <= exported
    for cls in classes:
        assert cls is getattr(sekai.envs, cls.__name__)
        assert cls.batch is getattr(sekai.envs, cls.__name__.removesuffix("Env") + "VecEnv")


def test_spaces_are_gymnasiums(env_id):
    ours, gymnasiums = make(env_id), gymnasium.make(env_id).unwrapped
    for name in ("observation_space", "action_space"):
        a, b = getattr(ours, name), getattr(gymnasiums, name)
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        if isinstance(a, sekai.Box):
            assert a.low.tobytes() == b.low.tobytes()
            assert a.high.tobytes() == b.high.tobytes()
        else:
            assert (a.start, a.n) == (b.start, b.n)


def test_the_registry_is_gymnasiums(env_id):
    ours, gymnasiums = sekai.spec(env_id), gymnasium.spec(env_id)
    assert ours.max_episode_steps == gymnasiums.max_episode_steps
    assert ours.reward_threshold == gymnasiums.reward_threshold
    assert (ours.nondeterministic, ours.kwargs, ours.additional_wrappers) == (False, {}, ())
    fps = gymnasium.make(env_id).unwrapped.metadata["render_fps"]
    assert make(env_id).metadata == sekai.make_vec(env_id, 2).metadata == {"render_fps": fps}


def test_what_a_step_returns(env_id):
    env = make(env_id)
    first = env.reset(seed=0)
    assert first.info == {}
    env.action_space.seed(0)
    result = env.step(env.action_space.sample())
    assert [type(value) for value in (result.reward, result.terminated, result.truncated)] == [float, bool, bool]
    assert result.info == {}
    assert result.observation is not first.observation
    assert env.observation_space.contains(result.observation)


# ---- parameters ------------------------------------------------------------------------------------


def test_parameters_are_gymnasiums_attributes(env_id):
    ours, gymnasiums = make(env_id), gymnasium.make(env_id).unwrapped
    names = float_params(env_id)
    assert len(names) > 4
    for name in names:
        assert getattr(ours, name) == getattr(gymnasiums, name)
        assert getattr(type(ours), name) == getattr(gymnasiums, name)  # of the class: the default


def test_a_changed_parameter_takes_effect_at_the_next_step(env_id):
    for name in float_params(env_id):
        ours, gymnasiums = make(env_id, math="libm"), gymnasium.make(env_id).unwrapped
        value = 0.7 * getattr(ours, name) + 0.01
        ours.reset(seed=3)
        gymnasiums.reset(seed=3)
        for env in (ours, gymnasiums):
            setattr(env, name, value)
        if env_id == "CartPole-v1":  # Gymnasium's go stale
            gymnasiums.total_mass = gymnasiums.masspole + gymnasiums.masscart
            gymnasiums.polemass_length = gymnasiums.masspole * gymnasiums.length
        gymnasiums.action_space.seed(0)
        for _ in range(5):
            action = gymnasiums.action_space.sample()
            result, right = ours.step(action), gymnasiums.step(action)
            assert result.observation.tobytes() == right[0].tobytes(), name
            assert (result.reward, result.terminated) == right[1:3], name
        assert getattr(ours, name) == value
        assert getattr(make(env_id, **{name: value}), name) == value


def test_a_bad_parameter_changes_nothing(env_id):
    env = make(env_id)
    for name in float_params(env_id):
        before = getattr(env, name)
        for bad, error in (("much", TypeError), (True, TypeError), (float("nan"), ValueError)):
            with pytest.raises(error, match=f"{name} must"):
                setattr(env, name, bad)
            with pytest.raises(error, match=f"{name} must"):
                make(env_id, **{name: bad})
        assert getattr(env, name) == before
    with pytest.raises(TypeError, match="no parameter 'nonsense'"):
        make(env_id, nonsense=1)


# ---- options ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [None, {}, {"low": -0.3, "high": -0.1}, {"low": -2, "high": True, "other": "x"}])
@pytest.mark.parametrize("env_id", RANGED)
def test_the_start_is_gymnasiums(env_id, options):
    ours, gymnasiums = make(env_id), gymnasium.make(env_id).unwrapped
    right, _ = gymnasiums.reset(seed=5, options=options)
    result = ours.reset(seed=5, options=options)
    np.testing.assert_array_max_ulp(result.observation, right, 1)  # sines may differ by an ulp
    assert ours.state.tolist() == np.asarray(gymnasiums.state).tolist()
    assert ours.state.dtype == gymnasiums.state.dtype


def test_an_option_counts_for_one_reset(env_id):
    env, other = make(env_id), make(env_id)
    options = {"x_init": 0.1, "y_init": 0.1} if env_id == "Pendulum-v1" else {"low": 0.0, "high": 0.1}
    assert env.reset(seed=1, options=options).observation.tolist() != other.reset(seed=1).observation.tolist()
    assert env.reset().observation.tolist() == other.reset().observation.tolist()


BAD_OPTIONS = [
    ({"low": "a"}, TypeError),
    ({"low": np.array(0.1)}, TypeError),
    ({"high": None}, TypeError),
    ({"high": 1j}, TypeError),
    ({"low": 0.2, "high": 0.1}, ValueError),
    ({"low": float("nan")}, OverflowError),
    ({"high": float("inf")}, OverflowError),
    ({"low": -1e308, "high": 1e308}, OverflowError),
    (["low", 0.1], TypeError),
    (0.1, TypeError),
]


@pytest.mark.parametrize(("options", "error"), BAD_OPTIONS)
@pytest.mark.parametrize("env_id", RANGED)
def test_bad_options_change_nothing(env_id, options, error):
    env, other = make(env_id), make(env_id)
    assert_refused(env, other, options, error)


def assert_refused(env, other, options, error):
    """These options are refused, and leave state and stream as they were."""
    env.reset(seed=1)
    other.reset(seed=1)
    before = env.state
    with pytest.raises(error, match="option"):
        env.reset(seed=2, options=options)
    assert env.state.tolist() == before.tolist()
    assert env.reset().observation.tolist() == other.reset().observation.tolist()


@pytest.mark.parametrize("env_id", RANGED)
def test_options_of_any_real_number(env_id):
    env = make(env_id)
    a = env.reset(seed=1, options={"low": Fraction(1, 4), "high": np.float32(0.5)}).observation
    assert a.tolist() == env.reset(seed=1, options={"low": 0.25, "high": 0.5}).observation.tolist()


# ---- state -----------------------------------------------------------------------------------------


def test_the_state_can_be_read_and_assigned(env_id):
    env = make(env_id)
    assert env.state is None
    with pytest.raises(ResetRequired):
        env.step(env.action_space.sample())
    env.reset(seed=0)
    size = env.state.size
    assigned = np.linspace(0.01, 0.04, size)
    env.state = assigned
    assigned[0] = 9.0
    env.state[0] = 9.0  # a copy
    assert env.state.tolist() == np.linspace(0.01, 0.04, size).tolist()
    for bad in (np.zeros(size + 1), "state", [[0.0] * size], [True] * size, [np.nan] * size):
        with pytest.raises((TypeError, ValueError)):
            env.state = bad
    assert env.state.tolist() == np.linspace(0.01, 0.04, size).tolist()
    fresh = make(env_id)
    fresh.state = np.linspace(0.01, 0.04, size)
    env.action_space.seed(0)
    action = env.action_space.sample()
    assert fresh.step(action).observation.tobytes() == env.step(action).observation.tobytes()


def test_copies_go_on_alike(env_id):
    env = make(env_id)
    env.reset(seed=0)
    env.action_space.seed(0)
    actions = [env.action_space.sample() for _ in range(10)]
    for action in actions[:5]:
        env.step(action)
    for clone in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        original = copy.deepcopy(env)
        for action in actions[5:]:
            assert clone.step(action).observation.tobytes() == original.step(action).observation.tobytes()
        assert clone.reset().observation.tobytes() == original.reset().observation.tobytes()


# ---- actions ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("env_id", DISCRETE)
def test_actions_outside_the_space_are_refused(env_id):
    env = make(env_id)
    with pytest.raises(InvalidAction):  # before it says that there is no episode
        env.step(9)
    env.reset(seed=0)
    before = env.state
    for action in (1.0, True, np.True_, np.array([1]), -1, env.action_space.n, "a", None, 10**30):
        with pytest.raises(InvalidAction):
            env.step(action)
    assert env.state.tolist() == before.tolist()
    results = []
    for action in (1, np.int8(1), np.uint64(1), np.array(1)):
        env.state = before
        results.append(env.step(action).observation.tobytes())
    assert len(set(results)) == 1


@pytest.mark.parametrize("env_id", CONTINUOUS)
def test_actions_that_are_no_finite_numbers_are_refused(env_id):
    env, vec = make(env_id), sekai.make_vec(env_id, 2)
    with pytest.raises(ResetRequired):  # before it looks at the action
        env.step("q")
    env.reset(seed=0)
    vec.reset(seed=0)
    before, memory = env.state, vec._memory.copy()
    for action in ("q", None, True, [True], [0.5, "a"], [1j], {}, [[0.1, 0.2], [0.3]]):
        with pytest.raises(TypeError, match="actions must be numbers"):
            env.step(action)
    for action in ([], np.nan, [np.inf], np.array([-np.inf], np.float32)):
        with pytest.raises(InvalidAction):
            env.step(action)
    for actions in ([["a"], ["b"]], [[True], [False]]):
        with pytest.raises(TypeError, match="actions must be numbers"):
            vec.step(actions)
    for actions in ([[np.nan], [0.0]], np.array([[0.0], [np.inf]], np.float32)):
        with pytest.raises(InvalidAction):
            vec.step(actions)
    for actions in ([0.1, 0.2], [[0.1, 0.2]], [[0.1], [0.2, 0.3]]):
        with pytest.raises(ValueError, match=r"shape \(2, 1\)"):
            vec.step(actions)
    assert env.state.tolist() == before.tolist()
    assert vec._memory.tobytes() == memory.tobytes()


@pytest.mark.parametrize("env_id", CONTINUOUS)
def test_an_action_may_have_any_shape_and_the_first_number_counts(env_id):
    env = make(env_id)
    env.reset(seed=0)
    before = env.state
    results = []
    for action in ([0.5], 0.5, np.float64(0.5), np.float16(0.5), [[0.5]], [0.5, 0.9], np.array(0.5)):
        env.state = before
        result = env.step(action)
        results.append((result.observation.tobytes(), result.reward))
    assert len(set(results)) == 1


@pytest.mark.parametrize(
    ("env_id", "end", "action"),
    [
        ("MountainCar-v0", [0.5, 0.07], 1),
        ("MountainCarContinuous-v0", [0.5, 0.07], [0.5]),
        ("Acrobot-v1", [3, 0, 0, 0], 1),
    ],
)
def test_stepping_past_the_end_goes_on(env_id, end, action):
    env, other = make(env_id), make(env_id)
    for one in (env, other):
        one.reset(seed=0)
    env.state = end
    assert env.step(action).terminated
    other.state = env.state
    assert env.step(action).observation.tolist() == other.step(action).observation.tolist()
