"""The contract that sync, async and process batches share: arguments, results, autoreset modes and masks."""

import pickle

import numpy as np
import pytest

import sekai

pytestmark = pytest.mark.usefixtures("bounded", "fork_server")

MODES = ["same_step", "next_step", "disabled"]


@pytest.fixture(params=["sync", "async", "proc", "one worker"])
def make(request):
    """Makes batches of one kind, and closes them after the test."""
    made = []

    def make_batch(env_fns, **kwargs):
        if request.param == "sync":
            batch = sekai.SyncVecEnv(env_fns, **kwargs)
        elif request.param == "async":
            batch = sekai.AsyncVecEnv(env_fns, **kwargs)
        else:
            workers = 1 if request.param == "one worker" else None
            batch = sekai.ProcVecEnv(env_fns, num_workers=workers, **kwargs)
        made.append(batch)
        return batch

    yield make_batch
    for batch in made:
        batch.close()


def lengths(tick, *ns, **kwargs):
    """What makes environments with episodes of `ns` steps."""
    return [lambda n=n: tick(n, **kwargs) for n in ns]


def counts(result):
    return result.observations[:, 0].tolist()


# ---- seeds and options -------------------------------------------------------------------------------


def test_an_int_seeds_each_lane_as_a_single_env(make, tick):
    vec = make([tick] * 3)
    result = vec.reset(seed=5)
    assert result.infos == [{"fresh": 1}] * 3
    assert result.dones.tolist() == [False] * 3
    singles = [tick().reset(seed=seed).observation for seed in sekai.lane_seeds(5, 3)]
    assert result.observations.tolist() == np.array(singles).tolist()
    assert [seed for ((seed, _),) in vec.get_attr("resets")] == sekai.lane_seeds(5, 3)


def test_a_list_has_one_seed_per_lane(make, tick):
    vec = make([tick] * 3)
    first = vec.reset(seed=[4, np.int32(4), 9]).observations[:, 1]
    assert first[0] == first[1] == np.random.default_rng(4).random()
    expected = np.random.default_rng(4)
    expected.random()
    again = vec.reset(seed=[4, None, np.random.default_rng(2)]).observations[:, 1]
    assert again.tolist() == [first[0], expected.random(), np.random.default_rng(2).random()]


def test_without_a_seed_streams_go_on(make, tick):
    vec = make([tick] * 2)
    vec.reset(seed=1)
    goes_on = vec.reset().observations
    vec.reset(seed=1)
    assert np.array_equal(vec.reset(seed=[None, None]).observations, goes_on)


def test_options_go_to_all_or_one_to_each(make, tick):
    vec = make([tick] * 2)
    vec.reset(options={"a": 1})
    vec.reset(options=[{"b": 2}, None])
    vec.reset()
    options = [[options for _, options in resets] for resets in vec.get_attr("resets")]
    assert options == [[{"a": 1}, {"b": 2}, None], [{"a": 1}, None, None]]


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"seed": [1]}, ValueError, "seed must have one entry per lane, 2, got 1"),
        ({"seed": (1, 2)}, TypeError, "seed must be an int"),
        ({"seed": np.array([1, 2])}, TypeError, "seed must be an int"),
        ({"seed": np.random.default_rng(0)}, TypeError, "not one Generator for all lanes"),
        ({"seed": "x"}, ValueError, "seed must be an int"),
        ({"seed": -1}, ValueError, "seed must be >= 0, got -1"),
        ({"seed": [1, 2.5]}, TypeError, r"seed must be an int, got 2\.5"),
        ({"seed": [1, -2]}, ValueError, "seed must be >= 0, got -2"),
        ({"options": [{}]}, ValueError, "options must have one entry per lane, 2, got 1"),
        ({"mask": [True]}, ValueError, r"mask must have one entry per lane, shape \(2,\), got shape \(1,\)"),
        ({"mask": [0, 1]}, TypeError, "mask must hold bools, got an array of int64"),
    ],
)
def test_bad_arguments_of_reset_change_nothing(make, tick, arguments, error, text):
    vec = make([tick] * 2)
    vec.reset(seed=0)
    with pytest.raises(error, match=text):
        vec.reset(**arguments)
    assert [len(resets) for resets in vec.get_attr("resets")] == [1, 1]


