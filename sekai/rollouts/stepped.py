"""Rollouts that are stepped from Python."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from sekai.rollouts.ending import finish
from sekai.rollouts.progress import Bar
from sekai.rollouts.recording import no_rows, record_observations, record_step
from sekai.rollouts.result import Rollout
from sekai.spaces import Space
from sekai.vector.batches import as_arrays
from sekai.vector.kernel import BLOCK, KernelVecEnv
from sekai.vector.vec_env import VecEnv


def run_stepped(
    vec: VecEnv[Any, Any], policy: Any, arrays: dict[str, Any], result: Rollout, lists: bool, bar: Bar
) -> None:
    """Take the steps one by one, with a policy that is a Python function or an array of actions."""
    from sekai.kernels import rollout as kernels

    n = vec.num_envs
    keeps_finals = "observations" in arrays and vec.autoreset_mode == "same_step"
    no_finals = no_rows(vec.observation_space)
    returns, lengths, stats = np.zeros(n), np.zeros(n, np.int64), np.zeros((-(-n // BLOCK), 5))
    if isinstance(vec, KernelVecEnv):
        runs = vec._book_row("ending") == 0
        returns[runs], lengths[runs] = vec._book_row("episode_return")[runs], vec._book_row("elapsed")[runs]
    observations = vec.reset(mask=np.zeros(n, np.bool_)).observations
    found = []
    for t in bar(range(result.num_steps)):
        begin = time.perf_counter()
        record_observations(vec, arrays, t, observations)
        actions = policy(observations) if callable(policy) else policy[t]
        if isinstance(vec, KernelVecEnv):
            actions = vec._actions.pack(actions, n)
        step = vec.step(actions)
        valid, ended = step.valid, step.valid & step.dones
        record_step(vec, arrays, t, actions, step)
        kernels.track(returns, lengths, step.rewards, valid, ended, stats)
        lanes = np.flatnonzero(ended)
        if lists and lanes.size:
            endings = step.terminated[lanes] + 2 * step.truncated[lanes]
            data = np.array([lanes, np.full(lanes.size, t), lengths[lanes], endings])
            finals = final_rows(vec.observation_space, step.infos) if keeps_finals else no_finals
            found.append((returns[lanes], data, finals))
        returns[lanes] = lengths[lanes] = 0
        observations = step.observations
        result.seconds += time.perf_counter() - begin
    record_observations(vec, arrays, result.num_steps, observations)
    finish(result, stats, found if lists else None, no_finals)


def final_rows(space: Space[Any], infos: Sequence[Any]) -> Any:
    """The last observations of the lanes that a step has reset, as nested arrays."""
    if hasattr(infos, "final_observations"):
        return as_arrays(space, infos.final_observations)
    return as_arrays(space, [info["final_observation"] for info in infos if "final_observation" in info])
