"""Results of vector environments, and stacked infos."""

import dataclasses
import pickle
from collections.abc import Sequence

import numpy as np
import pytest

from sekai.vector.result import VecResetResult, VecStepResult, stack_infos


def batch(observations, infos, terminated=None):
    """A step result of as many lanes as there are infos."""
    n = len(infos)
    flags = np.zeros(n, np.bool_)
    return VecStepResult(observations, np.zeros(n), flags if terminated is None else terminated, flags, infos)


def test_results_are_frozen_and_slotted():
    result = VecResetResult(np.zeros(2), [{}, {}])
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'infos'"):
        result.infos = []
    assert not hasattr(result, "__dict__")
    assert VecStepResult[int].__args__ == (int,)
    assert pickle.loads(pickle.dumps(result)).infos == [{}, {}]


def test_dones():
    terminated, truncated = np.array([True, False, False]), np.array([False, False, True])
    result = VecStepResult(np.zeros(3), np.zeros(3), terminated, truncated, [{}, {}, {}])
    assert result.dones.tolist() == [True, False, True]
    assert result.dones.dtype == np.bool_
    assert VecResetResult(np.zeros(3), [{}, {}, {}]).dones.tolist() == [False] * 3


def test_valid_rows_are_those_that_are_not_mere_resets():
    result = batch(np.zeros(3), [{}, {"reset": True}, {"reset": False}])
    assert result.valid.tolist() == [True, False, True]
    assert result.valid.dtype == np.bool_


def test_ends_of_episodes_from_plain_infos():
    observations = np.zeros((3, 2), np.float32)
    infos = [{"final_observation": [1, 2]}, {}, {"final_observation": np.array([3.0, 4.0])}]
    result = batch(observations, infos)
    assert result.final_lanes.tolist() == [0, 2]
    assert result.final_lanes.dtype == np.int64
    assert result.final_observations.tolist() == [[1, 2], [3, 4]]
    assert result.final_observations.dtype == np.float32


def test_final_observations_have_the_structure_of_observations():
    observations = {"x": np.zeros((2, 3)), "n": np.zeros(2, np.int64), "words": ((), ("a",))}
    nothing = batch(observations, [{}, {}]).final_observations
    assert nothing["x"].shape == (0, 3)
    assert nothing["n"].shape == (0,)
    assert nothing["words"] == ()
    last = {"x": np.ones(3), "n": 4, "words": ("a", "b")}
    one = batch(observations, [{}, {"final_observation": last}]).final_observations
    assert one["x"].tolist() == [[1.0, 1.0, 1.0]]
    assert one["n"].tolist() == [4]
    assert one["words"] == (("a", "b"),)


def test_infos_that_know_better_are_asked():
    class Known(Sequence):
        valid = np.array([True])
        final_lanes = np.array([0])
        final_observations = np.array([[7.0]])

        def __len__(self):
            return 1

        def __getitem__(self, index):
            raise AssertionError("no dict is needed")

    result = batch(np.zeros((1, 1)), Known())
    assert result.valid is Known.valid
    assert result.final_lanes is Known.final_lanes
    assert result.final_observations is Known.final_observations


def test_stack_infos_keeps_what_all_have_in_the_order_of_the_first():
    stacked = stack_infos([{"b": 1, "a": [1, 2], "x": 0}, {"a": [3, 4], "b": 2}])
    assert list(stacked) == ["b", "a"]
    assert stacked["b"].tolist() == [1, 2]
    assert stacked["a"].tolist() == [[1, 2], [3, 4]]
    assert stack_infos([]) == {}
    assert stack_infos([{"a": {"k": 1}}])["a"].dtype == object


def test_stack_infos_refuses_ragged_values():
    with pytest.raises(ValueError, match="inhomogeneous"):
        stack_infos([{"a": [1]}, {"a": [1, 2]}])
