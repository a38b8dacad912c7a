"""The bases of vector wrappers."""

import asyncio
import pickle

import numpy as np
import pytest

import sekai
from sekai.spaces import Box, Discrete


class Plus(sekai.VecObservationWrapper):
    def observation(self, observations):
        return observations + 10


class Minus(sekai.VecRewardWrapper):
    def reward(self, rewards):
        return -rewards


class Next(sekai.VecActionWrapper):
    def action(self, actions):
        return np.asarray(actions) + 1


class Bare(sekai.VecEnv):
    """A user's batch that knows nothing of masks."""

    def __init__(self):
        super().__init__(2)
        self.observation_space, self.action_space = Box(0, 9, (1,)), Discrete(3)

    def reset(self, *, seed=None, options=None):
        return sekai.VecResetResult(np.zeros((2, 1)), [{}, {}])

    def step(self, actions):
        rewards = np.asarray(actions, float)
        infos = [{"final_observation": np.ones(1)}, {}]
        return sekai.VecStepResult(np.zeros((2, 1)), rewards, np.array([True, False]), np.zeros(2, np.bool_), infos)

    def close(self):
        self.closed = True


def test_observations_rewards_and_actions_are_changed(tick):
    vec = Plus(Minus(Next(sekai.SyncVecEnv([lambda: tick(1)] * 2))))
    assert vec.reset(seed=0).observations[:, 0].tolist() == [10, 10]
    result = vec.step([0, 1])
    assert (result.observations[:, 0].tolist(), result.rewards.tolist()) == ([10, 10], [-1, -2])
    info = result.infos[0]
    assert info["final_observation"][0] == 11
    assert (info["final_info"], info["reset_info"]) == ({"k": 1}, {"fresh": 2})
    assert result.final_lanes.tolist() == [0, 1]
    assert result.final_observations[:, 0].tolist() == [11, 11]
    assert asyncio.run(vec.async_step([1, 2])).rewards.tolist() == [-2, -3]


def test_final_observations_are_of_the_kind_of_observations_without_any_end():
    class Halves(sekai.VecObservationWrapper):
        def __init__(self, venv):
            super().__init__(venv)
            self.observation_space = sekai.Tuple([Box(-np.inf, np.inf, (1,))] * 2)

        def observation(self, observations):
            return observations[:, :1], observations[:, 1:2]

    for make in (sekai.make_vec, lambda *args: sekai.make_vec(*args, vectorization_mode="sync")):
        vec = Halves(make("CartPole-v1", 2))
        vec.reset(seed=0)
        step = vec.step([0, 0])
        assert [part.shape for part in step.final_observations] == [(0, 1)] * 2
        while not step.dones.any():
            step = vec.step([0, 0])
        left, right = step.final_observations
        assert (left.shape, right.shape) == ((step.final_lanes.size, 1),) * 2
        assert step.infos[step.final_lanes[0]]["final_observation"] == (left[0], right[0])


def test_infos_are_sequences_of_dicts(tick):
    vec = Plus(sekai.SyncVecEnv([lambda: tick(1), lambda: tick(2)]))
    vec.reset(seed=0)
    infos = vec.step([0, 1]).infos
    assert len(infos) == 2
    assert infos[-1] == infos[1] == {"k": 1}
    assert infos[:1][0].keys() == infos[0].keys() == {"k", "final_observation", "final_info", "reset_info"}
    assert [list(info) for info in infos] == [list(infos[0]), ["k"]]
    with pytest.raises(IndexError):
        infos[2]
    assert repr(infos) == "FinalObservations(num_envs=2)"
    assert str(pickle.loads(pickle.dumps(infos))[0]) == str(infos[0])


