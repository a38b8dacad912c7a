"""Rollouts in compiled code against the same steps one by one, in a batch and in single environments."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sekai
from sekai import policies
from sekai.rollouts import fused

LANES, STEPS, LIMIT = 1030, 40, 25  # two blocks of lanes
GROUPS = 5  # of 206 lanes: the last ends in the second block


def everything(vec):
    return (*fused.ARRAYS, *vec._step_infos.names)


# ---- fused = stepped = single --------------------------------------------------------------------


def test_fused_is_stepped_is_single(lib, kind, mode):
    env_id, policy = kind[0], lib.KINDS[kind]

    def batch():
        return lib.make(env_id, LANES, mode, LIMIT)

    vec = batch()
    found = sekai.rollout(vec, policy(vec, GROUPS), STEPS, record=everything(vec), num_threads=1)
    assert found.episodes.lengths.size > LANES / 2

    other = batch()
    threads = sekai.rollout(other, policy(other, GROUPS), STEPS, record=everything(vec), num_threads=2)
    lib.assert_same(threads, found)
    assert lib.memory(other) == lib.memory(vec)

    assert_stepping_gives(lib, batch(), found)

    other, rows = batch(), iter(found.actions)
    lib.assert_same(sekai.rollout(other, lambda observations: next(rows), STEPS, record=everything(vec)), found)
    assert lib.memory(other) == lib.memory(vec)

    other = batch()
    lib.assert_same(sekai.rollout(other, found.actions, STEPS, record=everything(vec)), found)
    assert lib.memory(other) == lib.memory(vec)


def assert_stepping_gives(lib, vec, found):
    """Stepping a batch with a rollout's actions gives what the rollout recorded."""
    finals = []
    observations = vec.reset(mask=np.zeros(vec.num_envs, bool)).observations
    for t, actions in enumerate(found.actions):
        result = vec.step(actions)
        assert lib.bits(lib.entry(found.observations, t)) == lib.bits(observations)
        for name in ("rewards", "terminated", "truncated", "valid"):
            assert lib.bits(getattr(found, name)[t]) == lib.bits(getattr(result, name)), name
        for name, array in result.infos.arrays.items():
            assert lib.bits(found.infos[name][t]) == lib.bits(array), name
        finals.append(result.final_observations)
        observations = result.observations
    assert lib.bits(found.last_observations) == lib.bits(observations)
    assert lib.bits(found.episodes.final_observations) == lib.bits(lib.joined(finals))


