"""Trading-v0 and Portfolio-v0 in plain Python: accounts of cash and shares, one environment, one step at a time."""

import math
from dataclasses import fields

import numpy as np
import pytest

# float64: logarithms and exponentials differ from NumPy's in the last bit, and differences of near numbers (trades,
# growths of nearly 1) keep that as an absolute error. float32: half a unit in its last place is 6e-8.
CLOSE = {np.dtype(np.float64): {"rel": 1e-12, "abs": 1e-13}, np.dtype(np.float32): {"rel": 1e-6, "abs": 1e-12}}
START = "start"


# ---- where prices come from --------------------------------------------------------------------------


class Simulation:
    """A path per episode: correlated geometric Brownian motions."""

    def __init__(self, window, mu=0.05, sigma=0.2, s0=100.0, dt=1 / 252, corr=None, n=1):
        self.window, self.n, self.mu, self.sigma, self.s0, self.dt = window, n, mu, sigma, s0, dt
        self.chol = np.eye(n) if corr is None else np.linalg.cholesky(corr)

    def episode(self, rng, lookback, options):
        shocks = rng.standard_normal((self.window - 1, self.n)) @ self.chol.T
        mu, sigma = np.asarray(self.mu), np.asarray(self.sigma)
        steps = (mu - sigma**2 / 2) * self.dt + sigma * math.sqrt(self.dt) * shocks
        prices = self.s0 * np.exp(np.vstack([np.zeros(self.n), np.cumsum(steps, axis=0)]))
        return {"prices": prices, "timestamps": np.arange(self.window) - lookback}


class History:
    """A part of a history per episode.

    Args:
        window: Rows of an episode.
        prices, timestamps, fields: The history.
        pick: Called with a generator and how many places there are, returns one.
        warmup: Decisions are made from that row on.
    """

    def __init__(self, window, prices, pick=None, timestamps=None, warmup=0, dt=1 / 252, **fields):
        prices = np.reshape(prices, (len(prices), -1))
        rows = np.arange(len(prices)) if timestamps is None else timestamps
        self.arrays = {"prices": prices, "timestamps": rows, **fields}
        self.window, self.pick, self.warmup, self.dt = window, pick or uniform, warmup, dt

    def episode(self, rng, lookback, options):
        first = max(0, self.warmup - lookback)
        if START in options:
            start = options[START] - lookback
        else:
            start = first + self.pick(rng, len(self.arrays["prices"]) - self.window + 1 - first)
        return {name: array[start : start + self.window] for name, array in self.arrays.items()}


def uniform(rng, count):
    return int(rng.integers(0, count))


def fixed(start):
    return lambda rng, count: start


def one_after_another(stride, start=0):
    following = [start]

    def pick(rng, count):
        found = following[0]
        following[0] = found + stride if found + stride < count else start
        return found

    return pick


# ---- what trades cost: functions of an account and of changes of weights ------------------------------


def proportional(rate):
    return lambda account, trades: float(np.sum(rate * np.abs(trades)))


def fee(amount):
    return lambda account, trades: amount * int((np.abs(trades) > 1e-6).sum()) / account.currency


def half_spread(fallback=None):
    return lambda account, trades: float(np.sum(filled(account.at_decision("spread"), fallback) / 2 * np.abs(trades)))


def impact(coefficient):
    def cost(account, trades):
        past = np.log(account.prices[account.t : account.row + 1])
        volatility = np.diff(past, axis=0).std(axis=0)
        volume = account.at_decision("volume") * account.at_decision("prices")
        paid = coefficient * volatility * np.sqrt(np.abs(trades) * account.currency / volume)
        return float(np.sum(np.minimum(paid, 1) * np.abs(trades)))

    return cost


def added(*costs):
    return lambda account, trades: sum(cost(account, trades) for cost in costs)


def filled(values, fallback):
    """Values, where they are missing the median of the others."""
    valid = np.isfinite(values) & (values >= 0)
    return np.where(valid, values, np.median(values[valid]) if valid.any() else fallback)


# ---- what steps are worth ------------------------------------------------------------------------------


class LogReturn:
    def reset(self):
        pass

    def __call__(self, growth, before, after, turnover):
        return math.log(max(growth, 1e-12))


class ProfitLessTurnover(LogReturn):
    def __call__(self, growth, before, after, turnover):
        return 3 * (after - before) - 0.5 * turnover + 0.25


