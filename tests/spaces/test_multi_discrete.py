"""MultiDiscrete: construction, samples, masks of both forms, membership and batches."""

import numpy as np
import pytest

from sekai.spaces import MultiDiscrete


def test_the_arguments_are_copied():
    nvec, start = np.array([2, 3]), np.array([1, 1])
    space = MultiDiscrete(nvec, start=start)
    nvec[0], start[0] = 99, 99
    assert (space.nvec.tolist(), space.start.tolist()) == ([2, 3], [1, 1])
    assert space.nvec.dtype == space.start.dtype == np.int64


@pytest.mark.parametrize(
    ("kwargs", "error", "words"),
    [
        ({"nvec": [2, 0]}, ValueError, "nvec must be at least 1"),
        ({"nvec": [2, 3], "start": [1]}, ValueError, "start must have the shape"),
        ({"nvec": [2, 3], "start": 1}, ValueError, "start must have the shape"),
        ({"nvec": [2.5]}, TypeError, "nvec must hold integers"),
        ({"nvec": [True]}, TypeError, "nvec must hold integers"),
        ({"nvec": [2], "start": [0.5]}, TypeError, "start must hold integers"),
        ({"nvec": [2], "dtype": np.float32}, TypeError, "integer dtype"),
        ({"nvec": [2], "dtype": bool}, TypeError, "integer dtype"),
        ({"nvec": [2], "dtype": np.uint8, "start": [-1]}, ValueError, "fit uint8"),
        ({"nvec": [200], "dtype": np.int8}, ValueError, "fit int8"),
        ({"nvec": [2], "start": [2**63 - 1]}, ValueError, "fit int64"),
        ({"nvec": 2, "start": 2**63 - 1}, ValueError, "fit int64"),
        ({"nvec": np.array([2**63], np.uint64)}, ValueError, "nvec must fit int64"),
        ({"nvec": [2**64]}, ValueError, "nvec must fit int64"),
    ],
)
def test_bad_arguments_are_named(kwargs, error, words):
    with pytest.raises(error, match=words):
        MultiDiscrete(**kwargs)


@pytest.mark.parametrize("nvec", [4, [], [[2, 3], [4, 5]], np.zeros((0, 3), int)])
def test_any_rank(nvec):
    space = MultiDiscrete(nvec, seed=0)
    x = space.sample()
    assert isinstance(x, np.ndarray)
    assert x.shape == np.shape(nvec)
    assert space.contains(x)
    assert space.sample_batch(3).shape == (3, *np.shape(nvec))


def test_seeded_samples():
    space = MultiDiscrete([10, 10, 10], seed=0)
    assert [space.sample().tolist() for _ in range(3)] == [[8, 6, 5], [2, 3, 0], [0, 0, 1]]
    space = MultiDiscrete([5, 5], seed=0)
    mask = ([1, 1, 0, 0, 1], [0, 1, 1, 1, 1])
    assert [space.sample(mask).tolist() for _ in range(5)] == [[4, 3], [1, 2], [0, 1], [0, 1], [0, 4]]


def test_the_limits_of_int64():
    space = MultiDiscrete([2, 2**63 - 1], start=[2**63 - 2, -(2**63)], seed=0)
    for x in [*(space.sample() for _ in range(20)), *space.sample_batch(20)]:
        assert space.contains(x)


def test_a_padded_array_means_what_the_nested_mask_does():
    nested, padded = MultiDiscrete([2, 3], seed=4), MultiDiscrete([2, 3], seed=4)
    array = np.array([[0, 1, 1, 1], [1, 0, 1, 0]])  # flags past nvec[i] are ignored
    for _ in range(10):
        assert nested.sample(([0, 1], [1, 0, 1])).tolist() == padded.sample(array).tolist()


@pytest.mark.parametrize(
    ("mask", "words"),
    [
        (np.ones((2, 2)), r"shape \(2, 3\)"),
        (np.ones((3, 3)), r"shape \(2, 3\)"),
        (np.ones(3), r"shape \(2, 3\)"),
        (([1, 1], [1, 1]), r"dimension \(1,\) must have shape \(3,\)"),
        ([[1, 1, 1], [1, 1, 1]], r"dimension \(0,\) must have shape \(2,\)"),
        (([1, 1],), "sequence of 2 masks"),
        (5, "sequence of 2 masks"),
        (([0, 0], [1, 1, 1]), r"All actions masked.*\(0,\)"),
        (([1, 1], [2, 0, -1]), r"All actions masked.*\(1,\)"),
    ],
)
def test_a_bad_mask_is_refused_before_any_draw(mask, words):
    space, twin = MultiDiscrete([2, 3], seed=1), MultiDiscrete([2, 3], seed=1)
    with pytest.raises(ValueError, match=words):
        space.sample(mask)
    assert space.sample().tolist() == twin.sample().tolist()
    with pytest.raises(ValueError, match="mask"):
        space.sample_batch(4, mask)
    assert space.sample_batch(9).tolist() == twin.sample_batch(9).tolist()


