"""Trading-v0 against accounts in plain Python."""

import inspect
from copy import deepcopy

import numpy as np
import pytest

import sekai
from sekai import PerLane
from sekai.envs.finance import TradingEnv, TradingVecEnv
from sekai.error import InvalidAction
from sekai.finance import (
    GBM,
    DrawdownPenalty,
    FixedCost,
    LogReturn,
    MarketData,
    ProfitAndLoss,
    ProportionalCost,
    SequentialStart,
    SpreadCost,
    SquareRootImpact,
    TurnoverPenalty,
)
from tests.envs.finance import ledger
from tests.envs.finance.ledger import History, Lane, Simulation, TradingAccount

LOOKBACK, LENGTH, WINDOW = 5, 12, 18
SHAPE = {"lookback": LOOKBACK, "episode_length": LENGTH}
STEPS, LIMIT = 40, 7
SEEDS = 3, 2**70, 5

PRICES = 100 * np.exp(np.cumsum(np.random.default_rng(1).normal(0, 0.02, 60)))
VOLUME = np.random.default_rng(2).uniform(1e3, 9e3, (60, 1))
SPREAD = np.random.default_rng(3).uniform(1e-4, 1e-2, (60, 1))
SPREAD[[7, 20, 33]] = np.nan
DAYS = np.arange("2021-03-01", "2021-04-30", dtype="datetime64[D]")
LEVERS = -9.5, 0.25, 0.0, 9.5
COSTS = ProportionalCost([0.002]) + SpreadCost(fallback_spread=0.02) + FixedCost(30.0) + SquareRootImpact(0.7)


def case(source, account=None, **arguments):
    """Arguments of an env; what makes the source of prices of its account, which may have memory; arguments of that."""
    return arguments, source, account or {}


CASES = {
    "simulated": case(lambda: Simulation(WINDOW)),
    "parameters": case(
        lambda: Simulation(WINDOW, -0.4, 1.5, 7.0, 0.1), {"cost": ledger.proportional(0.03)},
        mu=-0.4, sigma=1.5, s0=7.0, dt=0.1, transaction_cost=0.03,
    ),
    "without noise": case(lambda: Simulation(WINDOW, 2.0, 0.0), mu=2.0, sigma=0.0),
    "leverage": case(lambda: Simulation(WINDOW, sigma=1.0), {"positions": LEVERS}, positions=LEVERS, sigma=1.0),
    "GBM": case(lambda: Simulation(WINDOW, 0.3, 0.6, 12.0, 0.02), model=GBM(0.3, 0.6, s0=12.0, dt=0.02)),
    "GBM, other dt": case(
        lambda: Simulation(WINDOW, 0.3, 0.6, dt=0.02), {"dt": 0.5}, model=GBM(0.3, 0.6, dt=0.02), dt=0.5
    ),
    "array": case(lambda: History(WINDOW, PRICES), prices=PRICES),
    "column": case(lambda: History(WINDOW, PRICES, ledger.fixed(3)), prices=PRICES[:, None].tolist(), sampler=3),
    "sequential": case(
        lambda: History(WINDOW, PRICES, ledger.one_after_another(LENGTH)), prices=PRICES, sampler="sequential"
    ),
    "strides": case(
        lambda: History(WINDOW, PRICES, ledger.one_after_another(5, 2)), prices=PRICES, sampler=SequentialStart(2, 5)
    ),
    "dates": case(
        lambda: History(WINDOW, PRICES, timestamps=DAYS, dt=1 / 365.25), data=MarketData(PRICES, timestamps=DAYS)
    ),
    "warm-up": case(
        lambda: History(WINDOW, PRICES, warmup=25, timestamps=np.arange(60) + 1000),
        data=MarketData(PRICES, warmup=25, timestamps=np.arange(60) + 1000),
    ),
    "all costs": case(
        lambda: History(WINDOW, PRICES, volume=VOLUME, spread=SPREAD),
        {
            "cost": ledger.added(
                ledger.proportional(0.002), ledger.half_spread(0.02), ledger.fee(30.0), ledger.impact(0.7)
            ),
            "capital": 2e5,
        },
        data=MarketData(PRICES, fields={"spread": SPREAD, "volume": VOLUME}), transaction_cost=COSTS, capital=2e5,
    ),
    "rewards with memory": case(
        lambda: Simulation(WINDOW), {"reward": ledger.LogReturnLessDrawdown()},
        reward=LogReturn() - 2 * DrawdownPenalty(),
    ),
    "sum of rewards": case(
        lambda: Simulation(WINDOW), {"reward": ledger.ProfitLessTurnover()},
        reward=3 * ProfitAndLoss() - 0.5 * TurnoverPenalty() + 0.25,
    ),
}  # fmt: skip
CASE = pytest.mark.parametrize("name", CASES)


