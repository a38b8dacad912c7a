"""The base class of all batches, as a user's own batch sees it."""

import asyncio

import numpy as np
import pytest

import sekai


class Two(sekai.VecEnv):
    """A batch of two that calls no constructor and knows no masks."""

    def __init__(self):
        self.num_envs, self.observation_space, self.action_space = 2, sekai.Box(0, 1, (1,)), sekai.Discrete(2)

    def reset(self, *, seed=None, options=None):
        return "reset", seed, options

    def step(self, actions):
        return "step", actions

    def close(self):
        self.closed = True


def test_a_subclass_need_not_call_the_constructor():
    vec = Two()
    assert (vec.autoreset, vec.autoreset_mode, vec.closed, vec.spec) == (True, "same_step", False, None)
    assert (len(vec), repr(vec)) == (2, "Two(num_envs=2)")
    with vec as same:
        assert same is vec
    assert vec.closed


def test_what_every_batch_must_define():
    with pytest.raises(TypeError, match="abstract"):
        sekai.VecEnv(1)
    for use in (lambda: Two().call("x"), lambda: Two().get_attr("x"), lambda: Two().set_attr("x", 1)):
        with pytest.raises(NotImplementedError):
            use()


def test_async_methods_run_the_sync_ones():
    vec = Two()
    assert asyncio.run(vec.async_step([1, 0])) == ("step", [1, 0])
    assert asyncio.run(vec.async_reset(seed=2, options={})) == ("reset", 2, {})
    assert Two.async_step.__qualname__ == "Two.async_step"


def test_an_override_that_chains_is_applied_once():
    class Doubled(Two):
        def step(self, actions):
            return super().step(actions) * 2

        async def async_step(self, actions):
            return await super().async_step(actions) * 2

    assert asyncio.run(Doubled().async_step(1)) == Doubled().step(1) == ("step", 1) * 2


def test_batch_spaces_are_kept_while_the_space_is_the_same_object():
    vec = Two()
    space = vec.batch_action_space
    assert space == sekai.MultiDiscrete([2, 2])
    assert vec.batch_action_space is space
    vec.action_space = sekai.Discrete(3)
    assert vec.batch_action_space == sekai.MultiDiscrete([3, 3])
    assert vec.batch_observation_space == sekai.Box(0, 1, (2, 1))


@pytest.mark.parametrize(
    ("mode", "name"),
    [(True, "same_step"), (False, "disabled"), ("next_step", "next_step"), ("disabled", "disabled")],
)
def test_autoreset_modes(mode, name):
    vec = Two()
    vec.autoreset = mode
    assert vec.autoreset_mode == name
    assert vec.autoreset == (name != "disabled")


@pytest.mark.parametrize("mode", ["never", 1.5, None])
def test_unknown_autoreset_modes(mode):
    with pytest.raises(ValueError, match="autoreset must be a bool or one of"):
        Two().autoreset_mode = mode


def test_masks_that_choose_everything_are_no_masks():
    vec = Two()
    assert vec._check_mask(None) is None
    assert vec._check_mask([True, True]) is None
    assert vec._check_mask((True, False)).tolist() == [True, False]
    with pytest.raises(TypeError, match="mask must hold bools, got an array of float64"):
        vec._check_mask(np.zeros(2))
    with pytest.raises(ValueError, match=r"shape \(2,\), got shape \(\)"):
        vec._check_mask(True)


def test_seeds_and_options_are_expanded_to_one_per_lane():
    vec = Two()
    assert vec._expand_seeds(None) == [None, None]
    assert vec._expand_seeds(7) == sekai.lane_seeds(7, 2)
    assert vec._expand_seeds([1, None]) == [1, None]
    assert vec._expand_options({"a": 1}) == [{"a": 1}] * 2
    assert vec._expand_options([1, 2]) == [1, 2]
    with pytest.raises(ValueError, match="seed must have one entry per lane, 2, got 3"):
        vec._expand_seeds([1, 2, 3])


def test_a_closed_batch_says_so():
    vec = Two()
    vec._check_open()
    vec.close()
    with pytest.raises(sekai.VecEnvClosed):
        vec._check_open()