def test_masks_of_a_batch():
    space = MultiDiscrete([2, 3], start=[0, 10], dtype=np.int16, seed=0)
    lanes = np.array([[[1, 0, 1], [0, 0, 1]], [[0, 1, 1], [1, 0, 0]]])  # (n, 2, 3)
    for mask in (lanes, (lanes[:, 0, :2], lanes[:, 1]), (lanes[:, 0, :2].tolist(), lanes[:, 1].tolist())):
        batch = space.sample_batch(2, mask)
        assert batch.tolist() == [[0, 12], [1, 10]]
        assert batch.dtype == np.int16
    shared_and_own = ([0, 1], np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0]]))
    assert space.sample_batch(3, shared_and_own).tolist() == [[1, 12], [1, 11], [1, 10]]
    assert set(space.sample_batch(50, ([0, 1], [1, 0, 1]))[:, 1].tolist()) == {10, 12}


@pytest.mark.parametrize(
    ("mask", "words"),
    [
        (np.ones((3, 2, 3)), "one mask, or 4"),
        (([1, 1], np.ones((5, 3))), "one mask, or 4"),
        (np.array([[[1, 1, 0], [1, 1, 1]]] * 3 + [[[0, 0, 1], [1, 1, 1]]]), "All actions masked: row 3.* entry 0"),
    ],
)
def test_a_bad_mask_of_a_batch_is_refused(mask, words):
    with pytest.raises(ValueError, match=words):
        MultiDiscrete([2, 3]).sample_batch(4, mask)


def test_batches_are_uniform_in_each_entry():
    batch = MultiDiscrete([[2, 4]], start=[[-1, 3]], seed=0).sample_batch(40_000)
    assert np.allclose(np.bincount(batch[:, 0, 0] + 1), 20_000, atol=600)  # 6 standard deviations
    assert np.allclose(np.bincount(batch[:, 0, 1] - 3), 10_000, atol=520)


@pytest.mark.parametrize(
    ("x", "inside"),
    [
        ([1, 2], True),
        ((0, 0), True),
        (np.array([1, 2], np.uint8), True),
        (np.array([1.0, 2.0]), False),
        (np.array([True, True]), False),
        ([2, 0], False),
        ([0, -1], False),
        ([0], False),
        ([[0], [1, 2]], False),
        (np.array([2**63, 0], np.uint64), False),
        (3, False),
        (None, False),
    ],
)
def test_membership(x, inside):
    assert MultiDiscrete([2, 3]).contains(x) is inside


def test_batch_membership():
    space = MultiDiscrete([2, 3])
    assert space.contains_batch([[0, 0], [2, 0], [1, 2]]).tolist() == [True, False, True]
    assert space.contains_batch(np.zeros((2, 2))).tolist() == [False, False]
    assert space.contains_batch(np.zeros((2, 3), int)).tolist() == [False, False]
    assert space.contains_batch(np.zeros((0, 2), int)).shape == (0,)
    with pytest.raises(ValueError, match="x must be a batch"):
        space.contains_batch(5)


def test_repr_equality_and_json():
    assert repr(MultiDiscrete([2, 3])) == "MultiDiscrete([2, 3])"
    assert repr(MultiDiscrete([2, 3], start=[1, 0])) == "MultiDiscrete([2, 3], start=[1, 0])"
    assert repr(MultiDiscrete(4)) == "MultiDiscrete(4)"
    assert MultiDiscrete([2, 3]) == MultiDiscrete([2, 3], start=[0, 0], seed=3)
    for other in (MultiDiscrete([2, 3], np.int32), MultiDiscrete([2, 3], start=[0, 1]), MultiDiscrete([[2, 3]])):
        assert MultiDiscrete([2, 3]) != other
    assert MultiDiscrete.from_jsonable({"nvec": [2, 3]}) == MultiDiscrete([2, 3])
