"""Market making: quote a bid and an ask around a mid price that wanders, and hold little inventory.

Source: Avellaneda & Stoikov, High-frequency trading in a limit order book, Quantitative Finance 8(3), 2008: the model
in section 2, the quotes in section 3, parameters and discretisation of the numerical experiments in section 3.3.
"""

import math

import numpy as np

from sekai.kernels import random
from sekai.kernels.elementary import exp, square
from sekai.kernels.jit import at, kernel
from sekai.kernels.rows import borrow


class State:
    """One row of N values each."""

    mid: float
    inventory: int  # shares, negative if short
    cash: float
    t: int  # steps of the episode
    bid: float  # quotes of the last step; NaN before the first of an episode
    ask: float
    bid_filled: bool
    ask_filled: bool


class Params:
    """Scalars for all lanes, or one value per lane; Greek and other symbols are those of the paper."""

    s0: float = 100.0  # first mid price
    sigma: float = 2.0  # standard deviation of the mid price over one unit of time
    total_time: float = 1.0  # T
    n_steps: int = 200
    fill_intensity: float = 140.0  # A, orders per unit of time at the mid price
    fill_decay: float = 1.5  # k, per unit of price
    risk_aversion: float = 0.1  # gamma
    max_inventory: int = 50  # shares, long or short
    order_size: int = 1  # shares
    max_offset: float = 5.0  # largest distance of a quote from the mid price
    dt: float  # time between steps


class Info:
    """Reported with every reset and step."""

    mid_price: float
    inventory: int
    cash: float
    wealth: float
    bid: float
    ask: float
    bid_filled: bool
    ask_filled: bool
    timestamp: float
    dt: float


@kernel
def reset_lane(s, p, rng, i):
    """Start with no shares and no cash; draws nothing."""
    s.mid[i], s.inventory[i], s.cash[i], s.t[i] = at(p.s0, i), 0, 0.0, 0
    s.bid[i], s.ask[i] = np.nan, np.nan
    s.bid_filled[i], s.ask_filled[i] = 0, 0


@kernel
def step_lane(s, p, rng, action, i):
    """Quote, trade and move the mid price. Draws: 2 uniforms, for bid and ask, and a normal for the mid price."""
    buys = random.random(rng, i) < fill_probability(p, i, distance(p, i, action[i, 0]))
    sells = random.random(rng, i) < fill_probability(p, i, distance(p, i, action[i, 1]))
    return trade(s, p, action, i, buys, sells, random.standard_normal(rng, i))


@kernel
def step_block(s, p, rng, action, reward, terminated, truncated):
    """`step_lane` for a block, one exponential in a loop (12 ns a lane; 39 with all of them in one).

    Until they have their values, the rows of the quotes hold what becomes the probabilities of fills, and the rewards
    the normals.
    """
    a = borrow(action, 2)
    for i in range(reward.size):
        s.bid[i], s.ask[i] = distance(p, i, a[i, 0]), distance(p, i, a[i, 1])
    for i in range(reward.size):
        s.bid[i] = intensity(p, i, s.bid[i])
    for i in range(reward.size):
        s.ask[i] = intensity(p, i, s.ask[i])
    for i in range(reward.size):
        s.bid[i] = probability(p, i, s.bid[i])
    for i in range(reward.size):
        s.ask[i] = probability(p, i, s.ask[i])
    for i in range(reward.size):
        s.bid_filled[i] = random.random(rng, i) < s.bid[i]
        s.ask_filled[i] = random.random(rng, i) < s.ask[i]
    random.standard_normals(rng, reward)
    for i in range(reward.size):
        buys, sells = s.bid_filled[i] != 0, s.ask_filled[i] != 0
        reward[i], terminated[i], truncated[i] = trade(s, p, a, i, buys, sells, reward[i])


@kernel
def trade(s, p, action, i, buys, sells, normal):
    """One step of lane i. Both orders see the inventory from before.

    Args:
        buys, sells (bool): whether somebody would trade with the bid and the ask.
        normal (float): the move of the mid price, in standard deviations.

    Returns:
        reward, terminated, truncated.
    """
    mid, inventory, cash = s.mid[i], s.inventory[i], s.cash[i]
    size, limit, sigma, dt = at(p.order_size, i), at(p.max_inventory, i), at(p.sigma, i), at(p.dt, i)
    before = wealth(cash, inventory, mid)
    bid, ask = mid - distance(p, i, action[i, 0]), mid + distance(p, i, action[i, 1])
    buys &= inventory <= limit - size
    sells &= inventory >= size - limit

    inventory += size * buys - size * sells
    cash = cash - size * bid if buys else cash
    cash = cash + size * ask if sells else cash
    mid += sigma * np.sqrt(dt) * normal
    s.mid[i], s.inventory[i], s.cash[i] = mid, inventory, cash
    s.bid[i], s.ask[i], s.bid_filled[i], s.ask_filled[i] = bid, ask, buys, sells
    t = s.t[i] + 1
    s.t[i] = t
    risk = 0.5 * at(p.risk_aversion, i) * square(sigma) * dt * square(np.float64(inventory))
    return wealth(cash, inventory, mid) - before - risk, t >= at(p.n_steps, i), False