def test_a_step_or_a_partial_reset_needs_a_reset_of_all(make, tick):
    vec = make([tick] * 2)
    with pytest.raises(sekai.ResetRequired, match="for all lanes"):
        vec.step([0, 0])
    with pytest.raises(sekai.ResetRequired, match="for all lanes"):
        vec.reset(mask=[True, False])
    assert vec.get_attr("steps") == [0, 0]
    vec.reset(mask=[True, True])
    vec.step([0, 0])


# ---- actions and results -----------------------------------------------------------------------------


def test_results_of_a_step(make, tick):
    vec = make(lengths(tick, 1, 3, cut=True))
    vec.reset(seed=0)
    result = vec.step(np.array([1, 3]))
    assert result.rewards.tolist() == [1.0, 3.0]
    assert result.rewards.dtype == np.float64
    assert result.truncated.tolist() == result.dones.tolist() == [True, False]
    assert result.terminated.tolist() == [False, False]
    assert {result.truncated.dtype, result.terminated.dtype, result.dones.dtype} == {np.dtype(bool)}
    assert isinstance(result.infos, list)
    assert vec.batch_observation_space.contains(result.observations)
    assert result.valid.tolist() == [True, True]
    assert result.final_lanes.tolist() == [0]


def test_results_are_not_changed_by_later_steps(make, tick):
    vec = make([tick] * 2)
    first = vec.reset(seed=0).observations
    before = first.copy()
    second = vec.step([0, 0]).observations
    vec.step([0, 0])
    assert np.array_equal(first, before)
    assert second[:, 0].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("actions", "error", "text"),
    [
        ([1], ValueError, "actions must have one entry per lane, 2, got 1"),
        (np.zeros((3,), int), ValueError, "got 3"),
        (5, TypeError, "not iterable"),
    ],
)
def test_bad_batches_of_actions_change_nothing(make, tick, actions, error, text):
    vec = make([tick] * 2)
    vec.reset(seed=0)
    with pytest.raises(error, match=text):
        vec.step(actions)
    with pytest.raises(ValueError, match="mask"):
        vec.step([0, 0], mask=[True])
    assert vec.get_attr("steps") == [0, 0]


class Nested(sekai.Env):
    """Nested observations and actions; keeps the last action."""

    def __init__(self):
        tuple_space = sekai.Tuple([sekai.Box(0, 1, (1,), np.float64), sekai.MultiBinary(2)])
        self.observation_space = sekai.Dict({"d": sekai.Discrete(3), "t": tuple_space})
        self.action_space = sekai.Dict({"a": sekai.Discrete(2), "b": sekai.Box(0, 1, (2,), np.float64)})
        self.action = None

    def look(self):
        return {"d": np.intp(1), "t": (np.array([0.5]), np.array([1, 0], np.int8))}

    def reset(self, *, seed=None, options=None):
        return sekai.ResetResult(self.look(), {})

    def step(self, action):
        self.action = {"a": int(action["a"]), "b": np.asarray(action["b"]).tolist()}
        return sekai.StepResult(self.look(), 0.0, False, False, {})


def test_nested_observations_and_actions(make):
    vec = make([Nested] * 2)
    observations = vec.reset().observations
    assert observations["d"].tolist() == [1, 1]
    assert [part.tolist() for part in observations["t"]] == [[[0.5], [0.5]], [[1, 0], [1, 0]]]
    vec.step({"a": np.array([0, 1]), "b": np.array([[0.0, 1.0], [1.0, 0.0]])})
    assert vec.get_attr("action") == [{"a": 0, "b": [0.0, 1.0]}, {"a": 1, "b": [1.0, 0.0]}]
    vec.step([{"a": 1, "b": [1, 1]}, {"a": 0, "b": [0, 0]}])
    assert vec.get_attr("action") == [{"a": 1, "b": [1, 1]}, {"a": 0, "b": [0, 0]}]
    with pytest.raises(ValueError, match="different numbers"):
        vec.step({"a": np.array([0, 1]), "b": np.zeros((3, 2))})


# ---- autoreset ---------------------------------------------------------------------------------------


