"""Run environments in plain Python in several processes.

`ProcVecEnv` takes what makes each environment, and divides the lanes among workers. Results are those of `SyncVecEnv`,
bit for bit. With two groups, half of the lanes work while the policy looks at the other half.

One should see the same sum of rewards three times, and with workers more steps a second than without, as far as there
are free cores. The `if __name__ == "__main__":` guard is needed: workers import this file.

    python examples/processes.py
"""

import argparse
import time

import numpy as np

import sekai


class Sandpile(sekai.Env):
    """Drop grains on a table; a pile of four topples onto its neighbours. Large avalanches pay."""

    def __init__(self, size=40):
        self.observation_space = sekai.Box(0, 3, (size, size), np.int8)
        self.action_space = sekai.Discrete(size * size)

    def reset(self, *, seed=None, options=None):
        self._set_rng(seed)
        self.grains = self.rng.integers(0, 4, self.observation_space.shape, np.int8)
        self.steps = 0
        return sekai.ResetResult(self.grains.copy(), {})

    def step(self, action):
        self.grains.flat[int(action)] += 1
        toppled = 0
        while (high := self.grains >= 4).any():
            toppled += int(high.sum())
            self.grains[high] -= 4
            self.grains[1:] += high[:-1]
            self.grains[:-1] += high[1:]
            self.grains[:, 1:] += high[:, :-1]
            self.grains[:, :-1] += high[:, 1:]
        self.steps += 1
        return sekai.StepResult(self.grains.copy(), float(toppled), False, self.steps == 500, {})


def policy(observations):
    """The first of the highest piles."""
    return observations.reshape(len(observations), -1).argmax(axis=1)


def run(vec, steps):
    """Sum of rewards, stepping all lanes together."""
    observations, total = vec.reset(seed=0).observations, 0.0
    for _ in range(steps):
        result = vec.step(policy(observations))
        observations, total = result.observations, total + result.rewards.sum()
    return total


def run_in_groups(vec, steps):
    """The same with the groups of lanes in turn: one works while the policy looks at the other."""
    observations, total = vec.reset(seed=0).observations, 0.0
    for lanes in vec.groups:
        vec.send(policy(observations[lanes]), lanes)
    left = {int(lanes[0]): steps for lanes in vec.groups}
    while any(left.values()):
        result = vec.recv()
        total += result.rewards.sum()
        group = int(result.lanes[0])
        left[group] -= 1
        if left[group]:
            vec.send(policy(result.observations), result.lanes)
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="10 steps instead of 300")
    steps = 10 if parser.parse_args().quick else 300
    env_fns = [Sandpile] * 64
    contestants = [
        ("one process", sekai.SyncVecEnv(env_fns), run),
        ("two workers", sekai.ProcVecEnv(env_fns, num_workers=2), run),
        ("in two groups", sekai.ProcVecEnv(env_fns, num_workers=2, num_groups=2), run_in_groups),
    ]
    for name, vec, play in contestants:
        with vec:
            begin = time.perf_counter()
            total = play(vec, steps)
            rate = steps * len(vec) / (time.perf_counter() - begin)
            print(f"{name:13}  {total:10,.0f} rewards  {rate:8,.0f} steps/s")


if __name__ == "__main__":
    main()
