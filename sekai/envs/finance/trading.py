"""Trading-v0: hold one of a few positions in one asset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sekai.envs.finance.price_source import PriceSource
from sekai.envs.finance.price_taker import PriceTakerEnv, PriceTakerVecEnv, check_counts
from sekai.finance.arguments import check_range, lane_of
from sekai.kernels.envs import trading
from sekai.spaces.box import Box
from sekai.spaces.discrete import Discrete
from sekai.vector.kernel_env import Shared


class TradingVecEnv(PriceTakerVecEnv[np.ndarray, np.ndarray]):
    """Batch of `TradingEnv`, whose arguments it takes; `mu`, `sigma`, `s0`, `dt` and `capital` may be `PerLane`.

    Args:
        num_envs: N, at least 1.
        prices, data, episode_length, lookback, positions, transaction_cost, mu, sigma, dt, s0, model, reward, sampler,
            capital: See `TradingEnv`; each lane has a copy of the sampler.
        **batch: Arguments of `KernelVecEnv`.
    """

    State = trading.State
    Params = trading.Params
    Info = trading.Info
    Options = trading.price_taker.Options
    reset_lane = trading.reset_lane
    step_lane = trading.step_lane
    step_block = trading.step_block
    observe_lane = trading.observe_lane
    inform_lane = trading.inform_lane
    plan_lane = trading.plan_lane
    growth_lane = trading.growth_lane
    public_params = ("mu", "sigma", "s0", "capital")
    lane_values = (*PriceTakerVecEnv.lane_values, "position", "price")
    metadata = {"render_fps": 10}  # noqa: RUF012

    def __init__(
        self,
        num_envs: int,
        prices: Any = None,
        *,
        data: Any = None,
        episode_length: int = 252,
        lookback: int = 30,
        positions: Sequence[float] = (-1.0, 0.0, 1.0),
        transaction_cost: Any = 1e-3,
        mu: Any = 0.05,
        sigma: Any = 0.2,
        dt: Any = None,
        s0: Any = 100.0,
        model: Any = None,
        reward: Any = None,
        sampler: Any = "random",
        capital: Any = 1_000_000.0,
        **batch: Any,
    ) -> None:
        lookback, episode_length = check_counts(lookback=lookback, episode_length=episode_length)
        source = PriceSource(prices, data, model, window=lookback + episode_length + 1, n_assets=1)
        held = checked_positions(positions)
        low, high = np.full((2, lookback + 1), [[-np.inf], [np.inf]])
        low[-1] = 0.0 if held.min() >= 0 else -np.inf
        high[-1] = 1.0 if held.max() <= 1 else np.inf
        self.observation_space = Box(low, high, dtype=np.float32)
        self.action_space = Discrete(len(held))
        super().__init__(
            num_envs, source, {"mu": mu, "sigma": sigma, "s0": s0, "positions": held},
            n_assets=1, episode_length=episode_length, lookback=lookback, transaction_cost=transaction_cost,
            reward=reward, sampler=sampler, capital=capital, dt=dt, **batch,
        )  # fmt: skip

    @classmethod
    def check_param(cls, name: str, value: Any) -> None:
        """Check the range of a parameter."""
        super().check_param(name, value)
        if name == "mu":
            check_range(name, value, place=lane_of)
        elif name == "sigma":
            check_range(name, value, least=0.0, place=lane_of)

    @property
    def positions(self) -> np.ndarray:
        """What the actions stand for, float64 `(P,)`: fractions of equity."""
        return np.array(self._param_rows.get("positions"))

    @positions.setter
    def positions(self, positions: Sequence[float]) -> None:
        held = checked_positions(positions)
        if len(held) != self.action_space.n:  # type: ignore[attr-defined]
            raise ValueError(f"positions must be {self.action_space.n} numbers, got {positions!r}")  # type: ignore[attr-defined]
        self._set_param("positions", held)

    @property
    def prices(self) -> np.ndarray | None:
        """The history `(T,)`, read-only; None if prices are simulated."""
        return None if self._source.data is None else self._source.data.prices[:, 0]

    @property
    def position(self) -> np.ndarray:
        """Positions as fractions of equity, drifted with the price, `(N,)`."""
        return np.array(self._state_row("position"))

    @property
    def price(self) -> np.ndarray:
        """Prices of the next decisions, `(N,)`; 1 before the first reset."""
        if not self._started:
            return np.ones(self.num_envs)
        data = self._source.data
        if data is None:
            return np.array(self._array("spot")[:, 0])
        return np.array(data.prices[self._state_row("start") + self._lookback + self._state_row("t"), 0])

    def _simulation_of(self, lane: int) -> tuple[np.ndarray, ...]:
        if self._source.model is not None:
            return super()._simulation_of(lane)
        mu, sigma, s0, dt = (self._param_rows.of_lane(name, lane) for name in ("mu", "sigma", "s0", "dt"))
        drift, volatility = (mu - 0.5 * sigma * sigma) * dt, sigma * np.sqrt(dt)
        return np.array([s0]), np.array([drift]), np.array([volatility]), np.empty((0, 1))

    def _shaped(self, prices: np.ndarray) -> np.ndarray:
        return prices[:, 0]

    def lane_kwargs(self, i: int) -> dict[str, Any]:  # noqa: D102 -- the base class's
        simulation = {name: self._param_rows.of_lane(name, i) for name in ("mu", "sigma", "s0")}
        return {**super().lane_kwargs(i), **simulation, "positions": self.positions}


class TradingEnv(PriceTakerEnv[np.ndarray, np.integer[Any]]):
    """Hold one of a few positions in one asset, as a fraction of equity, at prices that trades do not move.

    Observation (float32, lookback + 1): the last log returns up to the current price, and the position. Action: index
    of the position to take. A step trades at the current price and holds until the next: equity grows by
    `(1 - cost) (1 + position * return)`. Terminates when equity is wiped out; truncated after `episode_length` steps.

    Infos: equity, position (drifted with the price), price, asset_return, cost, turnover, timestamp, dt.

    Prices are a geometric Brownian motion, `log S(t + dt) - log S(t) ~ N((mu - sigma^2 / 2) dt, sigma^2 dt)`, unless
    there is a history or a model; `reset(options={"start": …})` begins at a row, date or `Time` of a history.

    Args:
        prices: A history as an array `(T,)` or `(T, 1)`, or a pandas Series or DataFrame.
        data: A history as a `MarketData`, whose fields `volume` and `spread` costs may depend on.
        episode_length: Steps of an episode.
        lookback: Log returns in an observation.
        positions: What the actions stand for, at least 2 numbers; -1 is short, 1 long.
        transaction_cost: A rate on turnover, or a `CostModel`.
        mu, sigma: Drift and volatility of simulated prices, per year. They may be so large that a price leaves the
            range of float64, which depends on the draws; returns and rewards are then infinite or NaN.
        dt: Years per step; None: of the history's dates, the model's, or 1/252.
        s0: First price of a simulation.
        model: A `MarketModel` of one asset to simulate.
        reward: A `RewardFunction`, which is copied; None for the log return of equity.
        sampler: Where in a history episodes start: `"random"`, `"sequential"`, an int or an `EpisodeSampler`.
        capital: What one unit of equity is worth, for costs that depend on it.
        **batch: `debug` and `math`, see `sekai.KernelEnv`.

    Raises:
        TypeError, ValueError: An argument is not what it should be; the message says which.
    """

    batch = TradingVecEnv
    metadata = {"render_fps": 10}  # noqa: RUF012
    prices = Shared("prices")
    data = Shared("data")
    model = Shared("model")
    positions = Shared("positions")
    dt = Shared("dt")
    lookback = Shared("lookback")
    episode_length = Shared("episode_length")
    transaction_cost = Shared("transaction_cost")
    cost_model = Shared("cost_model")
    reward_fn = Shared("reward_fn")

    def __init__(
        self,
        prices: Any = None,
        *,
        data: Any = None,
        episode_length: int = 252,
        lookback: int = 30,
        positions: Sequence[float] = (-1.0, 0.0, 1.0),
        transaction_cost: Any = 1e-3,
        mu: float = 0.05,
        sigma: float = 0.2,
        dt: float | None = None,
        s0: float = 100.0,
        model: Any = None,
        reward: Any = None,
        sampler: Any = "random",
        capital: float = 1_000_000.0,
        **batch: Any,
    ) -> None:
        super().__init__(
            sampler, prices=prices, data=data, episode_length=episode_length, lookback=lookback, positions=positions,
            transaction_cost=transaction_cost, mu=mu, sigma=sigma, dt=dt, s0=s0, model=model, reward=reward,
            capital=capital, **batch,
        )  # fmt: skip

    @property
    def price(self) -> float:
        """Price of the next decision.

        Raises:
            ResetRequired: Before the first `reset`.
        """
        price: float = self._of_episode("price")
        return price


def checked_positions(positions: Any) -> np.ndarray:
    """Positions as float64 `(P,)`.

    Raises:
        TypeError: They are not numbers.
        ValueError: There are less than 2, or one is not finite.
    """
    held = np.asarray(positions)
    if held.dtype.kind not in "iuf":
        raise TypeError(f"positions must be numbers, got {positions!r}")
    if held.ndim != 1 or held.size < 2:
        raise ValueError(f"positions must be at least 2 numbers, got {positions!r}")
    held = held.astype(np.float64)
    check_range("positions", held)
    return held
