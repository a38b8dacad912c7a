"""The batch contract of kernel envs (design.md's table), over every registered one, bit for bit."""

import os
import pickle
import threading

import numpy as np
import pytest

import sekai
from sekai.error import ResetRequired
from sekai.kernels.jit import fingerprint
from sekai.rollouts.recording import leaves
from sekai.vector.batches import map_arrays
from sekai.vector.programs import ENTRIES
from sekai.vector.vec_env import AUTORESET_MODES

LIMIT = 12  # steps; short, so that runs see many ends
IDS = [spec.id for spec in sekai.all_specs() if isinstance(sekai.make(spec.id).unwrapped, sekai.KernelEnv)]
IDS.reverse()  # test_invariants.py, which runs at the same time, compiles the others first


@pytest.fixture(params=IDS)
def env_id(request):
    return request.param


@pytest.fixture(params=AUTORESET_MODES)
def mode(request):
    return request.param


def make(env_id, n=7, mode="same_step", limit=LIMIT, seed=5, **kwargs):
    vec = sekai.make_vec(env_id, n, max_episode_steps=limit, vector_kwargs={"autoreset": mode}, **kwargs)
    vec.reset(seed=seed)
    return vec


def draw(vec, steps, seed=0):
    """Valid actions `(steps, N, …)`."""
    rng = np.random.default_rng(seed)
    low, high = vec._actions.bounds
    shape = (steps, vec.num_envs, low.size)
    if vec._actions.dtype == np.int64:
        actions = rng.integers(low, high + 1, shape)
    else:
        actions = rng.uniform(np.maximum(low, -9), np.minimum(high, 9), shape).astype(np.float32)
    return actions.reshape(steps, vec.num_envs, *vec._actions.shape)


def bits(observations, lanes=...):
    """The bytes of observations, or of some lanes': one after the other where they are dicts."""
    parts = observations.values() if isinstance(observations, dict) else [observations]
    return b"".join(np.asarray(part[lanes]).tobytes() for part in parts)


def same(a, b):
    """Whether two step results are equal to the last bit, infos included."""
    arrays = all(
        bits(getattr(a, name)) == bits(getattr(b, name))
        for name in ("observations", "rewards", "terminated", "truncated", "valid", "final_lanes", "final_observations")
    )
    return arrays and repr(list(a.infos)) == repr(list(b.infos))


def numbers_of(vec):
    """The float parameters of a batch that users see and that are not 0, with their values: what can be varied."""
    values = {name: vec._param_rows.get(name) for name in vec._attributes if vec._params.kinds.get(name) is float}
    return {name: value for name, value in values.items() if value}


def run(vec, actions, masks=None):
    return [vec.step(action, None if masks is None else masks[t]) for t, action in enumerate(actions)]


def test_masked_lanes_are_left_alone_and_others_go_on_like_single_envs(env_id, mode):
    vec = make(env_id, mode=mode)
    singles = [vec.lane(i) for i in range(vec.num_envs)]
    actions, masks = draw(vec, 40), np.random.default_rng(1).random((40, vec.num_envs)) < 0.6
    last = vec.reset(mask=np.zeros(vec.num_envs, bool)).observations
    flags = np.zeros((2, vec.num_envs), bool)
    over = np.zeros(vec.num_envs, bool)
    for action, mask in zip(actions, masks, strict=True):
        before = vec._memory.copy()
        result = vec.step(action, mask)
        assert vec._memory[:, : vec.num_envs][:, ~mask].tobytes() == before[:, : vec.num_envs][:, ~mask].tobytes()
        assert bits(result.observations, ~mask) == bits(last, ~mask)
        assert not result.rewards[~mask].any()
        assert np.array_equal(np.array([result.terminated, result.truncated])[:, ~mask], flags[:, ~mask])
        for i in np.flatnonzero(~mask):
            assert result.infos[i] == {}
        for i in np.flatnonzero(mask):
            if over[i] and mode == "disabled":
                assert (result.rewards[i], result.infos[i]) == (0.0, {})
                continue
            if over[i]:
                one = singles[i].reset()
                assert bits(result.observations, i) == bits(one.observation)
                assert result.rewards[i] == 0.0
                assert repr(result.infos[i]) == repr({**one.info, "reset": True})  # as text NaN is NaN
                assert not result.valid[i]
                over[i] = False
                continue
            one = singles[i].step(action[i])
            expected = (one.reward, one.terminated, one.truncated)
            assert (result.rewards[i], result.terminated[i], result.truncated[i]) == expected
            shown = bits(result.observations, i)
            if one.done and mode == "same_step":
                assert repr(result.infos[i]["final_info"]) == repr(one.info)
                assert bits(result.infos[i]["final_observation"]) == bits(one.observation)
                assert shown == bits(singles[i].reset().observation)
            else:
                assert shown == bits(one.observation)
                assert repr(result.infos[i]) == repr(one.info)
                over[i] = one.done
        last, flags = result.observations, np.array([result.terminated, result.truncated])


