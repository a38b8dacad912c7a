"""Rounding as NumPy rounds where float32 and float64 meet: what is left of a Python float next to a float32."""

import numpy as np
from numba import types
from numba.extending import overload

from sekai.kernels.jit import PART_OPTIONS, kernel


@kernel
def rounded(x, narrow):
    """Round a float64 to float32 if `narrow`, and keep it a float64.

    The rounded sum, difference or product of two float32 numbers is what float32 arithmetic makes of them: a float64
    has more than twice as many bits.
    """
    return np.float64(np.float32(x)) if narrow else x


def like(number, x):
    """`x` as a floating-point number of the type of `number`."""
    return type(number)(x)


@overload(like, jit_options=PART_OPTIONS)
def _compile_like(number, x):
    return (lambda number, x: np.float32(x)) if number == types.float32 else (lambda number, x: np.float64(x))


def is_float32(number):
    """Whether a number is a float32."""
    return isinstance(number, np.float32)


@overload(is_float32, jit_options=PART_OPTIONS)
def _compile_is_float32(number):
    return (lambda number: True) if number == types.float32 else (lambda number: False)
