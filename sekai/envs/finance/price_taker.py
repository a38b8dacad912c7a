"""What the environments that trade at given prices share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import replace
from functools import cached_property, partial
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from numpy.random import PCG64, Generator

from sekai._types import ActType, ObsType
from sekai.envs.finance.price_source import PriceSource
from sekai.error import InvalidAction, ResetRequired
from sekai.finance.arguments import check_range, lane_of
from sekai.finance.costs import CostModel, as_cost_model
from sekai.finance.rewards import LogReturn, RewardFunction, StepOutcome
from sekai.finance.sampling import (
    EpisodeSampler,
    FixedStart,
    RandomStart,
    SequentialStart,
    as_sampler,
    first_start,
    resolve_start,
)
from sekai.finance.simulators import GBM, MarketModel, Simulation
from sekai.kernels.envs import price_taker
from sekai.kernels.price_paths import gbm_paths, history_returns
from sekai.utils.integers import as_int, positive_int
from sekai.vector.kernel import NO_LIMIT, RNG_ROWS, SAME_STEP, KernelVecEnv
from sekai.vector.kernel_env import KernelEnv
from sekai.vector.result import VecStepResult
from sekai.vector.snapshot import Snapshot
from sekai.vector.stream import set_words, words_of

TRADING_DAY = 1 / 252  # years
CONTEXT = ("equity", "volatility", "volume", "spread")  # what a cost model may ask for
DRAWN_BY = ("mu", "sigma", "s0", "dt", "simulation")  # parameters that simulated prices depend on
WRITTEN_AHEAD = ("scratch", "target", "asset_returns")  # of the state, by a look at a step before it is taken
SAMPLINGS = {RandomStart: price_taker.RANDOM, FixedStart: price_taker.FIXED, SequentialStart: price_taker.SEQUENTIAL}


class PriceTakerVecEnv(KernelVecEnv[ObsType, ActType]):
    """A batch of environments whose trades do not move prices.

    A cost model, reward function, market model or episode sampler of the user's own, in Python, is called before the
    kernels run: costs and rewards once per step, on arrays of all lanes; models and samplers once for each lane that
    starts an episode, with the lane's own generator. That takes longer than the built-in ones, which are compiled.

    Args:
        num_envs: N, at least 1.
        source: Where prices come from.
        params: Values of kernel parameters that are the environment's own.
        n_assets, episode_length, lookback, transaction_cost, reward, sampler, capital, dt: Those of the environment.
        **batch: Arguments of `KernelVecEnv`.
    """

    plan_lane: ClassVar[Any]
    growth_lane: ClassVar[Any]
    is_long = True
    public_params: ClassVar[tuple[str, ...]] = ("capital",)
    lane_values: ClassVar[tuple[str, ...]] = ("elapsed_steps", "equity", "timestamp", "price_history")

    def __init__(
        self,
        num_envs: int,
        source: PriceSource,
        params: dict[str, Any],
        *,
        n_assets: int,
        episode_length: int,
        lookback: int,
        transaction_cost: Any,
        reward: Any,
        sampler: Any,
        capital: Any,
        dt: Any,
        **batch: Any,
    ) -> None:
        self._source, self._n_assets = source, n_assets
        self._episode_length, self._lookback = episode_length, lookback
        self._transaction_cost = transaction_cost
        self._cost_model = self._checked_cost(transaction_cost)
        self._reward_fn = checked_reward(reward)
        self._sampler = as_sampler(sampler)
        self._path_rows = 0
        setup = {"lookback": lookback, "episode_length": episode_length, **self._sampling()}
        setup |= {**self._cost_setup(), "source": self._source_code(), "reward_given": self._reward_terms() is None}
        self._setup = np.array([setup.get(name, 0) for name in price_taker.SETUP])
        super().__init__(
            num_envs, capital=capital, dt=self._default_dt(dt), setup=self._setup, history=self._history,
            history_returns=log_returns_of(self._history[0]), simulation=self._simulation_rows(),
            costs=self._cost_rows(), reward_terms=self._reward_rows(), **params, **batch,
        )  # fmt: skip
        self._samplers = [self._sampler.spawn() for _ in range(self.num_envs)]
        if type(self._sampler) is SequentialStart:
            self._state_row("next_start")[:] = self._sampler.start
        self._note_python()

    # ---- what kernels are given ------------------------------------------------------------------

    def _default_dt(self, dt: Any) -> Any:
        data, model = self._source.data, self._source.model
        if dt is not None:
            return dt
        if data is not None and data.periods_per_year is not None:
            return 1.0 / data.periods_per_year
        return TRADING_DAY if model is None else float(model.dt)

    def _fields(self) -> dict[str, int]:
        """Which fields of the history kernels are given besides prices, and where."""
        data = self._source.data
        names = [] if data is None else [name for name in ("volume", "spread") if name in data.fields]
        return {f"{name}_field": 1 + k for k, name in enumerate(names)}

    @cached_property
    def _history(self) -> np.ndarray:
        """Prices and those fields, `(F, T, n)`."""
        data = self._source.data
        if data is None:
            return np.empty((1, 0, self._n_assets))
        return np.array([data.prices, *(data.field(name.removesuffix("_field")) for name in self._fields())])

    def _sampling(self) -> dict[str, int]:
        """How an episode's start in the history is found."""
        data, sampler = self._source.data, self._sampler
        if data is None:
            return {}
        first = first_start(self._lookback, data.warmup)
        count = data.n_steps - self._window + 1 - first
        if count < 1:
            raise ValueError(
                f"no episode of {self._episode_length} steps starts after the warm-up of {data.warmup} rows: "
                f"there are {data.n_steps} rows"
            )
        start = sampler.start if isinstance(sampler, (FixedStart, SequentialStart)) else 0
        if start >= count:
            raise ValueError(f"sampler must start in one of {count} place(s), 0 … {count - 1}, got {sampler!r}")
        stride = getattr(sampler, "stride", None) or self._episode_length
        code = SAMPLINGS.get(type(sampler), price_taker.SAMPLED)
        return {"sampling": code, "first_start": first, "num_starts": count, "start": start, "stride": stride}

    def _source_code(self) -> int:
        if self._source.data is not None:
            return int(price_taker.HISTORY)
        if self._source.model is None:
            return int(price_taker.SIMULATED)
        return int(price_taker.MODEL if type(self._source.model) is GBM else price_taker.GIVEN)

    def _simulation_rows(self) -> np.ndarray:
        """What the simulation of the batch's own, or by a `GBM`, is made with: see `sekai.kernels.envs.price_taker`."""
        model = self._source.model
        return gbm_rows(model) if isinstance(model, GBM) else np.zeros((price_taker.CHOL, self._n_assets))

    def _checked_cost(self, cost: Any) -> CostModel:
        """A cost model that the history has the fields for.

        Raises:
            TypeError: It is no cost model and no number.
            ValueError: It needs what is not known.
        """
        model = as_cost_model(cost)
        data = self._source.data
        for name in ("volume", "spread"):
            if name in model.requires and (data is None or name not in data.fields):
                raise ValueError(f"transaction_cost {model!r} needs a history with the field {name!r}")
        if "volatility" in model.requires and self._lookback < 2:
            raise ValueError(f"transaction_cost {model!r} needs a lookback of 2 or more, got {self._lookback}")
        if "spread" in model.requires and "spread" not in model.fallbacks:
            assert data is not None
            spread = data.field("spread")
            unknown = ~(np.isfinite(spread) & (spread >= 0)).any(axis=1)
            if unknown.any():
                raise ValueError(
                    f"field 'spread' must hold a spread in each row, but has none in row {unknown.argmax()}"
                )
        return model

    def _cost_rows(self) -> np.ndarray:
        compiled = self._cost_model._terms(self._n_assets)
        return np.empty((0, 3 + self._n_assets)) if compiled is None else np.hstack(compiled)

    def _cost_setup(self) -> dict[str, int]:
        model = self._cost_model
        given, needs = model._terms(self._n_assets) is None, "volatility" in model.requires
        return {"cost_given": given, "needs_volatility": needs, **self._fields()}

    def _reward_terms(self) -> np.ndarray | None:
        terms: np.ndarray | None = self._reward_fn._terms()
        return terms

    def _reward_rows(self) -> np.ndarray:
        terms = self._reward_terms()
        return np.empty((0, 3)) if terms is None else terms

    def _set_up(self, **values: Any) -> None:
        """Change some of the setup."""
        setup = self._setup.copy()
        for name, value in values.items():
            setup[price_taker.SETUP.index(name)] = value
        self._setup = setup
        self._set_param("setup", setup)
        self._note_python()

    def _is_set_up(self, name: str) -> int:
        return int(self._setup[price_taker.SETUP.index(name)])

    def array_shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the arrays of a lane."""
        n, simulated = self._n_assets, self._source.data is None
        return {
            "path_rng": (RNG_ROWS,),
            "asset_returns": (n,),
            "spot": (n,),
            "logs": (n,),
            "sums": (n,),
            "normals": (n,),
            "prices": (self._path_rows, n),
            "returns": (2 * self._lookback * n if simulated else 0,),
            "scratch": (3 * n,),
            "reward_state": (2 * len(self._reward_rows()),),
        }

    @classmethod
    def check_param(cls, name: str, value: Any) -> None:
        """Check the range of a parameter."""
        if name in ("capital", "dt", "s0"):
            check_range(name, value, above=0.0, place=lane_of)

    def _info_decoders(self) -> dict[str, Any]:
        data = self._source.data
        return {} if data is None else {"timestamp": partial(np.take, data.timestamps)}

    # ---- attributes ------------------------------------------------------------------------------

    @property
    def _window(self) -> int:
        return self._lookback + self._episode_length + 1

    @property
    def lookback(self) -> int:
        """How many log returns an observation holds."""
        return self._lookback

    @property
    def episode_length(self) -> int:
        """Steps after which an episode is truncated."""
        return self._episode_length

    @property
    def prices(self) -> np.ndarray | None:
        """The history, read-only; None if prices are simulated."""
        return None if self._source.data is None else self._source.data.prices

    @property
    def data(self) -> Any:
        """The history as a `MarketData`, or None."""
        return self._source.data

    @property
    def model(self) -> MarketModel | None:
        """The model that is simulated, or None; a change takes effect at the next reset."""
        return self._source.model

    @model.setter
    def model(self, model: MarketModel | None) -> None:
        if self._source.data is not None:
            raise ValueError("model cannot be set where prices come from a history")
        self._draw_ahead()
        self._source = PriceSource(None, None, model, window=self._window, n_assets=self._n_assets)
        self._set_param("simulation", self._simulation_rows())
        self._set_up(source=self._source_code())

    @property
    def dt(self) -> Any:
        """Years per step; a change takes effect at the next reset."""
        return self._param_rows.get("dt")

    @dt.setter
    def dt(self, dt: Any) -> None:
        self._set_param("dt", dt)

    @property
    def transaction_cost(self) -> Any:
        """What the batch was made with; to change costs, set `cost_model`."""
        return self._transaction_cost

    @property
    def cost_model(self) -> CostModel:
        """Costs of trades; a change takes effect at the next step."""
        return self._cost_model

    @cost_model.setter
    def cost_model(self, cost: Any) -> None:
        self._cost_model = self._checked_cost(cost)
        self._set_param("costs", self._cost_rows())
        self._set_up(**self._cost_setup())

    @property
    def reward_fn(self) -> RewardFunction:
        """What steps are rewarded by, a copy of what was given; it begins anew when it is set."""
        return self._reward_fn

    @reward_fn.setter
    def reward_fn(self, reward: Any) -> None:
        self._reward_fn = checked_reward(reward)
        self._set_param("reward_terms", self._reward_rows())
        self._renew_array("reward_state")
        self._set_up(reward_given=self._reward_terms() is None)

    @property
    def elapsed_steps(self) -> np.ndarray:
        """Steps of the current episodes, int64 `(N,)`."""
        return np.array(self._state_row("t"))

    @property
    def equity(self) -> np.ndarray:
        """Equity, 1 at the start of an episode, `(N,)`."""
        return self._state_row("equity").copy() if self._started else np.ones(self.num_envs)

    @property
    def timestamp(self) -> np.ndarray:
        """Time of the next decisions, `(N,)`: the history's, or the step of a simulation."""
        t, data = self._state_row("t"), self._source.data
        return np.array(t if data is None else data.timestamps[self._state_row("start") + self._lookback + t])

    @property
    def price_history(self) -> np.ndarray:
        """An object array `(N,)` of arrays: the prices of the current episodes up to now."""
        histories = np.empty(self.num_envs, object)
        for i, (t, start) in enumerate(zip(self._state_row("t"), self._state_row("start"), strict=True)):
            rows = self._lookback + int(t) + 1
            histories[i] = self._shaped(self._prices_of(i, start, rows))
        return histories

    def _prices_of(self, lane: int, start: int, rows: int) -> np.ndarray:
        """The first prices of a lane's episode, `(rows, n)`."""
        if self._source.data is not None:
            return np.array(self._source.data.prices[start : start + rows])
        if self._state_row("on_path")[lane]:
            return np.array(self._array("prices")[lane, :rows])
        return self._drawn(lane, rows)[0] if self._started else np.empty((0, self._n_assets))

    def _shaped(self, prices: np.ndarray) -> np.ndarray:
        """Prices `(rows, n)` as users see them."""
        return prices

    def lane_kwargs(self, i: int) -> dict[str, Any]:  # noqa: D102 -- the base class's
        return {
            "debug": self.debug, "math": self.math, "data": self._source.data, "model": self._source.model,
            "episode_length": self._episode_length, "lookback": self._lookback,
            "transaction_cost": self._cost_model, "reward": self._anew(), "sampler": self._samplers[i].spawn(),
            "capital": self._param_rows.of_lane("capital", i), "dt": self._param_rows.of_lane("dt", i),
        }  # fmt: skip

    def _anew(self) -> RewardFunction:
        """The reward function as at the start of an episode: what one in Python remembers is of all lanes."""
        reward = deepcopy(self._reward_fn)
        if self._is_set_up("reward_given"):
            reward.reset()
        return reward

    # ---- resets ----------------------------------------------------------------------------------

    def _options_given(self, options: Any) -> dict[str, Any]:
        self.check_options(options)
        start = options.get("start")
        if start is None:
            return {}
        data = self._source.data
        if data is None:
            raise ValueError(f"options['start'] needs a history of prices, got {start!r} where they are simulated")
        starts = data.n_steps - self._window + 1
        row = resolve_start(
            start, timestamps=data.timestamps, lookback=self._lookback, n_starts=starts, warmup=data.warmup
        )
        return {"start_row": int(row)}

    # ---- what users' Python does -----------------------------------------------------------------

    def _note_python(self) -> None:
        """Find out whether anything is called in Python, and whether prices have to be known in advance."""
        self._samples = self._source.data is not None and self._is_set_up("sampling") == price_taker.SAMPLED
        self._simulates = self._is_set_up("source") == price_taker.GIVEN
        given = self._is_set_up("cost_given") or self._is_set_up("reward_given")
        self._calls_python = bool(given or self._samples or self._simulates)
        eager = bool(self._calls_python or self._streams or self._foreign)
        if eager and self._source.data is None:
            self._keep_paths(2 * self._window if self._simulates else self._window)
            self._draw_ahead()
        if eager != self._is_set_up("eager"):
            self._set_up(eager=eager)

    # ---- paths of prices -------------------------------------------------------------------------

    def _keep_paths(self, rows: int) -> None:
        """Make room for at least so many rows of prices per lane."""
        if rows > self._path_rows:
            kept, self._path_rows = self._array("prices"), rows
            self._renew_array("prices")
            self._array("prices")[:, : kept.shape[1]] = kept

    def _draw_ahead(self) -> None:
        """Draw what running episodes have still to draw: something that it depends on is about to change or be seen."""
        owed = self._state_row("owed")
        if not owed.any():
            return
        self._keep_paths(self._window)
        for lane in np.flatnonzero(owed).tolist():
            path, words = self._drawn(lane, self._window)
            self._array("prices")[lane, : self._window] = path
            self._rng[:, lane] = words
            owed[lane], self._state_row("on_path")[lane] = 0, True

    def _drawn(self, lane: int, rows: int) -> tuple[np.ndarray, np.ndarray]:
        """The path of a lane's episode, drawn once more, and the random words after it."""
        generator = Generator(PCG64())
        set_words(generator, self._array("path_rng")[lane].view(np.uint64))
        normals = generator.standard_normal((1, rows - 1, self._n_assets))
        prices = np.empty((1, rows, self._n_assets))
        gbm_paths(normals, prices, *self._simulation_of(lane))
        return prices[0], words_of(generator)

    def _simulation_of(self, lane: int) -> tuple[np.ndarray, ...]:
        """First prices, means and deviations of log returns, and Cholesky factor of a lane's simulation."""
        rows = self._param_rows.get("simulation")
        return *rows[: price_taker.CHOL], rows[price_taker.CHOL :]

    def _set_param(self, name: str, value: Any) -> None:
        if name in DRAWN_BY and getattr(self, "_started", False):
            self.check_param(name, self._param_rows.check(name, value))
            self._draw_ahead()
        super()._set_param(name, value)

    def _seed_each(self, seeds: dict[int, Any]) -> None:
        super()._seed_each(seeds)
        self._state_row("owed")[list(seeds)] = 0  # of another stream
        self._note_python()

    def _spawn(self, seed: int, lanes: np.ndarray) -> None:
        super()._spawn(seed, lanes)
        self._state_row("owed")[lanes] = 0
        self._note_python()

    def _generator(self, lane: int) -> Generator:
        self._draw_ahead()
        generator = super()._generator(lane)
        self._note_python()
        return generator

    def _shared_digests(self) -> dict[str, str]:
        digests = super()._shared_digests()
        del digests["setup"]
        setup = {name: str(value) for name, value in zip(price_taker.SETUP, self._setup.tolist(), strict=True)}
        del setup["eager"], setup["sampling"]  # how episodes begin does not matter to running ones
        return {**setup, **digests}

    def lane(self, i: int) -> Any:  # noqa: D102 -- the base class's
        env = super().lane(i)
        if type(self._sampler) is SequentialStart:  # from where the lane is, which the sampler does not know
            env.unwrapped._vec._set_up(sampling=price_taker.SEQUENTIAL)
        return env

    def set_state(self, state: Any, lanes: Any = None) -> None:  # noqa: D102 -- the base class's
        if isinstance(state, Snapshot) and len(state.arrays) == len(self._arrays):
            place = list(self._state.arrays).index("prices")
            prices = state.arrays[place]
            if prices.ndim == 3 and prices.shape[1] in (0, self._window, 2 * self._window):
                self._keep_paths(prices.shape[1])
                padded = np.zeros((len(prices), self._path_rows, prices.shape[2]))
                padded[:, : prices.shape[1]] = prices
                arrays = (*state.arrays[:place], padded, *state.arrays[place + 1 :])
                state = replace(state, arrays=arrays)
        super().set_state(state, lanes)

    def _before_reset(self, lanes: np.ndarray, words: np.ndarray) -> None:
        fixed = words[-1].view(np.int64) >= 0  # by an option
        self._prepare_episodes(lanes & ~fixed)
        self._restart_reward(lanes)

    def _restart_reward(self, lanes: np.ndarray) -> None:
        """Tell a reward function in Python which lanes start an episode."""
        if self._is_set_up("reward_given") and lanes.any():
            self._reward_fn.reset(None if lanes.all() else lanes)

    def _before_step(self, actions: np.ndarray, running: np.ndarray, restarting: np.ndarray) -> None:
        memory, params = self._packed_memory, self._param_rows.packed(self._param_rows.words)
        bad = self._program.check(memory, actions, self._actions.accepted, running, True)
        if bad >= 0:
            raise InvalidAction(actions[bad], self.action_space, lane=bad if self.num_envs > 1 else None)
        scratch = [self._array(name) for name in WRITTEN_AHEAD if name in self._state.arrays]
        kept = [array.copy() for array in (self._memory, *scratch)]
        reward = deepcopy(self._reward_fn) if self._simulates or self._samples else None
        try:
            growth = self._look_ahead(memory, params, actions, running)
            if self._mode == SAME_STEP:
                last = self._state_row("t") + 1 >= self._episode_length
                late = self._book_row("elapsed") + 1 >= (self.max_episode_steps or NO_LIMIT)
                restarting = running & ((growth <= 0.0) | last | late)
            self._prepare_episodes(restarting)
        except BaseException:
            for array, values in zip((self._memory, *scratch), kept, strict=True):
                array[...] = values
            self._reward_fn = reward or self._reward_fn
            raise
        if self._mode != SAME_STEP:
            self._restart_reward(restarting)

    def _look_ahead(self, memory: Any, params: Any, actions: np.ndarray, running: np.ndarray) -> np.ndarray:
        """Let a cost model and a reward function in Python see the step; returns the growth of equity in it."""
        n, programs = self.num_envs, self._previews()
        turnover, cost, growth = np.empty(n), np.empty(n), np.empty(n)
        programs.plan(memory, params, actions, running, turnover)
        before = self._state_row("equity").copy()
        if self._is_set_up("cost_given"):
            trades = self._array("scratch")[:, : self._n_assets].copy()
            found = self._cost_model(trades, **self._cost_context(before))
            self._state_row("given_cost")[:] = per_lane("the cost model", found, n)
        programs.grow(memory, params, actions, running, cost, growth)
        if self._is_set_up("reward_given"):
            outcome = StepOutcome.from_growth(
                growth, equity=np.maximum(before * growth, 0.0), turnover=turnover, cost=cost, previous_equity=before
            )
            self._state_row("given_reward")[:] = per_lane("the reward function", self._reward_fn(outcome), n)
        return growth

    def _cost_context(self, equity: np.ndarray) -> dict[str, Any]:
        """What the cost model asks for, of all lanes."""
        n, scratch = self._n_assets, self._array("scratch")
        rows = self._state_row("start") + self._lookback + self._state_row("t")
        spread = self._is_set_up("spread_field")
        known = {
            "equity": np.asarray(self._param_rows.get("capital")) * equity,
            "volatility": scratch[:, n : 2 * n].copy(),
            "volume": scratch[:, 2 * n :].copy(),
            "spread": self._history[spread, rows] if spread else None,
        }
        return {name: known[name] for name in CONTEXT if name in self._cost_model.requires}

    def _prepare_episodes(self, lanes: np.ndarray) -> None:
        """Draw in Python what episodes begin with, each lane from its own stream."""
        if self._simulates:
            paths = self._draw(np.flatnonzero(lanes), self._simulated)
            for lane, path in paths:
                self._array("prices")[lane, self._window :] = path
        elif self._samples:
            for lane, start in self._draw(np.flatnonzero(lanes), self._sampled):
                self._state_row("next_start")[lane] = start

    def _simulated(self, generator: Generator, lane: int) -> np.ndarray:
        model: Any = self._source.model
        found = model.simulate(generator, self._window - 1)
        shape = (self._window, self._n_assets)
        if not isinstance(found, Simulation) or found.prices.shape != shape:
            raise ValueError(f"model must simulate prices of shape {shape}, got {found!r}")
        if (found.mask is not None and not found.mask.all()) or not (
            np.isfinite(found.prices) & (found.prices > 0)
        ).all():
            raise ValueError(f"model must simulate positive prices of all assets at all times, got {found.prices!r}")
        return found.prices

    def _sampled(self, generator: Generator, lane: int) -> int:
        count = self._is_set_up("num_starts")
        start = as_int("what a sampler returns", self._samplers[lane].sample(generator, count, self._episode_length))
        if not 0 <= start < count:
            raise ValueError(f"sampler must choose one of {count} episodes, 0 … {count - 1}, got {start!r}")
        return start

    def _draw(self, lanes: Iterable[int], draw: Callable[[Generator, int], Any]) -> list[tuple[int, Any]]:
        """What Python draws from the lanes' streams; those move on only if all goes well."""
        found, moved = [], []
        for lane in map(int, lanes):
            stream = self._streams.get(lane)
            original = self._foreign if stream is None else stream.generator
            generator = Generator(PCG64()) if original is None else deepcopy(original)
            if original is None:
                set_words(generator, self._rng[:, lane])
            found.append((lane, draw(generator, lane)))
            moved.append((lane, original, generator))
        for lane, original, generator in moved:
            if original is None:
                self._rng[:, lane] = words_of(generator)
            else:
                original.bit_generator.state = generator.bit_generator.state
        return found

    def step(self, actions: ActType, mask: Any = None) -> VecStepResult[ObsType]:  # noqa: D102 -- the base class's
        result = super().step(actions, mask)
        ended = np.zeros(self.num_envs, np.bool_)
        ended[result.final_lanes] = True
        self._restart_reward(ended)
        return result

    def _previews(self) -> Any:
        """The programs that look at a step before it is taken."""
        key = "previews", self.debug, self.math
        if key not in self._rollouts:
            from sekai.kernels.jit import bind, entry
            from sekai.vector.programs import own_functions, plain

            owner = f"{type(self).__module__}.{type(self).__qualname__}"
            lanes = own_functions(type(self), self.math, ("plan_lane", "growth_lane"))
            parts = {**self._program.parts, **lanes}
            programs = {name: bind(getattr(price_taker, name), owner, entry, **parts) for name in ("plan", "grow")}
            if self.debug:
                programs = {name: plain(program) for name, program in programs.items()}
            self._rollouts[key] = SimpleNamespace(**programs)
        return self._rollouts[key]