def test_partial_reset_touches_no_other_lane(env_id, mode):
    vec = make(env_id, mode=mode)
    run(vec, draw(vec, 9))
    mask = np.arange(vec.num_envs) % 3 == 0
    seeds = [10 + i if i % 2 else None for i in range(vec.num_envs)]
    before, last = vec._memory.copy(), vec.step(draw(vec, 1)[0], np.zeros(vec.num_envs, bool)).observations
    result = vec.reset(seed=seeds, mask=mask)
    n = vec.num_envs
    assert vec._memory[:, :n][:, ~mask].tobytes() == before[:, :n][:, ~mask].tobytes()
    assert bits(result.observations, ~mask) == bits(last, ~mask)
    single = sekai.make(env_id)
    for i in np.flatnonzero(mask):
        if seeds[i] is not None:
            assert bits(result.observations, i) == bits(single.reset(seed=seeds[i]).observation)
    assert not vec._book_row("elapsed")[mask].any()


def test_partial_reset_needs_a_whole_one_first(env_id):
    vec = sekai.make_vec(env_id, 3)
    with pytest.raises(ResetRequired, match="reset all lanes"):
        vec.reset(mask=np.array([True, False, False]))


def test_mask_of_the_wrong_kind_changes_nothing(env_id):
    vec = make(env_id)
    before = vec._memory.copy()
    for mask, error in ((np.ones(3, bool), ValueError), (np.ones(7, int), TypeError)):
        with pytest.raises(error, match="mask must"):
            vec.step(draw(vec, 1)[0], mask)
        with pytest.raises(error, match="mask must"):
            vec.reset(seed=1, mask=mask)
    assert vec._memory.tobytes() == before.tobytes()


def test_a_lane_with_its_own_parameters_is_the_single_env_with_them(env_id):
    numbers = list(numbers_of(make(env_id)).items())[:3]
    values = {name: number * np.linspace(0.9, 1.1, 5) for name, number in numbers}
    vec = make(env_id, n=5, **{name: sekai.PerLane(v) for name, v in values.items()})
    actions = draw(vec, 30)
    results = run(vec, actions)
    seeds = sekai.lane_seeds(5, 5)
    for i in range(5):
        single = sekai.make(env_id, max_episode_steps=LIMIT, **{name: float(v[i]) for name, v in values.items()})
        single.reset(seed=seeds[i])
        for action, result in zip(actions, results, strict=True):
            one = single.step(action[i])
            assert (result.rewards[i], result.terminated[i], result.truncated[i]) == (
                one.reward,
                one.terminated,
                one.truncated,
            )
            shown = single.reset() if one.done else one
            assert bits(result.observations, i) == bits(shown.observation)


def test_set_attr_takes_effect_at_the_next_step(env_id):
    vec, other = make(env_id, n=4), make(env_id, n=4)
    name, number = next(iter(numbers_of(vec).items()))
    value = number * 0.9
    vec.set_attr(name, [value] * 4)
    other.set_attr(name, value)
    assert vec.get_attr(name) == [value] * 4 == other.get_attr(name)
    for action in draw(vec, 20):
        assert same(vec.step(action), other.step(action))
    with pytest.raises(AttributeError, match="no parameter 'nonsense'"):
        vec.set_attr("nonsense", 1)
    with pytest.raises(ValueError, match="one entry per lane, 4, got 3"):
        vec.set_attr(name, [1.0] * 3)


@pytest.mark.parametrize("steps", [0, 1, 11, 12, 13, 25])
def test_a_snapshot_replays_exactly(env_id, mode, steps):
    vec = make(env_id, mode=mode)
    actions = draw(vec, steps + 30)
    run(vec, actions[:steps])
    state = pickle.loads(pickle.dumps(vec.get_state()))
    expected = run(vec, actions[steps:])
    vec.set_state(state)
    assert all(map(same, expected, run(vec, actions[steps:])))
    other = sekai.make_vec(env_id, vec.num_envs, max_episode_steps=LIMIT, vector_kwargs={"autoreset": mode})
    other.set_state(state)
    assert all(map(same, expected, run(other, actions[steps:])))