def test_a_lane_is_a_batch_of_one(lib, kind):
    env_id, policy = kind[0], lib.KINDS[kind]
    vec = lib.make(env_id, LANES, limit=LIMIT)
    chooser = policy(vec, GROUPS)
    found = sekai.rollout(vec, chooser, STEPS)
    for i in (0, 205, 206, 1023, 1024, LANES - 1):
        one = lib.make(env_id, 1, limit=LIMIT, seed=[sekai.lane_seeds(3, LANES)[i]])
        single = policy(one, 1)
        if isinstance(single, policies.Policy):
            single.weights = chooser.weights[i // 206 if len(chooser.weights) > 1 else 0]
        alone = sekai.rollout(one, single, STEPS)
        for name in fused.ARRAYS:
            assert lib.bits(getattr(alone, name)[:, 0]) == lib.bits(getattr(found, name)[:, i]), name


def test_random_rollouts_of_every_env(lib, env_id):
    """And those of given actions, which run in the same machine code."""
    vec = lib.make(env_id, 9, limit=10)
    found = sekai.rollout(vec, "random", 25, record=everything(vec))
    assert_stepping_gives(lib, lib.make(env_id, 9, limit=10), found)
    vec = lib.make(env_id, 9, limit=10)
    lib.assert_same(sekai.rollout(vec, found.actions, 25, record=everything(vec)), found)
    low, high = vec._actions.bounds
    numbers = found.actions.reshape(25 * 9, -1)
    assert ((low <= numbers) & (numbers <= high)).all()


def test_given_float32_actions_are_calculated_with_as_such(lib):
    vec = lib.make("Pendulum-v1", 5, limit=10)
    actions = np.random.default_rng(0).uniform(-3, 3, (20, 5, 1)).astype(np.float32)  # the env clips them
    found = sekai.rollout(vec, actions, 20, record=everything(vec))
    assert lib.bits(found.actions) == lib.bits(actions)
    assert_stepping_gives(lib, lib.make("Pendulum-v1", 5, limit=10), found)
    rows = iter(actions)
    vec = lib.make("Pendulum-v1", 5, limit=10)
    lib.assert_same(sekai.rollout(vec, lambda observations: next(rows), 20, record=everything(vec)), found)
    wide = sekai.rollout(lib.make("Pendulum-v1", 5, limit=10), actions.astype(np.float64), 20)
    assert not np.array_equal(wide.rewards, found.rewards)


@pytest.mark.parametrize("kind_", [("CartPole-v1", "random"), ("CartPole-v1", "relu, sample"), ("CartPole-v1", "own")])
def test_debug_gives_the_same_in_plain_python(lib, kind_):
    def run(debug):
        vec = lib.make(kind_[0], 4, limit=6, debug=debug)
        return sekai.rollout(vec, lib.KINDS[kind_](vec, 2), 15, record=everything(vec))

    lib.assert_same(run(True), run(False))


def test_an_env_of_one_generator_of_another_kind_is_stepped(lib):
    def batch():
        return lib.make("CartPole-v1", 1, seed=[np.random.Generator(np.random.MT19937(1))])

    actions = np.ones((30, 1), np.int64)
    found, vec = sekai.rollout(batch(), actions, 30), batch()
    assert np.array_equal([vec.step(row).observations for row in actions[:-1]], found.observations[1:])
    with pytest.raises(TypeError, match="a compiled policy needs a kernel env"):
        sekai.rollout(batch(), policies.Constant(1), 3)


def test_lanes_stay_frozen_when_the_mode_changes(lib):
    def batch():
        vec = lib.make(n=1100, mode="disabled", limit=12)
        sekai.rollout(vec, "random", 11)
        vec.autoreset_mode = "same_step"
        return vec

    vec = batch()
    frozen = vec._book_row("ending") != 0
    found = sekai.rollout(vec, "random", 30, record=everything(vec))
    assert 0 < frozen.sum() < 1100
    assert np.array_equal(found.valid, np.tile(~frozen, (30, 1)))
    assert not found.rewards[:, frozen].any()
    assert_stepping_gives(lib, batch(), found)
    rows, vec = iter(found.actions), batch()
    lib.assert_same(sekai.rollout(vec, lambda observations: next(rows), 30, record=everything(vec)), found)


# ---- however it is cut up ------------------------------------------------------------------------


@given(
    lanes=st.integers(1, 2100),
    cuts=st.lists(st.integers(1, 9), min_size=1, max_size=4),
    chunk=st.integers(1, 20_000),
    room=st.integers(1, 10_000),
    threads=st.integers(1, 3),
    limit=st.sampled_from([None, 1, 2, 7]),
    mode=st.sampled_from(["same_step", "next_step", "disabled"]),
    record=st.sets(st.sampled_from([*fused.ARRAYS, "elapsed_steps"])).map(sorted),
)
def test_cuts_threads_chunks_and_records_change_nothing(lib, lanes, cuts, chunk, room, threads, limit, mode, record):
    if limit is None and "elapsed_steps" in record:
        record.remove("elapsed_steps")
    whole = lib.make("CartPole-v1", lanes, mode, limit, seed=1)
    want = sekai.rollout(whole, "random", sum(cuts))
    parts = lib.make("CartPole-v1", lanes, mode, limit, seed=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fused, "CHUNK", chunk)
        patch.setattr(fused, "ROOM", room)
        found = [sekai.rollout(parts, "random", cut, record=record, num_threads=threads) for cut in cuts]
    assert lib.memory(parts) == lib.memory(whole)
    for name in set(record) & set(fused.ARRAYS):
        assert lib.bits(np.concatenate([getattr(part, name) for part in found])) == lib.bits(getattr(want, name))
    starts = np.cumsum([0, *cuts[:-1]])
    for name in ("returns", "lengths", "lanes", "terminated", "truncated"):
        joined = np.concatenate([getattr(part.episodes, name) for part in found])
        assert lib.bits(joined) == lib.bits(getattr(want.episodes, name))
    steps = [part.episodes.end_steps + start for part, start in zip(found, starts, strict=True)]
    assert np.array_equal(np.concatenate(steps), want.episodes.end_steps)


def test_more_episodes_than_the_kernel_has_room_for_are_all_there(lib):
    n = 3 * 1024 + 1  # it has room for those of two blocks of lanes
    found = sekai.rollout(lib.make(n=n, limit=1), "random", 2, num_threads=1).episodes
    assert np.array_equal(found.lanes, np.tile(np.arange(n), 2))
    assert np.array_equal(found.end_steps, np.repeat([0, 1], n))
    assert (found.returns == 1.0).all()
    assert (found.lengths == 1).all()


def test_statistics_alone_are_those_of_the_episodes(lib, mode):
    vec, other = (lib.make(n=1030, mode=mode) for _ in range(2))
    full, bare = sekai.rollout(vec, "random", 60), sekai.rollout(other, "random", 60, record=None)
    assert bare.statistics == full.statistics
    assert lib.memory(vec) == lib.memory(other)
    assert bare.episodes is None
    assert [getattr(bare, name) for name in lib.FIELDS] == [None] * 7


def test_groups_of_weights_belong_to_consecutive_lanes(lib):
    vec = lib.make(n=12)
    found = sekai.rollout(vec, policies.Constant([[0], [1], [0]]), 3)
    assert np.array_equal(found.actions, np.tile([0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0], (3, 1)))


def test_weights_may_change_between_rollouts(lib):
    vec = lib.make(n=3)
    policy = policies.Constant(0)
    assert not sekai.rollout(vec, policy, 2).actions.any()
    policy.weights = [1]
    assert sekai.rollout(vec, policy, 2).actions.all()


# ---- streams of policies -------------------------------------------------------------------------


@pytest.mark.parametrize("kind_", [("Tank-v0", "random"), ("Tank-v0", "own")])
def test_the_draws_of_the_env_do_not_change_those_of_the_policy(lib, kind_):
    first, second = (
        sekai.rollout(lib.make("Tank-v0", 5, leaks=leaks), lib.KINDS[kind_](None, 1), 20) for leaks in (0, 1)
    )
    assert not np.array_equal(first.rewards, second.rewards)
    column = 0  # the other number of a pump depends on observations
    assert lib.bits(first.actions[..., column]) == lib.bits(second.actions[..., column])


def test_policies_take_no_draw_from_the_env(lib):
    vec, other = (lib.make("Tank-v0", 5, mode="disabled", leaks=0) for _ in range(2))
    sekai.rollout(vec, "random", 20)
    sekai.rollout(other, lib.KINDS["Tank-v0", "own"](None, 1), 20)
    fresh = lib.make("Tank-v0", 5)
    assert lib.bits(vec._rng) == lib.bits(other._rng) == lib.bits(fresh._rng)


@pytest.mark.parametrize("name", ["random", "relu, sample", "own"])
def test_random_choices_of_a_lane_depend_on_its_seed_only(lib, name):
    def actions(seeds):
        vec = lib.make("CartPole-v1", len(seeds), seed=seeds)
        return sekai.rollout(vec, lib.KINDS["CartPole-v1", name](vec, 1), 30).actions

    seeds = [11, 5, 8, 2**100, 0]
    first, second = actions(seeds), actions([1, *seeds[::-1], 3])
    assert np.array_equal(first, second[:, 5:0:-1])
    assert np.unique(first.T, axis=0).shape[0] == 5
    assert np.array_equal(actions([8]), first[:, 2:3])


def test_seeding_again_starts_the_choices_again_and_nothing_else_does(lib):
    vec = lib.make(n=6, seed=4)
    first, second = (sekai.rollout(vec, "random", 20).actions for _ in range(2))
    vec.reset()
    third = sekai.rollout(vec, "random", 20).actions
    again = sekai.rollout(vec, "random", 60, seed=4).actions
    assert np.array_equal(np.concatenate([first, second, third]), again)
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("name", ["random", "own"])
def test_seeding_some_lanes_leaves_the_choices_of_others_alone(lib, name):
    vec, other = lib.make(n=6, seed=4, mode="disabled"), lib.make(n=6, seed=4, mode="disabled")
    policy = lib.KINDS["CartPole-v1", name](vec, 1)
    for batch in (vec, other):
        sekai.rollout(batch, policy, 5)
    vec.reset(seed=9, mask=np.arange(6) < 2)
    found, plain = (sekai.rollout(batch, policy, 20).actions for batch in (vec, other))
    assert np.array_equal(found[:, 2:], plain[:, 2:])
    assert not np.array_equal(found[:, :2], plain[:, :2])


@pytest.mark.parametrize("name", ["random", "own"])
def test_clones_of_a_lane_choose_for_themselves(lib, name):
    vec = lib.make(n=50)
    lane = vec.get_state([0])
    for i in range(50):
        vec.set_state(lane, [i])
    found = sekai.rollout(vec, lib.KINDS["CartPole-v1", name](vec, 1), 40)
    assert (found.observations[0] == found.observations[0, 0]).all()
    assert np.unique(found.actions.T, axis=0).shape[0] > 10


def test_a_batch_begun_by_a_snapshot_has_streams_of_its_lanes(lib):
    other = lib.TankVecEnv(4, max_episode_steps=25)
    other.set_state(lib.make("Tank-v0", 4).get_state())
    found = sekai.rollout(other, "random", 10).actions
    assert np.unique(found[0, :, 0]).size == 4
    assert np.array_equal(found, sekai.rollout(lib.make("Tank-v0", 4), "random", 10).actions)


# ---- actions that may not be ---------------------------------------------------------------------


@pytest.mark.parametrize("record", [None, ("actions",)])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_policy_that_chooses_what_it_may_not_changes_nothing(lib, record, threads):
    vec, other = lib.make(n=2000), lib.make(n=2000)
    bad = lib.Hesitant([[0.0, 0.0]] * 3 + [[0.0, -8.0]])  # lane 7 of a group's observations
    for batch in (vec, other):
        sekai.rollout(batch, lib.Hesitant([0.0, 0.0]), 3)
    before = lib.memory(vec)
    with pytest.raises(sekai.InvalidAction, match=r"action (np.int64\()?7\)? of lane 1507 does not lie in Discrete"):
        sekai.rollout(vec, bad, 5, record=record, num_threads=threads)
    assert lib.memory(vec) == before
    lib.assert_same(*(sekai.rollout(batch, lib.Hesitant([0.0, 0.0]), 10) for batch in (vec, other)))


def test_a_network_that_yields_nan_is_refused(lib):
    vec = lib.make("Tank-v0", 3)
    policy = lib.network(vec, (6,))
    policy.weights[0, -1] = np.nan
    with pytest.raises(sekai.InvalidAction, match="nan"):
        sekai.rollout(vec, policy, 5)


# ---- Ctrl-C --------------------------------------------------------------------------------------


@pytest.mark.parametrize("record", [None, fused.ARRAYS])
def test_ctrl_c_between_chunks_leaves_the_batch_where_it_is(lib, monkeypatch, record):
    vec, other = lib.make(n=100, mode="disabled"), lib.make(n=100, mode="disabled")
    call, calls = fused.uninterrupted, []

    def interrupted(function, *args):
        call(function, *args)
        calls.append(args)
        if len(calls) == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(fused, "uninterrupted", interrupted)
        patch.setattr(fused, "CHUNK", 1_000)
        patch.setattr(fused, "ROOM", 1)
        with pytest.raises(KeyboardInterrupt):
            sekai.rollout(vec, "random", 1_000, record=record)
    done = sum(steps for _, steps in calls)
    assert done == 20
    sekai.rollout(other, "random", done, record=None)
    assert lib.memory(vec) == lib.memory(other)
    lib.assert_same(*(sekai.rollout(batch, "random", 20) for batch in (vec, other)))


def test_lanes_that_are_left_alone_keep_the_flags_of_the_last_step(lib, mode):
    vec, other = lib.make(n=100, mode=mode), lib.make(n=100, mode=mode)
    rows = sekai.rollout(vec, "random", 25, record=("actions",))  # all lanes are cut short with the last step
    for row in rows.actions:
        last = other.step(row)
    nobody = np.zeros(100, bool)
    for batch in (vec, other):
        kept = batch.step(np.zeros(100, np.int64), nobody)
        assert np.array_equal(kept.terminated, last.terminated)
        assert np.array_equal(kept.truncated, last.truncated)
    assert last.dones.any()


def test_ctrl_c_in_the_first_chunk_keeps_the_flags_of_its_last_step(lib, monkeypatch):
    vec, other = lib.make(n=100), lib.make(n=100)
    rows = sekai.rollout(other, "random", 25, record=("actions",)).actions
    other = lib.make(n=100)
    for row in rows:
        last = other.step(row)
    call = fused.uninterrupted

    def interrupted(function, *args):
        call(function, *args)
        raise KeyboardInterrupt

    monkeypatch.setattr(fused, "uninterrupted", interrupted)
    with pytest.raises(KeyboardInterrupt):
        sekai.rollout(vec, "random", 25)
    assert lib.memory(vec) == lib.memory(other)
    assert last.truncated.any()
    assert np.array_equal(vec.step(rows[0], np.zeros(100, bool)).truncated, last.truncated)


def test_chunks_are_shorter_where_the_policy_takes_long(lib, monkeypatch):
    vec = lib.make(n=100)
    slow = lib.network(vec, (40, 40))
    call, steps = fused.uninterrupted, []
    monkeypatch.setattr(fused, "uninterrupted", lambda function, *args: (steps.append(args[1]), call(function, *args)))
    monkeypatch.setattr(fused, "CHUNK", 100_000)
    sekai.rollout(vec, "random", 100, record=None)
    assert steps == [100]
    sekai.rollout(vec, slow, 100, record=None)
    assert slow.num_weights == 1922
    assert steps[1:] == [32, 32, 32, 4]  # a step of 1 + 1922 // 64 = 31 times the work
