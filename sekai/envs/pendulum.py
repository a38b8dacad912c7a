"""Pendulum-v1: swing a pendulum up and hold it there."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sekai.envs.classic_control import ClassicControlEnv, ClassicControlVecEnv
from sekai.kernels.envs import pendulum
from sekai.spaces.box import Box

HIGH = np.array([1.0, 1.0, 8.0], np.float32)


class PendulumVecEnv(ClassicControlVecEnv[np.ndarray, np.ndarray]):
    """Batch of `PendulumEnv`; every parameter may be `PerLane`."""

    State = pendulum.State
    Params = pendulum.Params
    Options = pendulum.Options
    reset_lane = pendulum.reset_lane
    step_lane = pendulum.step_lane
    step_block = pendulum.step_block
    observe_lane = pendulum.observe_lane
    observation_space = Box(-HIGH, HIGH, dtype=np.float32)
    action_space = Box(-2.0, 2.0, (1,), np.float32)
    clips_actions = True
    metadata = {"render_fps": 30}  # noqa: RUF012

    @classmethod
    def _check_start(cls, options: dict[str, Any]) -> None:
        for name, value in options.items():
            if not math.isfinite(2.0 * float(value)):
                raise OverflowError(f"options[{name!r}] must be finite, got {value!r}")
            if value < 0:
                raise ValueError(f"options[{name!r}] must not be negative, got {value!r}")


class PendulumEnv(ClassicControlEnv[np.ndarray, np.ndarray]):
    """Swing a pendulum up and hold it there, with a torque too weak to do it in one go, as Gymnasium's `Pendulum-v1`.

    Observation (float32, 3): cosine and sine of the angle from upright, and the angular speed (rad/s). Action (1
    number): the torque (N m), clipped to [-2, 2]; any finite number is accepted, and of several the first counts.
    Reward: -(angle^2 + 0.1 speed^2 + 0.001 torque^2), with angle and speed before the step, and the angle in
    [-pi, pi). Start: the angle uniform on [-x_init, x_init), by default [-pi, pi), the speed on [-y_init, y_init), by
    default [-1, 1). Never terminates. As in Gymnasium float32 actions are calculated with in float32.

    Args:
        g: Gravity, m/s^2.
        **params: Any other parameter of `sekai.kernels.envs.pendulum.Params`; all are attributes too.
            `math` and `debug` are `sekai.KernelEnv`'s.
    """

    batch = PendulumVecEnv
    metadata = {"render_fps": 30}  # noqa: RUF012
    _state_names = ("theta", "theta_dot")

    def __init__(self, g: float = 10.0, **params: Any) -> None:
        super().__init__(g=g, **params)

    @property
    def last_u(self) -> float | None:
        """Torque of the last step after clipping, N m; None before the first step of an episode."""
        u = float(self._vec._state_row("last_u")[0])
        return u if self._vec._started and not math.isnan(u) else None


def angle_normalize(x: Any) -> Any:
    """Angles (rad) brought into [-pi, pi) by whole turns."""
    return (x + np.pi) % (2 * np.pi) - np.pi
