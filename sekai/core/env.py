"""The base class of single-agent environments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic

from sekai._types import ActType, ObsType
from sekai.core.base import BaseEnv

if TYPE_CHECKING:
    from sekai._types import SeedType
    from sekai.core.result import ResetResult, StepResult
    from sekai.registry import EnvSpec
    from sekai.spaces import Space


class Env(BaseEnv, ABC, Generic[ObsType, ActType]):
    """An environment for one agent.

    A subclass sets the two spaces in `__init__`, and defines `reset` and `step`. Where a class overrides a sync method
    but not its async twin, the async method runs the override.

    Attributes:
        observation_space: where observations lie.
        action_space: where actions lie.
        metadata: free-form facts about the class; sekai reads `render_fps`.
        spec: what `make` built the environment from, or None.
    """

    observation_space: Space[ObsType]
    action_space: Space[ActType]
    metadata: dict[str, Any] = {}  # noqa: RUF012
    spec: EnvSpec | None = None

    @abstractmethod
    def reset(self, *, seed: SeedType = None, options: dict[str, Any] | None = None) -> ResetResult[ObsType]:
        """Start an episode.

        Args:
            seed: an int >= 0 re-seeds `rng`; a Generator becomes `rng`; None goes on with the stream there is.
            options: what the environment lets the caller choose per episode.
        """

    @abstractmethod
    def step(self, action: ActType) -> StepResult[ObsType]:
        """Carry out `action` and return what it led to."""

    async def async_reset(
        self, *, seed: SeedType = None, options: dict[str, Any] | None = None
    ) -> ResetResult[ObsType]:
        """Start an episode, as `reset` does."""
        return self.reset(seed=seed, options=options)

    async def async_step(self, action: ActType) -> StepResult[ObsType]:
        """Carry out `action`, as `step` does."""
        return self.step(action)

    @property
    def unwrapped(self) -> Env[Any, Any]:
        """The environment under all wrappers."""
        return self

    def has_attr(self, name: str) -> bool:
        """Tell whether some layer, from the outermost to the base environment, has the attribute."""
        return hasattr(self, name)

    def get_attr(self, name: str) -> Any:
        """Return the attribute of the outermost layer that has it.

        Raises:
            AttributeError: no layer has it.
        """
        return getattr(self, name)

    def set_attr(self, name: str, value: Any) -> None:
        """Set the attribute on the outermost layer that has it; if none has, on this one."""
        setattr(self, name, value)

    def __repr__(self) -> str:
        return f"<{type(self).__name__ if self.spec is None else self.spec.id}>"

    __str__ = __repr__
