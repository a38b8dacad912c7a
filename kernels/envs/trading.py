"""Trading: hold one of a few positions in one asset."""

import numpy as np

from sekai.kernels.elementary import exp
from sekai.kernels.envs import price_taker
from sekai.kernels.envs.price_taker import DRIFT, LOOKBACK, S0, SIMULATED, SOURCE, VOLATILITY
from sekai.kernels.jit import at, kernel
from sekai.kernels.rows import flat


class State(price_taker.State):
    """One row of N values each; the arrays are `price_taker`'s, of one asset."""

    position: float  # as a fraction of equity, drifted with the price


class Params(price_taker.Params):
    """Those of the simulation may be one value per lane."""

    mu: float  # drift of the price, per year
    sigma: float  # volatility of the price, per square root of a year
    s0: float  # first price
    positions: np.float64  # (P,), what the actions stand for


class Info:
    """Reported with every reset and step."""

    equity: float
    position: float
    price: float
    asset_return: float
    cost: float
    turnover: float
    timestamp: int  # row of the history, or step of a simulation
    dt: float


@kernel
def reset_lane(s, p, rng, i):
    """Draws: see `price_taker.begin`."""
    s0, drift, volatility = simulation(p, i)
    price_taker.begin(s, p, rng, i, (s0,), (drift,), (volatility,))
    s.position[i] = 0.0


@kernel
def simulation(p, i):
    """First price, and mean and standard deviation of the log return of a step, of lane i's simulated prices."""
    if p.setup[SOURCE] == SIMULATED:
        sigma, dt = at(p.sigma, i), at(p.dt, i)
        return at(p.s0, i), (at(p.mu, i) - 0.5 * sigma * sigma) * dt, sigma * np.sqrt(dt)
    return p.simulation[S0, 0], p.simulation[DRIFT, 0], p.simulation[VOLATILITY, 0]


@kernel
def plan_lane(s, p, action, i):
    """Write the trade that an action asks for; returns the turnover."""
    trade = p.positions[action[i]] - s.position[i]
    s.scratch[i, 0] = trade
    return abs(trade)


@kernel
def growth_lane(s, p, action, i, cost):
    """Factor by which equity grows in a step, given the cost of the trade; not above 0 if it is wiped out."""
    return 0.0 if cost >= 1.0 else (1.0 - cost) * (1.0 + p.positions[action[i]] * s.asset_returns[i, 0])


@kernel
def step_lane(s, p, rng, action, i):
    """Trade at the price of the row of the decision, and hold until the next."""
    s.turnover[i] = plan_lane(s, p, action, i)
    s.cost[i] = price_taker.cost_of_trades(s, p, i)
    s0, drift, volatility = simulation(p, i)
    price_taker.hold(s, p, rng, i, (s0,), (drift,), (volatility,))
    settle(s, p, action, i)
    return price_taker.close_step(s, p, i)


@kernel
def step_block(s, p, rng, action, reward, terminated, truncated):
    """`step_lane` for a block, in stages, most of which vectorise."""
    for i in range(reward.size):
        s.turnover[i] = plan_lane(s, p, action, i)
    price_taker.charge_together(s, p)
    if price_taker.move_together(s, p):
        price_taker.draw_together(s, rng)
        reprice_together(s, p)
        price_taker.note_together(s, p)
    else:
        for i in range(reward.size):
            s0, drift, volatility = simulation(p, i)
            price_taker.hold(s, p, rng, i, (s0,), (drift,), (volatility,))
    for i in range(reward.size):
        settle(s, p, action, i)
    price_taker.close_together(s, p, reward, terminated, truncated)


@kernel
def reprice_together(s, p):
    """Turn the normals of all lanes of a block into prices and returns."""
    normals, sums, spot, returns = flat(s.normals), flat(s.sums), flat(s.spot), flat(s.asset_returns)
    for i in range(spot.size):
        s0, drift, volatility = simulation(p, i)
        sums[i] += drift + volatility * normals[i]
        price = s0 * exp(sums[i])
        returns[i] = price / spot[i] - 1.0
        spot[i] = price


@kernel
def settle(s, p, action, i):
    """Note by how much the equity of lane i grows, and let its position drift with the price."""
    growth = growth_lane(s, p, action, i, s.cost[i])
    wanted = p.positions[action[i]]
    held = wanted * (1.0 + s.asset_returns[i, 0])
    value = held + (1.0 - wanted)
    s.growth[i] = growth
    s.position[i] = held / value if (growth > 0.0) & (value > 0.0) else 0.0


@kernel
def observe_lane(s, p, obs, i):
    """Obs (float32, (N, lookback + 1)): the last log returns, and the position."""
    lookback = p.setup[LOOKBACK]
    price_taker.observe_returns(s, p, i, obs[i, :lookback])
    obs[i, lookback] = s.position[i]


@kernel
def inform_lane(s, p, info, i):
    """Write the infos of lane i."""
    info.equity[i], info.position[i], info.price[i] = s.equity[i], s.position[i], price_taker.price_of(s, p, i, 0)
    info.asset_return[i], info.cost[i], info.turnover[i] = s.asset_returns[i, 0], s.cost[i], s.turnover[i]
    info.timestamp[i], info.dt[i] = price_taker.timestamp_of(s, p, i), at(p.dt, i)
