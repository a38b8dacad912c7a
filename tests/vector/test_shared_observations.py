"""Observations in shared memory."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sekai
from sekai.spaces import concatenate
from sekai.testing.strategies import elements, spaces
from sekai.vector.shared_observations import SharedObservations, has_fixed_size


@pytest.fixture
def shared():
    """Makes shared observations, and closes them after the test."""
    made = []

    def make(*args):
        made.append(SharedObservations(*args))
        return made[-1]

    yield make
    for one in made:
        one.close()


@given(st.data())
def test_what_is_written_by_lane_is_read_as_a_batch(data):
    space = data.draw(spaces(max_depth=2).filter(has_fixed_size))
    rows = data.draw(st.lists(elements(space), min_size=1, max_size=3))
    here = SharedObservations(space, len(rows))
    there = SharedObservations(space, len(rows), here.name)
    here.unlink()
    for lane, row in enumerate(rows):
        there.write(lane, row)
    np.testing.assert_equal(here.read(0, len(rows)), concatenate(space, rows))
    np.testing.assert_equal(here.read(len(rows) - 1, len(rows)), concatenate(space, rows[-1:]))
    there.close()
    here.close()


def test_what_was_read_is_a_copy(shared):
    memory = shared(sekai.Dict(x=sekai.Box(0, 9, (2,))), 2)
    memory.unlink()
    memory.write(1, {"x": np.ones(2)})
    read = memory.read(0, 2)
    memory.write(1, {"x": np.zeros(2)})
    assert read["x"].tolist() == [[0, 0], [1, 1]]
    assert read["x"].flags.c_contiguous


def test_values_are_cast_to_the_dtype_of_the_space(shared):
    memory = shared(sekai.Box(0, 9, (2,), np.float32), 1)
    memory.unlink()
    memory.write(0, [0.1, 2.5])
    assert memory.read(0, 1).tolist() == [[np.float32(0.1), 2.5]]


@pytest.mark.parametrize(
    ("space", "observation", "text"),
    [
        (sekai.Box(0, 1, (2,)), np.zeros(1), r"has shape \(1,\), but its space is Box"),
        (sekai.Box(0, 1, (2,)), 0.0, r"has shape \(\)"),
        (sekai.Discrete(3), np.zeros(1, int), r"has shape \(1,\)"),
        (sekai.Dict(a=sekai.Discrete(3)), {"b": 1}, "does not have the keys"),
        (sekai.Dict(a=sekai.Discrete(3)), {"a": 1, "b": 1}, "does not have the keys"),
        (sekai.Dict(a=sekai.Discrete(3)), 1, "does not have the keys"),
        (sekai.Tuple([sekai.Discrete(3)]), (1, 1), "does not have the length"),
    ],
)
def test_observations_built_otherwise_than_their_space_are_refused(shared, space, observation, text):
    memory = shared(space, 1)
    memory.unlink()
    with pytest.raises(sekai.SpaceMismatch, match=text):
        memory.write(0, observation)


def test_the_name_goes_and_the_memory_stays(shared):
    memory = shared(sekai.Discrete(5), 1)
    assert memory.name in os.listdir("/dev/shm")
    memory.unlink()
    assert memory.name not in os.listdir("/dev/shm")
    memory.write(0, 4)
    assert memory.read(0, 1).tolist() == [4]


def test_spaces_of_fixed_size():
    fixed = [sekai.Box(0, 1), sekai.Discrete(2), sekai.MultiDiscrete([2]), sekai.MultiBinary(2)]
    assert all(map(has_fixed_size, [*fixed, sekai.Tuple(fixed), sekai.MaskedBox(0, 1, max_size=2)]))
    assert not has_fixed_size(sekai.Dict(a=sekai.Tuple([sekai.Sequence(sekai.Discrete(2))])))
