"""Which arrays a rollout records, and the memory they take."""

import warnings

import numpy as np
import pytest

import sekai
from sekai.rollouts import recording


def test_shapes_and_dtypes(lib):
    found = sekai.rollout(lib.make("Tank-v0", 3), "random", 5, record=(*recording.ARRAYS, "lost", "level"))
    kinds = {name: (getattr(found, name).shape, getattr(found, name).dtype) for name in lib.FIELDS}
    assert kinds == {
        "observations": ((5, 3, 2), np.float32),
        "last_observations": ((3, 2), np.float32),
        "actions": ((5, 3, 2), np.float64),
        "rewards": ((5, 3), np.float64),
        "terminated": ((5, 3), np.bool_),
        "truncated": ((5, 3), np.bool_),
        "valid": ((5, 3), np.bool_),
    }
    assert {name: (array.shape, array.dtype) for name, array in found.infos.items()} == {
        "lost": ((5, 3), np.int64),
        "level": ((5, 3), np.float64),
    }


@pytest.mark.parametrize("record", [(), ["rewards"], ("elapsed_steps", "actions"), {"terminated": 1}])
@pytest.mark.parametrize("policy", ["random", lambda observations: np.ones(7, int)])
def test_only_what_was_asked_for_is_recorded(lib, record, policy):
    found = sekai.rollout(lib.make(), policy, 30, record=record)
    there = {name for name in recording.ARRAYS if getattr(found, name) is not None} | found.infos.keys()
    assert there == set(record)
    assert (found.valid is None) == (not record)
    assert found.episodes.returns.size > 0
    assert found.episodes.final_observations.shape == (0, 4)


def test_given_actions_are_recorded_as_a_copy(lib):
    actions = np.ones((5, 7), np.int64)
    for record in (("actions",), ("rewards",)):
        found = sekai.rollout(lib.make(), actions, 5, record=record)
        assert (found.actions is None) == ("actions" not in record)
        if found.actions is not None:
            assert np.array_equal(found.actions, actions)
            assert not np.shares_memory(found.actions, actions)


def test_valid_takes_no_memory_where_all_rows_are(lib, mode):
    found = sekai.rollout(lib.make(mode=mode), "random", 60)
    assert found.valid.all() == (mode == "same_step")
    assert found.valid.strides == ((0, 0) if mode == "same_step" else (7, 1))


# ---- out -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["random", "function", "actions"])
def test_out_is_overwritten(lib, name, mode):
    actions = np.random.default_rng(0).integers(0, 2, (30, 7))
    policy = {"random": "random", "function": lambda observations: actions[0], "actions": actions}[name]
    record = (*recording.ARRAYS, "elapsed_steps")
    vec = lib.make(mode=mode)
    first = sekai.rollout(vec, "random", 30, record=record)
    want = sekai.rollout(lib.make(mode=mode, seed=9), policy, 30, record=record)
    found = sekai.rollout(vec, policy, 30, record=record, seed=9, out=first)
    lib.assert_same(found, want)
    assert found is not first
    for field in (*recording.ARRAYS, "last_observations"):
        assert np.shares_memory(getattr(found, field), getattr(first, field)), field
    assert np.shares_memory(found.infos["elapsed_steps"], first.infos["elapsed_steps"])


def test_out_may_hold_more_than_is_recorded(lib):
    vec = lib.make()
    first = sekai.rollout(vec, "random", 5)
    rewards = first.rewards
    found = sekai.rollout(vec, "random", 5, record=("rewards",), out=first)
    assert found.rewards is rewards
    assert found.observations is None


def test_out_of_nested_arrays():
    space = sekai.Dict({"a": sekai.Box(0, 1, (2,)), "b": sekai.Discrete(2)})

    class Nested(sekai.Env):
        observation_space, action_space = space, sekai.Discrete(2)

        def reset(self, *, seed=None, options=None):
            self._set_rng(seed)
            return sekai.ResetResult({"a": np.zeros(2, np.float32), "b": 1}, {})

        def step(self, action):
            return sekai.StepResult({"a": np.ones(2, np.float32), "b": 0}, 0.0, False, False, {})

    vec = sekai.SyncVecEnv([Nested] * 2)
    first = sekai.rollout(vec, "random", 3)
    found = sekai.rollout(vec, "random", 3, out=first)
    assert np.shares_memory(found.observations["a"], first.observations["a"])
    with pytest.raises(ValueError, match="out must be a rollout that recorded observations as"):
        sekai.rollout(vec, "random", 4, out=first)


