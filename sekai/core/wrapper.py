"""Base classes of wrappers: environments that hold another one and change part of what it does."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Generic

from sekai._types import ActType, ObsType, WActType, WObsType
from sekai.core.env import Env
from sekai.core.result import ResetResult, StepResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.random import Generator

    from sekai._types import SeedType
    from sekai.registry import EnvSpec
    from sekai.spaces import Space


class Wrapper(Env[WObsType, WActType], Generic[WObsType, WActType, ObsType, ActType]):
    """An environment that passes everything on to `env`, except what a subclass overrides.

    The wrapper's own observations and actions come first in the type parameters, those of `env` after them. Attributes
    that a layer does not have are not looked up below it; use `get_attr` or `unwrapped`.

    Args:
        env: the environment to wrap.

    Raises:
        TypeError: `env` is not an instance of `Env`.
    """

    def __init__(self, env: Env[ObsType, ActType]) -> None:
        if not isinstance(env, Env):
            raise TypeError(
                f"{type(self).__name__} wraps an instance of sekai.Env, got {env!r} of type {type(env).__name__}; "
                "sekai.compat.from_gymnasium converts gymnasium environments"
            )
        self.env = env
        self._observation_space: Space[WObsType] | None = None
        self._action_space: Space[WActType] | None = None

    @property
    def observation_space(self) -> Space[WObsType]:
        """Where this layer's observations lie: what was assigned here, else `env`'s; assign None to undo."""
        own = self._observation_space
        return self.env.observation_space if own is None else own  # type: ignore[return-value]

    @observation_space.setter
    def observation_space(self, space: Space[WObsType] | None) -> None:
        self._observation_space = space

    @property
    def action_space(self) -> Space[WActType]:
        """Where this layer's actions lie: what was assigned here, else `env`'s; assign None to undo."""
        own = self._action_space
        return self.env.action_space if own is None else own  # type: ignore[return-value]

    @action_space.setter
    def action_space(self, space: Space[WActType] | None) -> None:
        self._action_space = space

    def reset(self, *, seed: SeedType = None, options: dict[str, Any] | None = None) -> ResetResult[WObsType]:
        """Reset `env`."""
        return self.env.reset(seed=seed, options=options)  # type: ignore[return-value]

    def step(self, action: WActType) -> StepResult[WObsType]:
        """Step `env`."""
        return self.env.step(action)  # type: ignore[arg-type, return-value]

    async def async_reset(
        self, *, seed: SeedType = None, options: dict[str, Any] | None = None
    ) -> ResetResult[WObsType]:
        """Reset `env` asynchronously."""
        return await self.env.async_reset(seed=seed, options=options)  # type: ignore[return-value]

    async def async_step(self, action: WActType) -> StepResult[WObsType]:
        """Step `env` asynchronously."""
        return await self.env.async_step(action)  # type: ignore[arg-type, return-value]

    def close(self) -> None:
        """Close `env`."""
        self.env.close()

    @property
    def rng(self) -> Generator:
        """The generator of the base environment."""
        return self.env.rng

    @rng.setter
    def rng(self, generator: Generator) -> None:
        self.env.rng = generator

    def _set_rng(self, seed: SeedType) -> int:
        return self.env._set_rng(seed)

    @property
    def _rng(self) -> Generator | None:
        return self.env._rng

    @_rng.setter
    def _rng(self, generator: Generator | None) -> None:
        self.env._rng = generator

    @property
    def _rng_seed(self) -> int | None:
        return self.env._rng_seed

    @_rng_seed.setter
    def _rng_seed(self, seed: int | None) -> None:
        self.env._rng_seed = seed

    @property
    def spec(self) -> EnvSpec | None:
        """The spec of the base environment."""
        return self.env.spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        self.env.spec = spec

    @property
    def metadata(self) -> dict[str, Any]:  # type: ignore[override]
        """The metadata of `env`."""
        return self.env.metadata

    @property
    def unwrapped(self) -> Env[Any, Any]:
        """The environment under all wrappers."""
        return self.env.unwrapped

    def has_attr(self, name: str) -> bool:
        """Tell whether this layer or one below it has the attribute."""
        return hasattr(self, name) or self.env.has_attr(name)

    def get_attr(self, name: str) -> Any:
        """Return the attribute of the outermost layer that has it.

        Raises:
            AttributeError: no layer has it.
        """
        return getattr(self, name) if hasattr(self, name) else self.env.get_attr(name)

    def set_attr(self, name: str, value: Any) -> None:
        """Set the attribute on the outermost layer that has it; if none has, on this one.

        Raises:
            AttributeError: it is read-only there.
        """
        below = not hasattr(self, name) and self.env.has_attr(name)
        self.env.set_attr(name, value) if below else setattr(self, name, value)

    def __iter__(self) -> Iterator[Env[Any, Any]]:
        """Walk from this layer to the base environment."""
        layer: Env[Any, Any] = self
        while isinstance(layer, Wrapper):
            yield layer
            layer = layer.env
        yield layer

    def __len__(self) -> int:
        """Count the layers, the base environment included."""
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}({self.env})>"

    __str__ = __repr__


class ResultWrapper(Wrapper[WObsType, ActType, ObsType, ActType], Generic[WObsType, ActType, ObsType]):
    """A wrapper that changes what `reset` and `step` return, or takes note of it, the same way in sync and async."""

    def _wrap_reset(self, result: ResetResult[ObsType]) -> ResetResult[WObsType]:
        """Return what the agent gets of a reset."""
        return result  # type: ignore[return-value]

    def _wrap_step(self, result: StepResult[ObsType]) -> StepResult[WObsType]:
        """Return what the agent gets of a step."""
        return result  # type: ignore[return-value]

    def reset(self, *, seed: SeedType = None, options: dict[str, Any] | None = None) -> ResetResult[WObsType]:
        """Reset `env`, and do to the result what the wrapper is for."""
        return self._wrap_reset(self.env.reset(seed=seed, options=options))

    def step(self, action: ActType) -> StepResult[WObsType]:
        """Step `env`, and do to the result what the wrapper is for."""
        return self._wrap_step(self.env.step(action))

    async def async_reset(
        self, *, seed: SeedType = None, options: dict[str, Any] | None = None
    ) -> ResetResult[WObsType]:
        """Reset `env` asynchronously, and do to the result what the wrapper is for."""
        return self._wrap_reset(await self.env.async_reset(seed=seed, options=options))

    async def async_step(self, action: ActType) -> StepResult[WObsType]:
        """Step `env` asynchronously, and do to the result what the wrapper is for."""
        return self._wrap_step(await self.env.async_step(action))


class ObservationWrapper(ResultWrapper[WObsType, ActType, ObsType], Generic[WObsType, ActType, ObsType]):
    """A wrapper that changes the observations of `reset` and `step`."""

    @abstractmethod
    def observation(self, obs: ObsType) -> WObsType:
        """Return what the agent sees of `obs`; called once per reset and once per step."""

    def _wrap_reset(self, result: ResetResult[ObsType]) -> ResetResult[WObsType]:
        return ResetResult(self.observation(result.observation), result.info)

    def _wrap_step(self, result: StepResult[ObsType]) -> StepResult[WObsType]:
        obs = self.observation(result.observation)
        return StepResult(obs, result.reward, result.terminated, result.truncated, result.info)


class RewardWrapper(Wrapper[ObsType, ActType, ObsType, ActType], Generic[ObsType, ActType]):
    """A wrapper that changes the rewards of `step`."""

    @abstractmethod
    def reward(self, reward: float) -> float:
        """Return what the agent gets for `reward`; called once per step."""

    def _wrap_step(self, result: StepResult[ObsType]) -> StepResult[ObsType]:
        reward = self.reward(result.reward)
        return StepResult(result.observation, reward, result.terminated, result.truncated, result.info)

    def step(self, action: ActType) -> StepResult[ObsType]:
        """Step `env` and change the reward."""
        return self._wrap_step(self.env.step(action))

    async def async_step(self, action: ActType) -> StepResult[ObsType]:
        """Step `env` asynchronously and change the reward."""
        return self._wrap_step(await self.env.async_step(action))


class ActionWrapper(Wrapper[ObsType, WActType, ObsType, ActType], Generic[ObsType, WActType, ActType]):
    """A wrapper that changes the actions passed to `step`."""

    @abstractmethod
    def action(self, action: WActType) -> ActType:
        """Return the action of `env` that `action` stands for; called once per step."""

    def reverse_action(self, action: ActType) -> WActType:
        """Return the action that `action` turns into `action` of `env`; a subclass may define it.

        Raises:
            NotImplementedError: it does not.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define reverse_action()")

    def step(self, action: WActType) -> StepResult[ObsType]:
        """Step `env` with the changed action."""
        return self.env.step(self.action(action))

    async def async_step(self, action: WActType) -> StepResult[ObsType]:
        """Step `env` asynchronously with the changed action."""
        return await self.env.async_step(self.action(action))
