"""Models of markets, from which prices are drawn."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from sekai.finance.arguments import Floats, check_range, count, number, numbers
from sekai.finance.frozen import Frozen, read_only
from sekai.kernels import price_paths

TRADING_DAY = 1 / 252  # years
LARGEST_SHOWN = 16  # numbers in a repr
TOLERANCE = 1e-8  # of a matrix of correlations


@dataclass(frozen=True, slots=True)
class Simulation:
    """What a `MarketModel` has drawn: one path of T steps, or several.

    Attributes:
        prices: `(T + 1, n)`, or `(paths, T + 1, n)`. Row 0 is where the simulation begins.
        mask: bool like `prices`, where an asset is listed; None if all are at all times.
        state: What else the model has, by name: arrays `(T + 1, …)`, or `(paths, T + 1, …)`.

    Raises:
        ValueError: The shapes do not fit.
    """

    prices: NDArray[Any]
    mask: NDArray[np.bool_] | None = None
    state: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        prices, mask = self.prices, self.mask
        if not isinstance(prices, np.ndarray) or prices.ndim not in (2, 3):
            raise ValueError(f"prices must be an array (T + 1, n) or (paths, T + 1, n), got shape {np.shape(prices)}")
        is_array = isinstance(mask, np.ndarray)
        if mask is not None and not (is_array and mask.dtype == np.bool_ and mask.shape == prices.shape):
            raise ValueError(f"mask must be a bool array of the shape of prices, {prices.shape}, got {mask!r}")
        lead = prices.shape[:-1]
        for name, values in self.state.items():
            if np.shape(values)[: len(lead)] != lead:
                raise ValueError(f"state[{name!r}] must have a shape that begins with {lead}, got {np.shape(values)}")


class MarketModel(ABC):
    """A model of a market. Subclass it for one of your own; environments take it as `model=`.

    Attributes:
        n_assets: Number of assets, n.
        dt: Years per step.
    """

    n_assets: int
    dt: float

    def state_spec(self) -> dict[str, tuple[int, ...]]:
        """Return the shapes of one row of what `Simulation.state` holds, by name."""
        return {}

    @abstractmethod
    def simulate(self, rng: Generator, n_steps: int, *, n_paths: int | None = None) -> Simulation:
        """Draw prices.

        Args:
            rng: What to draw from, and from nothing else.
            n_steps: T, at least 1.
            n_paths: How many paths; None for one, without an axis of paths.

        Raises:
            TypeError: A count is not an integer.
            ValueError: One is less than 1.
        """


class GBM(Frozen, MarketModel):
    """Geometric Brownian motion, dS = mu S dt + sigma S dW, without an error of discretisation.

    Parameters of assets are one number for all, or one each. Draws `(paths, T, n)` standard normals. Parameters may be
    so large that a price leaves the range of float64, which depends on the draws; it is then infinite, or 0.

    Args:
        mu: Drift, per year.
        sigma: Volatility, per square root of a year, at least 0.
        s0: First prices, positive.
        corr: Correlations of the assets' returns, `(n, n)`; None if they are independent.
        dt: Years per step.
        n_assets: n; None to tell it from the other arguments.

    Raises:
        TypeError: An argument is of the wrong type.
        ValueError: A value or shape is wrong, or shapes contradict each other.

    Attributes:
        mu, sigma, s0: float64 `(n,)`, read-only.
        corr: float64 `(n, n)`, read-only, or None.
        dt: Years per step.
        n_assets: n.
    """

    mu: Floats
    sigma: Floats
    s0: Floats
    corr: Floats | None

    def __init__(
        self,
        mu: ArrayLike = 0.0,
        sigma: ArrayLike = 0.2,
        *,
        s0: ArrayLike = 100.0,
        corr: ArrayLike | None = None,
        dt: float = TRADING_DAY,
        n_assets: int | None = None,
    ) -> None:
        n, arrays = _per_asset({"mu": mu, "sigma": sigma, "s0": s0}, corr, n_assets)
        check_range("mu", arrays["mu"])
        check_range("sigma", arrays["sigma"], least=0.0)
        check_range("s0", arrays["s0"], above=0.0)
        try:
            correlations = None if corr is None else read_only(_correlations(corr, n))
        except np.linalg.LinAlgError as error:
            raise ValueError(str(error)) from None
        vars(self).update(n_assets=n, dt=number("dt", dt, above=0.0), corr=correlations, **arrays)

    def simulate(self, rng: Generator, n_steps: int, *, n_paths: int | None = None) -> Simulation:
        """Draw prices; see `MarketModel.simulate`."""
        n_steps = count("n_steps", n_steps, 1)
        paths = 1 if n_paths is None else count("n_paths", n_paths, 1)
        prices = self._paths(rng, n_steps, paths)
        return Simulation(prices[0] if n_paths is None else prices)

    def _paths(self, rng: Generator, n_steps: int, n_paths: int) -> Floats:
        """Draw prices `(n_paths, n_steps + 1, n)`."""
        z = rng.standard_normal((n_paths, n_steps, self.n_assets))
        prices = np.empty((n_paths, n_steps + 1, self.n_assets))
        price_paths.gbm_paths(z, prices, *self._terms())
        return prices

    def _terms(self) -> tuple[Floats, Floats, Floats, Floats]:
        """First prices, mean and standard deviation of the log return of a step, Cholesky factor of correlations.

        Arrays as `kernels.price_paths.gbm_path` takes them.
        """
        drift: Floats = (self.mu - 0.5 * self.sigma**2) * self.dt
        volatility: Floats = self.sigma * math.sqrt(self.dt)
        chol: Floats = np.empty((0, 0)) if self.corr is None else np.linalg.cholesky(self.corr).astype(np.float64)
        return np.array(self.s0), drift, volatility, chol

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={_shown(getattr(self, name))}" for name in ("mu", "sigma", "s0", "corr"))
        return f"GBM(n_assets={self.n_assets}, {values}, dt={_shown_dt(self.dt)})"


def simulate_gbm(
    rng: Generator,
    n_steps: int,
    *,
    s0: ArrayLike = 100.0,
    mu: ArrayLike = 0.0,
    sigma: ArrayLike = 0.2,
    dt: float = TRADING_DAY,
    corr: ArrayLike | None = None,
) -> Floats:
    """Draw one path of a geometric Brownian motion; draws `(n_steps, n)` standard normals.

    Args:
        rng: What to draw from.
        n_steps: At least 0.
        s0: First prices, positive.
        mu: Drift, per year.
        sigma: Volatility, per square root of a year, at least 0.
        dt: Years per step.
        corr: Correlations of the assets' returns, `(n, n)`.

    Returns:
        Prices, float64 `(n_steps + 1,)` if `s0`, `mu` and `sigma` are single numbers, else `(n_steps + 1, n)`.

    Raises:
        TypeError: An argument is of the wrong type.
        LinAlgError: `corr` is not positive definite.
        ValueError: A value or shape is wrong.
    """
    n_steps, values = count("n_steps", n_steps), (s0, mu, sigma)
    n_assets = max(np.size(value) for value in values)
    if corr is not None:
        corr = _correlations(corr, n_assets)
    prices: Floats = GBM(mu, sigma, s0=s0, corr=corr, dt=dt, n_assets=n_assets)._paths(rng, n_steps, 1)[0]
    return prices if any(np.ndim(value) for value in values) else prices[:, 0]


def random_correlation(rng: Generator, n: int, strength: float = 0.5) -> Floats:
    """Draw a matrix of correlations, as of returns with n // 2 common factors.

    Args:
        rng: What to draw from: `(n, max(1, n // 2))` standard normals.
        n: Number of assets.
        strength: How much the factors matter, from 0 (correlations are 0) to 1 (the matrix is singular if n > 1).

    Returns:
        float64 `(n, n)`.

    Raises:
        TypeError: An argument is of the wrong type.
        ValueError: `n` is less than 1, or `strength` outside [0, 1].
    """
    n, strength = count("n", n, 1), number("strength", strength, least=0.0)
    if strength > 1.0:
        raise ValueError(f"strength must be between 0 and 1, got {strength!r}")
    loadings = rng.standard_normal((n, max(1, n // 2))) * strength
    covariance = loadings @ loadings.T + (1.0 - strength**2) * np.eye(n)
    deviations = np.sqrt(np.diag(covariance))
    return np.asarray(covariance / np.outer(deviations, deviations))


def _per_asset(
    arguments: dict[str, ArrayLike], corr: ArrayLike | None, n_assets: int | None
) -> tuple[int, dict[str, Floats]]:
    """Return the number of assets, and arguments as read-only arrays of one number each."""
    arrays = {name: numbers(name, value) for name, value in arguments.items()}
    for name, array in arrays.items():
        if array.ndim > 1 or array.size == 0:
            raise ValueError(f"{name} must be one number or one per asset, got shape {array.shape}")
    sizes = {name: array.size for name, array in arrays.items() if array.size > 1}
    if corr is not None:
        sizes["corr"] = len(np.atleast_1d(numbers("corr", corr)))
    if n_assets is not None:
        sizes["n_assets"] = count("n_assets", n_assets, 1)
    if len(set(sizes.values())) > 1:
        raise ValueError(f"arguments must be of the same number of assets, got {sizes}")
    n = next(iter(sizes.values()), 1)
    return n, {name: read_only(np.array(np.broadcast_to(array, (n,)))) for name, array in arrays.items()}


def _correlations(corr: ArrayLike, n: int) -> Floats:
    """Return a valid matrix of correlations.

    Raises:
        TypeError: It holds no numbers.
        LinAlgError: It is not positive definite.
        ValueError: It is no such matrix for another reason.
    """
    matrix = numbers("corr", corr)
    if matrix.shape != (n, n):
        raise ValueError(f"corr must have shape ({n}, {n}), got {matrix.shape}")
    check_range("corr", matrix)
    if np.abs(matrix - matrix.T).max() > TOLERANCE:
        raise ValueError("corr must be symmetric")
    if np.abs(np.diag(matrix) - 1.0).max() > TOLERANCE:
        raise ValueError(f"corr must have ones on its diagonal, got {np.diag(matrix)}")
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        raise np.linalg.LinAlgError("corr must be positive definite") from None
    return matrix


def _shown(array: Floats | None) -> str:
    """A parameter as it stands in a repr."""
    if array is None:
        return "None"
    if array.ndim == 1 and (array == array[0]).all():
        return repr(float(array[0]))
    if array.size > LARGEST_SHOWN:
        return f"<array of shape {array.shape}>"
    return repr(array.round(6).tolist())


def _shown_dt(dt: float) -> str:
    """Years per step as they stand in a repr."""
    steps = 1.0 / dt
    return f"1/{steps:.0f}" if steps > 1.0 and abs(steps - round(steps)) < TOLERANCE else repr(dt)
