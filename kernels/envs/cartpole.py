"""CartPole: a cart on a track, pushed left or right, balances a pole (Barto, Sutton and Anderson, 1983).

Order of evaluation as in Gymnasium's `CartPole-v1`, so that a step from the same state gives the same next state but
for the last bits of sine and cosine.
"""

from sekai.kernels import random
from sekai.kernels.elementary import sincos, sincos_quarter
from sekai.kernels.jit import at, kernel

QUARTER = 0.7853981633974483  # pi/4, rad: `sincos_quarter` needs no reduction up to here

EULER, SEMI_IMPLICIT = 0, 1


class State:
    """One row of N values each."""

    x: float  # position of the cart, m
    x_dot: float  # m/s
    theta: float  # angle of the pole from upright, rad
    theta_dot: float  # rad/s
    past_end: int  # steps since termination, the terminating one included; 0 before


class Params:
    """Scalars for all lanes, or one value per lane."""

    sutton_barto_reward: bool = False
    gravity: float = 9.8  # m/s^2
    masscart: float = 1.0  # kg
    masspole: float = 0.1  # kg
    length: float = 0.5  # half the pole's length, m
    force_mag: float = 10.0  # N
    tau: float = 0.02  # s between steps
    integrator: int = EULER  # or SEMI_IMPLICIT: positions move with the new speeds
    theta_threshold_radians: float = 0.20943951023931953  # 12 degrees
    x_threshold: float = 2.4  # m


class Options:
    """Of one reset: the range of the first state's four values."""

    low: float = -0.05
    high: float = 0.05


@kernel
def reset_lane(s, p, rng, i):
    """Draws: 4 uniforms on [low, high): x, x_dot, theta, theta_dot."""
    low, high = at(p.low, i), at(p.high, i)
    s.x[i] = random.uniform(rng, i, low, high)
    s.x_dot[i] = random.uniform(rng, i, low, high)
    s.theta[i] = random.uniform(rng, i, low, high)
    s.theta_dot[i] = random.uniform(rng, i, low, high)
    s.past_end[i] = 0


@kernel
def step_lane(s, p, rng, action, i):
    """Push lane i for one time step; any angle."""
    sin, cos = sincos(s.theta[i])
    return push(s, p, action, i, sin, cos)


@kernel
def step_block(s, p, rng, action, reward, terminated, truncated):
    """`step_lane` for a block; without range reduction where every pole is within 45 degrees of upright (1.5 x)."""
    near = True
    for i in range(reward.size):
        near &= abs(s.theta[i]) <= QUARTER
    if near:
        for i in range(reward.size):
            sin, cos = sincos_quarter(s.theta[i])
            reward[i], terminated[i], truncated[i] = push(s, p, action, i, sin, cos)
    else:
        for i in range(reward.size):
            reward[i], terminated[i], truncated[i] = step_lane(s, p, rng, action, i)


@kernel
def push(s, p, action, i, sin, cos):
    """One step of the equations of motion, given sine and cosine of the pole's angle (Florian, 2007, eqs. 23 and 24).

    Returns:
        reward, terminated, truncated.
    """
    masspole, length, tau = at(p.masspole, i), at(p.length, i), at(p.tau, i)
    total_mass = masspole + at(p.masscart, i)
    polemass_length = masspole * length
    force = at(p.force_mag, i) if action[i] == 1 else -at(p.force_mag, i)
    x, x_dot, theta, theta_dot = s.x[i], s.x_dot[i], s.theta[i], s.theta_dot[i]

    h = (force + (polemass_length * (theta_dot * theta_dot)) * sin) / total_mass
    theta_acc = (at(p.gravity, i) * sin - cos * h) / (length * (4.0 / 3.0 - (masspole * (cos * cos)) / total_mass))
    x_acc = h - ((polemass_length * theta_acc) * cos) / total_mass

    new_x_dot, new_theta_dot = x_dot + tau * x_acc, theta_dot + tau * theta_acc
    euler = at(p.integrator, i) == EULER
    x += tau * (x_dot if euler else new_x_dot)
    theta += tau * (theta_dot if euler else new_theta_dot)
    s.x[i], s.x_dot[i], s.theta[i], s.theta_dot[i] = x, new_x_dot, theta, new_theta_dot

    terminated = (abs(x) > at(p.x_threshold, i)) | (abs(theta) > at(p.theta_threshold_radians, i))
    past_end = s.past_end[i]
    s.past_end[i] = past_end + (terminated | (past_end > 0))
    sutton_barto = at(p.sutton_barto_reward, i) != 0
    on_time = 0.0 if sutton_barto else 1.0
    late = -1.0 if sutton_barto else 0.0
    ending = -1.0 if sutton_barto else 1.0
    reward = (ending if past_end == 0 else late) if terminated else on_time
    return reward, terminated, False


@kernel
def observe_lane(s, p, obs, i):
    """Obs (float32, (N, 4)): x, x_dot, theta, theta_dot."""
    obs[i, 0] = s.x[i]
    obs[i, 1] = s.x_dot[i]
    obs[i, 2] = s.theta[i]
    obs[i, 3] = s.theta_dot[i]
