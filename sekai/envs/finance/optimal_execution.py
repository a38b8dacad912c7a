"""OptimalExecution-v0: sell many shares in a given time."""

from __future__ import annotations

from typing import Any

import numpy as np

from sekai.envs.finance.horizon import HorizonEnv, HorizonVecEnv, state_property
from sekai.finance.arguments import finite
from sekai.kernels.envs import optimal_execution
from sekai.policies import Policy
from sekai.spaces.box import Box

Default = optimal_execution.Params


class OptimalExecutionVecEnv(HorizonVecEnv[np.ndarray, np.ndarray]):
    """Batch of `OptimalExecutionEnv`, whose arguments it takes, each for all lanes or `PerLane`.

    Args:
        num_envs: N, at least 1.
        initial_inventory, s0, sigma, total_time, n_steps, permanent_impact, temporary_impact, fixed_cost,
            risk_aversion, tau: See `OptimalExecutionEnv`.
        **batch: Arguments of `KernelVecEnv`.
    """

    State = optimal_execution.State
    Params = optimal_execution.Params
    Info = optimal_execution.Info
    reset_lane = optimal_execution.reset_lane
    step_lane = optimal_execution.step_lane
    step_block = optimal_execution.step_block
    observe_lane = optimal_execution.observe_lane
    inform_lane = optimal_execution.inform_lane
    read_net_impact = optimal_execution.read_net_impact
    read_trajectory = optimal_execution.read_trajectory
    read_fractions = optimal_execution.read_fractions
    read_cost = optimal_execution.read_cost
    observation_space = Box(np.array([0.0, 0.0, -np.inf]), np.array([1.0, 1.0, np.inf]), dtype=np.float32)
    action_space = Box(0.0, 1.0, (1,), np.float32)
    time_of_step = "tau"
    symbols = {  # noqa: RUF012
        "X0": "initial_inventory",
        "gamma": "permanent_impact",
        "eta": "temporary_impact",
        "epsilon": "fixed_cost",
    }
    ranges = {  # noqa: RUF012
        "initial_inventory": {"above": 0.0},
        "s0": {"above": 0.0},
        "sigma": {"least": 0.0},
        "total_time": {"above": 0.0},
        "n_steps": {"least": 1},
        "permanent_impact": {"least": 0.0},
        "temporary_impact": {"above": 0.0},
        "fixed_cost": {"least": 0.0},
        "risk_aversion": {"least": 0.0},
        "tau": {"above": 0.0},
    }
    lane_values = "elapsed_steps", "inventory", "mid", "shortfall"
    metadata = {"render_fps": 5}  # noqa: RUF012

    inventory = state_property("inventory", "Shares that are left to sell, float64 `(N,)`.")
    mid = state_property("mid", "Mid prices, float64 `(N,)`.")
    shortfall = state_property(
        "shortfall", "What the shares sold would have brought at `s0`, less what they did, float64 `(N,)`."
    )

    def __init__(
        self,
        num_envs: int,
        *,
        initial_inventory: Any = Default.initial_inventory,
        s0: Any = Default.s0,
        sigma: Any = Default.sigma,
        total_time: Any = Default.total_time,
        n_steps: Any = Default.n_steps,
        permanent_impact: Any = Default.permanent_impact,
        temporary_impact: Any = Default.temporary_impact,
        fixed_cost: Any = Default.fixed_cost,
        risk_aversion: Any = Default.risk_aversion,
        tau: Any = None,
        **batch: Any,
    ) -> None:
        super().__init__(
            num_envs, initial_inventory=initial_inventory, s0=s0, sigma=sigma, total_time=total_time, n_steps=n_steps,
            permanent_impact=permanent_impact, temporary_impact=temporary_impact, fixed_cost=fixed_cost,
            risk_aversion=risk_aversion, tau=tau, **batch,
        )  # fmt: skip
        self._check_impact()
        self._state_row("inventory")[:] = self._param_rows.get("initial_inventory")
        self._state_row("mid")[:] = self._param_rows.get("s0")
        self._state_row("execution_price")[:] = np.nan

    def _check_impact(self) -> None:
        """Check that there is a best trajectory.

        Raises:
            ValueError: There is none.
        """
        net = self._read("read_net_impact", 1)[:, 0]
        if not (net > 0.0).all():
            raise ValueError(
                "temporary_impact must be greater than permanent_impact * tau / 2, "
                f"but their difference is {net.min():g} in lane {int(net.argmin())}"
            )

    def almgren_chriss_trajectory(self) -> np.ndarray:
        """The trajectory of Almgren and Chriss, see `OptimalExecutionEnv`.

        Returns:
            float64 `(n_steps + 1,)`; `(N, n_steps + 1)` where parameters differ by lane, with zeros after the last step
            where it is `n_steps` that differs.

        Raises:
            ValueError: There is none: parameters have been changed so that `temporary_impact` is too small.
        """
        trajectories = self._trajectories()
        return trajectories[0] if self._alike else trajectories

    def almgren_chriss_actions(self) -> np.ndarray:
        """The actions that follow it: what to sell of what is left, in each step.

        Returns:
            float32 `(n_steps, 1)`; `(N, n_steps, 1)` where parameters differ by lane, with ones after the last step.

        Raises:
            ValueError: As `almgren_chriss_trajectory`.
        """
        fractions = self._fractions().astype(np.float32)[..., np.newaxis]
        return fractions[0] if self._alike else fractions

    def expected_shortfall(self, trades: Any) -> tuple[Any, Any]:
        """Mean and variance of the shortfall if so many shares are sold in each step, see `OptimalExecutionEnv`.

        Args:
            trades: Shares, `(T,)` for all lanes or `(N, T)`.

        Returns:
            Two floats; two arrays `(N,)` where trades or parameters differ by lane.

        Raises:
            TypeError, ValueError: They are not finite numbers, or of another shape.
        """
        given = finite("trades", trades)
        one = given.ndim == 1 and self._alike
        if given.ndim not in (1, 2) or given.shape[:-1] not in ((), (self.num_envs,)):
            raise ValueError(f"trades must have shape (T,) or ({self.num_envs}, T), got {given.shape}")
        lanes = 1 if one else self.num_envs
        mean, variance = self._read("read_cost", 2, np.broadcast_to(given, (lanes, given.shape[-1])), lanes).T
        return (float(mean[0]), float(variance[0])) if one else (mean.copy(), variance.copy())

    def _trajectories(self) -> np.ndarray:
        """A trajectory per lane, or the one of all."""
        self._check_impact()
        size = 1 + int(np.max(self._param_rows.get("n_steps")))
        return self._read("read_trajectory", size, lanes=1 if self._alike else None)

    def _fractions(self) -> np.ndarray:
        trajectories = self._trajectories()
        return self._read("read_fractions", trajectories.shape[1] - 1, trajectories, len(trajectories))


