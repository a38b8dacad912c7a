"""Batches that users write in NumPy."""

import asyncio

import numpy as np
import pytest

import sekai
from sekai.vector.native import put_index, shared, split_infos, take_index


class Pack(sekai.NativeVecEnv):
    """Counts steps; lane i's episodes have `limits[i]` of them. Notes which hooks were called."""

    def __init__(self, num_envs, limits=3, **kwargs):
        box = sekai.Box(-np.inf, np.inf, (2,), np.float64)
        super().__init__(num_envs, box, sekai.Discrete(10), **kwargs)
        self.limits = np.broadcast_to(limits, num_envs).copy()
        self.k = np.zeros(num_envs, np.int64)
        self.u = np.zeros(num_envs)
        self.hooks, self.given, self.reset_with = [], [], []

    def _reset_envs(self, indices, options):
        self.hooks.append("reset")
        self.reset_with.append((indices.tolist(), options))
        self.k[indices] = 0
        self.u[indices] = self.rng.random(len(indices))

    def _reset_infos(self, indices):
        self.hooks.append("infos")
        return {"who": indices}

    def _observe(self):
        self.hooks.append("observe")
        return np.stack([self.k.astype(float), self.u], axis=1)

    def _step(self, actions):
        self.hooks.append("step")
        self.given.append(actions)
        self.k = self.k + 1
        return np.asarray(actions, float), self.k >= self.limits, np.zeros(self.num_envs, bool), {"k": self.k}

    def doubled(self, plus=0):
        return self.k * 2 + plus

    @property
    def label(self):
        return "pack"


class PartialPack(Pack):
    """A pack of which some lanes can be stepped."""

    def _step_some(self, actions, mask):
        self.k = self.k + mask
        return np.ones(self.num_envs), self.k >= self.limits, np.zeros(self.num_envs, bool), {"k": self.k}


def counts(result):
    return result.observations[:, 0].tolist()


def test_hooks_and_results_of_a_plain_episode():
    vec = Pack(3)
    with pytest.raises(sekai.ResetRequired):
        vec.step([0, 0, 0])
    first = vec.reset(seed=5)
    assert first.observations[:, 1].tolist() == np.random.default_rng(5).random(3).tolist()
    assert first.infos == [{"who": 0}, {"who": 1}, {"who": 2}]
    result = vec.step(np.array([1, 2, 3]))
    assert counts(result) == [1, 1, 1]
    assert (result.rewards.dtype, result.rewards.tolist()) == (np.float64, [1, 2, 3])
    assert result.dones.tolist() == [False] * 3
    assert result.infos == [{"k": 1}] * 3
    assert type(result.infos[0]["k"]) is int
    assert vec.hooks == ["reset", "infos", "observe", "step", "observe"]
    assert repr(vec) == "Pack(num_envs=3)"


def test_same_step_autoreset():
    vec = Pack(2, [2, 3])
    vec.reset(seed=0, options=[{"a": 1}, None])
    vec.step([0, 0])
    vec.hooks.clear()
    result = vec.step([3, 4])
    assert vec.hooks == ["step", "observe", "reset", "infos", "observe"]
    assert vec.reset_with == [([0, 1], [{"a": 1}, None]), ([0], [None])]
    assert counts(result) == [0, 2]
    assert result.terminated.tolist() == [True, False]
    info = result.infos[0]
    assert list(info) == ["k", "final_observation", "final_info", "reset_info"]
    assert info["final_observation"].tolist() == [2.0, np.random.default_rng(0).random()]
    assert (info["final_info"], info["reset_info"]) == ({"k": 2}, {"who": 0})


def test_final_observations_of_tuples_are_tuples_of_batches():
    class Twin(Pack):
        def __init__(self, *args):
            super().__init__(*args)
            box = self.observation_space
            self.observation_space = sekai.Tuple([box, sekai.Discrete(10)])

        def _observe(self):
            return super()._observe(), self.k.copy()

    vec = Twin(2, [2, 3])
    vec.reset(seed=0)
    rows, numbers = vec.step([0, 0]).final_observations
    assert (rows.shape, numbers.shape) == ((0, 2), (0,))
    rows, numbers = vec.step([0, 0]).final_observations
    assert (rows.shape, rows[0, 0], numbers.tolist(), numbers.dtype) == ((1, 2), 2.0, [2], np.int64)


