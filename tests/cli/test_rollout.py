"""`sekai rollout`."""

import json
import sys

import numpy as np
import pytest

import sekai
from sekai import policies
from sekai.kernels import kernel
from sekai.rendering import plot_rollout

PUSH = policies.Constant(1)
LANES = ("rollout", "CartPole-v1", "--num-envs", "6", "--steps", "40")


class Push(policies.Constant):
    """A policy that is made without arguments."""

    def __init__(self):
        super().__init__(1)


class PushKernel(policies.Policy):
    """A policy of a user's own, without weights."""

    @kernel
    def act_lane(w, obs, rng, action, i):
        action[i] = 1


def make_push(vec):
    assert vec.num_envs == 6
    return PUSH


def make_function(vec):
    return lambda observations: np.ones(len(observations), np.int64)


def push(observations):
    assert observations.shape == (6, 4)
    return np.ones(6, np.int64)


def wrong(observations):
    return observations + None


SCHEDULE = np.ones((40, 6), np.int64)


def test_rollout_tells_what_the_function_tells(run, capsys):
    assert run("rollout", "CartPole-v1", "--num-envs", "7", "--steps", "100", "--seed", "3", "--json") == 0
    got = json.loads(capsys.readouterr().out)
    want = sekai.rollout(sekai.make_vec("CartPole-v1", 7), "random", 100, record=None, seed=3).statistics
    assert {name: got.pop(name) for name in want._fields} == want._asdict()
    assert got.pop("seconds") > 0
    assert got.pop("steps_per_second") > 0
    files = {"record": None, "plot": None}
    assert got == {"id": "CartPole-v1", "num_envs": 7, "num_steps": 100, "seed": 3, "policy": "random", **files}


def test_rollout_does_not_depend_on_the_number_of_threads(run, capsys):
    results = []
    for threads in ("1", "2"):
        assert run("rollout", "CartPole-v1", "--num-envs", "3000", "--steps", "30", "--threads", threads, "--json") == 0
        result = json.loads(capsys.readouterr().out)
        results.append({name: value for name, value in result.items() if "second" not in name})
    assert results[0] == results[1]


def test_rollout_steps_environments_in_plain_python_too(run, still, capsys):
    assert run("rollout", "cli_tests/Still-v0", "--num-envs", "3", "--steps", "12", "--json") == 0
    got = json.loads(capsys.readouterr().out)
    assert (got["num_episodes"], got["length_mean"], got["length_std"], got["return_mean"]) == (6, 5, 0, 0)


def test_rollout_prints_a_table(run, capsys):
    assert run("rollout", "CartPole-v1", "--num-envs", "1000", "--steps", "50") == 0
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert lines[:5] == [
        "environment  CartPole-v1",
        "lanes        1,000",
        "steps        50 of each lane, 50,000 in all",
        "seed         0",
        "policy       random",
    ]
    names = [line.split()[0] for line in lines[5:]]
    assert names == ["time", "env-steps/s", "episodes", "return", "length"]
    want = sekai.rollout(sekai.make_vec("CartPole-v1", 1000), "random", 50, record=None, seed=0).statistics
    assert lines[7] == f"episodes     {want.num_episodes:,}"
    assert lines[8] == f"return       mean {want.return_mean:.4g}, standard deviation {want.return_std:.4g}"
    assert captured.err == ""


def test_rollout_without_the_end_of_an_episode_has_no_moments(run, capsys):
    assert run("rollout", "CartPole-v1", "--num-envs", "1", "--steps", "1") == 0
    assert capsys.readouterr().out.splitlines()[-3:] == ["episodes     0", "return       -", "length       -"]
    assert run("rollout", "CartPole-v1", "--num-envs", "1", "--steps", "1", "--json") == 0
    assert json.loads(capsys.readouterr().out)["return_mean"] is None


