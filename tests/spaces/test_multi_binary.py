"""MultiBinary: construction, samples, masks, membership and batches."""

import numpy as np
import pytest

from sekai.spaces import MultiBinary


def test_n_is_a_tuple_of_ints():
    assert MultiBinary(3).n == MultiBinary((np.int64(3),)).n == MultiBinary(np.array([3])).n == (3,)
    assert MultiBinary([2, 3]).n == (2, 3)
    assert type(MultiBinary(np.int64(3)).n[0]) is int


@pytest.mark.parametrize(
    ("n", "error"), [(2.5, TypeError), (True, TypeError), ([2, 1.0], TypeError), (-1, ValueError), ("3", TypeError)]
)
def test_bad_sizes_are_refused(n, error):
    with pytest.raises(error, match="n must"):
        MultiBinary(n)


def test_seeded_samples():
    space = MultiBinary(8, seed=0)
    assert [space.sample().tolist() for _ in range(2)] == [[0, 1, 1, 1, 1, 1, 0, 1], [0, 1, 1, 1, 1, 1, 0, 0]]
    assert space.sample().dtype == np.int8
    assert isinstance(MultiBinary(()).sample(), np.ndarray)


def test_masks():
    space, twin = MultiBinary(4, seed=0), MultiBinary(4, seed=0)
    assert space.sample([-1] * 4).tolist() == twin.sample().tolist()
    assert space.sample([1, 0, 2, 1]).tolist() == [1, 0, 0, 1]
    assert space.sample().tolist() == twin.sample().tolist()  # a mask without free bits draws nothing
    with pytest.raises(ValueError, match=r"mask.shape must be \(4,\)"):
        space.sample([1, 1])


def test_masks_of_a_batch():
    space = MultiBinary(3, seed=0)
    batch = space.sample_batch(200, [1, 0, -1])
    assert batch.dtype == np.int8
    assert (batch[:, 0] == 1).all()
    assert (batch[:, 1] == 0).all()
    assert set(batch[:, 2].tolist()) == {0, 1}
    assert space.sample_batch(2, [[1, 0, 1], [0, 1, 0]]).tolist() == [[1, 0, 1], [0, 1, 0]]
    with pytest.raises(ValueError, match="mask"):
        space.sample_batch(4, np.ones((2, 3)))


def test_batches_are_fair():
    batch = MultiBinary((2, 2), seed=0).sample_batch(10_000)
    assert np.allclose(batch.mean(axis=0), 0.5, atol=0.03)  # 6 standard deviations


@pytest.mark.parametrize(
    ("x", "inside"),
    [
        ([0, 1, 1], True),
        (np.array([True, False, True]), True),
        (np.array([0, 1, 1], np.uint8), True),
        (np.array([0.0, 1.0, 1.0]), False),
        (np.array([0, 2, 1]), False),
        ([0, -1, 1], False),
        ([0, 1], False),
        ([[0], [1, 1]], False),
        (7, False),
        (None, False),
    ],
)
def test_membership(x, inside):
    assert MultiBinary(3).contains(x) is inside


def test_batch_membership():
    space = MultiBinary((1, 2))
    assert space.contains_batch([[[0, 1]], [[1, 2]]]).tolist() == [True, False]
    assert space.contains_batch(np.ones((2, 1, 2), bool)).tolist() == [True, True]
    assert space.contains_batch(np.ones((2, 1, 2))).tolist() == [False, False]
    with pytest.raises(ValueError, match="x must be a batch"):
        space.contains_batch(None)


def test_repr_equality_and_json():
    assert repr(MultiBinary(3)) == repr(MultiBinary((3,))) == "MultiBinary(3)"
    assert repr(MultiBinary([2, 3])) == "MultiBinary((2, 3))"
    assert MultiBinary((2, 3)) == MultiBinary([2, 3], seed=2)
    assert MultiBinary((2, 3)) != MultiBinary((3, 2))
    assert MultiBinary.from_jsonable(MultiBinary((2, 3)).to_jsonable()) == MultiBinary((2, 3))