def test_next_step_autoreset():
    vec = Pack(2, [2, 3], autoreset="next_step")
    vec.reset(seed=0)
    vec.step([0, 0])
    end = vec.step([3, 4])
    assert (counts(end), end.terminated.tolist(), end.infos[0]) == ([2, 2], [True, False], {"k": 2})
    row = vec.step([9, 5])
    assert counts(row) == [0, 3]
    assert row.rewards.tolist() == [0.0, 5.0]
    assert row.terminated.tolist() == [False, True]
    assert row.infos == [{"who": 0, "reset": True}, {"k": 3}]
    assert row.valid.tolist() == [False, True]
    assert counts(vec.step([0, 0])) == [1, 0]
    assert vec.elapsed_steps.tolist() == [1, 0]


def test_frozen_lanes_repeat_their_end_and_their_last_action():
    vec = Pack(3, [1, 2, 9], autoreset=False)
    vec.reset(seed=0)
    end = vec.step([1, 2, 3])
    vec.hooks.clear()
    second = vec.step([7, 5, 6])
    assert vec.hooks == ["step", "observe", "observe"]
    third = vec.step([7, 7, 4])
    assert [np.asarray(given).tolist() for given in vec.given] == [[1, 2, 3], [1, 5, 6], [1, 5, 4]]
    assert second.observations[0].tolist() == third.observations[0].tolist() == end.observations[0].tolist()
    assert third.rewards.tolist() == [0.0, 0.0, 4.0]
    assert third.terminated.tolist() == [True, True, False]
    assert third.infos == [{}, {}, {"k": 3}]
    assert third.valid.tolist() == [False, False, True]
    assert vec.frozen.tolist() == [True, True, False]
    assert vec.elapsed_steps.tolist() == [1, 2, 3]
    vec.reset(mask=[True, False, False])
    assert vec.frozen.tolist() == [False, True, False]
    assert vec.step([0, 0, 0]).dones.tolist() == [True, True, False]


def test_actions_that_are_no_numbers_are_passed_on_as_they_are():
    class Words(Pack):
        def _step(self, actions):
            self.given.append(actions)
            return np.zeros(2), np.array([True, False]), np.zeros(2, bool), {}

    vec = Words(2, autoreset=False)
    vec.reset()
    ragged, words = [[1], [2, 3]], ["a", "b"]
    for actions in (ragged, words, words):
        vec.step(actions)
    assert vec.given[0] is ragged
    assert vec.given[1] is vec.given[2] is words


def test_nested_observations():
    class Deep(sekai.NativeVecEnv):
        def __init__(self, **kwargs):
            tuple_space = sekai.Tuple([sekai.Box(0, 9, (1,), np.float64), sekai.Sequence(sekai.Discrete(9))])
            super().__init__(2, sekai.Dict({"a": sekai.Discrete(9), "t": tuple_space}), sekai.Discrete(2), **kwargs)
            self.k = np.zeros(2, int)

        def _reset_envs(self, indices, options):
            self.k[indices] = 0

        def _observe(self):
            return {"a": self.k.copy(), "t": (self.k[:, None].astype(float), tuple((k,) for k in self.k.tolist()))}

        def _step(self, actions):
            self.k = self.k + 1
            return np.ones(2), self.k >= [1, 3], np.zeros(2, bool), {}

    vec = Deep(autoreset=False)
    vec.reset()
    for k in (1, 2, 3):
        result = vec.step([0, 0])
        assert result.observations["a"].tolist() == [1, k]
        assert result.observations["t"][0].tolist() == [[1], [k]]
        assert result.observations["t"][1] == ((1,), (k,))
    vec = Deep()
    vec.reset()
    final = vec.step([0, 0]).infos[0]["final_observation"]
    assert (final["a"], final["t"][0].tolist(), final["t"][1]) == (1, [1.0], (1,))


def test_the_time_limit_can_change():
    vec = Pack(2, [2, 9], max_episode_steps=3)
    vec.reset(seed=0)
    assert vec.step([0, 0]).infos == [{"k": 1, "elapsed_steps": 1}] * 2
    info = vec.step([0, 0]).infos[0]
    assert info["final_info"] == {"k": 2, "elapsed_steps": 2}
    assert info["reset_info"] == {"who": 0}
    assert vec.elapsed_steps.tolist() == [0, 2]
    result = vec.step([0, 0])
    assert (result.terminated.tolist(), result.truncated.tolist()) == ([False, False], [False, True])
    vec.set_attr("max_episode_steps", 1)
    assert vec.step([0, 0]).truncated.tolist() == [True, True]


@pytest.mark.parametrize("bad", [{"num_envs": 0}, {"num_envs": 1, "max_episode_steps": 0}])
def test_counts_below_one_are_refused(bad):
    with pytest.raises(ValueError, match="must be >= 1, got 0"):
        Pack(**bad)


