"""Points in time."""

import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekai.finance.times import Time, as_timestamps, row_of, text_of, years_between

DAYS = np.datetime64("2021-01-01") + np.arange(300)
TENS = np.arange(300) * 10

times = st.lists(st.integers(-50, 50), min_size=1, max_size=20, unique=True).map(sorted)


@given(times, st.integers(-60, 60), st.sampled_from(["left", "right"]))
def test_times_are_searched_from_the_first_row(rows, when, side):
    naive = sum(row < when if side == "left" else row <= when for row in rows)
    assert row_of(np.array(rows), Time(when), side) == naive
    assert row_of(np.array(rows), float(when), side) == naive
    start = np.datetime64("2000-01-01")
    dates, date = start + np.array(rows, "m8[D]"), str(start + np.timedelta64(when, "D"))
    for unit in ("D", "s", "ns"):
        assert row_of(dates.astype(f"M8[{unit}]"), date, side) == naive


@pytest.mark.parametrize(
    ("when", "row"),
    [
        (5, 5), (np.int16(-1), 299), (1000, 1000), (-400, -100), ("2021-01-03", 2), ("2021", 0), ("2000", 0),
        ("2030-01-01", 300), (datetime.date(2021, 2, 1), 31), (datetime.datetime(2021, 2, 1, 12), 32),
        (np.datetime64("2021-02-01T00:00"), 31), (pd.Timestamp("2021-01-01") + pd.Timedelta(1, "ns"), 1),
        (Time("2021-01-05"), 4),
    ],
)  # fmt: skip
def test_rows_among_dates(when, row):
    assert row_of(DAYS, when) == row


@pytest.mark.parametrize("when", [True, np.True_, [1], None, 1j, np.timedelta64(5, "D")])
def test_other_types_are_no_points_in_time(when):
    with pytest.raises(TypeError, match="a point in time must be"):
        row_of(TENS, when)
    with pytest.raises(TypeError, match="a Time must be"):
        Time(when)


@pytest.mark.parametrize(
    ("timestamps", "when", "message"),
    [
        (TENS, "2021-01-01", "timestamps are numbers"),
        (TENS, Time(datetime.date(2021, 1, 1)), "timestamps are numbers"),
        (TENS, np.nan, "must be finite, got nan"),
        (TENS, Time(np.inf), r"must be finite, got Time\(inf\)"),
        (DAYS, 5.0, "timestamps are dates"),
        (DAYS, Time(5), "timestamps are dates"),
        (DAYS, np.datetime64("NaT", "D"), "must not be missing"),
        (DAYS, "2021-01-01T00:00Z", "must not have a time zone"),
        (DAYS, "2021-01-01T00:00+01:00", "must not have a time zone"),
        (DAYS, datetime.datetime(2021, 1, 1, tzinfo=datetime.timezone.utc), "must not have a time zone"),
        (DAYS, "yesterday", "Error parsing"),
        (DAYS.astype("M8[ns]"), "0005", "must lie within the range of datetime64"),
    ],
)
def test_wrong_points_in_time_are_refused(timestamps, when, message):
    with pytest.raises(ValueError, match=message):
        row_of(timestamps, when)


def test_sides_are_left_and_right():
    assert row_of(TENS, 30.0, "right") == 4
    with pytest.raises(ValueError, match='side must be "left" or "right", got \'middle\''):
        row_of(TENS, 30.0, "middle")


def test_times_print_as_they_are_written():
    assert repr(Time(5)) == "Time(5)"
    assert Time(5) == Time(5)


@pytest.mark.parametrize(
    "values",
    [["2021-01-01", "2021-01-02"], [datetime.date(2021, 1, 1), "2021-01-02"], pd.date_range("2021", periods=2)],
)
def test_dates_become_datetime64(values):
    found = as_timestamps("timestamps", values, 2)
    np.testing.assert_array_equal(found, np.array(["2021-01-01", "2021-01-02"], "M8[ns]"))
    assert not found.flags.writeable


@pytest.mark.parametrize(
    "values", [np.array([1, 5], np.uint8), np.array([0.5, 1.5]), DAYS[:2], DAYS[:2].astype("M8[s]")]
)
def test_numbers_and_datetime64_keep_their_type(values):
    found = as_timestamps("timestamps", values, 2)
    assert found.dtype == values.dtype
    assert not np.shares_memory(found, values)


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ([1, 2, 3], ValueError, r"must hold one for each of 2 rows, got shape \(3,\)"),
        ([2, 1], ValueError, "must increase, but row 1, 1, is before row 0, 2"),
        ([2, 2], ValueError, "must increase, but row 1, 2, is a duplicate of row 0, 2"),
        (np.array([2, 1], np.uint8), ValueError, "must increase"),
        ([0.0, np.nan], ValueError, "row 1 is nan"),
        ([0.0, np.inf], ValueError, "row 1 is inf"),
        (np.array(["2021", "NaT"], "M8[D]"), ValueError, "row 1 is NaT"),
        (["2021-01-01", "b"], ValueError, "row 1 must be a date, got .*'b'"),
        (["1", "2"], ValueError, "row 0 must lie within the range of datetime64"),
        (["2021-01-01", "2021-01-02T00:00Z"], ValueError, "row 1 must be a date, .* must not have a time zone"),
        (pd.date_range("2021", periods=2, tz="UTC"), ValueError, "must not have a time zone"),
        (pd.Series(pd.date_range("2021", periods=2, tz="UTC")), ValueError, "must not have a time zone"),
        (["2021-01-01", None], TypeError, "row 1 must be a date, got None"),
        ([False, True], TypeError, "must hold numbers or dates, got dtype bool"),
        (np.array([1, 2], "m8[s]"), TypeError, "must hold numbers or dates"),
    ],
)
def test_wrong_timestamps_are_refused(values, error, message):
    with pytest.raises(error, match=f"^timestamps.*{message}"):
        as_timestamps("timestamps", values, 2)


def test_texts_have_no_zeros_at_their_end():
    assert text_of(np.datetime64("2021-01-01", "ns")) == "2021-01-01"
    assert text_of(np.datetime64("2021-01-01T12:30", "ns")) == "2021-01-01T12:30"
    assert text_of(np.int64(10)) == "10"


@pytest.mark.parametrize("unit", ["D", "h", "ns"])
def test_years_have_a_quarter_of_a_day_more(unit):
    first, last = np.datetime64("2020-01-01", unit), np.datetime64("2024-01-01", unit)
    assert years_between(first, last) == 4.0
    assert years_between(np.datetime64("2020"), np.datetime64("2024")) == 4.0
