"""Histories."""

import copy
import datetime
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekai.finance import MarketData, Time

DAYS = np.datetime64("2021-01-01") + np.arange(300)


def make(T=300, N=3, **changes):  # noqa: N803 -- names of the documentation
    prices = 100.0 * np.exp(np.cumsum(np.random.default_rng(0).normal(0, 0.01, (T, N)), axis=0))
    prices[: T // 6, N - 1] = np.nan
    return MarketData(prices, **changes)


def rows_of(data):
    """Which rows of `make()`, whose timestamps are numbered, a part holds."""
    return data.timestamps.tolist()


# ---- what it holds -------------------------------------------------------------------------------


def test_what_is_given_is_there():
    volume, factors = np.full((300, 3), 1e6), np.zeros((300, 2))
    data = make(
        timestamps=DAYS,
        assets=["A", "B", 7],
        fields={"volume": volume},
        exogenous={"rate": np.full(300, 0.01), "factors": factors},
        warmup=5,
    )
    assert (data.n_steps, data.n_assets, len(data)) == (300, 3, 300)
    assert data.assets == ("A", "B", 7)
    assert data.mask.sum() == 850
    assert list(data.fields) == ["close", "volume"]
    np.testing.assert_array_equal(data.field("volume"), volume)
    np.testing.assert_array_equal(data.exogenous_series("factors"), factors)
    assert (data.exogenous_width("rate"), data.exogenous_width("factors")) == (1, 2)
    assert data.is_datetime
    assert data.periods_per_year == pytest.approx(365.25, rel=1e-15)  # a quotient of quotients
    assert repr(data) == (
        "MarketData(T=300, N=3, fields=['close', 'volume'], exogenous=['factors', 'rate'], warmup=5, "
        "2021-01-01 .. 2021-10-27)"
    )


def test_what_is_not_given_has_defaults():
    data = make()
    assert data.assets == ("asset_0", "asset_1", "asset_2")
    assert data.timestamps.dtype == np.int64
    assert rows_of(data) == list(range(300))
    assert (data.is_datetime, data.periods_per_year, data.warmup, data.price_field) == (False, None, 0, "close")
    assert data.exogenous == {}
    assert repr(data) == "MarketData(T=300, N=3, fields=['close'], 0 .. 299)"


def test_prices_may_be_a_field():
    data = MarketData(fields={"open": [1.0, 2.0], "px": [3.0, 4.0]}, price_field="px")
    np.testing.assert_array_equal(data.prices, [[3.0], [4.0]])


def test_nothing_changes():
    prices = np.ones((4, 2))
    data = MarketData(prices, exogenous={"rate": prices[:, 0]})
    prices[:] = 7.0
    data.fields["other"] = prices
    data.exogenous["other"] = prices
    for same in (data, pickle.loads(pickle.dumps(data))):
        np.testing.assert_array_equal(same.prices, np.ones((4, 2)))
        assert (list(same.fields), list(same.exogenous)) == (["close"], ["rate"])
        for array in (same.prices, same.exogenous["rate"], same.timestamps):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 2
        with pytest.raises(AttributeError, match="a MarketData does not change"):
            same.warmup = 3
    assert copy.deepcopy(data) is data


def test_missing_prices_are_nan():
    assert not MarketData(np.full(4, np.nan)).mask.any()
    np.testing.assert_array_equal(MarketData([[1.0, None], [2.0, 3.0]]).mask, [[True, False], [True, True]])


def test_log_returns_are_nan_where_a_price_is_missing():
    data = make()
    with np.errstate(invalid="ignore"):
        naive = np.diff(np.log(data.prices), axis=0, prepend=np.nan)
    np.testing.assert_allclose(data.log_returns(), naive, atol=2e-15)  # logarithms near 5, of another library
    assert np.isnan(data.log_returns()).sum() == 53


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"prices": None}, ValueError, "prices are given either as prices= or as fields['close'], got neither"),
        ({"prices": [1, 2], "fields": {"close": [1, 2]}}, ValueError, "as fields['close'], got both"),
        ({"prices": np.ones((3, 2, 2))}, ValueError, "prices must have shape (T,) or (T, N), got (3, 2, 2)"),
        ({"prices": 1.0}, ValueError, "prices must have shape (T,) or (T, N), got ()"),
        ({"prices": [[1.0], [1.0, 2.0]]}, ValueError, "prices must have rows of one length"),
        ({"prices": np.ones((1, 2))}, ValueError, "prices must have at least 2 rows and an asset, got shape (1, 2)"),
        ({"prices": np.ones((3, 0))}, ValueError, "prices must have at least 2 rows and an asset, got shape (3, 0)"),
        ({"prices": [[1, 1], [1, 0.0]]}, ValueError, "prices: row 1, asset 'b' is 0.0; prices must be positive"),
        ({"prices": [[1, 1], [-1, 1]]}, ValueError, "prices: row 1, asset 'a' is -1.0; prices must be positive"),
        ({"prices": [[1, np.inf], [1, 1]]}, ValueError, "prices: row 0, asset 'b' is inf; what is missing is NaN"),
        ({"prices": [["1", "2"], ["3", "4"]]}, ValueError, "prices: row 0, asset 'a' must be a number, got '1'"),
        ({"prices": np.ones((2, 2), bool)}, TypeError, "prices: row 0, asset 'a' must be a number, got True"),
        ({"prices": [[1, 1], [1, object]]}, TypeError, "prices: row 1, asset 'b' must be a number, got <class"),
        (
            {"fields": {"v": np.ones((2, 1))}},
            ValueError,
            "fields['v'] must have the shape of prices, (2, 2), got (2, 1)",
        ),
        ({"fields": {"v": [[1, 1], [1, -np.inf]]}}, ValueError, "fields['v']: row 1, asset 'b' is -inf"),
        ({"fields": [np.ones((2, 2))]}, TypeError, "fields must be a mapping of names to arrays"),
        ({"fields": {5: np.ones((2, 2))}}, TypeError, "fields must have names that are strings, got 5"),
        ({"timestamps": [2, 1]}, ValueError, "timestamps must increase, but row 1, 1, is before row 0, 2"),
        ({"timestamps": [1]}, ValueError, "timestamps must hold one for each of 2 rows, got shape (1,)"),
        ({"timestamps": [True, False]}, TypeError, "timestamps must hold numbers or dates"),
        ({"assets": ["a"]}, ValueError, "assets must hold 2 ids, got 1"),
        ({"assets": ["a", "a"]}, ValueError, "assets must differ, got 'a' more than once"),
        ({"assets": "ab"}, TypeError, "assets must be a list of ids, got 'ab'"),
        ({"exogenous": {"x": np.ones(3)}}, ValueError, "exogenous['x'] must have shape (2,) or (2, k), got (3,)"),
        ({"exogenous": {"x": 1.0}}, ValueError, "exogenous['x'] must have shape (2,) or (2, k), got ()"),
        ({"exogenous": {"x": [1.0, np.inf]}}, ValueError, "exogenous['x']: row 1 is infinite"),
        ({"exogenous": {"x": [[1, 2], [1, "2"]]}}, ValueError, "exogenous['x']: row 0, column 0 must be a number"),
        ({"warmup": True}, TypeError, "warmup must be an int, got True"),
        ({"warmup": -1}, ValueError, "warmup must be >= 0, got -1"),
        ({"warmup": 3}, ValueError, "warmup must be at most the number of rows, 2, got 3"),
    ],
)
def test_what_is_wrong_is_named(arguments, error, message):
    with pytest.raises(error) as caught:
        MarketData(**{"prices": np.ones((2, 2)), "assets": ["a", "b"], **arguments})
    assert message in str(caught.value)


