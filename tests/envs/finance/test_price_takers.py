"""What Trading-v0 and Portfolio-v0 share: streams, starts, changes in mid-episode, users' own Python, errors."""

import copy
import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sekai
from sekai.envs.finance import PortfolioEnv, TradingEnv
from sekai.error import ResetRequired
from sekai.finance import (
    GBM,
    CompositeCost,
    CostModel,
    DifferentialSharpe,
    DrawdownPenalty,
    EpisodeSampler,
    FixedCost,
    LogReturn,
    MarketData,
    MarketModel,
    ProportionalCost,
    RewardFunction,
    SequentialStart,
    Simulation,
    SpreadCost,
    SquareRootImpact,
    Time,
    TurnoverPenalty,
)
from sekai.testing import check_env, check_no_lookahead, check_vec_env
from tests.envs.finance import ledger
from tests.envs.finance.ledger import PortfolioAccount, TradingAccount

LOOKBACK, LENGTH, WINDOW = 4, 9, 14
SHAPE = {"lookback": LOOKBACK, "episode_length": LENGTH}
ENVS = [TradingEnv, PortfolioEnv]
IDS = {TradingEnv: "Trading-v0", PortfolioEnv: "Portfolio-v0"}
ASSETS = {TradingEnv: 1, PortfolioEnv: 3}
ACCOUNTS = {TradingEnv: TradingAccount, PortfolioEnv: PortfolioAccount}
MODES = ["same_step", "next_step", "disabled"]
DAYS = np.arange("2021-03-01", "2021-04-30", dtype="datetime64[D]")


def panel(n, rows=60, seed=1, drift=0.03):
    """An array `(rows, n)` of what may be prices."""
    return 100 * np.exp(np.cumsum(np.random.default_rng(seed).normal(0, drift, (rows, n)), axis=0))


@pytest.fixture(params=ENVS)
def cls(request):
    return request.param


@pytest.fixture
def prices(cls):
    return panel(ASSETS[cls])


def simulated(cls, *args, **kwargs):
    """An env or a batch whose prices are simulated."""
    assets = {"n_assets": 3} if issubclass(cls, (PortfolioEnv, PortfolioEnv.batch)) else {}
    return cls(*args, **{**SHAPE, **assets, **kwargs})


def started(env, seed=0):
    env.reset(seed=seed)
    return env


def actions_for(one, steps, *shape, seed=9):
    rng = np.random.default_rng(seed)
    if isinstance(one.action_space, sekai.Discrete):
        return rng.integers(0, one.action_space.n, (steps, *shape))
    return rng.random((steps, *shape, *one.action_space.shape), np.float32)


def text(result):
    """All that a result holds, as text: NaN is NaN."""
    parts = result.infos if hasattr(result, "infos") else [result.info]
    with np.printoptions(threshold=10**6, precision=17):
        values = [getattr(result, name, None) for name in ("observation", "observations", "reward", "rewards")]
        return repr((values, getattr(result, "done", None), getattr(result, "dones", None), list(parts)))


def play(one, actions):
    """The results of actions, as text; a single env is reset where an episode ends."""
    texts = []
    for action in actions:
        result = one.step(action)
        texts.append(text(result))
        if not hasattr(result, "infos") and result.done:
            texts.append(text(one.reset()))
    return texts


def memory_of(one):
    """Bytes of all that a batch, or an env, remembers."""
    vec = getattr(one, "_vec", one)
    return [array.tobytes() for array in (vec._memory, *vec._arrays)], vec.elapsed_steps.tolist()


# ---- classes -------------------------------------------------------------------------------------------


def test_it_is_registered_without_a_time_limit(cls):
    spec = sekai.spec(IDS[cls])
    found = spec.max_episode_steps, spec.reward_threshold, spec.nondeterministic, spec.kwargs
    assert found == (None, None, False, {})
    assert type(sekai.make(IDS[cls])) is cls
    assert type(sekai.make_vec(IDS[cls], 2)) is cls.batch
    assert cls.metadata == cls.batch.metadata == {"render_fps": 10}


def test_it_keeps_the_contract(cls, prices):
    for env in (simulated(cls), cls(prices, **SHAPE)):
        assert check_env(env) == []
    for vec in (simulated(cls.batch, 3), cls.batch(3, prices, **SHAPE)):
        assert check_vec_env(vec, check_vectorised=False) == []
    own = simulated(cls.batch, 2, model=Walk(ASSETS[cls]), transaction_cost=Fee(0.01))
    assert check_vec_env(own, check_vectorised=False) == []


@pytest.mark.filterwarnings("ignore:.*A Box observation space (min|max)imum value is -?infinity")
def test_gymnasium_finds_no_fault(cls):
    checker = pytest.importorskip("gymnasium.utils.env_checker")
    env = sekai.compat.to_gymnasium(sekai.make(IDS[cls]))
    checker.check_env(env, skip_render_check=True)


def test_it_is_not_stepped_before_a_reset_nor_after_the_end(cls):
    env, vec = simulated(cls), simulated(cls.batch, 2)
    for name in ("timestamp", "price_history", *(["price"] if cls is TradingEnv else [])):
        with pytest.raises(ResetRequired):
            getattr(env, name)
    assert (env.elapsed_steps, vec.elapsed_steps.tolist()) == (0, [0, 0])
    with pytest.raises(ResetRequired):
        env.step("x")  # before it looks at the action
    with pytest.raises(ResetRequired):
        vec.step(actions_for(vec, 2)[0])
    env.reset(seed=0)
    for action in actions_for(env, LENGTH):
        result = env.step(action)
    assert result.truncated
    for late in ("x", action):
        with pytest.raises(ResetRequired, match="over"):
            env.step(late)
    env.reset()
    assert env.elapsed_steps == 0


# ---- streams -------------------------------------------------------------------------------------------


def normals_of(cls, episodes):
    return episodes * (WINDOW - 1) * ASSETS[cls]


def after(seed, normals):
    rng = np.random.default_rng(seed)
    rng.standard_normal(normals)
    return rng.bit_generator.state


@pytest.mark.parametrize("steps", [0, 1, 5, LENGTH])
def test_an_early_reset_leaves_the_stream_where_a_whole_path_does(cls, steps):
    env, other = simulated(cls), simulated(cls)
    env.reset(seed=3)
    for action in actions_for(env, steps):
        env.step(action)
    second = env.reset()
    other.reset(seed=np.random.default_rng(3))
    assert text(second) == text(other.reset())
    assert env.rng.bit_generator.state == other.rng.bit_generator.state == after(3, normals_of(cls, 2))


