"""Action masks as sb3-contrib has them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sekai
from sekai.compat.masks import flat_action_mask, has_flat_masks, nested_action_mask, stacked_action_mask
from sekai.testing import strategies
from sekai.utils.masking import flatten_action_mask


class Masked(sekai.Env):
    """Has a mask, and nothing else."""

    def __init__(self, space, mask):
        self.observation_space, self.action_space, self.mask = sekai.Discrete(1), space, mask

    def reset(self, *, seed=None, options=None): ...

    def step(self, action): ...

    def action_mask(self):
        return self.mask


@pytest.mark.parametrize(
    ("space", "mask", "flat"),
    [
        (sekai.Discrete(3, start=5), [1, 0, 1], [1, 0, 1]),
        (sekai.MultiDiscrete([2, 3]), ([1, 0], [0, 1, 1]), [1, 0, 0, 1, 1]),
        (sekai.MultiDiscrete([2, 3]), np.array([[1, 0, 0], [0, 1, 1]]), [1, 0, 0, 1, 1]),
        (sekai.MultiDiscrete([[2, 1], [1, 2]]), [[[1, 0], [1]], [[0], [1, 1]]], [1, 0, 1, 0, 1, 1]),
        (sekai.Box(0, 1, (2, 2)), [True, False], [1, 0, 1, 0]),
        (sekai.Discrete(3), None, [1, 1, 1]),
    ],
)
def test_flat(space, mask, flat):
    flags = flat_action_mask(sekai.TimeLimit(Masked(space, mask), 3))
    assert flags.dtype == np.bool_
    assert flags.tolist() == [bool(flag) for flag in flat]


def test_spaces_without_flat_masks():
    with pytest.raises(TypeError, match="a flat action mask needs"):
        flat_action_mask(Masked(sekai.MultiBinary(2), [1, -1]))
    assert not has_flat_masks(sekai.MultiBinary(2))


MASKED_SPACES = st.one_of(strategies.discretes(), strategies.multi_discretes(), strategies.boxes())


@settings(deadline=None)
@given(st.data(), MASKED_SPACES)
def test_there_and_back(data, space):
    assert has_flat_masks(space)
    mask = data.draw(strategies.masks(space).filter(lambda mask: mask is not None))
    flat = flatten_action_mask(space, mask)
    again = nested_action_mask(space, flat)
    assert flatten_action_mask(space, again).tolist() == flat.tolist()
    space.seed(0)
    drawn = space.sample(mask=again)
    space.seed(0)
    assert np.array_equal(drawn, space.sample(mask=mask), equal_nan=space.dtype.kind == "f")


def test_wrong_size():
    with pytest.raises(ValueError, match=r"must have shape \(3,\), got \(2,\)"):
        nested_action_mask(sekai.Discrete(3), [True, False])


def test_of_many_lanes():
    space = sekai.MultiDiscrete([2, 3])
    flat = np.array([[1, 0, 0, 0, 1], [1, 1, 1, 1, 1]], bool)
    stacked = stacked_action_mask(space, flat)
    assert stacked.tolist() == [[[True, False, False], [False, False, True]], [[True, True, False], [True] * 3]]
    assert space.sample_batch(2, mask=stacked)[0].tolist() == [0, 2]
