"""Make environments and batches of them from their specs."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from sekai.core.env import Env
from sekai.core.multi_agent import MultiAgentEnv
from sekai.core.wrapper import Wrapper
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

NATIVE = ("native", "vector_entry_point")
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
    if not isinstance(env, (Env, MultiAgentEnv)):
        raise TypeError(f"the entry point of {spec.id!r} must return a sekai.Env, got {env!r}")
    env.spec = replace(spec)
    if spec.max_episode_steps is not None:
        env = TimeLimit(env, spec.max_episode_steps)
    return _wrapped(env, spec, ())


def _wrapped(env: Env[Any, Any], spec: EnvSpec, wrappers: Sequence[EnvWrapper]) -> Env[Any, Any]:
    """Put an environment into the wrappers of `spec`, and `wrappers` around those."""
    for wrapper in spec.additional_wrappers:
        env = load(wrapper.entry_point)(env, **copied(wrapper.kwargs, arrays=True))
    for wrap in wrappers:
        env = wrap(env)
    return env


def build_vec_env(
    spec: EnvSpec, num_envs: int, mode: str | None, vector_kwargs: dict[str, Any], wrappers: Sequence[EnvWrapper]
) -> VecEnv[Any, Any]:
    """Make a batch with just the time limit, arguments and wrappers of `spec`, and `wrappers` around those."""
    for wrap in wrappers:
        if _is_vec_wrapper(wrap):
            raise TypeError(
                f"wrappers must be functions of a single environment, got {wrap.__name__}, a wrapper of batches: "
                f"put it around the batch, {wrap.__name__}(make_vec(…))"
            )
    layers = []
    if mode in (None, *NATIVE) and _batch_factory(spec) is not None:
        layers = _layers(spec, wrappers)
    if mode is None:
        mode = _best_mode(spec, layers)
    if mode in NATIVE:
        batch = _native_batch(spec, num_envs, vector_kwargs, layers)
    elif mode in BATCHES_OF_ENVS:
        _env_factory(spec)  # fails here rather than in a worker

        def lane() -> Env[Any, Any]:
            kwargs = {name: _for_one_lane(value) for name, value in spec.kwargs.items()}
            return _wrapped(build_env(replace(spec, kwargs=kwargs, additional_wrappers=())), spec, wrappers)

        batch = load(BATCHES_OF_ENVS[mode])([lane] * num_envs, **vector_kwargs)
    else:
        raise ValueError(f"vectorization_mode must be native, {', '.join(BATCHES_OF_ENVS)} or None, got {mode!r}")
    batch.spec = spec
    return batch  # type: ignore[no-any-return]


def _is_vec_wrapper(wrap: Any) -> bool:
    wrapping = sys.modules.get("sekai.vector.vec_wrapper")  # where it is not loaded there is none
    return wrapping is not None and isinstance(wrap, type) and issubclass(wrap, wrapping.VecWrapper)


def _for_one_lane(value: Any) -> Any:
    """What a lane gets for an argument of the batch: of an `EpisodeSampler` one of its own."""
    sampling = sys.modules.get("sekai.finance.sampling")  # where it is not loaded there is no sampler
    is_sampler = sampling is not None and isinstance(value, sampling.EpisodeSampler)
    return value.spawn() if is_sampler else value


def _best_mode(spec: EnvSpec, layers: Sequence[Env[Any, Any]]) -> str:
    """Return "native" if there is such a batch and all wrappers have vector twins, else "sync"."""
    if _batch_factory(spec) is None:
        return "sync"
    unknown = ", ".join(_without_twins(layers))
    if unknown:
        warnings.warn(
            f"{unknown} has no twin for batches, so {spec.id!r} runs as a slow batch of single environments; "
            "write a VecWrapper instead, or pass vectorization_mode='sync' if that is meant",
            UserWarning,
            stacklevel=4,
        )
        return "sync"
    return "native"


def _native_batch(spec: EnvSpec, num_envs: int, vector_kwargs: dict[str, Any], layers: Sequence[Env[Any, Any]]) -> Any:
    factory = _batch_factory(spec)
    if factory is None:
        raise ValueError(f"{spec.id!r} has no native vector implementation; use one of the other modes")
    unknown = ", ".join(_without_twins(layers))
    if unknown:
        raise ValueError(f"{unknown} has no twin for a native batch of {spec.id!r}; use another mode")
    limit = {} if spec.max_episode_steps is None else {"max_episode_steps": spec.max_episode_steps}
    batch = factory(num_envs=num_envs, **copied(spec.kwargs, arrays=False), **limit, **vector_kwargs)
    for layer in layers:
        batch = _twins()[type(layer)](batch, layer)
    return batch


def _without_twins(layers: Sequence[Env[Any, Any]]) -> list[str]:
    return [type(layer).__name__ for layer in layers if type(layer) not in _twins()]


def _layers(spec: EnvSpec, wrappers: Sequence[EnvWrapper]) -> list[Env[Any, Any]]:
    """Return the wrappers outside the time limit that an environment gets, innermost first; tried out on one."""
    if not (wrappers or spec.additional_wrappers):
        return []
    with build_env(replace(spec, additional_wrappers=())) as base:
        env, layers = _wrapped(base, spec, wrappers), []
        while env is not base:
            layers.append(env)
            env = env.env if isinstance(env, Wrapper) else base
    return layers[::-1]


def _twins() -> dict[type, Any]:
    from sekai.vector.twins import TWINS

    return TWINS


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