@pytest.mark.parametrize("steps", [0, 3, LENGTH])
def test_a_generator_stands_where_a_whole_path_leaves_it(cls, steps):
    generator = np.random.default_rng(5)
    env, plain = simulated(cls), started(simulated(cls), 5)
    first = env.reset(seed=generator)
    assert env.rng is generator
    assert generator.bit_generator.state == after(5, normals_of(cls, 1))
    assert text(first) == text(plain.reset(seed=5))
    actions = actions_for(env, steps)
    assert play(env, actions) == play(plain, actions)
    env.reset()
    assert generator.bit_generator.state == after(5, normals_of(cls, 2 + (steps == LENGTH)))
    generator.random(7)  # by somebody else: the next episode begins after it
    plain.rng.bit_generator.state = generator.bit_generator.state
    assert text(env.reset()) == text(plain.reset())


def test_looking_at_the_generator_changes_nothing(cls):
    env, plain = started(simulated(cls)), started(simulated(cls))
    actions = actions_for(env, 3 * LENGTH + 2)
    expected = play(plain, actions)
    found = play(env, actions[:4])
    assert env.rng.bit_generator.state == after(0, normals_of(cls, 1))
    found += play(env, actions[4 : LENGTH + 2])
    assert env.rng.bit_generator.state == after(0, normals_of(cls, 2))
    assert found + play(env, actions[LENGTH + 2 :]) == expected


def test_generators_of_other_kinds_serve_as_well(cls):
    env = simulated(cls)
    generator = np.random.Generator(np.random.MT19937(4))
    env.reset(seed=generator)
    other = np.random.Generator(np.random.MT19937(4))
    other.standard_normal(normals_of(cls, 1))
    assert generator.random() == other.random()
    env.step(actions_for(env, 1)[0])
    env.reset()
    other.standard_normal(normals_of(cls, 1))
    assert generator.random() == other.random()


@pytest.mark.parametrize("kind", [np.random.PCG64, np.random.MT19937])
def test_generators_in_a_history_draw_one_integer(cls, prices, kind):
    env, rng = cls(prices, **SHAPE), np.random.Generator(kind(8))
    found = [env.reset(seed=np.random.Generator(kind(8))).info["timestamp"], env.reset().info["timestamp"]]
    assert found == [int(rng.integers(0, 60 - WINDOW + 1)) + LOOKBACK for _ in range(2)]


def test_lanes_have_streams_of_their_own(cls):
    vec, seeds = simulated(cls.batch, 4), [5, np.random.default_rng(6), 5, 2**80]
    actions = np.repeat(actions_for(vec, 2 * LENGTH), 4, axis=0).reshape(2 * LENGTH, 4, -1)
    actions = actions[..., 0] if cls is TradingEnv else actions
    first = vec.reset(seed=seeds)
    rows = [text(one) for one in rows_of(first)]
    assert len(set(rows)) == 3
    assert rows[0] == rows[2]
    singles = [started(simulated(cls), seed) for seed in (5, 6, 5, 2**80)]
    for action in actions:
        result = vec.step(action)
        for i, single in enumerate(singles):
            one = single.step(action[i])
            assert (one.reward, one.done) == (result.rewards[i], result.dones[i])
            if one.done:
                single.reset()
    assert seeds[1].bit_generator.state == after(6, normals_of(cls, 3))


def rows_of(result):
    for i in range(len(result.infos)):
        yield sekai.ResetResult(ledger.row_of(result.observations, i), result.infos[i])


# ---- where episodes start ------------------------------------------------------------------------------


def decisions(one, count, **options):
    """Rows of the first decisions of episodes."""
    infos = [one.reset(**options).info if k == 0 else one.reset().info for k in range(count)]
    return [info["timestamp"] for info in infos]


def test_an_option_tells_the_first_decision(cls, prices):
    days = MarketData(prices, timestamps=DAYS)
    marks = MarketData(prices, timestamps=np.arange(60) * 0.5)
    for data, start, row in (
        (days, 10, 10), (days, -10, 50), (days, "2021-03-11", 10), (days, np.datetime64("2021-03-11"), 10),
        (days, Time("2021-03-10T12"), 10), (marks, 10, 10), (marks, 5.0, 10), (marks, Time(5), 10), (marks, 4.9, 10),
    ):  # fmt: skip
        env = started(cls(data=data, **SHAPE))
        stream = copy.deepcopy(env.rng)
        result = env.reset(options={"start": start, "start_row": 3, "other": None})
        assert result.info["timestamp"] == data.timestamps[row]
        assert env.rng.bit_generator.state == stream.bit_generator.state  # nothing was drawn
        assert env.price_history.reshape(LOOKBACK + 1, -1).tolist() == prices[row - LOOKBACK : row + 1].tolist()
        assert env.reset().info["timestamp"] == data.timestamps[LOOKBACK + int(stream.integers(0, 60 - WINDOW + 1))]


def test_lanes_start_where_their_options_say(cls, prices):
    vec = cls.batch(4, prices, **SHAPE)
    streams = [np.random.default_rng(seed) for seed in sekai.lane_seeds(7, 4)]
    found = vec.reset(seed=7, options=[{"start": 20}, None, {"start": None}, {"start": -20}]).infos.arrays["timestamp"]
    drawn = [int(streams[i].integers(0, 60 - WINDOW + 1)) + LOOKBACK for i in (1, 2)]
    assert found.tolist() == [20, *drawn, 40]
    vec.reset(options={"start": 33}, mask=np.array([True, False, False, True]))
    assert vec.timestamp.tolist() == [33, *drawn, 33]
    first = [int(stream.integers(0, 60 - WINDOW + 1)) + LOOKBACK for stream in streams]
    assert vec.reset().infos.arrays["timestamp"].tolist() == first


def test_warm_up_rows_are_looked_back_at_only(cls, prices):
    warm = MarketData(prices, warmup=30)
    starts = decisions(cls(data=warm, **SHAPE), 200, seed=0)
    assert (min(starts), max(starts)) == (30, 60 - LENGTH - 1)
    assert decisions(cls(data=warm, sampler=2, **SHAPE), 2) == [32, 32]
    assert decisions(cls(data=warm, sampler="sequential", **SHAPE), 4) == [30, 39, 48, 30]
    assert decisions(cls(data=MarketData(prices, warmup=2), sampler=0, **SHAPE), 1) == [LOOKBACK]
    env = cls(data=warm, **SHAPE)
    env.reset(options={"start": 30})
    with pytest.raises(ValueError, match="start must be from row 30 to row 50, got 29"):
        env.reset(options={"start": 29})


