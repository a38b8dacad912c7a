"""Draws of whole batches from spaces, and checks of whole batches against them.

A batch of n elements is an array (n, d): row i is element i, its d entries in C order. Draws come from one stream, lane
0 of `rng` (uint64[6, 1]), row by row, so that batches of 5 and 3 rows hold what one of 8 rows does.
"""

import math

import numpy as np

from sekai.kernels import random
from sekai.kernels.jit import entry, kernel

ONE = np.uint64(1)


@entry
def sample_integers(low, last, rng, out):
    """Draw out[i, j] uniformly from low[j] … last[j].

    Args:
        low (int64[d]): smallest value of each entry.
        last (int64[d]): largest value.
        rng (uint64[6, 1]): the stream.
        out (int64[n, d]): overwritten.

    Draws:
        One bounded integer for each entry whose range holds more than one value.

    """
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = _integer(low[j], last[j], rng)


@kernel
def _integer(low, last, rng):
    """Draw an int64 from low … last; the number after `last` need not be one."""
    if last < 0:
        return random.integers(rng, 0, low, last + 1)
    return random.integers(rng, 0, low, np.uint64(last) + ONE)


@entry
def sample_allowed(count, flags, rng, out):
    """Draw out[i, j] uniformly from the k below count[j] whose flag is set; there must be one.

    Args:
        count (int64[d]): number of values of each entry.
        flags (bool[m, d, w]): the flag of value k of entry j of row i is flags[i, j, k]. With m = 1, all rows share it.
        rng (uint64[6, 1]): the stream.
        out (int64[n, d]): overwritten.

    Draws:
        One bounded integer for each entry with more than one value to choose from.

    """
    shared = flags.shape[0] == 1
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = _choose(flags[0 if shared else i, j, : count[j]], rng)


@kernel
def _choose(flags, rng):
    """Draw the place of a flag that is set."""
    allowed = 0
    for k in range(flags.size):
        allowed += flags[k]
    left = random.integers(rng, 0, 0, allowed)
    k = -1
    while left >= 0:
        k += 1
        left -= flags[k]
    return k


@entry
def sample_floats(low, high, limit, rng, out):
    """Draw out[i, j] between low[j] and high[j].

    Uniform between two finite bounds, a standard exponential away from a single one, standard normal without any; never
    beyond `limit` because of rounding.

    Args:
        low (float64[d]): lower bound of each entry, or minus infinity.
        high (float64[d]): upper bound, or infinity.
        limit (float64): largest finite value of the dtype that the batch will have.
        rng (uint64[6, 1]): the stream.
        out (float64[n, d]): overwritten.

    Draws:
        One uniform, exponential or normal for each entry.

    """
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            x = _between(low[j], high[j], rng)
            out[i, j] = min(max(x, low[j], -limit), high[j], limit)


@kernel
def _between(low, high, rng):
    if math.isfinite(low):
        if math.isfinite(high):
            u = random.random(rng, 0)
            return low * (1.0 - u) + high * u  # high - low might overflow
        return low + random.standard_exponential(rng, 0)
    if math.isfinite(high):
        return high - random.standard_exponential(rng, 0)
    return random.standard_normal(rng, 0)


@entry
def contains_rows(x, low, high, inside):
    """Write whether low[j] <= x[i, j] <= high[j] for all j to inside[i]; NaN is outside.

    Args:
        x (float64, int64 or uint64 [n, d]): the batch.
        low (same dtype, [d]): lower bound of each entry.
        high (same dtype, [d]): upper bound.
        inside (bool[n]): overwritten.

    """
    for i in range(x.shape[0]):
        fits = True
        for j in range(x.shape[1]):
            fits &= low[j] <= x[i, j] and x[i, j] <= high[j]
        inside[i] = fits
