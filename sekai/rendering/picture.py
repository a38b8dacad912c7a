"""Figures that are drawn off screen, fast enough to be animated."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from sekai.rendering.theme import Theme, get_theme
from sekai.utils.integers import positive_int

if TYPE_CHECKING:
    from sekai.rendering.chart import Chart

FULL_DPI, FULL_SIZE = 100.0, (720, 450)  # text of a picture of this size has its full size, that of smaller ones less
LEAST_SCALE, LEAST_SIZE = 0.7, (160, 120)
HEADER = 0.36  # inches

# Inches around the axes of a chart, for its labels and its title.
LEFT, RIGHT, BOTTOM, TOP = 0.66, 0.18, 0.46, 0.30
BARE_BOTTOM = 0.10  # where the chart below has the same axis of time
TEXT = 8.5  # points


class Picture(Figure):
    """A matplotlib figure that belongs to no window, and shows itself in a notebook.

    `frame()` draws it into an array. What lies still (axes, ticks, titles) is drawn once and kept; artists made with
    `animated=True` are drawn on top of it, so that a frame in which only they changed takes a millisecond or two. What
    lies still is drawn again when matplotlib says that it changed.

    Args:
        width, height: Size in pixels.
        theme: `"light"`, `"dark"` or a `Theme`.

    Raises:
        ValueError: A size of less than 160 x 120 pixels, or an unknown theme.
        TypeError: A size that is not an integer.
    """

    def __init__(self, width: int = 720, height: int = 450, *, theme: str | Theme = "light") -> None:
        width, height = positive_int("width", width), positive_int("height", height)
        if width < LEAST_SIZE[0] or height < LEAST_SIZE[1]:
            raise ValueError(f"a picture must be at least {LEAST_SIZE[0]} x {LEAST_SIZE[1]}, got {width} x {height}")
        self.theme = get_theme(theme)
        self.text_scale = min(max(min(width / FULL_SIZE[0], height / FULL_SIZE[1]), LEAST_SCALE), 1.0)
        dpi = FULL_DPI * self.text_scale
        # The hundredth of a pixel is cut off again: without it rounding may cost a whole one.
        super().__init__(((width + 0.01) / dpi, (height + 0.01) / dpi), dpi, facecolor=self.theme.background)
        FigureCanvasAgg(self)
        self.title = self.text(0.0, 0.0, "")
        self._still: Any = None
        self._cells: dict[Axes, Rectangle] = {}  # what hides a chart, to draw it again

    def place(
        self, *rows: Chart | Sequence[Chart], heights: Sequence[float] | None = None, header: bool = True
    ) -> None:
        """Lay charts out in rows, from top to bottom.

        Args:
            *rows: Each a chart, or several side by side.
            heights: Shares of the height, one per row; equal ones if None.
            header: Whether to have a line above them, with a `title` on its left and an animated `note` on its right.

        Raises:
            ValueError: `heights` does not have one positive number per row.
        """
        grid = [list(row) if isinstance(row, Sequence) else [row] for row in rows]
        shares = [1.0] * len(grid) if heights is None else list(heights)
        if len(shares) != len(grid) or min(shares, default=1.0) <= 0:
            raise ValueError(f"heights must be {len(grid)} positive numbers, one per row, got {heights!r}")
        width, height = self.get_size_inches()
        top = height
        if header:
            top -= HEADER
            middle = 1 - 0.5 * HEADER / height
            self.title.set(x=LEFT / width, y=middle, va="center", **self.style(1.2, weight="bold"))
            self.note = self.text(1 - RIGHT / width, middle, "", **self.style(), va="center", ha="right", animated=True)
        bare = [shares_time_axis(*pair) for pair in pairwise(grid)] + [False]
        bottoms = [BARE_BOTTOM if is_bare else BOTTOM for is_bare in bare[: len(grid)]]
        unit = (top - sum(bottoms) - len(grid) * TOP) / sum(shares) if grid else 0.0
        for row, share, bottom, is_bare in zip(grid, shares, bottoms, bare, strict=False):
            inner = share * unit
            top -= TOP + inner
            self._place_row(row, top, inner, bottom, is_bare)
            top -= bottom

    def _place_row(self, row: list[Chart], bottom: float, height: float, below: float, bare: bool) -> None:
        """Place charts side by side; lengths in inches."""
        whole_width, whole_height = self.get_size_inches()
        cell = whole_width / len(row)
        share = np.array([whole_width, whole_height, whole_width, whole_height])
        for i, chart in enumerate(row):
            left, width = i * cell + LEFT, cell - LEFT - RIGHT
            axes = self.add_axes(tuple(np.array([left, bottom, width, height]) / share))
            x, y, wide, high = np.array([i * cell, bottom - below, cell, below + height + TOP]) / share
            cover = Rectangle((x, y), wide, high, fc=self.theme.background, ec="none", transform=self.transFigure)
            cover.set_figure(self)
            self._cells[axes] = cover
            chart.attach(axes, self.theme)
            if bare:
                axes.tick_params(labelbottom=False)
                axes.set_xlabel("")

    def style(self, size: float = 1.0, *, color: str | None = None, weight: str = "normal") -> dict[str, Any]:
        """How text looks: its size in units of the normal one, its colour and its weight."""
        return {"fontsize": TEXT * size, "color": color or self.theme.text, "weight": weight}

    def _moving(self) -> list[Any]:
        """The animated artists, from the lowest to the highest; those of the figure itself last."""
        parts = [artist for axes in self.axes for artist in axes.get_children() if artist.get_animated()]
        own = [text for text in self.texts if text.get_animated()]
        return [*sorted(parts, key=lambda artist: artist.zorder), *own]

    def draw(self, renderer: Any) -> None:
        """Draw everything, as matplotlib's own savers want it."""
        super().draw(renderer)
        saving = self.canvas.is_saving()  # the axes have drawn their animated artists then
        for artist in self._moving():
            if artist.axes is None or not saving:
                artist.draw(renderer)

    def frame(self) -> NDArray[np.uint8]:
        """Draw into a fresh array, uint8 `(height, width, 3)`, the first row on top."""
        canvas: Any = self.canvas
        renderer = canvas.get_renderer()
        if self._still is not None:
            canvas.restore_region(self._still)
        if self.stale or self._still is None:
            self._draw_still(renderer)
            self._still = canvas.copy_from_bbox(self.bbox)
        for artist in self._moving():
            artist.draw(renderer)
        return np.ascontiguousarray(np.asarray(canvas.buffer_rgba())[..., :3])

    def _draw_still(self, renderer: Any) -> None:
        """Draw what lies still; only the charts that have changed, if nothing else has."""
        changed = [axes for axes in self.axes if axes.stale]
        if self._still is None or not changed or self.title.stale or any(axes not in self._cells for axes in changed):
            renderer.clear()
            super().draw(renderer)
            return
        for axes in changed:
            self._cells[axes].draw(renderer)
            axes.draw(renderer)
        self.stale = False

    def _repr_png_(self) -> bytes:
        file = BytesIO()
        self.savefig(file, format="png", dpi="figure")
        return file.getvalue()


def shares_time_axis(upper: list[Chart], lower: list[Chart]) -> bool:
    """Whether the charts of a row and those of the row below it have the same axes of time."""
    return len(upper) == len(lower) and all(chart.over_time for chart in (*upper, *lower))
