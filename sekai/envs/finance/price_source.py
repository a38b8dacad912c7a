"""Where the prices of an environment come from."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from sekai.finance.data import MarketData
from sekai.finance.simulators import MarketModel


class PriceSource:
    """A history of prices, or a model to simulate; neither, for the simulation that an environment has of its own.

    Args:
        prices: A history as an array `(T,)` or `(T, n)`, a pandas Series or DataFrame; None for no such.
        data: The same as a `MarketData`.
        model: A model to simulate.
        window: Rows that an episode takes.
        n_assets: How many assets there have to be; None for any number.

    Attributes:
        data: The history, or None.
        model: The model, or None.
        n_assets: Number of assets; None without history and model.

    Raises:
        TypeError: An argument is of another type.
        ValueError: There is more than one source, the history is too short or lacks prices, or the number of assets
            is another.
    """

    def __init__(self, prices: Any, data: Any, model: Any, *, window: int, n_assets: int | None) -> None:
        given = {"prices": prices, "data": data, "model": model}
        names = [name for name, value in given.items() if value is not None]
        if len(names) > 1:
            raise ValueError(f"prices come from one source, got {' and '.join(names)}")
        if isinstance(prices, MarketData):
            raise TypeError("prices must be an array, a Series or a DataFrame; pass a MarketData as data=")
        if data is not None and not isinstance(data, MarketData):
            raise TypeError(f"data must be a MarketData, got {data!r}; pass arrays as prices=")
        if model is not None and not isinstance(model, MarketModel):
            raise TypeError(f"model must be a MarketModel, got {model!r}")
        self.data: MarketData | None = data if prices is None else market_data(prices)
        self.model: MarketModel | None = model
        self.n_assets: int | None = None
        if names:
            source: Any = model if self.data is None else self.data
            self.n_assets = source.n_assets
            if n_assets is not None and self.n_assets != n_assets:
                raise ValueError(f"{names[0]} must hold {n_assets} asset(s), got {self.n_assets}")
        if self.data is not None:
            check_history(names[0], self.data, window)


def market_data(prices: Any) -> MarketData:
    """Prices as a `MarketData`: with dates and names, if they are a pandas object with a `DatetimeIndex`."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(prices, (pandas.Series, pandas.DataFrame)):
        if isinstance(prices.index, pandas.DatetimeIndex):
            return MarketData.from_pandas(prices.to_frame() if isinstance(prices, pandas.Series) else prices)
        prices = prices.to_numpy()
    return MarketData(prices)


def check_history(name: str, data: MarketData, window: int) -> None:
    """Check that a history is long enough and complete.

    Raises:
        ValueError: It is not.
    """
    if data.n_steps < window:
        raise ValueError(f"{name} must have at least {window} rows (lookback + episode_length + 1), got {data.n_steps}")
    missing = np.argwhere(~data.mask)
    if missing.size:
        row, column = missing[0]
        raise ValueError(f"{name} must be complete, but row {row} of asset {data.assets[column]!r} has no price")