def test_same_step_autoreset(make, tick):
    vec = make(lengths(tick, 2, 3))
    vec.reset(seed=[1, 2], options={"first": True})
    lane = np.random.default_rng(1)
    draws = [lane.random() for _ in range(4)]
    assert vec.step([0, 0]).infos == [{"k": 1}, {"k": 1}]
    result = vec.step([3, 4])
    assert counts(result) == [0, 2]
    assert result.observations[0, 1] == draws[3]
    assert result.rewards.tolist() == [3.0, 4.0]
    assert result.terminated.tolist() == [True, False]
    assert list(result.infos[0]) == ["k", "final_observation", "final_info", "reset_info"]
    assert result.infos[0]["final_observation"].tolist() == [2, draws[2]]
    assert result.infos[0]["final_info"] == {"k": 2}
    assert result.infos[0]["reset_info"] == {"fresh": 2}
    assert result.final_observations.tolist() == [[2, draws[2]]]
    assert vec.step([0, 0], mask=[True, False]).infos == [{"k": 1}, {}]
    assert vec.get_attr("resets")[0][1] == (None, None)


def test_next_step_autoreset(make, tick):
    vec = make(lengths(tick, 2, 3), autoreset="next_step")
    vec.reset(seed=[1, 2])
    vec.step([0, 0])
    end = vec.step([3, 4])
    assert counts(end) == [2, 2]
    assert end.terminated.tolist() == [True, False]
    assert end.infos == [{"k": 2}, {"k": 2}]
    assert end.valid.tolist() == [True, True]
    assert end.final_lanes.size == 0
    row = vec.step(["any action", 5])
    assert counts(row) == [0, 3]
    assert row.rewards.tolist() == [0.0, 5.0]
    assert row.terminated.tolist() == [False, True]
    assert row.infos == [{"fresh": 2, "reset": True}, {"k": 3}]
    assert row.valid.tolist() == [False, True]
    after = vec.step([6, 7])
    assert counts(after) == [1, 0]
    assert after.valid.tolist() == [True, False]


def test_disabled_autoreset_freezes_lanes_until_reset(make, tick):
    vec = make(lengths(tick, 2, 9), autoreset=False)
    vec.reset(seed=0)
    vec.step([0, 0])
    end = vec.step([3, 4])
    assert (end.rewards.tolist(), end.infos) == ([3.0, 4.0], [{"k": 2}, {"k": 2}])
    for k in (3, 4):
        frozen = vec.step(["any action", 5])
        assert frozen.observations[0].tolist() == end.observations[0].tolist()
        assert counts(frozen) == [2, k]
        assert frozen.rewards.tolist() == [0.0, 5.0]
        assert frozen.terminated.tolist() == [True, False]
        assert frozen.infos == [{}, {"k": k}]
        assert frozen.valid.tolist() == [False, True]
    assert vec.get_attr("steps") == [2, 4]
    vec.reset()
    assert counts(vec.step([0, 0])) == [1, 1]


def test_the_mode_may_change_between_steps(make, tick):
    vec = make(lengths(tick, 1, 9), autoreset=False)
    vec.reset(seed=0)
    vec.step([0, 0])
    vec.autoreset = True
    assert counts(vec.step([0, 0])) == [1, 2]
    vec.autoreset_mode = "next_step"
    thawed = vec.step([0, 0])
    assert (counts(thawed), thawed.infos[0]) == ([0, 3], {"fresh": 2, "reset": True})
    vec.autoreset_mode = "same_step"
    assert counts(vec.step([0, 0])) == [0, 4]


class SelfResetting(sekai.Env):
    """Resets itself, as a wrapper may, and says so."""

    observation_space = sekai.Box(0, 9, (1,), np.float64)
    action_space = sekai.Discrete(2)

    def reset(self, *, seed=None, options=None):
        self.k = 0
        return sekai.ResetResult(np.zeros(1), {})

    def step(self, action):
        self.k += 1
        if self.k < 2:
            return sekai.StepResult(np.full(1, self.k), 1.0, False, False, {})
        self.k = 0
        return sekai.StepResult(np.zeros(1), 1.0, True, False, {"final_observation": np.full(1, 2.0)})


@pytest.mark.parametrize("mode", MODES)
def test_a_sub_env_that_resets_itself_is_let_alone(make, mode):
    vec = make([SelfResetting], autoreset=mode)
    vec.reset()
    steps = [vec.step([0]) for _ in range(4)]
    assert [counts_of.observations[0, 0] for counts_of in steps] == [1, 0, 1, 0]
    assert [step.dones[0] for step in steps] == [False, True, False, True]
    assert [list(step.infos[0]) for step in steps] == [[], ["final_observation"]] * 2
    assert all(step.valid.all() for step in steps)