def test_all_lanes_draw_from_one_generator():
    vec = Pack(3)
    assert vec.reset(seed=[1, 2, 3]).observations[:, 1].tolist() == np.random.default_rng([1, 2, 3]).random(3).tolist()
    vec.reset(seed=4)
    drawn = np.random.default_rng(4)
    drawn.random(3)
    second = int(drawn.integers(2**63))
    third = int(np.random.default_rng(9).integers(2**63))
    mixed = vec.reset(seed=[7, None, np.random.default_rng(9)]).observations[:, 1]
    assert mixed.tolist() == np.random.default_rng([7, second, third]).random(3).tolist()
    before = np.random.default_rng([7, second, third])
    before.random(3)
    assert vec.reset(seed=[None] * 3).observations[:, 1].tolist() == before.random(3).tolist()
    with pytest.raises(AttributeError):
        vec.rng = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"seed": [1]}, ValueError),
        ({"seed": np.random.default_rng(0)}, TypeError),
        ({"seed": "x"}, ValueError),
        ({"seed": -1}, ValueError),
        ({"seed": [1, "x"]}, TypeError),
        ({"seed": 3, "options": [None]}, ValueError),
        ({"seed": 3, "mask": [True]}, ValueError),
    ],
)
def test_bad_arguments_of_reset_change_nothing(arguments, error):
    vec = Pack(2)
    vec.reset(seed=1)
    with pytest.raises(error):
        vec.reset(**arguments)
    assert vec.hooks == ["reset", "infos", "observe"]
    stream = np.random.default_rng(1)
    stream.random(2)
    assert vec.rng.random() == stream.random()


def test_a_partial_reset():
    vec = Pack(3)
    with pytest.raises(sekai.ResetRequired):
        vec.reset(mask=[True, False, False])
    vec.reset(seed=0)
    vec.step([0, 0, 0])
    result = vec.reset(seed=[8, "ignored", 9], options=[{"a": 1}, "ignored", None], mask=[True, False, True])
    assert counts(result) == [0, 1, 0]
    assert result.infos == [{"who": 0}, {}, {"who": 2}]
    assert vec.reset_with[-1] == ([0, 2], [{"a": 1}, None])
    assert result.observations[[0, 2], 1].tolist() == np.random.default_rng([8, 9]).random(2).tolist()
    assert vec.elapsed_steps.tolist() == [0, 1, 0]


@pytest.mark.parametrize("mode", ["same_step", "next_step", "disabled"])
def test_lanes_that_are_not_stepped_keep_everything(mode):
    vec = PartialPack(2, [2, 2], autoreset=mode)
    vec.reset(seed=0)
    vec.step([0, 0])
    last = vec.step([0, 0], mask=[True, False])
    assert counts(last) == [0 if mode == "same_step" else 2, 1]
    assert last.rewards.tolist() == [1.0, 0.0]
    assert last.dones.tolist() == [True, False]
    assert last.infos[1] == {}
    assert last.valid.tolist() == [True, False]
    waits = vec.step([0, 0], mask=[False, False])
    assert np.array_equal(waits.observations, last.observations)
    assert waits.rewards.tolist() == [0.0, 0.0]
    assert waits.dones.tolist() == [True, False]
    assert waits.infos == [{}, {}]
    assert counts(vec.step([0, 0], mask=[False, True])) == [counts(last)[0], 0 if mode == "same_step" else 2]
    assert vec.step([0, 0], mask=[True, True]).valid[0] == (mode == "same_step")


def test_a_masked_step_needs_its_hook():
    vec = Pack(2)
    vec.reset()
    with pytest.raises(NotImplementedError, match="Pack defines no _step_some"):
        vec.step([0, 0], mask=[True, False])
    assert vec.k.tolist() == [0, 0]


@pytest.mark.parametrize("actions", [[0], [0, 0, 0], np.zeros((1, 2))])
def test_the_number_of_actions_is_checked(actions):
    vec = Pack(2)
    vec.reset()
    with pytest.raises(ValueError, match=f"actions must have one entry per lane, 2, got {len(actions)}"):
        vec.step(actions)
    assert vec.k.tolist() == [0, 0]


def test_the_number_of_nested_actions_is_checked():
    vec = Pack(2)
    vec.action_space = sekai.Dict(a=sekai.Discrete(2))
    vec.reset()
    with pytest.raises(ValueError, match="actions must have one entry per lane, 2, got 3"):
        vec.step({"a": np.zeros(3, int)})


