"""Where prices come from: arrays, pandas objects, `MarketData`, models, and what is wrong with them."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from sekai.envs.finance import PortfolioEnv, TradingEnv
from sekai.envs.finance.price_source import PriceSource, market_data
from sekai.finance import GBM, MarketData

PRICES = 100 * np.exp(np.cumsum(np.random.default_rng(0).normal(0, 0.02, (30, 2)), axis=0))
DAYS = pd.date_range("2021-03-01", periods=30, name="date")
FRAME = pd.DataFrame(PRICES, index=DAYS, columns=["A", "B"])
SHAPE = {"lookback": 3, "episode_length": 6}  # a window of 10 rows


def source(prices=None, data=None, model=None, *, window=10, n_assets=None):
    return PriceSource(prices, data, model, window=window, n_assets=n_assets)


def changed(row, column, value):
    array = PRICES.astype(object)
    array[row, column] = value
    return array


# ---- what there is -------------------------------------------------------------------------------------


def test_no_source():
    found = source(n_assets=4)
    assert (found.data, found.model, found.n_assets) == (None, None, None)


@pytest.mark.parametrize(
    ("prices", "n_assets"),
    [(PRICES, 2), (PRICES[:, 0], 1), (PRICES[:, :1], 1), (PRICES.tolist(), 2), (PRICES.astype(np.float32), 2),
     (np.arange(1, 31), 1)],
)  # fmt: skip
def test_arrays_have_numbered_rows(prices, n_assets):
    found = source(prices)
    assert (found.n_assets, found.data.n_steps, found.data.is_datetime) == (n_assets, 30, False)
    assert found.data.timestamps.tolist() == list(range(30))
    assert found.data.prices.tolist() == np.reshape(prices, (30, -1)).astype(np.float64).tolist()
    assert found.data.prices.dtype == np.float64


def test_arrays_are_copied():
    prices = PRICES.copy()
    for env in (PortfolioEnv(prices, **SHAPE), TradingEnv(prices[:, 0], **SHAPE)):
        kept = env.prices.copy()
        prices[:] = 1.0
        assert env.prices.tolist() == kept.tolist()
        prices[:] = PRICES
    assert (TradingEnv(PRICES[:, :1], **SHAPE).prices.shape, PortfolioEnv(PRICES[:, 0], **SHAPE).prices.shape) == (
        (30,), (30, 1),
    )  # fmt: skip
    assert (TradingEnv().prices, TradingEnv().data, TradingEnv().model) == (None, None, None)


def test_pandas_objects_keep_their_dates():
    for prices, assets in ((FRAME, ("A", "B")), (FRAME["B"], ("B",)), (FRAME[["A"]], ("A",))):
        data = source(prices).data
        assert data.assets == assets
        assert (data.timestamps == DAYS.to_numpy()).all()
    env = TradingEnv(FRAME["A"], **SHAPE)
    info = env.reset(options={"start": "2021-03-08"}).info
    assert info["timestamp"] == np.datetime64("2021-03-08")
    assert isinstance(info["timestamp"], np.datetime64)
    assert info["price"] == PRICES[7, 0]
    assert env.dt == info["dt"] == pytest.approx(1 / 365.25, rel=1e-15)
    assert TradingEnv(FRAME["A"], dt=0.5, **SHAPE).dt == 0.5
    assert PortfolioEnv(FRAME, **SHAPE).data.assets == ("A", "B")


def test_pandas_objects_without_dates_are_arrays():
    for prices in (FRAME.reset_index(drop=True), pd.Series(PRICES[:, 0], index=list(range(5, 35)))):
        data = market_data(prices)
        assert data.timestamps.tolist() == list(range(30))
        assert data.prices.tolist() == np.reshape(prices.to_numpy(), (30, -1)).tolist()


def test_time_of_a_step():
    dated = MarketData(PRICES, timestamps=DAYS.to_numpy())
    for given, dt in (
        ({}, 1 / 252), ({"prices": PRICES}, 1 / 252), ({"data": dated}, 1 / 365.25), ({"data": dated, "dt": 0.1}, 0.1),
        ({"model": GBM(dt=0.01, n_assets=2)}, 0.01), ({"model": GBM(dt=0.01, n_assets=2), "dt": 0.1}, 0.1),
    ):  # fmt: skip
        assert PortfolioEnv(**given, **SHAPE).dt == pytest.approx(dt, rel=1e-15)


# ---- what is wrong -------------------------------------------------------------------------------------


def test_there_is_one_source():
    data, model = MarketData(PRICES), GBM(n_assets=2)
    for given, names in (
        ({"prices": PRICES, "data": data}, "prices and data"), ({"data": data, "model": model}, "data and model"),
        ({"prices": PRICES, "model": model}, "prices and model"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=f"one source, got {names}"):
            source(**given)
        with pytest.raises(ValueError, match=f"one source, got {names}"):
            PortfolioEnv(**given, **SHAPE)


def test_sources_have_types():
    with pytest.raises(TypeError, match="pass a MarketData as data="):
        source(MarketData(PRICES))
    for data in (PRICES, FRAME, 3):
        with pytest.raises(TypeError, match="data must be a MarketData"):
            source(data=data)
    for model in (3, GBM, "GBM"):
        with pytest.raises(TypeError, match="model must be a MarketModel"):
            source(model=model)


def test_the_number_of_assets():
    sources = {"prices": PRICES, "data": MarketData(PRICES), "model": GBM(n_assets=2)}
    for name, given in ((name, {name: value}) for name, value in sources.items()):
        with pytest.raises(ValueError, match=rf"{name} must hold 1 asset\(s\), got 2"):
            TradingEnv(**given, **SHAPE)
        with pytest.raises(ValueError, match=rf"{name} must hold 3 asset\(s\), got 2"):
            PortfolioEnv(n_assets=3, **given, **SHAPE)
        assert PortfolioEnv(n_assets=2, **given, **SHAPE).n_assets == 2


@pytest.mark.parametrize(
    ("prices", "error", "match"),
    [
        (PRICES[:9], ValueError, r"at least 10 rows \(lookback \+ episode_length \+ 1\), got 9"),
        (PRICES[:1], ValueError, "at least 2 rows"),
        (PRICES[None], ValueError, r"shape \(T,\) or \(T, N\), got \(1, 30, 2\)"),
        (3.0, ValueError, "shape"),
        ([[1.0, 2.0], [3.0]], ValueError, "rows of one length"),
        (changed(4, 1, 0.0), ValueError, "row 4, asset 'asset_1' is 0.0; prices must be positive"),
        (changed(5, 0, -1.5), ValueError, "row 5, asset 'asset_0' is -1.5"),
        (changed(6, 1, np.inf), ValueError, "row 6, asset 'asset_1' is inf"),
        (changed(7, 0, np.nan), ValueError, "must be complete, but row 7 of asset 'asset_0' has no price"),
        (changed(8, 0, None), ValueError, "row 8 of asset 'asset_0' has no price"),
        (changed(9, 1, "12.5"), ValueError, "row 9, asset 'asset_1' must be a number, got '12.5'"),
        (PRICES.astype(str), ValueError, "row 0, asset 'asset_0' must be a number"),
        (changed(9, 1, True), TypeError, "row 9, asset 'asset_1' must be a number, got True"),
        (PRICES > 0, TypeError, "row 0, asset 'asset_0' must be a number, got True"),
        (PRICES + 1j, TypeError, "row 0, asset 'asset_0' must be a number"),
        (FRAME.assign(B=FRAME["B"].where(DAYS[3] != DAYS)), ValueError, "row 3 of asset 'B' has no price"),
        (FRAME.assign(A=-FRAME["A"]), ValueError, "row 0, asset 'A' is -"),
        (FRAME[::-1], ValueError, "must increase, but row 1, 2021-03-29"),
        (pd.concat([FRAME[:9], FRAME[8:]]), ValueError, "row 9, 2021-03-09.* is a duplicate of row 8"),
        (FRAME.tz_localize("UTC"), ValueError, "must not have a time zone"),
        (FRAME.set_axis([pd.NaT, *DAYS[1:]]), ValueError, "row 0 is NaT"),
        (FRAME[:9], ValueError, "at least 10 rows"),
    ],
    ids=range(22),
)
def test_bad_prices_are_refused_when_an_env_is_made(prices, error, match):
    for refuses in (source, partial(PortfolioEnv, **SHAPE), partial(PortfolioEnv.batch, 2, **SHAPE)):
        with pytest.raises(error, match=match):
            refuses(prices)


def test_histories_lack_nothing():
    gaps = PRICES.copy()
    gaps[11, 1] = np.nan
    with pytest.raises(ValueError, match="data must be complete, but row 11 of asset 'Y' has no price"):
        source(data=MarketData(gaps, assets=["X", "Y"]))
    with pytest.raises(ValueError, match="data must have at least 31 rows"):
        source(data=MarketData(PRICES), window=31)
    assert source(data=MarketData(PRICES), window=30).n_assets == 2
