"""Which modules may import which, and what importing the package loads."""

import ast
import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest

import sekai

ROOT = Path(__file__).parents[1]


def imports(path):
    """The names of all modules that the file at `path` imports at run time."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has relative imports"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def violations(folder, forbidden):
    """The imports in `folder` that are `forbidden`."""
    paths = sorted((ROOT / folder).rglob("*.py"))
    return [f"{path.relative_to(ROOT)}: {name}" for path in paths for name in imports(path) if forbidden(name)]


def within(name, *packages):
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def test_kernels_import_nothing_but_each_other_and_the_compiler():
    compiler = ("numpy", "numba", "llvmlite")

    def forbidden(name):
        return not within(name, "sekai.kernels", *compiler, *sys.stdlib_module_names)

    assert violations("kernels", forbidden) == []


@pytest.mark.parametrize("package", ["core", "spaces", "wrappers"])
def test_what_all_envs_share_imports_no_env(package):
    def forbidden(name):
        return within(name, "sekai.envs", "sekai.kernels.envs")

    assert violations(f"sekai/{package}", forbidden) == []


def test_only_one_module_compiles():
    def forbidden(name):
        return within(name, "numba", "llvmlite")

    assert violations("sekai", forbidden) == []


def test_nobody_imports_the_kernels_under_another_name():
    for folder in ("kernels", "sekai", "tests", "benchmarks", "examples"):
        assert violations(folder, lambda name: within(name, "kernels")) == []


def loaded(code):
    """Which of the packages that must stay away are loaded in a fresh process after `code`."""
    heavy = (
        "numba",
        "llvmlite",
        "matplotlib",
        "gymnasium",
        "pettingzoo",
        "pandas",
        "PIL",
        "imageio",
        "cloudpickle",
        "asyncio",
    )
    program = f"import sys; {code}; print(*(name for name in {heavy} if name in sys.modules))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return run.stdout.split()


def test_importing_the_package_loads_nothing_heavy():
    assert loaded("import sekai") == []


def test_envs_in_plain_python_need_nothing_heavy():
    assert loaded("import sekai; sekai.Env, sekai.TimeLimit, sekai.make, sekai.all_specs(), sekai.EnvNotFound") == []


def test_the_version_is_that_of_the_distribution():
    assert sekai.__version__ == importlib.metadata.version("sekai")
