"""Rollouts: many steps of a batch in one call, with the policy inside the compiled loop."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sekai.core.result import ResetResult, StepResult
from sekai.error import InvalidAction
from sekai.policies import Policy, Random
from sekai.utils.integers import positive_int
from sekai.vector.infos import InfoRows
from sekai.vector.kernel import BLOCK, NO_LIMIT, KernelVecEnv
from sekai.vector.threads import available, over_lanes
from sekai.vector.vec_env import VecEnv

ARRAYS = ("observations", "actions", "rewards", "terminated", "truncated")
CHUNK = 20_000_000  # env-steps between two looks at Ctrl-C and the progress bar, some 50 ms
ROOM = 2**17  # episodes that one call of the kernel has room for
THREADS_PAY = 500_000  # env-steps for which threads are worth while, some ms


class Episodes(NamedTuple):
    """Episodes that ended, ordered by step and lane; arrays of equal length.

    Attributes:
        returns: Sums of rewards, float64.
        lengths: Numbers of steps, int64; an episode that began before the rollout is counted from its beginning.
        lanes: Lanes they ran in.
        end_steps: Steps of the rollout that ended them.
        terminated: Whether they reached a terminal state.
        truncated: Whether they were cut short.
        final_observations: Their last observations, if the rollout recorded observations in same-step mode; else empty.
    """

    returns: NDArray[np.float64]
    lengths: NDArray[np.int64]
    lanes: NDArray[np.int64]
    end_steps: NDArray[np.int64]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    final_observations: Any


class Statistics(NamedTuple):
    """How the episodes of a rollout ended, all together; NaN if none did.

    Attributes:
        num_episodes: How many.
        return_mean, return_std: Mean and standard deviation of their sums of rewards.
        length_mean, length_std: The same of their numbers of steps.
    """

    num_episodes: int
    return_mean: float
    return_std: float
    length_mean: float
    length_std: float


@dataclass(eq=False)
class Rollout:
    """What `rollout` did: T steps of N lanes. Arrays are time-major; those that were not recorded are None.

    Attributes:
        num_envs: N.
        num_steps: T.
        seconds: Time it took, without compiling.
        statistics: Of the episodes that ended.
        autoreset_mode: The batch's.
        episodes: The episodes that ended, one by one; None if only statistics were asked for.
        observations: `(T, N, …)`: what the actions were chosen by.
        last_observations: `(N, …)`: those after the last step.
        actions: `(T, N, …)`.
        rewards: float64 `(T, N)`.
        terminated: bool `(T, N)`.
        truncated: bool `(T, N)`.
        valid: bool `(T, N)`: rows that are real transitions, not those of lanes that waited or were only reset.
        infos: Name to array `(T, N)`.
    """

    num_envs: int
    num_steps: int
    seconds: float
    statistics: Statistics
    autoreset_mode: str
    episodes: Episodes | None = None
    observations: Any = None
    last_observations: Any = None
    actions: Any = None
    rewards: NDArray[np.float64] | None = None
    terminated: NDArray[np.bool_] | None = None
    truncated: NDArray[np.bool_] | None = None
    valid: NDArray[np.bool_] | None = None
    infos: dict[str, NDArray[Any]] = field(default_factory=dict)
    _replayer: Callable[[int], Any] | None = None
    _arrays: dict[str, Any] = field(default_factory=dict)

    @property
    def steps_per_second(self) -> float:
        """Env-steps a second."""
        return self.num_envs * self.num_steps / self.seconds

    @property
    def next_observations(self) -> Any:
        """`(T, N, …)`: the true successors of `observations`; where an episode ended, its last observation.

        Raises:
            ValueError: Observations were not recorded.
        """
        if self.observations is None or self.episodes is None:
            raise ValueError('next_observations needs a rollout with "observations" in record')
        successors = np.concatenate([self.observations[1:], self.last_observations[None]])
        if self.autoreset_mode == "same_step":
            successors[self.episodes.end_steps, self.episodes.lanes] = self.episodes.final_observations
        return successors

    def replay(self, lane: int, episode: int) -> Iterator[ResetResult[Any] | StepResult[Any]]:
        """Play one episode of a lane again on a single env, and yield its results: the start, then each step.

        Args:
            lane: The lane.
            episode: Which of the lane's episodes, 0 for the one that ran when the rollout began (or began with it).

        Raises:
            ValueError: Actions were not recorded, or the batch is not a kernel env.
            IndexError: The lane or the episode does not exist.
        """
        if self._replayer is None:
            raise ValueError('replay needs a rollout of a kernel env with "actions" in record')
        if not 0 <= lane < self.num_envs:
            raise IndexError(f"lane must lie in 0 … {self.num_envs - 1}, got {lane}")
        return self._replay(self._replayer(lane), lane, episode)

    def _replay(self, env: Any, lane: int, episode: int) -> Iterator[ResetResult[Any] | StepResult[Any]]:
        number = 0
        result: Any = ResetResult(env.unwrapped.observe(), {})
        if number == episode:
            yield result
        for t in range(self.num_steps):
            if result.done:
                if self.autoreset_mode == "disabled":
                    break
                number += 1
                result = env.reset()
                if number == episode:
                    yield result
                if self.autoreset_mode == "next_step":
                    continue
            result = env.step(self.actions[t, lane])
            if number == episode:
                yield result
                if result.done:
                    return
        if number < episode:
            raise IndexError(f"lane {lane} has {number + 1} episodes in this rollout, got episode {episode}")


def rollout(
    vec: VecEnv[Any, Any],
    policy: Any,
    num_steps: int,
    *,
    record: Sequence[str] | None = ARRAYS,
    seed: int | None = None,
    out: Rollout | None = None,
    num_threads: int | None = None,
    progress: bool = False,
) -> Rollout:
    """Step a batch `num_steps` times, from where it is, and record what happens.

    On a kernel env with a compiled policy all steps run in compiled code, in blocks of lanes: a million lanes are as
        fast
    as a thousand. Ctrl-C takes effect between two chunks of steps, and leaves the batch usable.

    Args:
        vec: The batch. It is reset first if it never was, or if `seed` is given.
        policy: `"random"` (see `sekai.policies.Random`), a `sekai.policies.Policy`, an array of actions `(T, N, …)`,
            or a function from the observations of all lanes to their actions, which is called from Python at each step.
        num_steps: T, at least 1.
        record: Names of arrays to record: any of `"observations"`, `"actions"`, `"rewards"`, `"terminated"`,
            `"truncated"` and of a kernel env's infos. Episodes that end are recorded besides; `None` records nothing
            but their statistics.
        seed: Seeds the lanes as `vec.reset` does, and so the streams of random actions.
        out: An earlier rollout of the same shape, whose arrays are overwritten.
        num_threads: How many threads share the lanes; None for as many as there are processors, if it is worth it. The
            result is the same for any number.
        progress: Show a progress bar on stderr (needs rich).

    Raises:
        TypeError, ValueError: An argument is not what it should be; nothing has changed then.
        InvalidAction: An action of an array lies outside the action space; nothing has changed then.
        VecEnvClosed: The batch is closed.
    """
    num_steps = positive_int("num_steps", num_steps)
    vec._check_open()
    names = check_record(vec, record)
    if isinstance(policy, str):
        if policy != "random":
            raise ValueError(f'policy must be "random", a Policy, an array of actions or a function, got {policy!r}')
        policy = Random()
    given = None if isinstance(policy, Policy) or callable(policy) else policy
    fused = isinstance(vec, KernelVecEnv) and (given is not None or isinstance(policy, Policy))
    if isinstance(policy, Random) and not fused:
        policy = random_actions(vec, seed)
    if isinstance(policy, Policy):
        if not fused:
            raise TypeError(f"a compiled policy needs a kernel env, got {vec!r}; pass a function of the observations")
        policy.check(vec)
    if given is not None:
        given = check_actions(vec, given, num_steps)
    arrays = allocate(vec, num_steps, names, out)
    if seed is not None or not vec_started(vec):
        vec.reset(seed=seed)
    result = Rollout(vec.num_envs, num_steps, 0.0, Statistics(0, *[np.nan] * 4), vec.autoreset_mode)
    if isinstance(vec, KernelVecEnv) and fused:
        if given is not None:
            arrays["actions"] = given
        run_fused(vec, policy, given is not None, arrays, result, record is not None, num_threads, progress)
    else:
        run_stepped(vec, policy, arrays, result, progress)
    publish(result, vec, arrays, names)
    return result


def random_actions(vec: VecEnv[Any, Any], seed: int | None) -> Callable[[Any], Any]:
    """A function that draws actions for a batch that is not a kernel env."""
    if seed is not None:
        vec.action_space.seed(seed)
    return lambda observations: vec.action_space.sample_batch(vec.num_envs)


def check_record(vec: VecEnv[Any, Any], record: Sequence[str] | None) -> list[str]:
    """Check the names of what to record.

    Raises:
        TypeError: `record` is a string, or not a sequence.
        ValueError: There is nothing of that name.
    """
    if isinstance(record, str):
        raise TypeError(f"record must be a sequence of names, got the string {record!r}")
    known = [*ARRAYS, *(vec._step_infos.kinds if isinstance(vec, KernelVecEnv) else ())]
    names = list(record or ())
    for name in names:
        if name not in known:
            raise ValueError(f"record must hold names among {', '.join(known)}, got {name!r}")
    return names


def check_actions(vec: VecEnv[Any, Any], given: Any, num_steps: int) -> Any:
    """Check an array of actions `(T, N, …)`, and return it as kernels take it."""
    array = np.asarray(given)
    if array.shape[:2] != (num_steps, vec.num_envs):
        raise ValueError(f"an array of actions must begin with shape ({num_steps}, {vec.num_envs}), got {array.shape}")
    if not isinstance(vec, KernelVecEnv):
        return array
    packed = np.stack([vec._actions.pack(row, vec.num_envs) for row in array])
    low, high = vec._actions.accepted
    numbers = packed.reshape(num_steps, vec.num_envs, -1)
    outside = ~((low <= numbers) & (numbers <= high)).all(axis=2)
    if outside.any():
        t, lane = np.argwhere(outside)[0]
        raise InvalidAction(array[t, lane], vec.action_space, lane=int(lane))
    return packed


def allocate(vec: VecEnv[Any, Any], num_steps: int, names: Sequence[str], out: Rollout | None) -> dict[str, Any]:
    """Arrays to record into: those of an earlier rollout, or new ones; warns before taking over half of free memory."""
    n = vec.num_envs
    shapes: dict[str, tuple[tuple[int, ...], Any]] = {
        "observations": ((num_steps + 1, n, *(vec.observation_space.shape or ())), vec.observation_space.dtype),
        "rewards": ((num_steps, n), np.float64),
        "terminated": ((num_steps, n), np.bool_),
        "truncated": ((num_steps, n), np.bool_),
    }
    if isinstance(vec, KernelVecEnv):
        shapes["actions"] = (num_steps, n, *vec._actions.shape), vec._actions.dtype
    else:
        shapes["actions"] = (num_steps, n, *(vec.action_space.shape or ())), vec.action_space.dtype
    wanted = {name: shapes[name] for name in ARRAYS if name in names}
    if any(name not in ARRAYS for name in names):
        wanted["info"] = (num_steps, len(vec._step_infos.kinds) + 1, n), np.float64  # type: ignore[attr-defined]
    if names and vec.autoreset_mode != "same_step":
        wanted["valid"] = (num_steps, n), np.bool_
    if out is not None:
        for name, (shape, dtype) in wanted.items():
            array = out._arrays.get(name)
            if array is None or array.shape != shape or array.dtype != dtype:
                raise ValueError(f"out must be a rollout with {name} of shape {shape} and dtype {np.dtype(dtype)}")
        return {name: out._arrays[name] for name in wanted}
    size = sum(int(np.prod(shape)) * np.dtype(dtype).itemsize for shape, dtype in wanted.values())
    free = free_memory()
    if free is not None and size > free / 2:
        warnings.warn(f"this rollout records {size / 2**30:.1f} GiB, of {free / 2**30:.1f} GiB free", stacklevel=3)
    return {name: np.empty(shape, dtype) for name, (shape, dtype) in wanted.items()}


def run_fused(
    vec: KernelVecEnv[Any, Any],
    policy: Any,
    given: bool,
    arrays: dict[str, Any],
    result: Rollout,
    lists: bool,
    num_threads: int | None,
    progress: bool,
) -> None:
    """Run all steps in compiled code."""
    n, num_steps = vec.num_envs, result.num_steps
    policy = Random() if given else policy
    program = vec._rollout_program(policy)
    if num_threads is None:
        num_threads = available() if n * num_steps >= THREADS_PAY else 1
    if "actions" in arrays:
        snapshot = vec.get_state()
        result._replayer = lambda lane: lane_env(vec, snapshot, lane)
    stats = np.zeros((-(-n // BLOCK), 5))
    stream = vec._policy_stream() if policy.uses_streams else np.empty((6, 0), np.uint64)
    keeps_finals = "observations" in arrays and vec.autoreset_mode == "same_step"
    recorded = [arrays.get(name, empty_like(vec, name)) for name in (*ARRAYS, "valid", "info")]
    found: list[tuple[Any, ...]] = []

    def advance(start: int, steps: int) -> None:
        def work(first: int, last: int) -> list[tuple[Any, ...]]:
            scratch = scratch_space(vec, policy, min(BLOCK, last - first), recorded[ARRAYS.index("actions")].dtype)
            episodes = []
            while True:
                room = steps * min(2 * BLOCK, last - first) if lists else 0
                returns, data = np.empty(room), np.empty((4, room), np.int64)
                finals = vec._empty_observations(room if keeps_finals else 0)
                first, count = program(
                    vec._memory, vec._param_rows.words, vec.max_episode_steps or NO_LIMIT, vec._mode, first, last,
                    start, steps, policy.weights, n // len(policy.weights), stream, vec._action_clock,
                    vec._actions.bounds, given, policy.uses_observations, *recorded, returns, data, finals, stats,
                    *scratch,
                )  # fmt: skip
                if count:
                    episodes.append((returns[:count].copy(), data[:, :count].copy(), finals[:count].copy()))
                if first == last:
                    return episodes

        for part in vec._run(over_lanes, work, n, BLOCK, num_threads):
            found.extend(part)
        vec._action_clock += np.uint64(steps)

    advance(0, 0)  # compiles
    size = min(num_steps, max(1, CHUNK // n))
    if lists:
        size = min(size, max(64, ROOM // n))
    starts = range(0, num_steps, size)
    for start in progress_bar(starts) if progress else starts:
        begin = time.perf_counter()
        advance(start, min(size, num_steps - start))
        result.seconds += time.perf_counter() - begin
    finish(result, stats, found if lists else None, vec._empty_observations(0))
    vec._recent.clear()


def run_stepped(vec: VecEnv[Any, Any], policy: Any, arrays: dict[str, Any], result: Rollout, progress: bool) -> None:
    """Run the steps one by one, with a policy that is a Python function or an array of actions."""
    from sekai.kernels import rollout as kernels

    n = vec.num_envs
    observations = vec.reset(mask=np.zeros(n, np.bool_)).observations
    no_finals = np.asarray(observations)[:0]
    returns, lengths, stats = np.zeros(n), np.zeros(n, np.int64), np.zeros((1, 5))
    if isinstance(vec, KernelVecEnv):
        returns[:], lengths[:] = vec._book_row("episode_return"), vec._book_row("elapsed")
    found = []
    steps = range(result.num_steps)
    for t in progress_bar(steps) if progress else steps:
        begin = time.perf_counter()
        actions = policy(observations) if callable(policy) else policy[t]
        step = vec.step(actions)
        valid, ended = step.valid, step.valid & step.dones
        values = observations, actions, step.rewards, step.terminated, step.truncated
        for name, value in zip(ARRAYS, values, strict=True):
            if name in arrays:
                arrays[name][t] = value
        if "valid" in arrays:
            arrays["valid"][t] = valid
        if "info" in arrays:
            arrays["info"][t] = step.infos._words  # type: ignore[attr-defined]
        kernels.track(returns, lengths, step.rewards, valid, ended, stats[0])
        lanes = np.flatnonzero(ended)
        if lanes.size:
            endings = step.terminated[lanes] + 2 * step.truncated[lanes]
            data = np.array([lanes, np.full(lanes.size, t), lengths[lanes], endings])
            found.append((returns[lanes], data, step.final_observations if step.final_lanes.size else no_finals))
            returns[lanes] = lengths[lanes] = 0
        observations = step.observations
        result.seconds += time.perf_counter() - begin
    if "observations" in arrays:
        arrays["observations"][result.num_steps] = observations
    finish(result, stats, found, no_finals)


def finish(result: Rollout, stats: np.ndarray, found: list[tuple[Any, ...]] | None, no_finals: Any) -> None:
    """Put statistics and episodes into a rollout."""
    from sekai.kernels import rollout as kernels

    kernels.merge_stats(stats)
    count = stats[0, 0]
    if count:
        deviations = np.sqrt(stats[0, [2, 4]] / count).tolist()
        result.statistics = Statistics(int(count), float(stats[0, 1]), deviations[0], float(stats[0, 3]), deviations[1])
    if found is None:
        return
    returns = np.concatenate([part[0] for part in found] or [np.empty(0)])
    lanes, steps, lengths, endings = np.concatenate([part[1] for part in found] or [np.empty((4, 0), np.int64)], axis=1)
    finals = np.concatenate([part[2] for part in found] or [no_finals])
    order = np.lexsort((lanes, steps))
    result.episodes = Episodes(
        returns[order], lengths[order], lanes[order], steps[order], endings[order] & 1 != 0, endings[order] & 2 != 0,
        finals[order] if len(finals) else finals,
    )  # fmt: skip


def publish(result: Rollout, vec: VecEnv[Any, Any], arrays: dict[str, Any], names: Sequence[str]) -> None:
    """Put the recorded arrays into a rollout, under their names."""
    result._arrays = arrays
    for name in names:
        if name == "observations":
            result.observations, result.last_observations = arrays[name][:-1], arrays[name][-1]
        elif name in ARRAYS:
            setattr(result, name, arrays[name])
        else:
            rows: InfoRows = vec._step_infos  # type: ignore[attr-defined]
            result.infos[name] = rows.arrays(arrays["info"].transpose(1, 0, 2))[name]
    if names:
        result.valid = arrays.get("valid")
        if result.valid is None:
            result.valid = np.broadcast_to(np.True_, (result.num_steps, result.num_envs))


def empty_like(vec: KernelVecEnv[Any, Any], name: str) -> np.ndarray:
    """An array of length 0 in place of one that is not recorded: kernels are compiled once for both."""
    n = vec.num_envs
    if name == "observations":
        return np.empty((0, n, *vec._observation_shape), vec._observation_dtype)
    if name == "actions":
        return np.empty((0, n, *vec._actions.shape), vec._actions.dtype)
    if name == "rewards":
        return np.empty((0, n))
    return np.empty((0, 1, n)) if name == "info" else np.empty((0, n), np.bool_)


def scratch_space(
    vec: KernelVecEnv[Any, Any], policy: Policy, n: int, action_dtype: np.dtype[Any]
) -> tuple[np.ndarray, ...]:
    """What the kernel works on for a block of n lanes, in the order of its arguments."""
    return (
        np.empty(n, np.uint64),
        vec._empty_observations(n),
        np.empty((n, *vec._actions.shape), action_dtype),
        np.empty(n),
        np.empty(n, np.bool_),
        np.empty(n, np.bool_),
        np.empty(n, np.bool_),
        np.empty(n + 1, np.int64),
        np.empty((policy.work_rows, n)),
    )


def lane_env(vec: KernelVecEnv[Any, Any], snapshot: Any, lane: int) -> Any:
    """A single env that goes on from lane `lane` of a snapshot."""
    one = type(vec)(1, max_episode_steps=vec.max_episode_steps, **vec._lane_arguments(lane))
    one.set_state(snapshot.of_lane(lane))
    return one.lane(0)


def vec_started(vec: VecEnv[Any, Any]) -> bool:
    """Whether a batch has episodes to step."""
    return bool(getattr(vec, "_started", False))


def progress_bar(starts: Sequence[int]) -> Iterator[int]:
    """Go through chunks of steps with a progress bar on stderr.

    Raises:
        ImportError: rich is not installed.
    """
    try:
        from rich.console import Console
        from rich.progress import track
    except ImportError:
        raise ImportError('a progress bar needs rich: pip install "sekai[cli]"') from None
    yield from track(starts, "Rolling out", console=Console(stderr=True), transient=True)


def free_memory() -> int | None:
    """Bytes of memory that can be had, if the system tells."""
    try:
        with open("/proc/meminfo") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return 1024 * int(line.split()[1])
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return None
