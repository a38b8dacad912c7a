"""Optimal execution: sell many shares in a given time, fast enough for the risk and slowly enough for the impact.

Source: Almgren & Chriss, Optimal execution of portfolio transactions, Journal of Risk 3(2), 2000: prices, linear impact
and cost in section 1, the trajectory in section 2.2.
"""

import math

import numpy as np

from sekai.kernels import random
from sekai.kernels.elementary import square
from sekai.kernels.jit import at, kernel
from sekai.kernels.rows import borrow

SOLD_OUT = 1e-9  # of the first inventory: what is less than that counts as nothing
STRAIGHT = 1e-8  # kappa T below which the trajectory is a straight line, to the last bits
BPS = 1e4  # basis points in one


class State:
    """One row of N values each."""

    inventory: float  # shares left to sell
    mid: float
    shortfall: float  # what the shares sold would have brought at the first price, less what they did
    t: int  # steps of the episode
    shares_sold: float  # in the last step; 0 before the first of an episode
    execution_price: float  # of the last step; NaN before the first of an episode


class Params:
    """Scalars for all lanes, or one value per lane; Greek and other symbols are those of the paper."""

    initial_inventory: float = 1e6  # X, shares
    s0: float = 50.0  # first mid price
    sigma: float = 0.95  # standard deviation of the mid price over one unit of time
    total_time: float = 5.0  # T
    n_steps: int = 25
    permanent_impact: float = 2.5e-7  # gamma, price per share
    temporary_impact: float = 2.5e-6  # eta, price per share per unit of time
    fixed_cost: float = 0.0625  # epsilon, price: half the spread, and fees
    risk_aversion: float = 1e-6  # lambda, per unit of money
    tau: float  # time between steps


class Info:
    """Reported with every reset and step."""

    shares_sold: float
    execution_price: float
    inventory: float
    mid_price: float
    implementation_shortfall: float
    shortfall_bps: float
    timestamp: float
    dt: float


@kernel
def reset_lane(s, p, rng, i):
    """Start with all the shares; draws nothing."""
    s.inventory[i], s.mid[i], s.shortfall[i], s.t[i] = at(p.initial_inventory, i), at(p.s0, i), 0.0, 0
    s.shares_sold[i], s.execution_price[i] = 0.0, np.nan


@kernel
def step_lane(s, p, rng, action, i):
    """Sell and move the mid price. Draws: a normal."""
    return sell(s, p, action, i, random.standard_normal(rng, i))


@kernel
def step_block(s, p, rng, action, reward, terminated, truncated):
    """`step_lane` for a block, draws first: those wait where the reward will be."""
    a = borrow(action, 1)
    random.standard_normals(rng, reward)
    for i in range(reward.size):
        reward[i], terminated[i], truncated[i] = sell(s, p, a, i, reward[i])


@kernel
def sell(s, p, action, i, normal):
    """One step of lane i, given a normal; in the last one everything that is left is sold.

    Returns:
        reward, terminated, truncated.
    """
    inventory, mid, first_price, t = s.inventory[i], s.mid[i], at(p.s0, i), s.t[i]
    total, n_steps, sigma, tau = at(p.initial_inventory, i), at(p.n_steps, i), at(p.sigma, i), at(p.tau, i)
    fraction = min(max(action[i, 0], 0.0), 1.0)
    shares = inventory if t >= n_steps - 1 else fraction * inventory
    price = mid - at(p.fixed_cost, i) - at(p.temporary_impact, i) * shares / tau if shares > 0.0 else mid

    inventory -= shares
    inventory = 0.0 if inventory < SOLD_OUT * total else inventory
    mid = mid + sigma * np.sqrt(tau) * normal - at(p.permanent_impact, i) * shares
    s.inventory[i], s.mid[i], s.t[i] = inventory, mid, t + 1
    s.shortfall[i] += shares * (first_price - price)
    s.shares_sold[i], s.execution_price[i] = shares, price
    risk = at(p.risk_aversion, i) * square(sigma) * tau * square(inventory)
    reward = BPS * (shares * (price - first_price) - risk) / (total * first_price)
    return reward, (inventory == 0.0) | (t + 1 >= n_steps), False


