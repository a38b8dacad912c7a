"""A pole on a hinge, written as kernels for one lane: a compiled batch and a single env in under 60 lines."""

import numpy as np

import sekai
from sekai.kernels import at, kernel, random
from sekai.kernels.elementary import sincos


class PoleVecEnv(sekai.KernelVecEnv):
    """A pole of 1 kg and 1 m on a hinge, pushed left or right; the episode ends when it leans too far."""

    class State:  # one row of N values each
        theta: float  # rad from upright
        omega: float  # rad/s
        pushes: int  # to the right, in this episode

    class Params:  # one value for all lanes, or sekai.PerLane(array of N)
        gravity: float = 9.8  # m/s^2
        force: float = 2.0  # N
        dt: float = 0.02  # s

    class Info:  # told with every step and reset
        pushes: int

    observation_space = sekai.Box(-np.inf, np.inf, (2,), np.float32)  # of one lane
    action_space = sekai.Discrete(2)

    @kernel
    def reset_lane(s, p, rng, i):
        s.theta[i] = random.uniform(rng, i, -0.05, 0.05)
        s.omega[i], s.pushes[i] = 0.0, 0

    @kernel
    def step_lane(s, p, rng, action, i):
        sin, cos = sincos(s.theta[i])
        s.omega[i] += at(p.dt, i) * (at(p.gravity, i) * sin + (2 * action[i] - 1) * at(p.force, i) * cos)
        s.theta[i] += at(p.dt, i) * s.omega[i]
        s.pushes[i] += action[i]
        return 1.0, abs(s.theta[i]) > 0.5, False  # reward, terminated, truncated

    @kernel
    def observe_lane(s, p, obs, i):
        obs[i, 0], obs[i, 1] = s.theta[i], s.omega[i]

    @kernel
    def inform_lane(s, p, info, i):
        info.pushes[i] = s.pushes[i]


class PoleEnv(sekai.KernelEnv):  # the single env: one lane of the batch
    batch = PoleVecEnv


sekai.register("Pole-v0", PoleEnv, max_episode_steps=500)  # make() and make_vec() both know it now

if __name__ == "__main__":
    print(sekai.rollout(sekai.make_vec("Pole-v0", 65_536), "random", 1_000, record=None, seed=0).statistics)
