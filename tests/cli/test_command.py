"""Exit codes, and that no mistake of a user's ends in a traceback."""

import os
import subprocess
import sys
import warnings

import pytest

import sekai
from sekai import cli


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("info", "CartPole-v7"), "environment 'CartPole-v7' is not registered. Did you mean 'CartPole-v1'"),
        (("rollout", "a/b/c"), "environment 'a/b/c' is not registered."),
        (("info", "cli_tests/Away-v10"), "No module named 'cli_tests_nowhere'"),
        (("info", "cli_tests/Faulty-v0"), "ZeroDivisionError: no size ("),
        (("rollout", "CartPole-v1", "--num-envs", str(10**15)), "Unable to allocate"),
    ],
)
def test_a_mistake_is_told_in_a_line(run, still, capsys, args, message):
    assert run(*args) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"error: {message}")
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "the following arguments are required: COMMAND"),
        (("dance",), "invalid choice: 'dance'"),
        (("info",), "the following arguments are required: ID"),
        (("rollout", "CartPole-v1", "--steps", "many"), "argument --steps: invalid int value: 'many'"),
        (("rollout", "CartPole-v1", "--steps", "0"), "argument --steps: must be a positive integer, got 0"),
        (("rollout", "CartPole-v1", "--num-envs", "-3"), "argument --num-envs: must be a positive integer, got -3"),
        (("rollout", "CartPole-v1", "--threads", "0"), "argument --threads: must be a positive integer, got 0"),
        (("rollout", "CartPole-v1", "--seed", "-1"), "argument --seed: must be a non-negative integer, got -1"),
        (("bench", "CartPole-v1", "--mode", "warp"), "argument --mode: invalid choice: 'warp'"),
    ],
)
def test_the_parser_refuses_what_it_cannot_use(run, capsys, args, message):
    with pytest.raises(SystemExit) as end:
        run(*args)
    assert end.value.code == 2
    assert message in capsys.readouterr().err


def test_a_warning_is_told_in_a_line(run, capsys, monkeypatch):
    def warns(*args, **kwargs):
        warnings.warn("this and\nthat", stacklevel=1)
        raise ValueError("done")

    monkeypatch.setattr(sekai, "make", warns)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert run("info", "CartPole-v1") == 2
    assert capsys.readouterr() == ("", "warning: this and that\nerror: done\n")


def test_ctrl_c_ends_it_without_a_traceback(run, capsys, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(sekai, "rollout", interrupted)
    assert run("rollout", "CartPole-v1", "--num-envs", "1", "--steps", "1") == 130
    assert capsys.readouterr() == ("", "")


def test_a_closed_pipe_ends_it_without_a_word():
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as pipe:
        done = subprocess.run([sys.executable, "-m", "sekai", "list"], stdout=pipe, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert done.stderr == b""


def test_the_version(run, capsys):
    with pytest.raises(SystemExit) as end:
        run("--version")
    assert end.value.code == 0
    assert capsys.readouterr().out == f"sekai {sekai.__version__}\n"


@pytest.mark.parametrize("command", [(), ("list",), ("info",), ("check",), ("rollout",), ("bench",)])
def test_help_shows_an_example(run, capsys, command):
    with pytest.raises(SystemExit) as end:
        run(*command, "--help")
    assert end.value.code == 0
    example = capsys.readouterr().out.split("example:\n")[1].split()
    args = cli.build_parser().parse_args(example[1:])
    assert args.run.__name__ == f"run_{example[1]}"