def test_a_single_env_uses_the_sampler_that_it_is_given(cls, prices):
    sampler = SequentialStart(stride=20)
    env = cls(prices, sampler=sampler, **SHAPE)
    assert decisions(env, 2, seed=0) == [4, 24]
    assert (sampler.next, sampler.epoch) == (40, 0)
    assert decisions(cls(prices, sampler=sampler, **SHAPE), 2) == [44, 4]
    assert (sampler.next, sampler.epoch) == (20, 1)
    vec = cls.batch(2, prices, sampler=sampler, **SHAPE)
    for row in (4, 24, 44, 4):
        assert vec.reset().infos.arrays["timestamp"].tolist() == [row, row]
    assert (sampler.next, sampler.epoch) == (20, 1)  # each lane has a copy


@pytest.mark.parametrize("vectorization_mode", ["native", "sync"])
def test_lanes_have_samplers_of_their_own(cls, prices, vectorization_mode):
    sampler = SequentialStart(stride=20)
    vec = sekai.make_vec(IDS[cls], 2, vectorization_mode=vectorization_mode, prices=prices, sampler=sampler, **SHAPE)
    for row in (4, 24, 44, 4):
        assert [int(info["timestamp"]) for info in vec.reset(seed=0).infos] == [row, row]
    assert (sampler.next, sampler.epoch) == (0, 0)


def test_bad_starts_change_nothing(cls, prices):
    env, vec = started(cls(prices, **SHAPE)), started(cls.batch(2, prices, **SHAPE))
    kept = [memory_of(one) for one in (env, vec)]
    for start, error, match in (
        (3, ValueError, "start must be from row 4 to row 50, got 3, which is row 3"),
        (51, ValueError, "got 51"),
        (-57, ValueError, "got -57, which is row 3"),
        (1e9, ValueError, "row 60"),
        (np.nan, ValueError, "finite"),
        ("2021-03-11", ValueError, "timestamps are numbers"),
        (True, TypeError, "got True"),
        ([5], TypeError, r"got \[5\]"),
    ):
        for one, options in ((env, {"start": start}), (vec, {"start": start}), (vec, [None, {"start": start}])):
            with pytest.raises(error, match=match):
                one.reset(seed=1, options=options)
    for one, memory in zip((env, vec), kept, strict=True):
        assert memory_of(one) == memory
    for one in (started(simulated(cls)), started(simulated(cls.batch, 2))):
        memory = memory_of(one)
        with pytest.raises(ValueError, match=r"options\['start'\] needs a history of prices, got 9"):
            one.reset(seed=1, options={"start": 9})
        assert memory_of(one) == memory
        one.reset(options={"start": None})


# ---- changes in mid-episode ----------------------------------------------------------------------------

CHANGES = {
    TradingEnv: {"mu": 3.0, "sigma": 0.9, "s0": 7.0, "dt": 0.1, "model": GBM(0.3, 0.4, s0=2.0)},
    PortfolioEnv: {
        "mu": 3.0, "sigma": [0.9, 0.1, 0.2], "corr": np.eye(3), "dt": 0.1,
        "model": GBM(0.3, 0.4, s0=2.0, n_assets=3),
    },
}  # fmt: skip


@pytest.mark.parametrize("name", ["mu", "sigma", "s0", "corr", "dt", "model"])
def test_prices_change_with_the_next_reset(cls, name):
    if name not in CHANGES[cls]:
        assert not hasattr(cls, name)
        return
    value = CHANGES[cls][name]
    for make in (partial(simulated, cls), partial(simulated, cls.batch, 2)):
        changed, plain, fresh = started(make()), started(make()), make(**{name: value})
        actions = actions_for(changed, LENGTH - 1, *([2] if make.args[1:] else []))
        assert text(changed.step(actions[0])) == text(plain.step(actions[0]))
        setattr(changed, name, value)
        for action in actions[1:]:
            rewards = [getattr(one.step(action), "rewards" if make.args[1:] else "reward") for one in (changed, plain)]
            assert np.all(rewards[0] == rewards[1])
        history = [np.concatenate(one.price_history, axis=None) for one in (changed, plain)]
        assert history[0].tolist() == history[1].tolist()
        fresh.reset(seed=0)
        assert text(changed.reset()) == text(fresh.reset())
        assert play(changed, actions[:2]) == play(fresh, actions[:2])


def test_cost_and_reward_change_with_the_next_step(cls):
    env, vec = started(simulated(cls)), started(simulated(cls.batch, 2))
    for one, action in ((env, actions_for(env, 1)[0]), (vec, actions_for(vec, 1, 2)[0])):
        one.step(action)
        one.cost_model = 0.25
        one.reward_fn = TurnoverPenalty()
        assert repr(one.cost_model) == "ProportionalCost(0.25)"
        assert one.transaction_cost == 1e-3
        one.step(actions_for(one, 9, *action.shape[:0] if one is env else [2])[5])
        info = one.step(action).info if one is env else None
        if info:
            assert info["cost"] == pytest.approx(0.25 * info["turnover"], rel=1e-14)
    result = vec.step(actions_for(vec, 1, 2)[0])
    assert result.rewards.tolist() == result.infos.arrays["turnover"].tolist()
    assert result.infos.arrays["cost"] == pytest.approx(0.25 * result.rewards, rel=1e-14)  # another order


def test_a_reward_function_is_copied(cls):
    reward = DrawdownPenalty()
    env = simulated(cls, reward=reward)
    assert env.reward_fn is not reward
    env.reward_fn = reward
    assert env.reward_fn is not reward


def test_what_is_read_only(cls, prices):
    for one in (cls(prices, **SHAPE), cls.batch(2, prices, **SHAPE)):
        for name in ("lookback", "episode_length", "prices", "data", "transaction_cost", "equity", "timestamp"):
            with pytest.raises(AttributeError):
                setattr(one, name, 5)
        with pytest.raises(ValueError, match="read-only"):
            one.prices[3] = 1.0
        with pytest.raises(ValueError, match="model cannot be set"):
            one.model = None
        assert (one.lookback, one.episode_length) == (LOOKBACK, LENGTH)


