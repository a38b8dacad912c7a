"""Generators and seeds from what users pass as `seed`."""

import numpy as np
import pytest

from sekai.utils.seeding import child_seeds, make_seed_sequence, np_random


def test_a_generator_is_shared():
    rng = np.random.default_rng(1)
    assert np_random(rng) == (rng, -1)
    assert np_random(rng)[0] is rng


@pytest.mark.parametrize("seed", [0, 7, np.uint8(7), np.array(7), 2**200])
def test_an_int_starts_numpys_default_generator(seed):
    rng, used = np_random(seed)
    assert used == int(seed)
    assert type(used) is int
    assert rng.random() == np.random.default_rng(int(seed)).random()


def test_none_takes_fresh_entropy_that_can_be_replayed():
    rng, seed = np_random()
    assert seed > 2**64
    assert rng.random() == np.random.default_rng(seed).random()
    assert np_random(None)[1] != seed


@pytest.mark.parametrize(
    ("seed", "error"),
    [
        (-1, ValueError),
        (True, TypeError),
        (np.True_, TypeError),
        (2.0, TypeError),
        ("3", TypeError),
        ([1], TypeError),
        (np.random.SeedSequence(0), TypeError),
        (np.random.RandomState(0), TypeError),
    ],
)
def test_other_seeds_are_refused(seed, error):
    with pytest.raises(error, match="seed must"):
        np_random(seed)


def test_seed_sequences():
    assert make_seed_sequence(0, 3) == [3757552657, 673228719, 3241444873]
    assert make_seed_sequence(12345, 4) == [959183449, 1457248422, 642571064, 3609844797]
    assert make_seed_sequence(2**100, 2) == [2015265770, 3248053878]
    assert make_seed_sequence(7, 0) == []
    assert make_seed_sequence(0, 5)[:3] == make_seed_sequence(0, 3)


@pytest.mark.parametrize(("base", "n"), [(-1, 2), (0, -1)])
def test_negative_arguments_of_seed_sequences(base, n):
    with pytest.raises(ValueError, match=r"must be >= 0"):
        make_seed_sequence(base, n)


def test_child_seeds_come_from_the_seed_or_from_one_draw():
    rng = np.random.default_rng(0)
    assert child_seeds(rng, 5, 2) == [803261128, 3767054407]
    assert rng.random() == np.random.default_rng(0).random()
    rng = np.random.default_rng(0)
    assert child_seeds(rng, -1, 2) == [51900646, 1569867660]
    twin = np.random.default_rng(0)
    twin.integers(2**63)
    assert rng.random() == twin.random()