class OptimalExecutionEnv(HorizonEnv[np.ndarray, np.ndarray]):
    """Sell many shares in a given time: fast enough for the risk, slowly enough for the impact on the price.

    The model of Almgren & Chriss, *Optimal execution of portfolio transactions*, Journal of Risk 3(2), 2000, with
    linear impact (section 1) and parameters in units of shares, days and money. In a step

    - `n` shares are sold at `mid - epsilon - eta n / tau`, the temporary impact; in the last step, all that are left;
    - the mid price moves by `sigma sqrt(tau)` times a standard normal draw, less the permanent impact `gamma n`.

    Observation (float32, 3): shares left as a share of `initial_inventory`; the share of the steps that is left; the
    move of the mid price since the start, in units of `sigma sqrt(total_time)`. Without volatility the latter is 0: the
    mid price is then `s0 - gamma * (initial_inventory - inventory)`, which the first number tells.
    Action (1 number): which fraction of what is left to sell, clipped to [0, 1]; any finite number is accepted.
    Reward: `n (price - s0) - risk_aversion sigma^2 tau inventory^2`, with the shares left after the step, in basis
    points of `initial_inventory * s0`. Terminates when nothing is left (less than 1e-9 of all counts as nothing) and
    after `n_steps` steps; another one raises `ResetRequired`. A step draws a normal; a reset draws nothing.

    Infos: shares_sold, execution_price, inventory, mid_price, implementation_shortfall (which is the attribute
    `shortfall`: shares sold times `s0`, less what they brought), shortfall_bps (the same in basis points of
    `initial_inventory * s0`), timestamp, dt.

    Args:
        initial_inventory: Shares to sell; `X0` too, as an attribute.
        s0: First mid price.
        sigma: Standard deviation of the mid price over one unit of time.
        total_time: Length of an episode.
        n_steps: Steps of an episode.
        permanent_impact: Price per share; `gamma` too, as an attribute.
        temporary_impact: Price per share sold per unit of time; `eta` too, as an attribute.
        fixed_cost: Price: half the spread, and fees; `epsilon` too, as an attribute.
        risk_aversion: Weight of the variance of the shortfall against its mean, in rewards and in the trajectory.
        tau: Time between steps; None for `total_time / n_steps`, which later changes of these do not change.
        **batch: `debug` and `math`, see `sekai.KernelEnv`.

    Raises:
        TypeError: An argument is not a number.
        ValueError: An argument is out of range, or not an integer where one is needed; or `temporary_impact` is not
            greater than `permanent_impact * tau / 2`.
    """

    batch = OptimalExecutionVecEnv
    metadata = {"render_fps": 5}  # noqa: RUF012
    _vec: OptimalExecutionVecEnv

    def __init__(
        self,
        *,
        initial_inventory: float = Default.initial_inventory,
        s0: float = Default.s0,
        sigma: float = Default.sigma,
        total_time: float = Default.total_time,
        n_steps: int = Default.n_steps,
        permanent_impact: float = Default.permanent_impact,
        temporary_impact: float = Default.temporary_impact,
        fixed_cost: float = Default.fixed_cost,
        risk_aversion: float = Default.risk_aversion,
        tau: float | None = None,
        **batch: Any,
    ) -> None:
        super().__init__(
            initial_inventory=initial_inventory, s0=s0, sigma=sigma, total_time=total_time, n_steps=n_steps,
            permanent_impact=permanent_impact, temporary_impact=temporary_impact, fixed_cost=fixed_cost,
            risk_aversion=risk_aversion, tau=tau, **batch,
        )  # fmt: skip

    def almgren_chriss_trajectory(self) -> np.ndarray:
        """Shares left at each time of the trajectory with the least mean + risk_aversion * variance of the shortfall.

        `x_j = X0 sinh(kappa (T - t_j)) / sinh(kappa T)` with `2 (cosh(kappa tau) - 1) / tau^2 = risk_aversion sigma^2 /
        (eta - gamma tau / 2)`: section 2.2 of the paper; a straight line where kappa is 0.

        Returns:
            float64 `(n_steps + 1,)`, from `initial_inventory` to 0.

        Raises:
            ValueError: There is none: parameters have been changed so that `temporary_impact` is too small.
        """
        trajectory: np.ndarray = self._vec._trajectories()[0]
        return trajectory

    def almgren_chriss_actions(self) -> np.ndarray:
        """The actions that follow it, float32 `(n_steps, 1)`: what to sell of what is left, in each step.

        Raises:
            ValueError: As `almgren_chriss_trajectory`.
        """
        actions: np.ndarray = self._vec._fractions()[0].astype(np.float32)[:, np.newaxis]
        return actions

    def expected_shortfall(self, trades: Any) -> tuple[float, float]:
        """Mean and variance of the shortfall if so many shares are sold in each step (section 1.4 of the paper).

        `gamma X0^2 / 2 + epsilon sum |n| + (eta - gamma tau / 2) / tau * sum n^2`, and `sigma^2 tau sum x^2` over the
        shares `x` that are left after each step.

        Args:
            trades: Shares, `(T,)`.

        Raises:
            TypeError, ValueError: They are not finite numbers, or of another shape.
        """
        given = finite("trades", trades)
        if given.ndim != 1:
            raise ValueError(f"trades must have shape (T,), got {given.shape}")
        mean, variance = self._vec.expected_shortfall(given[np.newaxis])
        return float(mean[0]), float(variance[0])


class AlmgrenChriss(Policy):
    """The schedule of Almgren and Chriss as a compiled policy, for fused rollouts.

        vec = sekai.make_vec("OptimalExecution-v0", 4_096)
        result = sekai.rollout(vec, AlmgrenChriss(vec), 25)

    Args:
        vec: An `OptimalExecutionVecEnv`, whose parameters it takes, of each lane.

    Raises:
        TypeError: `vec` is something else.
    """

    uses_streams = False
    always_valid = True
    act_lane = optimal_execution.sell_on_schedule

    def __init__(self, vec: OptimalExecutionVecEnv) -> None:
        if not isinstance(vec, OptimalExecutionVecEnv):
            raise TypeError(f"vec must be an OptimalExecutionVecEnv, got {vec!r}")
        fractions = vec._fractions()
        n_steps = np.broadcast_to(vec._param_rows.get("n_steps"), len(fractions))
        super().__init__(np.column_stack([n_steps, fractions]))
