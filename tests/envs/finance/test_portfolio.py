"""Portfolio-v0 against accounts in plain Python."""

import inspect
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sekai
from sekai import PerLane
from sekai.envs.finance import PortfolioEnv, PortfolioVecEnv, random_correlation
from sekai.error import InvalidAction
from sekai.finance import (
    GBM,
    DrawdownPenalty,
    FixedCost,
    LogReturn,
    MarketData,
    ProportionalCost,
    SpreadCost,
    SquareRootImpact,
)
from tests.envs.finance import ledger
from tests.envs.finance.ledger import History, Lane, PortfolioAccount, Simulation

LOOKBACK, LENGTH, WINDOW = 4, 10, 15
SHAPE = {"lookback": LOOKBACK, "episode_length": LENGTH}
STEPS, LIMIT = 30, 6
SEEDS = 3, 2**70, 5

PRICES = 100 * np.exp(np.cumsum(np.random.default_rng(1).normal(0, 0.03, (60, 3)), axis=0))
VOLUME = np.random.default_rng(2).uniform(1e3, 9e3, (60, 3))
SPREAD = np.random.default_rng(3).uniform(1e-4, 1e-2, (60, 3))
SPREAD[[7, 20, 33], [0, 1, 2]] = np.nan  # for which stands the median of the other two
DAYS = np.arange("2021-03-01", "2021-04-30", dtype="datetime64[D]")
CORR = np.array([[1.0, 0.5, -0.3], [0.5, 1.0, 0.2], [-0.3, 0.2, 1.0]])
COSTS = ProportionalCost([0.002, 0.001, 0.0]) + SpreadCost() + FixedCost(30.0) + SquareRootImpact(0.7)


def default(n):
    return {
        "mu": 0.06,
        "sigma": np.linspace(0.15, 0.35, n),
        "corr": random_correlation(np.random.default_rng(0), n),
        "n": n,
    }


def case(source, account=None, **arguments):
    """Arguments of an env; what makes the source of prices of its account; arguments of that."""
    return arguments, source, account or {}


CASES = {
    "simulated": case(lambda: Simulation(WINDOW, **default(5))),
    "one asset": case(lambda: Simulation(WINDOW, **default(1)), n_assets=1),
    "parameters": case(
        lambda: Simulation(WINDOW, [0.3, -0.4, 0.0], 0.7, corr=CORR, dt=0.02, n=3),
        n_assets=3, mu=[0.3, -0.4, 0.0], sigma=0.7, corr=CORR, dt=0.02,
    ),
    "short": case(
        lambda: Simulation(WINDOW, **default(5)), {"cost": ledger.proportional(0.05), "allow_short": True},
        allow_short=True, transaction_cost=0.05,
    ),
    "GBM": case(
        lambda: Simulation(WINDOW, 0.1, [0.2, 0.3, 0.4], 7.0, 0.02, CORR, n=3),
        model=GBM(0.1, [0.2, 0.3, 0.4], s0=7.0, corr=CORR, dt=0.02),
    ),
    "independent": case(lambda: Simulation(WINDOW, 0.1, 0.2, n=2), model=GBM(0.1, 0.2, n_assets=2)),
    "array": case(lambda: History(WINDOW, PRICES), prices=PRICES),
    "one column": case(lambda: History(WINDOW, PRICES[:, 0], ledger.fixed(7)), prices=PRICES[:, 0], sampler=7),
    "dates": case(
        lambda: History(WINDOW, PRICES, timestamps=DAYS, warmup=20, dt=1 / 365.25),
        data=MarketData(PRICES, timestamps=DAYS, warmup=20),
    ),
    "all costs": case(
        lambda: History(WINDOW, PRICES, volume=VOLUME, spread=SPREAD),
        {
            "cost": ledger.added(
                ledger.proportional(np.array([0.002, 0.001, 0.0])), ledger.half_spread(), ledger.fee(30.0),
                ledger.impact(0.7),
            ),
            "capital": 2e5,
        },
        data=MarketData(PRICES, fields={"volume": VOLUME, "spread": SPREAD}), transaction_cost=COSTS, capital=2e5,
    ),
    "reward with memory": case(
        lambda: History(WINDOW, PRICES), {"reward": ledger.LogReturnLessDrawdown()},
        prices=PRICES, reward=LogReturn() - 2 * DrawdownPenalty(),
    ),
}  # fmt: skip
CASE = pytest.mark.parametrize("name", CASES)


