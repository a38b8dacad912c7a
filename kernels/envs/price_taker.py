"""What environments that trade at given prices have in common: where prices come from, what trades cost and earn.

An episode is `window = lookback + episode_length + 1` rows of prices; the decision after t steps is made at row
`lookback + t`. The rows are a part of a history that all lanes share, or a path of the lane's own: a geometric
Brownian motion, or whatever a model in Python has made (`GIVEN`).

A simulated path is drawn row by row, as it is needed: a lane keeps its last returns, not the path (240 bytes of one
asset instead of 3.4 KB, which had to be fetched from far away). What an episode that ends early has not drawn is drawn
by the next reset, so that a lane's stream is where it would be if all paths were drawn at once. They are, `EAGER`, if
Python sees the lane's generator, or asks for prices to come.

Fields are few, and functions that take them too: the compiler handles each field for each such function.
"""

import numpy as np

from sekai.kernels import random
from sekai.kernels.costs import charge_turnover, depends_on_turnover, trade_cost
from sekai.kernels.elementary import exp, log
from sekai.kernels.episode import any_nonzero
from sekai.kernels.jit import at, kernel, outlined
from sekai.kernels.price_paths import gbm_path, replace_by_exp, replace_by_log
from sekai.kernels.rewards import grown, restart, returns_of, reward, reward_block
from sekai.kernels.rows import borrow, flat

# Where the prices of an episode come from: a simulation by the parameters of the environment or of a `GBM`, a
# history, or Python.
SIMULATED, MODEL, HISTORY, GIVEN = 0, 1, 2, 3

# Where in a history an episode starts. What Python has chosen is in `next_start`.
RANDOM, FIXED, SEQUENTIAL, SAMPLED = 0, 1, 2, 3

# Places in `Params.setup`. Starts are counted from the first one that has the rows of a warm-up before it.
SETUP = (
    "source", "lookback", "episode_length", "volume_field", "spread_field", "needs_volatility", "cost_given",
    "reward_given", "eager", "sampling", "first_start", "num_starts", "start", "stride",
)  # fmt: skip
SOURCE, LOOKBACK, EPISODE_LENGTH, VOLUME_FIELD, SPREAD_FIELD, NEEDS_VOLATILITY, COST_GIVEN = range(7)
REWARD_GIVEN, EAGER, SAMPLING, FIRST_START, NUM_STARTS, START, STRIDE = range(7, 14)

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
    growth: float  # factor by which equity grew in the last step
    given_cost: float  # of the step to come, from a cost model in Python
    given_reward: float  # the same, from a reward function in Python
    on_path: int  # whether the prices of the episode are in `prices`, made in advance
    owed: int  # normals that the episode has still to draw
    head: int  # row of the oldest return in `returns`
    path_rng: np.uint64  # (6,), random words before the path's first draw, to draw it once more
    spot: np.float64  # (n,), prices, if there is no history; with the next three
    logs: np.float64  # (n,), logarithms of the prices
    sums: np.float64  # (n,), sums of the log returns of the path
    normals: np.float64  # (n,), of the last step
    asset_returns: np.float64  # (n,), of the last step
    prices: np.float64  # (window or 0, n), and as many rows of the next episode if a model in Python makes them
    returns: np.float32  # (2 * lookback * n,), twice the last log returns, so that they are in one piece somewhere
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
    if p.setup[SOURCE] == HISTORY:
        given = at(p.start_row, i)
        s.start[i] = given if given >= 0 else next_start(p.setup, s.next_start, rng, i)
    else:
        begin_path(s, p, rng, i, s0, drift, volatility)
    for j in range(s.asset_returns.shape[1]):
        s.asset_returns[i, j] = 0.0


@kernel
def begin_path(s, p, rng, i, s0, drift, volatility):
    """Let the prices of lane i move from the first row of a path to that of the first decision."""
    source, lookback, length = p.setup[SOURCE], p.setup[LOOKBACK], p.setup[EPISODE_LENGTH]
    skip_normals(rng, i, s.owed[i])
    for k in range(6):
        s.path_rng[i, k] = rng[k, i]
    n = s.asset_returns.shape[1]
    s.on_path[i], s.owed[i], s.head[i] = (source == GIVEN) | (p.setup[EAGER] != 0), 0, 0
    if s.on_path[i]:
        fill_path(p.setup, p.simulation, s.prices[i], rng, i, s0, drift, volatility)
    else:
        s.owed[i] = (lookback + length) * n
    for j in range(n):
        s.sums[i, j], s.logs[i, j] = 0.0, log(s.prices[i, 0, j] if s.on_path[i] else s0[j])
    path = s.returns[i].view(np.float64)  # a place for as many prices, until the returns are known
    if s.on_path[i]:
        copy_all(flat(s.prices[i, 1 : lookback + 1]), path)
    else:
        s.owed[i] -= path.size
        draw_normals(rng, i, path)
        price_rows(p.simulation[CHOL:], path, s0, drift, volatility, s.sums[i])
    copy_all(path[path.size - n :], s.spot[i])
    replace_by_log(path)
    note_first_returns(path, s.logs[i], s.returns[i])


