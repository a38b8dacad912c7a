"""Errors: their texts, their attributes, and that they survive pickling and copying."""

import copy
import pickle

import pytest

from sekai import error

EXAMPLES = [
    error.SekaiError("one", 2),
    error.EnvNotFound("Foo-v0", suggestions=["Fo-v0", "Fooo-v0"]),
    error.EnvNotFound("Foo-v0", reason="has no entry point"),
    error.EnvAlreadyRegistered("Foo-v0"),
    error.InvalidAction(5, "Discrete(2)"),
    error.InvalidAction(5, "Discrete(2)", lane=3),
    error.InvalidAction(5, "Discrete(2)", reason="it is too large"),
    error.InvalidObservation(obs=-1, space="Discrete(2)"),
    error.ResetRequired(),
    error.ResetRequired("the episode is over"),
    error.AsyncCallPending(),
    error.AsyncCallPending(message="call send() before recv()"),
    error.SpaceMismatch("shapes differ"),
    error.DeprecatedAPI("a", new="b"),
    error.VecEnvWorkerError(3, "KeyError", "boom", remote_traceback="File x, line 1"),
    error.VecEnvWorkerError(3, "WorkerDied", "exit code 1", "", worker="Worker 1 (sub-envs 3-4)"),
    error.VecEnvClosed(),
    error.LookAheadError("return 7 knows return 8"),
]


def test_every_class_has_an_example():
    assert {type(example).__name__ for example in EXAMPLES} == set(error.__all__)


@pytest.mark.parametrize("original", EXAMPLES, ids=lambda example: type(example).__name__)
@pytest.mark.parametrize(
    "duplicate",
    [copy.copy, copy.deepcopy, *(lambda e, p=p: pickle.loads(pickle.dumps(e, p)) for p in range(6))],
    ids=["copy", "deepcopy", *(f"pickle{p}" for p in range(6))],
)
def test_duplicates_are_equal_in_type_text_and_attributes(original, duplicate):
    twin = duplicate(original)
    assert type(twin) is type(original)
    assert str(twin) == str(original)
    assert twin.args == original.args
    assert vars(twin) == vars(original)


def test_a_duplicate_keeps_what_was_added_later():
    original = error.SpaceMismatch("shapes differ")
    original.lane = 3
    assert pickle.loads(pickle.dumps(original)).lane == 3


@pytest.mark.parametrize("name", [name for name in error.__all__ if name != "SekaiError"])
def test_classes_derive_directly_from_the_base(name):
    assert getattr(error, name).__bases__ == (error.SekaiError,)


def test_env_not_found_names_the_id_and_its_neighbours():
    found = error.EnvNotFound("Foo-v0", ["Fo-v0", "Fooo-v0"])
    assert (found.id, found.suggestions) == ("Foo-v0", ("Fo-v0", "Fooo-v0"))
    assert "'Foo-v0'" in str(found)
    assert "Did you mean 'Fo-v0' or 'Fooo-v0'?" in str(found)
    assert "all_specs" in str(found)
    assert error.EnvNotFound("A").suggestions == ()
    assert "Did you mean" not in str(error.EnvNotFound("A"))


def test_reset_required_falls_back_to_a_hint():
    for empty in (None, ""):
        assert "reset()" in str(error.ResetRequired(empty))
        assert "step()" in str(error.ResetRequired(empty))
    assert str(error.ResetRequired("the episode is over")) == "the episode is over"


def test_worker_error_tells_where_and_what():
    failed = error.VecEnvWorkerError(3, "KeyError", "boom", "File x, line 1")
    assert (failed.rank, failed.exc_type, failed.remote_traceback) == (3, "KeyError", "File x, line 1")
    assert str(failed).startswith("Sub-env 3 raised KeyError: boom")
    assert str(failed).endswith("File x, line 1")
    assert str(error.VecEnvWorkerError(3, "KeyError", "boom", "")).endswith("KeyError: boom")
    lost = error.VecEnvWorkerError(3, "WorkerDied", "exit code 1", "", worker="Worker 1 (sub-envs 3-4)")
    assert (lost.rank, str(lost)) == (3, "Worker 1 (sub-envs 3-4) raised WorkerDied: exit code 1")


@pytest.mark.parametrize("cls", [error.InvalidAction, error.InvalidObservation])
def test_invalid_values_are_shown_with_their_space(cls):
    text = str(cls([5], "a space"))
    assert "[5]" in text
    assert "'a space'" in text


def test_an_invalid_action_names_its_lane():
    assert "action 5 of lane 3" in str(error.InvalidAction(5, "a space", lane=3))
    assert str(error.InvalidAction(5, "a space")) == "action 5 does not lie in 'a space'."
    assert str(error.InvalidAction(5, "a space", reason="why")) == "action 5 does not lie in 'a space': why."


@pytest.mark.parametrize(
    ("name", "args"), [("EnvNotFound", ()), ("SpaceMismatch", ()), ("VecEnvClosed", ("x",)), ("AsyncCallPending", (1,))]
)
def test_wrong_arity(name, args):
    with pytest.raises(TypeError):
        getattr(error, name)(*args)