# ---- parts ---------------------------------------------------------------------------------------


def test_names_must_exist():
    data = make(fields={"volume": np.ones((300, 3))})
    with pytest.raises(KeyError, match=r"there is no field 'x'; there are \['close', 'volume'\]"):
        data.field("x")
    for call in (data.exogenous_series, data.exogenous_width):
        with pytest.raises(KeyError, match="there is no exogenous series 'x'"):
            call("x")
    with pytest.raises(KeyError, match="there is no asset 'x'"):
        data.select(["asset_0", "x"])


slices = st.builds(
    slice, st.one_of(st.none(), st.integers(-40, 40)), st.one_of(st.none(), st.integers(-40, 40)),
    st.one_of(st.none(), st.integers(1, 5)),
)  # fmt: skip


@given(slices, st.integers(0, 30))
def test_slices_are_those_of_each_array(rows, warmup):
    data = make(30, exogenous={"t": np.arange(30)}, warmup=warmup)
    kept = list(range(30))[rows]
    if len(kept) < 2:
        with pytest.raises(ValueError, match="at least 2 rows"):
            data[rows]
    else:
        part = data[rows]
        assert rows_of(part) == kept
        np.testing.assert_array_equal(part.prices, data.prices[kept])
        assert part.exogenous["t"].tolist() == kept
        assert part.warmup == sum(row < warmup for row in kept)


