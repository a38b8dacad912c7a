"""Charts over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from matplotlib.patches import Polygon
from numpy.typing import NDArray

from sekai.rendering.chart import Samples, Source, TimeChart, band_of, show_single
from sekai.rendering.decimation import thin_lines

BAND_ALPHAS = (0.18, 0.30)  # of the outer and the inner band of a fan


class TimeSeries(TimeChart):
    """One or more values over time.

    Args:
        title: What is shown.
        source: What a `Dashboard` samples: the name of an attribute of the environment, or a function of it, that gives
            a number or one per series; or a dict of such by label.
        labels: Names of the series, for the legend; those of the dict if None.
        colors: Their colours: roles of the theme, indices of its series, or colours; those of the theme's series if
            None. The first series is drawn on top.
        baseline: A value that gets a line of its own.
        fill: Whether to fill between the first series and the baseline, in one colour above and in another below it, or
            the bottom if there is none.
        hold: Whether values hold until the next, instead of changing gradually.
        reference: What a `Dashboard` reads when an episode begins: values at steps 0, 1, …, drawn as a dashed line.
        reference_label: Its name, for the legend.
        **options: As for every `Chart`.
    """

    def __init__(
        self,
        title: str = "",
        source: Source | Mapping[str, Source] | None = None,
        *,
        labels: Sequence[str] | None = None,
        colors: Sequence[int | str] | None = None,
        baseline: float | None = None,
        fill: bool = False,
        hold: bool = False,
        reference: Source | None = None,
        reference_label: str = "reference",
        **options: Any,
    ) -> None:
        super().__init__(title, **options)
        sources = source if isinstance(source, Mapping) else {} if source is None else {"": source}
        self.sources = dict(sources)
        self.labels = list(labels) if labels is not None else [label for label in sources if label]
        self.colors = list(colors or [])
        self.baseline, self.fill, self.hold, self.reference_label = baseline, fill, hold, reference_label
        if reference is not None:
            self.context = {"reference": reference}
        if baseline is not None:
            self.include = (*self.include, baseline)

    def _build(self) -> None:
        theme = self.theme
        if self.baseline is not None:
            self.axes.axhline(self.baseline, color=theme.axis, lw=1.0, zorder=1)
        self.areas = []
        if self.fill:
            up, down = ("up", "down") if self.baseline is not None else (self.color_of(0), "down")
            self.areas = [self.area(theme.color(color), alpha=0.16) for color in (up, down)]
        self.reference = self.line(theme.neutral, ls=(0, (4, 2.5)), zorder=2.5)
        self.lines: list[Any] = []
        self._add_lines(max(len(self.labels), 1))
        handles = [*self.lines[: len(self.labels)], *([self.reference] if self.context else [])]
        labels = [*self.labels, *([self.reference_label] if self.context else [])]
        if len(labels) > 1:
            self.legend(handles, labels)

    def color_of(self, index: int) -> int | str:
        """The colour of a series, as the theme takes it."""
        return self.colors[index] if index < len(self.colors) else index

    def _add_lines(self, count: int) -> None:
        while len(self.lines) < count:
            index = len(self.lines)
            color = self.theme.color(self.color_of(index))
            self.lines.append(self.line(color, width=1.6 if index == 0 else 1.3, zorder=4 - 0.01 * index))

    def set_data(self, x: Any, values: Any, reference: Any = None) -> None:
        """Show values over time.

        Args:
            x: Times `(n,)`, increasing.
            values: `(n,)`, or `(n, k)` for k series; NaN makes a gap.
            reference: Values at times 0, 1, ….
        """
        x, values = np.asarray(x, float), np.asarray(values, float)
        values = values[:, None] if values.ndim == 1 else values
        self._add_lines(values.shape[1])
        for line, column in zip(self.lines, values.T, strict=False):
            line.set_data(*self._points(x, column))
            show_single(line)
        reference = np.empty(0) if reference is None else np.asarray(reference, float)
        self.reference.set_data(np.arange(len(reference)), reference)
        self.fit_time(x)
        self.fit_y(values, reference)
        if self.areas:
            self._fill(*self._points(x, values[:, 0]))

    def _points(
        self, x: NDArray[np.float64], y: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        x, y = thin_lines(x, y, self.width)
        return held(x, y) if self.hold else (x, y)

    def _fill(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> None:
        base = self.axes.get_ylim()[0] if self.baseline is None else self.baseline
        level = np.full(len(x), base)
        self.areas[0].set_xy(band_of(x, level, np.maximum(y, base)))
        self.areas[1].set_xy(band_of(x, np.minimum(y, base), level))

    def show(self, steps: NDArray[np.float64], samples: Samples, context: Samples) -> None:
        """Show what a `Dashboard` has sampled."""
        self.set_data(steps, np.concatenate(list(samples.values()), axis=1), context.get("reference"))


class Fan(TimeChart):
    """How values of many lanes are distributed over time: median, bands of quantiles, and a few lanes singled out.

    Args:
        title: What is shown.
        source: What a `Dashboard` samples: the name of an attribute of the environment, or a function of it, that gives
            a number per lane.
        single: How many lanes, from the first on, a `Dashboard` draws as lines of their own, too.
        **options: As for every `Chart`.
    """

    quantiles: ClassVar[tuple[float, ...]] = (0.05, 0.25, 0.5, 0.75, 0.95)

    def __init__(self, title: str = "", source: Source | None = None, *, single: int = 0, **options: Any) -> None:
        super().__init__(title, **options)
        self.sources = {} if source is None else {"lanes": source}
        self.single = single

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
        show_single(self.median)
        while len(self.lines) < lines.shape[1]:
            color = self.theme.color(1 + len(self.lines))
            self.lines.append(self.line(color, width=0.9, alpha=0.85))
        for line, column in zip(self.lines, lines.T, strict=False):
            line.set_data(*thin_lines(x, column, self.width))
            show_single(line)
        self.fit_time(x)
        self.fit_y(rows, lines)

    def show(self, steps: NDArray[np.float64], samples: Samples, context: Samples) -> None:
        """Show what a `Dashboard` has sampled."""
        self.set_data(steps, samples["lanes"], samples["lanes"][:, : self.single])


class StackedArea(TimeChart):
    """Shares of a whole over time, on top of each other: positive ones up from 0, negative ones down.

    Args:
        title: What is shown.
        source: What a `Dashboard` samples: the name of an attribute of the environment, or a function of it, that gives
            a number per layer.
        labels: Names of the layers, for the legend.
        colors: Their colours, as in `TimeSeries`.
        **options: As for every `Chart`.
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
        self.sources = {} if source is None else {"layers": source}
        self.labels, self.colors = list(labels), colors

    def _build(self) -> None:
        self.layers: list[Polygon] = []
        self._add_layers(len(self.labels))
        if self.labels:
            self.legend(self.layers, self.labels)

    def _add_layers(self, count: int) -> None:
        for index in range(len(self.layers), count):
            color = index if self.colors is None else self.colors[index]
            self.layers.append(self.area(self.theme.color(color), alpha=0.85))

    def set_data(self, x: Any, values: Any) -> None:
        """Show values `(n, k)` over times `(n,)`; NaN counts as 0."""
        x, values = np.asarray(x, float), np.nan_to_num(np.asarray(values, float))
        self._add_layers(values.shape[1])
        tops = np.where(values >= 0, np.cumsum(np.maximum(values, 0), axis=1), np.cumsum(np.minimum(values, 0), axis=1))
        for layer, top, value in zip(self.layers, tops.T, values.T, strict=True):
            layer.set_xy(band_of(x, top - value, top))
        self.fit_time(x)
        self.fit_y(np.round(tops, 9))

    def show(self, steps: NDArray[np.float64], samples: Samples, context: Samples) -> None:
        """Show what a `Dashboard` has sampled."""
        self.set_data(steps, samples["layers"])


def held(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points of a line on which each value holds until the next."""
    return np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]


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
