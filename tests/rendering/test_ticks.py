import math

import pytest

from sekai.rendering.ticks import MINUS, decimals_for, format_number, nice_limits, nice_step, tick_labels, value_range


def test_nice_step():
    assert [nice_step(span) for span in (1, 23, 0.07, 0.0, math.inf, math.nan)] == [0.25, 10, 0.02, 1.0, 1.0, 1.0]
    assert nice_step(252, 1) == 500


def test_value_range():
    assert value_range([1.0, math.nan, 3.0], [math.inf, 2.0], include=[0.0]) == (0.0, 3.0)
    assert value_range([0.0, 10.0], pad=0.1) == (-1.0, 11.0)
    assert value_range() == (0.0, 1.0)
    assert value_range([200.0]) == (198.0, 202.0)
    assert value_range([0.0, 0.0]) == (-1.0, 1.0)
    assert value_range([1e-8]) == (1e-8 - 1e-6, 1e-8 + 1e-6)


def test_nice_limits_stay_while_data_grow_a_little():
    assert nice_limits(0.1, 9.3) == nice_limits(0.9, 8.2) == (0.0, 10.0)
    assert nice_limits(-3.0, 3.0) == (-4.0, 4.0)


def test_decimals_for():
    assert [decimals_for(step) for step in (1.0, 0.25, 1 / 3, 5e-7, 1e-9, 0.0, math.nan)] == [0, 2, 6, 7, 8, 0, 0]


@pytest.mark.parametrize(
    ("value", "options", "text"),
    [
        (-1234.5, {"decimals": 1}, f"{MINUS}1,234.5"),
        (0.0432, {"sign": True, "percent": True}, "+4.32%"),
        (2.5e6, {"compact": True}, "2.50M"),
        (12500, {"compact": True}, "12.5K"),
        (-1e13, {"compact": True}, f"{MINUS}10.0T"),
        (-0.001, {"sign": True}, "0.00"),
        (1.6, {"decimals": -3}, "2"),
        (None, {}, "\N{EM DASH}"),
        (math.nan, {}, "\N{EM DASH}"),
    ],
)
def test_format_number(value, options, text):
    assert format_number(value, **options) == text


def test_tick_labels():
    assert tick_labels([]) == []
    assert tick_labels([0.0, 0.25, 0.5]) == ["0.00", "0.25", "0.50"]
    assert tick_labels([0, 5e5, 1e6, 1.25e6]) == ["0", "500K", "1M", "1.25M"]
    assert tick_labels([0, 2500, 20_000]) == ["0", "2.5K", "20K"]
    assert tick_labels([100_000, 100_001]) == ["100,000", "100,001"]
    assert tick_labels([-0.5, 0, 0.5], percent=True) == [f"{MINUS}50%", "0%", "50%"]
    assert tick_labels([7]) == ["7"]
    assert tick_labels([-2.5e-6, 0, 2.5e-6]) == [f"{MINUS}2.5e{MINUS}6", "0", f"2.5e{MINUS}6"]
    assert tick_labels([-5e-7, 0, 5e-7]) == [f"{MINUS}5e{MINUS}7", "0", f"5e{MINUS}7"]
