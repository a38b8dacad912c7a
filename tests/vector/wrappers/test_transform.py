"""VecTransformObservation and VecTransformReward."""

import numpy as np
import pytest

import sekai
from sekai import Box


def test_functions_get_whole_batches(meander):
    sizes = []

    def func(batch):
        sizes.append(len(batch))
        return batch[:, :1]

    vec = sekai.VecTransformObservation(sekai.SyncVecEnv([meander] * 3), func, Box(-4, 4, (1,), np.float64))
    assert vec.func is func
    assert vec.reset(seed=0).observations.shape == (3, 1)
    result = vec.step(np.zeros((3, 2), np.float32))
    while not result.final_lanes.size:
        result = vec.step(np.zeros((3, 2), np.float32))
    assert set(sizes) == {3, 1}  # final observations come one by one
    assert result.final_observations.shape == (result.final_lanes.size, 1)


def test_rewards_become_one_float_per_lane(meander):
    base = sekai.SyncVecEnv([meander] * 2)
    base.reset(seed=0)
    actions = np.zeros((2, 2), np.float32)
    assert sekai.VecTransformReward(base, lambda rewards: [1, True]).step(actions).rewards.dtype == np.float64
    for func in (lambda rewards: 1.0, lambda rewards: rewards[:1], lambda rewards: rewards[:, None]):
        with pytest.raises(ValueError, match=r"shape \(2,\)"):
            sekai.VecTransformReward(base, func).step(actions)


@pytest.mark.parametrize("wrap", [sekai.VecTransformObservation, sekai.VecTransformReward])
def test_a_function_is_needed(meander, wrap):
    base = sekai.SyncVecEnv([meander])
    for arguments in ((), (None,), (3,)):
        with pytest.raises(TypeError, match="func"):
            wrap(base, *arguments)
    with pytest.raises(TypeError, match="fn"):
        wrap(base, fn=float)