@pytest.mark.parametrize(
    ("steps", "record", "name"),
    [(6, ("rewards",), "rewards"), (5, ("truncated",), "truncated"), (5, ("elapsed_steps",), "info")],
)
def test_out_that_does_not_fit_is_refused(lib, steps, record, name):
    vec = lib.make()
    out = sekai.rollout(vec, "random", 5, record=("rewards", "actions"))
    before, rewards = lib.memory(vec), out.rewards.copy()
    with pytest.raises(ValueError, match=rf"out must be a rollout that recorded {name} as \(\({steps}"):
        sekai.rollout(vec, "random", steps, record=record, out=out)
    with pytest.raises(TypeError, match="out must be an earlier Rollout, got 1"):
        sekai.rollout(vec, "random", 5, out=1)
    assert lib.memory(vec) == before
    assert np.array_equal(out.rewards, rewards)


def test_out_that_may_not_be_written_to_is_refused(lib):
    vec = lib.make()
    out = sekai.rollout(vec, "random", 5)
    out.rewards.flags.writeable = False
    before, observations = lib.memory(vec), out.observations.copy()
    with pytest.raises(ValueError, match="out must hold arrays that can be written to, got rewards read-only"):
        sekai.rollout(vec, "random", 5, out=out, seed=9)
    assert lib.memory(vec) == before
    assert np.array_equal(out.observations, observations)


class Pair(sekai.Env):
    """Observations of two numbers under some names."""

    def __init__(self, *names):
        self.observation_space = sekai.Dict({name: sekai.Box(0, 9, (1,)) for name in names})
        self.action_space = sekai.Discrete(2)

    def reset(self, *, seed=None, options=None):
        return sekai.ResetResult(self.look(), {})

    def step(self, action):
        return sekai.StepResult(self.look(), 0.0, False, False, {})

    def look(self):
        return {name: np.full(1, k, np.float32) for k, name in enumerate(self.observation_space)}


def test_out_with_other_names_or_another_order_is_refused():
    out = sekai.rollout(sekai.SyncVecEnv([lambda: Pair("a", "b")]), "random", 3)
    for names in (("a", "c"), ("b", "a")):
        with pytest.raises(ValueError, match=r"out must be a rollout .* observations as .*, got .*'a'.*'b'"):
            sekai.rollout(sekai.SyncVecEnv([lambda names=names: Pair(*names)]), "random", 3, out=out)
    assert out.observations["b"].tolist() == [[[1.0]]] * 3


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_out_takes_the_actions_of_a_function_in_the_precision_they_had(dtype):
    def policy(observations):
        return np.tanh(observations[:, :1]).astype(dtype)

    vec = sekai.make_vec("MountainCarContinuous-v0", 4)
    first = sekai.rollout(vec, policy, 5, seed=1)
    want = first.actions.copy()
    again = sekai.rollout(vec, policy, 5, seed=1, out=first)
    assert again.actions is first.actions
    assert again.actions.dtype == dtype
    assert np.array_equal(again.actions, want)


# ---- memory --------------------------------------------------------------------------------------


def test_what_takes_over_half_of_free_memory_is_stated(lib, monkeypatch):
    """Observations (T + 1, N, 4) of float32 and rewards (T, N) of float64: 16 * 6 * 7 + 8 * 5 * 7 bytes."""
    vec, size = lib.make(), 16 * 6 * 7 + 8 * 5 * 7
    monkeypatch.setattr(recording, "free_memory", lambda: 2 * size - 1)
    with pytest.warns(UserWarning, match=r"this rollout records 0\.0 GiB, of 0\.0 GiB free") as caught:
        found = sekai.rollout(vec, "random", 5, record=("observations", "rewards"))
    assert caught[0].filename == __file__
    for enough in (2 * size, None):
        monkeypatch.setattr(recording, "free_memory", lambda enough=enough: enough)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            sekai.rollout(vec, "random", 5, record=("observations", "rewards"))
    monkeypatch.setattr(recording, "free_memory", lambda: 0)
    sekai.rollout(vec, "random", 5, record=("observations", "rewards"), out=found)  # takes none


def test_free_memory_is_told_or_not(monkeypatch):
    assert recording.free_memory() > 2**20

    def missing(*args):
        raise OSError

    monkeypatch.setattr("builtins.open", missing)
    assert recording.free_memory() is None
