"""Batches of environments that run one after the other: errors, life cycle, and what the dtypes are."""

import asyncio

import numpy as np
import pytest

import sekai


@pytest.fixture(params=[sekai.SyncVecEnv, sekai.AsyncVecEnv])
def batch(request):
    """A class whose environments live in this process."""
    return request.param


def test_copy_has_no_effect(tick):
    vec = sekai.SyncVecEnv([tick], copy=False)
    first = vec.reset(seed=0).observations
    vec.step([0])
    assert first[0, 0] == 0


def test_sequences_in_results_are_not_those_of_the_envs(batch):
    class Scroll(sekai.Env):
        observation_space = sekai.Sequence(sekai.Box(0, 9, (1,)), stack=True)
        action_space = sekai.Discrete(2)

        def reset(self, *, seed=None, options=None):
            self.view = np.zeros((2, 1), np.float32)
            return sekai.ResetResult(self.view, {})

        def step(self, action):
            self.view += 1
            return sekai.StepResult(self.view, 0.0, False, False, {})

    with batch([Scroll] * 2) as vec:
        results = [vec.reset(), vec.step([0, 0]), vec.step([0, 0])]
        assert [result.observations[1].tolist() for result in results] == [[[t], [t]] for t in range(3)]


def test_classes_are_generic():
    assert sekai.SyncVecEnv[np.ndarray, np.ndarray].__args__ == (np.ndarray, np.ndarray)


def test_results_have_the_dtypes_of_the_observations_and_of_the_contract():
    class Odd(sekai.Env):
        observation_space = sekai.Box(0, 9, (2,), np.float32)
        action_space = sekai.Discrete(2)

        def reset(self, *, seed=None, options=None):
            return sekai.ResetResult(np.array([0.1, 2.5]), {})

        def step(self, action):
            return sekai.StepResult([1, 2], np.float32(0.25), np.bool_(True), 0, {})

    vec = sekai.SyncVecEnv([Odd] * 2, autoreset=False)
    assert vec.reset().observations.dtype == np.float64
    result = vec.step([0, 0])
    assert result.observations.tolist() == [[1, 2], [1, 2]]
    assert (result.rewards.dtype, result.rewards.tolist()) == (np.float64, [0.25, 0.25])
    assert (result.terminated.dtype, result.terminated.tolist()) == (np.bool_, [True, True])
    assert (result.truncated.dtype, result.truncated.tolist()) == (np.bool_, [False, False])


def test_a_generator_is_used_itself(batch, tick):
    generator = np.random.default_rng(3)
    vec = batch([tick] * 2)
    vec.reset(seed=[generator, 1])
    assert vec.envs[0].rng is generator
    vec.close()


def test_an_error_lets_the_others_finish_and_stepping_go_on(batch, tick):
    vec = batch([lambda: tick(9, faults={1: "raise"}), tick, tick])
    vec.reset(seed=0)
    with pytest.raises(LookupError, match="no data"):
        vec.step([0, 0, 0])
    assert vec.get_attr("steps") == [1, 1, 1]
    assert vec.step([0, 0, 0]).observations[:, 0].tolist() == [2, 2, 2]
    vec.close()


def test_the_error_of_the_lowest_lane_is_raised(batch, tick):
    class Worse(tick):
        def step(self, action):
            raise ZeroDivisionError

    vec = batch([tick, lambda: tick(faults={1: "raise"}), Worse])
    vec.reset(seed=0)
    with pytest.raises(LookupError):
        vec.step([0, 0, 0])
    vec.close()


