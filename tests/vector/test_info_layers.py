"""Lazy infos of wrapped batches."""

import numpy as np
import pytest

import sekai
from sekai.stats import EpisodeBatch
from sekai.vector.info_layers import EpisodeInfos, FinalObservations, InfoLayer, place, with_count


def result_of(vec, steps=1):
    vec.reset(seed=0)
    for _ in range(steps):
        result = vec.step(np.zeros(vec.num_envs, np.int64))
    return result


def test_a_layer_shows_what_is_inside():
    result = result_of(sekai.make_vec("CartPole-v1", 3), 9)
    layer = InfoLayer(result)
    assert str(list(layer)) == str(list(result.infos))
    assert list(layer.arrays) == ["elapsed_steps"]
    assert layer.valid.tolist() == [True] * 3
    assert (layer.final_lanes is result.final_lanes, layer.final_observations is result.final_observations) == (
        True,
        True,
    )
    assert layer != "infos"


def test_lists_inside_have_no_arrays(tick):
    layer = InfoLayer(result_of(sekai.SyncVecEnv([lambda: tick(1)] * 2)))
    assert not hasattr(layer, "arrays")
    assert layer.final_lanes.tolist() == [0, 1]
    assert layer.final_observations.shape == (2, 2)
    assert layer.valid.tolist() == [True, True]


def test_final_observations_are_replaced_row_by_row(tick):
    vec = sekai.SyncVecEnv([lambda: tick(2), lambda: tick(1), lambda: tick(1)])
    finals = np.array([[5.0, 5.0], [7.0, 7.0]])
    layer = FinalObservations(result_of(vec), vec.observation_space, finals)
    assert [info.get("final_observation", np.zeros(0)).tolist() for info in layer] == [[], [5, 5], [7, 7]]
    layer[1]["final_observation"][:] = 0
    assert layer[1]["final_observation"].tolist() == [5, 5]
    assert layer.final_observations is finals


def test_episodes_are_added(tick):
    vec = sekai.SyncVecEnv([lambda: tick(1)] * 2)
    lanes = np.array([1])
    episodes = EpisodeBatch(lanes, np.ones(1), lanes, np.zeros(1), 1.0, lanes == 1, lanes == 0)
    layer = EpisodeInfos(result_of(vec), episodes)
    assert ["episode" in info for info in layer] == [False, True]
    assert layer[1]["episode"] == episodes[0]
    assert "episode" not in layer[1]["final_info"]


def test_counts_go_into_the_final_info_too():
    info = {"k": 1, "final_info": {"k": 1}}
    assert with_count(info, "n", 3) == {"k": 1, "n": 3, "final_info": {"k": 1, "n": 3}}
    assert with_count({}, "n", 3) == {"n": 3}
    assert info == {"k": 1, "final_info": {"k": 1}}


def test_places():
    lanes = np.array([2, 5])
    assert [place(lanes, i) for i in range(7)] == [None, None, 0, None, None, 1, None]
    with pytest.raises(TypeError):
        hash(InfoLayer(None))
