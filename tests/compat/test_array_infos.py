"""Infos of a batch as gymnasium has them."""

import copy
import pickle

import numpy as np
import pytest
from gymnasium.vector import VectorEnv

import sekai
from sekai.compat.array_infos import ArrayInfos, reset_infos, step_infos
from sekai.kernels import kernel, random

N = 6


def adder(n):
    """gymnasium's own way to collect the infos of n lanes."""
    env = VectorEnv()
    env.num_envs = n
    return env._add_info


ADD = adder(N)


class CountVecEnv(sekai.KernelVecEnv):
    """Ends at random, and tells how."""

    class State:
        steps: int
        luck: float

    class Info:
        steps: int
        luck: float
        lucky: bool

    observation_space = sekai.Box(0, np.inf, (2,), np.float64)
    action_space = sekai.Discrete(2)

    @kernel
    def reset_lane(s, p, rng, i):
        s.steps[i], s.luck[i] = 0, random.random(rng, i)

    @kernel
    def step_lane(s, p, rng, action, i):
        s.steps[i] += 1
        s.luck[i] = random.random(rng, i)
        return 1.0, s.luck[i] < 0.3, False

    @kernel
    def observe_lane(s, p, obs, i):
        obs[i, 0], obs[i, 1] = s.steps[i], s.luck[i]

    @kernel
    def inform_lane(s, p, info, i):
        info.steps[i], info.luck[i], info.lucky[i] = s.steps[i], s.luck[i], s.luck[i] < 0.3


class CountEnv(sekai.KernelEnv):
    batch = CountVecEnv


def by_dicts(infos):
    """The same infos, of a batch that has nothing but dicts."""
    return list(infos)


def assert_equal(first, second):
    assert dict(first).keys() == dict(second).keys()
    for key, value in first.items():
        other = second[key]
        if isinstance(value, dict):
            assert_equal(value, other)
        else:
            assert value.dtype == other.dtype
            same = [np.array_equal(a, b) for a, b in zip(value, other, strict=True)]
            assert all(same), (key, value, other)


def run(vec, steps=12):
    """Results of a batch, and what its infos are as arrays."""
    start = vec.reset(seed=1)
    yield start, reset_infos(start.infos, ADD)
    for _ in range(steps):
        result = vec.step(np.zeros(N, np.int64))
        yield result, step_infos(result, ADD)


@pytest.mark.parametrize("mode", ["same_step", "next_step", "disabled"])
@pytest.mark.parametrize("limit", [None, 4])
@pytest.mark.parametrize(
    "wrap", [None, lambda vec: sekai.VecTransformObservation(vec, lambda x: 2 * x, vec.observation_space)]
)
def test_arrays_and_dicts_give_the_same(mode, limit, wrap):
    vec = CountVecEnv(N, autoreset=mode, max_episode_steps=limit)
    ends = 0
    for result, infos in run(vec if wrap is None else wrap(vec)):
        plain = copy.copy(result)
        if isinstance(result, sekai.VecStepResult):
            flags = result.rewards, result.terminated, result.truncated
            plain = sekai.VecStepResult(result.observations, *flags, by_dicts(result.infos))
            ends += result.dones.sum()
            assert_equal(infos, step_infos(plain, ADD))
        else:
            assert_equal(infos, reset_infos(by_dicts(result.infos), ADD))
    assert ends > N


def test_same_step_tells_what_lanes_ended_with():
    for result, infos in run(CountVecEnv(N, max_episode_steps=4)):
        lanes = getattr(result, "final_lanes", np.empty(0, int))
        assert ("final_obs" in infos) is bool(lanes.size)
        if lanes.size:
            ended = np.isin(np.arange(N), lanes)
            assert infos["_final_obs"].tolist() == infos["_final_info"].tolist() == ended.tolist()
            assert infos["final_obs"].dtype == object
            assert [row is None for row in infos["final_obs"]] == (~ended).tolist()
            assert np.stack(infos["final_obs"][ended]).tolist() == result.final_observations.tolist()
            assert infos["final_info"]["steps"][ended].tolist() == result.final_observations[:, 0].tolist()
            assert infos["steps"].tolist() == result.observations[:, 0].tolist()
            assert infos["_steps"].all()
            assert infos["_elapsed_steps"].tolist() == (~ended).tolist()
            assert not infos["elapsed_steps"][ended].any()
            assert "elapsed_steps" in infos["final_info"]


