"""The kernels of returns. `tests/test_returns.py` compares them with sums over episodes."""

import re

import numpy as np
import pytest
from numba import boolean, config, float64

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
    tails = np.full((2 if name == "n_step_returns" else 1, returns.BLOCK), scratch)
    is_last = [np.zeros(returns.BLOCK, np.bool_)] if num_results == 1 else []
    results = np.full((num_results, T, N), np.nan)
    run(*numbers, *flags, *parameters, tails, *is_last, *results)
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


@pytest.mark.parametrize(
    ("terminated", "is_cut", "total"), [(0, 0, 1.0 + 0.5 * 8.0), (0, 1, 1.0 + 0.5 * 4.0), (1, 0, 1.0), (1, 1, 1.0)]
)
def test_one_more_transition(terminated, is_cut, total):
    assert returns.one_more(1.0, 4.0, bool(terminated), bool(is_cut), 0.5, 8.0) == total


NUMBERS, FLAGS, NUMBER = float64[::1], boolean[::1], float64
ROWS = {
    "discounted_row": (NUMBERS, NUMBERS, FLAGS, FLAGS, FLAGS, NUMBER, NUMBERS, FLAGS, NUMBERS),
    "lengthen": (NUMBERS, NUMBERS, FLAGS, FLAGS, FLAGS, NUMBER, FLAGS, NUMBERS, NUMBERS),
    "gae_row": (*(NUMBERS,) * 3, *(FLAGS,) * 3, NUMBER, NUMBER, *(NUMBERS,) * 3),
    "vtrace_row": (*(NUMBERS,) * 4, *(FLAGS,) * 3, *(NUMBER,) * 4, *(NUMBERS,) * 3),
}


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="there is no machine code to look at")
@pytest.mark.parametrize("name", ROWS)
def test_loops_over_lanes_are_vectorised(name):
    row = getattr(returns, name)
    row.compile(ROWS[name])
    code = row.inspect_llvm(ROWS[name])
    loop = code[code.index("vector.body:") :]  # the loop vectoriser's name for what it makes
    assert re.search(r"\bfmul <\d+ x double>", loop)
