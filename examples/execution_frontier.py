"""Trace the efficient frontier of Almgren and Chriss (2000), and check it by simulation.

Who sells a million shares at once pays for the impact on the price; who sells slowly bears its risk. For each aversion
to risk there is a best schedule. Here groups of lanes have one aversion each (`sekai.PerLane`), follow its schedule in
one fused rollout, and the mean and deviation of what they lost are compared with the formulas of the paper.

One should see the loss rise and its deviation fall with the aversion to risk, and the simulated means agree with the
formulas within the confidence intervals. It takes some ten seconds, most of it for compiling.

    python examples/execution_frontier.py
"""

import argparse

import numpy as np

import sekai
from sekai.envs.finance.optimal_execution import AlmgrenChriss

AVERSIONS = np.array([0.0, 1e-7, 3e-7, 1e-6, 3e-6, 1e-5])

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--quick", action="store_true", help="500 episodes of each schedule instead of 20,000")
episodes = 500 if parser.parse_args().quick else 20_000

vec = sekai.make_vec(
    "OptimalExecution-v0",
    AVERSIONS.size * episodes,
    risk_aversion=sekai.PerLane(AVERSIONS.repeat(episodes)),
    vector_kwargs={"autoreset": False},
)
vec.reset(seed=0)
trades = -np.diff(vec.almgren_chriss_trajectory())
means, variances = vec.expected_shortfall(trades)
sekai.rollout(vec, AlmgrenChriss(vec), trades.shape[1], record=None)
lost = vec.shortfall.reshape(AVERSIONS.size, episodes)

print(f"{'aversion':>8}  {'mean loss':>19}  {'formula':>9}  {'deviation':>9}  {'formula':>9}  first sale")
for k, aversion in enumerate(AVERSIONS):
    first = k * episodes
    margin = 1.96 * lost[k].std(ddof=1) / np.sqrt(episodes)
    print(
        f"{aversion:8.0e}  {lost[k].mean():9,.0f} ± {margin:7,.0f}  {means[first]:9,.0f}  "
        f"{lost[k].std():9,.0f}  {np.sqrt(variances[first]):9,.0f}  {trades[first, 0] / trades[first].sum():10.0%}"
    )
