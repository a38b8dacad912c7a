"""The arrays that a rollout records."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from sekai.rollouts.result import Rollout
from sekai.spaces import Space
from sekai.spaces.utils import zero_sample
from sekai.vector.batches import as_arrays, map_arrays, put, take
from sekai.vector.infos import InfoRows
from sekai.vector.kernel import KernelVecEnv
from sekai.vector.vec_env import VecEnv

ARRAYS = ("observations", "actions", "rewards", "terminated", "truncated")


def allocate(
    vec: VecEnv[Any, Any], policy: Any, num_steps: int, names: Sequence[str], out: Rollout | None
) -> dict[str, Any]:
    """Arrays to record into: those of an earlier rollout, or new ones; warns before taking over half of free memory.

    Raises:
        TypeError, ValueError: `out` is not a rollout with such arrays.
    """
    if not isinstance(out, (Rollout, type(None))):
        raise TypeError(f"out must be an earlier Rollout, got {out!r}")
    earlier = {} if out is None else out._arrays
    try:
        wanted = blueprints(vec, policy, num_steps, names, earlier.get("actions"))
    except ValueError:  # more than any array can hold
        raise ValueError(f"num_steps must be a number of steps that can be recorded, got {num_steps}") from None
    if out is not None:
        for name, blueprint in wanted.items():
            found = earlier.get(name)
            if formats(blueprint) != formats(found):
                raise ValueError(
                    f"out must be a rollout that recorded {name} as {formats(blueprint)}, got {formats(found)}"
                )
            if not all(array.flags.writeable for array in leaves(found)):
                raise ValueError(f"out must hold arrays that can be written to, got {name} read-only")
        return {name: out._arrays[name] for name in wanted}
    size = sum(array.nbytes for blueprint in wanted.values() for array in leaves(blueprint))
    free = free_memory()
    if free is not None and size > free / 2:
        warnings.warn(f"this rollout records {size / 2**30:.1f} GiB, of {free / 2**30:.1f} GiB free", stacklevel=3)
    return {name: map_arrays(lambda a: np.empty(a.shape, a.dtype), blueprint) for name, blueprint in wanted.items()}


def blueprints(
    vec: VecEnv[Any, Any], policy: Any, num_steps: int, names: Sequence[str], earlier: Any = None
) -> dict[str, Any]:
    """Arrays that take no memory, of the shapes and dtypes that are to be recorded.

    Actions that a function has still to choose are expected in the precision of `earlier` ones, if the env takes them.
    """
    n, kernel_env = vec.num_envs, isinstance(vec, KernelVecEnv)
    flags, actions = np.empty(1, np.bool_), no_rows(vec.action_space)
    if isinstance(vec, KernelVecEnv):
        expected = vec._actions.dtype
        if callable(policy) and earlier is not None:
            expected = vec._actions._packed_dtype(earlier.dtype)
        actions = np.empty((1, *vec._actions.shape), expected)
    if isinstance(policy, np.ndarray) and kernel_env:
        actions = policy[0]
    rows = {
        "observations": (num_steps + 1, no_rows(vec.observation_space)),
        "actions": (num_steps, actions),
        "rewards": (num_steps, np.empty(1)),
        "terminated": (num_steps, flags),
        "truncated": (num_steps, flags),
        "valid": (num_steps, flags),
    }
    wanted = [name for name in ARRAYS if name in names]
    all_valid = vec.autoreset_mode == "same_step" and isinstance(vec, KernelVecEnv) and vec._waiting() is None
    if names and not all_valid:
        wanted.append("valid")

    def blueprint(length: int, row: np.ndarray) -> np.ndarray:
        return np.broadcast_to(np.empty((), row.dtype), (length, n, *row.shape[1:]))

    plan = {name: map_arrays(partial(blueprint, rows[name][0]), rows[name][1]) for name in wanted}
    if isinstance(vec, KernelVecEnv) and any(name not in ARRAYS for name in names):
        plan["info"] = np.broadcast_to(0.0, (num_steps, vec._info_rows, n))
    return plan


def no_rows(space: Space[Any]) -> Any:
    """A batch of no elements of a space, as nested arrays."""
    return take(as_arrays(space, [zero_sample(space)]), slice(0))


def leaves(arrays: Any) -> list[np.ndarray]:
    """All arrays of a nest; none of None."""
    found: list[np.ndarray] = []
    if arrays is not None:
        map_arrays(found.append, arrays)
    return found


def formats(arrays: Any) -> str:
    """Shapes and dtypes of nested arrays, and how they are nested, in words."""
    return "nothing" if arrays is None else repr(map_arrays(lambda array: (array.shape, array.dtype.name), arrays))


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


def record_observations(vec: VecEnv[Any, Any], arrays: dict[str, Any], t: int, observations: Any) -> None:
    """Write row t of the observations, if they are recorded."""
    if "observations" in arrays:
        put(arrays["observations"], t, as_arrays(vec.observation_space, observations))


def record_step(vec: VecEnv[Any, Any], arrays: dict[str, Any], t: int, actions: Any, step: Any) -> None:
    """Write row t of what is recorded but for observations, which the policy may have changed.

    Raises:
        TypeError: Actions of a kernel env come as float32 in some steps and as float64 in others.
    """
    if isinstance(vec, KernelVecEnv) and "actions" in arrays and arrays["actions"].dtype != actions.dtype:
        if t > 0:
            raise TypeError(f"a policy must return actions of one dtype, got {actions.dtype} in step {t}")
        arrays["actions"] = np.empty(arrays["actions"].shape, actions.dtype)
    if "actions" in arrays:
        put(arrays["actions"], t, as_arrays(vec.action_space, actions))
    values = {"rewards": step.rewards, "terminated": step.terminated, "truncated": step.truncated, "valid": step.valid}
    if "info" in arrays:
        values["info"] = step.infos.words
    for name in arrays.keys() & values.keys():
        arrays[name][t] = values[name]


def publish(result: Rollout, vec: VecEnv[Any, Any], arrays: dict[str, Any], names: Sequence[str]) -> None:
    """Put the recorded arrays into a rollout, under their names."""
    result._arrays = arrays
    for name in names:
        if name == "observations":
            result.observations = map_arrays(lambda array: array[:-1], arrays[name])
            result.last_observations = map_arrays(lambda array: array[-1], arrays[name])
        elif name in ARRAYS:
            setattr(result, name, arrays[name])
        else:
            rows: InfoRows = vec._step_infos  # type: ignore[attr-defined]
            result.infos[name] = rows.arrays(arrays["info"].transpose(1, 0, 2))[name]
    if names:
        result.valid = arrays.get("valid")
        if result.valid is None:
            result.valid = np.broadcast_to(np.True_, (result.num_steps, result.num_envs))