class LogReturnLessDrawdown:
    """`LogReturn() - 2 * DrawdownPenalty()`, which remembers earlier steps."""

    def reset(self):
        self.peak, self.drawdown = 1.0, 0.0

    def __call__(self, growth, before, after, turnover):
        self.peak = max(self.peak, after)
        old, self.drawdown = self.drawdown, 1 - after / self.peak
        return math.log(max(growth, 1e-12)) - 2 * max(self.drawdown - old, 0.0)


# ---- accounts ------------------------------------------------------------------------------------------


class Account:
    """Cash and shares, worth 1 when an episode begins.

    Args:
        source: Gives each episode its prices.
        seed: An int, or a generator.
        lookback, capital: Those of the environment.
        cost, reward: See above.
        dt: What infos say; None for the source's.
    """

    def __init__(self, source, seed, *, lookback, cost=None, reward=None, capital=1e6, dt=None):
        self.source, self.rng, self.dt = source, np.random.default_rng(seed), float(dt or source.dt)
        self.lookback, self.capital = lookback, capital
        self.cost, self.reward = cost or proportional(1e-3), reward or LogReturn()

    def reset(self, options=None):
        self.reward.reset()
        self.rows = self.source.episode(self.rng, self.lookback, options or {})
        self.prices = self.rows["prices"]
        self.t, self.cash, self.shares, self.over = 0, 1.0, np.zeros(self.prices.shape[1]), False
        self.last = {"cost": 0.0, "turnover": 0.0, "returns": np.zeros(self.prices.shape[1])}
        return self.observation(), self.info()

    @property
    def row(self):
        return self.lookback + self.t

    @property
    def equity(self):
        return self.cash + float(self.shares @ self.prices[self.row])

    @property
    def currency(self):
        return self.capital * self.equity

    @property
    def weights(self):
        """Of the assets."""
        return self.shares * self.prices[self.row] / self.equity if self.equity else self.shares

    def at_decision(self, name):
        return self.rows[name][self.row]

    def step(self, action):
        """Returns observation, reward, terminated, truncated, info."""
        wanted, before, now = self.target(action), self.equity, self.prices[self.row]
        trades = wanted - self.weights
        cost = float(self.cost(self, trades))
        left = before * max(1 - cost, 0.0)
        self.shares, self.cash = left * wanted / now, left * (1 - float(wanted.sum()))
        self.t += 1
        growth = self.equity / before
        if growth <= 0:
            self.shares, self.cash = 0 * self.shares, 0.0
        turnover = float(np.abs(trades).sum())
        self.last = {"cost": cost, "turnover": turnover, "returns": self.prices[self.row] / now - 1}
        terminated = self.equity <= 0
        truncated = not terminated and self.row == len(self.prices) - 1
        self.over = terminated or truncated
        reward = self.reward(growth, before, self.equity, turnover)
        return self.observation(), reward, terminated, truncated, self.info()

    def log_returns(self):
        """The last ones, up to the current prices."""
        return np.diff(np.log(self.prices[self.t : self.row + 1]), axis=0).astype(np.float32)

    def when(self):
        stamp = self.rows["timestamps"][self.row]
        return {"timestamp": stamp if isinstance(stamp, np.datetime64) else int(stamp), "dt": self.dt}


class TradingAccount(Account):
    """Trading-v0."""

    def __init__(self, *args, positions=(-1.0, 0.0, 1.0), **kwargs):
        super().__init__(*args, **kwargs)
        self.positions = positions

    def target(self, action):
        return np.array([self.positions[action]], float)

    def observation(self):
        return np.append(self.log_returns()[:, 0], np.float32(self.weights[0]))

    def info(self):
        return {
            "equity": self.equity, "position": float(self.weights[0]), "price": float(self.prices[self.row, 0]),
            "asset_return": float(self.last["returns"][0]), "cost": self.last["cost"],
            "turnover": self.last["turnover"], **self.when(),
        }  # fmt: skip


class PortfolioAccount(Account):
    """Portfolio-v0."""

    def __init__(self, *args, allow_short=False, **kwargs):
        super().__init__(*args, **kwargs)
        self.allow_short = allow_short

    def target(self, action):
        scores = np.asarray(action, np.float64)
        if self.allow_short:
            clipped = np.clip(scores, -1, 1)
            return clipped / max(np.abs(clipped).sum(), 1.0)
        scores = np.maximum(scores, 0.0)
        total = scores.sum()
        return (scores / total if total >= 1e-12 else 0 * scores)[:-1]

    def all_weights(self):
        return np.append(self.weights, self.cash / self.equity if self.equity else 1.0)

    def observation(self):
        return {"returns": self.log_returns(), "weights": self.all_weights().astype(np.float32)}

    def info(self):
        return {
            "portfolio_value": self.equity, "equity": self.equity, "weights": self.all_weights(),
            "turnover": self.last["turnover"], "cost": self.last["cost"], "asset_returns": self.last["returns"],
            **self.when(),
        }  # fmt: skip


