"""Step a million CartPoles with random actions, all in one compiled call.

One should see hundreds of millions of env-steps a second on two cores, and episodes of 22 steps on average: random
pushes don't balance a pole. Each lane draws from a random stream of its own, so more lanes or more threads change
nothing in the episodes of the others.

    python examples/random_rollout.py
"""

import argparse

import sekai

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--quick", action="store_true", help="a thousand lanes instead of a million")
num_envs = 1_000 if parser.parse_args().quick else 1_000_000

vec = sekai.make_vec("CartPole-v1", num_envs)
result = sekai.rollout(vec, "random", 200, record=None, seed=0)
ends = result.statistics
print(f"{result.num_envs:,} lanes took {result.num_steps} steps each: {result.steps_per_second:,.0f} env-steps/s")
print(f"{ends.num_episodes:,} episodes ended, return {ends.return_mean:.2f} ± {ends.return_std:.2f}")
