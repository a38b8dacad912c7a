"""Rollouts in compiled code."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from sekai.error import InvalidAction
from sekai.policies import Policy, Random
from sekai.rollouts.ending import finish
from sekai.rollouts.progress import Bar
from sekai.rollouts.recording import ARRAYS
from sekai.rollouts.result import Rollout
from sekai.vector.batches import map_arrays
from sekai.vector.kernel import BLOCK, NO_LIMIT, KernelVecEnv
from sekai.vector.threads import available, over_lanes, uninterrupted

CHUNK = 20_000_000  # env-steps between two looks at Ctrl-C and the progress bar, some 50 ms
ROOM = 2**17  # episodes that one call of the kernel has room for
THREADS_PAY = 500_000  # env-steps for which threads are worth while, some ms
WEIGHTS = 64  # of a policy, that take as long as the step of a simple env


def run_fused(
    vec: KernelVecEnv[Any, Any],
    policy: Any,
    arrays: dict[str, Any],
    result: Rollout,
    lists: bool,
    num_threads: int | None,
    bar: Bar,
) -> None:
    """Take all steps in compiled code, with a policy that is compiled, or actions that are given.

    Raises:
        InvalidAction: The policy chose what it may not; lanes have gone different numbers of steps.
    """
    n, num_steps, given = vec.num_envs, result.num_steps, isinstance(policy, np.ndarray)
    rows = {**single_rows(vec), **arrays}
    if isinstance(rows["observations"], dict):
        rows["observations"] = tuple(rows["observations"].values())
    memory, params = vec._packed_memory, vec._param_rows.packed(vec._param_rows.words)
    if given:
        if "actions" in arrays:
            arrays["actions"][...] = policy
        rows["actions"], policy = policy, Random()
    unsure = not (given or policy.always_valid)
    accepted = vec._actions.accepted if unsure else vec._actions.accepted[:, :0]
    program = vec._rollout_program(policy)
    effort = 1 + policy.weights.shape[1] // WEIGHTS
    if num_threads is None:
        num_threads = vec.num_threads or (available() if n * num_steps * effort >= THREADS_PAY else 1)
    streams = vec._policy_streams() if policy.uses_streams else np.empty((6, 0), np.uint64)
    keeps_finals = "observations" in arrays and vec.autoreset_mode == "same_step"
    recorded = [rows[name] for name in (*ARRAYS, "valid", "info")]
    stats = np.zeros((-(-n // BLOCK), 5))
    found: list[tuple[Any, ...]] = []

    done = 0

    def advance(start: int, steps: int) -> None:
        nonlocal done

        def work(first: int, last: int) -> list[tuple[Any, ...]]:
            scratch, episodes = scratch_space(policy, min(BLOCK, last - first)), []
            while True:
                room = steps * min(2 * BLOCK, last - first) if lists else 0
                returns, data = np.empty(room), np.empty((4, room), np.int64)
                finals = vec._empty_observations(room if keeps_finals else 0)
                first, count = program(
                    memory, params, vec.max_episode_steps or NO_LIMIT, vec._mode, first, last,
                    start, steps, policy.weights, n // len(policy.weights), vec._policy_seeds, streams,
                    vec._action_clock, vec._actions.bounds, accepted, given, policy.uses_observations, *recorded,
                    returns, data, finals, stats, *scratch,
                )  # fmt: skip
                if count < 0:
                    t = -1 - count if "actions" in arrays else 0
                    raise InvalidAction(rows["actions"][t, first], vec.action_space, lane=first)
                if count:
                    finals = map_arrays(lambda rows, count=count: rows[:count].copy(), vec._shown(finals))
                    episodes.append((returns[:count].copy(), data[:, :count].copy(), finals))
                if first == last:
                    return episodes

        for part in vec._run(over_lanes, work, n, BLOCK, num_threads):
            found.extend(part)
        vec._action_clock += np.uint64(steps)
        done += steps

    def note_flags() -> None:
        if done:
            last = [rows[name][min(done, len(rows[name])) - 1] for name in ("terminated", "truncated")]
            vec._note_flags(*last)

    vec._may_wait |= vec.autoreset_mode != "same_step"
    advance(0, 0)  # compiles
    size = min(num_steps, max(1, CHUNK // (n * effort)))
    if lists:
        size = min(size, max(64, ROOM // n))
    try:
        for start in bar(range(0, num_steps, size)):
            begin = time.perf_counter()
            steps = min(size, num_steps - start)
            uninterrupted(advance, start, steps)
            result.seconds += time.perf_counter() - begin
    except KeyboardInterrupt:
        note_flags()
        raise
    note_flags()
    finish(result, stats, found if lists else None, vec._no_observations)


def single_rows(vec: KernelVecEnv[Any, Any]) -> dict[str, np.ndarray]:
    """What the kernel writes each step's arrays into that are not recorded, one after the other."""
    n = vec.num_envs
    flags = {name: np.empty((1, n), np.bool_) for name in ("terminated", "truncated", "valid")}
    actions = np.empty((1, n, *vec._actions.shape), vec._actions.dtype)
    observations = map_arrays(lambda array: array[None], vec._empty_observations(n))
    info = np.empty((0, vec._info_rows, n))
    return {"observations": observations, "actions": actions, "rewards": np.empty((1, n)), "info": info, **flags}


def scratch_space(policy: Policy, n: int) -> tuple[np.ndarray, ...]:
    """What the kernel works on for a block of n lanes, in the order of its arguments."""
    from sekai.kernels.policies import TILE

    # Networks calculate whole vectors of lanes, those beyond the last included: of zeros, NumPy does not warn.
    return np.empty(n, np.uint64), np.empty(n + 1, np.int64), np.zeros((2, policy.work_rows, TILE))