# ---- lanes of a batch ------------------------------------------------------------------------------------


class Lane:
    """What a batch says of a lane: an account, with a time limit and autoreset.

    Args:
        account: The account.
        mode: Of autoreset.
        limit: Steps, or None.
    """

    def __init__(self, account, mode="same_step", limit=None):
        self.account, self.mode, self.limit = account, mode, limit

    def reset(self, options=None):
        self.elapsed = 0
        self.shown, info = self.account.reset(options)
        self.flags = False, False
        return self.shown, 0.0, *self.flags, info

    def step(self, action, stepped=True):
        """Returns observation, reward, terminated, truncated, info."""
        waits = self.elapsed and any(self.flags) and self.mode != "same_step"
        if not stepped or (waits and self.mode == "disabled"):
            return self.shown, 0.0, *self.flags, {}
        if waits:
            *row, info = self.reset()
            return *row, {**info, "reset": True}
        self.shown, reward, terminated, truncated, info = self.account.step(action)
        self.elapsed += 1
        if self.limit:
            info["elapsed_steps"] = self.elapsed
            truncated |= self.elapsed >= self.limit
        self.flags = terminated, truncated
        if any(self.flags) and self.mode == "same_step":
            final, flags = self.shown, self.flags
            reset_info = self.reset()[-1]
            self.flags = flags
            info = {**info, "final_observation": final, "final_info": info, "reset_info": reset_info}
        return self.shown, reward, *self.flags, info


def agree(found, expected, where=""):
    """Assert that two results are the same, of the same types, up to rounding."""
    about = f"{where}: {found!r} where {expected!r} is right"
    if isinstance(expected, dict):
        assert list(found) == list(expected), about
        for name, value in expected.items():
            agree(found[name], value, f"{where}[{name!r}]")
    elif isinstance(expected, tuple):
        assert len(found) == len(expected), about
        for k, value in enumerate(expected):
            agree(found[k], value, f"{where}[{k}]")
    elif isinstance(expected, np.ndarray):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape), about
        assert found == pytest.approx(expected, **CLOSE[expected.dtype]), about
    else:
        assert type(found) is type(expected), about
        same = pytest.approx(expected, **CLOSE[np.dtype(np.float64)]) if isinstance(expected, float) else expected
        assert found == same, about


def parts(result):
    """What a single env has returned, in order."""
    return tuple(getattr(result, field.name) for field in fields(result))


def follow(env, account, actions, seed, restarts=(), options=None):
    """Take actions in an environment and its account, which must agree; both are reset at ends and `restarts`."""
    agree(parts(env.reset(seed=seed, options=options)), account.reset(options), "first reset")
    for k, action in enumerate(actions):
        if account.over or k in restarts:
            agree(parts(env.reset()), account.reset(), f"reset at {k}")
        agree(parts(env.step(action)), account.step(action), f"step {k}")
    assert env.rng.random() == account.rng.random()  # both streams stand at the same place


def follow_batch(vec, lanes, actions, seeds, masks=None, options=None):
    """Take actions `(T, N, …)` in a batch and its lanes, which must agree."""
    result = vec.reset(seed=list(seeds), options=options)
    given = options if isinstance(options, list) else [options] * len(lanes)
    first = [lane.reset(one) for lane, one in zip(lanes, given, strict=True)]
    for i, row in enumerate(first):
        agree((row_of(result.observations, i), result.infos[i]), (row[0], row[-1]), f"reset, lane {i}")
    for k, action in enumerate(actions):
        mask = None if masks is None else masks[k]
        result = vec.step(action, mask)
        for i, lane in enumerate(lanes):
            expected = lane.step(action[i], mask is None or mask[i])
            flags = bool(result.terminated[i]), bool(result.truncated[i])
            found = row_of(result.observations, i), float(result.rewards[i]), *flags, result.infos[i]
            agree(found, expected, f"step {k}, lane {i}")
    for i, lane in enumerate(lanes):
        assert vec.lane(i).unwrapped.rng.random() == lane.account.rng.random()


def row_of(observations, i):
    return {name: rows[i] for name, rows in observations.items()} if isinstance(observations, dict) else observations[i]