def account_of(name, seed):
    _, source, arguments = CASES[name]
    return TradingAccount(source(), seed, lookback=LOOKBACK, **deepcopy(arguments))


def env_of(name, cls=TradingEnv, *args, **kwargs):
    return cls(*args, **SHAPE, **deepcopy(CASES[name][0]), **kwargs)


def actions_for(one, *shape):
    return np.random.default_rng(9).integers(0, one.action_space.n, (STEPS, *shape))


# ---- against accounts --------------------------------------------------------------------------------


@CASE
def test_an_env_says_what_its_account_says(name):
    env = env_of(name)
    ledger.follow(env, account_of(name, 7), actions_for(env), 7, restarts=(4, 5, 20))


@pytest.mark.parametrize("mode", ["same_step", "next_step", "disabled"])
@CASE
def test_a_lane_says_what_its_account_says(name, mode):
    vec = env_of(name, TradingVecEnv, 3, autoreset=mode)
    lanes = [Lane(account_of(name, seed), mode) for seed in SEEDS]
    ledger.follow_batch(vec, lanes, actions_for(vec, 3), SEEDS)


def test_lanes_have_parameters_of_their_own():
    mu, sigma, s0, dt = [0.1, 0.2, -3.0], [0.2, 0.0, 0.7], [10.0, 1.0, 300.0], [0.004, 0.1, 1 / 365]
    capital = [1e3, 1e5, 1e7]
    given = {"mu": mu, "sigma": sigma, "s0": s0, "dt": dt, "capital": capital}
    each = {name: PerLane(values) for name, values in given.items()}
    vec = TradingVecEnv(3, **SHAPE, **each, transaction_cost=FixedCost(10.0), max_episode_steps=LIMIT)
    assert {name: getattr(vec, name).tolist() for name in given} == given
    lanes = [
        Lane(
            TradingAccount(
                Simulation(WINDOW, mu[i], sigma[i], s0[i], dt[i]), seed,
                lookback=LOOKBACK, cost=ledger.fee(10.0), capital=capital[i],
            ),
            limit=LIMIT,
        )
        for i, seed in enumerate(SEEDS)
    ]  # fmt: skip
    ledger.follow_batch(vec, lanes, actions_for(vec, 3), SEEDS)


# ---- spaces, infos, attributes -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("positions", "low", "high"),
    [
        ((-1, 0, 1), -np.inf, 1.0), ((0, 1), 0.0, 1.0), ((0.5, 0.25), 0.0, 1.0), ((0, 2), 0.0, np.inf),
        ((-3, 2), -np.inf, np.inf),
    ],
)  # fmt: skip
def test_the_spaces_follow_from_the_positions(positions, low, high):
    for one in (TradingEnv(lookback=2, positions=positions), TradingVecEnv(2, lookback=2, positions=positions)):
        assert one.action_space == sekai.Discrete(len(positions))
        bounds = np.array([[-np.inf, -np.inf, low], [np.inf, np.inf, high]], np.float32)
        assert one.observation_space == sekai.Box(bounds[0], bounds[1], dtype=np.float32)
        assert one.positions.dtype == np.float64
        assert one.positions.tolist() == list(positions)


def test_arguments_and_their_defaults():
    single, batch = (inspect.signature(cls).parameters for cls in (TradingEnv, TradingVecEnv))
    names = [
        "prices", "data", "episode_length", "lookback", "positions", "transaction_cost", "mu", "sigma", "dt", "s0",
        "model", "reward", "sampler", "capital", "batch",
    ]  # fmt: skip
    assert list(single) == names
    assert list(batch) == ["num_envs", *names]
    defaults = [None, None, 252, 30, (-1.0, 0.0, 1.0), 1e-3, 0.05, 0.2, None, 100.0, None, None, "random", 1_000_000.0]
    for parameters in (single, batch):
        assert [parameters[name].default for name in names[:-1]] == defaults
        assert [parameters[name].kind for name in names[1:-1]] == [inspect.Parameter.KEYWORD_ONLY] * 13


def test_pinned_outputs():
    found = sekai.make("Trading-v0").reset(seed=0).observation[:3] * 100
    assert str(found) == "[ 0.17030995 -0.15453172  0.81876147]"
    env = sekai.make("Trading-v0", sigma=0.3)
    env.reset(seed=0)
    peak, steps, equity = 1.0, 0, 1.0
    while equity >= 0.9 * peak:
        equity = env.step(2).info["equity"]
        peak, steps = max(peak, equity), steps + 1
    assert steps == 79


