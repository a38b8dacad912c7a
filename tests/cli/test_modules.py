"""Modules of the user's."""

import sys

import pytest

import sekai


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


def test_modules_of_the_current_directory_are_imported_first(run, module, capsys):
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


def test_a_module_that_cannot_be_imported_is_a_mistake(run, module, capsys):
    assert run("-m", "cli_tests_missing", "list") == 2
    assert capsys.readouterr().err == (
        "error: could not import 'cli_tests_missing': No module named 'cli_tests_missing'\n"
    )
    module("cli_tests_broken", "x = 1\n1 / 0\n")
    assert run("-m", "cli_tests_broken", "list") == 2
    message = capsys.readouterr().err
    assert message.startswith("error: could not import 'cli_tests_broken': ZeroDivisionError: division by zero (")
    assert message.endswith("cli_tests_broken.py, line 2)\n")
