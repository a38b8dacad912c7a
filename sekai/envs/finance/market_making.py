"""MarketMaking-v0: quote a bid and an ask around a mid price."""

from __future__ import annotations

from typing import Any

import numpy as np

from sekai.envs.finance.horizon import HorizonEnv, HorizonVecEnv, state_property
from sekai.finance.arguments import finite
from sekai.kernels.envs import market_making
from sekai.policies import Policy
from sekai.spaces.box import Box

Default = market_making.Params


class MarketMakingVecEnv(HorizonVecEnv[np.ndarray, np.ndarray]):
    """Batch of `MarketMakingEnv`, whose arguments it takes, each for all lanes or `PerLane`.

    `action_space` is bounded by the largest `max_offset` that a lane was made with.

    Args:
        num_envs: N, at least 1.
        s0, sigma, total_time, n_steps, fill_intensity, fill_decay, risk_aversion, max_inventory, order_size,
            max_offset, dt: See `MarketMakingEnv`.
        **batch: Arguments of `KernelVecEnv`.
    """

    State = market_making.State
    Params = market_making.Params
    Info = market_making.Info
    reset_lane = market_making.reset_lane
    step_lane = market_making.step_lane
    step_block = market_making.step_block
    observe_lane = market_making.observe_lane
    inform_lane = market_making.inform_lane
    read_wealth = market_making.read_wealth
    read_time_left = market_making.read_time_left
    read_fill_probability = market_making.read_fill_probability
    read_quote = market_making.read_quote
    read_weights = market_making.read_weights
    observation_space = Box(np.array([-1.0, 0.0]), np.array([1.0, 1.0]), dtype=np.float32)
    action_space = Box(0.0, Default.max_offset, (2,), np.float32)
    time_of_step = "dt"
    symbols = {"A": "fill_intensity", "k": "fill_decay"}  # noqa: RUF012
    ranges = {  # noqa: RUF012
        "sigma": {"least": 0.0},
        "total_time": {"above": 0.0},
        "n_steps": {"least": 1},
        "fill_intensity": {"above": 0.0},
        "fill_decay": {"above": 0.0},
        "risk_aversion": {"least": 0.0},
        "max_inventory": {"least": 1},
        "order_size": {"least": 1},
        "max_offset": {"least": 0.0},
        "dt": {"above": 0.0},
    }
    lane_values = (
        "elapsed_steps", "time_remaining", "mid", "inventory", "cash", "wealth",
        "bid", "ask", "bid_filled", "ask_filled",
    )  # fmt: skip
    metadata = {"render_fps": 20}  # noqa: RUF012

    mid = state_property("mid", "Mid prices, float64 `(N,)`.")
    inventory = state_property("inventory", "Shares held, negative if short, int64 `(N,)`.")
    cash = state_property("cash", "Cash, float64 `(N,)`.")
    bid = state_property("bid", "Bids of the last step, float64 `(N,)`; NaN before the first of an episode.")
    ask = state_property("ask", "Asks of the last step, float64 `(N,)`; NaN before the first of an episode.")
    bid_filled = state_property("bid_filled", "Whether the bid of the last step was filled, bool `(N,)`.")
    ask_filled = state_property("ask_filled", "Whether the ask of the last step was filled, bool `(N,)`.")

    def __init__(
        self,
        num_envs: int,
        *,
        s0: Any = Default.s0,
        sigma: Any = Default.sigma,
        total_time: Any = Default.total_time,
        n_steps: Any = Default.n_steps,
        fill_intensity: Any = Default.fill_intensity,
        fill_decay: Any = Default.fill_decay,
        risk_aversion: Any = Default.risk_aversion,
        max_inventory: Any = Default.max_inventory,
        order_size: Any = Default.order_size,
        max_offset: Any = Default.max_offset,
        dt: Any = None,
        **batch: Any,
    ) -> None:
        super().__init__(
            num_envs, s0=s0, sigma=sigma, total_time=total_time, n_steps=n_steps, fill_intensity=fill_intensity,
            fill_decay=fill_decay, risk_aversion=risk_aversion, max_inventory=max_inventory, order_size=order_size,
            max_offset=max_offset, dt=dt, **batch,
        )  # fmt: skip
        self._use_actions(Box(0.0, float(np.max(self._param_rows.get("max_offset"))), (2,), np.float32))
        self._state_row("mid")[:] = self._param_rows.get("s0")
        self._state_row("bid")[:] = self._state_row("ask")[:] = np.nan

    @property
    def wealth(self) -> np.ndarray:
        """Cash and what the shares are worth at the mid price, float64 `(N,)`."""
        return self._read("read_wealth", 1)[:, 0]

    @property
    def time_remaining(self) -> np.ndarray:
        """Time to the end of the episodes, float64 `(N,)`."""
        return self._read("read_time_left", 1)[:, 0]

    def fill_probability(self, distance: Any) -> np.ndarray:
        """Probabilities that orders at a distance from the mid price are filled in one step: 1 - exp(-A exp(-k d) dt).

        Args:
            distance: A number, or an array `(N, …)`.

        Returns:
            float64 `(N, …)`.
        """
        distances = finite("distance", distance)
        distances = np.broadcast_to(distances, (self.num_envs, *distances.shape[1:]))
        rows = distances.reshape(self.num_envs, -1)
        return self._read("read_fill_probability", rows.shape[1], rows).reshape(distances.shape)

    def avellaneda_stoikov_action(self) -> np.ndarray:
        """What Avellaneda and Stoikov would quote in each lane now, float32 `(N, 2)`; see `MarketMakingEnv`."""
        return self._read("read_quote", 2).astype(np.float32)