def test_bad_changes_change_nothing(cls):
    names = [name for name in CHANGES[cls] if name != "model"]
    bad = [(name, value) for name in names for value in ("1", np.nan, np.inf, [1.0, 2.0, 3.0, 4.0])]
    bad += [("sigma", -1.0), ("dt", 0.0), ("capital", 0.0), ("model", 3), ("model", GBM(n_assets=7)), ("reward_fn", 3)]
    bad += [("cost_model", value) for value in (True, -1.0, "0.1", None)]
    for make in (partial(simulated, cls), partial(simulated, cls.batch, 2)):
        one, plain = started(make()), started(make())
        values = [repr(getattr(one, name)) for name in names]
        for name, value in bad:
            with pytest.raises((TypeError, ValueError), match=name.split("_")[0]):
                setattr(one, name, value)
        assert [repr(getattr(one, name)) for name in names] == values
        actions = actions_for(one, LENGTH + 3, *([2] if make.args[1:] else []))
        assert play(one, actions) == play(plain, actions)


# ---- copies and snapshots ------------------------------------------------------------------------------


def variants(cls):
    """Batches of all kinds, in mid-episode or not."""
    prices = panel(ASSETS[cls])
    yield partial(simulated, cls.batch, 3)
    yield partial(simulated, cls.batch, 3, reward=DifferentialSharpe(0.1), model=GBM(n_assets=ASSETS[cls]))
    yield partial(cls.batch, 3, prices, **SHAPE)
    yield partial(cls.batch, 3, prices, sampler="sequential", **SHAPE)
    yield partial(simulated, cls.batch, 3, reward=Mine(), transaction_cost=Fee(0.01), model=Walk(ASSETS[cls]))


def test_copies_go_on_alike(cls):
    for make in variants(cls):
        vec = started(make())
        actions = actions_for(vec, 2 * LENGTH, 3)
        play(vec, actions[:5])
        clones = copy.deepcopy(vec), pickle.loads(pickle.dumps(vec))
        expected = play(vec, actions)
        for clone in clones:
            assert play(clone, actions) == expected


def test_copies_of_an_env_go_on_alike(cls):
    env = started(simulated(cls), np.random.default_rng(4))
    actions = actions_for(env, 2 * LENGTH)
    play(env, actions[:5])
    clones = copy.deepcopy(env), pickle.loads(pickle.dumps(env))
    expected = play(env, actions)
    for clone in clones:
        assert play(clone, actions) == expected
        assert clone.rng.bit_generator.state == env.rng.bit_generator.state


@pytest.mark.parametrize("kind", range(3))
def test_a_snapshot_replays(cls, kind):
    vec = started(list(variants(cls))[kind]())
    actions = actions_for(vec, 2 * LENGTH + 3, 3)
    play(vec, actions[:5])
    state = pickle.loads(pickle.dumps(vec.get_state()))
    expected = play(vec, actions[5:])
    vec.set_state(state)
    assert play(vec, actions[5:]) == expected
    other = list(variants(cls))[kind]()
    other.set_state(state)  # was never reset
    assert play(other, actions[5:]) == expected


def test_a_snapshot_fits_whether_or_not_somebody_looked_at_a_generator(cls):
    vec = started(simulated(cls.batch, 3))
    actions = actions_for(vec, 2 * LENGTH, 3)
    play(vec, actions[:5])
    lazy = vec.get_state()
    expected = play(vec, actions[5:])
    vec.set_state(lazy)
    assert vec.lane(1).rng.random() >= 0.0  # of a copy
    eager = started(simulated(cls.batch, 3), [np.random.default_rng(seed) for seed in range(3)])
    eager.set_state(lazy)
    assert play(eager, actions[5:]) == expected
    eager.set_state(lazy)
    vec.set_state(eager.get_state())
    assert play(vec, actions[5:]) == expected


def test_a_lane_goes_on_as_a_single_env_and_comes_back(cls):
    for make in variants(cls):
        vec, plain = started(make()), started(make())
        if vec._calls_python:
            continue
        actions = actions_for(vec, LENGTH + 6, 3)
        play(vec, actions[:3])
        play(plain, actions[:3])
        env = vec.lane(1)
        for action in actions[3:7]:
            result, one = plain.step(action), env.step(action[1])
            vec.step(action, mask=np.array([True, False, True]))
            assert (one.reward, repr(one.info)) == (result.rewards[1], repr(result.infos[1]))
        vec.set_lane(1, env)
        assert play(vec, actions[7:]) == play(plain, actions[7:])


def test_a_lane_whose_generator_was_looked_at_comes_back(cls):
    vec, plain = started(simulated(cls.batch, 2)), started(simulated(cls.batch, 2))
    actions = actions_for(vec, 2 * LENGTH, 2)
    for one in (vec, plain):
        play(one, actions[:3])
    env = vec.lane(0)
    assert env.rng.bit_generator.state["bit_generator"] == "PCG64"
    vec.set_lane(0, env)
    assert play(vec, actions[3:]) == play(plain, actions[3:])


def test_rollouts_are_steps(cls):
    for make in variants(cls):
        vec, other = make(), make()
        actions = actions_for(vec, 2 * LENGTH, 3)
        result = sekai.rollout(vec, actions, len(actions), record=["rewards", "terminated", "truncated"], seed=3)
        other.reset(seed=3)
        for t, action in enumerate(actions):
            step = other.step(action)
            assert result.rewards[t].tolist() == step.rewards.tolist()
            assert result.truncated[t].tolist() == step.truncated.tolist()
        assert text(vec.step(actions[0])) == text(other.step(actions[0]))
        assert memory_of(vec) == memory_of(other) or vec._calls_python


def test_debug_mode_says_the_same(cls):
    texts = []
    for debug in (False, True):
        env = started(simulated(cls, debug=debug), 1)
        vec = started(simulated(cls.batch, 2, debug=debug, reward=Mine()), 1)
        texts.append([play(env, actions_for(env, LENGTH + 2)), play(vec, actions_for(vec, LENGTH + 2, 2))])
    assert texts[0] == texts[1]


# ---- users' own Python ---------------------------------------------------------------------------------

FAULTS = set()  # what fails now


def may_fail(part):
    if part in FAULTS:
        raise LookupError(f"no {part}")


