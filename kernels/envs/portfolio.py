"""Portfolio: divide wealth among several assets and cash."""

import numpy as np

from sekai.kernels.envs import price_taker
from sekai.kernels.envs.price_taker import CHOL, DRIFT, S0, VOLATILITY
from sekai.kernels.jit import at, entry, kernel
from sekai.kernels.rows import flat

NOTHING = 1e-12  # scores with a sum below it ask for no asset
LARGEST = 1e300  # scores above it count as this, lest their sum overflow


class State(price_taker.State):
    """One row of N values each, and arrays of n assets; the last of n + 1 weights is that of cash."""

    weights: np.float64  # (n + 1,), drifted with the prices
    target: np.float64  # (n + 1,), weights after the last trades


class Params(price_taker.Params):
    """Those of the simulation are shared by all lanes."""

    allow_short: bool


class Info:
    """Reported with every reset and step."""

    portfolio_value: float
    equity: float  # the same
    weights: np.float64
    turnover: float
    cost: float
    asset_returns: np.float64
    timestamp: int  # row of the history, or step of a simulation
    dt: float


@kernel
def reset_lane(s, p, rng, i):
    """Draws: see `price_taker.begin`."""
    price_taker.begin(s, p, rng, i, p.simulation[S0], p.simulation[DRIFT], p.simulation[VOLATILITY])
    hold_cash(s.weights[i])


@kernel
def hold_cash(weights):
    """Write the weights of a portfolio without assets."""
    for j in range(weights.size - 1):
        weights[j] = 0.0
    weights[weights.size - 1] = 1.0


@kernel
def weights_of(action, allow_short, target):
    """Write the weights that an action asks for; they add up to 1, the last is that of cash.

    Scores of assets and of cash, negative ones taken as 0, are divided by their sum. With `allow_short` the action
    is the weights of the assets, clipped to [-1, 1] and scaled down where the sum of their sizes exceeds 1.
    """
    n = target.size - 1
    total = 0.0
    for j in range(action.size):
        weight = min(max(action[j], -1.0), 1.0) if allow_short else min(max(action[j], 0.0), LARGEST)
        target[j] = weight
        total += abs(weight)
    if allow_short:
        scale, net = max(total, 1.0), 0.0
        for j in range(n):
            target[j] /= scale
            net += target[j]
        target[n] = 1.0 - net
    elif total < NOTHING:
        hold_cash(target)
    else:
        for j in range(n + 1):
            target[j] /= total


@kernel
def plan_lane(s, p, action, i):
    """Write the trades that an action asks for; returns the turnover."""
    target, weights, trades = s.target[i], s.weights[i], s.scratch[i]
    weights_of(action[i], at(p.allow_short, i), target)
    turnover = 0.0
    for j in range(target.size - 1):
        trades[j] = target[j] - weights[j]
        turnover += abs(trades[j])
    return turnover


@kernel
def growth_lane(s, p, action, i, cost):
    """Factor by which wealth grows in a step, given the cost of the trades; not above 0 if it is wiped out."""
    target, asset_returns = s.target[i], s.asset_returns[i]
    gain = 0.0
    for j in range(asset_returns.size):
        gain += target[j] * asset_returns[j]
    return 0.0 if cost >= 1.0 else (1.0 - cost) * (1.0 + gain)


@kernel
def drift(target, asset_returns, weights):
    """Write the weights that target weights drift to with the returns of the assets."""
    n = asset_returns.size
    total = 0.0
    for j in range(n):
        weights[j] = target[j] * (1.0 + asset_returns[j])
        total += weights[j]
    weights[n] = target[n]
    total += weights[n]
    for j in range(n + 1):
        weights[j] /= total


@kernel
def step_lane(s, p, rng, action, i):
    """Trade at the prices of the row of the decision, and hold until the next."""
    s.turnover[i] = plan_lane(s, p, action, i)
    s.cost[i] = price_taker.cost_of_trades(s, p, i)
    price_taker.hold(s, p, rng, i, p.simulation[S0], p.simulation[DRIFT], p.simulation[VOLATILITY])
    settle(s, p, action, i)
    return price_taker.close_step(s, p, i)


@kernel
def step_block(s, p, rng, action, reward, terminated, truncated):
    """`step_lane` for a block, in stages, some of which vectorise."""
    s0, mean, deviation = p.simulation[S0], p.simulation[DRIFT], p.simulation[VOLATILITY]
    for i in range(reward.size):
        s.turnover[i] = plan_lane(s, p, action, i)
    price_taker.charge_together(s, p)
    if price_taker.move_together(s, p):
        price_taker.draw_together(s, rng)
        for i in range(reward.size):
            price_taker.add_shocks(p.simulation[CHOL:], s.normals[i], mean, deviation, s.sums[i])
        price_taker.reprice_together(s, p, s0)
    else:
        for i in range(reward.size):
            price_taker.hold(s, p, rng, i, s0, mean, deviation)
    for i in range(reward.size):
        settle(s, p, action, i)
    price_taker.close_together(s, p, reward, terminated, truncated)


@kernel
def settle(s, p, action, i):
    """Note by how much the wealth of lane i grows, and let its weights drift with the prices."""
    s.growth[i] = growth_lane(s, p, action, i, s.cost[i])
    if s.growth[i] > 0.0:
        drift(s.target[i], s.asset_returns[i], s.weights[i])
    else:
        hold_cash(s.weights[i])


@kernel
def observe_lane(s, p, obs, i):
    """Obs.returns (float32, (N, lookback, n)): the last log returns; obs.weights (float32, (N, n + 1))."""
    price_taker.observe_returns(s, p, i, flat(obs.returns[i]))
    for j in range(s.weights.shape[1]):
        obs.weights[i, j] = s.weights[i, j]


@kernel
def inform_lane(s, p, info, i):
    """Write the infos of lane i."""
    info.portfolio_value[i] = info.equity[i] = s.equity[i]
    info.turnover[i], info.cost[i], info.dt[i] = s.turnover[i], s.cost[i], at(p.dt, i)
    info.timestamp[i] = price_taker.timestamp_of(s, p, i)
    n = s.asset_returns.shape[1]
    for j in range(n):
        info.weights[i, j], info.asset_returns[i, j] = s.weights[i, j], s.asset_returns[i, j]
    info.weights[i, n] = s.weights[i, n]


@entry
def action_to_weights(actions, allow_short, weights):
    """Write the weights (float64, (N, n + 1)) that actions ask for."""
    for i in range(actions.shape[0]):
        weights_of(actions[i], allow_short, weights[i])