class Buffered(sekai.Env):
    """Returns the same array object every time."""

    def __init__(self):
        self.observation_space = sekai.Dict(x=sekai.Box(-9, 9, (1,), np.float64))
        self.action_space = sekai.Discrete(2)
        self.x = np.zeros(1)

    def reset(self, *, seed=None, options=None):
        self.x[:] = 0
        return sekai.ResetResult({"x": self.x}, {})

    def step(self, action):
        self.x += 1
        return sekai.StepResult({"x": self.x}, 0.0, bool(self.x >= 2), False, {})

    def scribble(self):
        self.x[:] = -9


@pytest.mark.parametrize("mode", MODES)
def test_an_array_that_is_used_again_loses_nothing(make, mode):
    vec = make([Buffered] * 2, autoreset=mode)
    vec.reset()
    first, end = vec.step([0, 0]), vec.step([0, 0])
    assert first.observations["x"].tolist() == [[1], [1]]
    if mode == "same_step":
        assert end.observations["x"].tolist() == [[0], [0]]
        assert end.final_observations["x"].tolist() == [[2], [2]]
    else:
        vec.call("scribble")
        waits = vec.step([0, 0], mask=[False, False])
        assert end.observations["x"].tolist() == waits.observations["x"].tolist() == [[2], [2]]


# ---- masks -------------------------------------------------------------------------------------------


def test_a_partial_reset_leaves_the_others_alone(make, tick):
    vec = make([tick] * 3)
    vec.reset(seed=[1, 2, 3])
    before = vec.step([0, 0, 0])
    result = vec.reset(seed=[7, "ignored", None], options=[{"a": 1}, 5, None], mask=[True, False, True])
    assert counts(result) == [0, 1, 0]
    assert result.observations[0, 1] == np.random.default_rng(7).random()
    assert result.observations[1].tolist() == before.observations[1].tolist()
    assert result.infos == [{"fresh": 2}, {}, {"fresh": 2}]
    stream = np.random.default_rng(2)
    draws = [stream.random() for _ in range(3)]
    assert vec.step([0, 0, 0]).observations[1].tolist() == [2, draws[2]]
    assert vec.get_attr("resets")[0][-1] == (7, {"a": 1})


def test_an_int_seeds_the_lanes_of_a_mask_as_it_seeds_all(make, tick):
    vec = make([tick] * 3)
    everyone = vec.reset(seed=5).observations
    vec.reset(seed=6)
    some = vec.reset(seed=5, mask=np.array([False, True, False])).observations
    assert some[1].tolist() == everyone[1].tolist()
    assert some[0].tolist() != everyone[0].tolist()


@pytest.mark.parametrize("mode", MODES)
def test_lanes_that_are_not_stepped_keep_everything(make, tick, mode):
    vec = make(lengths(tick, 2, 2), autoreset=mode)
    vec.reset(seed=[1, 2])
    vec.step([0, 0])
    last = vec.step([1, 2], mask=[True, False])
    assert counts(last) == [0 if mode == "same_step" else 2, 1]
    assert last.rewards.tolist() == [1.0, 0.0]
    assert last.dones.tolist() == [True, False]
    assert last.infos[1] == {}
    assert last.valid.tolist() == [True, False]
    waits = vec.step([5, "ignored"], mask=[False, False])
    assert waits.observations.tolist() == last.observations.tolist()
    assert waits.rewards.tolist() == [0.0, 0.0]
    assert waits.dones.tolist() == [True, False]
    assert waits.infos == [{}, {}]
    assert waits.valid.tolist() == [False, False]
    assert vec.get_attr("steps") == [2, 1]
    assert counts(vec.step([0, 0], mask=[False, True])) == [counts(last)[0], 0 if mode == "same_step" else 2]


def test_a_partial_reset_thaws_the_lanes_of_its_mask_only(make, tick):
    vec = make(lengths(tick, 1, 1), autoreset=False)
    vec.reset(seed=0)
    vec.step([0, 0])
    vec.reset(mask=[True, False])
    result = vec.step([0, 0])
    assert result.valid.tolist() == [True, False]
    assert vec.get_attr("steps") == [2, 1]