class PriceTakerEnv(KernelEnv[ObsType, ActType]):
    """One such environment.

    What an episode sampler remembers is the caller's: the env uses the very object it is given.
    """

    batch: ClassVar[type[PriceTakerVecEnv[Any, Any]]]
    _vec: PriceTakerVecEnv[Any, Any]

    def __init__(self, sampler: Any, **arguments: Any) -> None:
        super().__init__(sampler=sampler, **arguments)
        if isinstance(sampler, EpisodeSampler) and not isinstance(sampler, (RandomStart, FixedStart)):
            vec = self._vec
            vec._samplers = [sampler]
            vec._set_up(sampling=price_taker.SAMPLED)

    def _check_episode(self, action: Any) -> None:
        if not self._vec._started:
            raise ResetRequired()
        self._step_past_end()

    @property
    def timestamp(self) -> Any:
        """Time of the next decision: the history's, or the step of a simulation.

        Raises:
            ResetRequired: Before the first `reset`.
        """
        return self._of_episode("timestamp")

    @property
    def price_history(self) -> np.ndarray:
        """The prices of the episode up to now, a copy.

        Raises:
            ResetRequired: Before the first `reset`.
        """
        history: np.ndarray = self._of_episode("price_history")
        return history

    def _of_episode(self, name: str) -> Any:
        if not self._vec._started:
            raise ResetRequired()
        value = getattr(self._vec, name)[0]
        return value.item() if isinstance(value, np.number) else value


