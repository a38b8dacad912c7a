"""MountainCarContinuous-v0: get a weak car out of a valley, with a force of any strength."""

from __future__ import annotations

from typing import Any

import numpy as np

from sekai.envs.classic_control import ClassicControlEnv, ClassicControlVecEnv
from sekai.envs.mountain_car import MountainCarEnv, MountainCarVecEnv
from sekai.kernels.envs import continuous_mountain_car
from sekai.spaces.box import Box


class ContinuousMountainCarVecEnv(ClassicControlVecEnv[np.ndarray, np.ndarray]):
    """Batch of `ContinuousMountainCarEnv`; every parameter may be `PerLane`."""

    State = continuous_mountain_car.State
    Params = continuous_mountain_car.Params
    Options = continuous_mountain_car.Options
    reset_lane = continuous_mountain_car.reset_lane
    step_lane = continuous_mountain_car.step_lane
    step_block = continuous_mountain_car.step_block
    observe_lane = continuous_mountain_car.observe_lane
    observation_space = MountainCarVecEnv.observation_space
    action_space = Box(-1.0, 1.0, (1,), np.float32)
    clips_actions = True
    metadata = {"render_fps": 30}  # noqa: RUF012


class ContinuousMountainCarEnv(ClassicControlEnv[np.ndarray, np.ndarray]):
    """Drive a weak car out of a valley with a force of any strength, as Gymnasium's `MountainCarContinuous-v0`.

    Observation (float32, 2): position, from -1.2 to 0.6, and velocity, from -0.07 to 0.07 a step. Action (1 number):
    the force, clipped to [-1, 1]; any finite number is accepted, and of several the first counts. Reward: -0.1 times
    the square of the action as it was given, and 100 for the terminating step. Start: position uniform on [low, high),
    by default [-0.6, -0.4), at rest. Terminates at position 0.45 or beyond, unless the velocity is below
    `goal_velocity`. A wall at -1.2 stops the car. A step past termination goes on.

    As in Gymnasium the state is float64 up to the first step, float32 from then on, and float32 actions are calculated
    with in float32.

    Args:
        goal_velocity: Least velocity at the goal.
        **params: Any other parameter of `sekai.kernels.envs.continuous_mountain_car.Params`; all are attributes too.
            `math` and `debug` are `sekai.KernelEnv`'s.
    """

    batch = ContinuousMountainCarVecEnv
    metadata = {"render_fps": 30}  # noqa: RUF012
    _state_names = ("position", "velocity")

    def __init__(self, goal_velocity: float = 0.0, **params: Any) -> None:
        super().__init__(goal_velocity=goal_velocity, **params)

    low_state = MountainCarEnv.low
    high_state = MountainCarEnv.high
    height = staticmethod(MountainCarEnv.height)