@kernel
def wealth(cash, inventory, mid):
    """Cash and what the shares are worth at the mid price."""
    return cash + inventory * mid


@kernel
def distance(p, i, offset):
    """How far from the mid price an order is placed."""
    return min(max(offset, 0.0), at(p.max_offset, i))


@kernel
def fill_probability(p, i, distance):
    """Probability that an order so far from the mid price is filled in one step."""
    return probability(p, i, intensity(p, i, distance))


@kernel
def intensity(p, i, distance):
    """Orders that trade at this distance from the mid price, per unit of time: A exp(-k d)."""
    return at(p.fill_intensity, i) * exp(-at(p.fill_decay, i) * distance)


@kernel
def probability(p, i, intensity):
    """Probability that such an order comes in one step."""
    return 1.0 - exp(-intensity * at(p.dt, i))


@kernel
def steps_left(s, p, i):
    """How many steps of the episode are to come."""
    return at(p.n_steps, i) - s.t[i]


@kernel
def risk_of_step(p, i):
    """Risk aversion times the variance of the mid price in one step."""
    return at(p.risk_aversion, i) * square(at(p.sigma, i)) * at(p.dt, i)


@kernel
def premium(p, i):
    """Half the spread that Avellaneda and Stoikov would quote at the end: log(1 + gamma / k) / gamma."""
    risk_aversion, decay = at(p.risk_aversion, i), at(p.fill_decay, i)
    return math.log1p(risk_aversion / decay) / risk_aversion if risk_aversion > 0.0 else 1.0 / decay


@kernel
def quote(inventory, risk, premium, farthest):
    """Distances from the mid price at which Avellaneda and Stoikov would quote (section 3.2).

    The reservation price lies `inventory * risk` below the mid price, and the spread around it is
    `risk + 2 * premium`. `risk` is risk aversion times the variance of the mid price over the time that is left.

    Returns:
        bid, ask: in [0, farthest].
    """
    half_spread = 0.5 * risk + premium
    skew = inventory * risk
    return min(max(half_spread + skew, 0.0), farthest), min(max(half_spread - skew, 0.0), farthest)


@kernel
def observe_lane(s, p, obs, i):
    """Obs (float32, (N, 2)): inventory in units of its limit, and the share of the steps that is left."""
    n_steps = at(p.n_steps, i)
    obs[i, 0] = s.inventory[i] / at(p.max_inventory, i)
    obs[i, 1] = (n_steps - s.t[i]) / n_steps


@kernel
def inform_lane(s, p, info, i):
    """Write the infos of lane i."""
    mid, inventory, cash, dt = s.mid[i], s.inventory[i], s.cash[i], at(p.dt, i)
    info.mid_price[i], info.inventory[i], info.cash[i] = mid, inventory, cash
    info.wealth[i] = wealth(cash, inventory, mid)
    info.bid[i], info.ask[i] = s.bid[i], s.ask[i]
    info.bid_filled[i], info.ask_filled[i] = s.bid_filled[i], s.ask_filled[i]
    info.timestamp[i], info.dt[i] = s.t[i] * dt, dt


# ---- what Python asks for, of each lane ------------------------------------------------------------


@kernel
def read_wealth(s, p, given, out, i):
    """Out: cash and what the shares are worth."""
    out[i, 0] = wealth(s.cash[i], s.inventory[i], s.mid[i])


@kernel
def read_time_left(s, p, given, out, i):
    """Out: time to the end of the episode."""
    out[i, 0] = steps_left(s, p, i) * at(p.dt, i)


@kernel
def read_fill_probability(s, p, given, out, i):
    """Given: distances from the mid price. Out: the probabilities that orders there are filled in one step."""
    for k in range(out.shape[1]):
        out[i, k] = fill_probability(p, i, given[i, k])


@kernel
def read_quote(s, p, given, out, i):
    """Out: bid and ask of `quote` in the state of the lane."""
    risk = steps_left(s, p, i) * risk_of_step(p, i)
    out[i, 0], out[i, 1] = quote(np.float64(s.inventory[i]), risk, premium(p, i), at(p.max_offset, i))


# ---- the quotes as a policy --------------------------------------------------------------------------


@kernel
def read_weights(s, p, given, out, i):
    """Out: the weights of `quote_as_observed`."""
    out[i, 0], out[i, 1] = at(p.max_inventory, i), at(p.n_steps, i)
    out[i, 2], out[i, 3], out[i, 4] = risk_of_step(p, i), premium(p, i), at(p.max_offset, i)


@kernel
def quote_as_observed(w, obs, rng, action, i):
    """`quote` for an observation; rounding gives back the whole numbers that it was made of."""
    inventory, steps = np.round(obs[i, 0] * w[0]), np.round(obs[i, 1] * w[1])
    action[i, 0], action[i, 1] = quote(inventory, steps * w[2], w[3], w[4])
