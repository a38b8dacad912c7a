"""MountainCar: a car too weak for the hill gains speed in the valley (Moore, 1990).

Order of evaluation as in Gymnasium's `MountainCar-v0`. The track is sin(3 position), so gravity pulls with
cos(3 position).
"""

from sekai.kernels import random
from sekai.kernels.elementary import NEAR, all_within, sincos, sincos_near
from sekai.kernels.jit import at, kernel


class State:
    """One row of N values each."""

    position: float
    velocity: float  # per step


class Params:
    """Scalars for all lanes, or one value per lane."""

    goal_velocity: float = 0.0  # least velocity at the goal
    goal_position: float = 0.5  # from here on the car is at the goal
    min_position: float = -1.2  # of the wall
    max_position: float = 0.6  # where the road ends
    max_speed: float = 0.07  # a step
    force: float = 0.001  # speed that the engine adds in a step
    gravity: float = 0.0025  # speed that the steepest slope adds in a step


class Options:
    """Of one reset: the range of the first position."""

    low: float = -0.6
    high: float = -0.4


@kernel
def reset_lane(s, p, rng, i):
    """Draws: 1 uniform on [low, high), the position."""
    s.position[i] = random.uniform(rng, i, at(p.low, i), at(p.high, i))
    s.velocity[i] = 0.0


@kernel
def step_lane(s, p, rng, action, i):
    """Drive lane i for one step; any position."""
    _, cos = sincos(3.0 * s.position[i])
    return drive(s, p, action, i, cos)


@kernel
def step_block(s, p, rng, action, reward, terminated, truncated):
    """`step_lane` for a block; with a cheaper range reduction where all positions allow it."""
    if all_within(s.position, NEAR / 3.0):
        for i in range(reward.size):
            _, cos = sincos_near(3.0 * s.position[i])
            reward[i], terminated[i], truncated[i] = drive(s, p, action, i, cos)
    else:
        for i in range(reward.size):
            reward[i], terminated[i], truncated[i] = step_lane(s, p, rng, action, i)


@kernel
def drive(s, p, action, i, cos):
    """One step, given the cosine of 3 position. Action 0 pushes left, 2 right; 1 does not push.

    Returns:
        reward, terminated, truncated.
    """
    max_speed, min_position = at(p.max_speed, i), at(p.min_position, i)
    velocity = s.velocity[i] + ((action[i] - 1) * at(p.force, i) + cos * -at(p.gravity, i))
    velocity = min(max(velocity, -max_speed), max_speed)
    position = min(max(s.position[i] + velocity, min_position), at(p.max_position, i))
    at_wall = (position == min_position) & (velocity < 0.0)
    velocity = 0.0 if at_wall else velocity
    s.position[i], s.velocity[i] = position, velocity
    return -1.0, (position >= at(p.goal_position, i)) & (velocity >= at(p.goal_velocity, i)), False


@kernel
def observe_lane(s, p, obs, i):
    """Obs (float32, (N, 2)): position, velocity."""
    obs[i, 0] = s.position[i]
    obs[i, 1] = s.velocity[i]
