"""What every space promises, nested ones included."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekai.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Space, Tuple, batch_space, iterate
from sekai.testing import strategies as sts

SEEDS = st.integers(0, 2**32 - 1)


class Coin(Space):
    """A space of one's own: the strings "heads" and "tails"."""

    def __init__(self, seed=None):
        super().__init__(shape=(), dtype=np.int8, seed=seed)

    def sample(self, mask=None):
        return str(self.rng.choice(["heads", "tails"]))

    def contains(self, x):
        return x in ("heads", "tails")

    @property
    def is_flattenable(self):
        return False


@given(sts.spaces())
def test_a_sample_is_an_element(space):
    for _ in range(3):
        assert space.contains(space.sample())


@given(sts.spaces(), SEEDS, sts.spaces())
def test_same_seed_gives_the_same_samples_whatever_other_spaces_do(space, seed, other):
    twin = copy.deepcopy(space)
    space.seed(seed)
    first = [space.sample() for _ in range(3)]
    twin.seed(seed)
    second = []
    for _ in range(3):
        other.sample()
        second.append(twin.sample())
    np.testing.assert_equal(second, first)


@given(sts.spaces())
def test_pickles_and_copies_are_equal_and_continue_both_streams(space):
    space.sample()
    space.sample_batch(2)
    copies = [pickle.loads(pickle.dumps(space)), copy.deepcopy(space)]
    sample, batch = space.sample(), space.sample_batch(2)
    for twin in copies:
        assert twin == space
        assert repr(twin) == repr(space)
        np.testing.assert_equal(twin.sample(), sample)
        np.testing.assert_equal(twin.sample_batch(2), batch)


@given(sts.spaces())
def test_equality_is_by_value_and_spaces_are_unhashable(space):
    assert space == copy.deepcopy(space)
    assert space != 3
    assert space != Tuple([space, space])
    with pytest.raises(TypeError, match="unhashable"):
        hash(space)


@given(sts.spaces(), st.integers(0, 5))
def test_a_batch_holds_that_many_elements(space, n):
    batch = space.sample_batch(n)
    if space.holds_data:
        rows = list(iterate(space, batch))
        assert len(rows) == n
        assert all(space.contains(row) for row in rows)
        np.testing.assert_array_equal(space.contains_batch(batch), np.ones(n, bool))
    assert batch_space(space, n).contains(batch)


@given(sts.spaces(max_depth=1).filter(lambda space: space.holds_data), st.integers(0, 3), st.integers(0, 3))
def test_batches_in_a_row_hold_what_one_batch_does(space, m, n):
    twin = copy.deepcopy(space)
    parts = [*iterate(space, space.sample_batch(m)), *iterate(space, space.sample_batch(n))]
    np.testing.assert_equal(parts, list(iterate(space, twin.sample_batch(m + n))))


@given(sts.spaces(), SEEDS)
def test_batches_and_samples_leave_each_others_streams_alone(space, seed):
    twin = copy.deepcopy(space)
    space.seed(seed)
    twin.seed(seed)
    samples, batch = [space.sample(), space.sample()], space.sample_batch(3)
    mixed = [twin.sample()]
    np.testing.assert_equal(twin.sample_batch(3), batch)
    np.testing.assert_equal([*mixed, twin.sample()], samples)


def test_a_shared_generator_starts_the_stream_of_batches_with_one_draw():
    rng, twin = np.random.default_rng(3), np.random.default_rng(3)
    space = Discrete(100, seed=rng)
    space.sample_batch(4)
    space.sample_batch(4)
    twin.integers(2**63)
    assert rng.bit_generator.state == twin.bit_generator.state


def test_seeding_again_restarts_the_stream_of_batches():
    space = Discrete(1000, seed=5)
    first = space.sample_batch(6)
    space.seed(5)
    np.testing.assert_array_equal(space.sample_batch(6), first)


@pytest.mark.parametrize("n", [-1, 2.0, True, "3", None])
def test_a_batch_needs_a_count(n):
    for space in (Discrete(2), Box(0, 1, (2,)), MultiDiscrete([2]), MultiBinary(2), Dict(), Tuple([]), Coin()):
        with pytest.raises((TypeError, ValueError), match=r"^n must"):
            space.sample_batch(n)


@pytest.mark.parametrize(
    ("seed", "error"), [("3", TypeError), (2.7, TypeError), (True, TypeError), ([1], TypeError), (-1, ValueError)]
)
def test_seeds_are_not_coerced(seed, error):
    space = Discrete(100, seed=4)
    with pytest.raises(error, match="seed must"):
        space.seed(seed)
    assert space.sample() == Discrete(100, seed=4).sample()


def test_a_space_of_ones_own():
    coin = Coin(seed=5)
    assert (coin.shape, coin.dtype, repr(coin)) == ((), np.int8, "Coin()")
    assert "heads" in coin
    assert 3 not in coin
    assert coin == coin
    assert coin != Coin(seed=5)
    assert len({coin, coin}) == 1
    assert Coin().seed(3) == 3
    with pytest.raises(NotImplementedError, match="Coin"):
        coin.to_jsonable()
    with pytest.raises(NotImplementedError, match="Coin"):
        Coin.from_jsonable({})


def test_batches_of_a_space_of_ones_own_go_through_its_sample_and_contains():
    coin = Coin(seed=5)
    batch = coin.sample_batch(4)
    twin = Coin(seed=5)
    assert batch == [twin.sample() for _ in range(4)]
    np.testing.assert_array_equal(coin.contains_batch(["heads", "edge", 3]), [True, False, False])
    with pytest.raises(ValueError, match="batch"):
        coin.contains_batch(3)


def test_an_unseeded_space_draws_its_seed_from_the_operating_system():
    a, b = Discrete(2**60), Discrete(2**60)
    assert a.sample() != b.sample()
    assert a.seed() > 2**64
    assert a.seed() != a.seed()


@given(st.data())
def test_masks_are_respected(data):
    space = data.draw(sts.spaces())
    mask = data.draw(sts.masks(space))
    assert respects(space, mask, space.sample(mask))
    batch = space.sample_batch(3, mask)
    assert batch_space(space, 3).contains(batch)
    if space.holds_data:
        assert all(respects(space, mask, row) for row in iterate(space, batch))


def respects(space, mask, x):
    """Whether x is an element that the mask allows, written down once more and slowly."""
    if not space.contains(x):
        return False
    if mask is None:
        return True
    kind = type(space).__name__
    if kind == "Discrete":
        return mask[x - space.start] == 1
    if kind == "MultiDiscrete":
        values = np.asarray(x, np.int64) - space.start
        return all(follow(mask, index)[values[index]] == 1 for index in np.ndindex(space.nvec.shape))
    if kind == "Box":
        return bool((np.broadcast_to(mask, space.shape) | (x == space.zero())).all())
    if kind == "MultiBinary":
        return bool(((np.asarray(mask) == -1) | (x == (np.asarray(mask) == 1))).all())
    if kind == "MaskedBox":
        return x["mask"].tolist() == [int(flag) for flag in mask]
    if kind == "Dict":
        return all(respects(part, mask.get(key), x[key]) for key, part in space.items())
    if kind == "Tuple":
        return all(respects(part, part_mask, entry) for part, part_mask, entry in zip(space, mask, x, strict=True))
    length, feature_mask = mask
    features = space.elements(x)
    return (length is None or len(features) == length) and all(
        respects(space.feature_space, feature_mask, feature) for feature in features
    )


def follow(nested, index):
    for i in index:
        nested = nested[i]
    return nested
