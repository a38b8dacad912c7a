"""Threads for kernels that work on ranges of lanes."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import pairwise
from threading import current_thread, main_thread
from typing import Any

RANGES_PER_THREAD = 4

_pools: dict[int, ThreadPoolExecutor] = {}
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pools.clear)  # a forked child has none of its parent's threads


def available() -> int:
    """Number of processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def ranges(num_envs: int, block: int, parts: int) -> list[tuple[int, int]]:
    """Split lanes into `parts` ranges (fewer if there are fewer blocks), each beginning at a multiple of `block`."""
    blocks = -(-num_envs // block)
    parts = min(blocks, parts)
    bounds = [min(num_envs, block * (blocks * k // parts)) for k in range(parts + 1)]
    return list(pairwise(bounds))


def over_lanes(work: Callable[[int, int], Any], num_envs: int, block: int, num_threads: int) -> list[Any]:
    """Call `work(first, last)` on ranges that together cover all lanes, several at once; returns the results in order.

    No two threads share a block. A thread that is done takes the next range, so that a busy processor delays the others
    by one range only. If anything goes wrong, Ctrl-C included, it is raised after all ranges are done.
    """
    parts = ranges(num_envs, block, num_threads if num_threads == 1 else RANGES_PER_THREAD * num_threads)
    if num_threads == 1 or len(parts) == 1:
        return [work(*part) for part in parts]
    pool = _pools.setdefault(num_threads, ThreadPoolExecutor(num_threads, "sekai"))
    return settled([pool.submit(work, *part) for part in parts])


def uninterrupted(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function in another thread: Ctrl-C, which only the main thread sees, is raised after it is done.

    An error of the function is raised instead, as then it says more.
    """
    if current_thread() is not main_thread():
        return function(*args)
    return settled([_pools.setdefault(1, ThreadPoolExecutor(1, "sekai")).submit(function, *args)])[0]


def settled(futures: list[Future[Any]]) -> list[Any]:
    """Wait until all are done, however often Ctrl-C is pressed; an error of theirs is raised before that one."""
    interrupt = None
    while not all(future.done() for future in futures):
        try:
            wait(futures)
        except KeyboardInterrupt as error:
            interrupt = error
    results = [future.result() for future in futures]
    if interrupt is not None:
        raise interrupt
    return results
