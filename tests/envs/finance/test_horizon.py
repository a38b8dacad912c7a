"""What the environments with a fixed number of steps share: parameters, actions, errors and copies."""

import copy
import inspect
import pickle

import numpy as np
import pytest

import sekai
from sekai import PerLane
from sekai.envs import MarketMakingEnv, OptimalExecutionEnv
from sekai.error import InvalidAction, ResetRequired
from sekai.testing import check_no_lookahead
from sekai.testing.vectorised import why_not_vectorised

ENVS = [MarketMakingEnv, OptimalExecutionEnv]
IDS = {MarketMakingEnv: "MarketMaking-v0", OptimalExecutionEnv: "OptimalExecution-v0"}
COUNTS = {MarketMakingEnv: ["n_steps", "max_inventory", "order_size"], OptimalExecutionEnv: ["n_steps"]}
POSITIVE = {
    MarketMakingEnv: ["total_time", "fill_intensity", "fill_decay", "dt"],
    OptimalExecutionEnv: ["initial_inventory", "s0", "total_time", "temporary_impact", "tau"],
}
NOT_NEGATIVE = {
    MarketMakingEnv: ["sigma", "risk_aversion", "max_offset"],
    OptimalExecutionEnv: ["sigma", "permanent_impact", "fixed_cost", "risk_aversion"],
}


@pytest.fixture(params=ENVS)
def cls(request):
    return request.param


def started(env, seed=0):
    env.reset(seed=seed)
    return env


def action_of(env):
    return np.full(env.action_space.shape, 0.25)


def bad_values(cls):
    """Parameters, values that they cannot have, and the errors."""
    for name in cls.batch._params.names:
        yield from ((name, value, TypeError) for value in ("1", True, 1j, *([] if name in TIMES else [None])))
        yield from ((name, value, ValueError) for value in (np.nan, np.inf, -np.inf))
    for name in COUNTS[cls]:
        yield from ((name, value, ValueError) for value in (0, -1, 2.5, 2.0, np.float32(3.0)))
    yield from ((name, value, ValueError) for name in POSITIVE[cls] for value in (0.0, -1))
    yield from ((name, value, ValueError) for name in NOT_NEGATIVE[cls] for value in (-1e-300, -1))


TIMES = "dt", "tau"  # which may be None


# ---- classes ---------------------------------------------------------------------------------------


def test_it_is_registered_without_a_time_limit(cls):
    spec = sekai.spec(IDS[cls])
    assert (spec.max_episode_steps, spec.reward_threshold, spec.nondeterministic, spec.kwargs) == (
        None,
        None,
        False,
        {},
    )
    assert type(sekai.make(IDS[cls])) is cls
    assert type(sekai.make_vec(IDS[cls], 2)) is cls.batch
    assert cls.metadata == cls.batch.metadata == {"render_fps": 20 if cls is MarketMakingEnv else 5}