class Fee(CostModel):
    """As `ProportionalCost`; notes what it is called with."""

    requires = frozenset({"equity"})

    def __init__(self, rate, requires=("equity",)):
        self.rate, self.requires, self.calls = rate, frozenset(requires), []

    def __call__(self, trades, **inputs):
        may_fail("cost")
        self.calls.append((trades, inputs))
        return self.rate * np.abs(trades).sum(axis=-1)


class Mine(RewardFunction):
    """As `DrawdownPenalty`, which remembers earlier steps; notes what it is called with."""

    def __init__(self):
        self.resets, self.outcomes = [], []
        self.peak = self.drawdown = None

    def reset(self, mask=None):
        self.resets.append(None if mask is None else mask.tolist())
        if mask is None:
            self.peak = self.drawdown = None
        elif self.peak is not None:
            self.peak[mask], self.drawdown[mask] = 1.0, 0.0

    def __call__(self, outcome):
        may_fail("reward")
        self.outcomes.append(outcome)
        if self.peak is None:
            self.peak, self.drawdown = np.ones_like(outcome.equity), np.zeros_like(outcome.equity)
        np.maximum(self.peak, outcome.equity, out=self.peak)
        old, self.drawdown = self.drawdown, 1 - outcome.equity / self.peak
        return np.maximum(self.drawdown - old, 0.0)


class Walk(MarketModel):
    """As `GBM(0.1, 0.3)`."""

    dt = 1 / 252

    def __init__(self, n_assets):
        self.n_assets, self.calls = n_assets, 0

    def simulate(self, rng, n_steps, *, n_paths=None):
        self.calls += 1
        found = GBM(0.1, 0.3, n_assets=self.n_assets).simulate(rng, n_steps, n_paths=n_paths)
        if self.calls % 2:  # the second of three lanes
            may_fail("model")
        return found


class Dice(EpisodeSampler):
    """As `RandomStart`; each lane has its own."""

    def __init__(self):
        self.calls, self.spawned = [], []

    def sample(self, rng, n_starts, episode_length):
        found = int(rng.integers(0, n_starts))
        may_fail("sampler")
        self.calls.append((n_starts, episode_length))
        return found

    def spawn(self):
        self.spawned.append(Dice())
        return self.spawned[-1]


def custom(cls, *args, which, **kwargs):
    """An env or batch with something of a user's own, and one with what it imitates."""
    n, prices = ASSETS[cls if cls in ASSETS else cls.single], panel(ASSETS[cls if cls in ASSETS else cls.single])
    if which == "cost":
        return [simulated(cls, *args, transaction_cost=cost, **kwargs) for cost in (Fee(0.02), 0.02)]
    if which == "reward":
        return [simulated(cls, *args, reward=reward, **kwargs) for reward in (Mine(), DrawdownPenalty())]
    if which == "model":
        return [simulated(cls, *args, model=model, **kwargs) for model in (Walk(n), GBM(0.1, 0.3, n_assets=n))]
    if which == "sampler":
        return [cls(*args, prices, sampler=sampler, **SHAPE, **kwargs) for sampler in (Dice(), "random")]
    costs = [CompositeCost([Fee(0.02), SquareRootImpact(0.3)]), ProportionalCost(0.02) + SquareRootImpact(0.3)]
    rewards = [0.5 * Mine() - LogReturn(), 0.5 * DrawdownPenalty() - LogReturn()]
    data = MarketData(prices, fields={"volume": 1000 * panel(n, seed=5)})
    pairs = zip((Dice(), "random"), costs, rewards, strict=True)
    return [
        cls(*args, data=data, sampler=sampler, transaction_cost=cost, reward=reward, **SHAPE, **kwargs)
        for sampler, cost, reward in pairs
    ]


OWN = pytest.mark.parametrize("which", ["cost", "reward", "model", "sampler", "all of them"])


def close(found, expected):
    """Assert that results are the same up to the order of additions, which users may choose as they like."""
    for name in ("observation", "observations", "reward", "rewards", "info"):
        if hasattr(expected, name):
            near(getattr(found, name), getattr(expected, name))
    if hasattr(expected, "infos"):
        for one, other in zip(found.infos, expected.infos, strict=True):
            near(one, other)


def near(found, expected):
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        for name, value in expected.items():
            near(found[name], value)
    else:
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-13)  # float32


@OWN
def test_an_env_with_own_python_is_as_the_one_that_it_imitates(cls, which):
    mine, theirs = custom(cls, which=which)
    close(mine.reset(seed=2), theirs.reset(seed=2))
    for action in actions_for(mine, 3 * LENGTH + 2):
        one, other = mine.step(action), theirs.step(action)
        close(one, other)
        if one.done:
            close(mine.reset(), theirs.reset())
    assert mine.rng.bit_generator.state == theirs.rng.bit_generator.state


@pytest.mark.parametrize("mode", MODES)
@OWN
def test_a_batch_with_own_python_is_as_the_one_that_it_imitates(cls, which, mode):
    mine, theirs = custom(cls.batch, 3, which=which, autoreset=mode, max_episode_steps=6)
    actions = actions_for(mine, 25, 3)
    masks = np.random.default_rng(0).random((25, 3)) < 0.8
    close(mine.reset(seed=2), theirs.reset(seed=2))
    for k, (action, mask) in enumerate(zip(actions, masks, strict=True)):
        mask = mask if k > 10 else None
        close(mine.step(action, mask), theirs.step(action, mask))
        if k == 17:
            close(*(one.reset(mask=np.array([True, False, True])) for one in (mine, theirs)))
    near(
        [one.rng.random() for one in map(mine.lane, range(3))], [one.rng.random() for one in map(theirs.lane, range(3))]
    )


