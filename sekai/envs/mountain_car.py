"""MountainCar-v0: get a weak car out of a valley, by pushes to the left or right."""

from __future__ import annotations

from typing import Any

import numpy as np

from sekai.envs.classic_control import ClassicControlEnv, ClassicControlVecEnv
from sekai.kernels.envs import mountain_car
from sekai.spaces.box import Box
from sekai.spaces.discrete import Discrete


class MountainCarVecEnv(ClassicControlVecEnv[np.ndarray, np.ndarray]):
    """Batch of `MountainCarEnv`; every parameter may be `PerLane`."""

    State = mountain_car.State
    Params = mountain_car.Params
    Options = mountain_car.Options
    reset_lane = mountain_car.reset_lane
    step_lane = mountain_car.step_lane
    step_block = mountain_car.step_block
    observe_lane = mountain_car.observe_lane
    observation_space = Box(np.array([-1.2, -0.07], np.float32), np.array([0.6, 0.07], np.float32), dtype=np.float32)
    action_space = Discrete(3)
    metadata = {"render_fps": 30}  # noqa: RUF012


class MountainCarEnv(ClassicControlEnv[np.ndarray, int]):
    """Drive a weak car out of a valley (Moore, 1990), as Gymnasium's `MountainCar-v0`.

    Observation (float32, 2): position, from -1.2 to 0.6, and velocity, from -0.07 to 0.07 a step. Action: 0 pushes
    left, 2 right, 1 does not push. Reward -1 for each step. Start: position uniform on [low, high), by default
    [-0.6, -0.4), at rest. Terminates at position 0.5 or beyond, unless the velocity is below `goal_velocity`. A wall
    at -1.2 stops the car. A step past termination goes on.

    Args:
        goal_velocity: Least velocity at the goal.
        **params: Any other parameter of `sekai.kernels.envs.mountain_car.Params`; all are attributes too.
            `math` and `debug` are `sekai.KernelEnv`'s.
    """

    batch = MountainCarVecEnv
    metadata = {"render_fps": 30}  # noqa: RUF012
    _state_names = ("position", "velocity")

    def __init__(self, goal_velocity: float = 0.0, **params: Any) -> None:
        super().__init__(goal_velocity=goal_velocity, **params)

    @property
    def low(self) -> np.ndarray:
        """Least position and velocity, float32 (2,)."""
        return np.array([self.min_position, -self.max_speed], np.float32)  # type: ignore[attr-defined]

    @property
    def high(self) -> np.ndarray:
        """Greatest position and velocity, float32 (2,)."""
        return np.array([self.max_position, self.max_speed], np.float32)  # type: ignore[attr-defined]

    @staticmethod
    def height(xs: Any) -> Any:
        """Height of the track at some positions."""
        return np.sin(3 * xs) * 0.45 + 0.55