def test_what_is_known_of_a_lane():
    vec = TradingVecEnv(2, **SHAPE)
    assert (vec.price.tolist(), vec.equity.tolist(), vec.position.tolist()) == ([1.0, 1.0], [1.0, 1.0], [0.0, 0.0])
    result = vec.reset(seed=0)
    for k in range(4):
        arrays = result.infos.arrays
        for name in ("price", "equity", "position", "timestamp"):
            assert getattr(vec, name).tolist() == arrays[name].tolist()
            assert vec.get_attr(name) == arrays[name].tolist()
        assert vec.elapsed_steps.tolist() == [k, k]
        assert [history.shape for history in vec.price_history] == [(LOOKBACK + 1 + k,)] * 2
        assert [history[-1] for history in vec.price_history] == vec.price.tolist()
        returns = np.diff(np.log(vec.price_history[1]))[-LOOKBACK:]
        assert result.observations[1, :-1] == pytest.approx(returns, rel=1e-6)  # float32
        single = vec.lane(1)
        assert (single.price, single.position, single.equity, single.timestamp, single.elapsed_steps) == (
            vec.price[1], vec.position[1], vec.equity[1], k, k,
        )  # fmt: skip
        assert [type(single.price), type(single.timestamp), type(single.elapsed_steps)] == [float, int, int]
        assert single.price_history.tolist() == vec.price_history[1].tolist()
        for array in (vec.price, vec.position, vec.equity, vec.price_history[0], single.price_history):
            array[:] = 0.0  # a copy
        result = vec.step([2, 0])
    assert vec.price.min() > 0.0


def test_positions_may_be_set():
    env, vec = TradingEnv(**SHAPE, sigma=0.0, mu=0.0), TradingVecEnv(2, **SHAPE, sigma=0.0, mu=0.0)
    for one in (env, vec):
        one.reset(seed=0)
        one.positions = [0.25, 0.5, 0.75]
    assert env.step(2).info["turnover"] == 0.75
    assert vec.step([0, 1]).infos.arrays["turnover"].tolist() == [0.25, 0.5]
    vec.positions[:] = 9.0  # a copy
    assert vec.positions.tolist() == [0.25, 0.5, 0.75]
    for value, error, match in (
        ([0, 1], ValueError, "positions must be 3 numbers"),
        ([0, 1, np.nan], ValueError, "positions.*entry 2 must be finite, got nan"),
        (["0", "1", "2"], TypeError, "positions must be numbers"),
    ):
        for one in (env, vec):
            with pytest.raises(error, match=match):
                one.positions = value
            assert one.positions.tolist() == [0.25, 0.5, 0.75]


# ---- actions -------------------------------------------------------------------------------------------


def test_actions_outside_the_space_change_nothing():
    env, vec = TradingEnv(**SHAPE), TradingVecEnv(2, **SHAPE)
    env.reset(seed=0)
    vec.reset(seed=0)
    memory = [[array.copy() for array in (one._memory, *one._arrays)] for one in (env._vec, vec)]
    for action in (3, -1, 1.0, True, np.array([1]), "1", None, np.bool_(True), 2**70):
        with pytest.raises(InvalidAction):
            env.step(action)
    for actions in ([0, 3], [0, -1], [0.5, 1.0], [True, False], ["0", "1"]):
        with pytest.raises(InvalidAction):
            vec.step(actions)
    for actions in (1, [1], [1, 1, 1], [[1], [1]]):
        with pytest.raises(ValueError, match=r"\(2,\)"):
            vec.step(actions)
    for one, arrays in zip((env._vec, vec), memory, strict=True):
        assert [array.tobytes() for array in (one._memory, *one._arrays)] == [array.tobytes() for array in arrays]
    for action in (np.int8(2), np.array(2), np.uint64(2)):
        env.step(action)


# ---- the ends of episodes ------------------------------------------------------------------------------


def test_ruin_ends_an_episode():
    env = TradingEnv([100.0, 100.0, 50.0, 80.0, 80.0], lookback=1, episode_length=3, positions=(0, 2, -3))
    env.reset(seed=0, options={"start": 1})
    result = env.step(1)
    assert (result.terminated, result.truncated, result.reward) == (True, False, np.log(1e-12))
    assert (result.info["equity"], result.info["position"], result.observation[-1]) == (0.0, 0.0, 0.0)
    assert result.info["asset_return"] == -0.5


def test_costs_may_take_everything():
    env = TradingEnv(**SHAPE, positions=(0, 1), transaction_cost=1.0, reward=ProfitAndLoss())
    env.reset(seed=0)
    assert env.step(0).reward == 0.0
    result = env.step(1)
    assert (result.terminated, result.reward, result.info["cost"], result.info["equity"]) == (True, -1.0, 1.0, 0.0)


def test_the_end_of_the_data_is_no_ruin():
    env = TradingEnv(PRICES, **SHAPE)
    env.reset(seed=0)
    results = [env.step(1) for _ in range(LENGTH)]
    assert [result.truncated for result in results] == [False] * (LENGTH - 1) + [True]
    assert not any(result.terminated for result in results)