def test_a_cost_model_is_called_once_per_step_on_all_lanes(cls):
    n = ASSETS[cls]
    data = MarketData(panel(n), fields={"volume": 1000 * panel(n, seed=5), "spread": panel(n, seed=6) / 1e5})
    cost = Fee(0.01, ("equity", "volatility", "volume", "spread"))
    vec = started(cls.batch(3, data=data, transaction_cost=cost, capital=1e4, **SHAPE))
    vec.step(actions_for(vec, 1, 3)[0])
    cost.calls.clear()
    rows, histories, equity = vec.timestamp, vec.price_history, vec.equity
    arrays = vec.step(actions_for(vec, 1, 3, seed=1)[0]).infos.arrays
    ((trades, inputs),) = cost.calls
    assert (trades.shape, trades.dtype) == ((3, n), np.float64)
    assert np.abs(trades).sum(axis=1) == pytest.approx(arrays["turnover"], rel=1e-14)  # another order
    assert arrays["cost"] == pytest.approx(0.01 * arrays["turnover"], rel=1e-14)
    assert list(inputs) == ["equity", "volatility", "volume", "spread"]
    assert inputs["equity"].tolist() == (1e4 * equity).tolist()
    assert inputs["spread"].tolist() == data.field("spread")[rows].tolist()
    assert inputs["volume"].tolist() == (data.field("volume") * data.prices)[rows].tolist()
    right = [np.diff(np.log(history[1:].reshape(-1, n)), axis=0).std(axis=0) for history in histories]
    assert inputs["volatility"] == pytest.approx(np.array(right), rel=1e-12)  # logarithms
    plain = Fee(0.01, ())
    started(simulated(cls.batch, 2, transaction_cost=plain)).step(actions_for(vec, 1, 2)[0])
    assert plain.calls[0][1] == {}


def test_a_reward_function_sees_all_lanes_and_is_told_of_resets(cls):
    vec = started(simulated(cls.batch, 3, reward=Mine(), max_episode_steps=2))
    reward = vec.reward_fn
    assert reward.resets == [None]
    before = vec.equity
    arrays = vec.step(actions_for(vec, 1, 3)[0]).infos.arrays
    (outcome,) = reward.outcomes
    growth = arrays["equity"] / before
    for found, right in (
        (outcome.simple_return, growth - 1), (outcome.log_return, np.log(growth)), (outcome.equity, arrays["equity"]),
        (outcome.pnl, arrays["equity"] - before), (outcome.turnover, arrays["turnover"]),
        (outcome.cost, arrays["cost"]),
    ):  # fmt: skip
        assert (found.shape, found.dtype) == ((3,), np.float64)
        assert found == pytest.approx(right, rel=1e-12, abs=1e-15)  # differences of numbers near 1
    assert reward.resets == [None]
    vec.reset(mask=np.array([True, False, True]))
    assert reward.resets[1:] == [[True, False, True]]
    vec.step(actions_for(vec, 1, 3)[0])
    assert reward.resets[2:] == [[False, True, False]]
    vec.reset(mask=np.zeros(3, np.bool_))
    assert reward.resets[3:] == []
    vec.reset(seed=4)
    assert reward.resets[3:] == [None]
    env = started(simulated(cls, reward=Mine()))
    env.step(actions_for(env, 1)[0])
    env.reset()
    assert env.reward_fn.resets == [None, None]


def test_models_and_samplers_are_called_for_the_lanes_that_start(cls, prices):
    model = Walk(ASSETS[cls])
    vec = started(simulated(cls.batch, 3, model=model))
    dice = Dice()
    other = started(cls.batch(3, prices, sampler=dice, **SHAPE))
    assert model.calls == sum(len(one.calls) for one in dice.spawned) == 3
    assert dice.calls == []
    assert {call for one in dice.spawned for call in one.calls} == {(60 - WINDOW + 1, LENGTH)}
    other.reset(options=[{"start": 9}, None, None])  # which draws nothing
    vec.reset(mask=np.array([False, True, True]))
    assert model.calls == sum(len(one.calls) for one in dice.spawned) == 5
    for action in actions_for(vec, LENGTH, 3):
        vec.step(action)
        other.step(action)
    assert model.calls == 8
    assert [len(one.calls) for one in dice.spawned][1:] == [3, 3]


@pytest.mark.parametrize("mode", [*MODES, "single"])
@pytest.mark.parametrize("part", ["cost", "reward", "model", "sampler"])
def test_an_exception_changes_nothing(cls, part, mode, prices):
    own = {
        "cost": {"transaction_cost": Fee(0.01)}, "reward": {"reward": Mine()}, "model": {"model": Walk(ASSETS[cls])},
        "sampler": {"prices": prices, "sampler": Dice()},
    }[part]  # fmt: skip
    make = partial(cls, **SHAPE) if mode == "single" else partial(cls.batch, 3, autoreset=mode, **SHAPE)
    one, twin = make(**own), make(**copy.deepcopy(own))
    generators = [np.random.default_rng(4), np.random.default_rng(4)]
    seeds = generators if mode == "single" else [[1, 2**70, generator] for generator in generators]
    actions = actions_for(one, LENGTH + 1 if mode != "single" else LENGTH, *([] if mode == "single" else [3]))
    calls = [lambda env: env.reset(seed=seeds[env is twin]), *(partial(stepped, action) for action in actions)]
    calls += [lambda env: env.reset(), lambda env: env.reset(seed=7)]
    raised = 0
    for k, call in enumerate(calls):
        memory, stream = memory_of(one), generators[0].bit_generator.state
        FAULTS.add(part)
        try:
            found = call(one)
        except LookupError:
            raised += 1
            assert memory_of(one) == memory
            assert generators[0].bit_generator.state == stream
            FAULTS.clear()
            found = call(one)
        FAULTS.clear()
        assert text(found) == text(call(twin)), k
    assert raised >= (LENGTH if part in ("cost", "reward") else 1)


def stepped(action, one):
    return one.step(action)


class Says:
    """Returns whatever it is made with."""

    n_assets, dt = 1, 0.1

    def __init__(self, value, n_assets=1):
        self.value, self.n_assets = value, n_assets

    def __call__(self, *args, **kwargs):
        return self.value

    def simulate(self, rng, n_steps, *, n_paths=None):
        return self.value

    def sample(self, rng, n_starts, episode_length):
        return self.value


