"""What all charts have in common.

A chart is built once on its axes, and is then given new data as often as one likes. Limits of axes are round numbers
that include the data, so that they stay where they are while the data grow a little.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Polygon
from matplotlib.ticker import Formatter, MaxNLocator
from numpy.typing import NDArray

from sekai.rendering.picture import TEXT
from sekai.rendering.theme import Theme
from sekai.rendering.ticks import nice_limits, nice_step, tick_labels, value_range

TICK_TEXT = 0.92 * TEXT
LABEL_WIDTH, LABEL_HEIGHT = 0.72, 0.32  # inches that a label of a tick has to itself
LEAST_SPAN = 1e-5  # of an axis, in units of the largest value

Source: TypeAlias = str | Callable[[Any], Any]
Samples: TypeAlias = dict[str, NDArray[np.float64]]


class Ticks(Formatter):
    """Labels of ticks by `tick_labels`."""

    def __init__(self, percent: bool = False) -> None:
        self.percent = percent

    def format_ticks(self, values: Any) -> list[str]:
        """Label ticks together, so that they get as many decimals as they need."""
        return tick_labels(values, percent=self.percent)

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Label one value."""
        return tick_labels([x], percent=self.percent)[0]


class Chart:
    """A plot: `attach` builds its artists on some axes, `set_data` of the subclass changes what they show.

    Args:
        title: What is shown.
        unit: Its unit, for the title.
        x_label: What the horizontal axis shows, with its unit.
        percent: Whether to write values as percentages.
        limits: Lowest and highest value shown; None for round numbers around the data.
        include: Values that are always within the limits; None for those of the class.
        whole: Whether values are whole numbers, so that there are no ticks between them.

    Attributes:
        sources: What a `Dashboard` samples for the chart, by name.
        context: What it reads once, when an episode begins.
    """

    over_time: ClassVar[bool] = False
    default_x_label: ClassVar[str] = ""
    default_include: ClassVar[tuple[float, ...]] = ()

    def __init__(
        self,
        title: str = "",
        *,
        unit: str = "",
        x_label: str | None = None,
        percent: bool = False,
        limits: tuple[float, float] | None = None,
        include: Sequence[float] | None = None,
        whole: bool = False,
    ) -> None:
        self.title = f"{title} ({unit})" if unit else title
        self.x_label = self.default_x_label if x_label is None else x_label
        self.include = self.default_include if include is None else tuple(include)
        self.percent, self.limits, self.whole = percent, limits, whole
        self.sources: dict[str, Source] = {}
        self.context: dict[str, Source] = {}

    axes: Axes
    theme: Theme

    def attach(self, axes: Axes, theme: Theme) -> None:
        """Style the axes and build the artists."""
        self.axes, self.theme = axes, theme
        style_axes(axes, theme)
        axes.locator_params(axis="y", integer=self.whole)
        axes.yaxis.set_major_formatter(Ticks(self.percent))
        axes.xaxis.set_major_formatter(Ticks())
        self.heading = axes.set_title(self.title, loc="left", fontsize=TEXT, color=theme.text, pad=5.0)
        axes.set_xlabel(self.x_label, fontsize=TEXT, color=theme.muted, labelpad=2.0)
        self._build()

    def _build(self) -> None:
        """Build the artists on `self.axes`, animated and without data."""

    def show(self, steps: NDArray[np.float64], samples: Samples, context: Samples) -> None:
        """Show what a `Dashboard` has sampled.

        Args:
            steps: Times of the samples, `(n,)`.
            samples: By the names of `sources`, each `(n, k)`.
            context: By the names of `context`, each `(k,)`.
        """
        raise NotImplementedError(f"{type(self).__name__} cannot show samples of a Dashboard")

    @property
    def width(self) -> int:
        """Width of the axes in pixels."""
        return max(int(self.axes.bbox.width), 1)

    def line(self, color: str, *, width: float = 1.5, zorder: float = 3.0, **style: Any) -> Any:
        """Add a line without data."""
        (line,) = self.axes.plot([], [], color=color, lw=width, zorder=zorder, animated=True, **style)
        return line

    def area(self, color: str, *, alpha: float, zorder: float = 2.0) -> Polygon:
        """Add a filled area without data."""
        area = Polygon(np.full((3, 2), np.nan), fc=color, ec=color, lw=0.5, alpha=alpha, zorder=zorder, animated=True)
        self.axes.add_patch(area)
        return area

    def fit_x(self, low: float, high: float) -> None:
        """Set the horizontal limits, unless they are these already."""
        if self.axes.get_xlim() != (low, high):
            self.axes.set_xlim(low, high)

    def fit_y(self, *values: Any) -> None:
        """Set the vertical limits to round numbers around the values, unless they are these already."""
        limits = self.limits or roomy_limits(value_range(*values, include=self.include), self.include)
        if self.axes.get_ylim() != limits:
            self.axes.set_ylim(*limits)

    def legend(self, handles: Sequence[Any], labels: Sequence[str]) -> None:
        """Name artists, in the row of the title."""
        legend = self.axes.legend(
            handles,
            labels,
            loc="lower right",
            bbox_to_anchor=(1.0, 1.0),
            ncols=len(labels),
            frameon=False,
            fontsize=TICK_TEXT,
            labelcolor=self.theme.muted,
            borderaxespad=0.1,
            borderpad=0.2,
            handlelength=1.2,
            columnspacing=1.0,
            handletextpad=0.4,
        )
        renderer = self.axes.figure.canvas.get_renderer()  # type: ignore[attr-defined]
        taken = self.heading.get_window_extent(renderer).width + legend.get_window_extent(renderer).width
        legend.set_visible(taken < self.width)


