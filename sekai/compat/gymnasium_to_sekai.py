"""gymnasium environments seen through sekai's API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from sekai._extras import import_extra
from sekai.compat.kinds import require_kind
from sekai.compat.masks import has_flat_masks, nested_action_mask
from sekai.compat.spaces import as_declared, space_from_gymnasium
from sekai.core.env import Env
from sekai.core.result import ResetResult, StepResult
from sekai.utils.seeding import np_random

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

    from sekai._types import SeedType

gymnasium = import_extra("gymnasium", "gymnasium")


class GymnasiumToSekai(Env[Any, Any]):
    """Exposes a gymnasium `Env` through the sekai API.

    The gymnasium env keeps its own generator, and `rng` is that: its `np_random`. Errors are its own too. Observations
    are passed on, arrays of another dtype than their `Box` cast to it; infos are copied. Where the gymnasium env or a
    wrapper around it has `action_masks()`, as sb3-contrib wants it, there is an `action_mask()`.

    Args:
        env: The gymnasium env.

    Raises:
        TypeError: `env` is not a `gymnasium.Env`, or a space has no counterpart.

    Attributes:
        gym_env: The gymnasium env.
    """

    def __init__(self, env: Any) -> None:
        require_kind(env, gymnasium.Env, "from_gymnasium")
        self.gym_env = env
        self.observation_space = space_from_gymnasium(env.observation_space)
        self.action_space = space_from_gymnasium(env.action_space)
        self.metadata = dict(env.metadata or {})

    def reset(self, *, seed: SeedType = None, options: dict[str, Any] | None = None) -> ResetResult[Any]:
        """Start an episode.

        Args:
            seed: An int goes straight to the gymnasium env; a Generator becomes its `np_random`; None lets it go on.
            options: Handed to the gymnasium env.

        Raises:
            gymnasium.error.Error: The seed is something else, or negative.
        """
        if isinstance(seed, Generator):
            self.rng, seed = seed, None
        if isinstance(seed, np.integer):
            seed = int(seed)
        observation, info = self.gym_env.reset(seed=seed, options=options)
        if seed is not None:
            self._rng_seed = seed
        return ResetResult(as_declared(self.observation_space, observation), dict(info))

    def step(self, action: Any) -> StepResult[Any]:
        """Carry out an action."""
        observation, reward, terminated, truncated, info = self.gym_env.step(action)
        observation = as_declared(self.observation_space, observation)
        return StepResult(observation, float(reward), bool(terminated), bool(truncated), dict(info))

    def close(self) -> None:
        """Close the gymnasium env."""
        self.gym_env.close()

    @property
    def action_mask(self) -> Callable[[], Any]:
        """A function that returns which actions are allowed; only where the gymnasium env has `action_masks`."""
        if not (self.gym_env.has_wrapper_attr("action_masks") and has_flat_masks(self.action_space)):
            raise AttributeError(f"{self.gym_env!r} has no action_masks")
        return self._action_mask

    def _action_mask(self) -> Any:
        return nested_action_mask(self.action_space, self.gym_env.get_wrapper_attr("action_masks")())

    @property
    def rng(self) -> Generator:
        """The gymnasium env's `np_random`; it can be set."""
        return self.gym_env.np_random  # type: ignore[no-any-return]

    @rng.setter
    def rng(self, generator: Generator) -> None:
        self.gym_env.np_random, self._rng_seed = generator, -1

    @property
    def _rng(self) -> Generator | None:
        return self.gym_env.unwrapped._np_random  # type: ignore[no-any-return]

    @_rng.setter
    def _rng(self, generator: Generator | None) -> None:
        self.gym_env.np_random = generator

    def _set_rng(self, seed: SeedType) -> int:
        if seed is not None:
            self._rng, self._rng_seed = np_random(seed)
        return -1 if self._rng_seed is None else self._rng_seed

    def __repr__(self) -> str:
        return f"<GymnasiumToSekai{self.gym_env}>"

    __str__ = __repr__


class GymnasiumRenderer:
    """A sekai `Renderer` that calls a wrapped gymnasium env's own `render()`."""

    def render(self, env: Env[Any, Any]) -> Any:
        """Return what the gymnasium env draws; None where it was made without a render mode.

        Args:
            env: What `from_gymnasium` returned, maybe in sekai wrappers.

        Raises:
            TypeError: It is another environment.
        """
        base = env.unwrapped
        if not isinstance(base, GymnasiumToSekai):
            raise TypeError(f"GymnasiumRenderer draws environments made by from_gymnasium, got {env!r}")
        return base.gym_env.render()

    def close(self) -> None:
        """Do nothing: the gymnasium env closes its own window."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()
