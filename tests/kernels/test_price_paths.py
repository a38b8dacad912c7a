"""Simulated prices and their log returns."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config, float32, float64

from sekai.kernels import price_paths
from sekai.kernels.jit import interpret

CHOL = np.linalg.cholesky([[1.0, 0.5, 0.2], [0.5, 1.0, 0.3], [0.2, 0.3, 1.0]])
S0, DRIFT, VOLATILITY = np.array([1.0, 20.0, 300.0]), np.array([0.01, 0.0, -0.02]), np.array([0.1, 0.0, 0.3])


def paths(z, s0, drift, volatility, chol, run=price_paths.gbm_paths):
    prices = np.full((z.shape[0], z.shape[1] + 1, z.shape[2]), np.nan)
    run(z, prices, s0, drift, volatility, chol)
    return prices


def naive_path(z, s0, drift, volatility, chol):
    shocks = z @ chol.T if chol.size else z
    sums = np.cumsum(drift + volatility * shocks, axis=0)
    return s0 * np.exp(np.vstack([np.zeros(z.shape[1]), sums]))


@pytest.mark.parametrize("chol", [CHOL, np.empty((0, 0))], ids=["correlated", "independent"])
def test_paths_follow_the_formula(chol):
    z = np.random.default_rng(0).standard_normal((2, 50, 3))
    prices = paths(z, S0, DRIFT, VOLATILITY, chol)
    for i in range(2):
        # Products of three correlations may be summed in another order, and exponentials are off by 1 ulp.
        np.testing.assert_allclose(prices[i], naive_path(z[i], S0, DRIFT, VOLATILITY, chol), rtol=1e-13)
    np.testing.assert_array_equal(prices[:, 0], np.tile(S0, (2, 1)))


@given(st.integers(0, 20), st.integers(1, 3), st.integers(0, 99))
def test_an_asset_does_not_depend_on_the_others_without_correlations(n_steps, n, seed):
    z = np.random.default_rng(seed).standard_normal((1, n_steps, n))
    none = np.empty((0, 0))
    together = paths(z, S0[:n], DRIFT[:n], VOLATILITY[:n], none)
    for j in range(n):
        own = slice(j, j + 1)
        alone = paths(z[:, :, own].copy(), S0[own], DRIFT[own], VOLATILITY[own], none)
        np.testing.assert_array_equal(together[:, :, own], alone)


@pytest.mark.parametrize("n", [1, 3])
def test_normals_may_lie_where_prices_go(n):
    z = np.random.default_rng(1).standard_normal((40, n))
    prices = np.vstack([np.zeros(n), z])
    arguments = S0[:n], DRIFT[:n], VOLATILITY[:n], CHOL[:n, :n].copy()
    price_paths.gbm_path(prices[1:], prices, *arguments)
    np.testing.assert_array_equal(prices, paths(z[None], *arguments)[0])


def test_parameters_may_be_tuples():
    z = np.random.default_rng(1).standard_normal((40, 1))
    prices = np.empty((41, 1))
    price_paths.gbm_path(z, prices, (5.0,), (0.1,), (0.2,), np.empty((0, 0)))
    one = [np.array([value]) for value in (5.0, 0.1, 0.2)]
    np.testing.assert_array_equal(prices, paths(z[None], *one, np.empty((0, 0)))[0])


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_log_returns_are_differences_of_logarithms(n, dtype):
    prices = np.exp(np.random.default_rng(2).normal(size=(30, n)))
    prices[7, 0] = np.nan
    returns = np.empty((29, n), dtype)
    price_paths.history_returns(prices, returns)
    # Logarithms are off by 1 ulp each; float32 keeps 24 bits.
    tolerance = 1e-15 if dtype == np.float64 else 1e-7
    np.testing.assert_allclose(returns, np.diff(np.log(prices), axis=0), rtol=tolerance, atol=2 * tolerance)
    assert np.isnan(returns).sum() == 2


def test_plain_python_gives_the_same_bits():
    z = np.random.default_rng(3).standard_normal((1, 20, 3))
    with np.errstate(over="ignore"):  # bits of exponents wrap around
        plain = paths(z, S0, DRIFT, VOLATILITY, CHOL, interpret(price_paths.gbm_paths))
        prices = paths(z, S0, DRIFT, VOLATILITY, CHOL)
        np.testing.assert_array_equal(prices, plain)
        returns, plain_returns = np.empty((2, 20, 3), np.float32)
        price_paths.history_returns(prices[0], returns)
        interpret(price_paths.history_returns)(prices[0], plain_returns)
    np.testing.assert_array_equal(returns, plain_returns)


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="there is no machine code to look at")
@pytest.mark.parametrize(
    ("kernel", "signature"),
    [
        (price_paths.replace_by_exp, (float64[::1],)),
        (price_paths.replace_by_log, (float64[::1],)),
        (price_paths.log_returns, (float64[:, ::1], float32[:, ::1])),
        (price_paths.log_returns, (float64[:, ::1], float64[:, ::1])),
    ],
)
def test_exponentials_and_logarithms_are_vectorised(kernel, signature):
    kernel.compile(signature)
    code = kernel.inspect_llvm(signature)
    assert re.search(r"\bfmul <\d+ x double>", code[code.index("vector.body") :])
