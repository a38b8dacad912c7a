"""Rollouts that are stepped from Python, of batches of every kind."""

import numpy as np
import pytest

import sekai
from sekai.utils.leaves import copied


class Sums(sekai.Env):
    """Nested observations and actions; an episode ends when the sum of its actions reaches 6."""

    def __init__(self):
        self.observation_space = sekai.Dict(
            {"sum": sekai.Box(0, np.inf, (2,), np.float64), "last": sekai.Tuple([sekai.Discrete(4)])}
        )
        self.action_space = sekai.Dict({"add": sekai.Discrete(4), "scale": sekai.Box(0, 1, (), np.float32)})

    def reset(self, *, seed=None, options=None):
        self._set_rng(seed)
        self.sum, self.last = 0.0, self.rng.integers(4)
        return sekai.ResetResult(self.look(), {})

    def step(self, action):
        self.sum += int(action["add"])
        self.last = action["add"]
        return sekai.StepResult(self.look(), float(action["scale"]) + self.rng.random(), self.sum >= 6, False, {})

    def look(self):
        return {"sum": np.array([self.sum, 1.0]), "last": (self.last,)}


class Words(sekai.Env):
    """Observations of any length."""

    def __init__(self):
        self.observation_space = sekai.Sequence(sekai.Discrete(5))
        self.action_space = sekai.Discrete(2)

    def reset(self, *, seed=None, options=None):
        self._set_rng(seed)
        self.word = (1,)
        return sekai.ResetResult(self.word, {})

    def step(self, action):
        self.word = (*self.word, int(action))
        return sekai.StepResult(self.word, 1.0, len(self.word) == 4, False, {})


class Walk(sekai.NativeVecEnv):
    """A random walk in NumPy."""

    def __init__(self, num_envs, **kwargs):
        super().__init__(num_envs, sekai.Box(-np.inf, np.inf, (1,)), sekai.Discrete(2), **kwargs)
        self.x = np.zeros(num_envs)

    def _reset_envs(self, indices, options):
        self.x[indices] = self.rng.normal(size=len(indices))

    def _observe(self):
        return self.x[:, None].astype(np.float32)

    def _step(self, actions):
        self.x += 2 * np.asarray(actions) - 1
        return -np.abs(self.x), np.abs(self.x) > 3, np.zeros(self.num_envs, bool), {}


def sums(mode="same_step", n=3):
    vec = sekai.SyncVecEnv([Sums] * n, autoreset=mode)
    vec.reset(seed=2)
    return vec


def choose(observations):
    """A policy for sums."""
    total = observations["sum"][:, 0]
    return {"add": total.astype(int) % 3 + 1, "scale": (total / 10).astype(np.float32)}


def cartpoles(n, mode, limit=25):
    """A batch of single CartPoles in a Python loop."""
    vec = sekai.SyncVecEnv([lambda: sekai.make("CartPole-v1", max_episode_steps=limit)] * n, autoreset=mode)
    vec.reset(seed=3)
    return vec


def test_a_batch_of_single_envs_gives_what_the_kernel_env_gives(lib, mode):
    def policy(observations):
        return (observations[:, 2] + observations[:, 3] > 0).astype(np.int64)

    found = sekai.rollout(cartpoles(9, mode), policy, 60)
    want = sekai.rollout(lib.make(n=9, mode=mode), policy, 60)
    assert want.episodes.returns.size > 8
    lib.assert_same(found, want)


@pytest.mark.parametrize("kind_", ["async", "processes", "wrapper", "numpy"])
def test_other_batches_give_what_stepping_them_gives(lib, kind_, mode):
    makers = {
        "async": lambda: sekai.AsyncVecEnv([lambda: sekai.make("CartPole-v1", max_episode_steps=9)] * 3),
        "processes": lambda: sekai.ProcVecEnv([lambda: sekai.make("CartPole-v1", max_episode_steps=9)] * 3),
        "wrapper": lambda: sekai.VecRecordEpisodeStatistics(sekai.make_vec("CartPole-v1", 3, max_episode_steps=9)),
        "numpy": lambda: Walk(3, max_episode_steps=9),
    }

    def make():
        vec = makers[kind_]()
        vec.autoreset_mode = mode
        vec.reset(seed=4)
        vec.step(np.array([0, 1, 1]))
        return vec

    actions = np.random.default_rng(0).integers(0, 2, (25, 3))
    with make() as vec, make() as other:
        found = sekai.rollout(vec, actions, 25)
        observations = found.observations[0]
        for t, row in enumerate(actions):
            assert lib.bits(observations) == lib.bits(found.observations[t])
            result = other.step(row)
            observations = result.observations
            for name in ("rewards", "terminated", "truncated", "valid"):
                assert lib.bits(getattr(result, name)) == lib.bits(getattr(found, name)[t]), name
        assert lib.bits(observations) == lib.bits(found.last_observations)
    assert np.array_equal(found.actions, actions)


