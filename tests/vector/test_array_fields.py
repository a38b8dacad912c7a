"""Kernel envs with arrays per lane, shared arrays, Dict observations and infos that are arrays."""

import copy
import pickle

import numpy as np
import pytest

import sekai
from sekai.kernels import at, kernel, random

LANES, LENGTH = 5, 3


class UrnVecEnv(sekai.KernelVecEnv):
    """Draw balls: each of `length` urns loses what the action and a shared price list say; ends when one is empty."""

    observation_names = ("levels", "last")
    action_space = sekai.Discrete(3)

    class State:
        drawn: int
        levels: np.float64
        history: np.int64

    class Params:
        loss: float = 0.25
        prices: np.float64

    class Info:
        drawn: int
        levels: np.float64
        worth: float
        history: np.int64

    def __init__(self, num_envs, length=LENGTH, **arguments):
        self.length = length
        self.observation_space = sekai.Dict(
            levels=sekai.Box(-9.0, 9.0, (length, 1), np.float32), last=sekai.Box(-1, 2, (1,), np.float32)
        )
        super().__init__(num_envs, prices=np.arange(3.0), **arguments)

    def array_shapes(self):
        return {"levels": (self.length,), "history": (2,)}

    def lane_kwargs(self, i):
        return {"length": self.length, "loss": self._param_rows.of_lane("loss", i)}

    @kernel
    def reset_lane(s, p, rng, i):
        s.drawn[i] = 0
        for k in range(s.levels.shape[1]):
            s.levels[i, k] = 1.0 + random.random(rng, i)
        s.history[i, 0] = s.history[i, 1] = -1

    @kernel
    def step_lane(s, p, rng, action, i):
        s.levels[i, s.drawn[i] % s.levels.shape[1]] -= at(p.loss, i) * p.prices[action[i]]
        s.drawn[i] += 1
        s.history[i, 0], s.history[i, 1] = s.history[i, 1], action[i]
        empty = False
        for k in range(s.levels.shape[1]):
            empty |= s.levels[i, k] < 0.0
        return p.prices[action[i]], empty, False

    @kernel
    def observe_lane(s, p, obs, i):
        for k in range(s.levels.shape[1]):
            obs.levels[i, k, 0] = s.levels[i, k]
        obs.last[i, 0] = s.history[i, 1]

    @kernel
    def inform_lane(s, p, info, i):
        worth = 0.0
        for k in range(s.levels.shape[1]):
            info.levels[i, k] = s.levels[i, k]
            worth += s.levels[i, k]
        info.drawn[i], info.worth[i] = s.drawn[i], worth
        info.history[i, 0], info.history[i, 1] = s.history[i, 0], s.history[i, 1]


class UrnEnv(sekai.KernelEnv):
    batch = UrnVecEnv


class NaiveUrn:
    """The same for one lane, in plain Python."""

    def __init__(self, seed, length=LENGTH):
        self.rng, self.length = np.random.default_rng(seed), length
        self.reset()

    def reset(self):
        self.levels, self.history, self.drawn = 1.0 + self.rng.random(self.length), [-1, -1], 0

    def step(self, action):
        self.levels[self.drawn % self.length] -= 0.25 * action
        self.history = [self.history[1], action]
        self.drawn += 1
        return float(action), bool((self.levels < 0).any())

    def observation(self):
        return {"levels": self.levels[:, None].astype(np.float32), "last": np.array([self.history[1]], np.float32)}

    def info(self):
        worth = 0.0
        for level in self.levels:
            worth += level
        return {"drawn": self.drawn, "levels": self.levels.tolist(), "worth": worth, "history": self.history}


def same(observation, expected):
    assert list(observation) == list(expected)
    for name, part in expected.items():
        np.testing.assert_array_equal(observation[name], part)


def as_lists(info):
    """An info, nested ones included, with lists for arrays."""
    if isinstance(info, dict):
        return {name: as_lists(value) for name, value in info.items()}
    return info.tolist() if isinstance(info, np.ndarray) else info


@pytest.mark.parametrize("length", [LENGTH, 1])
def test_every_lane_is_the_same_env_in_plain_python(length):
    vec = UrnVecEnv(LANES, length=length)
    naive = [NaiveUrn(seed, length) for seed in range(LANES)]
    start = vec.reset(seed=list(range(LANES)))
    actions = np.random.default_rng(0).integers(0, 3, (60, LANES))
    for lane, urn in enumerate(naive):
        same({name: part[lane] for name, part in start.observations.items()}, urn.observation())
        assert as_lists(start.infos[lane]) == urn.info()
        assert list(start.infos[lane]) == ["drawn", "levels", "worth", "history"]
    ends = 0
    for row in actions:
        step = vec.step(row)
        assert step.infos.arrays["levels"].shape == (LANES, length)
        for lane, urn in enumerate(naive):
            reward, terminated = urn.step(int(row[lane]))
            assert (step.rewards[lane], step.terminated[lane]) == (reward, terminated)
            info = step.infos[lane]
            if terminated:
                k = list(step.final_lanes).index(lane)
                same({name: part[k] for name, part in step.final_observations.items()}, urn.observation())
                same(info["final_observation"], urn.observation())
                assert as_lists(info["final_info"]) == urn.info()
                urn.reset()
                assert as_lists(info["reset_info"]) == urn.info()
                ends += 1
            else:
                assert as_lists(info) == urn.info()
            same({name: part[lane] for name, part in step.observations.items()}, urn.observation())
    assert ends > 5