def test_a_snapshot_of_lanes_goes_into_other_lanes(env_id):
    vec = make(env_id)
    actions = draw(vec, 40)
    run(vec, actions[:10])
    state = vec.get_state([1, 4])
    vec.set_state(state, [6, 0])
    for action in actions[10:]:
        action = action.copy()
        action[6], action[0] = action[1], action[4]
        result = vec.step(action)
        for to, source in ((6, 1), (0, 4)):
            assert bits(result.observations, to) == bits(result.observations, source)
            assert result.rewards[to] == result.rewards[source]


def test_a_snapshot_that_does_not_fit_is_refused_whole(env_id):
    vec = make(env_id)
    state, before = vec.get_state(), vec._memory.copy()
    with pytest.raises(ValueError, match="num_lanes is 7, the batch's 2"):
        vec.set_state(state, [0, 1])
    with pytest.raises(TypeError, match="state must be what get_state"):
        vec.set_state(vec._memory)
    with pytest.raises(IndexError, match=r"lanes must lie in 0 … 6, got 7"):
        vec.set_state(vec.get_state([0]), [7])
    with pytest.raises(ValueError, match="each lane once"):
        vec.get_state([1, 1])
    name, number = next(iter(numbers_of(vec).items()))
    other = make(env_id, **{name: number * 0.9})
    with pytest.raises(ValueError, match="does not fit: parameter"):
        other.set_state(state)
    assert vec._memory.tobytes() == before.tobytes()


@pytest.mark.parametrize("make", [sekai.make_vec, lambda *args: sekai.make_vec(*args, vectorization_mode="sync")])
@pytest.mark.parametrize("seed", [np.arange(3), (0, 1, 2), np.arange(4.0)])
def test_seeds_per_lane_come_in_a_list(make, seed):
    vec = make("CartPole-v1", 3)
    first = vec.reset(seed=list(np.arange(3))).observations
    with pytest.raises(TypeError, match=r"an int, a list with one seed per lane or None, got .*: pass list\(seed"):
        vec.reset(seed=seed)
    assert bits(vec.reset(seed=[0, 1, 2]).observations) == bits(first)


def test_a_snapshot_tells_which_shared_array_is_another():
    prices = np.linspace(1.0, 2.0, 100)

    def batch(prices=prices, episode_length=10, **arguments):
        vec = sekai.make_vec("Trading-v0", 2, prices=prices, lookback=5, episode_length=episode_length, **arguments)
        vec.reset(seed=0)
        return vec

    state = batch().get_state()
    for name, other in {
        "history": batch(prices + 1.0),
        "positions": batch(positions=[0.0, 1.0, 2.0]),
        "costs": batch(transaction_cost=0.5),
        "episode_length": batch(episode_length=11),
    }.items():
        before = other._memory.copy()
        with pytest.raises(ValueError, match=f"does not fit: '{name}', which all its lanes share, is not the batch's"):
            other.set_state(state)
        assert other._memory.tobytes() == before.tobytes()
    batch(sampler="sequential").set_state(state)  # how episodes begin does not matter to running ones


def test_a_lane_taken_out_and_put_back(env_id, mode):
    vec, twin = make(env_id, mode=mode), make(env_id, mode=mode)
    actions = draw(vec, 30)
    run(vec, actions[:7])
    run(twin, actions[:7])
    single = vec.lane(3)
    assert single.elapsed_steps == vec._book_row("elapsed")[3]
    assert bits(single.unwrapped.observe()) == bits(vec.reset(mask=np.zeros(7, bool)).observations, 3)
    single.step(actions[7, 3])
    others = np.arange(7) != 3
    vec.step(actions[7], others)
    vec.set_lane(3, single)
    twin.step(actions[7])
    assert all(map(same, run(vec, actions[8:]), run(twin, actions[8:])))
    with pytest.raises(TypeError, match="must be a single env over"):
        vec.set_lane(0, sekai.TimeLimit(Plain(), 3))


class Plain(sekai.Env):
    def reset(self, *, seed=None, options=None):
        return sekai.ResetResult(0, {})

    def step(self, action):
        return sekai.StepResult(0, 0.0, False, False, {})


def test_results_are_never_changed_by_later_steps(env_id):
    vec = make(env_id)
    kept = []
    for t, action in enumerate(draw(vec, 40)):
        result = vec.step(action)
        rows = map_arrays(lambda array: array[1:3], result.observations)
        part = (rows, result.rewards, result.infos) if t % 3 else (result.terminated.view(np.int8),)
        kept.append((part, pickle.dumps([list(x) if hasattr(x, "arrays") else x for x in part])))
        del result, rows
    for part, then in kept:
        assert pickle.dumps([list(x) if hasattr(x, "arrays") else x for x in part]) == then


