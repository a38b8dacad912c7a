"""`sekai check`."""

import json
from typing import ClassVar

import numpy as np

import sekai
from tests.cli.still import Still


class Unseeded(Still):
    """Ignores seeds."""

    def reset(self, *, seed=None, options=None):
        return sekai.ResetResult(np.random.default_rng().random(1).astype(np.float32), {})


class Failing(Still):
    """Cannot be stepped."""

    def step(self, action):
        raise RuntimeError("no\nway")


class Shared(Still):
    """Alone it is right, but its instances share their state."""

    position: ClassVar[list[float]] = [0.0]

    def reset(self, *, seed=None, options=None):
        self._set_rng(seed)
        self.position[0] = 0.0
        return super().reset()

    def step(self, action):
        self.position[0] = 0.5 * (self.position[0] + action)
        return sekai.StepResult(np.float32(self.position), 0.0, False, False, {})


def test_check_of_an_env_without_faults(run, registered, capsys):
    id = registered(Still, max_episode_steps=7)
    assert run("check", id, "--determinism", "--strict", "--steps", "30") == 0
    assert capsys.readouterr() == (f"{id}: all checks passed.\n", "")
    assert run("check", id, "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"id": id, "passed": True, "issues": []}


def test_check_exits_with_1_for_errors_and_if_strict_for_warnings(run, registered, capsys):
    unseeded, failing = registered(Unseeded), registered(Failing)
    assert run("check", unseeded) == 0
    warning = capsys.readouterr().out
    assert warning.startswith("WARNING: reset(seed=0) returned different observations on two calls.")
    assert warning.count("\n") == 1
    assert run("check", unseeded, "--strict") == 1
    assert capsys.readouterr().out == warning
    assert run("check", failing) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "ERROR: step() raised RuntimeError at step 0: no way"
    assert run("check", unseeded, "--strict", "--json") == 1
    (issue,) = json.loads(capsys.readouterr().out)["issues"]
    assert f"{issue['level']}: {issue['text']}\n" == warning


def test_check_of_the_batch_follows_that_of_the_env(run, registered, capsys):
    id = registered(Shared)
    assert sekai.check_env(sekai.make(id), check_determinism=True) == []
    assert run("check", id) == 1
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("ERROR: Lane 0 is not the single environment with the seed") for line in lines)


def test_check_looks_at_a_batch_that_has_no_single_env(run, registered, capsys):
    def make_batch(num_envs):
        return sekai.SyncVecEnv([Still] * num_envs)

    id = registered(None, vector_entry_point=make_batch)
    assert run("check", id) == 0
    assert capsys.readouterr().out == f"{id}: all checks passed.\n"


def test_check_does_not_look_at_the_seeds_of_an_env_that_has_none(run, registered, capsys):
    id = registered(Unseeded, nondeterministic=True)
    assert run("check", id, "--determinism", "--strict") == 0
    captured = capsys.readouterr()
    assert captured.out == f"{id}: all checks passed.\n"
    assert captured.err == f"note: {id} is registered with nondeterministic=True, so seeds were not checked.\n"


def test_check_closes_the_env(run, registered, capsys):
    class Reader(Still):
        def __init__(self):
            super().__init__()
            self.file = open(__file__)  # noqa: SIM115
            files.append(self.file)

    files = []
    assert run("check", registered(Reader), "--strict") == 1
    assert capsys.readouterr().out == "WARNING: close() left Reader.file open. Close what the environment opened.\n"
    files[0].close()
