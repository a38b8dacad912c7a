"""Rounding of float32 next to float64, against NumPy's scalars."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekai.kernels import kernel
from sekai.kernels.precision import is_float32, like, rounded

singles = st.floats(-(2.0**50), 2.0**50, width=32)


@kernel
def scaled(number, x):
    return like(number, x) * number


@kernel
def is_single(numbers):
    return is_float32(numbers[0])


@given(singles, singles)
def test_rounded_float64_arithmetic_is_float32_arithmetic(x, y):
    a, b = np.float32(x), np.float32(y)
    assert rounded(x + y, True) == a + b
    assert rounded(x - y, True) == a - b
    assert rounded(x * y, True) == a * b


@given(st.floats(-1e30, 1e30))
def test_rounded(x):
    assert rounded(x, False) == x
    assert rounded(x, True) == np.float32(x)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_like_makes_a_number_of_the_same_type(dtype):
    number = dtype(0.3)
    assert type(like(number, 0.1)) is dtype
    assert scaled(number, 0.1) == 0.1 * number  # to NumPy too a Python float is of no type
    assert is_float32(number) == is_single(np.array([number])) == (dtype is np.float32)
