"""The kernels behind batches of elements, against NumPy's generator and plain comparisons."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config

from sekai.kernels import spaces
from sekai.spaces.compiled import BATCH_KEY, start_stream


def generator(seed):
    """NumPy's generator over the stream of `start_stream(seed)`."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(BATCH_KEY,))))


def test_integers_are_those_of_numpys_generator():
    low = np.array([0, -5, -(2**63), 7, 2**63 - 2, -9])
    last = np.array([9, 5, 2**63 - 1, 7, 2**63 - 1, -2])
    out = np.empty((50, 6), np.int64)
    spaces.sample_integers(low, last, start_stream(3), out)
    rng = generator(3)
    expected = [[rng.integers(a, b, endpoint=True) for a, b in zip(low, last, strict=True)] for _ in range(50)]
    np.testing.assert_array_equal(out, expected)


def test_floats_are_made_of_numpys_draws():
    low = np.array([0.0, -3.0, 1.0, -np.inf, -np.inf])
    high = np.array([1.0, 5.0, np.inf, 2.0, np.inf])
    out = np.empty((50, 5))
    spaces.sample_floats(low, high, np.finfo(float).max, start_stream(3), out)
    rng = generator(3)
    for row in out:
        u, v = rng.random(), rng.random()
        above, below, free = 1.0 + rng.exponential(), 2.0 - rng.exponential(), rng.standard_normal()
        assert row.tolist() == [u, -3.0 * (1.0 - v) + 5.0 * v, above, below, free]


def test_rounding_stays_within_the_bounds_and_the_limit():
    low, high = np.array([0.1, 60000.0]), np.array([0.1, np.inf])
    out = np.empty((1000, 2))
    spaces.sample_floats(low, high, 60000.5, start_stream(0), out)
    assert (out[:, 0] == 0.1).all()
    assert out[:, 1].max() == 60000.5


@given(st.integers(1, 4), st.integers(1, 3), st.integers(1, 5), st.data())
def test_only_allowed_values_are_drawn(n, d, w, data):
    count = np.array(data.draw(st.lists(st.integers(1, w), min_size=d, max_size=d)))
    rows = data.draw(st.sampled_from([1, n]))
    size = rows * d * w
    flags = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size))).reshape(rows, d, w)
    flags[..., 0] |= ~(flags & (np.arange(w) < count[:, None])).any(axis=-1)
    out = np.empty((n, d), np.int64)
    spaces.sample_allowed(count, flags, start_stream(1), out)
    for i, j in np.ndindex(n, d):
        assert 0 <= out[i, j] < count[j]
        assert flags[i if rows == n else 0, j, out[i, j]]


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.float64])
def test_rows_are_inside_if_all_their_entries_are(dtype):
    x = np.random.default_rng(0).integers(0, 5, (200, 3)).astype(dtype)
    low, high = np.array([0, 1, 2], dtype), np.array([4, 3, 2], dtype)
    inside = np.empty(200, bool)
    spaces.contains_rows(x, low, high, inside)
    np.testing.assert_array_equal(inside, ((low <= x) & (x <= high)).all(axis=1))
    assert inside.any()
    assert not inside.all()


def test_nan_is_outside_and_no_entries_are_inside():
    inside = np.empty(2, bool)
    spaces.contains_rows(np.array([[0.0], [np.nan]]), np.array([-np.inf]), np.array([np.inf]), inside)
    assert inside.tolist() == [True, False]
    spaces.contains_rows(np.empty((2, 0)), np.empty(0), np.empty(0), inside)
    assert inside.tolist() == [True, True]


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
def test_few_signatures_are_compiled():
    from sekai.spaces import Box, Discrete, MultiBinary, MultiDiscrete

    for space in (
        Discrete(5),
        MultiDiscrete([2, 3], np.int8),
        MultiBinary((2, 2)),
        *(Box(0, 1, (2,), dtype) for dtype in ("float16", "float32", "float64", "int8", "uint64", "int64")),
    ):
        assert space.contains_batch(space.sample_batch(3)[::1]).all()
        assert space.contains_batch(space.sample_batch(6)[::2]).all()
    assert len(spaces.sample_integers.signatures) == 1
    assert len(spaces.sample_floats.signatures) == 1
    assert len(spaces.contains_rows.signatures) == 3  # int64, uint64, float64
