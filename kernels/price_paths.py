"""Simulated prices, and what they return. A path is an array (T + 1, n): T steps of n assets."""

from sekai.kernels.elementary import exp, log
from sekai.kernels.jit import entry, kernel
from sekai.kernels.rows import borrow, flat


@kernel
def gbm_path(z, prices, s0, drift, volatility, chol):
    """Turn standard normals into prices of a geometric Brownian motion, without an error of discretisation.

    Args:
        z (float64, (T, n)): C-contiguous; may be `prices[1:]` itself.
        s0, drift, volatility (float64, (n,), or tuples): prices in row 0, and mean and standard deviation of the log
            return of a step: (mu - sigma**2 / 2) * dt and sigma * sqrt(dt).
        chol (float64, (n, n)): Cholesky factor of the correlations; (0, 0) if there are none.

    Writes: prices (float64, (T + 1, n)), C-contiguous.
    Source: Glasserman, Monte Carlo methods in financial engineering, 2003, section 3.2.3.
    """
    n = prices.shape[1]
    for j in range(n):
        prices[0, j] = 0.0
    # From the last asset to the first, since a shock depends on the normals before it, and these may be overwritten.
    for j in range(n - 1, -1, -1):
        add_up(z, j, drift[j], volatility[j], chol, prices[1:, j])
    replace_by_exp(flat(prices))
    for j in range(n):
        scale(prices[:, j], s0[j])


@kernel
def add_up(z, j, drift, volatility, chol, sums):
    """Write the sums of the log returns of asset j."""
    total = 0.0
    if chol.shape[0] == 0:
        own = z[:, j]
        for t in range(sums.size):
            total += drift + volatility * own[t]
            sums[t] = total
    else:
        for t in range(sums.size):
            shock = 0.0
            for k in range(j + 1):
                shock += chol[j, k] * z[t, k]
            total += drift + volatility * shock
            sums[t] = total


@kernel
def replace_by_exp(x):
    """Replace numbers by their exponentials."""
    for k in range(x.size):
        x[k] = exp(x[k])


@kernel
def replace_by_log(x):
    """Replace numbers by their logarithms."""
    for k in range(x.size):
        x[k] = log(x[k])


@kernel
def scale(x, factor):
    """Multiply numbers with a factor."""
    for k in range(x.size):
        x[k] *= factor


@kernel
def log_returns(prices, out):
    """Write the differences of the logarithms of prices from row to row.

    Args:
        prices (float64, (T + 1, n)), C-contiguous.

    Writes: out (float32 or float64, (T, n)), C-contiguous.
    """
    n = prices.shape[1]
    earlier, later, changes = flat(prices[:-1]), flat(prices[1:]), flat(out)
    if n == 1:
        before = log(prices[0, 0])
        for t in range(changes.size):
            now = log(later[t])
            changes[t] = now - before
            before = now
    else:
        for k in range(changes.size):
            changes[k] = log(later[k]) - log(earlier[k])


@entry
def gbm_paths(z, prices, s0, drift, volatility, chol):
    """`gbm_path` for P paths: z (float64, (P, T, n)), prices (float64, (P, T + 1, n))."""
    z, prices = borrow(z), borrow(prices)
    s0, drift, volatility, chol = borrow(s0), borrow(drift), borrow(volatility), borrow(chol)
    for i in range(prices.shape[0]):
        gbm_path(z[i], prices[i], s0, drift, volatility, chol)


@entry
def history_returns(prices, out):
    """`log_returns` of one array of prices."""
    log_returns(borrow(prices), borrow(out))