def test_next_step_tells_the_infos_of_resets():
    waiting = np.zeros(N, bool)
    for result, infos in run(CountVecEnv(N, autoreset="next_step", max_episode_steps=4)):
        assert infos["_steps"].all()
        assert infos["steps"].tolist() == result.observations[:, 0].tolist()
        if isinstance(result, sekai.VecStepResult):
            assert infos["_elapsed_steps"].tolist() == (~waiting).tolist()
            assert infos["elapsed_steps"].tolist() == np.where(waiting, 0, infos["steps"]).tolist()
            assert "reset" not in infos
        waiting = result.dones


def test_lanes_left_out_have_no_infos():
    vec = CountVecEnv(N)
    vec.reset(seed=0)
    mask = np.arange(N) < 2
    infos = reset_infos(vec.reset(mask=mask).infos, ADD)
    assert infos["_luck"].tolist() == mask.tolist()
    assert not infos["luck"][2:].any()


def test_episodes():
    vec = sekai.VecRecordEpisodeStatistics(CountVecEnv(N, max_episode_steps=2))
    *_, (result, infos) = run(vec, 2)
    assert infos["_episode"].tolist() == result.dones.tolist()
    assert [None if stats is None else stats.episode_length for stats in infos["episode"]] == [
        2 if done else None for done in result.dones
    ]
    plain = sekai.VecStepResult(
        result.observations, result.rewards, result.terminated, result.truncated, by_dicts(result.infos)
    )
    assert step_infos(plain, ADD)["_episode"].tolist() == infos["_episode"].tolist()


def test_composite_final_observations():
    class Pair(sekai.Env):
        observation_space = sekai.Dict({"a": sekai.Box(0, 9, (1,)), "b": sekai.Tuple([sekai.Discrete(9)])})
        action_space = sekai.Discrete(1)

        def reset(self, *, seed=None, options=None):
            return sekai.ResetResult({"a": np.zeros(1, np.float32), "b": (0,)}, {})

        def step(self, action):
            return sekai.StepResult({"a": np.ones(1, np.float32), "b": (3,)}, 0.0, True, False, {"name": "x"})

    with sekai.SyncVecEnv([Pair] * 2) as vec:
        vec.reset()
        infos = step_infos(vec.step(np.zeros(2, int)), adder(2))
    assert infos["final_obs"][1]["a"].tolist() == [1.0]
    assert infos["final_obs"][1]["b"] == (3,)
    assert infos["final_info"]["name"].tolist() == ["x", "x"]
    assert "name" not in infos


class TestArrayInfos:
    def make(self):
        self.calls = 0

        def fill():
            self.calls += 1
            return {"a": 1, "b": 2}

        return ArrayInfos.later(fill)

    @pytest.mark.parametrize(
        "look",
        [
            dict,
            list,
            len,
            repr,
            bool,
            reversed,
            copy.copy,
            copy.deepcopy,
            lambda infos: infos["a"],
            lambda infos: "a" in infos,
            lambda infos: infos == {},
            lambda infos: infos.get("a"),
            lambda infos: infos.items(),
            lambda infos: {**infos},
            lambda infos: infos | {},
            lambda infos: {} | infos,
            lambda infos: infos.setdefault("c", 3),
            lambda infos: pickle.dumps(infos),
            lambda infos: {}.update(infos),
        ],
    )
    def test_it_is_filled_once_when_it_is_looked_at(self, look):
        infos = self.make()
        assert self.calls == 0
        look(infos)
        look(infos)
        assert self.calls == 1

    def test_it_is_a_dict(self):
        infos = self.make()
        assert isinstance(infos, dict)
        infos["c"] = 3
        assert infos == {"a": 1, "b": 2, "c": 3}
        assert {**infos} == dict(infos) == copy.deepcopy(infos) == pickle.loads(pickle.dumps(infos)) == infos
        assert infos | {"d": 4} == {"a": 1, "b": 2, "c": 3, "d": 4}
        assert type(infos)(x=1) == {"x": 1}
        infos.clear()
        assert not infos
