"""VecFrameStackObservation."""

import numpy as np
import pytest

import sekai


def test_stacks_of_a_kernel_env():
    vec, bare = (sekai.make_vec("CartPole-v1", 3, max_episode_steps=4) for _ in range(2))
    vec = sekai.VecFrameStackObservation(vec, 2)
    assert vec.observation_space.shape == (2, 4)
    frames = [bare.reset(seed=0).observations]
    np.testing.assert_array_equal(vec.reset(seed=0).observations, np.stack([frames[0]] * 2, axis=1))
    for _ in range(4):
        raw, result = bare.step([0, 1, 0]), vec.step([0, 1, 0])
        frames.append(raw.observations)
        stacked = np.stack(frames[-2:], axis=1)
        if raw.final_lanes.size:
            finals = np.stack([frames[-2], raw.final_observations], axis=1)
            np.testing.assert_array_equal(result.final_observations, finals)
            np.testing.assert_array_equal(result.infos[2]["final_observation"], finals[2])
            stacked = np.stack([raw.observations] * 2, axis=1)
        np.testing.assert_array_equal(result.observations, stacked)
    assert raw.final_lanes.size == 3


def test_results_stay_as_they_are(meander):
    vec = sekai.VecFrameStackObservation(sekai.SyncVecEnv([meander] * 2, autoreset=False), 2)
    results = [vec.reset(seed=0).observations]
    results += [vec.step(np.zeros((2, 2), np.float32)).observations for _ in range(3)]
    kept = [result.copy() for result in results]
    results[-1][:] = 99
    vec.step(np.zeros((2, 2), np.float32))
    vec.reset(seed=1)
    for result, copy in zip(results[:-1], kept[:-1], strict=True):
        np.testing.assert_array_equal(result, copy)


def test_arguments_are_checked(meander):
    base = sekai.SyncVecEnv([meander])
    with pytest.raises(ValueError, match="num_stack"):
        sekai.VecFrameStackObservation(base, 0)
    with pytest.raises(ValueError, match="padding"):
        sekai.VecFrameStackObservation(base, 2, padding="edge")