def test_what_own_python_returns_is_checked(cls, prices):
    rewards, costs, models, samplers = (
        type("Own", (Says, base), {}) for base in (RewardFunction, CostModel, MarketModel, EpisodeSampler)
    )
    for value in (np.ones(3), np.nan, [1.0, np.nan], np.ones((2, 1))):
        for own in ({"reward": rewards(value)}, {"transaction_cost": costs(value)}):
            vec = started(simulated(cls.batch, 2, **own))
            memory = memory_of(vec)
            with pytest.raises(ValueError, match=r"(cost model|reward function) must return"):
                vec.step(actions_for(vec, 1, 2)[0])
            assert memory_of(vec) == memory
    for value in (None, "1", 1j, {}):
        for own in ({"reward": rewards(value)}, {"transaction_cost": costs(value)}):
            with pytest.raises(TypeError, match=r"(cost model|reward function) must return numbers, got"):
                started(simulated(cls.batch, 2, **own)).step(actions_for(simulated(cls.batch, 2), 1, 2)[0])
    n = ASSETS[cls]
    zero, gone, listed = np.ones((WINDOW, n)), np.ones((WINDOW, n)), np.ones((WINDOW, n), np.bool_)
    zero[5, 0], gone[3, 0], listed[7, 0] = 0.0, np.nan, False
    paths = [zero, gone, np.ones((WINDOW + 1, n)), np.ones((1, WINDOW, n))]
    for value in (None, np.ones((WINDOW, n)), *map(Simulation, paths), Simulation(np.ones((WINDOW, n)), listed)):
        for one in (cls(model=models(value, n), **SHAPE), cls.batch(2, model=models(value, n), **SHAPE)):
            with pytest.raises(ValueError, match="model must simulate"):
                one.reset(seed=0)
    for value in (-1, 47, 2**70):
        for one in (
            cls(prices, sampler=samplers(value), **SHAPE),
            cls.batch(2, prices, sampler=samplers(value), **SHAPE),
        ):
            with pytest.raises(ValueError, match="sampler must choose one of 47 episodes, 0 … 46"):
                one.reset(seed=0)
    for value in (1.5, "1", None):
        with pytest.raises((TypeError, ValueError), match="sampler"):
            cls(prices, sampler=samplers(value), **SHAPE).reset(seed=0)


# ---- constructors --------------------------------------------------------------------------------------

NOT_FINITE = [np.nan, np.inf, -np.inf]
# Text is a TypeError for parameters of kernels, and a ValueError for what `GBM` checks.
BAD_VALUES = {
    "episode_length": [0, -1], "lookback": [0, -1], "dt": [0.0, -1, *NOT_FINITE], "capital": [0.0, -1, *NOT_FINITE],
    "mu": NOT_FINITE, "sigma": [-1.0, *NOT_FINITE],
}  # fmt: skip
BAD_TYPES = {
    "episode_length": [2.0, "3", True, None], "lookback": [1.5, "3", True, None], "dt": [True, 1j],
    "capital": ["1", True, None, 1j], "mu": [True, 1j], "sigma": [True, 1j], "reward": [3, LogReturn, "log"],
    "model": [3, GBM], "data": [np.ones(60), 3],
}  # fmt: skip
OWN_BAD_VALUES = {
    TradingEnv: {"positions": [(1,), (1, np.nan), [[0, 1]], []], "s0": [0.0, -1, *NOT_FINITE]},
    PortfolioEnv: {
        "n_assets": [0, -1], "sigma": [[0.1, -1, 0, 0, 0], [0.1, 0.2], []], "mu": ["1", [0.1, 0.2]], "dt": ["1"],
        "corr": [np.eye(2), np.ones((5, 5)), 2 * np.eye(5), np.full((5, 5), np.nan), [["1"]], np.triu(np.ones((5, 5)))],
    },
}  # fmt: skip
OWN_BAD_TYPES = {
    TradingEnv: {
        "positions": ["ab", None, [True, False], [1, "2"]], "s0": ["1", True, None], "mu": ["1", None, [1, 2]],
        "dt": ["1"],
    },
    PortfolioEnv: {"n_assets": [2.0, True, "3"], "allow_short": [1, "yes", None]},
}  # fmt: skip


def test_bad_arguments_are_refused(cls):
    tables = [(ValueError, BAD_VALUES), (ValueError, OWN_BAD_VALUES[cls])]
    for error, table in [*tables, (TypeError, BAD_TYPES), (TypeError, OWN_BAD_TYPES[cls])]:
        for name, value in ((name, value) for name, values in table.items() for value in values):
            for refuses in (partial(cls, **{name: value}), partial(cls.batch, 2, **{name: value})):
                with pytest.raises(error, match=name):
                    refuses()
    for name in ("episode_length", "lookback"):
        for value in (2**62, 2**63, 10**30):
            with pytest.raises(ValueError, match=rf"{name} must be less than 2\*\*62, got {value}"):
                cls(**{name: value})
    assert cls(episode_length=2**62 - 1).episode_length == 2**62 - 1
    for value in (True, "0.1", None, -1, np.nan):
        with pytest.raises((TypeError, ValueError), match="cost"):
            cls(transaction_cost=value)
    for cost in (ProportionalCost([0.1] * 7), SpreadCost([0.1] * 7)):
        with pytest.raises(ValueError, match="is for 7 asset"):
            cls(transaction_cost=cost)
    with pytest.raises(TypeError, match="bogus"):
        cls(bogus=1)
    with pytest.raises(ValueError, match="num_envs"):
        cls.batch(0)
    with pytest.raises(ValueError, match="max_episode_steps"):
        cls.batch(1, max_episode_steps=0)


def test_bad_samplers_are_refused(cls, prices):
    for sampler in ("zig", 2.5, None, True):
        with pytest.raises(ValueError, match='sampler must be "random"'):
            cls(prices, sampler=sampler, **SHAPE)
    for sampler in (-1, 47, SequentialStart(47)):
        with pytest.raises(ValueError, match="start"):
            cls(prices, sampler=sampler, **SHAPE)
    assert decisions(cls(prices, sampler=46, **SHAPE), 1) == [50]
    with pytest.raises(ValueError, match="no episode of 9 steps starts after the warm-up of 51 rows"):
        cls(data=MarketData(prices, warmup=51), **SHAPE)
    assert decisions(cls(data=MarketData(prices, warmup=50), **SHAPE), 2) == [50, 50]


