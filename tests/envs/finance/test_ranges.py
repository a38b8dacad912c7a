"""Checks of numbers."""

import numpy as np
import pytest

from sekai.envs.finance.ranges import as_numbers, check_range


def test_numbers_in_range_pass():
    for value in (0, 0.5, np.float32(2), np.array([0.0, 1.0]), np.zeros((2, 3))):
        check_range("x", value, least=0.0)
    check_range("x", [1e-300, 1.0], above=0.0)
    check_range("x", -1e300)


@pytest.mark.parametrize(
    ("value", "bounds", "message"),
    [
        (np.nan, {}, "x must be finite, got nan"),
        (-np.inf, {}, "x must be finite, got -inf"),
        (0, {"above": 0.0}, "x must be finite and above 0, got 0"),
        (-0.5, {"least": 0.0}, r"x must be finite and at least 0, got -0\.5"),
        ([1.0, 2.0, -3.0, -4.0], {"least": 1}, r"x must be finite and at least 1, got -3\.0 in lane 2"),
        (np.array([1.0, np.inf]), {"above": 0.0}, "x must be finite and above 0, got inf in lane 1"),
    ],
)
def test_others_are_named(value, bounds, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        check_range("x", value, **bounds)


def test_numbers_become_float64():
    for value in (1, [1, 2], np.float32([[0.5]])):
        array = as_numbers("x", value)
        assert array.dtype == np.float64
        assert array.tolist() == np.asarray(value).tolist()
    given = np.ones(3)
    assert not np.shares_memory(as_numbers("x", given), given)


@pytest.mark.parametrize("bad", ["1", ["1", "2"], True, [False], 1j, None, {}])
def test_what_are_no_numbers_is_refused(bad):
    with pytest.raises(TypeError, match="x must be numbers"):
        as_numbers("x", bad)


@pytest.mark.parametrize("bad", [np.nan, [0.0, np.inf]])
def test_what_is_not_finite_is_refused(bad):
    with pytest.raises(ValueError, match="x must be finite"):
        as_numbers("x", bad)
