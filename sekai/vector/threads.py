"""Threads for kernels that work on ranges of lanes."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

from sekai.utils.integers import positive_int

_pools: dict[int, ThreadPoolExecutor] = {}
os.register_at_fork(after_in_child=_pools.clear)  # a forked child has none of its parent's threads


def available() -> int:
    """Number of processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def over_lanes(work: Callable[[int, int], object], num_envs: int, block: int, num_threads: int) -> None:
    """Call `work(first, last)` on ranges that together cover all lanes, several at once.

    Ranges begin at multiples of `block`, so that no two threads share a block. If anything goes wrong, the call returns
    only after every range that was begun is done.

    Raises:
        Whatever `work` raised, or KeyboardInterrupt.
    """
    num_threads = positive_int("num_threads", num_threads)
    blocks = -(-num_envs // block)
    parts = min(blocks, num_threads)
    bounds = [min(num_envs, block * (blocks * k // parts)) for k in range(parts + 1)]
    if parts == 1:
        work(0, num_envs)
        return
    pool = _pools.setdefault(parts, ThreadPoolExecutor(parts, "sekai"))
    futures: list[Future[object]] = [pool.submit(work, *ends) for ends in zip(bounds, bounds[1:], strict=False)]
    try:
        for future in futures:
            future.result()
    finally:
        wait(futures)
