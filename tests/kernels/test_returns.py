"""The kernels of returns. `tests/test_returns.py` compares them with sums over episodes."""

import re

import numpy as np
import pytest
from numba import boolean, config, float32, float64

from sekai.kernels import returns
from sekai.kernels.jit import interpret

T, N = 3, returns.BLOCK + 3

# Numbers of arrays, parameters and results.
ENTRIES = {
    "discounted_returns": (2, [0.9], 1),
    "n_step_returns": (2, [0.9], 1),
    "gae": (3, [0.9, 0.8], 2),
    "vtrace": (4, [0.9, 0.8, 1.2, 1.1], 2),
}


def results_of(name, run, scratch=0.0):
    """Results of an entry, or of the same function in plain Python, for random arguments."""
    num_arrays, parameters, num_results = ENTRIES[name]
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(num_arrays, T, N))
    flags = rng.random((3, T, N)) < [[[0.2]], [[0.2]], [[0.8]]]
    tails = np.full((3 if name == "n_step_returns" else 1, returns.BLOCK), scratch)
    is_last = [np.zeros(returns.BLOCK, np.bool_)] if num_results == 1 else []
    results = np.full((num_results, T, N), np.nan)
    run(0, N, *numbers, *flags, *parameters, tails, *is_last, *results)
    return results


@pytest.mark.parametrize("name", ENTRIES)
def test_plain_python_gives_the_same_bits(name):
    entry = getattr(returns, name)
    with np.errstate(over="ignore"):  # bits of exponents wrap around
        plain = results_of(name, interpret(entry))
    np.testing.assert_array_equal(results_of(name, entry), plain)
    assert np.isfinite(plain).all()


@pytest.mark.parametrize("name", ENTRIES)
def test_scratch_space_may_hold_anything(name):
    entry = getattr(returns, name)
    np.testing.assert_array_equal(results_of(name, entry, np.nan), results_of(name, entry))


@pytest.mark.parametrize("name", ENTRIES)
def test_other_lanes_are_left_alone(name):
    entry = getattr(returns, name)
    whole, part = results_of(name, entry), results_of(name, lambda _, __, *arguments: entry(5, N - 7, *arguments))
    np.testing.assert_array_equal(part[..., 5:-7], whole[..., 5:-7])
    assert np.isnan(part[..., :5]).all()
    assert np.isnan(part[..., -7:]).all()


@pytest.mark.parametrize(
    ("terminated", "is_cut", "total"), [(0, 0, 1.0 + 0.5 * 8.0), (0, 1, 1.0 + 0.5 * 4.0), (1, 0, 1.0), (1, 1, 1.0)]
)
def test_one_more_transition(terminated, is_cut, total):
    assert returns.one_more(1.0, 4.0, bool(terminated), bool(is_cut), 0.5, 8.0) == total


SCRATCH, FLAGS, NUMBER = float64[::1], boolean[::1], float64


def signatures(x):
    """Of the kernels of one row, for numbers of type x."""
    return {
        "discounted_row": (x, x, *(FLAGS,) * 3, NUMBER, SCRATCH, FLAGS, SCRATCH),
        "lengthen": (x, x, *(FLAGS,) * 3, NUMBER, FLAGS, SCRATCH, SCRATCH),
        "gae_row": (x, x, x, *(FLAGS,) * 3, NUMBER, NUMBER, *(SCRATCH,) * 3),
        "vtrace_row": (x, x, x, x, *(FLAGS,) * 3, *(NUMBER,) * 4, *(SCRATCH,) * 3),
    }


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="there is no machine code to look at")
@pytest.mark.parametrize("numbers", [float64[::1], float32[::1]], ids=str)
@pytest.mark.parametrize("name", signatures(None))
def test_loops_over_lanes_are_vectorised(name, numbers):
    row, signature = getattr(returns, name), signatures(numbers)[name]
    row.compile(signature)
    code = row.inspect_llvm(signature)
    loop = code[code.index("vector.body:") :]  # the loop vectoriser's name for what it makes
    assert re.search(r"\bfmul <\d+ x double>", loop)