def account_of(name, seed):
    _, source, arguments = CASES[name]
    return PortfolioAccount(source(), seed, lookback=LOOKBACK, **deepcopy(arguments))


def env_of(name, cls=PortfolioEnv, *args, **kwargs):
    return cls(*args, **SHAPE, **deepcopy(CASES[name][0]), **kwargs)


def actions_for(one, *shape):
    """Random actions, some of which are out of bounds; a few ask for nothing."""
    actions = np.random.default_rng(9).uniform(-1.3, 1.3, (STEPS, *shape, *one.action_space.shape)).astype(np.float32)
    actions[3::7] = 0.0
    return actions


# ---- against accounts --------------------------------------------------------------------------------


@CASE
def test_an_env_says_what_its_account_says(name):
    env = env_of(name)
    ledger.follow(env, account_of(name, 7), actions_for(env), 7, restarts=(4, 5, 20))


@pytest.mark.parametrize("mode", ["same_step", "next_step", "disabled"])
@CASE
def test_a_lane_says_what_its_account_says(name, mode):
    vec = env_of(name, PortfolioVecEnv, 3, autoreset=mode)
    lanes = [Lane(account_of(name, seed), mode) for seed in SEEDS]
    ledger.follow_batch(vec, lanes, actions_for(vec, 3), SEEDS)


def test_lanes_have_capital_of_their_own():
    capital = [1e3, 1e5, 1e7]
    vec = PortfolioVecEnv(
        3, **SHAPE, capital=PerLane(capital), transaction_cost=FixedCost(10.0), max_episode_steps=LIMIT
    )
    lanes = [
        Lane(
            PortfolioAccount(
                Simulation(WINDOW, **default(5)), seed, lookback=LOOKBACK, cost=ledger.fee(10.0), capital=currency
            ),
            limit=LIMIT,
        )
        for seed, currency in zip(SEEDS, capital, strict=True)
    ]
    ledger.follow_batch(vec, lanes, actions_for(vec, 3), SEEDS)
    for name in ("mu", "sigma", "corr"):
        with pytest.raises((TypeError, ValueError), match=name):
            PortfolioVecEnv(3, **{name: PerLane([0.1, 0.2, 0.3])})


# ---- spaces, infos, attributes -----------------------------------------------------------------------


def test_spaces():
    for one in (PortfolioEnv(n_assets=2, lookback=3), PortfolioVecEnv(4, n_assets=2, lookback=3)):
        assert one.action_space == sekai.Box(0.0, 1.0, (3,), np.float32)
        assert one.observation_space == sekai.Dict(
            returns=sekai.Box(-np.inf, np.inf, (3, 2), np.float32), weights=sekai.Box(0.0, 1.0, (3,), np.float32)
        )
    short = PortfolioEnv(n_assets=2, lookback=3, allow_short=True)
    assert short.action_space == sekai.Box(-1.0, 1.0, (2,), np.float32)
    assert short.observation_space["weights"] == sekai.Box(-np.inf, np.inf, (3,), np.float32)
    assert sekai.spaces.flatdim(sekai.make("Portfolio-v0").observation_space) == 156


def test_arguments_and_their_defaults():
    single, batch = (inspect.signature(cls).parameters for cls in (PortfolioEnv, PortfolioVecEnv))
    names = [
        "prices", "data", "n_assets", "episode_length", "lookback", "transaction_cost", "allow_short", "mu", "sigma",
        "corr", "dt", "model", "reward", "sampler", "capital", "batch",
    ]  # fmt: skip
    assert list(single) == names
    assert list(batch) == ["num_envs", *names]
    defaults = [None, None, None, 252, 30, 1e-3, False, None, None, None, None, None, None, "random", 1_000_000.0]
    for parameters in (single, batch):
        assert [parameters[name].default for name in names[:-1]] == defaults
        assert {parameters[name].kind for name in names[1:-1]} == {inspect.Parameter.KEYWORD_ONLY}


