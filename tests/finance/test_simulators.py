"""Geometric Brownian motion and what goes with it."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekai.finance import GBM, MarketModel, Simulation
from sekai.finance.simulators import random_correlation, simulate_gbm

CORR = np.array([[1.0, 0.5, 0.2], [0.5, 1.0, 0.3], [0.2, 0.3, 1.0]])
MODEL = GBM([0.1, 0.0, -0.2], [0.2, 0.4, 0.0], s0=[1.0, 10.0, 100.0], corr=CORR, dt=0.01)


def rng(seed=0):
    return np.random.default_rng(seed)


def naive_gbm(z, mu, sigma, s0, dt, chol):
    """One path, from the equation of each step."""
    prices = [np.array(s0, np.float64)]
    for row in z:
        prices.append(prices[-1] * np.exp((mu - sigma**2 / 2) * dt + sigma * np.sqrt(dt) * (chol @ row)))
    return np.array(prices)


def test_paths_follow_the_equation():
    z = rng(1).standard_normal((2, 30, 3))
    prices = MODEL.simulate(rng(1), 30, n_paths=2).prices
    for i in range(2):
        naive = naive_gbm(z[i], MODEL.mu, MODEL.sigma, MODEL.s0, 0.01, np.linalg.cholesky(CORR))
        np.testing.assert_allclose(prices[i], naive, rtol=1e-13)  # roundings of 30 steps
    np.testing.assert_array_equal(prices[:, 0], np.tile(MODEL.s0, (2, 1)))


def test_shapes():
    assert GBM().simulate(rng(), 7).prices.shape == (8, 1)
    assert GBM(n_assets=2).simulate(rng(), 7, n_paths=1).prices.shape == (1, 8, 2)
    simulation = MODEL.simulate(rng(), 5)
    assert (simulation.mask, simulation.state, MODEL.state_spec()) == (None, {}, {})


@given(st.integers(0, 99))
def test_paths_are_drawn_one_after_the_other(seed):
    generator = rng(seed)
    single = np.stack([MODEL.simulate(generator, 5).prices for _ in range(3)])
    np.testing.assert_array_equal(MODEL.simulate(rng(seed), 5, n_paths=3).prices, single)


def test_terminal_prices_have_the_moments_of_the_log_normal():
    """With a false alarm rate of 1e-6 per number: 4.9 standard errors."""
    n, mu, sigma, years = 40_000, 0.1, 0.3, 2.0
    corr = np.array([[1.0, 0.6], [0.6, 1.0]])
    model = GBM(mu, sigma, s0=50.0, corr=corr, dt=0.5)
    prices = model.simulate(rng(20), 4, n_paths=n).prices[:, -1]
    mean = 50.0 * np.exp(mu * years)
    variance = mean**2 * np.expm1(sigma**2 * years)
    assert np.abs(prices.mean(axis=0) - mean).max() < 4.9 * np.sqrt(variance / n)
    logs = np.log(prices / 50.0)
    drift, deviation = (mu - sigma**2 / 2) * years, sigma * np.sqrt(years)
    assert np.abs(logs.mean(axis=0) - drift).max() < 4.9 * deviation / np.sqrt(n)
    assert np.abs(logs.std(axis=0) / deviation - 1.0).max() < 4.9 / np.sqrt(2 * n)
    assert abs(np.corrcoef(logs.T)[0, 1] - 0.6) < 4.9 * (1 - 0.6**2) / np.sqrt(n)


@pytest.mark.parametrize(
    ("model", "n"),
    [
        (GBM(), 1),
        (GBM(n_assets=3), 3),
        (GBM([0.1]), 1),
        (GBM([0.1], n_assets=2), 2),
        (GBM(sigma=[0.1, 0.2]), 2),
        (GBM(corr=CORR), 3),
    ],
)
def test_the_number_of_assets_follows_from_the_arguments(model, n):
    assert model.n_assets == n
    for array in (model.mu, model.sigma, model.s0):
        assert array.shape == (n,)


def test_models_print_as_they_are_made():
    assert repr(GBM(n_assets=2)) == "GBM(n_assets=2, mu=0.0, sigma=0.2, s0=100.0, corr=None, dt=1/252)"
    model = GBM([0.1, 1 / 3], corr=[[1, 0.5], [0.5, 1]], dt=0.3)
    assert repr(model) == (
        "GBM(n_assets=2, mu=[0.1, 0.333333], sigma=0.2, s0=100.0, corr=[[1.0, 0.5], [0.5, 1.0]], dt=0.3)"
    )
    assert "corr=<array of shape (5, 5)>" in repr(GBM(corr=np.eye(5)))


def test_models_are_immutable():
    for model in (MODEL, pickle.loads(pickle.dumps(MODEL))):
        with pytest.raises(AttributeError, match="a GBM does not change"):
            model.mu = 0.5
        for array in (model.mu, model.sigma, model.s0, model.corr):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 2.0
        np.testing.assert_array_equal(model.simulate(rng(), 3).prices, MODEL.simulate(rng(), 3).prices)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"sigma": -0.1}, ValueError, "sigma: entry 0 must be finite and at least 0, got -0.1"),
        ({"mu": [0.1, np.nan]}, ValueError, "mu: entry 1 must be finite, got nan"),
        ({"s0": 0.0}, ValueError, "s0: entry 0 must be finite and above 0, got 0.0"),
        ({"dt": 0.0}, ValueError, "dt must be finite and above 0, got 0.0"),
        ({"dt": [0.1]}, TypeError, "dt must be one number, got [0.1]"),
        ({"mu": "0.1"}, ValueError, "mu must be a number, got '0.1'"),
        ({"mu": [[0.1]]}, ValueError, "mu must be one number or one per asset, got shape (1, 1)"),
        ({"mu": []}, ValueError, "mu must be one number or one per asset, got shape (0,)"),
        (
            {"mu": [1, 2], "sigma": [1, 2, 3]},
            ValueError,
            "arguments must be of the same number of assets, got {'mu': 2",
        ),
        ({"mu": [1, 2], "n_assets": 1}, ValueError, "arguments must be of the same number of assets, got {'mu': 2"),
        ({"corr": [[1.0]], "n_assets": 2}, ValueError, "arguments must be of the same number of assets"),
        ({"n_assets": 2.0}, TypeError, "n_assets must be an int, got 2.0"),
        ({"n_assets": 0}, ValueError, "n_assets must be >= 1, got 0"),
        ({"corr": [1.0, 2.0]}, ValueError, "corr must have shape (2, 2), got (2,)"),
        ({"corr": [[1.0, 0.5], [0.4, 1.0]]}, ValueError, "corr must be symmetric"),
        ({"corr": [[1.0, 0.5], [0.5, 2.0]]}, ValueError, "corr must have ones on its diagonal, got [1. 2.]"),
        ({"corr": [[1.0, 2.0], [2.0, 1.0]]}, ValueError, "corr must be positive definite"),
        ({"corr": [[1.0, np.nan], [np.nan, 1.0]]}, ValueError, "corr: entry 0, 1 must be finite, got nan"),
    ],
)
def test_parameters_are_checked(arguments, error, message):
    with pytest.raises(error) as caught:
        GBM(**arguments)
    assert type(caught.value) is error
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("counts", [(0, None), (1, 0)])
def test_counts_are_positive(counts):
    with pytest.raises(ValueError, match="must be >= 1, got 0"):
        GBM().simulate(rng(), counts[0], n_paths=counts[1])


@pytest.mark.parametrize("counts", [(True, None), (2.0, None), (1, True), (1, "2")])
def test_counts_are_integers(counts):
    with pytest.raises(TypeError, match="must be an int"):
        GBM().simulate(rng(), counts[0], n_paths=counts[1])


def test_a_model_of_ones_own_needs_little():
    class Flat(MarketModel):
        n_assets, dt = 2, 0.5

        def simulate(self, rng, n_steps, *, n_paths=None):
            return Simulation(np.ones((n_steps + 1, 2)))

    assert Flat().simulate(rng(), 3).prices.shape == (4, 2)
    assert Flat().state_spec() == {}
    with pytest.raises(TypeError, match="abstract"):
        MarketModel()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.ones(3),), "prices must be an array"),
        (([[1.0]],), "prices must be an array"),
        ((np.ones((3, 2)), np.ones((3, 2))), "mask must be a bool array of the shape of prices"),
        ((np.ones((3, 2)), np.ones((3, 1), bool)), "mask must be a bool array of the shape of prices"),
        ((np.ones((3, 2)), None, {"x": np.ones((2, 3))}), r"state\['x'\] must have a shape that begins with \(3,\)"),
        ((np.ones((4, 3, 2)), None, {"x": np.ones((3, 4))}), r"must have a shape that begins with \(4, 3\)"),
    ],
)
def test_simulations_fit_together(arguments, message):
    with pytest.raises(ValueError, match=message):
        Simulation(*arguments)


def test_simulations_are_frozen():
    simulation = Simulation(
        np.ones((4, 3, 2)), np.ones((4, 3, 2), bool), {"x": np.ones((4, 3)), "y": np.ones((4, 3, 5))}
    )
    with pytest.raises(AttributeError):
        simulation.mask = None
    assert not hasattr(simulation, "__dict__")


# ---- functions -----------------------------------------------------------------------------------


def test_a_path_is_that_of_the_model():
    path = simulate_gbm(rng(1), 30, s0=MODEL.s0, mu=MODEL.mu, sigma=MODEL.sigma, dt=0.01, corr=CORR)
    np.testing.assert_array_equal(path, MODEL.simulate(rng(1), 30).prices)


def test_paths_of_single_numbers_have_one_axis():
    assert simulate_gbm(rng(), 4).shape == (5,)
    assert simulate_gbm(rng(), 0, s0=5.0).tolist() == [5.0]
    assert simulate_gbm(rng(), 4, mu=[0.1]).shape == (5, 1)
    assert simulate_gbm(rng(), 4, sigma=[0.1, 0.2]).shape == (5, 2)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"s0": 0.0}, ValueError),
        ({"s0": np.inf}, ValueError),
        ({"dt": -1.0}, ValueError),
        ({"sigma": -0.1}, ValueError),
        ({"mu": np.nan}, ValueError),
        ({"mu": [[0.1]]}, ValueError),
        ({"corr": np.eye(2)}, ValueError),
        ({"n_steps": -1}, ValueError),
        ({"n_steps": 2.0}, TypeError),
        ({"mu": [0.1, 0.2], "corr": [[1.0, 2.0], [2.0, 1.0]]}, np.linalg.LinAlgError),
    ],
)
def test_arguments_of_a_path_are_checked(arguments, error):
    with pytest.raises(error) as caught:
        simulate_gbm(rng(), **{"n_steps": 3, **arguments})
    assert caught.type is error


@given(st.integers(0, 99), st.integers(1, 8), st.floats(0.0, 1.0))
def test_random_correlations_are_correlations(seed, n, strength):
    matrix = random_correlation(rng(seed), n, strength)
    f = rng(seed).standard_normal((n, max(1, n // 2))) * strength
    covariance = f @ f.T + (1 - strength**2) * np.eye(n)
    deviations = np.sqrt(np.diag(covariance))
    np.testing.assert_array_equal(matrix, covariance / np.outer(deviations, deviations))
    np.testing.assert_allclose(np.diag(matrix), 1.0, rtol=1e-15)  # a root, a square and a quotient
    np.testing.assert_array_equal(matrix, matrix.T)
    assert np.linalg.eigvalsh(matrix).min() > -1e-14  # 0 but for rounding


@pytest.mark.parametrize("strength", [1.5, -0.1, np.nan])
def test_correlations_have_a_strength_between_0_and_1(strength):
    with pytest.raises(ValueError, match="strength must be"):
        random_correlation(rng(), 3, strength)


def test_correlations_are_of_at_least_one_asset():
    assert random_correlation(rng(), 1).tolist() == [[1.0]]
    with pytest.raises(ValueError, match="n must be >= 1, got 0"):
        random_correlation(rng(), 0)
