"""The one place that calls Numba's compiler (a stand-in for now)."""

from numba import njit


def kernel(function):
    """Compile `function` into whatever calls it."""
    return njit(error_model="numpy", nogil=True)(function)
