"""Charts of values as they are, not over time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.font_manager import FontProperties
from numpy.typing import NDArray

from sekai.rendering.chart import TICK_TEXT, Chart, Samples, Source, Ticks, band_of, roomy_limits
from sekai.rendering.picture import LEFT
from sekai.rendering.ticks import nice_limits, nice_step, value_range

LEAST_BINS = 8  # that a histogram has room for, so that a single one is no wall
NAME_HEIGHT = 0.14  # inches that the name of a bar has to itself
LABEL_ROOM = LEFT - 0.1  # inches for the name of a bar


class Histogram(Chart):
    """How values are distributed: counts over bins, with a line at their mean.

    Args:
        title: What is shown.
        source: What a `Dashboard` samples: the name of an attribute of the environment, or a function of it, that gives
            any number of values.
        **options: As for every `Chart`; `limits` and `include` concern the counts.
    """

    default_include = (0.0,)

    def __init__(self, title: str = "", source: Source | None = None, **options: Any) -> None:
        super().__init__(title, **{"whole": True, **options})
        self.sources = {} if source is None else {"values": source}

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
        span, bin_width = edges[-1] - edges[0], edges[1] - edges[0]
        room = max(0.02 * span, (LEAST_BINS * bin_width - span) / 2)
        self.fit_x(edges[0] - room, edges[-1] + room)
        self.fit_y(counts)

    def show(self, steps: NDArray[np.float64], samples: Samples, context: Samples) -> None:
        """Show what a `Dashboard` has sampled."""
        self.set_data(samples["values"][-1])


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
    count = max(int(np.ceil((high - first) / step - 1e-9)), 1)
    edges: NDArray[np.float64] = np.asarray(first + step * np.arange(count + 1))
    edges[-1] = max(edges[-1], high)  # rounding must not leave the largest out
    return edges


class Bars(Chart):
    """Values as they are now, one horizontal bar each.

    Args:
        title: What is shown.
        source: What a `Dashboard` samples: the name of an attribute of the environment, or a function of it, that gives
            a number per bar.
        labels: Names of the bars.
        colors: Their colours, as in `TimeSeries`.
        **options: As for every `Chart`; `limits` and `include` concern the values.
    """

    default_include = (0.0,)

    def __init__(
        self,
        title: str = "",
        source: Source | None = None,
        *,
        labels: Sequence[str] = (),
        colors: Sequence[int | str] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(title, **options)
        self.sources = {} if source is None else {"bars": source}
        self.labels, self.colors = list(labels), colors

    def _build(self) -> None:
        self.axes.xaxis.set_major_formatter(Ticks(self.percent))
        self.axes.grid(False, axis="y")
        self.axes.axvline(0.0, color=self.theme.axis, lw=1.0, zorder=3)
        self.bars: list[Any] = []
        self._add_bars(len(self.labels))

    def _add_bars(self, count: int) -> None:
        if count <= len(self.bars):
            return
        for index in range(len(self.bars), count):
            color = self.theme.color(index if self.colors is None else self.colors[index])
            (bar,) = self.axes.barh([index], [0.0], height=0.7, color=color, alpha=0.85, zorder=2, animated=True)
            self.bars.append(bar)
        names = [*self.labels, *map(str, range(len(self.labels), count))]
        # As many names as have room, evenly spaced.
        every = max(math.ceil(count * NAME_HEIGHT / (self.axes.bbox.height / self.axes.figure.dpi)), 1)
        shown = [self._shortened(str(name)) for name in names[::every]]
        self.axes.set_yticks(range(0, count, every), shown, parse_math=False)
        self.axes.set_ylim(count - 0.5, -0.5)

    def _shortened(self, name: str) -> str:
        """As much of a name as has room beside the axes."""
        picture: Any = self.axes.figure
        renderer, font = picture.canvas.get_renderer(), FontProperties(size=TICK_TEXT)
        room, end = LABEL_ROOM * picture.dpi, ""
        while renderer.get_text_width_height_descent(name + end, font, False)[0] > room:
            name, end = name[:-1], "\N{HORIZONTAL ELLIPSIS}"
        return name + end

    def set_data(self, values: Any) -> None:
        """Show values `(k,)`; there is no bar for NaN."""
        values = np.asarray(values, float)
        self._add_bars(len(values))
        for bar, value in zip(self.bars, np.nan_to_num(values), strict=True):
            bar.set_width(value)
        self.fit_x(*(self.limits or roomy_limits(value_range(values, include=self.include), self.include)))

    def show(self, steps: NDArray[np.float64], samples: Samples, context: Samples) -> None:
        """Show what a `Dashboard` has sampled."""
        self.set_data(samples["bars"][-1])


class PhasePortrait(Chart):
    """The path of two values against each other, with a dot where they are now.

    Args:
        title: What is shown.
        x: What a `Dashboard` samples for the horizontal axis: an attribute of the environment or a function of it.
        y: The same for the vertical axis.
        x_limits: Lowest and highest value of the horizontal axis; None for round numbers around the data.
        **options: As for every `Chart`; `limits` and `include` concern the vertical axis.
    """

    def __init__(
        self,
        title: str = "",
        x: Source | None = None,
        y: Source | None = None,
        *,
        x_limits: tuple[float, float] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(title, **options)
        self.sources = {name: source for name, source in (("x", x), ("y", y)) if source is not None}
        self.x_limits = x_limits

    def _build(self) -> None:
        self.path = self.line(self.theme.accent, width=1.0, alpha=0.6)
        self.dot = self.line(self.theme.highlight, marker="o", ms=7.0, zorder=4)

    def set_data(self, x: Any, y: Any) -> None:
        """Show a path `(n,)`, `(n,)`; its last point is where it is now."""
        x, y = np.asarray(x, float), np.asarray(y, float)
        self.path.set_data(x, y)
        self.dot.set_data(x[-1:], y[-1:])
        self.fit_x(*(self.x_limits or roomy_limits(value_range(x), ())))
        self.fit_y(y)

    def show(self, steps: NDArray[np.float64], samples: Samples, context: Samples) -> None:
        """Show what a `Dashboard` has sampled."""
        self.set_data(samples["x"][:, 0], samples["y"][:, 0])


class Depth(Chart):
    """An order book: what can be sold and bought down to and up to each price.

    Args:
        title: What is shown.
        bids: What a `Dashboard` samples: an attribute of the environment or a function of it that gives prices and
            sizes `(k, 2)`, in any order.
        asks: The same for the other side.
        **options: As for every `Chart`.
    """

    default_include = (0.0,)

    def __init__(self, title: str = "", bids: Source | None = None, asks: Source | None = None, **options: Any) -> None:
        super().__init__(title, **options)
        self.sources = {name: source for name, source in (("bids", bids), ("asks", asks)) if source is not None}

    def _build(self) -> None:
        colors = self.theme.up, self.theme.down
        self.areas = [self.area(color, alpha=0.25) for color in colors]
        self.edges = [self.line(color) for color in colors]
        self.legend(self.areas, ["bids", "asks"])

    def set_data(self, bids: Any, asks: Any) -> None:
        """Show prices and sizes, `(k, 2)` each; rows with NaN are left out."""
        sides = [depth_of(bids, -1), depth_of(asks, 1)]
        prices = np.concatenate([price for price, _ in sides])
        low, high = nice_limits(*value_range(prices))
        for area, edge, (price, total) in zip(self.areas, self.edges, sides, strict=True):
            if len(price):  # out to the end of the axis
                price, total = np.append(price, high if price[-1] > price[0] else low), np.append(total, total[-1])
            edge.set_data(price, total)
            area.set_xy(band_of(price, np.zeros(len(price)), total))
        self.fit_x(low, high)
        self.fit_y(*(total for _, total in sides))

    def show(self, steps: NDArray[np.float64], samples: Samples, context: Samples) -> None:
        """Show what a `Dashboard` has sampled."""
        self.set_data(samples["bids"][-1].reshape(-1, 2), samples["asks"][-1].reshape(-1, 2))


def depth_of(orders: Any, direction: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points of the line of summed sizes, from the best price on; the best is the lowest if `direction` is 1."""
    orders = np.asarray(orders, float).reshape(-1, 2)
    orders = orders[np.isfinite(orders).all(axis=1)]
    orders = orders[np.argsort(direction * orders[:, 0], kind="stable")]
    prices, totals = np.repeat(orders[:, 0], 2), np.repeat(np.cumsum(orders[:, 1]), 2)
    return prices, np.concatenate([[0.0], totals])[:-1] if len(totals) else totals
