"""Batches of single environments against what they promise: `python -m benchmarks.bench_vec_envs`.

All sides of a comparison take turns, and the median of the ratios within a round counts. Exits with 1 if one falls
short. On a machine whose cores are busy with something else, two workers are not twice as fast as one.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium
import numpy as np

import sekai
from benchmarks.report import machine
from benchmarks.timing import interleaved, quartiles
from sekai.timing import Contestant

ROUNDS = 15
LANES = 64
SLEEPERS, NAP = 100, 0.010  # environments, s
WORK = 0.001  # s
FRAME = (84, 84, 4)


class Inventory(sekai.Env[dict[str, Any], np.intp]):
    """Order stock each day to meet Poisson demand over a season."""

    capacity, days = 20, 30

    def __init__(self) -> None:
        stock = sekai.Box(0, self.capacity, (1,), np.int64)
        self.observation_space = sekai.Dict({"stock": stock, "days_left": sekai.Discrete(self.days + 1)})
        self.action_space = sekai.Discrete(self.capacity + 1)

    def reset(self, *, seed=None, options=None):
        self._set_rng(seed)
        self.stock, self.day = int((options or {}).get("initial_stock", 0)), 0
        return sekai.ResetResult(self.look(), {})

    def step(self, action):
        if not self.action_space.contains(action):
            raise sekai.InvalidAction(action, self.action_space)
        ordered = min(int(action), self.capacity - self.stock)
        demand = int(self.rng.poisson(4.0))
        sold = min(demand, self.stock + ordered)
        self.stock += ordered - sold
        self.day += 1
        reward = 2.0 * sold - ordered - 0.1 * self.stock
        info = {"demand": demand, "sold": sold, "lost_sales": demand - sold}
        return sekai.StepResult(self.look(), float(reward), self.day >= self.days, False, info)

    def look(self):
        return {"stock": np.array([self.stock], np.int64), "days_left": np.intp(self.days - self.day)}


class Plain(sekai.Env[np.ndarray, np.intp]):
    """Does nothing, and never ends."""

    observation_space = sekai.Box(0, 1, (1,))
    action_space = sekai.Discrete(2)
    nothing = np.zeros(1, np.float32)

    def reset(self, *, seed=None, options=None):
        return sekai.ResetResult(self.nothing, {})

    def step(self, action):
        return sekai.StepResult(self.nothing, 0.0, False, False, {})


class Sleeper(Plain):
    """Waits for something else."""

    async def async_step(self, action):
        await asyncio.sleep(NAP)
        return self.step(action)


class Worker(Plain):
    """Works."""

    def step(self, action):
        end = time.thread_time() + WORK
        while time.thread_time() < end:
            pass
        return super().step(action)


class Screen(sekai.Env[np.ndarray, np.intp]):
    """Shows the frames of a film."""

    def __init__(self) -> None:
        self.observation_space = sekai.Box(0, 255, FRAME, np.uint8)
        self.action_space = sekai.Discrete(4)
        self.film, self.k = film(), 0

    def reset(self, *, seed=None, options=None):
        return sekai.ResetResult(self.film[0], {})

    def step(self, action):
        self.k += 1
        return sekai.StepResult(self.film[self.k % len(self.film)], 1.0, False, False, {})


class GymScreen(gymnasium.Env):
    """The same for gymnasium."""

    def __init__(self) -> None:
        self.observation_space = gymnasium.spaces.Box(0, 255, FRAME, np.uint8)
        self.action_space = gymnasium.spaces.Discrete(4)
        self.film, self.k = film(), 0

    def reset(self, *, seed=None, options=None):
        return self.film[0], {}

    def step(self, action):
        self.k += 1
        return self.film[self.k % len(self.film)], 1.0, False, False, {}


def film() -> np.ndarray:
    """Eight frames."""
    return np.random.default_rng(0).integers(0, 256, (8, *FRAME), np.uint8)


class Measure(NamedTuple):
    """A figure, and what it should be."""

    name: str
    values: np.ndarray
    bound: float
    at_most: bool


def stepping(vec: Any) -> Contestant:
    """Step a batch that has been reset, with one and the same action."""
    actions = np.ones(len(vec), np.int64)
    return Contestant(lambda: vec.step(actions))


def sync_overhead() -> list[Measure]:
    """SyncVecEnv against a loop over the environments."""
    actions = np.random.default_rng(0).integers(0, 5, LANES)
    envs = [Inventory() for _ in range(LANES)]
    for seed, env in enumerate(envs):
        env.reset(seed=seed)

    def loop() -> None:
        for env, action in zip(envs, actions, strict=True):
            if env.step(action).done:
                env.reset()

    with sekai.SyncVecEnv([Inventory] * LANES) as vec:
        vec.reset(seed=0)
        times = interleaved({"loop": Contestant(loop), "batch": Contestant(lambda: vec.step(actions))}, ROUNDS)
    return [Measure(f"SyncVecEnv / bare loop, {LANES} inventories", times["batch"] / times["loop"], 1.25, True)]


def async_waiting() -> list[Measure]:
    """AsyncVecEnv of environments that sleep."""
    with sekai.AsyncVecEnv([Sleeper] * SLEEPERS) as vec:
        vec.reset()
        times = interleaved({"step": stepping(vec)}, ROUNDS)
    name = f"AsyncVecEnv step of {SLEEPERS} envs that sleep {NAP * 1e3:.0f} ms, in ms"
    return [Measure(name, times["step"] * 1e3, 30.0, True)]


def workers() -> list[Measure]:
    """ProcVecEnv with two workers against one."""
    one, two = (sekai.ProcVecEnv([Worker] * LANES, num_workers=k) for k in (1, 2))
    with one, two:
        one.reset(), two.reset()
        times = interleaved({"one": stepping(one), "two": stepping(two)}, ROUNDS)
    name = f"ProcVecEnv, 2 workers / 1, {LANES} envs of {WORK * 1e3:.0f} ms"
    return [Measure(name, times["one"] / times["two"], 1.7, False)]


def images() -> list[Measure]:
    """ProcVecEnv against gymnasium's AsyncVectorEnv, both with shared memory."""
    theirs = gymnasium.vector.AsyncVectorEnv([GymScreen] * LANES, shared_memory=True)
    each, two = (sekai.ProcVecEnv([Screen] * LANES, num_workers=k) for k in (None, 2))
    with each, two:
        each.reset(), two.reset(), theirs.reset()
        contestants = {"theirs": stepping(Sized(theirs)), "each": stepping(each), "two": stepping(two)}
        times = interleaved(contestants, ROUNDS)
    theirs.close()
    name = f"gymnasium's AsyncVectorEnv / ProcVecEnv, {LANES} observations {FRAME} uint8"
    return [
        Measure(f"{name}, one worker per env", times["theirs"] / times["each"], 1.0, False),
        Measure(f"{name}, 2 workers", times["theirs"] / times["two"], 1.0, False),
    ]


class Sized:
    """Gives gymnasium's batch a length."""

    def __init__(self, vec: gymnasium.vector.VectorEnv) -> None:
        self.step = vec.step
        self.num_envs = vec.num_envs

    def __len__(self) -> int:
        return self.num_envs


def main() -> int:
    """Print the figures; 1 if one is not what it should be."""
    print(machine("sekai", "numpy", "gymnasium"))
    parts: list[Callable[[], list[Measure]]] = [sync_overhead, async_waiting, workers, images]
    bad = 0
    for name, values, bound, at_most in (measure for part in parts for measure in part()):
        median, low, high = quartiles(values)
        good = median <= bound if at_most else median >= bound
        bad += not good
        limit = f"at {'most' if at_most else 'least'} {bound:g}"
        print(f"{median:7.2f}  ({low:.2f} to {high:.2f}; {limit}{'' if good else ', MISSED'})  {name}")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
