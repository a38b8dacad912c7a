"""VecDelayAction and VecDelayObservation."""

import numpy as np
import pytest

import sekai


def test_pending_actions_of_each_lane(meander):
    vec = sekai.VecDelayAction(sekai.SyncVecEnv([meander] * 2, autoreset=False), 2)
    vec.reset(seed=0)
    assert vec.pending_actions == [[], []]
    first = np.array([[1, 1], [2, 2]], np.float32)
    vec.step(first, np.array([True, False]))
    first[:] = 0
    assert [[action.tolist() for action in lane] for lane in vec.pending_actions] == [[[1, 1]], []]
    vec.reset(mask=np.array([True, False]))
    assert vec.pending_actions == [[], []]
    assert vec.noop.tolist() == [0, 0]
    for delay, lengths in ((0, [0, 0]), (1, [1, 1]), (3, [3, 3])):
        vec = sekai.VecDelayAction(sekai.make_vec("CartPole-v1", 2), delay, noop=0)
        vec.reset(seed=0)
        for _ in range(4):
            vec.step([1, 1])
        assert [len(lane) for lane in vec.pending_actions] == lengths


def test_arguments_are_checked(meander):
    base = sekai.SyncVecEnv([lambda: meander(actions=sekai.Discrete(3))])
    for wrap in (sekai.VecDelayObservation, lambda vec, delay: sekai.VecDelayAction(vec, delay, noop=0)):
        with pytest.raises(ValueError, match="delay"):
            wrap(base, -1)
    with pytest.raises(ValueError, match="noop"):
        sekai.VecDelayAction(base, 1)
    with pytest.raises(ValueError, match="padding"):
        sekai.VecDelayObservation(base, 1, padding="edge")


def test_observations_are_copied_in_and_out(meander):
    vec = sekai.VecDelayObservation(sekai.SyncVecEnv([meander] * 2, autoreset=False), 1, padding="reset")
    first = vec.reset(seed=0).observations
    kept = first.copy()
    first[:] = 9
    np.testing.assert_array_equal(vec.step(np.zeros((2, 2), np.float32)).observations, kept)