# ---- snapshots ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_a_snapshot_is_replayed_exactly(make, tick, mode):
    vec = make(lengths(tick, 2, 3, 4), autoreset=mode)
    vec.reset(seed=0)
    vec.step([0, 0, 0])
    vec.step([0, 0, 0])
    state = pickle.loads(pickle.dumps(vec.get_state()))
    first = [vec.step([1, 2, 3]) for _ in range(4)]
    vec.set_state(state)
    again = [vec.step([1, 2, 3]) for _ in range(4)]
    waits = vec.step([0, 0, 0], mask=[False] * 3)
    assert np.array_equal(waits.observations, again[-1].observations)
    for one, other in zip(first, again, strict=True):
        assert np.array_equal(one.observations, other.observations)
        assert (one.rewards.tolist(), one.dones.tolist()) == (other.rewards.tolist(), other.dones.tolist())
        np.testing.assert_equal(list(one.infos), list(other.infos))


def test_a_snapshot_goes_to_other_lanes_and_other_batches(make, tick):
    vec, other = make([tick] * 3), make([tick] * 2)
    vec.reset(seed=[1, 2, 3])
    vec.step([0, 0, 0], mask=[False, True, True])
    before = vec.step([0, 0, 0], mask=[False] * 3).observations
    vec.set_state(vec.get_state([2, 1]), [0, 1])
    after = vec.step([0, 0, 0], mask=[False] * 3).observations
    assert after.tolist() == before[[2, 1, 2]].tolist()
    with pytest.raises(sekai.ResetRequired, match="for all lanes"):
        other.set_state(vec.get_state([0]), [0])
    other.set_state(vec.get_state([True, True, False]))
    assert other.step([0, 0]).observations.tolist() == vec.step([0, 0, 0]).observations[:2].tolist()


def test_snapshots_that_do_not_fit_change_nothing(make, tick):
    class Other(tick):
        def __init__(self):
            super().__init__()
            self.action_space = sekai.Discrete(3)

    vec, other = make([tick] * 2), make([Other] * 2)
    with pytest.raises(sekai.ResetRequired, match="for all lanes"):
        vec.get_state()
    vec.reset(seed=0)
    other.reset(seed=0)
    state = vec.get_state()
    vec.step([0, 0])
    with pytest.raises(ValueError, match="its number of lanes is 2, the batch's 1"):
        vec.set_state(state, [0])
    with pytest.raises(ValueError, match=r"its action_space is Discrete\(3\), the batch's Discrete\(10\)"):
        vec.set_state(other.get_state())
    with pytest.raises(TypeError, match=r"state must be what get_state\(\) returned, got dict"):
        vec.set_state({})
    with pytest.raises(IndexError, match="got 5"):
        vec.get_state([5])
    assert vec.get_attr("steps") == [1, 1]


# ---- attributes and masks of actions -----------------------------------------------------------------


class Area(sekai.Wrapper):
    """A wrapper with a method of its own."""

    def area(self, width, height=1):
        return [self.unwrapped.n, width, height]


def test_attributes_are_looked_up_through_wrappers(make, tick):
    vec = make([lambda: sekai.TimeLimit(Area(tick(4)), 7), lambda: sekai.TimeLimit(Area(tick(5)), 8)])
    assert vec.get_attr("n") == [4, 5]
    assert vec.get_attr("max_episode_steps") == [7, 8]
    assert vec.call("area", 2, height=3) == [[4, 2, 3], [5, 2, 3]]
    assert vec.call("n") == [4, 5]
    vec.set_attr("n", 9)
    assert vec.get_attr("n") == [9, 9]
    vec.set_attr("n", [1, 2])
    assert vec.get_attr("n") == [1, 2]
    vec.set_attr("n", (3, 4))
    assert vec.get_attr("n") == [(3, 4)] * 2
    with pytest.raises(ValueError, match="values of 'n' must have one entry per lane, 2, got 1"):
        vec.set_attr("n", [1])


class Masked(sekai.Env):
    """Allows the actions from `first` on."""

    observation_space = sekai.Box(0, 1, (1,))
    action_space = sekai.Discrete(3)

    def __init__(self, first):
        self.first = first

    def reset(self, *, seed=None, options=None):
        return sekai.ResetResult(np.zeros(1, np.float32), {})

    def step(self, action):
        return sekai.StepResult(np.zeros(1, np.float32), 0.0, False, False, {})

    def action_mask(self):
        return np.arange(3) >= self.first


