"""Teach a policy in one world or in many, and try it in worlds that it has not seen.

`sekai.PerLane` gives each lane a pole and a motor of its own. A linear policy is taught twice by the cross-entropy
method: in CartPole as it is, and with a different world in each of 32 lanes per candidate. Each generation is one fused
rollout of 256 candidates. Then both play in 10,000 new worlds.

One should see the first last all of 500 steps where it was taught, and some 200 in new worlds; the second some 490 in
either.

    python examples/domain_randomisation.py
"""

import argparse

import numpy as np

import sekai

CANDIDATES, BEST, WORLDS, STEPS = 256, 32, 32, 500

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--quick", action="store_true", help="two generations and 100 new worlds")
generations, new_worlds = (2, 100) if parser.parse_args().quick else (8, 10_000)


def worlds(count, rng):
    """Parameters of random worlds."""
    return {
        "length": rng.uniform(0.1, 2.5, count),  # half the pole's, m
        "masspole": rng.uniform(0.05, 1.0, count),  # kg
        "force_mag": rng.uniform(2.0, 20.0, count),  # N
    }


def batch(num_envs, parameters):
    """A batch that plays one episode in each lane."""
    per_lane = {name: sekai.PerLane(values) for name, values in parameters.items()}
    return sekai.make_vec("CartPole-v1", num_envs, vector_kwargs={"autoreset": False}, **per_lane)


def returns(vec, weights, seed):
    """The return of each lane's episode."""
    policy = sekai.policies.Linear(vec, weights=weights)
    return sekai.rollout(vec, policy, STEPS, record=["rewards"], seed=seed).rewards.sum(axis=0)


def taught(vec, rng):
    """The mean of the best candidates, after some generations around the last such mean."""
    mean, deviation = np.zeros(10), np.ones(10)  # two outputs: four weights and a bias each
    for generation in range(generations):
        candidates = mean + deviation * rng.normal(size=(CANDIDATES, mean.size))
        scores = returns(vec, candidates, generation).reshape(CANDIDATES, WORLDS).mean(axis=1)
        best = candidates[scores.argsort()[-BEST:]]
        mean, deviation = best.mean(axis=0), best.std(axis=0) + 0.05
    return mean


rng = np.random.default_rng(0)
many = {name: np.tile(values, CANDIDATES) for name, values in worlds(WORLDS, rng).items()}
test = batch(new_worlds, worlds(new_worlds, rng))
print(f"{'taught in':11}  {'there':>5}  {'in new worlds':>13}")
for name, parameters in [("one world", {}), ("many worlds", many)]:
    vec = batch(CANDIDATES * WORLDS, parameters)
    policy = taught(vec, rng)
    print(f"{name:11}  {returns(vec, policy, 99).mean():5.0f}  {returns(test, policy, 99).mean():13.0f}")