@kernel
def price_rows(chol, path, s0, drift, volatility, sums):
    """Turn normals into prices, row by row, and add up what the logarithms of these have grown by."""
    n = sums.size
    for first in range(0, path.size, n):
        row = path[first : first + n]
        add_shocks(chol, row, drift, volatility, sums)
        copy_all(sums, row)
    replace_by_exp(path)
    for first in range(0, path.size, n):
        for j in range(n):
            path[first + j] *= s0[j]


@kernel
def note_first_returns(path, logs, returns):
    """Write the differences of a path of logarithms, which lies in the same memory, to `returns`, twice.

    A return takes half the room of a logarithm and is written after it was read. `logs` are those before the path, and
    become the last.
    """
    for first in range(0, path.size, logs.size):
        for j in range(logs.size):
            now = path[first + j]
            returns[first + j] = now - logs[j]
            logs[j] = now
    copy_all(returns[: path.size], returns[path.size :])


@outlined
def draw_normals(rng, i, out):
    """Draw normals of one lane."""
    for k in range(out.size):
        out[k] = random.standard_normal(rng, i)


@outlined
def skip_normals(rng, i, count):
    """Draw normals of one lane that nobody needs."""
    for _ in range(count):
        random.standard_normal(rng, i)


@outlined
def fill_path(setup, simulation, prices, rng, i, s0, drift, volatility):
    """Write the whole path of an episode to the first rows of `prices`."""
    window = setup[LOOKBACK] + setup[EPISODE_LENGTH] + 1
    path = prices[:window]
    if setup[SOURCE] == GIVEN:
        copy_all(flat(prices[window:]), flat(path))
        return
    draw_normals(rng, i, flat(path[1:]))
    gbm_path(path[1:], path, s0, drift, volatility, simulation[CHOL:])


@kernel
def move(s, p, rng, i, row, s0, drift, volatility):
    """Let the prices of lane i move from a row of its path to the next, and note the returns.

    Draws: n normals, if they are drawn as they are needed.
    """
    n = s.spot.shape[1]
    if not s.on_path[i]:
        draw_normals(rng, i, s.normals[i])
        s.owed[i] -= n
        add_shocks(p.simulation[CHOL:], s.normals[i], drift, volatility, s.sums[i])
    for j in range(n):
        before = s.spot[i, j]
        s.spot[i, j] = s.prices[i, row + 1, j] if s.on_path[i] else s0[j] * exp(s.sums[i, j])
        s.asset_returns[i, j] = s.spot[i, j] / before - 1.0
    note_changes(s.spot[i], s.logs[i], s.normals[i])
    note_returns(s, p.setup[LOOKBACK], i)


@kernel
def add_shocks(chol, z, drift, volatility, sums):
    """Add the log returns of a step to their sums, one for each asset.

    Args:
        chol: Cholesky factor of the correlations, or of no rows.
        z (float64, (n,)): independent standard normals.
        drift, volatility: as for `begin`.
    """
    for j in range(z.size):
        shock = z[j]
        if chol.shape[0]:
            shock = 0.0
            for k in range(j + 1):
                shock += chol[j, k] * z[k]
        sums[j] += drift[j] + volatility[j] * shock


@kernel
def note_changes(prices, logs, out):
    """Write the changes of the logarithms of prices; `logs` become those of now."""
    for k in range(out.size):
        now = log(prices[k])
        out[k] = now - logs[k]
        logs[k] = now


@kernel
def note_returns(s, lookback, i):
    """Note the log returns of a step, in `s.normals[i]`, as the last of lane i."""
    n, head = s.normals.shape[1], s.head[i]
    first, again = s.returns[i, head * n : (head + 1) * n], s.returns[i, (head + lookback) * n :]
    for j in range(n):
        first[j] = again[j] = s.normals[i, j]
    s.head[i] = head + 1 if head + 1 < lookback else 0


@kernel
def move_together(s, p):
    """Whether all lanes of a block draw the next row of their paths now, so that this may be done in stages."""
    return p.setup[SOURCE] < HISTORY and not any_nonzero(s.on_path)


@kernel
def draw_together(s, rng):
    """Draw the normals of a step of all lanes of a block."""
    n = s.normals.shape[1]
    if n == 1:
        random.standard_normals(rng, flat(s.normals))
    else:
        for j in range(n):
            random.standard_normals(rng, s.normals[:, j])
    for i in range(s.owed.size):
        s.owed[i] -= n


@kernel
def reprice_together(s, p, s0):
    """Turn the sums of log returns of all lanes of a block into prices and returns; the same first prices for all."""
    exp_all(flat(s.sums), flat(s.normals))
    for i in range(s.normals.shape[0]):
        for j in range(s.normals.shape[1]):
            s.normals[i, j] *= s0[j]
    reprice_all(flat(s.normals), flat(s.spot), flat(s.asset_returns))
    note_together(s, p)


@kernel
def reprice_all(now, prices, changes):
    """Write the relative changes of prices, and what they are now, in vector instructions."""
    for k in range(changes.size):
        changes[k] = now[k] / prices[k] - 1.0
        prices[k] = now[k]