def test_without_copies_two_sets_of_arrays_take_turns(env_id):
    vec = sekai.make_vec(env_id, 7, max_episode_steps=LIMIT, vector_kwargs={"copy": False})
    vec.reset(seed=5)
    fresh = make(env_id)
    results = []
    for action in draw(vec, 20):
        result = vec.step(action)
        assert same(result, fresh.step(action))
        results.append(result)
    arrays = [leaves(result.observations)[0] for result in results]
    assert len(set(map(id, arrays))) == 2
    assert arrays[-1] is arrays[-3]


def test_arrays_that_nobody_holds_are_used_again(env_id):
    vec = make(env_id)
    places = []
    for action in draw(vec, 10):
        result = vec.step(action)
        places.append(leaves(result.observations)[0].ctypes.data)
        others = [np.empty_like(array) for array in leaves(result.observations)]  # take the places of what was let go
        del result, others
    assert len(set(places[2:])) == 2


@pytest.mark.parametrize("n", [1, 1024, 5000])
def test_any_number_of_threads_gives_the_same(env_id, mode, n):
    batches = []
    for threads in (1, 2, 3):
        vec = sekai.make_vec(
            env_id, n, max_episode_steps=LIMIT, vector_kwargs={"autoreset": mode, "num_threads": threads}
        )
        vec.reset(seed=1)
        batches.append(vec)
    for action in draw(batches[0], 16):
        first, *others = [vec.step(action) for vec in batches]
        for other in others:
            assert bits(first.observations) == bits(other.observations)
            assert first.final_lanes.tobytes() == other.final_lanes.tobytes()
            assert bits(first.final_observations) == bits(other.final_observations)
            assert first.rewards.tobytes() == other.rewards.tobytes()
    memories = {vec._memory.tobytes() for vec in batches}
    assert len(memories) == 1


def test_bad_actions_change_nothing_with_threads_either(env_id):
    vec = sekai.make_vec(env_id, 5000, vector_kwargs={"num_threads": 2})
    vec.reset(seed=1)
    action, before = draw(vec, 1)[0], vec._memory.copy()
    if vec._actions.dtype == np.int64:
        action[4999] = vec._actions.bounds.max() + 1
    else:
        action[4999] = np.nan
    with pytest.raises(sekai.error.InvalidAction, match="of lane 4999 does not lie in"):
        vec.step(action)
    assert vec._memory.tobytes() == before.tobytes()


def test_two_python_threads_step_two_batches_at_once(env_id):
    def work(vec, actions, results):
        results.extend(bits(vec.step(action).observations) for action in actions)

    batches = [sekai.make_vec(env_id, 3000, vector_kwargs={"num_threads": 2}) for _ in range(3)]
    for vec in batches:
        vec.reset(seed=2)
    actions = draw(batches[0], 30)
    outcomes = [[], [], []]
    threads = [threading.Thread(target=work, args=(batches[k], actions, outcomes[k])) for k in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    work(batches[2], actions, outcomes[2])
    assert outcomes[0] == outcomes[1] == outcomes[2]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_goes_on(env_id):
    vec = sekai.make_vec(env_id, 3000, vector_kwargs={"num_threads": 2})
    vec.reset(seed=2)
    actions = draw(vec, 6)
    run(vec, actions[:3])  # the parent's threads exist now
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, bits(vec.step(actions[3]).observations)[:60000])
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        got = pipe.read()
    os.waitpid(child, 0)
    assert got == bits(vec.step(actions[3]).observations)[:60000]
    assert got


def test_a_frozen_lane_stays_frozen_when_the_mode_becomes_same_step(env_id):
    vec = make(env_id, mode="disabled", limit=3)
    actions = draw(vec, 8)
    ended = run(vec, actions[:4])[-1]
    assert ended.dones.all()
    before = vec._memory.copy()
    vec.autoreset_mode = "same_step"
    frozen = vec.step(actions[4])
    assert same(frozen, ended)
    assert vec._memory.tobytes() == before.tobytes()
    vec.reset(mask=np.arange(7) < 2)
    result = vec.step(actions[5])
    assert result.valid.tolist() == [True] * 2 + [False] * 5
    assert result.dones.tolist() == [False] * 2 + [True] * 5


def test_machine_code_is_kept_on_disk(env_id):
    """Whatever the programs reach, it can be told whether it has changed: they come from the cache next time."""
    vec = make(env_id)
    for name in ENTRIES:
        assert fingerprint(getattr(vec._program, name))[1], name
