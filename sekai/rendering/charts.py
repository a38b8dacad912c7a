"""Charts: each is built once on its axes, and is then given new data as often as one likes.

Limits of axes are round numbers that include the data, so that they stay where they are while the data grow a little.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Polygon
from matplotlib.ticker import Formatter
from numpy.typing import NDArray

from sekai.rendering.decimation import thin_lines
from sekai.rendering.picture import TEXT
from sekai.rendering.theme import Theme
from sekai.rendering.ticks import nice_limits, nice_step, tick_labels, value_range

BAND_ALPHAS = (0.18, 0.30)  # of the outer and the inner band of a fan


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
    ) -> None:
        self.title = f"{title} ({unit})" if unit else title
        self.x_label = self.default_x_label if x_label is None else x_label
        self.include = self.default_include if include is None else tuple(include)
        self.percent, self.limits = percent, limits

    axes: Axes
    theme: Theme

    def attach(self, axes: Axes, theme: Theme) -> None:
        """Style the axes and build the artists."""
        self.axes, self.theme = axes, theme
        style_axes(axes, theme)
        axes.yaxis.set_major_formatter(Ticks(self.percent))
        axes.xaxis.set_major_formatter(Ticks())
        axes.set_title(self.title, loc="left", fontsize=TEXT, color=theme.text, pad=5.0)
        axes.set_xlabel(self.x_label, fontsize=TEXT, color=theme.muted, labelpad=2.0)
        self._build()

    def _build(self) -> None:
        """Build the artists on `self.axes`, animated and without data."""

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
            fontsize=TEXT * 0.92,
            labelcolor=self.theme.muted,
            borderaxespad=0.1,
            borderpad=0.2,
            handlelength=1.2,
            columnspacing=1.0,
            handletextpad=0.4,
        )
        legend.set_in_layout(False)


def style_axes(axes: Axes, theme: Theme) -> None:
    """Give axes the looks of a theme: two spines, a quiet grid, small labels."""
    axes.set_facecolor(theme.background)
    axes.set_axisbelow(True)
    axes.grid(True, color=theme.grid, lw=0.8)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(theme.axis)
        spine.set_linewidth(0.8)
    axes.tick_params(length=2.5, width=0.8, color=theme.axis, labelcolor=theme.muted, labelsize=TEXT * 0.92, pad=2.5)
    axes.autoscale(False)


def roomy_limits(extent: tuple[float, float], edges: Sequence[float]) -> tuple[float, float]:
    """Round limits with some room around the range of the data, but none beyond an end that is one of `edges`."""
    low, high = extent
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


class Histogram(Chart):
    """How values are distributed: counts over bins, with a line at their mean."""

    default_include = (0.0,)

    def _build(self) -> None:
        self.axes.grid(False, axis="x")
        theme = self.theme
        self.bars = self.axes.stairs([0], [0, 1], fill=True, color=theme.accent, alpha=0.55, animated=True, zorder=2)
        self.mean = self.axes.axvline(np.nan, color=theme.highlight, lw=1.5, animated=True, zorder=3)

    def set_data(self, values: Any) -> None:
        """Show the distribution of the finite ones of some values."""
        values = np.asarray(values, float).ravel()
        values = values[np.isfinite(values)]
        counts, edges = np.histogram(values, bin_edges(values))
        self.bars.set_data(counts, edges)
        mean = values.mean() if len(values) else np.nan
        self.mean.set_xdata([mean, mean])
        room = 0.02 * (edges[-1] - edges[0])
        self.fit_x(edges[0] - room, edges[-1] + room)
        self.fit_y(counts)


def bin_edges(values: NDArray[np.float64], most: int = 48) -> NDArray[np.float64]:
    """Edges of equal bins over all values, of a round width; integers have their bins to themselves."""
    if not len(values):
        return np.array([0.0, 1.0])
    low, high = float(values.min()), float(values.max())
    whole = bool((values == np.round(values)).all())
    count = int(min(max(np.sqrt(len(values)), 8), most))
    step = nice_step(high - low, count) if high > low else (1.0 if whole else max(abs(low) * 0.01, 1e-9))
    if whole:
        step = max(np.ceil(step), 1.0)
        low, high = low - 0.5, high + 0.5
    first = low if whole else np.floor(low / step) * step
    edges: NDArray[np.float64] = np.asarray(first + step * np.arange(int(np.ceil((high - first) / step + 1e-9)) + 1))
    return edges


class TimeChart(Chart):
    """A chart whose horizontal axis is time.

    Attributes:
        span: Where the axis begins and ends, unless the data go further; None for a round length around them.
    """

    over_time = True
    default_x_label = "step"
    span: tuple[float, float] | None = None

    def fit_time(self, x: NDArray[np.float64]) -> None:
        """Set the horizontal limits for times `(n,)`."""
        first, last = (float(x[0]), float(x[-1])) if len(x) else (0.0, 0.0)
        begin, end = (first, first + nice_step(last - first, 1)) if self.span is None else self.span
        self.fit_x(min(first, begin), max(last, end, begin + 1))


class Fan(TimeChart):
    """How values of many lanes are distributed over time: median, bands of quantiles, and a few lanes singled out."""

    quantiles: ClassVar[tuple[float, ...]] = (0.05, 0.25, 0.5, 0.75, 0.95)

    def _build(self) -> None:
        color = self.theme.accent
        self.bands = [self.area(color, alpha=alpha) for alpha in BAND_ALPHAS]
        self.median = self.line(color, width=2.0, zorder=4)
        self.lines: list[Any] = []
        self.legend([self.median, self.bands[1], self.bands[0]], ["median", "25\N{EN DASH}75 %", "5\N{EN DASH}95 %"])

    def set_data(self, x: Any, values: Any, single: Any = None) -> None:
        """Show values `(T, N)` over `x` `(T,)`; NaN where a lane has none.

        Args:
            x: Times, increasing.
            values: One row per time, one column per lane.
            single: Columns of values `(T, k)` that are drawn as lines of their own.
        """
        x, values = np.asarray(x, float), np.asarray(values, float)
        self.set_quantiles(x, quantiles_of(values, self.quantiles), single)

    def set_quantiles(self, x: Any, rows: Any, single: Any = None) -> None:
        """Show quantiles that are known already: `(5, T)`, in the order of `Fan.quantiles`."""
        x, rows = np.asarray(x, float), np.asarray(rows, float)
        lines = np.empty((len(x), 0)) if single is None else np.asarray(single, float)
        self.bands[0].set_xy(band_of(x, rows[0], rows[4]))
        self.bands[1].set_xy(band_of(x, rows[1], rows[3]))
        self.median.set_data(x, rows[2])
        self.median.set_marker("o" if len(x) == 1 else "")
        while len(self.lines) < lines.shape[1]:
            color = self.theme.color(1 + len(self.lines))
            self.lines.append(self.line(color, width=0.9, alpha=0.85))
        for line, column in zip(self.lines, lines.T, strict=False):
            line.set_data(*thin_lines(x, column, self.width))
        self.fit_time(x)
        self.fit_y(rows, lines)


def quantiles_of(values: NDArray[np.float64], quantiles: Sequence[float]) -> NDArray[np.float64]:
    """Quantiles of each row, without its NaNs: `(len(quantiles), T)`; NaN for rows without a number."""
    ordered = np.sort(values, axis=1)  # NaN last
    last = np.maximum(np.count_nonzero(~np.isnan(values), axis=1) - 1, 0)
    places = np.asarray(quantiles)[:, None] * last
    lower = places.astype(np.int64)
    weights = places - lower
    rows = np.arange(len(values))
    low, high = ordered[rows, lower], ordered[rows, np.minimum(lower + 1, last)]
    mixed: NDArray[np.float64] = low + weights * (high - low)
    return mixed
