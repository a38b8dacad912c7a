"""Acrobot: two links hang from each other; a torque at the joint between them is to swing the tip up (Sutton, 1996).

One step is one step of the classical Runge-Kutta method. Order of evaluation as in Gymnasium's `Acrobot-v1`.
"""

import math

import numpy as np

from sekai.kernels import random
from sekai.kernels.elementary import NEAR, sincos, sincos_near, square
from sekai.kernels.jit import at, kernel, substitute

PI, HALF_PI, TURN = math.pi, math.pi / 2.0, 2.0 * math.pi  # rad
FAR = 2.0**12  # rad; from here on an angle is brought back in one go
GRAVITY = 9.8  # m/s^2


class State:
    """One row of N values each."""

    theta1: float  # angle of the first link from hanging down, rad
    theta2: float  # angle of the second link from the direction of the first, rad
    omega1: float  # rad/s
    omega2: float  # rad/s
    is_float32: bool  # whether the four count as float32: after a reset


class Params:
    """Scalars for all lanes, or one value per lane."""

    dt: float = 0.2  # s between steps
    LINK_LENGTH_1: float = 1.0  # m
    LINK_LENGTH_2: float = 1.0  # m; to draw it
    LINK_MASS_1: float = 1.0  # kg
    LINK_MASS_2: float = 1.0  # kg
    LINK_COM_POS_1: float = 0.5  # m from the joint to the centre of mass
    LINK_COM_POS_2: float = 0.5  # m
    LINK_MOI: float = 1.0  # moment of inertia of either link, kg m^2
    MAX_VEL_1: float = 4.0 * math.pi  # rad/s
    MAX_VEL_2: float = 9.0 * math.pi  # rad/s
    torque_0: float = -1.0  # N m, of action 0
    torque_1: float = 0.0  # of action 1
    torque_2: float = 1.0  # of action 2
    torque_noise_max: float = 0.0  # a torque uniform up to this, of either sign, is added
    nips: bool = False  # the equations of the paper, which lack a term, instead of those of Sutton and Barto's book


class Options:
    """Of one reset: the range of the first state's four values."""

    low: float = -0.1
    high: float = 0.1


@kernel
def reset_lane(s, p, rng, i):
    """Draws: 4 uniforms on [low, high), rounded to float32: theta1, theta2, omega1, omega2."""
    low, high = at(p.low, i), at(p.high, i)
    s.theta1[i] = np.float32(random.uniform(rng, i, low, high))
    s.theta2[i] = np.float32(random.uniform(rng, i, low, high))
    s.omega1[i] = np.float32(random.uniform(rng, i, low, high))
    s.omega2[i] = np.float32(random.uniform(rng, i, low, high))
    s.is_float32[i] = True


@kernel
def step_lane(s, p, rng, action, i):
    """Swing lane i for one time step; any state. Draws: 1 uniform on [-torque_noise_max, torque_noise_max) if > 0."""
    noise = at(p.torque_noise_max, i)
    torque = torque_of(p, action, i)
    if noise > 0.0:
        torque += random.uniform(rng, i, -noise, noise)
    theta1, theta2, omega1, omega2, _ = swing(s, p, torque, i)
    reward, terminated = arrive(s, p, i, wrap(theta1), wrap(theta2), omega1, omega2, True)
    return reward, terminated, False


@kernel
def step_block(s, p, rng, action, reward, terminated, truncated):
    """`step_lane` for a block: at first without what does not vectorise, which few lanes need, then for those few."""
    all_done = True
    for i in range(reward.size):
        theta1, theta2, omega1, omega2, reach = swing_near(s, p, torque_of(p, action, i), i)
        theta1, theta2 = turn_back(theta1), turn_back(theta2)
        done = (reach <= NEAR) & (abs(theta1) <= PI) & (abs(theta2) <= PI) & (at(p.torque_noise_max, i) <= 0.0)
        reward[i], terminated[i] = arrive(s, p, i, theta1, theta2, omega1, omega2, done)
        truncated[i] = not done
        all_done &= done
    if not all_done:
        for i in range(reward.size):
            if truncated[i]:
                reward[i], terminated[i], truncated[i] = step_lane(s, p, rng, action, i)


@kernel
def torque_of(p, action, i):
    """The torque that an action stands for."""
    torque = at(p.torque_1, i) if action[i] == 1 else at(p.torque_2, i)
    return at(p.torque_0, i) if action[i] == 0 else torque