@pytest.mark.parametrize(("place", "name"), [(0, "rewards"), (1, "terminated"), (2, "truncated")])
def test_the_shape_of_what_a_step_returns_is_checked(place, name):
    class Wrong(Pack):
        def _step(self, actions):
            results = [np.zeros(2), np.zeros(2, bool), np.zeros(2, bool), {}]
            results[place] = results[place][:1]
            return results

    vec = Wrong(2)
    vec.reset()
    with pytest.raises(ValueError, match=rf"{name} of Wrong\._step must have shape \(2,\), got \(1,\)"):
        vec.step([0, 0])


def test_returned_arrays_are_copies():
    class Reusing(Pack):
        def _step(self, actions):
            self.u += 1
            return self.u, np.zeros(2, bool), np.zeros(2, bool), {"u": self.u}

    vec = Reusing(2)
    vec.reset()
    vec.u[:] = 0
    first, second = vec.step([0, 0]), vec.step([0, 0])
    assert (first.rewards.tolist(), second.rewards.tolist()) == ([1, 1], [2, 2])
    assert first.infos == [{"u": 1.0}] * 2


def test_attributes_by_lane():
    vec = Pack(2, [4, 5])
    vec.reset()
    vec.step([0, 0])
    assert vec.get_attr("limits") == [4, 5]
    assert vec.get_attr("label") == ["pack", "pack"]
    assert vec.call("doubled", plus=1) == [3, 3]
    assert vec.call("label") == ["pack", "pack"]
    vec.get_attr("u")[0] += 1
    vec.set_attr("limits", [7, 8])
    assert vec.limits.tolist() == [7, 8]
    vec.set_attr("limits", 9)
    assert vec.limits == 9
    for name in ("missing", "label"):
        with pytest.raises(AttributeError):
            vec.set_attr(name, 1)
    with pytest.raises(AttributeError):
        vec.get_attr("missing")
    with pytest.raises(AttributeError):
        vec.call("missing")
    with pytest.raises(ValueError, match="values of 'limits' must have one entry per lane, 2, got 3"):
        vec.set_attr("limits", [1, 2, 3])


def test_what_is_shared_is_repeated_whole():
    class Sharing(Pack):
        @shared
        def prices(self):
            return np.array([1.0, 2.0])

        @property
        @shared
        def weights(self):
            return np.array([3.0, 4.0])

    vec = Sharing(2)
    assert [prices.tolist() for prices in vec.call("prices")] == [[1, 2], [1, 2]]
    assert [weights.tolist() for weights in vec.get_attr("weights")] == [[3, 4], [3, 4]]


def test_an_action_mask_of_the_batch():
    class Masked(Pack):
        def action_mask(self):
            return np.eye(self.num_envs, 10, dtype=bool)

    vec = Masked(2)
    assert sekai.get_action_mask(vec).argmax(axis=1).tolist() == [0, 1]
    assert sekai.get_action_mask(Pack(2)) is None


def test_the_end():
    with Pack(2) as vec:
        vec.reset(seed=0)
    for use in (lambda: vec.step([0, 0]), vec.reset):
        with pytest.raises(sekai.VecEnvClosed):
            use()
    vec.close()
    assert vec.get_attr("label") == ["pack", "pack"]


def test_async_methods_run_the_sync_ones():
    vec = Pack(2)
    asyncio.run(vec.async_reset(seed=0))
    assert asyncio.run(vec.async_step([1, 2])).rewards.tolist() == [1.0, 2.0]


def test_splitting_infos():
    days = np.array(["2021-01-01", "2021-01-02"], "datetime64[D]")
    rows = np.eye(2)
    infos = split_infos({"x": np.array([1, 2]), "s": ["a", "b"], "day": days, "w": rows}, 2)
    rows[:] = 5
    assert infos[1]["w"].tolist() == [0, 1]
    assert [(info["x"], info["s"], info["day"]) for info in infos] == [(1, "a", days[0]), (2, "b", days[1])]
    assert (type(infos[0]["x"]), type(infos[0]["day"])) == (int, np.datetime64)
    assert split_infos({}, 3) == [{}, {}, {}]
    with pytest.raises(ValueError, match=r"info 'x' must have 2 entries along its first axis, got shape \(3,\)"):
        split_infos({"x": np.ones(3)}, 2)


def test_elements_of_batches():
    space = sekai.Dict({"a": sekai.Box(0, 9, (2,), np.float64), "t": sekai.Tuple([sekai.Discrete(3)])})
    batch = {"a": np.arange(4.0).reshape(2, 2), "t": (np.array([1, 2]),)}
    row = take_index(space, batch, 1)
    row["a"][0] = 50.0
    assert batch["a"].tolist() == [[0, 1], [2, 3]]
    assert (row["a"].tolist(), row["t"]) == ([50, 3], (2,))
    assert put_index(space, batch, 0, row)["a"].tolist() == [[50, 3], [2, 3]]
