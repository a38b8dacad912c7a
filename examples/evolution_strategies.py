"""Teach a network to balance CartPole by evolution strategies, with every episode inside compiled code.

A population of networks, each a set of weights, plays in one batch: lanes 0 to 15 have the first network, the next 16
lanes the second, and so on. A generation is one fused rollout of 1,024 lanes; only the update is NumPy. The method is
that of Salimans et al. (2017), "Evolution Strategies as a Scalable Alternative to Reinforcement Learning": mirrored
noise, and returns replaced by their ranks.

One should see the mean return over 100 new episodes pass 475 (the most is 500) after a dozen generations, which take
half a second; the first time, compiling takes some ten seconds more.

    python examples/evolution_strategies.py
"""

import argparse
import time

import numpy as np

import sekai

PAIRS, LANES_EACH, STEPS = 32, 16, 500
NOISE, RATE, SOLVED = 0.5, 5.0, 475.0

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--quick", action="store_true", help="two generations only")
generations = 2 if parser.parse_args().quick else 100

population = sekai.make_vec("CartPole-v1", 2 * PAIRS * LANES_EACH)
test = sekai.make_vec("CartPole-v1", 100, vector_kwargs={"autoreset": False})  # one episode in each lane
policy, tester = (sekai.policies.MLP(vec, hidden=(16,)) for vec in (population, test))

rng = np.random.default_rng(0)
mean = np.zeros(policy.num_weights)
ranks = np.linspace(-0.5, 0.5, 2 * PAIRS)
begin = time.perf_counter()
for generation in range(generations):
    noise = rng.normal(size=(PAIRS, mean.size))
    noise = np.concatenate([noise, -noise])
    policy.weights = mean + NOISE * noise
    ends = sekai.rollout(population, policy, STEPS, record=(), seed=generation).episodes
    group = ends.lanes // LANES_EACH
    fitness = np.bincount(group, ends.returns) / np.bincount(group)
    mean += RATE * ranks @ noise[fitness.argsort()] / len(noise)

    tester.weights = mean
    score = sekai.rollout(test, tester, STEPS, record=None, seed=generation).statistics.return_mean
    print(f"generation {generation}: population {fitness.mean():.1f}, best {fitness.max():.1f}, test {score:.1f}")
    if score >= SOLVED:
        print(f"solved in {time.perf_counter() - begin:.1f} s: mean return {score:.1f} over 100 episodes")
        break