def test_everything_else_is_passed_on(tick):
    base = sekai.SyncVecEnv([tick] * 2, autoreset="next_step")
    vec = Minus(Plus(base))
    assert vec.unwrapped is base
    assert (vec.num_envs, vec.autoreset_mode, vec.autoreset, len(vec)) == (2, "next_step", True, 2)
    assert vec.observation_space is base.observation_space
    vec.autoreset = False
    assert (base.autoreset_mode, vec.autoreset_mode, vec.autoreset) == ("disabled", "disabled", False)
    with pytest.raises(ValueError, match="autoreset"):
        vec.autoreset_mode = "later"
    vec.spec = "spec"
    assert base.spec == "spec"
    vec.set_attr("n", [5, 6])
    assert vec.get_attr("n") == [5, 6]
    assert vec.call("look")[0].shape == (2,)
    assert repr(vec) == f"Minus(Plus({base!r}))"
    with vec as same:
        assert same is vec
    assert (vec.closed, base.closed) == (True, True)
    with pytest.raises(sekai.VecEnvClosed):
        vec.reset()


def test_spaces_can_be_overridden_in_one_layer(tick):
    vec = sekai.VecWrapper(sekai.VecWrapper(sekai.SyncVecEnv([tick] * 2)))
    space = Discrete(3)
    vec.observation_space = vec.action_space = space
    assert vec.observation_space is vec.action_space is space
    assert str(vec.batch_action_space) == "MultiDiscrete([3, 3])"
    assert vec.batch_action_space is vec.batch_action_space
    vec.observation_space = vec.action_space = None
    assert vec.observation_space is vec.venv.observation_space
    assert vec.action_space is vec.venv.action_space


def test_only_batches_are_wrapped(tick):
    with pytest.raises(TypeError, match=r"sekai\.VecEnv"):
        sekai.VecWrapper(tick())
    for base in (sekai.VecObservationWrapper, sekai.VecRewardWrapper, sekai.VecActionWrapper):
        with pytest.raises(TypeError, match="abstract"):
            base(Bare())


def test_a_batch_that_knows_no_masks_is_not_bothered_with_them():
    vec = Plus(Bare())
    assert vec.reset().observations.tolist() == [[10], [10]]
    assert vec.step([1, 2], np.ones(2, np.bool_)).final_observations.tolist() == [[11]]
    with pytest.raises(TypeError, match="mask"):
        vec.step([1, 2], np.array([True, False]))


def test_masks_are_checked(tick):
    vec = Plus(sekai.SyncVecEnv([tick] * 2))
    vec.reset(seed=0)
    with pytest.raises(ValueError, match="mask"):
        vec.step([0, 0], [True])
    with pytest.raises(TypeError, match="mask"):
        vec.reset(mask=[1, 0])


def test_overriding_step_alone_serves_async_too(tick):
    class Half(sekai.VecWrapper):
        def step(self, actions, mask=None):
            result = self.venv.step(actions, mask)
            return sekai.VecStepResult(
                result.observations, result.rewards / 2, result.terminated, result.truncated, result.infos
            )

    vec = Half(sekai.SyncVecEnv([tick] * 2))
    vec.reset(seed=0)
    assert asyncio.run(vec.async_step([2, 4])).rewards.tolist() == [1, 2]


def test_a_stack_stays_async(tick):
    class Aio(tick):
        awaited = 0

        async def async_reset(self, *, seed=None, options=None):
            self.awaited += 1
            return self.reset(seed=seed, options=options)

        async def async_step(self, action):
            self.awaited += 1
            return self.step(action)

    async def run(vec):
        await vec.async_reset(seed=0)
        await vec.async_step([1, 1])

    base = sekai.AsyncVecEnv([Aio] * 2)
    vec = sekai.VecStickyAction(sekai.VecNormalizeReward(sekai.VecActionRepeat(sekai.VecTimeLimit(base, 1), 2)), 0.5)
    asyncio.run(run(Plus(sekai.VecRecordEpisodeStatistics(vec))))
    assert [env.awaited for env in base.envs] == [3, 3]  # one of them for the reset at the limit


def test_batches_without_snapshots_say_so():
    vec = Plus(Bare())
    vec.reset(seed=0)
    with pytest.raises(TypeError, match=r"Bare has no get_state\(\)"):
        vec.get_state()