def test_a_pinned_output():
    env = sekai.make("Portfolio-v0", n_assets=2)
    env.reset(seed=0)
    scores = np.exp(np.array([10.0, -10.0, -10.0]))
    assert round(env.step((scores / scores.sum()).astype(np.float32)).reward * 1e4, 2) == -49.31


def test_default_parameters_do_not_depend_on_the_seed():
    for one in (PortfolioEnv(n_assets=4), PortfolioVecEnv(2, n_assets=4)):
        one.reset(seed=5)
        assert one.n_assets == 4
        assert one.mu.tolist() == [0.06] * 4
        assert one.sigma.tolist() == np.linspace(0.15, 0.35, 4).tolist()
        assert one.corr.tolist() == random_correlation(np.random.default_rng(0), 4).tolist()
        assert (one.dt, one.capital, one.allow_short) == (1 / 252, 1e6, False)
    assert [np.ndim(PortfolioEnv(mu=0.1).mu), np.shape(PortfolioEnv(sigma=[0.1]).sigma)] == [0, (1,)]
    assert PortfolioEnv(PRICES, **SHAPE).n_assets == PortfolioEnv(model=GBM(n_assets=3)).n_assets == 3


def test_what_is_known_of_a_lane():
    vec = PortfolioVecEnv(2, n_assets=3, **SHAPE)
    assert (vec.portfolio_value.tolist(), vec.equity.tolist()) == ([1.0, 1.0], [1.0, 1.0])
    result = vec.reset(seed=0)
    for k in range(4):
        arrays = result.infos.arrays
        for name in ("portfolio_value", "equity", "weights", "timestamp"):
            assert getattr(vec, name).tolist() == arrays[name].tolist()
        assert (vec.weights.shape, vec.weights.dtype) == ((2, 4), np.float64)
        assert vec.weights.sum(axis=1) == pytest.approx(1.0, rel=1e-15)  # roundings
        assert [history.shape for history in vec.price_history] == [(LOOKBACK + 1 + k, 3)] * 2
        returns = np.diff(np.log(vec.price_history[1]), axis=0)[-LOOKBACK:]
        assert result.observations["returns"][1] == pytest.approx(returns, rel=1e-6)  # float32
        single = vec.lane(1)
        assert (single.portfolio_value, single.timestamp, single.elapsed_steps) == (vec.portfolio_value[1], k, k)
        assert [type(single.portfolio_value), type(single.timestamp)] == [float, int]
        assert single.weights.tolist() == vec.weights[1].tolist()
        assert single.price_history.tolist() == vec.price_history[1].tolist()
        for array in (vec.weights, vec.portfolio_value, single.weights, single.price_history, arrays["weights"]):
            array[:] = 0.5  # a copy
        result = vec.step(np.array([[1, 2, 3, 4], [0, 0, 0, 0]], np.float32))
    assert vec.weights[1].tolist() == [0.0, 0.0, 0.0, 1.0]


# ---- actions -------------------------------------------------------------------------------------------

SCORES = st.lists(st.floats(-2, 2, width=32), min_size=4, max_size=4)


@given(SCORES)
def test_scores_become_weights(scores):
    weights = PortfolioEnv(n_assets=3).action_to_weights(scores)
    assert (weights.dtype, weights.shape) == (np.float64, (4,))
    assert weights.min() >= 0.0
    assert weights.sum() == pytest.approx(1.0, rel=1e-15)  # roundings
    positive = np.maximum(scores, 0.0)
    total = positive.sum()
    right = positive / total if total >= 1e-12 else [0, 0, 0, 1]
    assert weights == pytest.approx(np.array(right), rel=1e-15)  # a sum in another order
    batch = PortfolioVecEnv(2, n_assets=3).action_to_weights([scores, [1, 1, 1, 1]])
    assert batch.tolist() == [weights.tolist(), [0.25] * 4]


