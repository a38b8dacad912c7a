"""Make environments and batches of them from their specs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from sekai.core.env import Env
from sekai.error import EnvNotFound
from sekai.registry.entry_point import load
from sekai.registry.env_spec import copied
from sekai.utils.integers import as_int
from sekai.wrappers.time_limit import TimeLimit

if TYPE_CHECKING:
    from sekai.registry.env_spec import EnvSpec
    from sekai.vector import VecEnv

EnvWrapper: TypeAlias = Callable[[Env[Any, Any]], Env[Any, Any]]

UNLIMITED = -1  # as `max_episode_steps`: no limit, whatever the spec says

BATCHES_OF_ENVS = {
    "sync": "sekai.vector.sync_vec_env:SyncVecEnv",
    "async": "sekai.vector.async_vec_env:AsyncVecEnv",
    "proc": "sekai.vector.proc_vec_env:ProcVecEnv",
}


def chosen(spec: EnvSpec, max_episode_steps: int | None, kwargs: dict[str, Any]) -> EnvSpec:
    """Return a copy of `spec` with what the caller of `make` or `make_vec` chose; it shares nothing that can change."""
    limit = spec.max_episode_steps if max_episode_steps is None else as_int("max_episode_steps", max_episode_steps)
    merged = {**copied(spec.kwargs, arrays=True), **kwargs}
    return replace(spec, max_episode_steps=None if limit == UNLIMITED else limit, kwargs=merged)


def build_env(spec: EnvSpec) -> Env[Any, Any]:
    """Make one environment with just the time limit, arguments and wrappers of `spec`."""
    env: Env[Any, Any] = _env_factory(spec)(**copied(spec.kwargs, arrays=False))
    if not isinstance(env, Env):
        raise TypeError(f"the entry point of {spec.id!r} must return a sekai.Env, got {env!r}")
    env.spec = replace(spec)
    if spec.max_episode_steps is not None:
        env = TimeLimit(env, spec.max_episode_steps)
    for wrapper in spec.additional_wrappers:
        env = load(wrapper.entry_point)(env, **copied(wrapper.kwargs, arrays=True))
    return env


def build_vec_env(
    spec: EnvSpec, num_envs: int, mode: str | None, vector_kwargs: dict[str, Any], wrappers: Sequence[EnvWrapper]
) -> VecEnv[Any, Any]:
    """Make a batch with just the time limit, arguments and wrappers of `spec`, and `wrappers` around those."""
    wrapped = bool(wrappers or spec.additional_wrappers)
    if mode is None:
        mode = "sync" if wrapped or _batch_factory(spec) is None else "native"
    if mode in ("native", "vector_entry_point"):
        batch = _native_batch(spec, num_envs, vector_kwargs, wrapped)
    elif mode in BATCHES_OF_ENVS:
        _env_factory(spec)  # fails here rather than in a worker

        def lane() -> Env[Any, Any]:
            env = build_env(spec)
            for wrapper in wrappers:
                env = wrapper(env)
            return env

        batch = load(BATCHES_OF_ENVS[mode])([lane] * num_envs, **vector_kwargs)
    else:
        raise ValueError(f"vectorization_mode must be native, {', '.join(BATCHES_OF_ENVS)} or None, got {mode!r}")
    batch.spec = spec
    return batch  # type: ignore[no-any-return]


def _native_batch(spec: EnvSpec, num_envs: int, vector_kwargs: dict[str, Any], wrapped: bool) -> Any:
    factory = _batch_factory(spec)
    if factory is None:
        raise ValueError(f"{spec.id!r} has no native vector implementation; use one of the other modes")
    if wrapped:
        raise ValueError(f"wrappers of single environments do not fit a native batch of {spec.id!r}; use another mode")
    limit = {} if spec.max_episode_steps is None else {"max_episode_steps": spec.max_episode_steps}
    return factory(num_envs=num_envs, **copied(spec.kwargs, arrays=False), **limit, **vector_kwargs)


def _env_factory(spec: EnvSpec) -> Callable[..., Any]:
    if spec.entry_point is None:
        reason = "has no entry point for single environments (none was given, or a callable that JSON has no form for)"
        raise EnvNotFound(spec.id, reason=reason)
    return load(spec.entry_point)


def _batch_factory(spec: EnvSpec) -> Callable[..., Any] | None:
    """Return the vector entry point, or else the batch that the class of the environment is one lane of."""
    if spec.vector_entry_point is not None:
        return load(spec.vector_entry_point)
    entry = None if spec.entry_point is None else load(spec.entry_point)
    for base in entry.__mro__ if isinstance(entry, type) else ():
        if isinstance(vars(base).get("batch"), type):
            return base.batch  # type: ignore[attr-defined, no-any-return]
        if vars(base).keys() & {"reset", "step"}:
            return None  # a subclass does something else than a lane of the batch that it inherits
    return None
