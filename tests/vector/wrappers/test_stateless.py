"""Vector wrappers that only look at one batch at a time: what they refuse, and what `test_twins` does not see."""

import numpy as np
import pytest
from hypothesis import given, settings

import sekai
from sekai import Box, Dict, Discrete, Sequence
from sekai.spaces import concatenate, flatten
from sekai.testing import strategies as sts
from sekai.vector.wrappers.flatten_observation import flatten_rows


def batch(meander, space=None, actions=None):
    return sekai.SyncVecEnv([lambda: meander(space, actions)] * 2)


@given(sts.spaces().filter(lambda space: space.is_flattenable and space.holds_data))
@settings(max_examples=50)
def test_rows_are_flattened_as_elements_are(space):
    elements = [space.sample() for _ in range(3)]
    rows = flatten_rows(space, concatenate(space, elements), 3)
    np.testing.assert_array_equal(rows, np.stack([flatten(space, element) for element in elements]))


@pytest.mark.parametrize(
    ("wrap", "space", "actions", "error"),
    [
        (sekai.VecFlattenObservation, Sequence(Discrete(2)), None, NotImplementedError),
        (lambda vec: sekai.VecRescaleObservation(vec, 0, 1), Discrete(2), None, TypeError),
        (lambda vec: sekai.VecRescaleObservation(vec, 1, 1), None, None, ValueError),
        (lambda vec: sekai.VecDtypeObservation(vec, "f4"), Discrete(2), None, TypeError),
        (lambda vec: sekai.VecFilterObservation(vec, ["z"]), Dict({"a": Discrete(2)}), None, KeyError),
        (lambda vec: sekai.VecFilterObservation(vec, "a"), Dict({"a": Discrete(2)}), None, TypeError),
        (sekai.VecPadSequenceObservation, None, None, TypeError),
        (sekai.VecClipAction, None, Discrete(2), TypeError),
        (lambda vec: sekai.VecRescaleAction(vec, 0, 1), None, Discrete(2), TypeError),
        (lambda vec: sekai.VecRescaleAction(vec, 1, 0), None, None, ValueError),
        (lambda vec: sekai.VecClipReward(vec, 1, 1), None, None, ValueError),
    ],
)
def test_what_does_not_fit_is_refused(meander, wrap, space, actions, error):
    with pytest.raises(error):
        wrap(batch(meander, space, actions))


def test_a_batch_without_masks_has_none_to_show():
    with pytest.raises(TypeError, match="action_mask"):
        sekai.VecActionMaskObservation(sekai.make_vec("CartPole-v1", 2))


def test_the_mask_of_a_final_observation_allows_everything(meander):
    vec = sekai.VecActionMaskObservation(batch(meander))
    vec.reset(seed=0)
    result = vec.step(np.zeros((2, 2), np.float32))
    while not result.final_lanes.size:
        result = vec.step(np.zeros((2, 2), np.float32))
    assert result.final_observations["action_mask"].tolist() == [[1, 1]] * result.final_lanes.size


def test_rescaled_actions_can_be_reversed(meander):
    vec = sekai.VecRescaleAction(batch(meander), -1, 1)
    assert vec.action_space == Box(-1, 1, (2,))
    np.testing.assert_array_equal(vec.reverse_action(np.array([[2, 0], [-2, 1]])), [[1, 0], [-1, 0.5]])