def checked_reward(reward: Any) -> RewardFunction:
    """A copy of a reward function; of `LogReturn` where there is none.

    Raises:
        TypeError: It is no reward function.
    """
    if reward is not None and not isinstance(reward, RewardFunction):
        raise TypeError(f"reward must be a RewardFunction, got {reward!r}")
    return LogReturn() if reward is None else deepcopy(reward)


def log_returns_of(prices: np.ndarray) -> np.ndarray:
    """Log returns from row to row of a history `(T, n)`, float32 `((T - 1) * n,)`."""
    returns = np.empty((max(len(prices) - 1, 0), prices.shape[1]), np.float32)
    if returns.size:
        history_returns(prices, returns)
    return returns.ravel()


def gbm_rows(model: GBM) -> np.ndarray:
    """A `GBM` as the kernels take it."""
    s0, drift, volatility, chol = model._terms()
    return np.vstack([s0, drift, volatility, chol.reshape(-1, len(s0))])


def check_counts(**counts: Any) -> list[int]:
    """Return counts as ints of at least 1.

    Raises:
        TypeError: One is not an integer.
        ValueError: One is less than 1, or so large that sums of them would not fit 64 bits.
    """
    found = {name: positive_int(name, count) for name, count in counts.items()}
    for name, count in found.items():
        if count >= 2**62:
            raise ValueError(f"{name} must be less than 2**62, got {count}")
    return list(found.values())


def per_lane(whose: str, values: Any, num_envs: int) -> np.ndarray:
    """Numbers that Python gave, one per lane.

    Raises:
        TypeError: They are no numbers.
        ValueError: There are more or fewer, or one is NaN.
    """
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{whose} must return numbers, got {values!r}")
    if array.shape not in ((), (num_envs,)):
        raise ValueError(f"{whose} must return one number per lane, shape ({num_envs},), got shape {array.shape}")
    if np.isnan(array).any():
        raise ValueError(f"{whose} must return numbers, got {array}")
    return np.broadcast_to(array.astype(np.float64), (num_envs,))
