"""Results of single-agent and multi-agent environments."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekai.core.result import MAResetResult, MAStepResult, ResetResult, StepResult

EXAMPLES = [
    StepResult(1, 2.0, False, True, {"k": 3}),
    ResetResult(1, {"k": 3}),
    MAStepResult({"a": 1}, {"a": 2.0}, {"a": False}, {"a": True}, {"a": {}}),
    MAResetResult({"a": 1}, {"a": {}}),
]
each_example = pytest.mark.parametrize("result", EXAMPLES, ids=lambda result: type(result).__name__)


@each_example
def test_results_are_frozen_and_slotted(result):
    for field in dataclasses.fields(result):
        with pytest.raises(dataclasses.FrozenInstanceError, match=f"cannot assign to field '{field.name}'"):
            setattr(result, field.name, None)
    assert not hasattr(result, "__dict__")
    with pytest.raises(TypeError):
        iter(result)


@each_example
def test_results_pickle_copy_compare_and_replace(result):
    for twin in (pickle.loads(pickle.dumps(result)), copy.copy(result), copy.deepcopy(result)):
        assert type(twin) is type(result)
        assert twin == result
    changed = dataclasses.replace(result, info={"new": 1})
    assert changed.info == {"new": 1}
    assert result.info != {"new": 1}
    assert changed != result


@each_example
def test_results_take_all_fields_by_position_or_by_name(result):
    fields = [field.name for field in dataclasses.fields(result)]
    values = [getattr(result, name) for name in fields]
    assert type(result)(*values) == type(result)(**dict(zip(fields, values, strict=True))) == result
    with pytest.raises(TypeError):
        type(result)(*values[:-1])


def test_repr():
    assert repr(StepResult(1, 2.0, False, True, {})) == (
        "StepResult(observation=1, reward=2.0, terminated=False, truncated=True, info={})"
    )
    assert repr(ResetResult(observation=1, info={})) == "ResetResult(observation=1, info={})"


def test_results_are_generic():
    assert StepResult[int](1, 0.0, False, False, {}) == StepResult(1, 0.0, False, False, {})
    assert MAStepResult[int, str].__args__ == (int, str)


@pytest.mark.parametrize("terminated", [False, True])
@pytest.mark.parametrize("truncated", [False, True])
def test_done_is_either_flag(terminated, truncated):
    assert StepResult(0, 0.0, terminated, truncated, {}).done is (terminated or truncated)


def test_done_passes_numpy_flags_through():
    assert isinstance(StepResult(0, 0.0, np.False_, np.True_, {}).done, np.bool_)


def test_a_reset_is_never_done():
    assert ResetResult(0, {}).done is False
    assert MAResetResult({}, {}).all_done is False
    assert MAResetResult({}, {}).any_done is False


@given(
    terminated=st.dictionaries(st.sampled_from("abc"), st.booleans()),
    truncated=st.dictionaries(st.sampled_from("abc"), st.booleans()),
)
def test_multi_agent_flags_are_matched_by_agent(terminated, truncated):
    result = MAStepResult({}, {}, terminated, truncated, {})
    agents = terminated.keys() | truncated.keys()
    done = {a for a in agents if terminated.get(a, False) or truncated.get(a, False)}
    assert result.any_done is bool(done)
    assert result.all_done is (bool(agents) and done == agents)
