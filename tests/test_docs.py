"""Every code block of README.md and docs/ runs and prints what its comments say."""

import contextlib
import io
import re
import runpy
import shlex
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import sekai
from sekai import cli

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


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


@pytest.fixture(scope="module")
def generated():
    """The hook that makes pages from the code."""
    return SimpleNamespace(**runpy.run_path(str(ROOT / "docs" / "generate.py")))


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_links_lead_somewhere(path, generated):
    text = re.sub(r"(?s)```.*?```", "", path.read_text(encoding="utf-8"))
    targets = [target for target in re.findall(r"\]\(([^)#]+)", text) if "://" not in target]
    made = {ROOT / "docs" / page for page in generated.pages()}
    assert [
        target for target in targets if not (path.parent / target).exists() and path.parent / target not in made
    ] == []


def test_every_page_is_in_the_navigation():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert [path.name for path in sorted((ROOT / "docs").glob("*.md")) if f": {path.name}\n" not in text] == []


def test_every_environment_has_a_page_that_explains_its_parameters(generated):
    pages = generated.environments()
    for spec in generated.builtin_specs():
        page, parameters = pages[f"environments/{spec.id}.md"], generated.parameters_of(generated.env_class(spec))
        assert page.startswith(f"# {spec.id}\n")
        assert len(parameters) > 5
        assert [name for name, _, meaning in parameters if not meaning or f"| `{name}` | " not in page] == []


def test_the_page_of_an_environment_tells_what_code_and_docstring_say(generated):
    page = generated.environments()["environments/CartPole-v1.md"]
    assert "| steps of an episode, at most | 500 |" in page
    assert "| `gravity` | `9.8` | m/s^2 |" in page
    assert "| `sutton_barto_reward` | `False` | Reward 0 for each step and -1 for the terminating one" in page


def test_the_reference_shows_every_public_name(generated):
    shown = {line.rpartition(".")[2] for page in generated.reference().values() for line in page.splitlines()}
    modules = {name for name in sekai.__all__ if isinstance(getattr(sekai, name), ModuleType)}
    assert set(sekai.__all__) - modules - {"__version__"} - shown == set()


def test_the_page_about_performance_has_the_tables_of_the_benchmarks(generated):
    page = generated.on_page_markdown((ROOT / "docs" / "performance.md").read_text(encoding="utf-8"))
    assert all(line in page for line in measured(PAGES[0]))