class MarketMakingEnv(HorizonEnv[np.ndarray, np.ndarray]):
    """Quote a bid and an ask around a mid price, earn the spread, and hold little inventory.

    The model of Avellaneda & Stoikov, *High-frequency trading in a limit order book*, Quantitative Finance 8(3), 2008,
    with the parameters of their numerical experiments (section 3.3). In a step

    - the bid is placed `b` below the mid price and the ask `a` above it;
    - an order at distance `d` is filled with probability `1 - exp(-A exp(-k d) dt)`, bid and ask independently, unless
      the inventory from before the step would leave its limits;
    - the mid price moves by `sigma sqrt(dt)` times a standard normal draw.

    Observation (float32, 2): the inventory as a share of `max_inventory`, and the share of the steps that is left.
    Action (2 numbers): the distances `b` and `a`, clipped to [0, max_offset]; any two finite numbers are accepted.
    Reward: the change of wealth, `cash + inventory * mid`, less `risk_aversion / 2 * sigma^2 * dt * inventory^2` with
    the inventory after the fills. Terminates after `n_steps` steps; another one raises `ResetRequired`. Start: no
    shares and no cash. A step draws two uniforms, for bid and ask, and then a normal; a reset draws nothing.

    Infos: mid_price, inventory, cash, wealth, bid, ask, bid_filled, ask_filled, timestamp, dt. All but the last two
    are attributes too, `mid_price` as `mid`.

    Args:
        s0: First mid price.
        sigma: Standard deviation of the mid price over one unit of time.
        total_time: Length of an episode.
        n_steps: Steps of an episode.
        fill_intensity: Orders that arrive per unit of time at the mid price; `A` too, as an attribute.
        fill_decay: How fast that falls with the distance from it, per unit of price; `k` too, as an attribute.
        risk_aversion: Weight of the inventory's risk, in rewards and in `avellaneda_stoikov_action`.
        max_inventory: Limit of the inventory, long or short, in shares.
        order_size: Shares of an order.
        max_offset: Largest distance of a quote from the mid price.
        dt: Time between steps; None for `total_time / n_steps`, which later changes of these do not change.
        **batch: `debug` and `math`, see `sekai.KernelEnv`.

    Raises:
        TypeError: An argument is not a number.
        ValueError: An argument is out of range, or not an integer where one is needed.
    """

    batch = MarketMakingVecEnv
    metadata = {"render_fps": 20}  # noqa: RUF012
    _vec: MarketMakingVecEnv

    def __init__(
        self,
        *,
        s0: float = Default.s0,
        sigma: float = Default.sigma,
        total_time: float = Default.total_time,
        n_steps: int = Default.n_steps,
        fill_intensity: float = Default.fill_intensity,
        fill_decay: float = Default.fill_decay,
        risk_aversion: float = Default.risk_aversion,
        max_inventory: int = Default.max_inventory,
        order_size: int = Default.order_size,
        max_offset: float = Default.max_offset,
        dt: float | None = None,
        **batch: Any,
    ) -> None:
        super().__init__(
            s0=s0, sigma=sigma, total_time=total_time, n_steps=n_steps, fill_intensity=fill_intensity,
            fill_decay=fill_decay, risk_aversion=risk_aversion, max_inventory=max_inventory, order_size=order_size,
            max_offset=max_offset, dt=dt, **batch,
        )  # fmt: skip

    def fill_probability(self, distance: Any) -> Any:
        """Probability that an order at a distance from the mid price is filled in one step: 1 - exp(-A exp(-k d) dt).

        Args:
            distance: A number or an array.

        Returns:
            A float, or an array of the same shape.
        """
        found = self._vec.fill_probability(finite("distance", distance)[np.newaxis])[0]
        return float(found) if found.ndim == 0 else found

    def avellaneda_stoikov_action(self) -> np.ndarray:
        """What Avellaneda and Stoikov would quote now, float32 `(2,)`: an action.

        With the time that is left, `tau`, the reservation price lies `inventory * risk_aversion * sigma^2 * tau` below
        the mid price, and the spread around it is `risk_aversion * sigma^2 * tau + 2 / risk_aversion *
        log(1 + risk_aversion / k)` (their section 3.2), or `2 / k` without risk aversion; clipped to [0, max_offset].
        """
        action: np.ndarray = self._vec.avellaneda_stoikov_action()[0]
        return action


class AvellanedaStoikov(Policy):
    """The quotes of Avellaneda and Stoikov as a compiled policy, for fused rollouts.

        vec = sekai.make_vec("MarketMaking-v0", 4_096)
        result = sekai.rollout(vec, AvellanedaStoikov(vec), 200)

    Args:
        vec: A `MarketMakingVecEnv`, whose parameters it takes, of each lane.

    Raises:
        TypeError: `vec` is something else.
    """

    uses_streams = False
    always_valid = True
    act_lane = market_making.quote_as_observed

    def __init__(self, vec: MarketMakingVecEnv) -> None:
        if not isinstance(vec, MarketMakingVecEnv):
            raise TypeError(f"vec must be a MarketMakingVecEnv, got {vec!r}")
        super().__init__(vec._read("read_weights", 5, lanes=1 if vec._alike else None))
