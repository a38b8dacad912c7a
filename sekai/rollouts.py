"""Rollouts: many steps of a batch in one call, with the policy inside the compiled loop."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sekai.utils.integers import positive_int
from sekai.vector.kernel import NO_LIMIT, KernelVecEnv
from sekai.vector.threads import available, over_lanes

BLOCK = 1024  # as in sekai.kernels.episode
CHUNK = 20_000_000  # env-steps between two looks at Ctrl-C and the progress bar, some 50 ms
THREADS_PAY = 500_000  # env-steps for which starting threads is worth while, some ms


@dataclass(frozen=True)
class Rollout:
    """What a rollout did.

    Attributes:
        num_envs: N.
        num_steps: Steps of each lane.
        seconds: Time it took, without compiling.
        num_episodes: Episodes that ended.
        return_mean: Mean of their sums of rewards; NaN if none ended.
        return_std: Standard deviation of the same.
        length_mean: Mean of their numbers of steps.
        length_std: Standard deviation of the same.
    """

    num_envs: int
    num_steps: int
    seconds: float
    num_episodes: int
    return_mean: float
    return_std: float
    length_mean: float
    length_std: float

    @property
    def steps_per_second(self) -> float:
        """Env-steps a second."""
        return self.num_envs * self.num_steps / self.seconds


def rollout(
    vec: KernelVecEnv[Any, Any],
    policy: str,
    num_steps: int,
    *,
    seed: int | None = None,
    num_threads: int | None = None,
    progress: bool = False,
) -> Rollout:
    """Step a batch `num_steps` times with random actions, from where it is, and tell how its episodes ended.

    Random actions come from a stream of their own per lane, which depends on the lane's seed; the environments' own
    streams are untouched.

    Args:
        vec: A kernel env with same-step autoreset. It is reset first if it never was, or if `seed` is given.
        policy: `"random"`: each action uniform over the action space.
        num_steps: Steps of each lane, at least 1.
        seed: Seeds the lanes as `vec.reset` does, and so the streams of their random actions.
        num_threads: How many threads share the lanes; None for as many as there are processors, if the work is worth
            it. The result is the same for any number.
        progress: Show a progress bar.

    Raises:
        TypeError, ValueError: An argument is not what it should be.
        VecEnvClosed: The batch is closed.
    """
    if policy != "random":
        raise ValueError(f'policy must be "random", got {policy!r}')
    num_steps = positive_int("num_steps", num_steps)
    vec._check_open()
    if vec.autoreset_mode != "same_step":
        raise ValueError(f'vec must have autoreset_mode "same_step", got {vec.autoreset_mode!r}')
    if not np.isfinite(vec._actions.bounds).all():
        raise ValueError(f"random actions need a bounded action space, got {vec.action_space!r}")
    if seed is not None or not vec._started:
        vec.reset(seed=seed)
    if num_threads is None:
        num_threads = available() if vec.num_envs * num_steps >= THREADS_PAY else 1

    stats = np.zeros((-(-vec.num_envs // BLOCK), 5))

    def advance(steps: int) -> None:
        def work(first: int, last: int) -> None:
            size = min(BLOCK, last - first)
            scratch = (
                np.empty(size, np.uint64),
                np.empty((size, *vec._actions.shape), vec._actions.dtype),
                np.empty(size),
                np.empty(size, np.bool_),
                np.empty(size, np.bool_),
                np.empty(size + 1, np.int64),
            )
            vec._program.rollout(
                vec._memory, vec._param_rows.words, vec._action_clock, vec._actions.bounds,
                vec.max_episode_steps or NO_LIMIT, first, last, steps, *scratch, stats,
            )  # fmt: skip

        vec._run(over_lanes, work, vec.num_envs, BLOCK, num_threads)
        vec._action_clock += np.uint64(steps)

    advance(0)  # compiles
    seconds = 0.0
    sizes = chunk_sizes(num_steps, vec.num_envs)
    for steps in progress_bar(sizes) if progress else sizes:
        start = time.perf_counter()
        advance(steps)
        seconds += time.perf_counter() - start
    return Rollout(vec.num_envs, num_steps, seconds, *merge(stats))


def chunk_sizes(num_steps: int, num_envs: int) -> list[int]:
    """Split steps into chunks of about `CHUNK` env-steps, one step at least."""
    size = min(num_steps, max(1, CHUNK // num_envs))
    return [min(size, num_steps - done) for done in range(0, num_steps, size)]


def progress_bar(sizes: list[int]) -> Iterator[int]:
    """Go through chunks of steps with a progress bar on stderr.

    Raises:
        ImportError: rich is not installed.
    """
    try:
        from rich.console import Console
        from rich.progress import track
    except ImportError:
        raise ImportError('a progress bar needs rich: pip install "sekai[cli]"') from None
    yield from track(sizes, "Rolling out", console=Console(stderr=True), transient=True)


def merge(stats: np.ndarray) -> tuple[int, float, float, float, float]:
    """Merge the moments of blocks, in order: number of episodes, mean and deviation of returns and of lengths.

    Source: Chan, Golub and LeVeque, 1983, eq. 2.1.
    """
    total, return_mean, return_squares, length_mean, length_squares = np.zeros(5)
    for count, mean, squares, other_mean, other_squares in stats[stats[:, 0] > 0]:
        total += count
        change, other_change = mean - return_mean, other_mean - length_mean
        return_mean += change * count / total
        return_squares += squares + change**2 * count * (total - count) / total
        length_mean += other_change * count / total
        length_squares += other_squares + other_change**2 * count * (total - count) / total
    if not total:
        return 0, np.nan, np.nan, np.nan, np.nan
    deviations = float(np.sqrt(return_squares / total)), float(np.sqrt(length_squares / total))
    return int(total), float(return_mean), deviations[0], float(length_mean), deviations[1]