def test_all_arguments_are_keywords_with_the_same_defaults(cls):
    single, batch = (inspect.signature(one).parameters for one in (cls, cls.batch))
    names = [*cls.batch._params.names, "batch"]
    assert list(single) == names
    assert list(batch) == ["num_envs", *names]
    for name in names[:-1]:
        assert single[name].kind is batch[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert single[name].default == batch[name].default == cls.batch._params.defaults.get(name)
        assert getattr(cls(), name) == getattr(cls.batch(2), name)
    with pytest.raises(TypeError, match="no parameter 'nonsense'"):
        cls(nonsense=1)


# ---- parameters ------------------------------------------------------------------------------------


def test_symbols_of_the_papers_are_attributes_too(cls):
    env, vec = cls(), cls.batch(2)
    for symbol, name in cls.batch.symbols.items():
        for one in (env, vec):
            value = getattr(one, name) * 1.5
            setattr(one, symbol, value)
            assert getattr(one, symbol) == getattr(one, name) == value
        vec.set_attr(symbol, [value, value / 2])
        assert vec.get_attr(symbol) == vec.get_attr(name) == [value, value / 2]
        assert getattr(vec, symbol).tolist() == [value, value / 2]


def test_bad_parameters_are_refused_when_made_and_when_set(cls):
    env, vec = started(cls()), started(cls.batch(2))
    before = vec._memory.copy(), vec._param_rows.words.copy(), {name: getattr(env, name) for name in vec._params.names}
    for name, value, error in bad_values(cls):
        for refuses in (lambda: cls(**{name: value}), lambda: cls.batch(2, **{name: value})):  # noqa: B023
            with pytest.raises(error, match=f"{name} must"):
                refuses()
        for one in (env, vec):
            with pytest.raises(error, match=f"{name} must"):
                setattr(one, name, value)
    assert vec._memory.tobytes() == before[0].tobytes()
    assert vec._param_rows.words.tobytes() == before[1].tobytes()
    assert {name: getattr(env, name) for name in vec._params.names} == before[2]


def test_bad_lanes_are_named(cls):
    with pytest.raises(ValueError, match=r"total_time: lane 1 must be finite and above 0, got -1\.0"):
        cls.batch(3, total_time=PerLane([1.0, -1.0, 1.0]))
    with pytest.raises(ValueError, match=r"sigma: lane 2 must be finite and at least 0, got inf"):
        cls.batch(3).sigma = PerLane([1.0, 1.0, np.inf])
    with pytest.raises(ValueError, match="n_steps must be an int"):
        cls.batch(2, n_steps=PerLane([2.0, 3.0]))
    with pytest.raises(ValueError, match="n_steps: lane 0 must be finite and at least 1, got 0"):
        cls.batch(2, n_steps=PerLane([0, 3]))


def test_the_time_of_a_step_is_fixed_when_made_but_may_be_set(cls):
    name = cls.batch.time_of_step
    env = started(cls(total_time=3.0, n_steps=6))
    assert getattr(env, name) == 0.5
    env.total_time = 9.0
    env.n_steps = 3
    assert getattr(env, name) == 0.5
    setattr(env, name, 0.25)
    info = env.step(action_of(env)).info
    assert (info["timestamp"], info["dt"]) == (0.25, 0.25)
    assert getattr(cls(**{name: 0.125}), name) == 0.125
    vec = cls.batch(2, total_time=PerLane([1.0, 3.0]), n_steps=PerLane([2, 4]))
    assert getattr(vec, name).tolist() == [0.5, 0.75]


def test_a_lane_has_the_parameters_it_was_given(cls):
    vec = started(cls.batch(3, n_steps=PerLane([2, 3, 4]), sigma=PerLane([0.0, 1.0, 2.0])), seed=4)
    setattr(vec, cls.batch.time_of_step, PerLane([0.1, 0.2, 0.3]))
    singles = [vec.lane(i) for i in range(3)]
    for t in range(1, 5):
        result = vec.step(np.full(vec.batch_action_space.shape, 0.25))
        assert result.terminated.tolist() == [t % n == 0 for n in (2, 3, 4)]
        for i, single in enumerate(singles):
            one = single.step(action_of(single))
            assert (one.reward, one.terminated) == (result.rewards[i], result.terminated[i])
            assert repr(one.info) == repr(result.infos[i].get("final_info", result.infos[i]))
            if one.done:
                single.reset()


def test_the_loops_over_lanes_are_vectorised(cls):
    assert why_not_vectorised(started(cls.batch(2))) is None


# ---- actions ---------------------------------------------------------------------------------------


def test_steps_are_refused_before_a_reset_and_after_the_end(cls):
    env = cls(n_steps=1)
    with pytest.raises(ResetRequired):
        env.step("x")  # before it looks at the action
    with pytest.raises(ResetRequired):
        cls.batch(2).step(np.zeros((2, *env.action_space.shape)))
    env.reset(seed=0)
    assert env.step(action_of(env)).terminated
    for action in ("x", action_of(env)):
        with pytest.raises(ResetRequired, match="over"):
            env.step(action)
    env.reset()
    assert env.elapsed_steps == 0


def test_bad_actions_change_nothing(cls):
    env, vec = started(cls()), started(cls.batch(2))
    (size,) = env.action_space.shape
    good = np.full(size, 0.1)
    memory = [one._memory.copy() for one in (env._vec, vec)]
    for action in ("x", None, True, ["a"] * size, [True] * size, [1j] * size, {}, [[0.1], [0.1, 0.2]]):
        with pytest.raises(TypeError, match="must be numbers"):
            env.step(action)
    for action in ([], np.ones(size + 1), np.full(size, np.nan), [np.inf] * size, np.ones((size, 2))):
        with pytest.raises(InvalidAction):
            env.step(action)
    for actions in (np.full((2, size), True), [["a"] * size] * 2):
        with pytest.raises(TypeError, match="must be numbers"):
            vec.step(actions)
    for actions in ([good, good * np.nan], np.array([good, good + np.inf], np.float32)):
        with pytest.raises(InvalidAction, match="lane 1"):
            vec.step(actions)
    for actions in (good, np.ones((2, size + 1)), np.ones((3, size)), np.ones(2 * size + 1)):
        with pytest.raises(ValueError, match=rf"shape \(2, {size}\)"):
            vec.step(actions)
    for one, before in zip((env._vec, vec), memory, strict=True):
        assert one._memory.tobytes() == before.tobytes()


def test_actions_of_any_shape_and_kind_of_number(cls):
    (size,) = cls().action_space.shape
    half = [0.5] * size
    actions = [half, tuple(half), np.array(half, np.float16), np.array([half]), np.array(half)[:, None], [half]]
    results = [started(cls(), seed=3).step(action) for action in actions]
    assert len({(one.observation.tobytes(), one.reward, repr(one.info)) for one in results}) == 1
    assert started(cls()).step([1] * size).reward == started(cls()).step(np.ones(size)).reward


def test_float32_actions_are_clipped_in_float64(cls):
    env = started(cls())
    (size,) = env.action_space.shape
    a, b = np.full(size, 0.1, np.float32), np.full(size, 0.1, np.float32).astype(np.float64)
    assert started(cls()).step(a).reward == started(cls()).step(b).reward != started(cls()).step([0.1] * size).reward
    vec, other = started(cls.batch(2)), started(cls.batch(2))
    first, second = vec.step(np.array([a, a])), other.step(np.array([b, b]))
    assert first.rewards.tobytes() == second.rewards.tobytes()


# ---- streams and copies ------------------------------------------------------------------------------


def test_a_reset_draws_nothing(cls):
    env = started(cls(), seed=8)
    assert env.rng.bit_generator.state == np.random.default_rng(8).bit_generator.state
    for _ in range(3):
        env.reset()
    assert env.rng.bit_generator.state == np.random.default_rng(8).bit_generator.state


def test_options_are_ignored(cls):
    assert repr(cls().reset(seed=0, options={"x": 1}).info) == repr(cls().reset(seed=0).info)


def test_copies_go_on_alike(cls):
    env, vec = started(cls()), started(cls.batch(3))
    for one, action in ((env, action_of(env)), (vec, np.full((3, *env.action_space.shape), 0.25))):
        one.step(action)
        clones = copy.deepcopy(one), pickle.loads(pickle.dumps(one))
        results = [clone.step(action) for clone in (one, *clones)]
        infos = [result.info if one is env else list(result.infos) for result in results]
        assert len(set(map(repr, infos))) == 1


def test_debug_mode_says_the_same(cls):
    results = []
    for debug in (False, True):
        env, vec = started(cls(debug=debug), seed=1), started(cls.batch(2, debug=debug), seed=1)
        for _ in range(3):
            one, many = env.step(action_of(env)), vec.step(np.full((2, *env.action_space.shape), 0.3))
        results.append((repr(one), repr(list(many.infos)), many.rewards.tobytes()))
    assert results[0] == results[1]


# ---- no look-ahead -----------------------------------------------------------------------------------


class Tape(np.random.Generator):
    """Draws that are given: row t holds two uniforms and a normal, for step t."""

    def __init__(self, rows):
        super().__init__(np.random.MT19937(0))
        self.rows, self.used = rows, {"random": 0, "standard_normal": 0}

    def random(self):
        k = self.used["random"]
        self.used["random"] += 1
        return self.rows[1 + k // 2, k % 2]

    def standard_normal(self):
        self.used["standard_normal"] += 1
        return self.rows[self.used["standard_normal"], 2]


def test_no_result_depends_on_draws_of_later_steps(cls):
    class Replayed(cls):
        def __init__(self, rows):
            super().__init__(n_steps=40)
            self.rows = rows

        def reset(self, *, seed=None, options=None):
            return super().reset(seed=Tape(self.rows), options=options)

    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.random((42, 2)), rng.standard_normal(42)])
    assert check_no_lookahead(Replayed, rows, row=lambda env, info: env.elapsed_steps) == []
