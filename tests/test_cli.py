"""The command: its output, exit codes, and that no mistake of a user's ends in a traceback."""

import json
import os
import subprocess
import sys
from typing import ClassVar

import numpy as np
import pytest

import sekai
from sekai import cli


class Still(sekai.Env):
    """A plain env in which nothing happens."""

    def __init__(self, size: int = 1) -> None:
        if size < 1:
            raise ZeroDivisionError("no size")
        self.observation_space = sekai.Box(0, 1, (size,))
        self.action_space = sekai.Discrete(2)

    def reset(self, *, seed=None, options=None):
        self._set_rng(seed)
        return sekai.ResetResult(self.observation_space.low.copy(), {})

    def step(self, action):
        return sekai.StepResult(self.observation_space.low.copy(), 0.0, False, False, {})


@pytest.fixture
def still():
    """Three environments in the namespace `cli_tests`."""
    ids = [
        sekai.register("cli_tests/Still-v0", Still, max_episode_steps=5).id,
        sekai.register("cli_tests/Faulty-v0", Still, kwargs={"size": 0}).id,
        sekai.register("cli_tests/Away-v10", "cli_tests_nowhere:Env", vector_entry_point="cli_tests_nowhere:Vec").id,
    ]
    yield
    for id in ids:
        sekai.deregister(id)


def run(*args):
    return cli.main(list(args))


def refused(capsys, *args):
    """What the parser says about arguments that it does not take."""
    with pytest.raises(SystemExit) as end:
        run(*args)
    assert end.value.code == 2
    return capsys.readouterr().err


# ---- list ------------------------------------------------------------------------------------------


def test_list_has_a_row_per_environment_sorted_by_id(still, capsys):
    assert run("list", "--namespace", "cli_tests") == 0
    assert capsys.readouterr().out.splitlines() == [
        "ID                   MAX STEPS  ENTRY POINT",
        "cli_tests/Away-v10           -  cli_tests_nowhere:Env  [native vec]",
        f"cli_tests/Faulty-v0          -  {Still!r}",
        f"cli_tests/Still-v0           5  {Still!r}",
    ]


def test_list_of_no_namespace_leaves_namespaces_out(still, capsys):
    assert run("list", "--namespace", "") == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["CartPole-v1", "500", "sekai.envs.cartpole:CartPoleEnv"] in rows
    assert not any(row[0].startswith("cli_tests") for row in rows)


def test_list_of_all_has_every_registered_id(still, capsys):
    assert run("list") == 0
    ids = [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]]
    assert ids == sorted(spec.id for spec in sekai.all_specs())


def test_list_of_an_empty_namespace_says_so(capsys):
    assert run("list", "--namespace", "nope") == 0
    assert capsys.readouterr().out == "No environments in namespace 'nope'.\n"


def test_list_on_a_terminal_is_a_table_of_the_same_cells(still, capsys, monkeypatch):
    monkeypatch.setattr(cli, "may_draw", lambda stream: True)
    monkeypatch.setenv("COLUMNS", "200")
    assert run("list", "--namespace", "cli_tests") == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.split() == ["ID", "MAX", "STEPS", "ENTRY", "POINT"] for line in lines)
    assert any(
        line.split() == ["cli_tests/Away-v10", "-", "cli_tests_nowhere:Env", "[native", "vec]"] for line in lines
    )


# ---- info ------------------------------------------------------------------------------------------


def test_info_of_a_wrapped_env(capsys):
    assert run("info", "CartPole-v1") == 0
    assert capsys.readouterr().out.splitlines() == [
        *sekai.spec("CartPole-v1").pprint().splitlines(),
        "observation_space=Box([-4.8, -inf, -0.41887903, -inf], [4.8, inf, 0.41887903, inf], (4,), float32)",
        "action_space=Discrete(2)",
        "metadata={'render_fps': 50}",
        "wrappers=TimeLimit -> CartPoleEnv",
    ]


def test_info_of_a_bare_env_names_no_wrappers_and_no_metadata(capsys):
    sekai.register("cli_tests/Bare-v0", Still)
    try:
        assert run("info", "cli_tests/Bare-v0") == 0
    finally:
        sekai.deregister("cli_tests/Bare-v0")
    assert capsys.readouterr().out.splitlines()[-1] == "action_space=Discrete(2)"


def test_list_and_info_as_json(still, capsys):
    assert run("list", "--namespace", "cli_tests", "--json") == 0
    specs = json.loads(capsys.readouterr().out)
    assert [spec["id"] for spec in specs] == ["cli_tests/Away-v10", "cli_tests/Faulty-v0", "cli_tests/Still-v0"]
    assert (specs[0]["entry_point"], specs[1]["kwargs"]) == ("cli_tests_nowhere:Env", {"size": 0})
    assert (specs[2]["entry_point"], specs[2]["max_episode_steps"]) == (repr(Still), 5)
    assert run("info", "cli_tests/Still-v0", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["version"], told["action_space"], told["wrappers"]) == (0, "Discrete(2)", ["TimeLimit", "Still"])