def test_rollout_on_a_terminal_shows_its_progress_beside_the_table(run, capsys, monkeypatch):
    for stream in (sys.stdout, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes the captured streams for terminals
    assert run("rollout", "CartPole-v1", "--num-envs", "2", "--steps", "5") == 0
    captured = capsys.readouterr()
    assert "env-steps/s" in captured.out
    for what in ("Making CartPole-v1", "Compiling", "Rolling out"):
        assert what in captured.err
    assert "Rolling out" not in captured.out


# ---- policies --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["PUSH", "Push", "PushKernel", "make_push", "make_function", "push", "SCHEDULE"])
def test_a_policy_is_found_or_made(run, capsys, name):
    assert run(*LANES, "--policy", f"{__name__}:{name}", "--json") == 0
    got = json.loads(capsys.readouterr().out)
    want = sekai.rollout(sekai.make_vec("CartPole-v1", 6), PUSH, 40, record=None, seed=0).statistics
    assert {field: got[field] for field in want._fields} == pytest.approx(want._asdict(), rel=1e-15)
    assert got["policy"] == f"{__name__}:{name}"


def test_a_policy_of_a_module_in_the_current_folder(run, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "cli_tests_policy.py").write_text("from sekai.policies import Constant\nleft = Constant(0)\n")
    assert run(*LANES, "--policy", "cli_tests_policy:left") == 0
    assert "policy       cli_tests_policy:left" in capsys.readouterr().out
    del sys.modules["cli_tests_policy"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("push", "--policy must look like MODULE:ATTR, got 'push'"),
        (":push", "--policy must look like MODULE:ATTR, got ':push'"),
        ("cli_tests_missing:push", "could not import 'cli_tests_missing': No module named"),
        (f"{__name__}:nothing", f"--policy: module {__name__!r} has no attribute 'nothing'"),
        (f"{__name__}:LANES", "an array of actions must have shape (40, 6)"),
        ("sekai.policies:MLP.pack", "--policy: module 'sekai.policies' has no attribute 'MLP.pack'"),
        ("math:cos", "only "),
        (f"{__name__}:wrong", "error: TypeError: unsupported operand"),
    ],
)
def test_what_is_no_policy_is_told_in_a_line(run, capsys, name, message):
    assert run(*LANES, "--policy", name) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert captured.err.startswith("error: ")
    assert captured.err.count("\n") == 1


# ---- files -----------------------------------------------------------------------------------------


def test_all_arrays_and_episodes_are_recorded(run, capsys, tmp_path):
    path = tmp_path / "run.npz"
    assert run(*LANES, "--seed", "5", "--record", str(path)) == 0
    assert f"record       {path}" in capsys.readouterr().out
    want = sekai.rollout(sekai.make_vec("CartPole-v1", 6), "random", 40, seed=5)
    names = ["observations", "actions", "rewards", "terminated", "truncated", "last_observations", "valid"]
    with np.load(path) as got:
        for name in names:
            np.testing.assert_array_equal(got[name], getattr(want, name))
        for name, array in want.episodes._asdict().items():
            np.testing.assert_array_equal(got[f"episodes.{name}"], array)
        assert len(got.files) == len(names) + len(want.episodes)
    assert list(tmp_path.iterdir()) == [path]


def test_a_picture_is_drawn(run, capsys, tmp_path):
    path = tmp_path / "run.png"
    assert run(*LANES, "--plot", str(path)) == 0
    assert f"plot         {path}" in capsys.readouterr().out
    seen = sekai.rollout(sekai.make_vec("CartPole-v1", 6), "random", 40, record=["rewards"], seed=0)
    plot_rollout(seen).savefig(tmp_path / "want.png")
    assert path.read_bytes() == (tmp_path / "want.png").read_bytes()


def test_files_are_checked_before_anything_runs(run, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(sekai, "make_vec", lambda *args, **kwargs: pytest.fail("something runs"))
    for option, name, message in (
        ("--record", "run.csv", "--record must name a file that ends in .npz, got"),
        ("--plot", "run", "--plot must name a file that ends in .png or .pdf or .svg, got"),
        ("--record", "none/run.npz", "--record: the folder"),
    ):
        assert run(*LANES, option, str(tmp_path / name)) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.startswith(f"error: {message}")
        assert captured.err.count("\n") == 1


def test_a_picture_needs_matplotlib(run, capsys, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert run(*LANES, "--plot", str(tmp_path / "run.png")) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: matplotlib cannot be imported")
    assert error.endswith('pip install "sekai[render]"\n')


def test_a_rollout_that_fails_leaves_no_file(run, capsys, tmp_path):
    kept = tmp_path / "run.npz"
    kept.write_text("older")
    assert run(*LANES, "--record", str(kept), "--policy", "math:inf") == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert [path.read_text() for path in tmp_path.iterdir()] == ["older"]
