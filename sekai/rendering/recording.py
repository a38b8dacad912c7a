"""Keeping a picture of every step of an environment."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic

from sekai._types import ActType, ObsType
from sekai.core.result import ResetResult, StepResult
from sekai.core.wrapper import Wrapper
from sekai.rendering.saving import save_gif, save_video

if TYPE_CHECKING:
    from sekai._types import SeedType
    from sekai.core.env import Env
    from sekai.rendering.renderer import Renderer, RenderFrame

DEFAULT_FPS = 30


class RecordFrames(Wrapper[ObsType, ActType, ObsType, ActType], Generic[ObsType, ActType]):
    """Draws the environment after every reset and step, and keeps the frames.

    Frames of successive episodes follow each other. The renderer gets the wrapped environment, and is closed with it.

    Args:
        env: The environment to wrap.
        renderer: What draws it.
        enabled: Whether to draw.
        max_frames: After how many frames to stop drawing; None for never.

    Attributes:
        renderer, enabled, max_frames: As given; they may be changed at any time.
        frames: The frames so far.

    Raises:
        TypeError: `env` is not an `Env`.
    """

    def __init__(
        self,
        env: Env[ObsType, ActType],
        renderer: Renderer,
        *,
        enabled: bool = True,
        max_frames: int | None = None,
    ) -> None:
        super().__init__(env)
        self.renderer = renderer
        self.enabled = enabled
        self.max_frames = max_frames
        self.frames: list[RenderFrame] = []

    def _capture(self) -> None:
        if self.enabled and (self.max_frames is None or len(self.frames) < self.max_frames):
            self.frames.append(self.renderer.render(self.env))

    def reset(self, *, seed: SeedType = None, options: dict[str, Any] | None = None) -> ResetResult[ObsType]:
        """Reset `env` and draw it."""
        result = self.env.reset(seed=seed, options=options)
        self._capture()
        return result

    def step(self, action: ActType) -> StepResult[ObsType]:
        """Step `env` and draw it."""
        result = self.env.step(action)
        self._capture()
        return result

    async def async_reset(
        self, *, seed: SeedType = None, options: dict[str, Any] | None = None
    ) -> ResetResult[ObsType]:
        """Reset `env` asynchronously and draw it."""
        result = await self.env.async_reset(seed=seed, options=options)
        self._capture()
        return result

    async def async_step(self, action: ActType) -> StepResult[ObsType]:
        """Step `env` asynchronously and draw it."""
        result = await self.env.async_step(action)
        self._capture()
        return result

    def clear(self) -> None:
        """Start a new list of frames."""
        self.frames = []

    def save(self, path: str | Path, fps: float | None = None) -> Path:
        """Write the frames: a GIF if `path` ends in `.gif`, else what `save_video` makes of its suffix.

        Args:
            path: Where to write; its folder must exist.
            fps: Frames a second; None for `render_fps` of the environment's metadata, or 30.

        Raises:
            ValueError, TypeError, FileNotFoundError, ImportError: As `save_gif` and `save_video`.
        """
        if fps is None:
            fps = self.metadata.get("render_fps") or DEFAULT_FPS
        write = save_gif if Path(path).suffix.lower() == ".gif" else save_video
        return write(self.frames, path, fps)

    def close(self) -> None:
        """Close the renderer, then `env`."""
        self.renderer.close()
        self.env.close()