def test_a_lane_whose_reset_failed_is_not_stepped_until_a_reset_succeeds(batch, tick):
    class Stubborn(tick):
        broken = False

        def reset(self, *, seed=None, options=None):
            if self.broken:
                raise LookupError("no episode")
            return super().reset(seed=seed, options=options)

    vec = batch([lambda: Stubborn(1), tick])
    vec.reset(seed=0)
    vec.set_attr("broken", True)
    with pytest.raises(LookupError, match="no episode"):
        vec.step([0, 0])
    assert vec.get_attr("steps") == [1, 1]
    for _ in range(2):
        with pytest.raises(sekai.ResetRequired, match="last reset of lane 0 failed"):
            vec.step([0, 0])
    with pytest.raises(sekai.ResetRequired, match="last reset of lane 0 failed"):
        vec.step([0, 0], mask=[False, True])
    assert vec.get_attr("steps")[0] == 1
    vec.set_attr("broken", False)
    vec.reset(mask=[True, False])
    assert vec.step([0, 0]).dones[0]
    vec.close()


def test_a_batch_whose_first_reset_failed_has_not_started(batch, tick):
    vec = batch([lambda: tick(faults={"reset": "raise"}), tick])
    with pytest.raises(LookupError):
        vec.reset(seed=0)
    with pytest.raises(sekai.ResetRequired, match="for all lanes"):
        vec.step([0, 0])
    vec.close()


def test_a_factory_that_fails_leaves_no_env_open(batch, tick):
    made = []

    def good():
        made.append(tick())
        return made[-1]

    def bad():
        raise KeyError("no such thing")

    with pytest.raises(KeyError, match="no such thing") as caught:
        batch([good, good, bad, good])
    assert caught.value.__cause__ is None
    assert [env.closed for env in made] == [1, 1]


def test_envs_of_different_spaces_are_closed(batch, tick):
    made = []

    class Other(tick):
        def __init__(self):
            super().__init__()
            made.append(self)
            self.observation_space = sekai.Discrete(len(made))

    with pytest.raises(sekai.SpaceMismatch, match="observation_space of sub-env 1"):
        batch([Other, Other])
    assert [env.closed for env in made] == [1, 1]


def test_closing_asks_every_env_and_raises_the_first_error(batch, tick):
    class Bad(tick):
        def close(self):
            super().close()
            raise KeyError("close")

    vec = batch([tick, Bad, tick, Bad])
    with pytest.raises(KeyError, match="close"):
        vec.close()
    assert vec.closed
    assert [env.closed for env in vec.envs] == [1, 1, 1, 1]
    vec.close()
    assert [env.closed for env in vec.envs] == [1, 1, 1, 1]
    assert vec.get_attr("closed") == [1, 1, 1, 1]


def test_attributes_that_are_missing_are_attribute_errors(batch, tick):
    vec = batch([tick])
    for use in (vec.get_attr, vec.call):
        with pytest.raises(AttributeError, match="missing"):
            use("missing")
    vec.close()


def test_attributes_of_objects_that_are_no_envs():
    class Duck:
        observation_space, action_space, value = sekai.Discrete(2), sekai.Discrete(2), 1

    vec = sekai.SyncVecEnv([Duck])
    vec.set_attr("value", 2)
    assert vec.call("value") == vec.get_attr("value") == [2]


def test_masks_of_actions_may_be_missing_in_some_lanes(tick):
    class Masked(tick):
        def action_mask(self):
            return np.arange(10) < 1

    vec = sekai.SyncVecEnv([tick, Masked])
    assert vec.action_mask().sum(axis=1).tolist() == [10, 1]


def test_what_is_not_an_error_of_an_env_is_not_held_back(tick):
    class Leaving(tick):
        def step(self, action):
            raise SystemExit(3)

    vec = sekai.SyncVecEnv([Leaving, tick])
    vec.reset()
    with pytest.raises(SystemExit):
        vec.step([0, 0])


def test_async_methods_run_the_sync_ones(tick):
    vec = sekai.SyncVecEnv([tick] * 2)
    asyncio.run(vec.async_reset(seed=1))
    assert asyncio.run(vec.async_step([1, 2], mask=[True, False])).rewards.tolist() == [1.0, 0.0]


def test_a_subclass_that_overrides_step_is_awaited_too(batch, tick):
    class Doubled(batch):
        def step(self, actions, mask=None):
            return "own step"

    vec = Doubled([tick])
    assert asyncio.run(vec.async_step([0])) == "own step"
    vec.close()