# ---- check -----------------------------------------------------------------------------------------


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


@pytest.fixture
def registered():
    """Registers environments in the namespace `cli_tests` for a test."""
    ids = []

    def register(entry_point, **kwargs):
        ids.append(sekai.register(f"cli_tests/Check{len(ids)}-v0", entry_point, **kwargs).id)
        return ids[-1]

    yield register
    for id in ids:
        sekai.deregister(id)


def test_check_of_an_env_without_faults(registered, capsys):
    id = registered(Still, max_episode_steps=7)
    assert run("check", id, "--determinism", "--strict", "--steps", "30") == 0
    assert capsys.readouterr() == (f"{id}: all checks passed.\n", "")
    assert run("check", id, "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"id": id, "passed": True, "issues": []}


def test_check_exits_with_1_for_errors_and_if_strict_for_warnings(registered, capsys):
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


def test_check_of_the_batch_follows_that_of_the_env(registered, capsys):
    id = registered(Shared)
    assert sekai.check_env(sekai.make(id), check_determinism=True) == []
    assert run("check", id) == 1
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("ERROR: Lane 0 is not the single environment with the seed") for line in lines)


def test_check_looks_at_a_batch_that_has_no_single_env(registered, capsys):
    def make_batch(num_envs):
        return sekai.SyncVecEnv([Still] * num_envs)

    id = registered(None, vector_entry_point=make_batch)
    assert run("check", id) == 0
    assert capsys.readouterr().out == f"{id}: all checks passed.\n"


def test_check_does_not_look_at_the_seeds_of_an_env_that_has_none(registered, capsys):
    id = registered(Unseeded, nondeterministic=True)
    assert run("check", id, "--determinism", "--strict") == 0
    captured = capsys.readouterr()
    assert captured.out == f"{id}: all checks passed.\n"
    assert captured.err == f"note: {id} is registered with nondeterministic=True, so seeds were not checked.\n"


def test_check_closes_the_env(registered, capsys):
    class Reader(Still):
        def __init__(self):
            super().__init__()
            self.file = open(__file__)  # noqa: SIM115
            files.append(self.file)

    files = []
    assert run("check", registered(Reader), "--strict") == 1
    assert capsys.readouterr().out == "WARNING: close() left Reader.file open. Close what the environment opened.\n"
    files[0].close()


# ---- rollout ---------------------------------------------------------------------------------------


def test_rollout_tells_what_the_function_tells(capsys):
    assert run("rollout", "CartPole-v1", "--num-envs", "7", "--steps", "100", "--seed", "3", "--json") == 0
    got = json.loads(capsys.readouterr().out)
    want = sekai.rollout(sekai.make_vec("CartPole-v1", 7), "random", 100, record=None, seed=3).statistics
    assert {name: got.pop(name) for name in want._fields} == want._asdict()
    assert got.pop("seconds") > 0
    assert got.pop("steps_per_second") > 0
    assert got == {"id": "CartPole-v1", "num_envs": 7, "num_steps": 100, "seed": 3}


def test_rollout_does_not_depend_on_the_number_of_threads(capsys):
    results = []
    for threads in ("1", "2"):
        assert run("rollout", "CartPole-v1", "--num-envs", "3000", "--steps", "30", "--threads", threads, "--json") == 0
        result = json.loads(capsys.readouterr().out)
        results.append({name: value for name, value in result.items() if "second" not in name})
    assert results[0] == results[1]


def test_rollout_steps_environments_in_plain_python_too(still, capsys):
    assert run("rollout", "cli_tests/Still-v0", "--num-envs", "3", "--steps", "12", "--json") == 0
    got = json.loads(capsys.readouterr().out)
    assert (got["num_episodes"], got["length_mean"], got["length_std"], got["return_mean"]) == (6, 5, 0, 0)


def test_rollout_prints_a_table(capsys):
    assert run("rollout", "CartPole-v1", "--num-envs", "1000", "--steps", "50") == 0
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert lines[:4] == [
        "environment  CartPole-v1",
        "lanes        1,000",
        "steps        50 of each lane, 50,000 in all",
        "seed         0",
    ]
    names = [line.split()[0] for line in lines[4:]]
    assert names == ["time", "env-steps/s", "episodes", "return", "length"]
    want = sekai.rollout(sekai.make_vec("CartPole-v1", 1000), "random", 50, record=None, seed=0).statistics
    assert lines[6] == f"episodes     {want.num_episodes:,}"
    assert lines[7] == f"return       mean {want.return_mean:.4g}, standard deviation {want.return_std:.4g}"
    assert captured.err == ""


