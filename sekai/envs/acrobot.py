"""Acrobot-v1: swing up two links by a torque at the joint between them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from sekai.envs.classic_control import ClassicControlEnv, ClassicControlVecEnv, Derived
from sekai.kernels.envs import acrobot
from sekai.spaces.box import Box
from sekai.spaces.discrete import Discrete

HIGH = np.array([1.0, 1.0, 1.0, 1.0, 4 * math.pi, 9 * math.pi], np.float32)
TORQUES = "torque_0", "torque_1", "torque_2"  # of each action


class AcrobotVecEnv(ClassicControlVecEnv[np.ndarray, np.ndarray]):
    """Batch of `AcrobotEnv`; every parameter may be `PerLane`."""

    State = acrobot.State
    Params = acrobot.Params
    Options = acrobot.Options
    reset_lane = acrobot.reset_lane
    step_lane = acrobot.step_lane
    step_block = acrobot.step_block
    observe_lane = acrobot.observe_lane
    observation_space = Box(-HIGH, HIGH, dtype=np.float32)
    action_space = Discrete(3)
    metadata = {"render_fps": 15}  # noqa: RUF012


class AcrobotEnv(ClassicControlEnv[np.ndarray, int]):
    """Swing the tip of two hanging links up by a torque at the joint between them, as Gymnasium's `Acrobot-v1`.

    Observation (float32, 6): cosine and sine of the first link's angle from hanging down, the same of the second link's
    angle from the direction of the first, and both angular speeds (rad/s). Action: 0, 1, 2 for the torque -1, 0, 1 N m.
    Reward -1 for each step but the terminating one. Start: each of the four uniform on [low, high), by default
    [-0.1, 0.1), rounded to float32. Terminates when the tip is more than a link's length above the upper joint. A step
    past termination goes on.

    Args:
        **params: Any parameter of `sekai.kernels.envs.acrobot.Params`; all are attributes too. `torque_noise_max` adds
            noise to the torque, drawn from the env's stream. `math` and `debug` are `sekai.KernelEnv`'s.
    """

    batch = AcrobotVecEnv
    metadata = {"render_fps": 15}  # noqa: RUF012
    _state_names = ("theta1", "theta2", "omega1", "omega2")

    def _torques(self) -> tuple[float, ...]:
        """Torques of the three actions, N m."""
        return tuple(getattr(self, name) for name in TORQUES)

    def _set_torques(self, torques: Sequence[float]) -> None:
        if len(torques) != len(TORQUES):
            raise ValueError(f"AVAIL_TORQUE must hold {len(TORQUES)} torques, got {torques!r}")
        params = self._vec._params
        checked = [params.check(name, torque) for name, torque in zip(TORQUES, torques, strict=True)]
        for name, torque in zip(TORQUES, checked, strict=True):
            setattr(self, name, torque)

    def _equations(self) -> str:
        """`"book"`: Sutton and Barto's equations; `"nips"`: those of the paper, which lack a term."""
        return "nips" if self.nips else "book"

    def _set_equations(self, name: str) -> None:
        if name not in ("book", "nips"):
            raise ValueError(f'book_or_nips must be "book" or "nips", got {name!r}')
        self.nips = name == "nips"

    AVAIL_TORQUE = Derived(_torques, _set_torques)
    book_or_nips = Derived(_equations, _set_equations)


def wrap(x: float, m: float, M: float) -> float:  # noqa: N803
    """Bring a number into [m, M] by adding or subtracting M - m again and again."""
    while x > M:
        x -= M - m
    while x < m:
        x += M - m
    return x


def bound(x: float, m: Any, M: float | None = None) -> float:  # noqa: N803
    """Clip a number to [m, M], or to the pair `m` if `M` is None."""
    low, high = m if M is None else (m, M)
    clipped: float = min(max(x, low), high)
    return clipped
