"""Seeds of lanes, against NumPy's own seed sequences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import PCG64, Generator, SeedSequence

from sekai.vector.seeding import FEW, int_words, lane_seeds, seed_numbers
from sekai.vector.stream import words_of


def by_numpy(seed, num_envs):
    """The definition of `lane_seeds`."""
    seeds = []
    for child in SeedSequence(seed).spawn(num_envs):
        a, b, c, d = map(int, child.generate_state(4))
        seeds.append(a | b << 32 | c << 64 | d << 96)
    return seeds


@given(st.integers(0, 2**300), st.sampled_from([0, 1, 5, FEW, FEW + 1, 200]))
def test_seeds_of_lanes_are_spawned_by_numpy(seed, num_envs):
    assert lane_seeds(seed, num_envs) == by_numpy(seed, num_envs)


def test_fewer_lanes_have_the_first_seeds_of_more():
    many = lane_seeds(7, 1000)
    assert all(lane_seeds(7, n) == many[:n] for n in (1, 10, FEW, FEW + 1))
    assert len(set(many)) == 1000
    assert lane_seeds(np.uint8(7), 3) == many[:3]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((-1, 3), ValueError, "seed must be >= 0, got -1"),
        ((1.0, 3), TypeError, r"seed must be an int, got 1\.0"),
        ((1, -3), ValueError, "num_envs must be >= 0, got -3"),
        ((1, 3.0), TypeError, r"num_envs must be an int, got 3\.0"),
    ],
)
def test_bad_arguments_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        lane_seeds(*arguments)


@pytest.mark.parametrize(
    ("number", "words"), [(0, [0]), (2**32 - 1, [2**32 - 1]), (2**32, [0, 1]), (3 << 64 | 5, [5, 0, 3])]
)
def test_words_of_an_int_are_the_lowest_first(number, words):
    assert int_words(number).tolist() == words
    assert int_words(number).dtype == np.uint32


@given(st.lists(st.integers(0, 2**130), min_size=1, max_size=5), st.sampled_from([1, 40]))
def test_streams_are_those_of_numpys_generators(seeds, repeats):
    numbers = dict(enumerate(seeds * repeats))  # many are seeded by kernels, few by NumPy
    rng = np.zeros((6, len(numbers)), np.uint64)
    seed_numbers(rng, numbers)
    for lane, number in list(numbers.items())[: len(seeds)]:
        assert rng[:, lane].tolist() == words_of(Generator(PCG64(number))).tolist()
    assert (rng.reshape(6, repeats, -1) == rng[:, None, : len(seeds)]).all()
