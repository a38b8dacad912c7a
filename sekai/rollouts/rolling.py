"""Stepping a batch many times in one call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, TypeGuard

import numpy as np

from sekai.error import InvalidAction
from sekai.policies import Policy, Random
from sekai.rollouts.fused import run_fused
from sekai.rollouts.progress import progress_bar
from sekai.rollouts.recording import ARRAYS, allocate, publish
from sekai.rollouts.result import Rollout, start_of
from sekai.rollouts.stepped import run_stepped
from sekai.utils.integers import positive_int
from sekai.utils.seeding import as_seed
from sekai.vector.kernel import KernelVecEnv
from sekai.vector.vec_env import VecEnv


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
    fast as a thousand. Ctrl-C takes effect between two chunks of steps, and leaves the batch usable.

    Args:
        vec: The batch. It is reset first if it never was, or if `seed` is given.
        policy: `"random"` (see `sekai.policies.Random`; a batch that is no kernel env, or calls own Python, draws from
            its `batch_action_space`), a `sekai.policies.Policy`, an array of actions `(T, N, …)`, or a function from
            the observations of all lanes to their actions, which is called from Python at each step.
        num_steps: T, at least 1.
        record: Names of arrays to record: any of `"observations"`, `"actions"`, `"rewards"`, `"terminated"`,
            `"truncated"` and of a kernel env's infos. Episodes that end are recorded besides; `None` records nothing
            but their statistics. Warns if that takes more than half of the memory that is free.
        seed: Seeds the lanes as `vec.reset` does, and so the streams of random actions.
        out: An earlier rollout of the same shape, whose arrays are overwritten.
        num_threads: How many threads share the lanes; None for the batch's own number or, if it has none, for as many
            as there are processors where it is worth it. The result is the same for any number.
        progress: Show a progress bar on stderr (needs rich).

    Raises:
        TypeError, ValueError: An argument is not what it should be; nothing has changed then.
        InvalidAction: An action of an array or of a compiled policy lies outside the action space of a kernel env;
            nothing has changed then. Or a function's, or another batch's: the steps before have been taken then.
        VecEnvClosed: The batch is closed.
        ImportError: A progress bar without rich.
    """
    if not isinstance(vec, VecEnv):
        raise TypeError(f"vec must be a VecEnv, which sekai.make_vec makes, got {vec!r}")
    vec._check_open()
    num_steps = positive_int("num_steps", num_steps)
    seed = None if seed is None else as_seed(seed)
    num_threads = None if num_threads is None else positive_int("num_threads", num_threads)
    names = check_record(vec, record)
    if not isinstance(progress, bool):
        raise TypeError(f"progress must be a bool, got {progress!r}")
    policy = check_policy(vec, policy, num_steps)
    fused = is_compiled(vec) and not is_function(policy)
    with progress_bar() if progress else nullcontext(iter) as bar:
        arrays = allocate(vec, policy, num_steps, names, out)
        result = Rollout(vec.num_envs, num_steps, autoreset_mode=vec.autoreset_mode)
        with undone_if_refused(vec, policy):
            if seed is not None or not getattr(vec, "_started", False):
                vec.reset(seed=seed)
            if seed is not None and not fused:
                vec.batch_action_space.seed(seed)
            if is_compiled(vec) and "actions" in names:
                result._start = start_of(vec)
            if fused and is_compiled(vec):
                run_fused(vec, policy, arrays, result, record is not None, num_threads, bar)
            else:
                run_stepped(vec, policy, arrays, result, record is not None, bar)
    publish(result, vec, arrays, names)
    return result


@contextmanager
def undone_if_refused(vec: VecEnv[Any, Any], policy: Any) -> Iterator[None]:
    """Put the batch back if its compiled policy does not compile, or chooses what it may not."""
    trusted = not isinstance(policy, Policy) or (policy.always_valid and type(policy).act_lane is None)
    undo = vec._undo_point() if is_compiled(vec) and not trusted else None
    try:
        yield
    except Exception:
        if undo is not None:
            undo()
        raise


def is_compiled(vec: VecEnv[Any, Any]) -> TypeGuard[KernelVecEnv[Any, Any]]:
    """Whether a batch can be rolled out in compiled code: not with a generator that only Python can draw from."""
    return isinstance(vec, KernelVecEnv) and vec._foreign is None and not vec._calls_python


def is_function(policy: Any) -> bool:
    """Whether a policy is called from Python, once per step."""
    return callable(policy) and not isinstance(policy, Policy)


def check_record(vec: VecEnv[Any, Any], record: Sequence[str] | None) -> list[str]:
    """Check the names of what to record.

    Raises:
        TypeError: `record` is a string, or not a sequence.
        ValueError: There is nothing of that name.
    """
    if isinstance(record, str) or not isinstance(record, (Iterable, type(None))):
        raise TypeError(f"record must be a sequence of names or None, got {record!r}")
    known = [*ARRAYS, *(vec._step_infos.names if isinstance(vec, KernelVecEnv) else ())]
    names = [] if record is None else list(record)
    for name in names:
        if name not in known:
            raise ValueError(f"record must hold names among {', '.join(known)}, got {name!r}")
    return names


def check_policy(vec: VecEnv[Any, Any], policy: Any, num_steps: int) -> Any:
    """Check a policy, and return it as a `Policy`, a function, or an array of actions as kernels take them."""
    fused = is_compiled(vec)
    if isinstance(policy, str) and policy == "random":
        policy = Random()
    if isinstance(policy, Random) and not fused:
        return lambda observations: vec.batch_action_space.sample()
    if isinstance(policy, Policy):
        if not fused:
            raise TypeError(f"a compiled policy needs a kernel env, got {vec!r}; pass a function of the observations")
        policy.check(vec)
        return policy
    if policy is None or isinstance(policy, (str, type, dict)):
        raise TypeError(f'policy must be "random", a Policy, an array of actions or a function, got {policy!r}')
    return policy if callable(policy) else check_actions(vec, policy, num_steps)


def check_actions(vec: VecEnv[Any, Any], given: Any, num_steps: int) -> Any:
    """Check an array of actions `(T, N, …)`, and return it as kernels take it."""
    try:
        array = np.asarray(given)
    except ValueError:
        raise ValueError("an array of actions must not have rows of different lengths") from None
    shape = array.shape[2:] if vec.action_space.shape is None else vec.action_space.shape
    expected = num_steps, vec.num_envs, *shape
    if array.shape != expected:
        raise ValueError(f"an array of actions must have shape {expected}, got {array.shape}")
    if not isinstance(vec, KernelVecEnv):
        return array
    packed = vec._actions.pack(array.reshape(-1, *shape), num_steps * vec.num_envs)
    low, high = vec._actions.accepted
    numbers = packed.reshape(len(packed), -1)
    outside = ~((low <= numbers) & (numbers <= high)).all(axis=1)
    if outside.any():
        t, lane = divmod(int(outside.argmax()), vec.num_envs)
        raise InvalidAction(array[t, lane], vec.action_space, lane=lane)
    return packed.reshape(expected)
