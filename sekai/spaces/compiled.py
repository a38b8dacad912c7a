"""The way from spaces to their kernels, which are imported when first used.

Batches go in and come out with one row per element: `(n, *shape)`.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.random import PCG64, SeedSequence
from numpy.typing import NDArray

# Keeps the stream of batches apart from the streams of sub-spaces, whose spawn keys count from 0.
BATCH_KEY = 2**32 - 1

# Flipping it makes int64s of uint64s, in the same order, and back.
TOP_BIT = np.uint64(2**63)

Stream = NDArray[np.uint64]


def start_stream(seed: int) -> Stream:
    """Return the stream of batches of a space seeded with `seed`, as the one lane of a `uint64[6, 1]`."""
    state = PCG64(SeedSequence(seed, spawn_key=(BATCH_KEY,))).state["state"]
    words = [half for name in ("state", "inc") for half in divmod(state[name], 2**64)]
    return np.array([*words, 0, 0], np.uint64).reshape(6, 1)


def draw_integers(low: NDArray[Any], last: NDArray[Any], n: int, stream: Stream) -> NDArray[Any]:
    """Draw n rows of integers, uniform from `low` to `last`; int64, or uint64 if the bounds are."""
    from sekai.kernels import spaces

    unsigned = low.dtype == np.uint64
    if unsigned:
        low, last = (low ^ TOP_BIT).view(np.int64), (last ^ TOP_BIT).view(np.int64)
    out = np.empty((n, low.size), np.int64)
    spaces.sample_integers(_flat(low, np.int64), _flat(last, np.int64), stream, out)
    return (out.view(np.uint64) ^ TOP_BIT if unsigned else out).reshape(n, *low.shape)


def draw_allowed(count: NDArray[np.int64], flags: NDArray[np.bool_], n: int, stream: Stream) -> NDArray[np.int64]:
    """Draw n rows of integers below `count` among those whose flag is set.

    Args:
        count: Number of values of each entry.
        flags: Shape `(1 or n, count.size, w)`; each entry must have a flag set below its count.
        n: Number of rows.
        stream: Where the draws come from.
    """
    from sekai.kernels import spaces

    out = np.empty((n, count.size), np.int64)
    spaces.sample_allowed(_flat(count, np.int64), np.ascontiguousarray(flags), stream, out)
    return out.reshape(n, *count.shape)


def draw_floats(low: NDArray[Any], high: NDArray[Any], n: int, stream: Stream) -> NDArray[Any]:
    """Draw n rows of floats between bounds that may be infinite, in the dtype of the bounds."""
    from sekai.kernels import spaces

    out = np.empty((n, low.size))
    limit = float(np.finfo(low.dtype).max)
    spaces.sample_floats(_flat(low, np.float64), _flat(high, np.float64), limit, stream, out)
    return out.astype(low.dtype).reshape(n, *low.shape)


def rows_within(x: NDArray[Any], low: NDArray[Any], high: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which rows lie between the bounds in all their entries; dtypes as `can_cast` admits them."""
    from sekai.kernels import spaces

    if x.dtype.kind == "f" or low.dtype.kind == "f":
        wide: Any = np.float64
    elif x.dtype == np.uint64:
        wide = np.uint64
        low, high = _as_uint64(low, high)
    else:
        wide = np.uint64 if low.dtype == np.uint64 else np.int64
    inside = np.empty(len(x), np.bool_)
    rows = np.ascontiguousarray(x, wide).reshape(len(x), prod(low.shape))
    spaces.contains_rows(rows, _flat(low, wide), _flat(high, wide), inside)
    return inside


def _as_uint64(low: NDArray[Any], high: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return bounds that hold the same uint64s; none at all where `high` is negative."""
    none = high < 0
    return np.where(none, 1, np.maximum(low, 0)), np.where(none, 0, high)


def _flat(bound: NDArray[Any], dtype: Any) -> NDArray[Any]:
    return np.ascontiguousarray(bound, dtype).reshape(-1)