def test_nested_observations_and_actions(mode):
    vec, other = sums(mode), sums(mode)
    found = sekai.rollout(vec, choose, 12)
    observations, ends = other.reset(mask=np.zeros(3, bool)).observations, []
    for t in range(12):
        actions = choose(observations)
        result = other.step(actions)
        for name in ("add", "scale"):
            assert np.array_equal(found.actions[name][t], actions[name])
        assert np.array_equal(found.observations["sum"][t], observations["sum"])
        assert np.array_equal(found.observations["last"][0][t], observations["last"][0])
        assert np.array_equal(found.rewards[t], result.rewards)
        observations = copied(result.observations)
        true = copied(observations)
        for lane in result.final_lanes:
            final = result.infos[lane]["final_observation"]
            true["sum"][lane], true["last"][0][lane] = final["sum"], final["last"][0]
        ends.append(true)
    assert found.actions["scale"].dtype == np.float32
    assert np.array_equal(found.last_observations["sum"], observations["sum"])
    assert np.array_equal(found.next_observations["sum"], [end["sum"] for end in ends])
    assert np.array_equal(found.next_observations["last"][0], [end["last"][0] for end in ends])
    assert found.episodes.lanes.size > 2
    assert found.infos == {}


def test_observations_of_any_length():
    vec = sekai.SyncVecEnv([Words] * 2)
    found = sekai.rollout(vec, np.ones((4, 2), int), 4, seed=0)
    assert found.observations[:, 0].tolist() == [(1,), (1, 1), (1, 1, 1), (1,)]
    assert found.next_observations[:, 1].tolist() == [(1, 1), (1, 1, 1), (1, 1, 1, 1), (1, 1)]


def test_random_actions_of_any_batch():
    found, again = (sekai.rollout(sums(), "random", 8, seed=5) for _ in range(2))
    vec = sums()
    halves = [sekai.rollout(vec, "random", 4, seed=5), sekai.rollout(vec, sekai.policies.Random(), 4)]
    for name in ("add", "scale"):
        assert np.array_equal(found.actions[name], again.actions[name])
        assert np.array_equal(found.actions[name], np.concatenate([half.actions[name] for half in halves]))
    assert np.array_equal(found.rewards, again.rewards)


def test_random_actions_do_not_come_from_an_env_own_space():
    vec, other = sums(), sums()
    other.action_space.seed(1)
    other.action_space.sample()
    first, second = (sekai.rollout(batch, "random", 8, seed=5).actions["add"] for batch in (vec, other))
    assert np.array_equal(first, second)


def test_statistics_of_stepped_rollouts(lib, mode):
    def policy(observations):
        return (observations[:, 2] > 0).astype(np.int64)

    kernel, single = lib.make(n=9, mode=mode), cartpoles(9, mode)
    bare = [sekai.rollout(vec, policy, 60, record=None) for vec in (kernel, single)]
    assert bare[0].statistics == bare[1].statistics
    assert bare[0].statistics.num_episodes > 8
    assert [part.episodes for part in bare] == [None, None]


def test_episodes_of_a_kernel_env_are_counted_from_their_beginning(lib, mode):
    """In other batches nobody knows what was before the rollout."""
    actions = np.random.default_rng(0).integers(0, 2, (40, 9))
    whole = sekai.rollout(lib.make(n=9, mode=mode), actions, 40).episodes
    later = whole.end_steps >= 11
    rows = iter(actions[11:])
    for policy in (actions[11:], lambda observations: next(rows)):
        vec = lib.make(n=9, mode=mode)
        for row in actions[:11]:
            vec.step(row)
        found = sekai.rollout(vec, policy, 29).episodes
        assert np.array_equal(found.lengths, whole.lengths[later])
        assert np.array_equal(found.returns, whole.returns[later])
    single = cartpoles(9, mode)
    for row in actions[:11]:
        single.step(row)
    found = sekai.rollout(single, actions[11:], 29).episodes
    assert np.array_equal(found.end_steps + 11, whole.end_steps[later])
    assert (found.lengths <= found.end_steps + 1).all()


def test_a_policy_that_changes_its_mind_about_precision_is_refused(lib):
    vec = lib.make("Pendulum-v1", 2)
    kinds = iter([np.float32, np.float64])
    with pytest.raises(TypeError, match="actions of one dtype, got float64 in step 1"):
        sekai.rollout(vec, lambda observations: np.zeros((2, 1), next(kinds)), 2)


def test_a_function_may_choose_what_it_may_not(lib):
    vec = lib.make(n=2)
    with pytest.raises(sekai.InvalidAction, match="lane 1"):
        sekai.rollout(vec, lambda observations: np.array([0, 2]), 2)
    assert not vec._book_row("elapsed").any()


def test_a_policy_that_overwrites_observations_does_not_change_what_is_recorded(lib):
    def overwriting(observations):
        actions = (observations[:, 2] > 0).astype(np.int64)
        observations[...] = 0.0
        return actions

    want = sekai.rollout(lib.make(n=4), lambda observations: (observations[:, 2] > 0).astype(np.int64), 30)
    found = sekai.rollout(lib.make(n=4), overwriting, 30)
    assert want.observations.any(axis=(0, 1)).all()
    lib.assert_same(found, want)


class Still(sekai.finance.RewardFunction):
    """A reward in Python."""

    def __call__(self, outcome):
        return outcome.equity


def test_random_actions_of_a_kernel_env_that_calls_python_are_seeded():
    vec = sekai.make_vec("Trading-v0", 3, reward=Still())
    first, again = (sekai.rollout(vec, "random", 20, seed=seed).actions for seed in (5, 5))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, sekai.rollout(vec, "random", 20, seed=6).actions)
