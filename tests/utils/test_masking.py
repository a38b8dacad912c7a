"""The convention of action masks, for single environments and batches of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekai.error import VecEnvWorkerError
from sekai.spaces import Box, Dict, Discrete, MaskedBox, MultiBinary, MultiDiscrete, Sequence, Tuple, iterate
from sekai.testing import strategies as sts
from sekai.utils.masking import (
    action_mask_space,
    flatten_action_mask,
    get_action_mask,
    stack_action_masks,
    supports_action_mask,
)


class Plain:
    """An environment without a mask."""


class Masked:
    """An environment with one."""

    def __init__(self, mask):
        self.mask = mask

    def action_mask(self):
        return self.mask


class Layered:
    """What wrappers offer: look-up through the layers."""

    def __init__(self, env):
        self.env = env

    def has_attr(self, name):
        return hasattr(self.env, name)

    def get_attr(self, name):
        return getattr(self.env, name)


class Batch:
    """A batch of single environments."""

    def __init__(self, envs, action_space=None):
        self.envs = envs
        self.num_envs = len(envs)
        self.action_space = action_space or Discrete(2)

    def get_attr(self, name):
        return [getattr(env, name) for env in self.envs]

    def call(self, name):
        return [getattr(env, name)() for env in self.envs]


class Lanes(Batch):
    """A batch that knows the masks of all its lanes."""

    def action_mask(self):
        return np.eye(self.num_envs, dtype=bool)


class Outer:
    """A wrapper around a batch."""

    def __init__(self, venv):
        self.venv = venv
        self.num_envs = venv.num_envs
        self.action_space = venv.action_space
        self.get_attr, self.call = venv.get_attr, venv.call


@pytest.mark.parametrize(
    ("env", "mask"),
    [
        (Plain(), None),
        (Masked([1, 0]), [1, 0]),
        (Layered(Plain()), None),
        (Layered(Masked([1, 0])), [1, 0]),
    ],
)
def test_masks_of_single_environments(env, mask):
    assert supports_action_mask(env) == (mask is not None)
    assert get_action_mask(env) == mask


def test_the_attribute_may_be_the_mask_itself():
    env = Plain()
    env.action_mask = [0, 1]
    assert get_action_mask(env) == [0, 1]


def test_masks_of_batches_are_arrays_for_all_lanes():
    batch = Batch([Masked([1, 0]), Masked([False, True]), Masked(None)])
    mask = get_action_mask(batch)
    assert mask.tolist() == [[1, 0], [0, 1], [1, 1]]
    assert (batch.action_space.sample_batch(3, mask)[:2] == [0, 1]).all()
    assert get_action_mask(Outer(batch)).tolist() == mask.tolist()
    assert get_action_mask(Lanes([Plain()] * 2)).tolist() == [[True, False], [False, True]]
    assert get_action_mask(Outer(Lanes([Plain()] * 2))).tolist() == [[True, False], [False, True]]
    assert supports_action_mask(batch)
    assert supports_action_mask(Outer(Lanes([Plain()])))


def test_batches_without_masks():
    for batch in (Batch([Plain(), Plain()]), Outer(Batch([Plain()]))):
        assert not supports_action_mask(batch)
        assert get_action_mask(batch) is None
    assert get_action_mask(Batch([Masked(None), Masked(None)])) is None


@pytest.mark.parametrize(("exc_type", "supported"), [("AttributeError", False), ("PicklingError", True)])
def test_worker_processes_tell_whether_the_attribute_is_missing(exc_type, supported):
    class Remote(Batch):
        def get_attr(self, name):
            raise VecEnvWorkerError(0, exc_type, name, "")

    assert supports_action_mask(Remote([Plain()])) is supported


@given(st.data())
def test_stacked_masks_restrict_each_lane_as_its_own_does(data):
    space = data.draw(st.one_of(sts.discretes(), sts.boxes(), sts.multi_binaries(), sts.multi_discretes()))
    nested = data.draw(st.sampled_from([space, Dict(a=space, b=Discrete(3)), Tuple([space, Discrete(3)])]))
    masks = data.draw(st.lists(sts.masks(nested), min_size=1, max_size=4))
    stacked = stack_action_masks(nested, masks)
    rows = list(iterate(nested, nested.sample_batch(len(masks), stacked)))
    for row, mask in zip(rows, masks, strict=True):
        assert nested.contains(row)
        for part, part_mask, x in leaves(nested, mask, row):
            if not isinstance(part, MultiBinary) and part_mask is not None:
                assert_allowed(part, part_mask, x)


def leaves(space, mask, x):
    if isinstance(space, Dict):
        return [(part, (mask or {}).get(key), x[key]) for key, part in space.items()]
    if isinstance(space, Tuple):
        return list(zip(space, mask or (None, None), x, strict=True))
    return [(space, mask, x)]


def assert_allowed(space, mask, x):
    flags = flatten_action_mask(space, mask)
    if isinstance(space, Box):
        assert (flags | (np.ravel(x) == space.zero().ravel())).all()
    else:
        nvec, start = (
            (space.nvec.ravel(), space.start.ravel())
            if isinstance(space, MultiDiscrete)
            else ([space.n], [space.start])
        )
        chosen = np.cumsum(nvec) - nvec + np.ravel(x).astype(np.int64) - start
        assert flags[chosen].all()


def test_masks_that_do_not_stack():
    with pytest.raises(TypeError, match="do not stack"):
        stack_action_masks(Sequence(Discrete(2)), [(1, None)])
    with pytest.raises(ValueError, match="mask"):
        stack_action_masks(MultiDiscrete([2, 2]), [([1, 1],)])


def test_the_space_of_flat_masks():
    assert action_mask_space(Discrete(3, start=4)) == MultiBinary(3)
    assert action_mask_space(MultiDiscrete([[2, 3]])) == MultiBinary(5)
    assert action_mask_space(Box(0, 1, (2, 2))) == MultiBinary(4)
    assert action_mask_space(Box(0, 1)) == MultiBinary(1)
    for space in (MultiBinary(2), Dict(), Tuple([]), Sequence(Discrete(2)), MaskedBox(0, 1, max_size=2)):
        with pytest.raises(TypeError, match="action space"):
            action_mask_space(space)
        with pytest.raises(TypeError, match="action space"):
            flatten_action_mask(space, None)


@pytest.mark.parametrize(
    ("space", "mask", "flags"),
    [
        (Discrete(3), [1, 0, True], [1, 0, 1]),
        (Discrete(4), [[1, 0], [0, 1]], [1, 0, 0, 1]),
        (MultiDiscrete([2, 3]), ([1, 0], [0, 1, 1]), [1, 0, 0, 1, 1]),
        (MultiDiscrete([2, 3]), np.array([[1, 0, 1], [0, 1, 1]]), [1, 0, 0, 1, 1]),
        (MultiDiscrete([]), [], []),
        (Box(0, 1, (2, 2)), [5, 0], [1, 0, 1, 0]),
        (Box(0, 1), True, [1]),
    ],
)
def test_flat_masks(space, mask, flags):
    flat = flatten_action_mask(space, mask)
    assert flat.dtype == bool
    assert flat.tolist() == flags
    assert action_mask_space(space).contains(flat)


@pytest.mark.parametrize(
    ("space", "mask", "flags"),
    [
        (Discrete(2), [[1, 0], [0, 1], [1, 1]], [[1, 0], [0, 1], [1, 1]]),
        (Discrete(2), [[1, 0]], [[1, 0]]),
        (MultiDiscrete([1, 2]), ([1], [[1, 0], [0, 1]]), [[1, 1, 0], [1, 0, 1]]),
        (MultiDiscrete([1, 2]), np.array([[[1, 9], [0, 1]]]), [[1, 0, 1]]),
        (Box(0, 1, (2,)), [[1, 0], [0, 0]], [[1, 0], [0, 0]]),
    ],
)
def test_flat_masks_of_batches(space, mask, flags):
    assert flatten_action_mask(space, mask, batched=True).tolist() == flags


@pytest.mark.parametrize(
    ("space", "mask", "batched"),
    [
        (Discrete(3), [1, 0], False),
        (Discrete(3), [2, 0, 1], False),
        (Discrete(3), [-1, 0, 1], False),
        (Discrete(3), [1, 0, 1], True),
        (Discrete(3), 1, True),
        (MultiDiscrete([2, 3]), ([1, 0], [1, 1]), False),
        (MultiDiscrete([2, 3]), ([1, 0], [1, 1, 2]), False),
        (MultiDiscrete([2, 3]), ([1, 0], [1, 1, 1]), True),
        (Box(0, 1, (2, 2)), [1, 0, 1], False),
    ],
)
def test_what_is_no_mask_does_not_flatten(space, mask, batched):
    with pytest.raises(ValueError, match=r"mask|broadcast"):
        flatten_action_mask(space, mask, batched)
