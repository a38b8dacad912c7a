"""`sekai bench`: what it counts, and how it says so."""

import json
import re

import pytest

import sekai

COUNTED = "step() with actions drawn beforehand, and reset() where an episode ends"


def test_a_single_env(run, capsys):
    assert run("bench", "CartPole-v1", "--steps", "1234") == 0
    first, second = capsys.readouterr().out.splitlines()
    pattern = r"CartPole-v1 \[single env\]: 1,234 env steps in \d+\.\d\ds = [\d,]+ steps/s"
    assert re.fullmatch(pattern, first)
    assert second == f"1 lane, 1 thread, 100 calls to warm up. Counted: {COUNTED}."


@pytest.mark.parametrize(
    ("options", "label", "threads", "workers"),
    [
        (("--num-envs", "3"), "CartPoleVecEnv x3", 1, None),
        (("--num-envs", "1", "--mode", "native"), "CartPoleVecEnv x1", 1, None),
        (("--num-envs", "3", "--mode", "sync"), "SyncVecEnv x3", 1, None),
        (("--num-envs", "2", "--mode", "async"), "AsyncVecEnv x2", 1, None),
        (("--num-envs", "3", "--mode", "proc", "--workers", "2"), "ProcVecEnv x3", 1, 2),
    ],
)
def test_batches(run, capsys, options, label, threads, workers):
    assert run("bench", "CartPole-v1", "--steps", "20", "--seed", "4", *options, "--json") == 0
    got = json.loads(capsys.readouterr().out)
    lanes = int(label.split("x")[-1])
    assert got["env_steps"] == 20 * lanes
    assert got["steps_per_second"] == pytest.approx(20 * lanes / got["seconds"], rel=1e-12)  # a quotient, rounded
    assert (got["label"], got["num_envs"], got["num_threads"], got["num_workers"]) == (label, lanes, threads, workers)
    assert (got["id"], got["num_steps"], got["warm_up"], got["seed"]) == ("CartPole-v1", 20, 2, 4)


def test_who_steps_is_told_in_words(run, capsys):
    assert run("bench", "CartPole-v1", "--steps", "5", "--num-envs", "2", "--mode", "proc", "--workers", "1") == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("2 lanes, 1 process, 0 calls to warm up. Counted: step()")


def test_a_batch_in_plain_python_in_its_wrappers(run, still, capsys):
    assert run("bench", "cli_tests/Still-v0", "--num-envs", "2", "--steps", "30") == 0
    assert capsys.readouterr().out.startswith("cli_tests/Still-v0 [SyncVecEnv x2]: 60 env steps in 0.")


def test_the_steps_are_those_of_the_seed(run, capsys, monkeypatch):
    made = []
    monkeypatch.setattr(sekai, "make_vec", lambda *args, **kwargs: made.append(MAKE(*args, **kwargs)) or made[-1])
    for _ in range(2):
        assert run("bench", "CartPole-v1", "--num-envs", "4", "--steps", "7", "--seed", "9") == 0
    first, second = (vec._memory.tobytes() for vec in made)
    assert first == second
    assert all(vec.closed for vec in made)


MAKE = sekai.make_vec


@pytest.mark.parametrize("mode", ["auto", "native", "sync", "async"])
def test_workers_are_those_of_processes(run, capsys, monkeypatch, mode):
    monkeypatch.setattr(sekai, "make_vec", lambda *args, **kwargs: pytest.fail("something is built"))
    assert run("bench", "CartPole-v1", "--workers", "2", "--num-envs", "4", "--mode", mode) == 2
    assert capsys.readouterr() == ("", "error: --workers applies to --mode proc only\n")


def test_a_mode_that_there_is_not(run, still, capsys):
    assert run("bench", "cli_tests/Still-v0", "--num-envs", "2", "--mode", "native") == 2
    assert capsys.readouterr().err.startswith("error: 'cli_tests/Still-v0' has no native vector implementation")
