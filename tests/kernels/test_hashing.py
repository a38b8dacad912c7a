"""Random bits as a function of lane and clock."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import PCG64

import sekai
from sekai.kernels import hashing
from sekai.kernels.jit import entry

LANES, CLOCKS = 2_000, 50


@entry
def draw(seeds, keys, bits, units):
    """Fill bits and units (clocks, lanes)."""
    hashing.lane_keys(seeds, keys)
    for t in range(bits.shape[0]):
        for i in range(keys.size):
            bits[t, i] = hashing.random_bits(keys[i], np.uint64(t))
            units[t, i] = hashing.random_unit(keys[i], np.uint64(t))


@pytest.fixture(scope="module")
def drawn():
    """Keys, bits and units of lanes seeded as those of a batch are."""
    increments = [PCG64(seed).state["state"]["inc"] for seed in sekai.lane_seeds(0, LANES)]
    seeds = np.array([[inc >> 64 for inc in increments], [inc % 2**64 for inc in increments]], np.uint64)
    keys = np.empty(LANES, np.uint64)
    bits, units = np.empty((CLOCKS, LANES), np.uint64), np.empty((CLOCKS, LANES))
    draw(seeds, keys, bits, units)
    return keys, bits, units


@given(st.integers(0, 2**64 - 1))
def test_mix_is_the_finaliser_of_splitmix64(x):
    z = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    assert hashing.mix(np.uint64(x)) == z ^ z >> 31


def test_mix_gives_the_first_number_of_splitmix64():
    """That of the seed 0, as published with the generator."""
    assert hashing.mix(hashing.GOLDEN) == 0xE220A8397B1DCDAF


def test_no_two_lanes_or_draws_are_alike(drawn):
    keys, bits, _ = drawn
    assert np.unique(keys).size == LANES
    assert np.unique(bits).size == bits.size


def test_units_are_the_high_bits(drawn):
    _, bits, units = drawn
    assert np.array_equal(units, (bits >> np.uint64(11)) * 2.0**-53)
    assert (units < 1).all()


def test_every_bit_is_fair_and_independent_of_the_next_draw_and_lane(drawn):
    """Each of the 192 sums is off by more than 5.7 deviations with a chance of 1.2e-8: 2.3e-6 for them all."""
    bits = drawn[1]
    for k in range(64):
        signs = 1.0 - 2.0 * (bits >> np.uint64(k) & np.uint64(1)).astype(float)
        for products in (signs, signs[1:] * signs[:-1], signs[:, 1:] * signs[:, :-1]):
            assert abs(products.sum()) < 5.7 * np.sqrt(products.size)
