"""Actions as kernels take them."""

import numpy as np
import pytest

import sekai
from sekai.error import InvalidAction
from sekai.vector.actions import ActionFormat, ClippedActions, NumbersOnly

BOX = sekai.Box(np.array([-1.0, -2.0], np.float32), np.array([1.0, 2.0], np.float32))
LARGEST = np.finfo(np.float64).max


def test_bounds_of_spaces():
    for space, shape, bounds in (
        (sekai.Discrete(3, start=-1), (), [[-1], [1]]),
        (sekai.MultiDiscrete([2, 3]), (2,), [[0, 0], [1, 2]]),
        (sekai.MultiBinary(2), (2,), [[0, 0], [1, 1]]),
        (BOX, (2,), [[-1.0, -2.0], [1.0, 2.0]]),
    ):
        format = ActionFormat(space)
        assert format.shape == shape
        assert format.bounds.tolist() == format.accepted.tolist() == bounds
        assert format.dtype == (np.float64 if space is BOX else np.int64)
    with pytest.raises(TypeError, match="needs a Discrete"):
        ActionFormat(sekai.Box(0, 9, (2,), np.int64))


def test_a_batch_is_taken_as_it_is_if_it_can_be():
    format = ActionFormat(BOX)
    actions = np.zeros((3, 2))
    assert format.pack(actions, 3) is actions
    for other in (actions.astype(np.float32), actions.astype(int), actions.tolist(), np.zeros((2, 3)).T):
        packed = format.pack(other, 3)
        assert packed.dtype == np.float64
        assert packed.flags.c_contiguous
    with pytest.raises(ValueError, match=r"shape \(3, 2\), got \(2, 2\)"):
        format.pack(np.zeros((2, 2)), 3)
    with pytest.raises(ValueError, match="different lengths"):
        format.pack([[1.0], [1.0, 2.0], [0.0]], 3)
    with pytest.raises(InvalidAction):
        format.pack(np.zeros((3, 2), bool), 3)


def test_huge_integers_do_not_wrap_around():
    format = ActionFormat(sekai.Discrete(3))
    assert format.pack(np.array([2**64 - 1], np.uint64), 1)[0] > 2
    assert format.pack_one(np.array(2**64 - 1, np.uint64))[0] > 2
    for huge in (2**70, np.uint64(2**64 - 1)):
        with pytest.raises(InvalidAction):
            format.pack_one(huge)


def test_one_action_must_be_of_the_spaces_shape_and_kind():
    format = ActionFormat(BOX)
    assert format.pack_one([1, 2]).tolist() == [[1.0, 2.0]]
    for bad in ([1.0], 1.0, [[1.0, 2.0]], [True, False], ["a", "b"], [[1], [2, 3]]):
        with pytest.raises(InvalidAction):
            format.pack_one(bad)
    whole = ActionFormat(sekai.Discrete(3))
    assert whole.pack_one(np.array(2)).tolist() == [2]
    for bad in (True, 1.0, np.array([1]), "1", None):
        with pytest.raises(InvalidAction):
            whole.pack_one(bad)


def test_clipped_actions_may_be_any_finite_numbers():
    format = ClippedActions(BOX)
    assert format.bounds.tolist() == [[-1.0, -2.0], [1.0, 2.0]]
    assert format.accepted.tolist() == [[-LARGEST] * 2, [LARGEST] * 2]


def test_clipped_actions_keep_float32():
    format = ClippedActions(BOX)
    singles = np.zeros((3, 2), np.float32)
    assert format.pack(singles, 3) is singles
    for dtype, packed in ((np.float32, np.float32), (np.float16, np.float64), (int, np.float64)):
        assert format.pack(np.zeros((2, 3), dtype).T, 3).dtype == packed
        assert format.pack_one(np.zeros(2, dtype)).dtype == packed
    assert format.pack_one([1.0, 2.0]).dtype == np.float64


def test_one_clipped_action_may_have_any_shape():
    format = ClippedActions(BOX)
    action = np.array([[0.5, 3.0], [9.0, 9.0]])
    packed = format.pack_one(action)
    assert packed.tolist() == [[0.5, 3.0]]
    assert not np.shares_memory(packed, action)
    with pytest.raises(InvalidAction, match=r"does not lie in Box\(.*\): its size is 1, not 2\.$"):
        format.pack_one([0.5])


@pytest.mark.parametrize("bad", ["ab", None, [True, False], [1j, 2j], [[1], [2, 3]], [1, "a"]])
def test_clipped_actions_must_be_numbers(bad):
    with pytest.raises(TypeError, match="actions must be numbers"):
        ClippedActions(BOX).pack_one(bad)


def test_a_batch_of_clipped_actions_must_have_its_shape():
    format = ClippedActions(BOX)
    with pytest.raises(ValueError, match=r"shape \(3, 2\)"):
        format.pack(np.zeros(2), 3)
    with pytest.raises(TypeError, match="actions must be numbers"):
        format.pack(np.zeros((3, 2), bool), 3)


def test_numbers_only_become_float64():
    format = NumbersOnly(BOX)
    for dtype in (np.float64, np.float32, np.float16, int):
        for packed in (format.pack(np.ones((3, 2), dtype), 3), format.pack_one(np.ones(2, dtype))):
            assert packed.dtype == np.float64
            assert (packed == 1.0).all()


def test_numbers_only_must_be_as_many_as_the_space_has():
    format = NumbersOnly(BOX)
    for action in ([0.5, 3.0], [[0.5], [3.0]], np.array([[[0.5, 3.0]]])):
        assert format.pack_one(action).tolist() == [[0.5, 3.0]]
    for bad in ([0.5], [0.5, 3.0, 1.0], 0.5, []):
        with pytest.raises(InvalidAction, match=rf": its size is {np.size(bad)}, not 2\.$"):
            format.pack_one(bad)
    for bad in ("ab", [True, False], [[1], [2, 3]]):
        with pytest.raises(TypeError, match="actions must be numbers"):
            format.pack_one(bad)