def test_costs_need_what_they_read(cls, prices):
    volume = {"volume": 1e6 * np.ones_like(prices)}
    for source in ({}, {"prices": prices}, {"data": MarketData(prices, fields=volume)}):
        with pytest.raises(ValueError, match=r"SpreadCost.*needs a history with the field 'spread'"):
            cls(transaction_cost=SpreadCost(), **source, **SHAPE)
    with pytest.raises(ValueError, match="needs a history with the field 'volume'"):
        cls(prices, transaction_cost=SquareRootImpact(), **SHAPE)
    with pytest.raises(ValueError, match="needs a lookback of 2 or more, got 1"):
        cls(data=MarketData(prices, fields=volume), transaction_cost=SquareRootImpact(), lookback=1, episode_length=9)
    spread = np.full_like(prices, 0.01)
    spread[12] = np.nan
    data = MarketData(prices, fields={"spread": spread})
    with pytest.raises(ValueError, match=r"spread.*row 12"):
        cls(data=data, transaction_cost=SpreadCost(), **SHAPE)
    env = started(cls(data=data, transaction_cost=SpreadCost(fallback_spread=0.5), **SHAPE))
    with pytest.raises(ValueError, match="row 12"):
        env.cost_model = SpreadCost()
    env.reset(options={"start": 12})
    info = env.step(2 if cls is TradingEnv else [1.0, 2.0, 0.0, 1.0]).info
    assert info["turnover"] > 0.0
    assert info["cost"] == pytest.approx(0.25 * info["turnover"], rel=1e-14)  # another order


# ---- no look-ahead -------------------------------------------------------------------------------------


def test_nothing_depends_on_later_prices(cls):
    prices = panel(ASSETS[cls], 300)
    assert check_no_lookahead(cls, prices) == []
    fields = {
        "prices": prices,
        "volume": 1e4 * panel(ASSETS[cls], 300, seed=2),
        "spread": panel(ASSETS[cls], 300, 3) / 1e4,
    }

    def over(data):
        history = MarketData(data["prices"], fields={name: data[name] for name in ("volume", "spread")})
        return cls(
            data=history, transaction_cost=SpreadCost() + SquareRootImpact(), reward=DifferentialSharpe(), **SHAPE
        )

    assert check_no_lookahead(over, fields) == []
    assert check_no_lookahead(lambda data: LaneOfBatch(cls.batch(2, data, **SHAPE)), prices) == []


class LaneOfBatch(sekai.Env):
    """The last lane of a batch, as an env; the others take the same actions."""

    def __init__(self, vec):
        self.vec, self.action_space, self.observation_space = vec, vec.action_space, vec.observation_space

    def reset(self, *, seed=None, options=None):
        result = self.vec.reset(seed=seed, options=options)
        return sekai.ResetResult(ledger.row_of(result.observations, -1), result.infos[-1])

    def step(self, action):
        result = self.vec.step(np.array([action] * self.vec.num_envs))
        info = result.infos[-1]
        observation = info.pop("final_observation", ledger.row_of(result.observations, -1))
        info = info.get("final_info", info)
        flags = bool(result.terminated[-1]), bool(result.truncated[-1])
        return sekai.StepResult(observation, float(result.rewards[-1]), *flags, info)


def test_changing_the_future_changes_the_next_step_only(cls, prices):
    row = 20
    later = prices.copy()
    later[row + 1 :] *= 1.5
    envs = [cls(data, **SHAPE) for data in (prices, later)]
    results = [env.reset(seed=0, options={"start": row - 3}) for env in envs]
    for k, action in enumerate(actions_for(envs[0], 5)):
        assert (text(results[0]) == text(results[1])) == (k <= 3)
        results = [env.step(action) for env in envs]


# ---- the books -----------------------------------------------------------------------------------------


@st.composite
def episodes(draw):
    """Kind of env, prices, actions, and what trades cost."""
    cls = draw(st.sampled_from(ENVS))
    short = draw(st.booleans())
    n, steps = ASSETS[cls], draw(st.integers(1, 5))
    rows = st.lists(st.floats(0.5, 200), min_size=n, max_size=n)
    prices = np.array(draw(st.lists(rows, min_size=steps + 2, max_size=steps + 2)))
    cost = draw(st.sampled_from([0.0, 1e-3, 0.3, 1.0, FixedCost(2e4), ProportionalCost(0.01) + FixedCost(1e3)]))
    if cls is TradingEnv:
        positions = draw(st.lists(st.floats(-3 if short else 0, 3 if short else 1), min_size=2, max_size=4))
        actions = draw(st.lists(st.integers(0, len(positions) - 1), min_size=steps, max_size=steps))
        arguments = {"positions": positions}
    else:
        scores = st.lists(st.floats(-1, 1, width=32), min_size=n + (not short), max_size=n + (not short))
        actions, arguments = draw(st.lists(scores, min_size=steps, max_size=steps)), {"allow_short": short}
    env = cls(prices, lookback=1, episode_length=steps, transaction_cost=cost, **arguments)
    return env, prices, actions, short


def held_in(info):
    """Weights of the assets."""
    return info["weights"][:-1] if "weights" in info else np.array([info["position"]])


@settings(max_examples=50)
@given(episodes())
def test_the_books_balance(episode):
    env, prices, actions, short = episode
    info, steps = env.reset(seed=0).info, len(actions)
    for t, action in enumerate(actions):
        before, weights = info["equity"], held_in(info)
        wanted = env.action_to_weights(action)[:-1] if "weights" in info else np.array([env.positions[action]])
        result = env.step(action)
        info = result.info
        # The account: cash and shares are bought with what the trades leave of it.
        trades = wanted - weights
        cost = float(np.asarray(env.cost_model(trades, equity=1e6 * before)))
        left = before * max(1.0 - cost, 0.0)
        shares, cash = left * wanted / prices[t + 1], left * (1.0 - wanted.sum())
        values = shares * prices[t + 2]
        equity = cash + values.sum()
        scale = 1e-12 * (abs(cash) + np.abs(values).sum())  # roundings of what is added, which may cancel
        assert info["cost"] == pytest.approx(cost, rel=1e-12, abs=1e-12)
        assert info["turnover"] == pytest.approx(np.abs(trades).sum(), rel=1e-12, abs=1e-15)
        assert info["cost"] >= 0.0
        assert info["cost"] == 0.0 or info["turnover"] > 0.0
        assert info["equity"] == pytest.approx(max(equity, 0.0), abs=scale)
        if result.terminated:
            assert equity <= scale
            assert (info["equity"], held_in(info).tolist()) == (0.0, [0.0] * len(values))
            assert result.reward == np.log(1e-12)
            assert short or cost >= 1.0
        else:
            assert info["equity"] > 0.0
            assert held_in(info) * info["equity"] == pytest.approx(values, abs=scale + 1e-15)
            assert result.reward == pytest.approx(np.log(max(info["equity"] / before, 1e-12)), rel=1e-12, abs=1e-15)
        assert result.truncated == (not result.terminated and t == steps - 1)
        if result.done:
            break
    assert result.done
    if not short:
        assert info["equity"] >= 0.0
