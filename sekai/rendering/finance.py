"""Renderers of the finance environments."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sekai.error import ResetRequired
from sekai.rendering.chart import Samples, Source, TimeChart, band_of, show_single
from sekai.rendering.dashboard import Dashboard
from sekai.rendering.decimation import thin_lines
from sekai.rendering.renderer import BaseRenderer, RGBArray
from sekai.rendering.scene import base_of
from sekai.rendering.theme import Theme
from sekai.rendering.ticks import format_number
from sekai.rendering.time_charts import StackedArea, TimeSeries, held
from sekai.rendering.value_charts import Bars

LEAST_TRADE = 1e-6  # change of the position that counts as a trade
MARKER_ROOM = 6  # pixels that a marker takes; with less there are none
BUY = ((-0.5, -1.5), (0.5, -1.5), (0.0, -0.6))  # a triangle below the point that it marks
SELL = tuple((x, -y) for x, y in BUY)


class PriceChart(TimeChart):
    """A price, and what the agent does at it.

    Every argument but the title is a source for a `Dashboard`: the name of an attribute of the environment, or a
    function of it.

    Args:
        title: What is shown.
        price: The price.
        position: The position held over the step that ended, signed; it shades the background, up to full height for 1,
            and every change of it is marked as a trade at the price before.
        bid: The agent's own bid of the step that ended.
        ask: Its own ask.
        buys: The price of what it bought in the step that ended, or None.
        sells: The price of what it sold.
        history: Prices before the episode, up to its first one.
        **options: As for every `Chart`.
    """

    def __init__(
        self,
        title: str,
        price: Source,
        *,
        position: Source | None = None,
        bid: Source | None = None,
        ask: Source | None = None,
        buys: Source | None = None,
        sells: Source | None = None,
        history: Source | None = None,
        **options: Any,
    ) -> None:
        super().__init__(title, **options)
        given = {"price": price, "position": position, "bid": bid, "ask": ask, "buys": buys, "sells": sells}
        self.sources = {name: source for name, source in given.items() if source is not None}
        self.context = {} if history is None else {"history": history}
        self.position = position

    def _build(self) -> None:
        theme = self.theme
        self.long, self.short = (self.area(color, alpha=0.14, zorder=1) for color in (theme.up, theme.down))
        for area in (self.long, self.short):
            area.set_transform(self.axes.get_xaxis_transform())  # its height is a share of the axes
        self.past = self.line(theme.neutral, width=1.2)
        self.price = self.line(theme.text, width=1.5)
        quotes: dict[str, Any] = {"drawstyle": "steps-pre", "width": 1.0, "alpha": 0.8}
        self.bid, self.ask = self.line(theme.up, **quotes), self.line(theme.down, **quotes)
        marks: dict[str, Any] = {"ls": "", "ms": 13.0, "mew": 0.0, "zorder": 5}
        self.buys = self.line(theme.up, marker=BUY, **marks)
        self.sells = self.line(theme.down, marker=SELL, **marks)
        self._name_parts()

    def _name_parts(self) -> None:
        parts = {"long": (self.long, "position"), "short": (self.short, "position")}
        parts |= {"bid": (self.bid, "bid"), "ask": (self.ask, "ask")}
        named = {label: artist for label, (artist, source) in parts.items() if source in self.sources}
        if named:
            self.legend(list(named.values()), list(named))

    def begin(self, context: Samples) -> float:
        """The first time of the history before the episode."""
        return 1.0 - len(context["history"]) if "history" in context else 0.0

    def show(self, steps: NDArray[np.float64], samples: Samples, context: Samples) -> None:
        """Show what a `Dashboard` has sampled."""
        columns = {name: sample[:, 0] for name, sample in samples.items()}
        price = columns["price"]
        self.price.set_data(*thin_lines(steps, price, self.width))
        show_single(self.price)
        past = context.get("history", np.empty(0))
        self.past.set_data(np.arange(1 - len(past), 1), past)
        for line, name in ((self.bid, "bid"), (self.ask, "ask")):
            if name in columns:
                line.set_data(steps, columns[name])
        if "position" in columns:
            self._shade(steps, columns["position"])
        for line, (x, y) in zip((self.buys, self.sells), self.fills(steps, columns), strict=True):
            few = len(x) * MARKER_ROOM <= self.width
            line.set_data(*(x, y) if few else ([], []))
        self.fit_time(steps)
        shown = past[max(len(past) - 1 + int(self.axes.get_xlim()[0]), 0) :]
        self.fit_y(price, shown, *(columns[name] for name in ("bid", "ask") if name in columns))

    def _shade(self, steps: NDArray[np.float64], position: NDArray[np.float64]) -> None:
        """Shade the time of each step by the position held over it."""
        x, size = held(steps, np.append(position[1:], position[-1:]))
        size = np.clip(size, -1.0, 1.0)
        zero = np.zeros(len(x))
        self.long.set_xy(band_of(x, zero, np.maximum(size, 0)))
        self.short.set_xy(band_of(x, zero, np.maximum(-size, 0)))

    def fills(
        self, steps: NDArray[np.float64], columns: Samples
    ) -> tuple[tuple[NDArray[np.float64], NDArray[np.float64]], ...]:
        """Times and prices of what was bought, and of what was sold."""
        if "position" in columns:
            change = np.diff(columns["position"])
            return tuple(
                (steps[:-1][side], columns["price"][:-1][side])
                for side in (change > LEAST_TRADE, change < -LEAST_TRADE)
            )
        none = np.full(len(steps), np.nan)
        prices = [columns.get(name, none) for name in ("buys", "sells")]
        return tuple((steps[np.isfinite(price)] - 0.5, price[np.isfinite(price)]) for price in prices)


class FinanceRenderer(Dashboard):
    """A dashboard of one class of environments.

    Args:
        width: Of frames, in pixels.
        height: Of frames, in pixels.
        theme: `"light"`, `"dark"` or a `Theme`.
        window: How many of the last steps to show; None for the whole episode.
    """

    draws: ClassVar[tuple[str, str]]  # module and class of the environment

    def __init__(
        self, *, width: int = 720, height: int = 450, theme: str | Theme = "light", window: int | None = None
    ) -> None:
        rows, heights = self.charts()
        super().__init__(
            *rows, heights=heights, note=self.tell, width=width, height=height, theme=theme, window=window,
            horizon=self.length,
        )  # fmt: skip

    def charts(self) -> tuple[list[Any], list[float]]:
        """The rows of charts, and their heights."""
        raise NotImplementedError

    def tell(self, env: Any) -> str:
        """The line beside the title."""
        raise NotImplementedError

    def length(self, env: Any) -> float:
        """Steps of an episode."""
        base = env.unwrapped
        return float(base.n_steps if hasattr(base, "n_steps") else base.episode_length)

    def check(self, env: Any) -> None:
        """Refuse other environments, and such as were never reset."""
        check_started(env, self.draws, self)


def check_started(env: Any, draws: tuple[str, str], renderer: BaseRenderer) -> None:
    """Refuse environments of another class than the one of that module and name, and such as were never reset.

    Raises:
        TypeError: It is of another class.
        ResetRequired: It was never reset.
    """
    module, name = draws
    if base_of(env, (getattr(import_module(module), name),), renderer).state is None:
        raise ResetRequired("call reset() before render(): there is no state to draw.")


def change(value: float) -> str:
    """How far a value has moved from 1."""
    return format_number(value - 1, 2, sign=True, percent=True)


class TradingRenderer(FinanceRenderer):
    """Draws a `TradingEnv`: price, position and trades, and equity with what buying and holding would have made.

    Args:
        width: Of frames, in pixels.
        height: Of frames, in pixels.
        theme: `"light"`, `"dark"` or a `Theme`.
        window: How many of the last steps to show; None for the whole episode.
    """

    draws = "sekai.envs.finance.trading", "TradingEnv"

    def charts(self) -> tuple[list[Any], list[float]]:
        """Price above, equity below."""
        price = PriceChart("Price", "price", position=chosen_position, history=lambda env: env.unwrapped.price_history)
        sources: dict[str, Source] = {"equity": "equity", "buy and hold": bought_and_held}
        equity = TimeSeries("Equity", sources, unit="start = 1", colors=["accent", "neutral"], baseline=1.0, fill=True)
        return [price, equity], [1.4, 1.0]

    def tell(self, env: Any) -> str:
        """Equity and position."""
        base = env.unwrapped
        side = "long" if base.position > 0 else "short" if base.position < 0 else "flat"
        size = f" {format_number(abs(base.position), 0, percent=True)}" if base.position else ""
        return f"equity {change(base.equity)},  {side}{size}"


def chosen_position(env: Any) -> float:
    """The position that the agent chose for the last step: the present one, without its drift with the price."""
    base = env.unwrapped
    if base.elapsed_steps == 0:
        return 0.0
    before, now = base.price_history[-2:]
    drift = 1 + (now / before - 1) * (1 - base.position)
    return float(base.position / drift if drift > 0 else base.position)


def bought_and_held(env: Any) -> float:
    """Price, in units of that at the start of the episode."""
    base = env.unwrapped
    return float(base.price / base.price_history[-1 - base.elapsed_steps])


class PortfolioRenderer(BaseRenderer):
    """Draws a `PortfolioEnv`: wealth, and weights over time and now.

    Environments with different assets have charts of their own.

    Args:
        width: Of frames, in pixels.
        height: Of frames, in pixels.
        theme: `"light"`, `"dark"` or a `Theme`.
        window: How many of the last steps to show; None for the whole episode.
    """

    draws: ClassVar[tuple[str, str]] = "sekai.envs.finance.portfolio", "PortfolioEnv"

    def __init__(
        self, *, width: int = 720, height: int = 450, theme: str | Theme = "light", window: int | None = None
    ) -> None:
        self._make: Callable[..., Dashboard] = lambda *rows: Dashboard(
            *rows, note=told_of_portfolio, width=width, height=height, theme=theme, window=window,
            horizon=lambda env: env.unwrapped.episode_length,
        )  # fmt: skip
        self._make()  # refuses bad arguments at once
        self._dashboards: dict[tuple[str, ...], Dashboard] = {}

    def render(self, env: Any) -> RGBArray:
        """Draw an environment, wrapped or not, with its history: a fresh uint8 array `(height, width, 3)`.

        Raises:
            TypeError: It is no `PortfolioEnv`.
            ResetRequired: It was never reset.
        """
        check_started(env, self.draws, self)
        return self.dashboard(env).render(env)

    def dashboard(self, env: Any) -> Dashboard:
        """The dashboard for the assets of an environment."""
        names = asset_names(env)
        if names not in self._dashboards:
            self._dashboards[names] = self._make(*portfolio_charts(names))
        return self._dashboards[names]


def asset_names(env: Any) -> tuple[str, ...]:
    """Names of the assets, and cash."""
    base = env.unwrapped
    data = getattr(base, "data", None)
    assets = (f"Asset {i + 1}" for i in range(base.n_assets)) if data is None else map(str, data.assets)
    return (*assets, "Cash")


def portfolio_charts(names: tuple[str, ...]) -> list[Any]:
    """Wealth above, weights below."""
    colors = [*range(len(names) - 1), "neutral"]
    wealth = TimeSeries("Wealth", "portfolio_value", unit="start = 1", colors=["accent"], baseline=1.0, fill=True)
    layers = StackedArea("Weights over time", "weights", colors=colors, percent=True, include=(0.0, 1.0))
    bars = Bars("Weights now", "weights", labels=names, colors=colors, percent=True, include=(0.0, 1.0))
    return [wealth, [layers, bars]]


def told_of_portfolio(env: Any) -> str:
    """Wealth and cash, for the line beside the title."""
    base = env.unwrapped
    return f"wealth {change(base.portfolio_value)},  cash {format_number(base.weights[-1], 0, percent=True)}"


class MarketMakingRenderer(FinanceRenderer):
    """Draws a `MarketMakingEnv`: mid price, own quotes and fills; inventory; wealth.

    Args:
        width: Of frames, in pixels.
        height: Of frames, in pixels.
        theme: `"light"`, `"dark"` or a `Theme`.
        window: How many of the last steps to show; None for the whole episode.
    """

    draws = "sekai.envs.finance.market_making", "MarketMakingEnv"

    def charts(self) -> tuple[list[Any], list[float]]:
        """Prices above, inventory and wealth below."""
        mid = PriceChart(
            "Mid price and own quotes", "mid", bid="bid", ask="ask",
            buys=lambda env: env.unwrapped.bid if env.unwrapped.bid_filled else None,
            sells=lambda env: env.unwrapped.ask if env.unwrapped.ask_filled else None,
        )  # fmt: skip
        inventory = TimeSeries("Inventory", "inventory", unit="shares", baseline=0.0, fill=True, hold=True, whole=True)
        wealth = TimeSeries("Wealth", "wealth", unit="profit and loss", baseline=0.0, fill=True)
        return [mid, [inventory, wealth]], [1.6, 1.0]

    def tell(self, env: Any) -> str:
        """Wealth and inventory."""
        base = env.unwrapped
        return f"wealth {format_number(base.wealth, 2, sign=True)},  inventory {format_number(base.inventory, 0)}"


class OptimalExecutionRenderer(FinanceRenderer):
    """Draws an `OptimalExecutionEnv`: what is left to sell, beside the Almgren-Chriss schedule; shortfall; mid price.

    Args:
        width: Of frames, in pixels.
        height: Of frames, in pixels.
        theme: `"light"`, `"dark"` or a `Theme`.
        window: How many of the last steps to show; None for the whole episode.
    """

    draws = "sekai.envs.finance.optimal_execution", "OptimalExecutionEnv"

    def charts(self) -> tuple[list[Any], list[float]]:
        """Inventory above, shortfall and mid price below."""
        inventory = TimeSeries(
            "Left to sell", {"inventory": "inventory"}, unit="shares", fill=True, include=(0.0,),
            reference=lambda env: env.unwrapped.almgren_chriss_trajectory(),
            reference_label="Almgren\N{EN DASH}Chriss",
        )  # fmt: skip
        shortfall = TimeSeries("Shortfall", shortfall_bps, unit="bp", colors=["down"], baseline=0.0)
        mid = TimeSeries("Mid price", "mid", colors=["text"])
        return [inventory, [shortfall, mid]], [1.4, 1.0]

    def tell(self, env: Any) -> str:
        """What is sold, and the shortfall."""
        base = env.unwrapped
        sold = format_number(1 - base.inventory / base.X0, 1, percent=True)
        return f"sold {sold},  shortfall {format_number(shortfall_bps(env), 1, sign=True)} bp"


def shortfall_bps(env: Any) -> float:
    """Implementation shortfall in hundredths of a per cent of what all shares were worth at the start."""
    base = env.unwrapped
    return float(1e4 * base.shortfall / (base.X0 * base.s0))
