"""Discrete: samples, masks, membership and batches."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekai.spaces import Discrete


@pytest.mark.parametrize(
    ("args", "error", "words"),
    [
        ((0,), ValueError, "n must be"),
        ((-3,), ValueError, "n must be"),
        ((2.5,), TypeError, "n must be an int"),
        ((True,), TypeError, "n must be an int"),
        ((3, None, 0.5), TypeError, "start must be an int"),
        ((2, None, 2**63 - 1), ValueError, "fit int64"),
        ((2, None, -(2**63) - 1), ValueError, "fit int64"),
    ],
)
def test_bad_arguments_are_named(args, error, words):
    with pytest.raises(error, match=words):
        Discrete(*args)


def test_seeded_samples():
    assert [int(Discrete(10, seed=0).sample()) for _ in range(2)] == [8, 8]
    space = Discrete(10, seed=0)
    assert [int(space.sample()) for _ in range(12)] == [8, 6, 5, 2, 3, 0, 0, 0, 1, 8, 6, 9]
    assert int(Discrete(10, seed=0, start=5).sample()) == 13
    assert type(space.sample()) is np.intp


@pytest.mark.parametrize(("n", "start"), [(2**63, 0), (2**64, -(2**63)), (1, 2**63 - 1), (1, -(2**63)), (2, 2**63 - 2)])
def test_the_limits_of_int64(n, start):
    space = Discrete(n, start=start, seed=0)
    batch = space.sample_batch(50)
    for x in [*(space.sample() for _ in range(50)), *batch, start, start + n - 1]:
        assert space.contains(x)
    assert space.contains_batch(batch).all()
    if n > 2:  # both ends of the range are reached
        assert batch.max() > start + 0.8 * n
        assert batch.min() < start + 0.2 * n


def test_masked_samples():
    space = Discrete(5, seed=0, start=10)
    assert [int(space.sample([0, 1, 1, 0, 1])) for _ in range(10)] == [14, 12, 12, 11, 11, 11, 11, 11, 11, 14]
    assert int(Discrete(3, seed=0).sample(np.array([False, True, False]))) == 1
    assert {int(space.sample([2, 1, -1, 0, 1])) for _ in range(30)} == {11, 14}  # 2 and -1 allow nothing


@pytest.mark.parametrize(
    ("mask", "words"),
    [
        ([1, 1], r"mask.shape must be \(3,\)"),
        ([[1, 1, 1]], "mask.shape"),
        (1, "mask.shape"),
        ([0, 0, 2], "All actions masked"),
    ],
)
def test_a_bad_mask_is_refused_before_any_draw(mask, words):
    space, twin = Discrete(3, seed=1), Discrete(3, seed=1)
    with pytest.raises(ValueError, match=words):
        space.sample(mask)
    assert space.sample() == twin.sample()


@pytest.mark.parametrize("x", [0, 2, np.int8(1), np.uint64(2), np.array(1), np.intp(0)])
def test_elements(x):
    assert Discrete(3).contains(x) is True


@pytest.mark.parametrize(
    "x",
    [
        -1,
        3,
        2**70,
        True,
        np.True_,
        np.array(True),
        1.0,
        np.float64(1),
        np.array([1]),
        "1",
        None,
        [1],
        np.timedelta64(1, "D"),
    ],
)
def test_non_elements(x):
    assert Discrete(3).contains(x) is False


def test_batches_are_uniform():
    counts = np.bincount(Discrete(4, seed=0).sample_batch(40_000))
    assert np.allclose(counts, 10_000, atol=500)  # 5.8 standard deviations


def test_a_batch_is_an_int64_array():
    batch = Discrete(5, start=2, seed=0).sample_batch(1000)
    assert batch.dtype == np.int64
    assert set(batch.tolist()) == {2, 3, 4, 5, 6}


def test_masks_of_a_batch():
    space = Discrete(3, start=10, seed=0)
    assert set(space.sample_batch(100, [0, 1, 1]).tolist()) == {11, 12}
    masks = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0]])
    assert space.sample_batch(4, masks).tolist() == [10, 11, 12, 11]
    assert space.sample_batch(4, masks.tolist()).tolist() == [10, 11, 12, 11]
    counts = np.bincount(Discrete(3, seed=0).sample_batch(20_000, np.tile([1, 0, 1], (20_000, 1))))
    assert np.allclose(counts, [10_000, 0, 10_000], atol=400)  # 5.7 standard deviations


@pytest.mark.parametrize(
    ("mask", "words"),
    [
        (np.ones((2, 3)), "mask.shape"),
        (np.ones((4, 2)), "mask.shape"),
        ([0, 0, 0], "All actions masked"),
        ([[1, 1, 1], [1, 0, 0], [0, 2, 0], [1, 0, 0]], "All actions masked: row 2"),
    ],
)
def test_a_bad_mask_of_a_batch_is_refused_before_any_draw(mask, words):
    space, twin = Discrete(3, seed=1), Discrete(3, seed=1)
    with pytest.raises(ValueError, match=words):
        space.sample_batch(4, mask)
    assert space.sample_batch(9).tolist() == twin.sample_batch(9).tolist()


@given(
    st.integers(1, 5), st.integers(-4, 4), st.lists(st.integers(-5, 10)), st.sampled_from(["i8", "i1", "u8", "f8", "?"])
)
def test_batch_membership_is_membership_of_the_entries(n, start, entries, dtype):
    space = Discrete(n, start=start)
    batch = np.array(entries, np.int64).astype(dtype)
    assert space.contains_batch(batch).tolist() == [space.contains(x) for x in batch]


def test_batch_membership_of_what_is_no_batch():
    assert Discrete(3).contains_batch([0, 5, 2]).tolist() == [True, False, True]
    assert Discrete(3).contains_batch(np.zeros((2, 1), int)).tolist() == [False, False]
    assert Discrete(3).contains_batch(np.array([2**63], np.uint64)).tolist() == [False]
    for x in (None, 3, np.int64(3), [[1, 2], [1]], {}):
        with pytest.raises(ValueError, match="x must be a batch"):
            Discrete(3).contains_batch(x)


def test_repr_equality_and_json():
    assert repr(Discrete(3)) == "Discrete(3)"
    assert repr(Discrete(3, start=2)) == "Discrete(3, start=2)"
    assert Discrete(3) == Discrete(np.int8(3), seed=1)
    assert Discrete(3) != Discrete(3, start=1)
    assert Discrete(3).to_jsonable() == {"type": "Discrete", "n": 3, "start": 0}
    assert Discrete.from_jsonable({"n": 4}) == Discrete(4)