def test_rows_are_taken_by_forward_slices():
    with pytest.raises(TypeError, match="rows are taken by slices, such as data\\[10:20\\], got 3"):
        make()[3]
    with pytest.raises(ValueError, match="timestamps must increase"):
        make()[::-1]


def test_between_points_in_time():
    data = make(timestamps=DAYS)
    part = data.between("2021-01-03", datetime.date(2021, 1, 6))
    assert [str(t) for t in part.timestamps] == ["2021-01-03", "2021-01-04", "2021-01-05"]
    assert len(data.between(end=10)) == 10
    assert len(data.between(290)) == 10
    assert len(data.between(-1000, 1000)) == 300
    with pytest.raises(ValueError, match="at least 2 rows"):
        data.between("2030-01-01")


def test_assets_are_selected_in_order():
    data = make(fields={"volume": np.arange(900.0).reshape(300, 3)}, warmup=4)
    part = data.select(["asset_2", "asset_0"])
    assert part.assets == ("asset_2", "asset_0")
    np.testing.assert_array_equal(part.prices, data.prices[:, [2, 0]])
    np.testing.assert_array_equal(part.field("volume"), data.field("volume")[:, [2, 0]])
    assert part.warmup == 4
    with pytest.raises(ValueError, match="assets must differ"):
        data.select(["asset_0", "asset_0"])
    with pytest.raises(ValueError, match="at least 2 rows and an asset"):
        data.select([])


def test_arrays_are_added_and_replaced():
    data = make(fields={"volume": np.ones((300, 3))}, warmup=4)
    more = data.with_fields(volume=np.zeros((300, 3)), x=np.ones((300, 3))).with_exogenous(y=np.ones(300))
    assert (sorted(more.fields), list(more.exogenous), more.warmup) == (["close", "volume", "x"], ["y"], 4)
    assert not more.field("volume").any()
    assert data.field("volume").all()
    np.testing.assert_array_equal(data.with_fields(close=np.ones((300, 3))).prices, np.ones((300, 3)))


# ---- splits --------------------------------------------------------------------------------------


@given(
    st.lists(st.integers(1, 59), min_size=1, max_size=3, unique=True).map(sorted),
    st.integers(0, 8), st.integers(0, 12), st.integers(0, 60),
)  # fmt: skip
def test_parts_keep_apart(cuts, embargo, history, warmup):
    data = make(60, warmup=warmup)
    edges = [0, *cuts, 60]
    starts = [0, *(cut + embargo for cut in cuts)]
    if any(end - start < 2 for start, end in zip(starts, edges[1:], strict=True)):
        with pytest.raises(ValueError, match="every part must have 2 rows"):
            data.split(*cuts, embargo=embargo, history=history)
        return
    parts = data.split(*cuts, embargo=embargo, history=history)
    for part, start, end in zip(parts, starts, edges[1:], strict=True):
        first = max(start - history, 0)
        assert rows_of(part) == list(range(first, end))
        # Rows in which decisions are made: after the embargo, and not among the warm-up of the whole.
        assert rows_of(part)[part.warmup :] == [row for row in range(start, end) if row >= warmup]


