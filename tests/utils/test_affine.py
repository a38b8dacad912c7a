"""Affine maps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekai.utils.affine import AffineMap


def test_bounds_go_to_bounds_and_beyond_there_is_nothing():
    image = AffineMap(np.array([0.0, -1.0]), np.array([10.0, 1.0]), np.array([1.0, 0.0]), np.array([2.0, 4.0]), float)
    np.testing.assert_array_equal(image([[0, -1], [5, 0], [10, 1], [11, -9]]), [[1, 0], [1.5, 2], [2, 4], [2, 0]])
    np.testing.assert_array_equal(image(np.array([np.inf, np.nan])), [2.0, np.nan])


def test_entries_without_extent_go_to_the_lower_bound():
    image = AffineMap(np.array([3.0]), np.array([3.0]), np.array([-1.0]), np.array([1.0]), np.float32)
    assert image([3.0]).tolist() == [-1.0]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8])
@pytest.mark.parametrize("x", [np.uint8(128), np.float32(128), 128.0, np.array(128)])
def test_types_and_shapes(dtype, x):
    image = AffineMap(np.array(0), np.array(255), np.array(0), np.array(2), dtype)
    assert (image(x).dtype, image(x).shape) == (dtype, ())
    # The quotient is rounded in double precision, then to the dtype.
    assert image(x) == np.float64(2 * (128 / 255)).astype(dtype)


@given(st.lists(st.floats(-2, 2), min_size=6, max_size=300))
def test_a_batch_is_mapped_as_its_rows_are(numbers):
    rows = np.array(numbers[: len(numbers) // 3 * 3]).reshape(-1, 3)
    image = AffineMap(np.full(3, -1.0), np.array([0.0, 1.0, 2.0]), np.zeros(3), np.array([1.0, 0.5, 3.0]), np.float32)
    np.testing.assert_array_equal(image(rows), np.array([image(row) for row in rows]))


def test_no_entries():
    empty = np.zeros((0, 2))
    assert AffineMap(empty, empty, empty, empty, float)(np.zeros((5, 0, 2))).shape == (5, 0, 2)