def style_axes(axes: Axes, theme: Theme) -> None:
    """Give axes the looks of a theme: two spines, a quiet grid, small labels, and as many of them as have room."""
    pixels, dpi = axes.bbox, axes.figure.dpi
    for axis, size, room in ((axes.xaxis, pixels.width, LABEL_WIDTH), (axes.yaxis, pixels.height, LABEL_HEIGHT)):
        axis.set_major_locator(MaxNLocator(max(int(size / dpi / room), 1), steps=[1, 2, 2.5, 5, 10]))
    axes.set_facecolor(theme.background)
    axes.set_axisbelow(True)
    axes.grid(True, color=theme.grid, lw=0.8)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(theme.axis)
        spine.set_linewidth(0.8)
    axes.tick_params(length=2.5, width=0.8, color=theme.axis, labelcolor=theme.muted, labelsize=TICK_TEXT, pad=2.5)
    axes.autoscale(False)


def roomy_limits(extent: tuple[float, float], edges: Sequence[float]) -> tuple[float, float]:
    """Round limits with some room around the range of the data, but none beyond an end that is one of `edges`.

    Data that differ in the sixth digit only are shown as almost a line, since their labels would have no room.
    """
    low, high = extent
    missing = max(LEAST_SPAN * max(abs(low), abs(high)) - (high - low), 0.0)
    low, high = low - missing / 2, high + missing / 2
    room = 0.05 * (high - low)
    return nice_limits(low if low in edges else low - room, high if high in edges else high + room)


def band_of(x: NDArray[Any], low: NDArray[Any], high: NDArray[Any]) -> NDArray[np.float64]:
    """Corners `(m, 2)` of the area between two curves, over the points where both are finite."""
    here = np.isfinite(low) & np.isfinite(high)
    x, low, high = x[here], low[here], high[here]
    if not len(x):
        return np.full((3, 2), np.nan)
    corners: NDArray[np.float64] = np.column_stack([np.concatenate([x, x[::-1]]), np.concatenate([low, high[::-1]])])
    return corners


def show_single(line: Any) -> None:
    """Give a line of a single point a dot, since without one nothing is seen of it."""
    line.set_marker("o" if len(line.get_xdata()) == 1 else "")


class TimeChart(Chart):
    """A chart whose horizontal axis is time.

    Attributes:
        span: Where the axis begins and ends, unless the data go further; None for a round length around them.
    """

    over_time = True
    default_x_label = "step"
    span: tuple[float, float] | None = None

    def begin(self, context: Samples) -> float:
        """The earliest time that a `Dashboard` is to show."""
        return 0.0

    def fit_time(self, x: NDArray[np.float64]) -> None:
        """Set the horizontal limits for times `(n,)`."""
        first, last = (float(x[0]), float(x[-1])) if len(x) else (0.0, 0.0)
        begin, end = (first, first + nice_step(last - first, 1)) if self.span is None else self.span
        self.fit_x(min(first, begin), max(last, end, begin + 1))
