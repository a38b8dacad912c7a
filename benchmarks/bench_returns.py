"""Returns and advantages against NumPy loops over time: `python -m benchmarks.bench_returns`.

All sides of a comparison take turns, and the median of the ratios within a round counts. Exits with 1 if GAE falls
short.

The loops are vectorised over lanes and give the same results, rows that are no transitions included. Both sides
overwrite arrays that they are given: fresh memory for the results takes either some 4 ms more. A kernel reads and
writes 170 MB once, and takes hardly longer than that does; so the simpler loop that does not look at `valid`, which is
shown besides, gains on it.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from benchmarks.report import machine
from benchmarks.timing import interleaved, quartiles
from sekai import returns
from sekai.timing import Contestant

ROUNDS = 15
T, N = 1024, 4096
GAMMA, LAM = 0.99, 0.95
LEAST = 5.0  # times as fast as the loop that does the same


class Data:
    """Random transitions, but for one row in a hundred; arrays for the results."""

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self.rewards, self.values, self.next_values, self.log_rhos = (rng.normal(size=(T, N)) for _ in range(4))
        self.terminated, self.truncated = (rng.random((T, N)) < 0.01 for _ in range(2))
        self.valid = rng.random((T, N)) >= 0.01
        self.out = np.empty((T, N)), np.empty((T, N))


def loop_gae(d: Data) -> tuple[np.ndarray, np.ndarray]:
    """What `gae` does."""
    advantages, results = d.out
    tail = np.zeros(N)
    for t in reversed(range(T)):
        ahead = np.where(d.terminated[t], 0.0, d.next_values[t])
        rest = np.where(d.terminated[t] | d.truncated[t], 0.0, tail)
        advantage = d.rewards[t] + GAMMA * ahead - d.values[t] + GAMMA * LAM * rest
        advantages[t] = np.where(d.valid[t], advantage, 0.0)
        results[t] = np.where(d.valid[t], advantage + d.values[t], 0.0)
        tail = np.where(d.valid[t], advantage, tail)
    return advantages, results


def loop_gae_of_valid_rows(d: Data) -> tuple[np.ndarray, np.ndarray]:
    """What `gae` does if all rows are transitions, and nothing that is multiplied by 0 is NaN."""
    advantages, results = d.out
    tail = np.zeros(N)
    for t in reversed(range(T)):
        delta = d.rewards[t] + GAMMA * d.next_values[t] * ~d.terminated[t] - d.values[t]
        tail = delta + GAMMA * LAM * ~(d.terminated[t] | d.truncated[t]) * tail
        advantages[t] = tail
    np.add(advantages, d.values, out=results)
    return advantages, results


def loop_discounted_returns(d: Data) -> np.ndarray:
    """What `discounted_returns` does."""
    results = d.out[0]
    tail, is_last = np.zeros(N), np.ones(N, np.bool_)
    for t in reversed(range(T)):
        ahead = np.where(d.truncated[t] | is_last, d.next_values[t], tail)
        total = d.rewards[t] + GAMMA * np.where(d.terminated[t], 0.0, ahead)
        results[t] = np.where(d.valid[t], total, 0.0)
        tail = np.where(d.valid[t], total, tail)
        is_last &= ~d.valid[t]
    return results


def loop_vtrace(d: Data) -> tuple[np.ndarray, np.ndarray]:
    """What `vtrace` does."""
    advantages, targets = d.out
    tail = np.zeros(N)
    for t in reversed(range(T)):
        rho = np.minimum(np.exp(d.log_rhos[t]), 1.0)
        delta = d.rewards[t] + GAMMA * np.where(d.terminated[t], 0.0, d.next_values[t]) - d.values[t]
        rest = GAMMA * np.where(d.terminated[t] | d.truncated[t], 0.0, tail)
        excess = rho * (delta + LAM * rest)
        advantages[t] = np.where(d.valid[t], rho * (delta + rest), 0.0)
        targets[t] = np.where(d.valid[t], d.values[t] + excess, 0.0)
        tail = np.where(d.valid[t], excess, tail)
    return advantages, targets


def pairs(d: Data) -> dict[str, tuple[Any, Any]]:
    """Kernel and loop that give the same results."""
    flags = d.terminated, d.truncated
    critic = d.rewards, d.values, d.next_values
    both = {"gamma": GAMMA, "lam": LAM, "out": d.out}
    return {
        "gae": (
            lambda: returns.gae(*critic, *flags, **both, valid=d.valid),
            lambda: loop_gae(d),
        ),
        "gae, all rows valid": (
            lambda: returns.gae(*critic, *flags, **both),
            lambda: loop_gae_of_valid_rows(d),
        ),
        "discounted_returns": (
            lambda: returns.discounted_returns(
                d.rewards, *flags, gamma=GAMMA, next_values=d.next_values, valid=d.valid, out=d.out[0]
            ),
            lambda: loop_discounted_returns(d),
        ),
        "vtrace": (
            lambda: returns.vtrace(d.log_rhos, *critic, *flags, **both, valid=d.valid),
            lambda: loop_vtrace(d),
        ),
    }


def check(ours: Any, loop: Any) -> None:
    """Check that both give the same, but for rounding."""
    theirs = np.array(loop())
    np.testing.assert_allclose(np.array(ours()), theirs, rtol=1e-9, atol=1e-9)


def main() -> int:
    """Print the ratios; 1 if GAE is slower than it should be."""
    print(machine("numpy", "numba"))
    compared = pairs(Data())
    for ours, loop in compared.values():
        check(ours, loop)
    contestants = {}
    for name, (ours, loop) in compared.items():
        contestants |= {name: Contestant(ours, T * N), f"loop of {name}": Contestant(loop, T * N)}
    times = interleaved(contestants, ROUNDS)
    print(f"Kernels against NumPy loops, ({T}, {N}) float64")
    for name in compared:
        median, low, high = quartiles(times[f"loop of {name}"] / times[name])
        least = f"; at least {LEAST:g}" if name == "gae" else ""
        took = np.median(times[name]) * 1e9
        print(f"{median:6.1f} x  ({low:.1f} to {high:.1f}{least})  {took:5.2f} ns a transition  {name}")
    return int(np.median(times["loop of gae"] / times["gae"]) < LEAST)


if __name__ == "__main__":
    sys.exit(main())
