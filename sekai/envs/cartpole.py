"""CartPole-v1: balance a pole on a cart that is pushed left or right."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from sekai.envs.classic_control import ClassicControlEnv, ClassicControlVecEnv
from sekai.kernels.envs import cartpole
from sekai.spaces.box import Box
from sekai.spaces.discrete import Discrete

HIGH = np.array([4.8, np.inf, 0.41887903, np.inf], np.float32)


class CartPoleVecEnv(ClassicControlVecEnv[np.ndarray, np.ndarray]):
    """Batch of `CartPoleEnv`; every parameter may be `PerLane`."""

    State = cartpole.State
    Params = cartpole.Params
    Options = cartpole.Options
    reset_lane = cartpole.reset_lane
    step_lane = cartpole.step_lane
    step_block = cartpole.step_block
    observe_lane = cartpole.observe_lane
    observation_space = Box(-HIGH, HIGH, dtype=np.float32)
    action_space = Discrete(2)
    metadata = {"render_fps": 50}  # noqa: RUF012


class CartPoleEnv(ClassicControlEnv[np.ndarray, int]):
    """Balance a pole on a cart (Barto, Sutton and Anderson, 1983), as Gymnasium's `CartPole-v1`.

    Observation (float32, 4): position of the cart (m), its speed (m/s), angle of the pole from upright (rad), its
    angular speed (rad/s). Action: 0 pushes the cart left, 1 right. Start: each of the four uniform on [low, high), by
    default [-0.05, 0.05). Terminates when the cart is more than 2.4 m from the centre or the pole leans more than 12
    degrees. A step past termination goes on, warns once an episode, and is not rewarded.

    Args:
        sutton_barto_reward: Reward 0 for each step and -1 for the terminating one, instead of 1 for each step.
        **params: Any other parameter of `sekai.kernels.envs.cartpole.Params`; all are attributes too.
            `math` and `debug` are `sekai.KernelEnv`'s.
    """

    batch = CartPoleVecEnv
    metadata = {"render_fps": 50}  # noqa: RUF012
    _state_names = ("x", "x_dot", "theta", "theta_dot")

    def __init__(self, sutton_barto_reward: bool = False, **params: Any) -> None:
        super().__init__(sutton_barto_reward=sutton_barto_reward, **params)
        self._warned = False
        self._semi_implicit_name = "semi-implicit euler"

    @property
    def total_mass(self) -> float:
        """Mass of cart and pole, kg."""
        return self.masspole + self.masscart  # type: ignore[attr-defined,no-any-return]

    @property
    def polemass_length(self) -> float:
        """Mass of the pole times half its length, kg m."""
        return self.masspole * self.length  # type: ignore[attr-defined,no-any-return]

    @property
    def kinematics_integrator(self) -> str:
        """`"euler"` (positions move with the old speeds); anything else is semi-implicit Euler (with the new ones)."""
        return "euler" if self.integrator == cartpole.EULER else self._semi_implicit_name

    @kinematics_integrator.setter
    def kinematics_integrator(self, name: str) -> None:
        if name == "euler":
            self.integrator = cartpole.EULER
        else:
            self.integrator = cartpole.SEMI_IMPLICIT
            self._semi_implicit_name = name

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> Any:
        """Start an episode; `options` may hold `low` and `high`, the range of the first state's values."""
        result = super().reset(seed=seed, options=options)
        self._warned = False
        return result

    def _step_past_end(self) -> None:
        if not self._warned:
            self._warned = True
            warnings.warn(
                "stepping a CartPole that has terminated: call reset(); its rewards mean nothing", stacklevel=4
            )
