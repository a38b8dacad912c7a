"""What environments that trade at given prices have in common: where prices come from, what trades cost and earn.

An episode is `window = lookback + episode_length + 1` rows of prices; the decision after t steps is made at row
`lookback + t`. The rows are a part of a history that all lanes share, or a path of the lane's own: a geometric
Brownian motion, or whatever a model in Python has made (`GIVEN`).

Fields are few, and functions that take them too: the compiler handles each field for each such function.
"""

import numpy as np

from sekai.kernels import random
from sekai.kernels.costs import trade_cost
from sekai.kernels.elementary import log
from sekai.kernels.jit import at, kernel
from sekai.kernels.price_paths import gbm_path, log_returns
from sekai.kernels.rewards import restart, returns_of, reward
from sekai.kernels.rows import borrow, flat

# Where the prices of an episode come from: a simulation by the parameters of the environment or of a `GBM`, a
# history, or Python.
SIMULATED, MODEL, HISTORY, GIVEN = 0, 1, 2, 3

# Where in a history an episode starts. What Python has chosen is in `next_start`.
RANDOM, FIXED, SEQUENTIAL, SAMPLED = 0, 1, 2, 3

# Places in `Params.setup`. Starts are counted from the first one that has the rows of a warm-up before it.
SETUP = (
    "source", "lookback", "episode_length", "volume_field", "spread_field", "needs_volatility", "cost_given",
    "reward_given", "sampling", "first_start", "num_starts", "start", "stride",
)  # fmt: skip
SOURCE, LOOKBACK, EPISODE_LENGTH, VOLUME_FIELD, SPREAD_FIELD, NEEDS_VOLATILITY, COST_GIVEN = range(7)
REWARD_GIVEN, SAMPLING, FIRST_START, NUM_STARTS, START, STRIDE = range(7, 13)

# Rows of `Params.simulation`; the Cholesky factor of the correlations follows, or nothing.
S0, DRIFT, VOLATILITY, CHOL = range(4)


class State:
    """Rows of N values, and arrays per lane; n assets, a reward of K terms."""

    t: int  # steps of the episode
    start: int  # row of the history that the episode's window begins with
    next_start: int  # of the next episode, where they follow one another or come from Python
    equity: float  # 1 at the start of an episode
    cost: float  # of the last step, as a fraction of equity
    turnover: float  # of the last step
    given_cost: float  # of the step to come, from a cost model in Python
    given_reward: float  # the same, from a reward function in Python
    prices: np.float64  # (window, n), and as many rows of the next episode if Python makes them; (0, n) with a history
    returns: np.float32  # ((window - 1) * n,), log returns from row to row; (0,) with a history
    scratch: np.float64  # (3 n,): trades, volatilities and volumes in currency of the last step
    reward_state: np.float64  # (2 K,)


class Params:
    """Of the batch; `capital` and `dt` may differ by lane."""

    capital: float  # of one unit of equity, in currency
    dt: float  # years per step
    setup: np.int64  # see SETUP
    history: np.float64  # (F, T, n): prices, and the fields that costs read
    history_returns: np.float32  # ((T - 1) * n,)
    simulation: np.float64  # (3 or 3 + n, n)
    costs: np.float64  # (C, 3 + n): terms and rates, see `sekai.kernels.costs`
    reward_terms: np.float64  # (K, 3)


class Options:
    """Of one reset."""

    start_row: int = -1  # row of the history that the window begins with; -1 leaves it to the sampling


@kernel
def begin(s, p, rng, i, s0, drift, volatility):
    """Start an episode in lane i.

    Args:
        s0, drift, volatility (n,): first prices, and mean and standard deviation of the log return of a step, if
            prices are simulated.

    Draws: simulated prices (window - 1) * n normals, row by row; RANDOM one integer unless the start is given.
    """
    s.t[i], s.equity[i], s.cost[i], s.turnover[i] = 0, 1.0, 0.0, 0.0
    restart(p.reward_terms, s.reward_state[i])
    source = p.setup[SOURCE]
    if source == HISTORY:
        given = at(p.start_row, i)
        s.start[i] = given if given >= 0 else next_start(p.setup, s.next_start, rng, i)
        return
    window = p.setup[LOOKBACK] + p.setup[EPISODE_LENGTH] + 1
    path = s.prices[i, :window]
    if source == GIVEN:
        copy_all(flat(s.prices[i, window:]), flat(path))
    else:
        z = flat(path[1:])
        for k in range(z.size):
            z[k] = random.standard_normal(rng, i)
        gbm_path(path[1:], path, s0, drift, volatility, p.simulation[CHOL:])
    log_returns(path, s.returns[i])


@kernel
def next_start(setup, following, rng, i):
    """Row of the history that the next episode's window begins with; `following` (int64, (N,)) may move on."""
    sampling, count = setup[SAMPLING], setup[NUM_STARTS]
    if sampling == RANDOM:
        return setup[FIRST_START] + random.integers(rng, i, 0, count)
    if sampling == FIXED:
        return setup[FIRST_START] + setup[START]
    start = following[i]
    if sampling == SEQUENTIAL:
        after = start + setup[STRIDE]
        following[i] = after if after < count else setup[START]
    return setup[FIRST_START] + start


