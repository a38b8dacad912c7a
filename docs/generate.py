"""The pages of the documentation that are made from the code, as a hook of MkDocs.

A page for each registered environment, for each example and for each public module; and the tables that `benchmarks/`
has measured, in place of `<!-- tables -->`. A section of `nav` in `mkdocs.yml` that names one of `SECTIONS` lists them.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import sekai

ROOT = Path(__file__).parents[1]

# The title of a page of the API reference, and the module whose public names it shows.
MODULES = {
    "Environments": "sekai.core",
    "Registry": "sekai.registry",
    "Spaces": "sekai.spaces",
    "Wrappers": "sekai.wrappers",
    "Batches": "sekai.vector",
    "Rollouts": "sekai.rollouts",
    "Policies": "sekai.policies",
    "Returns": "sekai.returns",
    "Built-in environments": "sekai.envs",
    "Finance": "sekai.finance",
    "Statistics": "sekai.stats",
    "Rendering": "sekai.rendering",
    "Bridges": "sekai.compat",
    "Testing": "sekai.testing",
    "Strategies": "sekai.testing.strategies",
    "Helpers": "sekai.utils",
    "Errors": "sekai.error",
}


def pages() -> dict[str, str]:
    """Path in the site to Markdown, of every page that is made here."""
    return {**environments(), **examples(), **reference()}


# ---- environments ----------------------------------------------------------------------------------------


def environments() -> dict[str, str]:
    """A page for each environment that comes with the library, and one that lists them."""
    specs = sorted(builtin_specs(), key=lambda spec: spec.id)
    rows = [
        f"| [{spec.id}]({spec.id}.md) | {summary(env_class(spec))} | `{env.observation_space}` | `{env.action_space}` |"
        for spec in specs
        for env in [sekai.make(spec)]
    ]
    table = ["| id | task | observations | actions |", "| --- | --- | --- | --- |", *rows]
    index = "\n".join(
        ["# Environments", "", f"`sekai list` prints the ids, `sekai info {specs[0].id}` one of them.", "", *table]
    )
    return {"environments/index.md": index} | {f"environments/{spec.id}.md": environment(spec) for spec in specs}


def builtin_specs() -> list[Any]:
    """Those of the registered environments that come with the library."""
    return [spec for spec in sekai.all_specs() if str(spec.entry_point).startswith("sekai.")]


def environment(spec: Any) -> str:
    """The page of one environment: docstring, spaces, parameters."""
    env, cls = sekai.make(spec), env_class(spec)
    facts = {
        "observation space": f"`{env.observation_space}`",
        "action space": f"`{env.action_space}`",
        "steps of an episode, at most": spec.max_episode_steps,
        "counts as solved from a return of": spec.reward_threshold,
        "single environment": f"`{cls.__module__}.{cls.__qualname__}`",
        "batch": f"`{cls.batch.__module__}.{cls.batch.__qualname__}`",
    }
    picture = f"![](../images/{spec.id}.png)\n" if (ROOT / "docs" / "images" / f"{spec.id}.png").exists() else ""
    parameters = [f"| `{name}` | {default} | {meaning} |" for name, default, meaning in parameters_of(cls)]
    return "\n".join(
        [
            f"# {spec.id}\n",
            description(cls),
            "",
            picture,
            f'```python\nenv = sekai.make("{spec.id}")\nvec = sekai.make_vec("{spec.id}", num_envs=4096)\n```\n',
            "| | |\n| --- | --- |",
            *(f"| {name} | {value} |" for name, value in facts.items() if value is not None),
            "\n## Parameters\n",
            f"{summary(cls.batch)} [All of the class](../reference/sekai.envs.md).\n",
            "| name | default | meaning |\n| --- | --- | --- |",
            *parameters,
            "",
        ]
    )


def env_class(spec: Any) -> Any:
    """The class of a single environment."""
    module, _, name = spec.entry_point.partition(":")
    return getattr(importlib.import_module(module), name)


def description(cls: Any) -> str:
    """The docstring of a class, without its sections."""
    return re.split(r"\n(?:Args|Raises|Attributes):\n", inspect.getdoc(cls) or "")[0].strip()


def summary(cls: Any) -> str:
    """The first line of a docstring."""
    return description(cls).splitlines()[0]


def parameters_of(cls: Any) -> list[tuple[str, str, str]]:
    """Name, default and meaning of what an environment takes: of its own arguments and of its kernel's parameters."""
    told, fields = told_arguments(cls), fields_of(cls.batch.Params)
    arguments = inspect.signature(cls.__init__).parameters.values()
    general = inspect.signature(sekai.KernelEnv.__init__).parameters
    defaults = {p.name: p.default for p in arguments if p.kind is not p.VAR_KEYWORD and p.name not in general}
    if any(p.name == "params" for p in arguments):  # all of the kernel's
        defaults |= {name: default for name, (default, _) in fields.items() if name not in defaults}
    return [(name, shown(value), told.get(name) or fields[name][1]) for name, value in defaults.items()]


