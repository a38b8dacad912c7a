"""Charts of what an environment tells about itself, over the steps of an episode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekai.rendering.chart import Chart, Source, TimeChart
from sekai.rendering.history import History, PerEnv
from sekai.rendering.picture import Picture
from sekai.rendering.renderer import BaseRenderer, RGBArray
from sekai.rendering.theme import Theme, get_theme
from sekai.utils.integers import positive_int
from sekai.vector.kernel_env import KernelEnv

LEAST_SIZE = (320, 240)  # pixels: below that text would overlap
SAMPLES_PER_PIXEL = 4
ROOM_FOR_BOTH = 480  # pixels that a title and a note need


def read(env: Any, source: Source) -> Any:
    """What a source tells of an environment: the result of a function of it, or an attribute of some layer of it.

    Raises:
        AttributeError: No layer has the attribute.
    """
    if callable(source):
        return source(env)
    base = getattr(env, "unwrapped", env)
    if not hasattr(base, source) and hasattr(env, "get_attr"):
        return env.get_attr(source)
    return getattr(base, source)


def vector(value: Any) -> NDArray[np.float64]:
    """A sample as a vector; None is NaN."""
    if value is None:
        return np.array([np.nan])
    return np.asarray(value, float).ravel()


class Dashboard(BaseRenderer):
    """A renderer made of charts: each render takes a sample of what they show.

    A history belongs to one environment, and begins anew when the clock goes back or stands at 0. A render at the time
    of the last one replaces its sample.

        Dashboard(
            TimeSeries("Stock", "stock", unit="items", hold=True),
            [TimeSeries("Profit", "profit", baseline=0.0, fill=True), Bars("Orders", "orders", labels=["A", "B"])],
        )

    Args:
        *rows: Charts with sources, from top to bottom; those of a sequence stand side by side.
        heights: Shares of the height, one per row; equal ones if None.
        title: Title above them, or a function of the environment; None for its id or the name of its class.
        note: A function of the environment that gives a line of text for the right of the title.
        width: Of frames, in pixels.
        height: Of frames, in pixels.
        theme: `"light"`, `"dark"` or a `Theme`.
        window: How many of the last steps to show; None for the whole episode.
        clock: What tells the time. If None, or if the environment has no `elapsed_steps` and is no `KernelEnv`, every
            render is a step, and `reset` alone begins a new history.
        horizon: Where the axis of time ends; None for `max_episode_steps` of the environment's spec.

    Attributes:
        panels: All charts, in the order they are read in.

    Raises:
        ValueError: A size below 320 x 240, a window below 1, or `heights` that do not fit.
        TypeError: Something else than charts.
    """

    def __init__(
        self,
        *rows: Chart | Sequence[Chart],
        heights: Sequence[float] | None = None,
        title: str | Callable[[Any], str] | None = None,
        note: Callable[[Any], str] | None = None,
        width: int = 720,
        height: int = 450,
        theme: str | Theme = "light",
        window: int | None = None,
        clock: Source | None = "elapsed_steps",
        horizon: Source | float | None = None,
    ) -> None:
        self.width, self.height = positive_int("width", width), positive_int("height", height)
        if width < LEAST_SIZE[0] or height < LEAST_SIZE[1]:
            raise ValueError(f"a dashboard must be at least {LEAST_SIZE[0]} x {LEAST_SIZE[1]}, got {width} x {height}")
        self.theme = get_theme(theme)
        self.window = None if window is None else positive_int("window", window)
        self.title, self.note, self.clock, self.horizon = title, note, clock, horizon
        self._histories = PerEnv(lambda: History(SAMPLES_PER_PIXEL * self.width))
        self._has_title = note is None or width >= ROOM_FOR_BOTH
        self.set_rows(*rows, heights=heights)

    def set_rows(self, *rows: Chart | Sequence[Chart], heights: Sequence[float] | None = None) -> None:
        """Show other charts, and forget all histories.

        Raises:
            TypeError: A row is neither a chart nor a sequence of charts.
            ValueError: `heights` does not have one positive number per row.
        """
        grid = [list(row) if isinstance(row, Sequence) else [row] for row in rows]
        panels = [chart for row in grid for chart in row]
        for chart in panels:
            if not isinstance(chart, Chart):
                raise TypeError(f"rows must hold charts, got {chart!r}")
            if self.window is not None and isinstance(chart, TimeChart):
                chart.x_label = "steps from now"
        picture = Picture(self.width, self.height, theme=self.theme)
        picture.place(*grid, heights=heights)
        self.panels, self._picture = panels, picture
        self._histories.clear()

    def check(self, env: Any) -> None:
        """Refuse environments that cannot be drawn; a subclass may."""

    def reset(self, env: Any = None) -> None:
        """Forget the history of an environment, or of all."""
        if env is None:
            self._histories.clear()
        else:
            self._histories.forget(getattr(env, "unwrapped", env))

    def render(self, env: Any) -> RGBArray:
        """Take a sample of an environment, wrapped or not, and draw its history.

        Returns:
            A fresh uint8 array `(height, width, 3)`.

        Raises:
            AttributeError: It lacks an attribute that a chart shows.
        """
        self.check(env)
        history = self._histories[getattr(env, "unwrapped", env)]
        self._record(env, history)
        steps, span = self._times(env, history)
        for i, chart in enumerate(self.panels):
            if isinstance(chart, TimeChart):
                chart.span = span
            samples = {name: history[i, name] for name in chart.sources}
            chart.show(steps, samples, {name: history.context[i, name] for name in chart.context})
        self._head(env)
        return self._picture.frame()

    def _head(self, env: Any) -> None:
        picture = self._picture
        title = self._title_of(env) if self._has_title else ""
        if picture.title.get_text() != title:
            picture.title.set_text(title)
        if self.note is not None:
            picture.note.set_text(self.note(env))

    def _record(self, env: Any, history: History) -> None:
        time = self._time(env, history)
        begins = not len(history) or time == 0 or time < history.steps[-1]
        values = self._sample(env, "sources")
        if begins:
            context = self._sample(env, "context")
            history.clear()
            history.context = context
        history.record(time, values)
        if self.window is not None:
            history.keep(self.window)

    def _sample(self, env: Any, kind: str) -> dict[Any, NDArray[np.float64]]:
        """Read the sources of all charts; by the number of the chart and the name of the source."""
        return {
            (i, name): vector(read(env, source))
            for i, chart in enumerate(self.panels)
            for name, source in getattr(chart, kind).items()
        }

    def _time(self, env: Any, history: History) -> float:
        time = None if self.clock is None else self._clock_of(env, self.clock)
        if time is None:
            time = history.steps[-1] + 1 if len(history) else 0.0
        return float(time)

    def _clock_of(self, env: Any, clock: Source) -> Any:
        """What the clock says; of an environment that has none by default, the count that kernel envs keep, or None."""
        try:
            return read(env, clock)
        except AttributeError:
            if clock != "elapsed_steps":
                raise
        base = getattr(env, "unwrapped", env)
        return base._vec._book_row("elapsed")[0] if isinstance(base, KernelEnv) else None

    def _times(self, env: Any, history: History) -> tuple[NDArray[np.float64], tuple[float, float] | None]:
        """Times of the samples as they are shown, and where the axis begins and ends."""
        if self.window is not None:
            return history.steps - history.steps[-1], (-float(self.window), 0.0)
        begins = [
            chart.begin({name: history.context[i, name] for name in chart.context})
            for i, chart in enumerate(self.panels)
            if isinstance(chart, TimeChart)
        ]
        horizon = self._horizon_of(env)
        first = min([float(history.steps[0]), *begins])
        return history.steps, None if horizon is None else (first, horizon)

    def _horizon_of(self, env: Any) -> float | None:
        horizon: Any = self.horizon
        if callable(horizon) or isinstance(horizon, str):
            horizon = read(env, horizon)
        if horizon is None:
            horizon = getattr(getattr(env, "spec", None), "max_episode_steps", None)
        return None if horizon is None else float(horizon)

    def _title_of(self, env: Any) -> str:
        if self.title is None:
            spec = getattr(env, "spec", None)
            return type(getattr(env, "unwrapped", env)).__name__ if spec is None else str(spec.id)
        return self.title if isinstance(self.title, str) else self.title(env)
