"""Pictures of whole rollouts."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from sekai.rendering.chart import Chart
from sekai.rendering.picture import Picture
from sekai.rendering.theme import Theme
from sekai.rendering.ticks import decimals_for, format_number, nice_limits, nice_step, value_range
from sekai.rendering.time_charts import Fan
from sekai.rendering.value_charts import Histogram
from sekai.rollouts.result import Episodes, Rollout

MOST_LANES, MOST_TIMES = 4096, 500  # how many of each a fan chart looks at


def plot_rollout(
    rollout: Rollout,
    *,
    single_lanes: int = 3,
    width: int = 960,
    height: int = 640,
    theme: str | Theme = "light",
) -> Figure:
    """Show how a rollout went: distributions of returns and lengths, and rewards over time.

    It shows what was recorded: without rewards, the returns of the episodes over the steps in which they ended;
    without episodes, their statistics; if no episode ended, the sums of rewards of the lanes.

    Args:
        rollout: What `sekai.rollout` returned.
        single_lanes: How many lanes are drawn as lines of their own, too.
        width: In pixels.
        height: In pixels.
        theme: `"light"`, `"dark"` or a `Theme`.

    Returns:
        A figure, which shows itself in a notebook; `figure.savefig("run.png")` writes it.

    Raises:
        TypeError: `rollout` is not a rollout.
    """
    if not isinstance(rollout, Rollout):
        raise TypeError(f"rollout must be what sekai.rollout returned, got {type(rollout).__name__}")
    picture = Picture(width, height, theme=theme)
    charts = [*distributions(rollout), *over_time(rollout, single_lanes)]
    rows = [row for row in (charts[:-1], charts[-1:]) if row]
    picture.place(*([chart for chart, _ in row] for row in rows))
    picture.title.set_text(summary(rollout))
    for chart, data in charts:
        chart.set_data(*data)
    return picture


def summary(rollout: Rollout) -> str:
    """One line on the size of a rollout and on its episodes."""
    lanes, steps = counted(rollout.num_envs, "lane"), counted(rollout.num_steps, "step")
    return f"{lanes} \N{MULTIPLICATION SIGN} {steps}: {counted(rollout.statistics.num_episodes, 'episode')} ended"


def counted(number: int, what: str) -> str:
    """A number and what it counts: 1 lane, 2 lanes."""
    return f"{format_number(number, 0)} {what}{'' if number == 1 else 's'}"


def distributions(rollout: Rollout) -> list[tuple[Any, tuple[Any, ...]]]:
    """Charts of returns and lengths, each with its data."""
    statistics, episodes = rollout.statistics, rollout.episodes
    returns = f"Return: {spread(statistics.return_mean, statistics.return_std)}"
    lengths = f"Length: {spread(statistics.length_mean, statistics.length_std)}"
    if statistics.num_episodes == 0:
        if rollout.rewards is None:
            return []
        return [(Histogram("Sum of rewards of a lane", x_label="reward"), (valid_rewards(rollout).sum(axis=0),))]
    if episodes is None:
        return [
            (Spread(returns, x_label="return"), (statistics.return_mean, statistics.return_std)),
            (Spread(lengths, x_label="steps"), (statistics.length_mean, statistics.length_std)),
        ]
    return [
        (Histogram(returns, x_label="return of an episode"), (episodes.returns,)),
        (Histogram(lengths, x_label="steps of an episode"), (episodes.lengths,)),
    ]


def over_time(rollout: Rollout, single_lanes: int) -> list[tuple[Any, tuple[Any, ...]]]:
    """A chart of rewards or of returns over time, with its data; none if there is nothing to show."""
    if rollout.rewards is not None:
        chart = Fan(f"Reward of a step{of_lanes(rollout.num_envs, single_lanes)}")
        times = picked(rollout.num_steps, MOST_TIMES)
        lanes = picked(rollout.num_envs, MOST_LANES)
        single = np.arange(min(single_lanes, rollout.num_envs))
        data: tuple[Any, ...] = times, *(gathered(rollout.rewards, rollout, times, some) for some in (lanes, single))
    elif rollout.episodes is not None and len(rollout.episodes.returns):
        chart = Fan("Return of the episodes that end")
        data = by_time(rollout.episodes, rollout.num_steps)
    else:
        return []
    chart.span = (0, rollout.num_steps)
    return [(chart, data)]


def of_lanes(num_envs: int, single: int) -> str:
    """Of which lanes a chart of rewards is, if not of all, and which of them are drawn as thin lines."""
    count, single = len(picked(num_envs, MOST_LANES)), min(single, num_envs)
    some = "" if count == num_envs else f" in {format_number(count, 0)} lanes"
    last = "" if single < 2 else f"\N{EN DASH}{single - 1}"
    return some + (f"; thin: lane{'s' if last else ''} 0{last}" if single else "")


def picked(count: int, most: int) -> NDArray[np.int64]:
    """At most `most` numbers below `count`, evenly spaced, with the first and the last."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.int64))


def gathered(
    array: NDArray[Any], rollout: Rollout, times: NDArray[np.int64], lanes: NDArray[np.int64]
) -> NDArray[np.float64]:
    """What an array `(T, N)` holds at some times for some lanes, NaN where those are no real transitions."""
    places = np.ix_(times, lanes)
    values = array[places].astype(np.float64)
    return values if rollout.valid is None else np.where(rollout.valid[places], values, np.nan)


def valid_rewards(rollout: Rollout) -> NDArray[np.float64]:
    """Rewards `(T, N)`, 0 where there was no real transition."""
    assert rollout.rewards is not None
    return rollout.rewards if rollout.valid is None else np.where(rollout.valid, rollout.rewards, 0.0)


def by_time(episodes: Episodes, num_steps: int, most: int = 100) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Times `(n,)`, and for each the returns `(n, m)` of the episodes that ended about then, filled up with NaN."""
    size = -(-num_steps // most)
    slots = episodes.end_steps // size
    counts = np.bincount(slots)
    returns = np.full((len(counts), counts.max()), np.nan)
    first = np.cumsum(counts) - counts
    returns[slots, np.arange(len(slots)) - first[slots]] = episodes.returns  # they are in the order of their ends
    used = counts > 0
    times = np.asarray((np.flatnonzero(used) + 0.5) * size, np.float64)
    return times, returns[used]


class Spread(Chart):
    """A mean, with a standard deviation to either side."""

    def _build(self) -> None:
        self.axes.grid(False, axis="y")
        self.axes.set_yticks([])
        self.bar = self.line(self.theme.accent, width=6.0, alpha=0.4, solid_capstyle="butt")
        self.dot = self.line(self.theme.accent, marker="o", ms=8.0)

    def set_data(self, mean: float, deviation: float) -> None:
        """Show a mean and a standard deviation."""
        ends = [mean - deviation, mean + deviation]
        self.bar.set_data(ends, [0.5, 0.5])
        self.dot.set_data([mean], [0.5])
        self.fit_x(*nice_limits(*value_range(ends, pad=0.3)))


def spread(mean: float, deviation: float) -> str:
    """A mean and a standard deviation, in words."""
    decimals = decimals_for(nice_step(deviation, 100)) if deviation > 0 else 2
    return f"{format_number(mean, decimals)} \N{PLUS-MINUS SIGN} {format_number(deviation, decimals)}"
