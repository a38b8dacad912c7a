"""Numbers among arguments."""

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from sekai.finance.arguments import check_range, count, finite, lane_of, number, numbers, spread_over


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.int8(2), Fraction(2), np.array(2)])
def test_real_numbers_of_any_type_are_floats(value):
    assert number("x", value) == 2.0
    assert type(number("x", value)) is float


@pytest.mark.parametrize(
    "value", [True, np.True_, None, 1j, Decimal(2), np.timedelta64(2, "D"), datetime.date.today(), [2]]
)
def test_nothing_else_is(value):
    with pytest.raises(TypeError, match="x must be"):
        number("x", value)


@pytest.mark.parametrize("value", ["2", "x", np.str_("2"), np.nan, np.inf, -1.0])
def test_text_and_numbers_out_of_range_are_wrong_values(value):
    with pytest.raises(ValueError, match="x must be"):
        number("x", value, least=0.0)


def test_limits_are_as_they_are_called():
    assert number("x", 0.0, least=0.0) == 0.0
    with pytest.raises(ValueError, match=r"x must be finite and above 0, got 0\.0"):
        number("x", 0.0, above=0.0)


def test_arrays_are_copied_and_none_is_missing():
    given = np.arange(6.0).reshape(2, 3).T
    found = numbers("x", given)
    assert not np.shares_memory(found, given)
    assert found.flags.c_contiguous
    np.testing.assert_array_equal(numbers("x", [1, None, 2.5]), [1.0, np.nan, 2.5])


def test_what_a_mask_hides_is_missing():
    hidden = np.ma.array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    np.testing.assert_array_equal(numbers("x", hidden), [[1.0, np.nan], [3.0, 4.0]])
    with pytest.raises(TypeError, match="x: entry 0 must be a number, got True"):
        numbers("x", np.ma.array([True, False]))


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ([1.0, 10**400], ValueError, "x must fit a float, got 1000"),
        ([1.0, "2"], ValueError, "x: entry 0 must be a number, got '1.0'"),
        (np.array([1.0, "2"], object), ValueError, "x: entry 1 must be a number, got '2'"),
        ([[1.0, 2.0], [True, None]], TypeError, "x: entry 1, 0 must be a number, got True"),
        ([True, False], TypeError, "x: entry 0 must be a number, got True"),
        (np.array(["2020"], "M8[Y]"), TypeError, "x: entry 0 must be a number"),
        ([[1.0], [1.0, 2.0]], ValueError, "x must have rows of one length"),
    ],
)
def test_entries_that_are_no_numbers_are_named(values, error, message):
    with pytest.raises(error) as caught:
        numbers("x", values)
    assert str(caught.value).startswith(message)


def test_numbers_in_range_pass():
    for value in (0, 0.5, np.float32(2), np.array([0.0, 1.0]), np.zeros((2, 3))):
        check_range("x", value, least=0.0)
    check_range("x", [1e-300, 1.0], above=0.0)
    check_range("x", -1e300)


@pytest.mark.parametrize(
    ("value", "options", "message"),
    [
        (np.nan, {}, "x must be finite, got nan"),
        (0, {"above": 0.0}, "x must be finite and above 0, got 0"),
        (-0.5, {"least": 0.0}, "x must be finite and at least 0, got -0.5"),
        (np.array([1.0, 2.0, -3.0, -4.0]), {"least": 1}, "x: entry 2 must be finite and at least 1, got -3.0"),
        ([[0.0, np.inf]], {}, "x: entry 0, 1 must be finite, got inf"),
        (np.array([1, 0]), {"above": 0.0, "place": lane_of}, "x: lane 1 must be finite and above 0, got 0"),
    ],
)
def test_the_first_number_out_of_range_is_named(value, options, message):
    with pytest.raises(ValueError, match="x") as caught:
        check_range("x", value, **options)
    assert str(caught.value) == message


def test_finite_numbers_are_a_fresh_array():
    given = np.ones(3)
    assert finite("x", given).tolist() == [1.0, 1.0, 1.0]
    assert not np.shares_memory(finite("x", given), given)
    with pytest.raises(ValueError, match=r"x: entry 1 must be finite and above 0, got 0\.0"):
        finite("x", [1, 0], above=0.0)


def test_counts_have_a_smallest_value():
    assert count("n", np.int64(3), 3) == 3
    with pytest.raises(ValueError, match="n must be >= 3, got 2"):
        count("n", 2, 3)
    for value in (2.0, True, "2"):
        with pytest.raises(TypeError, match="n must be an int"):
            count("n", value)


def test_numbers_are_spread_over_a_shape():
    np.testing.assert_array_equal(spread_over("x", np.array(2.0), (2, 2)), np.full((2, 2), 2.0))
    assert spread_over("x", np.array(2.0), ()).shape == ()
    with pytest.raises(ValueError, match=r"x must have a shape that broadcasts to \(2,\), got \(3,\)"):
        spread_over("x", np.ones(3), (2,))