@kernel
def note_together(s, p):
    """Note the log returns of a step of all lanes of a block."""
    note_changes(flat(s.spot), flat(s.logs), flat(s.normals))
    for i in range(s.spot.shape[0]):
        note_returns(s, p.setup[LOOKBACK], i)


@kernel
def exp_all(x, out):
    """Write exponentials."""
    for k in range(out.size):
        out[k] = exp(x[k])


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
    """Prices of lane i (float64, (rows, n)), if they are known in advance, and the row of its next decision."""
    row = p.setup[LOOKBACK] + s.t[i]
    if p.setup[SOURCE] == HISTORY:
        return p.history[0], s.start[i] + row
    return s.prices[i], row


@kernel
def price_of(s, p, i, j):
    """Price of asset j at which lane i makes its next decision."""
    if p.setup[SOURCE] == HISTORY:
        return p.history[0, s.start[i] + p.setup[LOOKBACK] + s.t[i], j]
    return s.spot[i, j]


@kernel
def hold(s, p, rng, i, s0, drift, volatility):
    """Let prices move from the row of lane i's decision to the next; their returns are in `s.asset_returns[i]`."""
    if p.setup[SOURCE] == HISTORY:
        look_ahead(s, p, i)
    else:
        move(s, p, rng, i, p.setup[LOOKBACK] + s.t[i], s0, drift, volatility)


@kernel
def look_ahead(s, p, i):
    """Write the returns of the next step, of prices known in advance, to `s.asset_returns[i]`."""
    prices, row = prices_of(s, p, i)
    asset_returns, before, after = s.asset_returns[i], prices[row], prices[row + 1]
    for j in range(asset_returns.size):
        asset_returns[j] = after[j] / before[j] - 1.0


@kernel
def observe_returns(s, p, i, out):
    """Write the last `lookback` log returns of lane i, of all assets, to `out` (float32, (lookback * n,))."""
    n = s.asset_returns.shape[1]
    if p.setup[SOURCE] == HISTORY:
        first = (s.start[i] + s.t[i]) * n
        copy_all(p.history_returns[first : first + out.size], out)
    else:
        first = s.head[i] * n
        copy_all(s.returns[i, first : first + out.size], out)


@kernel
def cost_of_trades(s, p, i):
    """Cost of the trades in `s.scratch[i]` at the row of the decision, as a fraction of equity."""
    if p.setup[COST_GIVEN]:
        return s.given_cost[i]
    prices, row = prices_of(s, p, i)
    n = s.asset_returns.shape[1]
    scratch = s.scratch[i]
    note_context(p.setup, p.history, scratch, prices, row)
    spread_field = p.setup[SPREAD_FIELD]
    spread = p.history[spread_field, row] if spread_field else scratch[:n]  # the latter is not looked at
    return trade_cost(
        p.costs[:, :3], p.costs[:, 3:], scratch[:n], at(p.capital, i) * s.equity[i], scratch[n : 2 * n],
        scratch[2 * n :], spread,
    )  # fmt: skip


@kernel
def charge_together(s, p):
    """Write the costs of the trades of all lanes of a block to `s.cost`."""
    if depends_on_turnover(p.costs) and not p.setup[COST_GIVEN]:
        charge_turnover(p.costs, s.turnover, s.cost)
    else:
        for i in range(s.cost.size):
            s.cost[i] = cost_of_trades(s, p, i)


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
def close_step(s, p, i):
    """Let the equity of lane i grow by `s.growth[i]`, and end its step.

    Returns:
        reward, terminated, truncated.
    """
    before, growth = s.equity[i], s.growth[i]
    equity = grown(before, growth)
    s.equity[i] = equity
    s.t[i] += 1
    terminated = growth <= 0.0
    truncated = (not terminated) & (s.t[i] >= p.setup[EPISODE_LENGTH])
    if p.setup[REWARD_GIVEN]:
        return s.given_reward[i], terminated, truncated
    log_return, simple_return = returns_of(growth)
    value = reward(p.reward_terms, s.reward_state[i], log_return, simple_return, equity, equity - before, s.turnover[i])
    return value, terminated, truncated


@kernel
def close_together(s, p, reward, terminated, truncated):
    """`close_step` for all lanes of a block."""
    if p.setup[REWARD_GIVEN]:
        copy_all(s.given_reward, reward)
    else:
        reward_block(p.reward_terms, s.reward_state, s.equity, s.growth, s.turnover, reward)
    length = p.setup[EPISODE_LENGTH]
    for i in range(reward.size):
        s.equity[i] = grown(s.equity[i], s.growth[i])
        s.t[i] += 1
        is_ruined = s.growth[i] <= 0.0
        terminated[i], truncated[i] = is_ruined, (not is_ruined) & (s.t[i] >= length)


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
        for j in range(s.asset_returns.shape[1]):
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
            look_ahead(s, p, i)
            cost[i] = cost_of_trades(s, p, i)
            growth[i] = growth_lane(s, p, actions, i, cost[i])