@kernel
def swing(s, p, torque, i):
    """One Runge-Kutta step of lane i.

    Returns:
        theta1, theta2, omega1, omega2, and the largest angle of which a sine or cosine was taken, or more.
    """
    dt = at(p.dt, i)
    half = dt / 2.0
    start = s.theta1[i], s.theta2[i], s.omega1[i], s.omega2[i]
    k1 = derivative(p, torque, i, start)
    y2 = ahead(start, half, k1)
    k2 = derivative(p, torque, i, y2)
    y3 = ahead(start, half, k2)
    k3 = derivative(p, torque, i, y3)
    y4 = ahead(start, dt, k3)
    k4 = derivative(p, torque, i, y4)
    sixth = dt / 6.0
    reach = max(max(size(start), size(y2)), max(size(y3), size(y4)))
    return (
        start[0] + sixth * (k1[0] + 2.0 * k2[0] + 2.0 * k3[0] + k4[0]),
        start[1] + sixth * (k1[1] + 2.0 * k2[1] + 2.0 * k3[1] + k4[1]),
        start[2] + sixth * (k1[2] + 2.0 * k2[2] + 2.0 * k3[2] + k4[2]),
        start[3] + sixth * (k1[3] + 2.0 * k2[3] + 2.0 * k3[3] + k4[3]),
        reach,
    )


@kernel
def ahead(y, dt, k):
    """The state y + dt k."""
    return y[0] + dt * k[0], y[1] + dt * k[1], y[2] + dt * k[2], y[3] + dt * k[3]


@kernel
def size(y):
    """No smaller than any angle of which `derivative` takes a sine or cosine."""
    return abs(y[0]) + abs(y[1]) + HALF_PI


@kernel
def derivative(p, torque, i, y):
    """Time derivative of the state `y` (Sutton and Barto, 1998, section 11.3)."""
    theta1, theta2, omega1, omega2 = y
    l1, c1, c2 = at(p.LINK_LENGTH_1, i), at(p.LINK_COM_POS_1, i), at(p.LINK_COM_POS_2, i)
    m1, m2, moi = at(p.LINK_MASS_1, i), at(p.LINK_MASS_2, i), at(p.LINK_MOI, i)
    sin2, cos2 = sincos(theta2)
    _, cos12 = sincos(theta1 + theta2 - HALF_PI)
    _, cos1 = sincos(theta1 - HALF_PI)
    d1 = m1 * square(c1) + m2 * (square(l1) + square(c2) + 2.0 * l1 * c2 * cos2) + moi + moi
    d2 = m2 * (square(c2) + l1 * c2 * cos2) + moi
    phi2 = m2 * c2 * GRAVITY * cos12
    phi1 = -m2 * l1 * c2 * square(omega2) * sin2 - 2.0 * m2 * l1 * c2 * omega2 * omega1 * sin2
    phi1 = phi1 + (m1 * c1 + m2 * l1) * GRAVITY * cos1 + phi2
    push = torque + d2 / d1 * phi1
    push = push if at(p.nips, i) != 0 else push - m2 * l1 * c2 * square(omega1) * sin2
    alpha2 = (push - phi2) / (m2 * square(c2) + moi - square(d2) / d1)
    return omega1, omega2, -(d2 * alpha2 + phi1) / d1, alpha2


swing_near = substitute(swing, __name__, [(sincos, sincos_near)])


@kernel
def arrive(s, p, i, theta1, theta2, omega1, omega2, store):
    """Look at the state of lane i after a step, angles in [-pi, pi], and keep it if `store`.

    Returns:
        reward, terminated.
    """
    max_omega1, max_omega2 = at(p.MAX_VEL_1, i), at(p.MAX_VEL_2, i)
    s.theta1[i] = theta1 if store else s.theta1[i]
    s.theta2[i] = theta2 if store else s.theta2[i]
    s.omega1[i] = min(max(omega1, -max_omega1), max_omega1) if store else s.omega1[i]
    s.omega2[i] = min(max(omega2, -max_omega2), max_omega2) if store else s.omega2[i]
    s.is_float32[i] = 0 if store else s.is_float32[i]
    _, cos1 = sincos_near(theta1)
    _, cos12 = sincos_near(theta2 + theta1)
    terminated = -cos1 - cos12 > 1.0
    return (0.0 if terminated else -1.0), terminated


@kernel
def turn_back(theta):
    """An angle beyond pi, one turn back."""
    theta = theta - TURN if theta > PI else theta
    return theta + TURN if theta < -PI else theta


@kernel
def wrap(theta):
    """An angle in [-pi, pi], by whole turns one after another; NaN for inf."""
    if abs(theta) > FAR:
        theta -= TURN * np.floor(theta / TURN)
    while abs(theta) > PI:
        theta = turn_back(theta)
    return theta


@kernel
def observe_lane(s, p, obs, i):
    """Obs (float32, (N, 6)): cosine and sine of theta1, of theta2, omega1, omega2."""
    sin1, cos1 = sincos(s.theta1[i])
    sin2, cos2 = sincos(s.theta2[i])
    obs[i, 0] = cos1
    obs[i, 1] = sin1
    obs[i, 2] = cos2
    obs[i, 3] = sin2
    obs[i, 4] = s.omega1[i]
    obs[i, 5] = s.omega2[i]
