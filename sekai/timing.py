"""Timing of steps: what `sekai bench` and the project's benchmarks have in common."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import cycle
from typing import Any, NamedTuple

from sekai.core.env import Env
from sekai.spaces import Space

MOST_ACTIONS = 65_536  # drawn beforehand, for all lanes together, but two batches of them in any case


class Contestant(NamedTuple):
    """Something to time.

    Attributes:
        run: What is timed.
        work: How many things (env-steps, say) one call of it does.
    """

    run: Callable[[], Any]
    work: int = 1


def stepping(step: Callable[[Any], Any], actions: Sequence[Any], num_envs: int) -> Contestant:
    """One step of a batch, with each of some batches of actions in turn."""
    turns = cycle(actions)
    return Contestant(lambda: step(next(turns)), num_envs)


def walking(env: Env[Any, Any], actions: Sequence[Any]) -> Contestant:
    """One step of a single environment, and its reset where an episode ends."""
    turns = cycle(actions)

    def run() -> None:
        if env.step(next(turns)).done:
            env.reset()

    return Contestant(run)


def draw_actions(space: Space[Any], num_envs: int) -> list[Any]:
    """So many samples of the action space of `num_envs` lanes that their memory stays in the cache."""
    return [space.sample() for _ in range(max(2, min(1_000, MOST_ACTIONS // num_envs)))]


def turn(contestant: Contestant, calls: int) -> float:
    """Seconds that some calls take."""
    run = contestant.run
    start = time.perf_counter()
    for _ in range(calls):
        run()
    return time.perf_counter() - start
