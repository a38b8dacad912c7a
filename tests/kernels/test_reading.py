"""The template that reads lanes."""

import numpy as np

from sekai.kernels import kernel
from sekai.kernels.jit import bind, entry
from sekai.kernels.reading import read_lanes


@kernel
def state_views(memory, lo, hi):
    return memory[0, lo:hi]


@kernel
def param_views(params, lo, hi):
    return params[0]


@kernel
def read_lane(s, p, given, out, i):
    out[i, 0], out[i, 1] = p * s[i], given[i, 0] - given[i, 1]


def test_each_lane_is_read_with_what_is_asked_about_it():
    read = bind(read_lanes, "tests", entry, state_views=state_views, param_views=param_views, read_lane=read_lane)
    memory, given, out = np.array([[1.0, 2.0, 3.0, 4.0]]), np.array([[5.0, 1.0], [7.0, 2.0]]), np.empty((2, 2))
    read(memory, np.array([10.0]), given, out)  # of the first two lanes
    assert out.tolist() == [[10.0, 4.0], [20.0, 5.0]]
    assert memory.tolist() == [[1.0, 2.0, 3.0, 4.0]]
