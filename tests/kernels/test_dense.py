"""Layers of networks: the same bits as a sum in order, in every lane."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sekai.kernels import dense
from sekai.kernels.jit import entry, interpret


@entry
def layer(w, n_in, n_out, n, x, y):
    dense.dense(w, n_in, n_out, n, x, y)


def in_order(w, n_in, n_out, x):
    """The outputs, each summed from its bias on, input by input."""
    matrix, y = w[: n_in * n_out].reshape(n_out, n_in), np.repeat(w[n_in * n_out :, None], x.shape[1], axis=1)
    for k in range(n_in):
        y += matrix[:, k, None] * x[k]
    return y


@pytest.mark.parametrize("n_in", [1, 4, 7])
@pytest.mark.parametrize("n_out", [1, dense.OUTPUTS, 2 * dense.OUTPUTS + 3])
@pytest.mark.parametrize("n", [1, dense.LANES, dense.LANES + 1, dense.TILE])
def test_outputs_are_summed_in_order(n_in, n_out, n):
    rng = np.random.default_rng(n_in)
    w, x = rng.normal(size=n_out * (n_in + 1)), rng.normal(size=(n_in + 2, dense.TILE))
    y = np.full((n_out + 2, dense.TILE), 7.0)
    layer(w, n_in, n_out, n, x, y)
    assert y[:n_out, :n].tobytes() == in_order(w, n_in, n_out, x[:n_in, :n]).tobytes()
    assert (y[n_out:] == 7).all()


@given(st.lists(st.floats(), min_size=3 * 6, max_size=3 * 6))
@settings(deadline=None)
def test_the_loop_in_python_gives_the_same_bits(numbers):
    n_in, n_out = 2, 5
    w, x = np.array(numbers[: n_out * (n_in + 1)]), np.resize(numbers, (n_in, dense.TILE))
    y, plain = np.zeros((2, n_out, dense.TILE))
    with np.errstate(all="ignore"):
        layer(w, n_in, n_out, dense.TILE, x, y)
        interpret(dense.dense)(w, n_in, n_out, dense.TILE, x, plain)
    np.testing.assert_array_equal(y, plain)  # NaN is NaN: which of its bits are set is the processor's choice
