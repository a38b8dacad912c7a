"""The function `rollout`: its arguments, where it begins and what it refuses."""

import sys

import numpy as np
import pytest

import sekai
from sekai import policies
from sekai.error import VecEnvClosed
from sekai.kernels import kernel


def test_a_batch_that_was_never_reset_is_reset_first(lib):
    vec = sekai.make_vec("CartPole-v1", 3)
    found = sekai.rollout(vec, "random", 2)
    assert np.array_equal(vec._book_row("elapsed"), [2, 2, 2])
    again = sekai.rollout(sekai.make_vec("CartPole-v1", 3), "random", 2, seed=vec.initial_seed)
    lib.assert_same(found, again)


@pytest.mark.parametrize("policy", ["random", lambda observations: np.ones(5, int)])
def test_a_rollout_goes_on_from_where_the_batch_is(lib, policy, mode):
    vec, other = lib.make(n=5, mode=mode), lib.make(n=5, mode=mode)
    whole = sekai.rollout(other, policy, 50)
    halves = [sekai.rollout(vec, policy, 25) for _ in range(2)]
    for name in ("observations", "actions", "rewards", "terminated", "truncated", "valid"):
        assert lib.bits(np.concatenate([getattr(half, name) for half in halves])) == lib.bits(getattr(whole, name))
    assert lib.memory(vec) == lib.memory(other)


def test_seed_resets_as_reset_does(lib):
    vec = lib.make(n=5, seed=1)
    sekai.rollout(vec, "random", 7)
    found = sekai.rollout(vec, "random", 20, seed=np.int64(8))
    lib.assert_same(found, sekai.rollout(lib.make(n=5, seed=8), "random", 20))


def test_steps_after_a_rollout_go_on_from_it(lib):
    vec, other = lib.make(n=5), lib.make(n=5)
    found = sekai.rollout(vec, "random", 12)
    for row in found.actions:
        last = other.step(row)
    assert lib.bits(last.observations) == lib.bits(found.last_observations)
    one, two = vec.step(np.ones(5, int)), other.step(np.ones(5, int))
    assert lib.bits(one.observations) == lib.bits(two.observations)


@pytest.mark.parametrize("policy", ["random", lambda observations: np.ones(2, int)])
@pytest.mark.parametrize("terminal", [False, True])
def test_progress_is_shown_on_a_terminal(lib, policy, terminal, capsys, monkeypatch):
    if terminal:
        monkeypatch.setenv("TTY_COMPATIBLE", "1")
    found = sekai.rollout(lib.make(n=2), policy, 5, progress=True)
    lib.assert_same(found, sekai.rollout(lib.make(n=2), policy, 5))
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "Rolling out" in printed.err if terminal else printed.err == ""


def test_progress_without_rich(lib, monkeypatch):
    vec = lib.make(n=2)
    before = lib.memory(vec)
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    with pytest.raises(ImportError, match=r"a progress bar needs rich: pip install"):
        sekai.rollout(vec, "random", 5, seed=1, progress=True)
    assert lib.memory(vec) == before


BAD = [
    (dict(num_steps=0), ValueError, "num_steps"),
    (dict(num_steps=2.5), TypeError, "num_steps"),
    (dict(num_threads=0), ValueError, "num_threads"),
    (dict(num_threads="2"), TypeError, "num_threads"),
    (dict(seed=-1), ValueError, "seed"),
    (dict(seed=1.5), TypeError, "seed"),
    (dict(seed=[1, 2, 3]), TypeError, "seed"),
    (dict(record="rewards"), TypeError, "record must be a sequence of names or None, got 'rewards'"),
    (dict(progress=1), TypeError, "progress must be a bool, got 1"),
    (dict(policy=[[0], [0, 1]]), ValueError, "actions must not have rows of different lengths"),
    (dict(num_steps=2**62), ValueError, f"num_steps must be .* that can be recorded, got {2**62}"),
    (dict(record=1), TypeError, "record must be a sequence of names or None, got 1"),
    (dict(record=["reward"]), ValueError, "among observations, .*, elapsed_steps, got 'reward'"),
    (dict(policy="rando"), TypeError, "policy must be .* got 'rando'"),
    (dict(policy=None), TypeError, "policy must be .* got None"),
    (dict(policy=policies.Random), TypeError, "policy must be .* got <class"),
    (dict(policy={"a": 1}), TypeError, "policy must be"),
    (dict(policy=3), ValueError, r"must have shape \(4, 3\), got \(\)"),
    (dict(policy=np.zeros((4, 2), int)), ValueError, r"must have shape \(4, 3\), got \(4, 2\)"),
    (dict(policy=np.zeros((5, 3), int)), ValueError, r"must have shape \(4, 3\), got \(5, 3\)"),
    (dict(policy=np.zeros((4, 3, 1), int)), ValueError, r"must have shape \(4, 3\), got \(4, 3, 1\)"),
    (dict(policy=np.zeros((4, 3))), sekai.InvalidAction, "does not lie in Discrete"),
    (dict(policy=np.array([[0, 0, 0]] * 3 + [[0, 2, 0]])), sekai.InvalidAction, "2.* of lane 1 does not lie"),
    (dict(policy=policies.Constant(2)), ValueError, r"action must lie in Discrete\(2\), got \[\[2.0\]\]"),
    (dict(policy=policies.Constant([[0], [1]])), ValueError, "divides the 3 lanes, got 2"),
]


