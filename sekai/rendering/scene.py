"""Renderers that draw an environment as a scene, to scale."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Polygon
from numpy.typing import ArrayLike, NDArray

from sekai.error import ResetRequired
from sekai.rendering.chart import Ticks, style_axes
from sekai.rendering.picture import BOTTOM, LEFT, RIGHT, TEXT, TOP, Picture
from sekai.rendering.renderer import BaseRenderer, RGBArray
from sekai.rendering.theme import Theme, get_theme

NARROW = 0.12  # inches beside text, and beside a scene without an axis


def rotate(points: Any, angle: float, origin: ArrayLike = (0.0, 0.0)) -> NDArray[np.float64]:
    """Turn points `(n, 2)` counter-clockwise by an angle (rad), then move them by `origin`."""
    c, s = math.cos(angle), math.sin(angle)
    turned: NDArray[np.float64] = np.asarray(points, float) @ np.array([[c, s], [-s, c]]) + np.asarray(origin, float)
    return turned


def bar(length: float, width: float) -> NDArray[np.float64]:
    """Corners of a bar along the first axis, that begins at the origin."""
    return np.array([[0.0, -width / 2], [length, -width / 2], [length, width / 2], [0.0, width / 2]])


def disc(radius: float, center: ArrayLike = (0.0, 0.0)) -> NDArray[np.float64]:
    """Corners of a polygon that looks like a disc."""
    angles = np.linspace(0.0, 2 * np.pi, 33)
    return np.asarray(center) + radius * np.column_stack([np.cos(angles), np.sin(angles)])


def base_of(env: Any, classes: tuple[type, ...], renderer: object) -> Any:
    """The environment under all wrappers.

    Raises:
        TypeError: It is of none of the classes that the renderer draws.
    """
    base = getattr(env, "unwrapped", env)
    if not isinstance(base, classes):
        expected = " or ".join(cls.__name__ for cls in classes)
        raise TypeError(f"{type(renderer).__name__} draws {expected}, got {type(base).__name__}")
    return base


class SceneRenderer(BaseRenderer):
    """Draws an environment from its state alone, so one renderer may draw any number of them in turns.

    A subclass names the environments that it draws, builds the scene once for the parameters that shape it, and moves
    its parts. Lengths are in the environment's units, the same for both axes.
    """

    x_label: ClassVar[str] = ""  # a scene with one has an axis below it

    def __init__(self, width: int, height: int, theme: str | Theme) -> None:
        self.width, self.height, self.theme = width, height, get_theme(theme)
        self.picture = Picture(width, height, theme=theme)
        self._shape: Any = None

    def classes(self) -> tuple[type, ...]:
        """Classes of environments that it draws."""
        raise NotImplementedError

    def shape(self, env: Any) -> Any:
        """The parameters that the scene is built for."""
        raise NotImplementedError

    def build(self, axes: Axes, shape: Any) -> None:
        """Add the artists; those that move are animated."""
        raise NotImplementedError

    def move(self, env: Any) -> str:
        """Put the artists where they are now; returns a line of text to show above the scene."""
        raise NotImplementedError

    def render(self, env: Any) -> RGBArray:
        """Draw an environment, wrapped or not, as it is now: a fresh uint8 array `(height, width, 3)`.

        Raises:
            TypeError: It is not of a class that this renderer draws.
            ResetRequired: It was never reset.
        """
        base = base_of(env, self.classes(), self)
        if base.state is None:
            raise ResetRequired("call reset() before render(): there is no state to draw.")
        shape = self.shape(base)
        if shape != self._shape:
            self._start(shape)
        self.note.set_text(self.move(base))
        return self.picture.frame()

    def _start(self, shape: Any) -> None:
        self.picture = picture = Picture(self.width, self.height, theme=self.theme)
        width, height = picture.get_size_inches()
        bottom, side = (BOTTOM, (LEFT + RIGHT) / 2) if self.x_label else (NARROW, NARROW)
        axes = picture.add_axes((side / width, bottom / height, 1 - 2 * side / width, 1 - (bottom + TOP) / height))
        style_axes(axes, self.theme)
        axes.grid(False)
        axes.spines["left"].set_visible(False)
        axes.set_yticks([])
        if self.x_label:
            axes.xaxis.set_major_formatter(Ticks())
            axes.set_xlabel(self.x_label, fontsize=TEXT, color=self.theme.muted, labelpad=2.0)
        else:
            axes.spines["bottom"].set_visible(False)
            axes.set_xticks([])
        top = 1 - 0.5 * TOP / height
        self.note = picture.text(NARROW / width, top, "", **picture.style(), va="center", animated=True)
        self.axes = axes
        self.build(axes, shape)
        self._shape = shape

    def fit(self, x: tuple[float, float], y: tuple[float, float]) -> None:
        """Show at least these ranges, with the same scale on both axes; what is over goes to both sides, or above."""
        pixels_x, pixels_y = self.axes.bbox.width, self.axes.bbox.height
        scale = min(pixels_x / (x[1] - x[0]), pixels_y / (y[1] - y[0]))
        middle, half = (x[0] + x[1]) / 2, pixels_x / scale / 2
        self.axes.set_xlim(middle - half, middle + half)
        self.axes.set_ylim(y[0], y[0] + pixels_y / scale)

    def part(self, color: str, *, zorder: float, edge: str | None = None) -> Any:
        """Add a filled shape that moves: `set_xy` takes its corners."""
        shape = Polygon(
            np.zeros((3, 2)), fc=color, ec=edge or color, lw=0.8, zorder=zorder, animated=True, clip_on=True
        )
        return self.axes.add_patch(shape)