@pytest.mark.parametrize(("rows", "fraction", "first"), [(25, 0.5, 12), (27, 0.5, 14), (10, 0.25, 2), (101, 0.333, 34)])
def test_fractions_are_rounded_half_to_even(rows, fraction, first):
    assert [len(part) for part in make(rows).split(fraction)] == [first, rows - first]


def test_boundaries_are_points_in_time():
    data = make(timestamps=DAYS)
    assert [len(part) for part in data.split("2021-02-01", 200, 0.9)] == [31, 169, 70, 30]
    assert [len(part) for part in make(timestamps=np.arange(300) * 0.5).split(Time(7.0))] == [14, 286]


@pytest.mark.parametrize(
    ("boundaries", "options", "message"),
    [
        ((), {}, "split needs at least one boundary"),
        ((1.0,), {}, "must be a fraction between 0 and 1, got 1.0"),
        ((np.float64(7.0),), {}, "must be a fraction between 0 and 1"),
        ((0.5, 0.4), {}, "boundaries must increase within 300 rows"),
        ((0.5, 150), {}, "boundaries must increase within 300 rows"),
        ((300,), {}, "boundaries must increase within 300 rows"),
        ((0,), {}, "boundaries must increase within 300 rows"),
        ((0.5,), {"embargo": -1}, "embargo must be >= 0, got -1"),
        ((0.5,), {"history": -1}, "history must be >= 0, got -1"),
        ((0.99,), {"embargo": 2}, "every part must have 2 rows, but from row 299 to row 300 there are fewer"),
    ],
)
def test_wrong_splits_are_refused(boundaries, options, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 -- the message is checked below
        make().split(*boundaries, **options)
    assert message in str(caught.value)


@given(
    st.integers(2, 30), st.integers(2, 20), st.one_of(st.none(), st.integers(1, 30)), st.integers(0, 5),
    st.integers(0, 9), st.booleans(),
)  # fmt: skip
def test_walking_forward(train_size, test_size, step, embargo, history, expanding):
    data = make(100)
    folds = list(
        data.walk_forward(train_size, test_size, step=step, embargo=embargo, history=history, expanding=expanding)
    )
    start = 0
    for train, test in folds:
        assert rows_of(train) == list(range(0 if expanding else start, start + train_size))
        first = start + train_size + embargo
        assert rows_of(test) == list(range(max(first - history, 0), first + test_size))
        assert rows_of(test)[test.warmup] == first
        start += step or test_size
    assert start + train_size + embargo + test_size > 100
    assert not folds or start - (step or test_size) + train_size + embargo + test_size <= 100


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"train_size": 1}, ValueError),
        ({"test_size": 1}, ValueError),
        ({"step": 0}, ValueError),
        ({"embargo": -1}, ValueError),
        ({"history": -1}, ValueError),
        ({"train_size": 10.0}, TypeError),
    ],
)
def test_walks_are_checked(arguments, error):
    with pytest.raises(error, match="must be"):
        next(make().walk_forward(**{"train_size": 10, "test_size": 10, **arguments}))


# ---- pandas --------------------------------------------------------------------------------------

DATES = pd.bdate_range("2022-01-03", periods=6)
FRAME = pd.DataFrame(np.arange(1.0, 13.0).reshape(6, 2), index=DATES, columns=["X", 7])


