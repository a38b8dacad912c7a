"""MountainCarContinuous: a car too weak for the hill gains speed in the valley, with a force of any strength.

Order of evaluation and precision as in Gymnasium's `MountainCarContinuous-v0`: the state is float64 up to the first
step and float32 from then on, and what a step adds to it has the action's precision, as NumPy mixes the two.
"""

import numpy as np

from sekai.kernels import random
from sekai.kernels.elementary import NEAR, all_within, sincos, sincos_near, square
from sekai.kernels.jit import at, kernel
from sekai.kernels.precision import is_float32, like, rounded

GRAVITY = 0.0025


class State:
    """One row of N values each."""

    position: float
    velocity: float  # per step
    is_float32: bool  # whether position and velocity count as float32


class Params:
    """Scalars for all lanes, or one value per lane."""

    goal_velocity: float = 0.0  # least velocity at the goal
    goal_position: float = 0.45  # from here on the car is at the goal
    min_position: float = -1.2  # of the wall
    max_position: float = 0.6  # where the road ends
    max_speed: float = 0.07  # a step
    min_action: float = -1.0  # smaller actions are clipped to it
    max_action: float = 1.0  # larger ones
    power: float = 0.0015  # speed that an action of 1 adds in a step


class Options:
    """Of one reset: the range of the first position."""

    low: float = -0.6
    high: float = -0.4


@kernel
def reset_lane(s, p, rng, i):
    """Draws: 1 uniform on [low, high), the position."""
    s.position[i] = random.uniform(rng, i, at(p.low, i), at(p.high, i))
    s.velocity[i] = 0.0
    s.is_float32[i] = False


@kernel
def step_lane(s, p, rng, action, i):
    """Drive lane i for one step; any position."""
    _, cos = sincos(slope_angle(s, i))
    return drive(s, p, action, i, cos)


@kernel
def step_block(s, p, rng, action, reward, terminated, truncated):
    """`step_lane` for a block; with a cheaper range reduction where all positions allow it."""
    if all_within(s.position, NEAR / 4.0):
        for i in range(reward.size):
            _, cos = sincos_near(slope_angle(s, i))
            reward[i], terminated[i], truncated[i] = drive(s, p, action, i, cos)
    else:
        for i in range(reward.size):
            reward[i], terminated[i], truncated[i] = step_lane(s, p, rng, action, i)


@kernel
def slope_angle(s, i):
    """3 position, in the precision of the state."""
    return rounded(3.0 * s.position[i], s.is_float32[i] != 0)


@kernel
def drive(s, p, action, i, cos):
    """One step, given the cosine of `slope_angle`. The force is the action, clipped.

    Returns:
        reward, terminated, truncated.
    """
    force, state_is_float32 = action[i, 0], s.is_float32[i] != 0
    low, high, power = at(p.min_action, i), at(p.max_action, i), at(p.power, i)
    pull = GRAVITY * cos
    # A force at its limit is a Python float, which takes on the precision of the state.
    too_low, too_high = force < like(force, low), force > like(force, high)
    change = np.float64(force * like(force, power) - like(force, pull))
    change = low * power - pull if too_low else change
    change = high * power - pull if too_high else change
    narrow = state_is_float32 & (is_float32(force) | too_low | too_high)
    velocity = rounded(s.velocity[i] + rounded(change, narrow), narrow)

    max_speed = rounded(at(p.max_speed, i), narrow)
    too_fast, too_slow = velocity > max_speed, velocity < -max_speed
    narrow |= state_is_float32 & (too_fast | too_slow)  # so is a velocity at its limit
    velocity = max_speed if too_fast else velocity
    velocity = rounded(-max_speed if too_slow else velocity, narrow)

    min_position, max_position = rounded(at(p.min_position, i), narrow), rounded(at(p.max_position, i), narrow)
    position = rounded(s.position[i] + velocity, narrow)
    position = min(max(position, min_position), max_position)
    at_wall = (position == min_position) & (velocity < 0.0)
    velocity = 0.0 if at_wall else velocity

    terminated = position >= rounded(at(p.goal_position, i), narrow)
    terminated &= velocity >= rounded(at(p.goal_velocity, i), narrow)
    s.position[i], s.velocity[i], s.is_float32[i] = rounded(position, True), rounded(velocity, True), True
    return (100.0 if terminated else 0.0) - square(np.float64(force)) * 0.1, terminated, False


@kernel
def observe_lane(s, p, obs, i):
    """Obs (float32, (N, 2)): position, velocity."""
    obs[i, 0] = s.position[i]
    obs[i, 1] = s.velocity[i]