@pytest.mark.parametrize(("arguments", "error", "message"), BAD, ids=lambda value: str(value)[:40])
def test_bad_arguments_are_named_and_change_nothing(lib, arguments, error, message):
    vec = lib.make(n=3)
    before = lib.memory(vec)
    with pytest.raises(error, match=message):
        sekai.rollout(vec, **{"policy": "random", "num_steps": 4, **arguments})
    assert lib.memory(vec) == before
    lib.assert_same(*(sekai.rollout(batch, "random", 4) for batch in (vec, lib.make(n=3))))


class Misspelt(policies.Policy):
    @kernel
    def act_lane(w, obs, rng, action, i):
        action[i] = obs.angle[i]


class Impossible(policies.Policy):
    always_valid = True  # it says

    @kernel
    def act_lane(w, obs, rng, action, i):
        action[i] = w


REFUSED = [
    (policies.Policy(), TypeError, "Policy must define act_lane"),
    (Misspelt(), TypeError, "Misspelt.act_lane does not compile"),
    (Impossible([0.0]), TypeError, "Impossible.act_lane does not compile"),
    ("hesitant", sekai.InvalidAction, "of lane 2 does not lie in Discrete"),
]


@pytest.mark.parametrize(("policy", "error", "message"), REFUSED, ids=lambda value: str(value)[:20])
@pytest.mark.parametrize("seed", [None, 8])
def test_policies_that_are_refused_undo_the_reset_too(lib, policy, error, message, seed):
    generators = [np.random.default_rng(k) for k in range(3)]
    vec, other = (sekai.make_vec("CartPole-v1", 3) for _ in range(2))
    vec.reset(seed=generators)
    other.reset(seed=[np.random.default_rng(k) for k in range(3)])
    own = lib.Hesitant([0.0, 0.0])
    for batch in (vec, other):
        sekai.rollout(batch, own, 30)
        batch.step(np.array([0, 1, 0]))
    drawn = generators[1].bit_generator.state
    with pytest.raises(error, match=message):
        sekai.rollout(vec, lib.Hesitant([0.0, -3.0]) if policy == "hesitant" else policy, 5, seed=seed)
    assert generators[1].bit_generator.state == drawn
    assert lib.memory(vec) == lib.memory(other)
    for choices in (own, "random"):
        lib.assert_same(*(sekai.rollout(batch, choices, 40) for batch in (vec, other)))


@pytest.mark.parametrize(("policy", "error", "message"), REFUSED[:2], ids=["none", "misspelt"])
def test_a_batch_that_was_never_reset_still_is_not_after_a_refusal(lib, policy, error, message):
    vec = sekai.make_vec("CartPole-v1", 3)
    with pytest.raises(error, match=message):
        sekai.rollout(vec, policy, 5)
    assert vec.initial_seed is None
    with pytest.raises(sekai.ResetRequired):
        vec.step(np.zeros(3, int))
    other = lib.make(n=3, seed=4, limit=500)
    lib.assert_same(sekai.rollout(vec, "random", 9, seed=4), sekai.rollout(other, "random", 9))


def test_actions_of_another_shape_reset_no_batch_of_single_envs():
    vec = sekai.SyncVecEnv([lambda: sekai.make("Pendulum-v1")] * 2)
    vec.reset(seed=1)
    before = vec.envs[0].unwrapped._vec._memory.tobytes()
    with pytest.raises(ValueError, match=r"an array of actions must have shape \(4, 2, 1\), got \(4, 2\)"):
        sekai.rollout(vec, np.zeros((4, 2)), 4, seed=9)
    assert vec.envs[0].unwrapped._vec._memory.tobytes() == before


def test_names_to_record_may_come_in_an_array(lib):
    found = sekai.rollout(lib.make(n=3), "random", 4, record=np.array(["rewards", "actions"]))
    assert found.rewards.tolist() == [[1.0] * 3] * 4
    assert found.actions.shape == (4, 3)
    assert found.observations is None


@pytest.mark.parametrize("vec", ["CartPole-v1", sekai.make("CartPole-v1"), None])
def test_what_is_no_batch_is_refused(vec):
    with pytest.raises(TypeError, match=r"vec must be a VecEnv, which sekai\.make_vec makes, got "):
        sekai.rollout(vec, "random", 3)


def test_a_closed_batch_is_refused(lib):
    vec = lib.make()
    vec.close()
    with pytest.raises(VecEnvClosed):
        sekai.rollout(vec, "random", 3)


def test_infos_are_known_of_kernel_envs_only():
    vec = sekai.SyncVecEnv([lambda: sekai.make("CartPole-v1")])
    with pytest.raises(ValueError, match="got 'elapsed_steps'"):
        sekai.rollout(vec, "random", 3, record=["elapsed_steps"])


def test_a_compiled_policy_needs_a_kernel_env():
    vec = sekai.SyncVecEnv([lambda: sekai.make("CartPole-v1")])
    with pytest.raises(TypeError, match=r"a compiled policy needs a kernel env, got SyncVecEnv\(num_envs=1\)"):
        sekai.rollout(vec, policies.Constant(0), 3)


@pytest.mark.parametrize("bound", [np.inf, 1e308])
def test_random_actions_need_bounds(lib, bound):
    class Free(lib.TankVecEnv):
        action_space = sekai.Box(-bound, bound, (2,), np.float64)

    with pytest.raises(ValueError, match="random actions need a bounded action space"):
        sekai.rollout(Free(2), "random", 3)
