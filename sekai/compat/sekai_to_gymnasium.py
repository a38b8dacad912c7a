"""sekai environments seen through gymnasium's API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from sekai._extras import import_extra
from sekai.compat.kinds import require_kind
from sekai.compat.masks import flat_action_mask
from sekai.compat.spaces import as_declared, space_to_gymnasium
from sekai.core.env import Env
from sekai.utils.masking import supports_action_mask
from sekai.utils.seeding import as_seed

gymnasium = import_extra("gymnasium", "gymnasium")


class SekaiToGymnasium(gymnasium.Env):  # type: ignore[misc, name-defined]
    """Exposes a sekai `Env` through the gymnasium API, to train it with libraries that are built on gymnasium.

    Observations are those of the sekai environment, arrays of another dtype than their `Box` cast to it; actions and
    infos are passed on as they are. Where the environment or a wrapper around it has an action mask, `action_masks()`
    returns it as a flat bool array.

    Args:
        env: The environment; its outermost wrapper defines the spaces.
        renderer: Draws the frames of `render()`.
        render_mode: What they are: `"rgb_array"`, the default with a renderer, or `"ansi"` for text. There are no
            windows; put the result into `gymnasium.wrappers.HumanRendering` to see it in one.

    Raises:
        TypeError: `env` is not a sekai `Env`, or `renderer` not a renderer.
        ValueError: A render mode without a renderer, or another one.

    Attributes:
        sekai_env: The environment.
        renderer: The renderer, or None.
    """

    RENDER_MODES: ClassVar[tuple[str, ...]] = ("rgb_array", "ansi")

    def __init__(self, env: Env[Any, Any], renderer: Any = None, render_mode: str | None = None) -> None:
        require_kind(env, Env, "to_gymnasium")
        self.sekai_env = env
        self.renderer = renderer
        self.render_mode = self._check_mode(renderer, render_mode)
        self.observation_space = space_to_gymnasium(env.observation_space)
        self.action_space = space_to_gymnasium(env.action_space)
        self.metadata = {"render_modes": [] if self.render_mode is None else [self.render_mode]}
        fps = env.metadata.get("render_fps")
        if fps is not None:
            self.metadata["render_fps"] = fps

    def _check_mode(self, renderer: Any, mode: str | None) -> str | None:
        if renderer is None:
            if mode is not None:
                raise ValueError(f"render_mode {mode!r} needs a renderer")
            return None
        if not callable(getattr(renderer, "render", None)):
            raise TypeError(f"renderer must be one of sekai.rendering, got {renderer!r}; make_renderer(env) makes it")
        if mode is None:
            return self.RENDER_MODES[0]
        if mode not in self.RENDER_MODES:
            hint = "; gymnasium.wrappers.HumanRendering shows the frames in a window" if mode == "human" else ""
            raise ValueError(f"render_mode must be one of {self.RENDER_MODES}, got {mode!r}{hint}")
        return mode

    def reset(
        self, *, seed: int | Generator | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode.

        Args:
            seed: An int >= 0 seeds the environment, a Generator becomes its own; None goes on with the stream.
            options: Handed to the environment.

        Raises:
            gymnasium.error.Error: The seed is something else.
        """
        seed = _check_seed(seed)
        result = self.sekai_env.reset(seed=seed, options=options)
        if isinstance(seed, int) and self._np_random_seed not in (seed, -1):
            self.sekai_env._set_rng(seed)  # of an environment that draws nothing and ignores seeds
        return as_declared(self.sekai_env.observation_space, result.observation), result.info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Carry out an action; errors are those of the environment."""
        result = self.sekai_env.step(action)
        observation = as_declared(self.sekai_env.observation_space, result.observation)
        return observation, float(result.reward), bool(result.terminated), bool(result.truncated), result.info

    def render(self) -> Any:
        """Return what the renderer draws; None without one."""
        return None if self.renderer is None else self.renderer.render(self.sekai_env)

    def close(self) -> None:
        """Close the renderer, if it can be closed, and the environment."""
        if hasattr(self.renderer, "close"):
            self.renderer.close()
        self.sekai_env.close()

    @property
    def action_masks(self) -> Callable[[], NDArray[np.bool_]]:
        """A function that returns which actions are allowed, flat; only where the environment has an action mask."""
        if not supports_action_mask(self.sekai_env):
            raise AttributeError(f"{self.sekai_env!r} has no action_mask")
        return self._action_masks

    def _action_masks(self) -> NDArray[np.bool_]:
        return flat_action_mask(self.sekai_env)

    # The generator is the environment's own: one that is set drives the dynamics, and draws from it are not repeated
    # by the environment.

    @property
    def _np_random(self) -> Generator:
        return self.sekai_env.rng

    @_np_random.setter
    def _np_random(self, generator: Generator) -> None:
        self.sekai_env.rng = generator

    @property
    def _np_random_seed(self) -> int | None:
        return self.sekai_env._rng_seed

    @property
    def np_random(self) -> Generator:
        """The environment's generator; it can be set."""
        return self._np_random

    @np_random.setter
    def np_random(self, generator: Generator) -> None:
        self._np_random = generator

    @property
    def np_random_seed(self) -> int:
        """The seed of the generator, -1 if it is not known."""
        return self.sekai_env._set_rng(None)

    def __str__(self) -> str:
        return f"<SekaiToGymnasium{self.sekai_env}>"

    __repr__ = __str__


def _check_seed(seed: Any) -> int | Generator | None:
    """Return a seed as sekai takes it; what is none is gymnasium's error, as callers expect."""
    if seed is None or isinstance(seed, Generator):
        return seed
    try:
        return as_seed(seed)
    except (TypeError, ValueError) as error:
        raise gymnasium.error.Error(str(error)) from error
