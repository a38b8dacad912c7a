"""The C library's functions have NumPy's and Python's bits, and stand for all of ours."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekai.kernels import elementary, kernel, libm
from sekai.vector.programs import LIBM

X = np.random.default_rng(0).uniform(-20.0, 20.0, 5_000)


@pytest.mark.parametrize("name", libm.FUNCTIONS)
def test_they_take_the_place_of_ours(name):
    x = 0.7
    np.testing.assert_array_max_ulp(getattr(libm, name)(x), getattr(elementary, name)(x), 2)
    assert (getattr(elementary, name), getattr(libm, name)) in LIBM


def test_each_of_our_functions_has_one():
    functions = {name for name, value in vars(elementary).items() if callable(value) and value is not kernel}
    public = {name for name in functions if not name.startswith("_")}
    assert public - {"bits", "from_bits", "all_within"} == set(libm.FUNCTIONS)


def test_sines_and_others_are_pythons():
    for x in X.tolist():
        assert libm.sincos(x) == (math.sin(x), math.cos(x)) == (np.sin(x), np.cos(x))
        assert (libm.exp(x), libm.log(abs(x)), libm.tanh(x)) == (math.exp(x), math.log(abs(x)), math.tanh(x))


@given(st.floats(-1e150, 1e150) | st.floats(-10.0, 10.0))
def test_squares_are_numpys(x):
    assert libm.square(x) == np.float64(x) ** 2 == x**2


@given(st.floats(-(2.0**50), 2.0**50, width=32))
def test_squares_of_float32_are_numpys(x):
    assert libm.square(np.float32(x)) == np.float32(x) ** 2


def test_the_compiler_makes_no_product_of_a_square():
    @kernel
    def squares(x, out):
        for i in range(x.size):
            out[i] = libm.square(x[i])

    out = np.empty(X.size)
    squares(X, out)
    assert out.tolist() == [x**2 for x in X.tolist()]
    assert (out != X * X).any()  # some differ in the last bit