def shown(default: Any) -> str:
    """A default as the table shows it."""
    return "" if default is inspect.Parameter.empty else f"`{default!r}`"


def told_arguments(cls: Any) -> dict[str, str]:
    """What the section `Args` of a docstring tells of each argument."""
    found = re.search(r"\nArgs:\n((?:    .*\n?|\n)+)", inspect.getdoc(cls) or "")
    entries = re.findall(r"^ {4}(\*{0,2}\w[\w, ]*):((?:.*\n?)(?: {8}.*\n?)*)", found[1] if found else "", re.MULTILINE)
    return {name.strip(): " ".join(text.split()) for names, text in entries for name in names.split(",")}


def fields_of(params: Any) -> dict[str, tuple[Any, str]]:
    """Default and comment of each parameter of a kernel."""
    lines = inspect.getsource(params).splitlines()
    fields = [node for node in ast.parse("\n".join(lines)).body[0].body if isinstance(node, ast.AnnAssign)]
    comments = {node.target.id: lines[node.end_lineno - 1].partition("  # ")[2] for node in fields}
    return {name: (getattr(params, name, inspect.Parameter.empty), text) for name, text in comments.items()}


# ---- examples and reference ------------------------------------------------------------------------------


def examples() -> dict[str, str]:
    """A page for each file in `examples/`, and one that lists them."""
    files = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "examples").glob("*.py"))}
    told = {name: ast.get_docstring(ast.parse(text)) or "" for name, text in files.items()}
    rows = [f"- [{name}]({name}.md): {text.splitlines()[0]}" for name, text in told.items()]
    found = {"examples/index.md": "\n".join(["# Examples", "", "Each runs in the tests.", "", *rows, ""])}
    for name, text in files.items():
        found[f"examples/{name}.md"] = f"# {name}.py\n\n{told[name]}\n\n```python\n{text}```\n"
    return found


def reference() -> dict[str, str]:
    """A page for each public module, which mkdocstrings fills in."""
    return {f"reference/{name}.md": module(title, name) for title, name in MODULES.items()}


def module(title: str, name: str) -> str:
    """The page of a module: what it is, and what it defines and passes on. It is read, not imported."""
    source = ast.parse(Path(find_spec(name).origin).read_text(encoding="utf-8"))
    entries = [f"::: {path}" for path in sorted(public(source, name), key=lambda path: path.rpartition(".")[2].lower())]
    return "\n".join([f"# {title}: `{name}`", "", ast.get_docstring(source) or "", "", *entries, ""])


def public(source: ast.Module, name: str) -> set[str]:
    """Where each public class and function of a module is defined."""
    listed = [node.value for node in source.body if ast.unparse(node).startswith("__all__ =")]
    names = {text for value in listed for text in ast.literal_eval(value)}
    paths = set()
    for node in ast.walk(source):
        if isinstance(node, ast.ImportFrom) and node.module != name:
            passed_on = [part.name for part in node.names if part.asname == part.name or part.name in names]
            paths |= {f"{node.module}.{part}" for part in passed_on}
    defined = [node.name for node in source.body if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    return paths | {f"{name}.{own}" for own in defined if not own.startswith("_")}


# ---- what MkDocs calls -----------------------------------------------------------------------------------

SECTIONS = {"environments": environments, "examples": examples, "reference": reference}


def on_config(config: Any) -> Any:
    """List the pages that are made here, and those of the benchmarks, in the navigation."""
    config.nav = [filled(entry) for entry in config.nav]
    return config


def filled(entry: Any) -> Any:
    """An entry of the navigation, with the pages of its section."""
    ((title, value),) = entry.items()
    if isinstance(value, list):
        return {title: [filled(inner) if isinstance(inner, dict) else inner for inner in value]}
    if value in SECTIONS:
        return {title: list(SECTIONS[value]())}
    if value.endswith("/"):
        return {
            title: [path.relative_to(ROOT / "docs").as_posix() for path in sorted((ROOT / "docs" / value).glob("*.md"))]
        }
    return entry


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are made here to the site."""
    from mkdocs.structure.files import File

    for path, text in pages().items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, **kwargs: Any) -> str:
    """Put the tables of the benchmarks where a page asks for them."""
    return markdown.replace("<!-- tables -->", tables())


def tables() -> str:
    """What `benchmarks/` has measured, under the title of each page."""
    found = []
    for path in sorted((ROOT / "docs" / "benchmarks").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        measured = re.findall(r"(?s)<!-- measured: [\w-]+ -->\n(.*?)<!-- end -->", text)
        found += [f"### {text.splitlines()[0].lstrip('# ')}\n", *measured]
    return "\n".join(found)
