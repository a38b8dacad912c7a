"""`sekai list` and `sekai info`."""

import json

import sekai
from sekai.cli import output
from tests.cli.still import Still


def test_list_has_a_row_per_environment_sorted_by_id(run, still, capsys):
    assert run("list", "--namespace", "cli_tests") == 0
    assert capsys.readouterr().out.splitlines() == [
        "ID                   MAX STEPS  ENTRY POINT",
        "cli_tests/Away-v10           -  cli_tests_nowhere:Env  [native vec]",
        f"cli_tests/Faulty-v0          -  {Still!r}",
        f"cli_tests/Still-v0           5  {Still!r}",
    ]


def test_list_of_no_namespace_leaves_namespaces_out(run, still, capsys):
    assert run("list", "--namespace", "") == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["CartPole-v1", "500", "sekai.envs.cartpole:CartPoleEnv"] in rows
    assert not any(row[0].startswith("cli_tests") for row in rows)


def test_list_of_all_has_every_registered_id(run, still, capsys):
    assert run("list") == 0
    ids = [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]]
    assert ids == sorted(spec.id for spec in sekai.all_specs())


def test_list_of_an_empty_namespace_says_so(run, capsys):
    assert run("list", "--namespace", "nope") == 0
    assert capsys.readouterr().out == "No environments in namespace 'nope'.\n"


def test_list_on_a_terminal_is_a_table_of_the_same_cells(run, still, capsys, monkeypatch):
    monkeypatch.setattr(output, "may_draw", lambda stream: True)
    monkeypatch.setenv("COLUMNS", "200")
    assert run("list", "--namespace", "cli_tests") == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.split() == ["ID", "MAX", "STEPS", "ENTRY", "POINT"] for line in lines)
    assert any(
        line.split() == ["cli_tests/Away-v10", "-", "cli_tests_nowhere:Env", "[native", "vec]"] for line in lines
    )


def test_info_of_a_wrapped_env(run, capsys):
    assert run("info", "CartPole-v1") == 0
    assert capsys.readouterr().out.splitlines() == [
        *sekai.spec("CartPole-v1").pprint().splitlines(),
        "observation_space=Box([-4.8, -inf, -0.41887903, -inf], [4.8, inf, 0.41887903, inf], (4,), float32)",
        "action_space=Discrete(2)",
        "metadata={'render_fps': 50}",
        "wrappers=TimeLimit -> CartPoleEnv",
    ]


def test_info_of_a_bare_env_names_no_wrappers_and_no_metadata(run, capsys):
    sekai.register("cli_tests/Bare-v0", Still)
    try:
        assert run("info", "cli_tests/Bare-v0") == 0
    finally:
        sekai.deregister("cli_tests/Bare-v0")
    assert capsys.readouterr().out.splitlines()[-1] == "action_space=Discrete(2)"


def test_list_and_info_as_json(run, still, capsys):
    assert run("list", "--namespace", "cli_tests", "--json") == 0
    specs = json.loads(capsys.readouterr().out)
    assert [spec["id"] for spec in specs] == ["cli_tests/Away-v10", "cli_tests/Faulty-v0", "cli_tests/Still-v0"]
    assert (specs[0]["entry_point"], specs[1]["kwargs"]) == ("cli_tests_nowhere:Env", {"size": 0})
    assert (specs[2]["entry_point"], specs[2]["max_episode_steps"]) == (repr(Still), 5)
    assert run("info", "cli_tests/Still-v0", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["version"], told["action_space"], told["wrappers"]) == (0, "Discrete(2)", ["TimeLimit", "Still"])