def test_rollout_without_the_end_of_an_episode_has_no_moments(capsys):
    assert run("rollout", "CartPole-v1", "--num-envs", "1", "--steps", "1") == 0
    assert capsys.readouterr().out.splitlines()[-3:] == ["episodes     0", "return       -", "length       -"]
    assert run("rollout", "CartPole-v1", "--num-envs", "1", "--steps", "1", "--json") == 0
    assert json.loads(capsys.readouterr().out)["return_mean"] is None


def test_rollout_on_a_terminal_shows_its_progress_beside_the_table(capsys, monkeypatch):
    monkeypatch.setattr(cli, "may_draw", lambda stream: True)
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes the captured streams for terminals
    assert run("rollout", "CartPole-v1", "--num-envs", "2", "--steps", "5") == 0
    captured = capsys.readouterr()
    assert "env-steps/s" in captured.out
    assert "Rolling out" in captured.err
    assert "Rolling out" not in captured.out


def test_nothing_is_drawn_into_a_pipe_or_without_the_package(monkeypatch):
    class Terminal:
        def isatty(self):
            return True

    class Pipe:
        def isatty(self):
            return False

    assert cli.may_draw(Terminal())
    assert not cli.may_draw(Pipe())
    monkeypatch.setattr(cli, "find_spec", lambda name: None)
    assert not cli.may_draw(Terminal())


# ---- modules ---------------------------------------------------------------------------------------


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Writes a module into the current directory, of which `sys.path` knows nothing."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    written = []

    def write(name, text):
        (tmp_path / f"{name}.py").write_text(text)
        written.append(name)

    yield write
    for name in written:
        sys.modules.pop(name, None)


def test_modules_of_the_current_directory_are_imported_first(module, capsys):
    module("cli_tests_first", "import sekai\nsekai.register('cli_tests_first/A-v0', 'nowhere:A')")
    module("cli_tests_second", "import sekai\nsekai.register('cli_tests_first/B-v0', 'nowhere:B')")
    try:
        assert (
            run("-m", "cli_tests_first", "--import", "cli_tests_second", "list", "--namespace", "cli_tests_first") == 0
        )
        ids = [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]]
        assert ids == ["cli_tests_first/A-v0", "cli_tests_first/B-v0"]
    finally:
        for id in ("cli_tests_first/A-v0", "cli_tests_first/B-v0"):
            sekai.deregister(id)


def test_a_module_that_cannot_be_imported_is_a_mistake(module, capsys):
    assert run("-m", "cli_tests_missing", "list") == 2
    assert capsys.readouterr().err == (
        "error: could not import 'cli_tests_missing': No module named 'cli_tests_missing'\n"
    )
    module("cli_tests_broken", "x = 1\n1 / 0\n")
    assert run("-m", "cli_tests_broken", "list") == 2
    message = capsys.readouterr().err
    assert message.startswith("error: could not import 'cli_tests_broken': ZeroDivisionError: division by zero (")
    assert message.endswith("cli_tests_broken.py, line 2)\n")


# ---- mistakes --------------------------------------------------------------------------------------


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
def test_a_mistake_is_told_in_a_line(still, capsys, args, message):
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
    ],
)
def test_the_parser_refuses_what_it_cannot_use(capsys, args, message):
    assert message in refused(capsys, *args)


def test_ctrl_c_ends_it_without_a_traceback(capsys, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli.sekai, "rollout", interrupted)
    assert run("rollout", "CartPole-v1", "--num-envs", "1", "--steps", "1") == 130
    assert capsys.readouterr() == ("", "")


def test_a_closed_pipe_ends_it_without_a_word():
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as pipe:
        done = subprocess.run([sys.executable, "-m", "sekai", "list"], stdout=pipe, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert done.stderr == b""


# ---- the command itself ----------------------------------------------------------------------------


def test_the_version(capsys):
    with pytest.raises(SystemExit) as end:
        run("--version")
    assert end.value.code == 0
    assert capsys.readouterr().out == f"sekai {sekai.__version__}\n"


@pytest.mark.parametrize("command", [(), ("list",), ("info",), ("check",), ("rollout",)])
def test_help_shows_an_example(capsys, command):
    with pytest.raises(SystemExit) as end:
        run(*command, "--help")
    assert end.value.code == 0
    example = capsys.readouterr().out.split("example:\n")[1].split()
    args = cli.build_parser().parse_args(example[1:])
    assert args.run.__name__ == f"run_{example[1]}"
