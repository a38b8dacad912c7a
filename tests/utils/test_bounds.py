"""Bounds that callers give."""

import numpy as np
import pytest

from sekai.spaces import Box, Discrete
from sekai.utils.bounds import as_bounds, bounded_box, require_box


def test_boxes_are_told_from_other_spaces():
    box = Box(0, np.inf, (2,))
    assert require_box(box, "action") is box
    with pytest.raises(TypeError, match="action space must be a Box"):
        require_box(Discrete(2), "action")
    with pytest.raises(ValueError, match="finite bounds"):
        bounded_box(box, "action")


def test_bounds_are_broadcast():
    low, high = as_bounds(Box(0, 1, (2, 2)), np.float32, "obs", -1, [1, 2])
    assert (low.tolist(), high.tolist(), low.dtype) == ([[-1, -1], [-1, -1]], [[1, 2], [1, 2]], np.float32)
    low[0] = 0  # fresh arrays


@pytest.mark.parametrize(
    ("low", "high"), [(1, 1), ([0, 3], [1, 2]), ([0, 0, 0], 1), (0, np.inf), (-np.inf, 0), (np.nan, 1), (0, np.nan)]
)
def test_bounds_that_do_not_bound_are_refused(low, high):
    with pytest.raises(ValueError, match=r"min_obs|broadcast"):
        as_bounds(Box(0, 1, (2,)), np.float32, "obs", low, high)