def test_frames_have_dates_and_assets():
    data = MarketData.from_pandas(
        FRAME, fields={"volume": FRAME.iloc[:4, :1]}, exogenous=pd.DataFrame({"vix": range(6)}, DATES), price_field="px"
    )
    assert data.assets == ("X", "7")
    assert [str(t)[:10] for t in data.timestamps[:2]] == ["2022-01-03", "2022-01-04"]
    np.testing.assert_array_equal(data.prices, FRAME.to_numpy())
    assert np.isnan(data.field("volume")).sum() == 8
    assert data.exogenous["vix"].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert (data.price_field, list(data.fields)) == ("px", ["px", "volume"])


def test_series_are_aligned_by_name():
    factors = pd.DataFrame(np.ones((3, 2)), DATES[3:])
    data = MarketData.from_pandas(FRAME, exogenous={"rate": pd.Series(1.0, DATES[2:]), "factors": factors})
    assert np.isnan(data.exogenous["rate"]).tolist() == [True, True, False, False, False, False]
    assert data.exogenous["factors"].shape == (6, 2)


def test_missing_values_of_pandas_are_nan():
    frame = pd.DataFrame({"a": pd.array([1.0, None], "Float64"), "b": [1, 2]})
    data = MarketData.from_pandas(frame)
    np.testing.assert_array_equal(data.prices, [[1.0, 1.0], [np.nan, 2.0]])
    assert data.timestamps.tolist() == [0, 1]


def test_wrong_frames_are_refused():
    with pytest.raises(AttributeError, match=r"got a Series; of a Series, take series.to_frame\(\)"):
        MarketData.from_pandas(FRAME["X"])
    with pytest.raises(ValueError, match="the index of prices must not have a time zone"):
        MarketData.from_pandas(FRAME.tz_localize("UTC"))
    with pytest.raises(ValueError, match="the index of prices must increase, but row 1"):
        MarketData.from_pandas(FRAME.iloc[[0, 0, 1]])
    with pytest.raises(ValueError, match=r"prices: row 0, asset 'X' must be a number, got '1\.0'"):
        MarketData.from_pandas(FRAME.astype(str))
    with pytest.raises(ValueError, match="assets must differ, got '7' more than once"):
        MarketData.from_pandas(FRAME.rename(columns={"X": "7"}))


LONG = pd.DataFrame(
    {
        "date": pd.to_datetime(["2021-01-02", "2021-01-01", "2021-01-01", "2021-01-03", "2021-01-03", "2021-01-03"]),
        "symbol": ["a", "a", "b", "b", "a", "a"],
        "close": [2.0, 1.0, 5.0, 6.0, 9.0, 3.0],
        "vol": [1, 2, 3, 4, 9, 5],
    }
)


def test_long_frames_are_sorted():
    data = MarketData.from_long(LONG, fields=["vol"])
    assert data.assets == ("a", "b")
    np.testing.assert_array_equal(data.prices, [[1, 5], [2, np.nan], [3, 6]])
    np.testing.assert_array_equal(data.field("vol"), [[2, 3], [1, np.nan], [5, 4]])
    assert [str(t)[:10] for t in data.timestamps] == ["2021-01-01", "2021-01-02", "2021-01-03"]
    named = MarketData.from_long(LONG.rename(columns={"date": "t", "symbol": "s"}), time="t", asset="s", price="vol")
    assert named.price_field == "vol"
    assert LONG["close"].tolist() == [2.0, 1.0, 5.0, 6.0, 9.0, 3.0]


def test_wrong_long_frames_are_refused():
    with pytest.raises(KeyError, match="x"):
        MarketData.from_long(LONG, price="x")
    with pytest.raises(TypeError, match="fields must be a list of columns, got 'vol'"):
        MarketData.from_long(LONG, fields="vol")
    with pytest.raises(ValueError, match="column 'symbol' must be complete, but its row 2 is missing"):
        MarketData.from_long(LONG.assign(symbol=["a", "a", None, "b", "a", "a"]))