def test_action_masks_are_arrays_for_all_lanes(make):
    vec = make([lambda: Masked(0), lambda: Masked(2)])
    expected = [[True, True, True], [False, False, True]]
    assert vec.action_mask().tolist() == expected
    assert sekai.get_action_mask(vec).tolist() == expected
    assert vec.action_space.sample_batch(2, mask=vec.action_mask()).shape == (2,)
    assert vec.call("action_mask")[1].tolist() == expected[1]


def test_batches_without_action_masks_do_not_pretend(make, tick):
    vec = make([tick])
    assert sekai.get_action_mask(vec) is None
    with pytest.raises(AttributeError, match="has an action_mask"):
        vec.action_mask()


# ---- life cycle --------------------------------------------------------------------------------------


def test_sub_envs_must_have_the_same_spaces(make, tick):
    other = sekai.Discrete(7)

    class Other(tick):
        def __init__(self):
            super().__init__()
            self.action_space = other

    with pytest.raises(
        sekai.SpaceMismatch, match=r"action_space of sub-env 2 is Discrete\(7\) and of sub-env 0 Discrete\(10\)"
    ):
        make([tick, tick, Other])


class Tuples(sekai.Env):
    """Episodes of two steps, whose observations are tuples of the step."""

    observation_space = sekai.Tuple(
        [sekai.Box(0, 9, (2,), np.float32), sekai.Tuple([sekai.Discrete(9)]), sekai.Sequence(sekai.Discrete(9))]
    )
    action_space = sekai.Discrete(2)

    def _look(self):
        return (np.full(2, self.t, np.float32), (np.int64(self.t),), (self.t,) * self.t)

    def reset(self, *, seed=None, options=None):
        self.t = 0
        return sekai.ResetResult(self._look(), {})

    def step(self, action):
        self.t += 1 + action
        return sekai.StepResult(self._look(), 0.0, self.t > 1, False, {})


def test_final_observations_of_tuples_are_tuples_of_batches(make):
    vec = make([Tuples] * 3)
    vec.reset()
    values, (numbers,), words = vec.step([0, 0, 0]).final_observations
    assert (values.shape, values.dtype, numbers.shape, numbers.dtype, words) == ((0, 2), np.float32, (0,), np.int64, ())
    result = pickle.loads(pickle.dumps(vec.step([0, 1, 0])))
    values, (numbers,), words = result.final_observations
    assert (values.tolist(), values.dtype) == ([[2, 2], [3, 3], [2, 2]], np.float32)
    assert (numbers.tolist(), numbers.dtype) == ([2, 3, 2], np.int64)
    assert words == ((2, 2), (3, 3, 3), (2, 2))
    vec.step([0, 0, 0])
    values, (numbers,), words = vec.step([1, 0, 1], [False, True, False]).final_observations
    assert (values.tolist(), numbers.tolist(), words) == ([[2, 2]], [2], ((2, 2),))


def test_envs_of_several_agents_are_refused(make, tick):
    class Team(sekai.MultiAgentEnv):
        agents = possible_agents = ("a", "b")

        def reset(self, *, seed=None, options=None):
            return sekai.MAResetResult({}, {})

        def step(self, actions):
            return sekai.MAStepResult({}, {}, {}, {}, {})

    with pytest.raises(TypeError) as caught:
        make([tick, Team])
    assert str(caught.value) == (
        "sub-envs must be single-agent envs, but sub-env 1 is the multi-agent <Team agents=['a', 'b']>: step it by "
        "itself, or write a sekai.Env around it, whose spaces are Dicts of all agents' spaces, say"
    )
    with pytest.raises(TypeError, match="but sub-env 0 is the multi-agent"):
        make([Team])


def test_bad_arguments_of_the_constructor(make, tick):
    with pytest.raises(ValueError, match="env_fns must hold at least one callable"):
        make([])
    with pytest.raises(TypeError, match="env_fns must be a sequence"):
        make(iter([tick]))
    with pytest.raises(ValueError, match="autoreset must be a bool or one of"):
        make([tick], autoreset="sometimes")


def test_the_end(make, tick):
    vec = make([tick] * 2)
    assert repr(vec) == f"{type(vec).__name__}(num_envs=2)"
    assert len(vec) == 2
    with vec as same:
        assert same is vec
        vec.reset(seed=0)
    assert vec.closed
    vec.close()
    for use in (vec.reset, lambda: vec.step("no actions"), lambda: vec.reset(seed="no seed")):
        with pytest.raises(sekai.VecEnvClosed):
            use()
