"""Every code block of README.md and docs/ runs and prints what its comments say."""

import contextlib
import io
import re
import shlex
from importlib.util import find_spec
from pathlib import Path

import pytest

import sekai
from sekai import cli

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def blocks(path, language):
    """The fenced blocks of one language, each after as many empty lines as stand before it in the page.

    A block below `<!-- needs MODULE -->` is left out where there is no such module.
    """
    text = path.read_text(encoding="utf-8")
    pattern = rf"^(?:<!-- needs (\w+) -->\n)?```{language}\n(.*?)^```$"
    for found in re.finditer(pattern, text, re.MULTILINE | re.DOTALL):
        if found[1] is None or find_spec(found[1]) is not None:
            yield "\n" * text[: found.start(2)].count("\n") + found[2]


def promised(block):
    """What a block says it prints: comments after a `print`, or lines of their own below it."""
    pattern = r"^(?:\s*print\(.*\)\s*)?# (.*)$"
    return [found[1] for found in map(re.compile(pattern).match, block.splitlines()) if found]


@pytest.fixture
def registry():
    """Forgets what a page registers."""
    known = {spec.id for spec in sekai.all_specs()}
    yield
    for spec in sekai.all_specs():
        if spec.id not in known:
            sekai.deregister(spec.id)


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_python_blocks_print_what_they_say(path, registry, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # what a page writes is not left behind
    namespace = {"__name__": "__main__"}  # of all blocks of a page
    for block in blocks(path, "python"):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block, name_of(path), "exec"), namespace)
        assert printed.getvalue().splitlines() == promised(block)


def commands(path):
    """The commands `sekai …` in shell blocks, alone on a line or at the end of a chain."""
    for block in blocks(path, "sh"):
        for line in block.splitlines():
            last = line.split(" && ")[-1]
            if last.startswith("sekai "):
                yield shlex.split(last)[1:]


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_shell_commands_run(path, capsys):
    for arguments in commands(path):
        assert cli.main(arguments) == 0
        assert capsys.readouterr().err == ""


def test_the_readme_shows_the_main_job_and_the_tests_first():
    setup = "python3 -m venv .venv && . .venv/bin/activate && pip install -e "
    first, second, *_ = [block.strip() for block in blocks(PAGES[0], "sh")]
    assert first == f'{setup}".[cli]" && sekai rollout CartPole-v1 --num-envs 65536 --steps 1000'
    test_command = second.removeprefix(f'{setup}".[test]" && ')
    assert test_command == (ROOT / ".ci" / "run").read_text().splitlines()[-1]


def measured(path):
    """What `benchmarks/` wrote into a page."""
    found = re.search(r"(?s)<!-- measured: cartpole -->\n(.*?)<!-- end -->", path.read_text(encoding="utf-8"))
    return [line for line in found[1].splitlines() if line.startswith("|")]


def test_the_readme_and_the_page_of_the_benchmark_show_the_same_figures():
    table = measured(PAGES[0])
    assert table == measured(ROOT / "docs" / "benchmarks" / "cartpole.md")[: len(table)]
    assert len(table) > 2


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_links_lead_somewhere(path):
    text = re.sub(r"(?s)```.*?```", "", path.read_text(encoding="utf-8"))
    targets = [target for target in re.findall(r"\]\(([^)#]+)", text) if "://" not in target]
    assert [target for target in targets if not (path.parent / target).exists()] == []