def test_a_single_env_is_a_lane():
    env, urn = UrnEnv(), NaiveUrn(7)
    start = env.reset(seed=7)
    same(start.observation, urn.observation())
    assert as_lists(start.info) == urn.info()
    step = env.step(2)
    urn.step(2)
    same(step.observation, urn.observation())
    same(env.observe(), urn.observation())
    assert as_lists(step.info) == urn.info()


def test_snapshots_hold_the_arrays():
    vec = UrnVecEnv(LANES)
    vec.reset(seed=1)
    vec.step(np.full(LANES, 1))
    state = vec.get_state()
    actions = np.random.default_rng(2).integers(0, 3, (20, LANES))
    first = [vec.step(row) for row in actions]
    vec.set_state(pickle.loads(pickle.dumps(state)))
    again = [vec.step(row) for row in actions]
    for one, other in zip(first, again, strict=True):
        same(one.observations, other.observations)
        assert list(map(as_lists, one.infos)) == list(map(as_lists, other.infos))
    vec.set_state(vec.get_state([3]), [0])
    assert vec.get_state([0]).arrays[0].tolist() == vec.get_state([3]).arrays[0].tolist()


def test_snapshots_fit_only_batches_with_the_same_arrays():
    vec, longer, dearer = UrnVecEnv(1), UrnVecEnv(1, length=4), UrnVecEnv(1)
    dearer.prices = np.array([0.0, 1.0, 2.5])
    for other in (vec, longer, dearer):
        other.reset(seed=0)
    with pytest.raises(ValueError, match="its shapes is"):
        vec.set_state(longer.get_state())
    with pytest.raises(ValueError, match="'prices', which all its lanes share, is not the batch's"):
        vec.set_state(dearer.get_state())


def test_a_lane_and_a_copy_go_on_as_the_batch():
    vec = UrnVecEnv(LANES)
    vec.reset(seed=4)
    vec.step(np.full(LANES, 2))
    env, twin = vec.lane(2), copy.deepcopy(vec)
    mine, theirs, its = vec.step(np.full(LANES, 1)), twin.step(np.full(LANES, 1)), env.step(1)
    same(theirs.observations, mine.observations)
    same(its.observation, {name: part[2] for name, part in mine.observations.items()})
    vec.step(np.full(LANES, 2))
    same(twin.reset(mask=np.zeros(LANES, bool)).observations, mine.observations)


def test_a_lane_is_made_with_what_lane_kwargs_says():
    vec = UrnVecEnv(2, length=4, loss=sekai.PerLane([0.25, 0.5]))
    assert vec.lane_kwargs(1) == {"length": 4, "loss": 0.5}
    vec.reset(seed=0)
    env = vec.lane(1)
    assert (env.observation_space["levels"].shape, env.loss) == ((4, 1), 0.5)
    plain = sekai.make_vec("Pendulum-v1", 2, debug=True, g=sekai.PerLane([9.0, 10.0]))
    assert plain.lane_kwargs(1).items() >= {"debug": True, "math": "own", "g": 10.0}.items()


def test_results_stay_as_they_are():
    vec = UrnVecEnv(LANES)
    vec.reset(seed=0)
    held = vec.step(np.full(LANES, 1)).observations["levels"]
    before = held.copy()
    for _ in range(4):
        vec.step(np.full(LANES, 2))
    np.testing.assert_array_equal(held, before)


def test_arrays_that_nobody_holds_are_used_again():
    vec = UrnVecEnv(LANES)
    vec.reset(seed=0)
    places = []
    for _ in range(8):
        result = vec.step(np.full(LANES, 1))
        places.append(tuple(part.ctypes.data for part in result.observations.values()))
        kept = np.empty(1000)  # takes the place of arrays that were let go
        del result, kept
    assert len(set(places[2:])) == 2


@pytest.mark.parametrize("mode", ["same_step", "next_step"])
def test_fused_rollouts_record_what_steps_show(mode):
    vec, twin = UrnVecEnv(LANES, autoreset=mode), UrnVecEnv(LANES, autoreset=mode)
    start = twin.reset(seed=3)
    names = ["observations", "actions", "rewards", "terminated", "truncated", "levels", "drawn"]
    rollout = sekai.rollout(vec, sekai.policies.Random(), 40, seed=3, record=names)
    assert rollout.infos["levels"].shape == (40, LANES, LENGTH)
    observations = start.observations
    for t in range(40):
        same({name: part[t] for name, part in rollout.observations.items()}, observations)
        step = twin.step(rollout.actions[t])
        observations = step.observations
        np.testing.assert_array_equal(step.rewards, rollout.rewards[t])
        ran = step.valid
        np.testing.assert_array_equal(step.infos.arrays["levels"][ran], rollout.infos["levels"][t][ran])
        if step.final_lanes.size:
            found = rollout.next_observations["levels"][t][step.final_lanes]
            np.testing.assert_array_equal(found, step.final_observations["levels"])
    same(rollout.last_observations, observations)
    assert len(rollout.episodes.returns) > 5


def test_debug_mode_runs_the_same():
    vec, plain = UrnVecEnv(2), UrnVecEnv(2, debug=True)
    vec.reset(seed=5), plain.reset(seed=5)
    for action in (1, 2, 2, 2, 2, 1, 2):
        mine, theirs = vec.step(np.full(2, action)), plain.step(np.full(2, action))
        same(theirs.observations, mine.observations)
        assert list(map(as_lists, theirs.infos)) == list(map(as_lists, mine.infos))


def test_arrays_are_checked():
    with pytest.raises(TypeError, match="must be annotated float, int or bool, or as an array"):

        class Wrong(sekai.KernelVecEnv):
            class State:
                level: np.int8