@kernel
def copy_all(source, to):
    """Copy an array."""
    for k in range(to.size):
        to[k] = source[k]


@kernel
def prices_of(s, p, i):
    """Prices of lane i (float64, (rows, n)), and the row of its next decision."""
    row = p.setup[LOOKBACK] + s.t[i]
    if p.setup[SOURCE] == HISTORY:
        return p.history[0], s.start[i] + row
    return s.prices[i], row


@kernel
def observe_returns(s, p, i, out):
    """Write the last `lookback` log returns of lane i, of all assets, to `out` (float32, (lookback * n,))."""
    n = s.scratch.shape[1] // 3
    if p.setup[SOURCE] == HISTORY:
        first = (s.start[i] + s.t[i]) * n
        copy_all(p.history_returns[first : first + out.size], out)
    else:
        first = s.t[i] * n
        copy_all(s.returns[i, first : first + out.size], out)


@kernel
def cost_of_trades(s, p, i, prices, row):
    """Cost of the trades in `s.scratch[i]` at a row, as a fraction of equity."""
    if p.setup[COST_GIVEN]:
        return s.given_cost[i]
    n = s.scratch.shape[1] // 3
    scratch = s.scratch[i]
    note_context(p.setup, p.history, scratch, prices, row)
    spread_field = p.setup[SPREAD_FIELD]
    spread = p.history[spread_field, row] if spread_field else scratch[:n]  # the latter is not looked at
    return trade_cost(
        p.costs[:, :3], p.costs[:, 3:], scratch[:n], at(p.capital, i) * s.equity[i], scratch[n : 2 * n],
        scratch[2 * n :], spread,
    )  # fmt: skip


@kernel
def note_context(setup, history, scratch, prices, row):
    """Write what costs depend on, volatilities and volumes at a row, to `scratch`."""
    n = prices.shape[1]
    volume_field = setup[VOLUME_FIELD]
    for j in range(n):
        if setup[NEEDS_VOLATILITY]:
            scratch[n + j] = observed_volatility(prices, row, setup[LOOKBACK], j)
        if volume_field:
            scratch[2 * n + j] = history[volume_field, row, j] * prices[row, j]


@kernel
def observed_volatility(prices, row, lookback, j):
    """Standard deviation of the last `lookback` log returns of asset j: the root of their mean squared deviation."""
    first = row - lookback
    before = log(prices[first, j])
    mean = (log(prices[row, j]) - before) / lookback
    squares = 0.0
    for k in range(first + 1, row + 1):
        now = log(prices[k, j])
        squares += (now - before - mean) * (now - before - mean)
        before = now
    return np.sqrt(squares / lookback)


@kernel
def close_step(s, p, i, cost, growth):
    """Let the equity of lane i grow by a factor, and end its step.

    Returns:
        reward, terminated, truncated.
    """
    before = s.equity[i]
    equity = max(before * growth, 0.0)
    s.cost[i], s.equity[i] = cost, equity
    s.t[i] += 1
    terminated = growth <= 0.0
    truncated = (not terminated) & (s.t[i] >= p.setup[EPISODE_LENGTH])
    if p.setup[REWARD_GIVEN]:
        return s.given_reward[i], terminated, truncated
    log_return, simple_return = returns_of(growth)
    value = reward(p.reward_terms, s.reward_state[i], log_return, simple_return, equity, equity - before, s.turnover[i])
    return value, terminated, truncated


@kernel
def timestamp_of(s, p, i):
    """Row of the history at which lane i makes its next decision, or step of a simulation."""
    return s.start[i] + p.setup[LOOKBACK] + s.t[i] if p.setup[SOURCE] == HISTORY else s.t[i]


# ---- templates: what Python looks at before a step -----------------------------------------------


def plan(memory, params, actions, running, turnover):
    """Write the trades that actions ask for, and what their cost depends on; no trades for lanes that do not run."""
    memory, params, actions = borrow(memory), borrow(params), borrow(actions)
    s, p = state_views(memory, 0, running.size), param_views(params, 0, running.size)
    for i in range(running.size):
        turnover[i] = 0.0
        for j in range(s.scratch.shape[1] // 3):
            s.scratch[i, j] = 0.0
        if running[i]:
            turnover[i] = plan_lane(s, p, actions, i)
        prices, row = prices_of(s, p, i)
        note_context(p.setup, p.history, s.scratch[i], prices, row)


def grow(memory, params, actions, running, cost, growth):
    """Write the costs and growth that a step would have: 0 and 1 for lanes that do not run."""
    memory, params, actions = borrow(memory), borrow(params), borrow(actions)
    s, p = state_views(memory, 0, running.size), param_views(params, 0, running.size)
    for i in range(running.size):
        cost[i], growth[i] = 0.0, 1.0
        if running[i]:
            prices, row = prices_of(s, p, i)
            cost[i] = cost_of_trades(s, p, i, prices, row)
            growth[i] = growth_lane(s, p, actions, i, prices, row, cost[i])
