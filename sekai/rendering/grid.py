"""Several lanes of a batch in one picture, to be animated."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.colors import to_rgb

from sekai.rendering.dashboard import LEAST_SIZE
from sekai.rendering.making import FINANCE, make_renderer, renderer_of
from sekai.rendering.renderer import Renderer, RGBArray
from sekai.rendering.theme import Theme, get_theme
from sekai.rollouts.rolling import check_policy, rollout
from sekai.utils.integers import as_int, positive_int
from sekai.vector.kernel import KernelVecEnv
from sekai.vector.vec_env import VecEnv
from sekai.wrappers.time_limit import TimeLimit

GAP = 4  # pixels between lanes
SIZE = (240, 180)  # pixels, of the picture of one lane


class LaneGrid:
    """Draws some lanes of a batch side by side, each as the single env that it is.

    The lanes keep their numbers when their episodes end; a history then begins anew.

    Args:
        vec: A batch of kernel envs, or a `SyncVecEnv`; wrappers are looked through.
        lanes: How many lanes, from the first on; or which.
        renderer: What draws each of them; None for what `make_renderer` finds.
        columns: How many side by side; None for about as many as rows.
        width: Of one lane's picture, in pixels, if `renderer` is None; None for 240, or 320 for a dashboard.
        height: The same; None for 180, or 240 for a dashboard.
        theme: `"light"`, `"dark"` or a `Theme`.

    Raises:
        TypeError: The batch has no lanes in this process, or a number is no int.
        ValueError: A number is below 1, or there are no lanes.
        IndexError: A lane does not exist.
    """

    def __init__(
        self,
        vec: VecEnv[Any, Any],
        lanes: int | Iterable[int] = 9,
        *,
        renderer: Renderer | None = None,
        columns: int | None = None,
        width: int | None = None,
        height: int | None = None,
        theme: str | Theme = "light",
    ) -> None:
        self._vec: Any = getattr(vec, "unwrapped", vec)
        if not (isinstance(self._vec, KernelVecEnv) or hasattr(self._vec, "envs")):
            raise TypeError(f"vec must be a batch of kernel envs or a SyncVecEnv, got {vec!r}")
        self.lanes = chosen_lanes(lanes, vec.num_envs)
        self.renderer = renderer
        square = math.ceil(math.sqrt(len(self.lanes)))
        self.columns = square if columns is None else positive_int("columns", columns)
        self.theme = get_theme(theme)
        self._size = width, height
        self._envs: list[Any] = []

    def render(self) -> RGBArray:
        """Draw the lanes as they are now, row by row: a fresh uint8 array `(height, width, 3)`.

        Raises:
            ResetRequired: The batch was never reset.
        """
        envs = self._current_envs()
        if self.renderer is None:
            self.renderer = self._make_renderer(envs[0])
        return tiled([self.renderer.render(env) for env in envs], self.columns, self.theme.grid)

    def _make_renderer(self, env: Any) -> Renderer:
        usual = LEAST_SIZE if renderer_of(env)[0] == FINANCE else SIZE
        width, height = (size if given is None else given for given, size in zip(self._size, usual, strict=True))
        return make_renderer(env, width=width, height=height, theme=self.theme)

    def _current_envs(self) -> list[Any]:
        """The lanes as single envs, the same ones each time, so that renderers know them again."""
        if not isinstance(self._vec, KernelVecEnv):
            return [self._vec.envs[lane] for lane in self.lanes]
        now = [self._vec.lane(lane) for lane in self.lanes]
        if not self._envs:
            self._envs = now
        for env, fresh in zip(self._envs, now, strict=True):
            env.unwrapped._vec.set_lane(0, fresh)
            if isinstance(env, TimeLimit):
                env._elapsed_steps = fresh.elapsed_steps
        return self._envs


def chosen_lanes(lanes: int | Iterable[int], num_envs: int) -> list[int]:
    """The numbers of the lanes that are asked for: so many from the first on, or which.

    Raises:
        TypeError, ValueError, IndexError: They are not what `LaneGrid` takes.
    """
    if isinstance(lanes, str) or not isinstance(lanes, Iterable):
        return list(range(min(positive_int("lanes", lanes), num_envs)))
    chosen = [as_int("a lane", lane) for lane in lanes]
    if not chosen:
        raise ValueError("lanes must name at least one lane, got none")
    for lane in chosen:
        if not 0 <= lane < num_envs:
            raise IndexError(f"lanes must lie in 0 … {num_envs - 1}, got {lane}")
    return chosen


def tiled(frames: list[Any], columns: int, color: str) -> RGBArray:
    """Put frames of one size into a grid, row by row, with gaps of a colour."""
    height, width = frames[0].shape[:2]
    rows = math.ceil(len(frames) / columns)
    whole = np.empty((rows * (height + GAP) - GAP, columns * (width + GAP) - GAP, 3), np.uint8)
    whole[:] = np.round(255 * np.array(to_rgb(color)))
    for i, frame in enumerate(frames):
        top, left = i // columns * (height + GAP), i % columns * (width + GAP)
        whole[top : top + height, left : left + width] = frame
    return whole


def record_lanes(
    vec: VecEnv[Any, Any],
    policy: Any,
    num_steps: int,
    *,
    lanes: int | Iterable[int] = 9,
    seed: int | None = None,
    **options: Any,
) -> list[RGBArray]:
    """Step a batch, and draw some of its lanes before the first step and after each.

    Args:
        vec: The batch.
        policy: What chooses actions, as in `sekai.rollout`.
        num_steps: How many steps.
        lanes: How many lanes, from the first on, or which.
        seed: Seeds the batch, as in `sekai.rollout`; None goes on from where it is.
        **options: Of `LaneGrid`.

    Returns:
        `num_steps + 1` frames, for `save_gif` or `save_video`.
    """
    grid, num_steps = LaneGrid(vec, lanes, **options), positive_int("num_steps", num_steps)
    check_policy(vec, policy, num_steps)
    if seed is not None or not getattr(vec, "_started", True):
        vec.reset(seed=seed)
    frames = [grid.render()]
    for t in range(num_steps):
        rollout(vec, policy[t : t + 1] if isinstance(policy, np.ndarray) else policy, 1, record=None)
        frames.append(grid.render())
    return frames
