"""Refuse to step before the first reset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic

from sekai._types import ActType, ObsType
from sekai.core.wrapper import Wrapper
from sekai.error import ResetRequired

if TYPE_CHECKING:
    from sekai._types import SeedType
    from sekai.core.env import Env
    from sekai.core.result import ResetResult, StepResult


class OrderEnforcing(Wrapper[ObsType, ActType, ObsType, ActType], Generic[ObsType, ActType]):
    """Raises `ResetRequired` if `step` is called before a `reset` that succeeded.

    Args:
        env: The environment to wrap.
    """

    def __init__(self, env: Env[ObsType, ActType]) -> None:
        super().__init__(env)
        self._has_reset = False

    @property
    def has_reset(self) -> bool:
        """Whether there was a reset."""
        return self._has_reset

    def _on_reset(self, result: ResetResult[ObsType]) -> ResetResult[ObsType]:
        self._has_reset = True
        return result

    def _check_order(self) -> None:
        if not self._has_reset:
            raise ResetRequired()

    def reset(self, *, seed: SeedType = None, options: dict[str, Any] | None = None) -> ResetResult[ObsType]:
        """Reset `env`."""
        return self._on_reset(self.env.reset(seed=seed, options=options))

    def step(self, action: ActType) -> StepResult[ObsType]:
        """Step `env`.

        Raises:
            ResetRequired: Before the first reset.
        """
        self._check_order()
        return self.env.step(action)

    async def async_reset(
        self, *, seed: SeedType = None, options: dict[str, Any] | None = None
    ) -> ResetResult[ObsType]:
        """Reset `env` asynchronously."""
        return self._on_reset(await self.env.async_reset(seed=seed, options=options))

    async def async_step(self, action: ActType) -> StepResult[ObsType]:
        """Step `env` asynchronously.

        Raises:
            ResetRequired: Before the first reset.
        """
        self._check_order()
        return await self.env.async_step(action)