@given(SCORES)
def test_short_scores_are_weights(scores):
    weights = PortfolioEnv(n_assets=4, allow_short=True).action_to_weights(scores)
    clipped = np.clip(scores, -1, 1)
    right = clipped / max(np.abs(clipped).sum(), 1.0)
    assert weights[:4] == pytest.approx(right, rel=1e-15)  # a sum in another order
    assert np.abs(weights[:4]).sum() <= 1 + 1e-15
    assert weights.sum() == pytest.approx(1.0, rel=1e-15)
    assert weights[4] >= -1e-15


def test_next_to_nothing_is_cash():
    env = PortfolioEnv(n_assets=2)
    assert env.action_to_weights([9e-13, 0.0, 0.0]).tolist() == [0.0, 0.0, 1.0]
    assert env.action_to_weights([2e-12, 0.0, 2e-12]).tolist() == [0.5, 0.0, 0.5]
    assert env.action_to_weights([3.0, 1.0, 0.0]).tolist() == [0.75, 0.25, 0.0]  # above 1 nothing is cut off


def test_bad_actions_change_nothing():
    env, vec = PortfolioEnv(n_assets=2, **SHAPE), PortfolioVecEnv(2, n_assets=2, **SHAPE)
    env.reset(seed=0)
    vec.reset(seed=0)
    memory = [[array.copy() for array in (one._memory, *one._arrays)] for one in (env._vec, vec)]
    for action in ("x", None, True, ["a"] * 3, [True] * 3, [1j] * 3, {}):
        for method in (env.step, env.action_to_weights):
            with pytest.raises(TypeError, match="must be numbers"):
                method(action)
    for action in ([], [1, 1], [1, 1, 1, 1], [1, np.nan, 1], [np.inf, 0, 0]):
        for method in (env.step, env.action_to_weights):
            with pytest.raises(InvalidAction):
                method(action)
    good = [0.1, 0.2, 0.3]
    with pytest.raises(InvalidAction, match="lane 1"):
        vec.step([good, [0.1, np.nan, 0.3]])
    with pytest.raises(InvalidAction):
        vec.action_to_weights([good, [0.1, np.nan, 0.3]])
    for actions in (good, [good] * 3, np.ones((2, 2)), 1.0):
        for method in (vec.step, vec.action_to_weights):
            with pytest.raises(ValueError, match=r"shape \(2, 3\)"):
                method(actions)
    for one, arrays in zip((env._vec, vec), memory, strict=True):
        assert [array.tobytes() for array in (one._memory, *one._arrays)] == [array.tobytes() for array in arrays]


# ---- the ends of episodes ------------------------------------------------------------------------------


def test_ruin_ends_an_episode():
    prices = np.array([[10.0, 10.0], [10.0, 10.0], [20.0, 10.0], [20.0, 10.0], [20.0, 10.0]])
    env = PortfolioEnv(prices, lookback=1, episode_length=3, allow_short=True)
    env.reset(seed=0, options={"start": 1})
    result = env.step([-1.0, 0.0])
    assert (result.terminated, result.truncated, result.reward) == (True, False, np.log(1e-12))
    assert (result.info["equity"], result.info["weights"].tolist()) == (0.0, [0.0, 0.0, 1.0])
    assert result.observation["weights"].tolist() == [0.0, 0.0, 1.0]


def test_costs_may_take_everything():
    env = PortfolioEnv(**SHAPE, n_assets=2, transaction_cost=1.0)
    env.reset(seed=0)
    assert env.step([0, 0, 1]).reward == 0.0
    result = env.step([1, 0, 0])
    assert (result.terminated, result.info["cost"], result.info["portfolio_value"]) == (True, 1.0, 0.0)
    assert result.info["weights"].tolist() == [0.0, 0.0, 1.0]


def test_scores_whose_sum_would_overflow_are_weights_all_the_same():
    env = sekai.make("Portfolio-v0", n_assets=3).unwrapped
    assert env.action_to_weights(np.full(4, 1e308)).tolist() == [0.25] * 4
