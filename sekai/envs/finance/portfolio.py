"""Portfolio-v0: divide wealth among several assets and cash."""

from __future__ import annotations

from typing import Any

import numpy as np

from sekai.envs.finance.price_source import PriceSource
from sekai.envs.finance.price_taker import PriceTakerEnv, PriceTakerVecEnv, check_counts, gbm_rows
from sekai.error import InvalidAction
from sekai.finance.simulators import GBM, random_correlation
from sekai.kernels.envs import portfolio
from sekai.spaces.box import Box
from sekai.spaces.dict import Dict
from sekai.vector.actions import NumbersOnly
from sekai.vector.kernel_env import Shared

ASSETS = 5  # unless something says how many


class PortfolioVecEnv(PriceTakerVecEnv[dict[str, np.ndarray], np.ndarray]):
    """Batch of `PortfolioEnv`, whose arguments it takes; `capital` may be `PerLane`.

    Args:
        num_envs: N, at least 1.
        prices, data, n_assets, episode_length, lookback, transaction_cost, allow_short, mu, sigma, corr, dt, model,
            reward, sampler, capital: See `PortfolioEnv`; each lane has a copy of the sampler.
        **batch: Arguments of `KernelVecEnv`.
    """

    State = portfolio.State
    Params = portfolio.Params
    Info = portfolio.Info
    Options = portfolio.price_taker.Options
    reset_lane = portfolio.reset_lane
    step_lane = portfolio.step_lane
    step_block = portfolio.step_block
    observe_lane = portfolio.observe_lane
    inform_lane = portfolio.inform_lane
    plan_lane = portfolio.plan_lane
    growth_lane = portfolio.growth_lane
    observation_names = ("returns", "weights")
    clips_actions = True
    lane_values = (*PriceTakerVecEnv.lane_values, "portfolio_value", "weights")
    metadata = {"render_fps": 10}  # noqa: RUF012

    def __init__(
        self,
        num_envs: int,
        prices: Any = None,
        *,
        data: Any = None,
        n_assets: int | None = None,
        episode_length: int = 252,
        lookback: int = 30,
        transaction_cost: Any = 1e-3,
        allow_short: bool = False,
        mu: Any = None,
        sigma: Any = None,
        corr: Any = None,
        dt: Any = None,
        model: Any = None,
        reward: Any = None,
        sampler: Any = "random",
        capital: Any = 1_000_000.0,
        **batch: Any,
    ) -> None:
        lookback, episode_length = check_counts(lookback=lookback, episode_length=episode_length)
        if n_assets is not None:
            (n_assets,) = check_counts(n_assets=n_assets)
        if not isinstance(allow_short, (bool, np.bool_)):
            raise TypeError(f"allow_short must be a bool, got {allow_short!r}")
        source = PriceSource(prices, data, model, window=lookback + episode_length + 1, n_assets=n_assets)
        n = source.n_assets or n_assets or ASSETS
        self._source = source
        self._corr = random_correlation(np.random.default_rng(0), n) if corr is None else corr
        self._mu = np.full(n, 0.06) if mu is None else mu
        self._sigma = np.linspace(0.15, 0.35, n) if sigma is None else sigma
        self._n_assets = n
        self._simulation = self._simulated_by(dt=self._default_dt(dt))
        low, high = (-np.inf, np.inf) if allow_short else (0.0, 1.0)
        self.observation_space = Dict(
            returns=Box(-np.inf, np.inf, (lookback, n), np.float32), weights=Box(low, high, (n + 1,), np.float32)
        )
        self.action_space = Box(-1.0, 1.0, (n,), np.float32) if allow_short else Box(0.0, 1.0, (n + 1,), np.float32)
        super().__init__(
            num_envs, source, {"allow_short": allow_short},
            n_assets=n, episode_length=episode_length, lookback=lookback, transaction_cost=transaction_cost,
            reward=reward, sampler=sampler, capital=capital, dt=dt, **batch,
        )  # fmt: skip
        self._actions = NumbersOnly(self.action_space)

    def _simulated_by(self, **changes: Any) -> GBM:
        """The model of the simulation, with some of its parameters changed."""
        given = {"mu": self._mu, "sigma": self._sigma, "corr": self._corr, **changes}
        return GBM(given.pop("mu"), given.pop("sigma"), n_assets=self._n_assets, **given)

    def _simulate_with(self, **changes: Any) -> None:
        self._simulation = self._simulated_by(**{"dt": self.dt, **changes})
        for name, value in changes.items():
            if name == "dt":
                self._set_param(name, value)
            else:
                setattr(self, f"_{name}", value)
        self._set_param("simulation", self._simulation_rows())

    def _simulation_rows(self) -> np.ndarray:
        return gbm_rows(self._simulation) if self._source.model is None else super()._simulation_rows()

    def array_shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the arrays of a lane."""
        n = self._n_assets
        return {**super().array_shapes(), "weights": (n + 1,), "target": (n + 1,), "asset_returns": (n,)}

    @property
    def n_assets(self) -> int:
        """Number of assets, without cash."""
        return self._n_assets

    @property
    def allow_short(self) -> bool:
        """Whether weights of assets may be negative."""
        return bool(self._param_rows.get("allow_short"))

    @property
    def mu(self) -> np.ndarray:
        """Drift of simulated prices, per year; a change takes effect at the next reset, as with the next three."""
        return np.array(self._mu, np.float64)

    @mu.setter
    def mu(self, mu: Any) -> None:
        self._simulate_with(mu=mu)

    @property
    def sigma(self) -> np.ndarray:
        """Volatility of simulated prices, per square root of a year."""
        return np.array(self._sigma, np.float64)

    @sigma.setter
    def sigma(self, sigma: Any) -> None:
        self._simulate_with(sigma=sigma)

    @property
    def corr(self) -> np.ndarray:
        """Correlations of simulated log returns, `(n, n)`."""
        return np.array(self._corr, np.float64)

    @corr.setter
    def corr(self, corr: Any) -> None:
        self._simulate_with(corr=corr)

    @property
    def dt(self) -> Any:
        """Years per step."""
        return self._param_rows.get("dt")

    @dt.setter
    def dt(self, dt: Any) -> None:
        self._simulate_with(dt=dt)

    @property
    def portfolio_value(self) -> np.ndarray:
        """Wealth, 1 at the start of an episode, `(N,)`."""
        return self.equity

    @property
    def weights(self) -> np.ndarray:
        """Weights of the assets and, last, of cash, drifted with the prices, float64 `(N, n + 1)`."""
        return np.array(self._array("weights"))

    def action_to_weights(self, actions: Any) -> np.ndarray:
        """The weights that actions ask for, float64 `(N, n + 1)`; they add up to 1, the last is that of cash.

        Raises:
            ValueError: Actions of another shape.
            TypeError, InvalidAction: They are not numbers, or not finite.
        """
        return self._weights_of(self._actions.pack(actions, self.num_envs))

    def _weights_of(self, actions: np.ndarray) -> np.ndarray:
        bad = ~np.isfinite(actions).all(axis=1)
        if bad.any():
            raise InvalidAction(actions[bad.argmax()], self.action_space)
        weights = np.empty((len(actions), self._n_assets + 1))
        portfolio.action_to_weights(actions, self.allow_short, weights)
        return weights

    def lane_kwargs(self, i: int) -> dict[str, Any]:  # noqa: D102 -- the base class's
        simulation = {"mu": self._mu, "sigma": self._sigma, "corr": self._corr}
        own = {"n_assets": self._n_assets, "allow_short": self.allow_short, **simulation}
        return {**super().lane_kwargs(i), **own}


class PortfolioEnv(PriceTakerEnv[dict[str, np.ndarray], np.ndarray]):
    """Divide wealth among n assets and cash, at prices that trades do not move.

    Observation: `returns` (float32, (lookback, n)), the last log returns up to the current prices, and `weights`
    (float32, n + 1), those of the assets and, last, of cash. Action (n + 1 scores): negative ones count as 0, and they
    are divided by their sum; no score above 0 means cash only. With `allow_short` (n weights): clipped to [-1, 1],
    scaled down where the sum of their sizes exceeds 1, and the rest is cash. Any finite numbers are accepted. A step
    trades at the current prices and holds until the next: wealth grows by `(1 - cost) (1 + weights . returns)`.
    Terminates when wealth is wiped out; truncated after `episode_length` steps.

    Infos: portfolio_value, equity (the same), weights, turnover, cost, asset_returns, timestamp, dt.

    Prices are correlated geometric Brownian motions that start at 100, unless there is a history or a model;
    `reset(options={"start": …})` begins at a row, date or `Time` of a history.

    Args:
        prices: A history as an array `(T, n)`, or a pandas DataFrame.
        data: A history as a `MarketData`, whose fields `volume` and `spread` costs may depend on.
        n_assets: n, if nothing else tells it; 5 by default.
        episode_length: Steps of an episode.
        lookback: Log returns in an observation.
        transaction_cost: A rate on turnover, or a `CostModel`.
        allow_short: Whether weights of assets may be negative.
        mu, sigma: Drift and volatility of simulated prices, per year: one number, or one per asset; 0.06, and from
            0.15 to 0.35, by default.
        corr: Correlations of simulated log returns, `(n, n)`; by default fixed random ones.
        dt: Years per step; None: of the history's dates, the model's, or 1/252.
        model: A `MarketModel` to simulate.
        reward: A `RewardFunction`, which is copied; None for the log return of wealth.
        sampler: Where in a history episodes start: `"random"`, `"sequential"`, an int or an `EpisodeSampler`.
        capital: What one unit of wealth is worth, for costs that depend on it.
        **batch: `debug` and `math`, see `sekai.KernelEnv`.

    Raises:
        TypeError, ValueError: An argument is not what it should be; the message says which.
    """

    batch = PortfolioVecEnv
    _vec: PortfolioVecEnv
    metadata = {"render_fps": 10}  # noqa: RUF012
    prices = Shared("prices")
    data = Shared("data")
    n_assets = Shared("n_assets")
    allow_short = Shared("allow_short")
    mu = Shared("mu")
    sigma = Shared("sigma")
    corr = Shared("corr")
    dt = Shared("dt")
    model = Shared("model")
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
        n_assets: int | None = None,
        episode_length: int = 252,
        lookback: int = 30,
        transaction_cost: Any = 1e-3,
        allow_short: bool = False,
        mu: Any = None,
        sigma: Any = None,
        corr: Any = None,
        dt: float | None = None,
        model: Any = None,
        reward: Any = None,
        sampler: Any = "random",
        capital: float = 1_000_000.0,
        **batch: Any,
    ) -> None:
        super().__init__(
            sampler, prices=prices, data=data, n_assets=n_assets, episode_length=episode_length, lookback=lookback,
            transaction_cost=transaction_cost, allow_short=allow_short, mu=mu, sigma=sigma, corr=corr, dt=dt,
            model=model, reward=reward, capital=capital, **batch,
        )  # fmt: skip

    def action_to_weights(self, action: Any) -> np.ndarray:
        """The weights that an action asks for, float64 `(n + 1,)`; they add up to 1, the last is that of cash.

        Raises:
            TypeError, InvalidAction: It is not of n + 1 (short: n) finite numbers.
        """
        weights: np.ndarray = self._vec._weights_of(self._vec._actions.pack_one(action))[0]
        return weights