@kernel
def observe_lane(s, p, obs, i):
    """Obs (float32, (N, 3)): shares and steps left, each as a share of the first number, and the move of the price.

    The latter in standard deviations of a whole episode; 0 if there is no volatility.
    """
    n_steps = at(p.n_steps, i)
    deviation = at(p.sigma, i) * np.sqrt(at(p.total_time, i))
    obs[i, 0] = s.inventory[i] / at(p.initial_inventory, i)
    obs[i, 1] = (n_steps - s.t[i]) / n_steps
    obs[i, 2] = (s.mid[i] - at(p.s0, i)) / deviation if deviation > 0.0 else 0.0


@kernel
def inform_lane(s, p, info, i):
    """Write the infos of lane i."""
    shortfall, tau = s.shortfall[i], at(p.tau, i)
    info.shares_sold[i], info.execution_price[i] = s.shares_sold[i], s.execution_price[i]
    info.inventory[i], info.mid_price[i], info.implementation_shortfall[i] = s.inventory[i], s.mid[i], shortfall
    info.shortfall_bps[i] = BPS * shortfall / (at(p.initial_inventory, i) * at(p.s0, i))
    info.timestamp[i], info.dt[i] = s.t[i] * tau, tau


# ---- what Python asks for, of each lane ------------------------------------------------------------


@kernel
def net_impact(p, i):
    """What trading fast costs: eta - gamma tau / 2 (section 1.4); above 0, or there is no best trajectory."""
    return at(p.temporary_impact, i) - 0.5 * at(p.permanent_impact, i) * at(p.tau, i)


@kernel
def read_net_impact(s, p, given, out, i):
    """Out: `net_impact`."""
    out[i, 0] = net_impact(p, i)


@kernel
def read_trajectory(s, p, given, out, i):
    """Out (n_steps + 1 or more): shares left at each time, sinh(kappa (T - t)) / sinh(kappa T) of all (section 2.2)."""
    total, end, tau = at(p.initial_inventory, i), at(p.total_time, i), at(p.tau, i)
    urgency = at(p.risk_aversion, i) * square(at(p.sigma, i)) / net_impact(p, i)
    kappa = 2.0 * math.asinh(0.5 * tau * math.sqrt(urgency)) / tau
    for j in range(out.shape[1]):
        left = max(end - j * tau, 0.0) if j < at(p.n_steps, i) else 0.0
        if kappa * end < STRAIGHT:
            out[i, j] = total * (left / end)
        else:  # the same quotient without sinh, which would overflow
            decay = math.exp(kappa * (left - end))
            out[i, j] = total * decay * (math.expm1(-2.0 * kappa * left) / math.expm1(-2.0 * kappa * end))


@kernel
def read_fractions(s, p, given, out, i):
    """Given: a trajectory, one number more than there are steps. Out: the fraction to sell of what is left, in each."""
    for j in range(out.shape[1]):
        now, after = given[i, j], given[i, j + 1]
        out[i, j] = min(max((now - after) / now, 0.0), 1.0) if now > 0.0 else 1.0


@kernel
def read_cost(s, p, given, out, i):
    """Given: shares to sell in each step. Out: mean and variance of the shortfall (section 1.4).

    Linear impact: gamma X**2 / 2 + epsilon sum |n| + (eta - gamma tau / 2) / tau * sum n**2, and sigma**2 tau sum x**2
    over what is left after each step.
    """
    left, tau = at(p.initial_inventory, i), at(p.tau, i)
    mean = 0.5 * at(p.permanent_impact, i) * square(left)
    squares = 0.0
    for j in range(given.shape[1]):
        shares = given[i, j]
        left -= shares
        mean += at(p.fixed_cost, i) * abs(shares) + net_impact(p, i) / tau * square(shares)
        squares += square(left)
    out[i, 0], out[i, 1] = mean, square(at(p.sigma, i)) * tau * squares


# ---- the schedule as a policy ------------------------------------------------------------------------


@kernel
def sell_on_schedule(w, obs, rng, action, i):
    """The fraction for the step that the observation says is next; w: how many steps there are, and their fractions."""
    step = w[0] - np.round(obs[i, 1] * w[0])
    action[i, 0] = w[1 + np.int64(min(max(step, 0.0), w[0] - 1.0))]  # no step is next where the episode is over
