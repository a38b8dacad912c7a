"""Infos of gymnasium's batches as one dict per lane."""

import numpy as np
import pytest

import sekai
from sekai.compat.lane_infos import LaneInfos

SPACE = sekai.Box(0, 9, (1,))
ALL, NONE = np.ones(3, bool), np.zeros(3, bool)


def test_a_dict_per_lane():
    nested = {"x": np.array([1.5, 0, 2.5]), "_x": np.array([True, False, True])}
    infos = LaneInfos(
        {
            "count": np.array([1, 2, 3]),
            "rows": np.arange(6).reshape(3, 2),
            "_rows": np.array([True, True, False]),
            "name": np.array(["a", None, None], object),
            "_name": np.array([True, False, False]),
            "nested": nested,
            "_nested": np.array([True, False, True]),
            "all": "lanes",
            "_private": np.array([7, 8, 9]),
        },
        ALL,
        NONE,
        SPACE,
    )
    assert len(infos) == 3
    rows = [info.pop("rows", np.empty(0)).tolist() for info in infos]
    assert rows == [[0, 1], [2, 3], []]
    whole = [dict(info) for info in infos]
    for info in whole:
        info.pop("rows", None)
    assert whole == [
        {"count": 1, "name": "a", "nested": {"x": 1.5}, "all": "lanes", "_private": 7},
        {"count": 2, "all": "lanes", "_private": 8},
        {"count": 3, "nested": {"x": 2.5}, "all": "lanes", "_private": 9},
    ]
    assert infos[-1]["count"] == infos[1:][1]["count"] == 3
    assert type(infos[0]["count"]) is int
    assert repr(infos) == "LaneInfos(num_envs=3)"
    with pytest.raises(IndexError):
        infos[3]


def test_lanes_that_ended():
    finals = np.empty(3, object)
    finals[1] = np.float32([4])
    ended = np.array([False, True, False])
    final_info = {"steps": np.array([0, 5, 0]), "_steps": ended}
    raw = {"final_obs": finals, "_final_obs": ended, "final_info": final_info, "_final_info": ended}
    infos = LaneInfos({**raw, "steps": np.array([3, 0, 4]), "_steps": ALL}, ALL, NONE, SPACE)
    assert infos.final_lanes.tolist() == [1]
    assert infos.final_observations.tolist() == [[4.0]]
    assert infos[0] == {"steps": 3}
    info = infos[1]
    assert info.pop("final_observation").tolist() == [4.0]
    assert info == {"steps": 5, "final_info": {"steps": 5}, "reset_info": {"steps": 0}}


def test_nobody_ended():
    infos = LaneInfos({}, ALL, NONE, SPACE)
    assert infos.final_lanes.shape == (0,)
    assert infos.final_observations.shape == (0, 1)
    assert list(infos) == [{}, {}, {}]


def test_lanes_that_were_reset_or_waited():
    reset = np.array([True, False, False])
    infos = LaneInfos({"steps": np.array([0, 1, 2])}, np.array([False, True, False]), reset, SPACE)
    assert list(infos) == [{"steps": 0, "reset": True}, {"steps": 1}, {}]


def test_later_writes_change_nothing():
    steps = np.array([1, 2, 3])
    infos = LaneInfos({"steps": steps, "deep": {"steps": steps}}, ALL, NONE, SPACE)
    steps[:] = 9
    assert infos[0] == {"steps": 1, "deep": {"steps": 1}}
