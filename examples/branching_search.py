"""Balance CartPole without a policy: try both actions from where the env is, many times, and take the better one.

`get_state` takes a snapshot of a lane in mid-episode and `set_state` puts it into others: one lane branches into 64, of
which half push left first and half push right. All then go on with random pushes in one fused rollout, each with
random actions of its own. The env takes the action after which its branches stayed up longer.

One should see an episode of 500 steps, the most there are (random pushes alone last 22), in about a second.

    python examples/branching_search.py
"""

import argparse

import numpy as np

import sekai

BRANCHES, AHEAD = 64, 40

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--quick", action="store_true", help="50 steps only")
steps = 50 if parser.parse_args().quick else 500

real = sekai.make_vec("CartPole-v1", 1, vector_kwargs={"autoreset": False})
branches = sekai.make_vec("CartPole-v1", BRANCHES, vector_kwargs={"autoreset": False})
real.reset(seed=0)
branches.reset(seed=1)
first = np.arange(BRANCHES) % 2  # the action that each branch begins with

total, done = 0.0, False
while not done and total < steps:
    lane = real.get_state()
    for branch in range(BRANCHES):
        branches.set_state(lane, [branch])
    branches.step(first)
    survived = sekai.rollout(branches, "random", AHEAD, record=("rewards",)).rewards.sum(axis=0)
    action = int(survived[first == 1].mean() > survived[first == 0].mean())
    result = real.step([action])
    total, done = total + result.rewards[0], result.dones[0]
print(f"return {total:.0f}")
