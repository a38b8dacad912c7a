"""Pendulum: swing a pendulum up and hold it there, with a torque too weak to do it in one go.

Order of evaluation and precision as in Gymnasium's `Pendulum-v1`: what the action goes into has its precision,
float32 or float64, and the rest is float64.
"""

import math

import numpy as np

from sekai.kernels import random
from sekai.kernels.elementary import NEAR, all_within, sincos, sincos_near, square
from sekai.kernels.jit import at, kernel
from sekai.kernels.precision import like

PI, TURN = math.pi, 2.0 * math.pi  # rad
# TURN = HIGH + LOW; HIGH has 35 bits, so that its multiples up to NEAR are exact.
TURN_HIGH = 6.283185307169333
TURN_LOW = TURN - TURN_HIGH


class State:
    """One row of N values each."""

    theta: float  # angle from upright, rad
    theta_dot: float  # rad/s
    last_u: float  # torque of the last step, N m; NaN before the first of an episode


class Params:
    """Scalars for all lanes, or one value per lane."""

    g: float = 10.0  # gravity, m/s^2
    m: float = 1.0  # mass, kg
    l: float = 1.0  # noqa: E741 -- length, m
    dt: float = 0.05  # s between steps
    max_speed: float = 8.0  # rad/s
    max_torque: float = 2.0  # N m


class Options:
    """Of one reset: the largest size of the first angle and speed."""

    x_init: float = math.pi  # rad
    y_init: float = 1.0  # rad/s


@kernel
def reset_lane(s, p, rng, i):
    """Draws: 2 uniforms, theta on [-x_init, x_init), theta_dot on [-y_init, y_init)."""
    x, y = at(p.x_init, i), at(p.y_init, i)
    s.theta[i] = random.uniform(rng, i, -x, x)
    s.theta_dot[i] = random.uniform(rng, i, -y, y)
    s.last_u[i] = np.nan


@kernel
def step_lane(s, p, rng, action, i):
    """Swing lane i for one time step; any angle."""
    theta = s.theta[i]
    sin, _ = sincos(theta)
    return swing(s, p, action, i, sin, (theta + PI) % TURN - PI)


@kernel
def step_block(s, p, rng, action, reward, terminated, truncated):
    """`step_lane` for a block; with cheaper range reductions where all angles allow it."""
    if all_within(s.theta, NEAR - PI):
        for i in range(reward.size):
            sin, _ = sincos_near(s.theta[i])
            angle = turn_part(s.theta[i] + PI) - PI
            reward[i], terminated[i], truncated[i] = swing(s, p, action, i, sin, angle)
    else:
        for i in range(reward.size):
            reward[i], terminated[i], truncated[i] = step_lane(s, p, rng, action, i)


@kernel
def turn_part(x):
    """`x % TURN` for |x| <= NEAR, bit for bit, in a way that vectorises."""
    size = abs(x)
    turns = np.floor(size / TURN)
    rest = (size - turns * TURN_HIGH) - turns * TURN_LOW  # exact, and so are the corrections of a count one off
    rest = rest + TURN if rest < 0.0 else rest
    rest = rest - TURN if rest >= TURN else rest
    return TURN - rest if (x < 0.0) & (rest > 0.0) else rest


@kernel
def swing(s, p, action, i, sin, angle):
    """One step of semi-implicit Euler, given the sine of theta, and theta in [-pi, pi].

    Returns:
        reward, terminated, truncated.
    """
    g, m, l, dt = at(p.g, i), at(p.m, i), at(p.l, i), at(p.dt, i)  # noqa: E741
    torque, max_speed, theta_dot = action[i, 0], at(p.max_speed, i), s.theta_dot[i]
    max_torque = like(torque, at(p.max_torque, i))
    u = min(max(torque, -max_torque), max_torque)
    cost = square(angle) + 0.1 * square(theta_dot) + np.float64(like(u, 0.001) * square(u))
    push = np.float64(like(u, 3.0 / (m * square(l))) * u)
    theta_dot += (3.0 * g / (2.0 * l) * sin + push) * dt
    theta_dot = min(max(theta_dot, -max_speed), max_speed)
    s.theta[i] += theta_dot * dt
    s.theta_dot[i], s.last_u[i] = theta_dot, u
    return -cost, False, False


@kernel
def observe_lane(s, p, obs, i):
    """Obs (float32, (N, 3)): cosine and sine of theta, theta_dot."""
    sin, cos = sincos(s.theta[i])
    obs[i, 0] = cos
    obs[i, 1] = sin
    obs[i, 2] = s.theta_dot[i]
