"""Packages that import what they export when it is first asked for."""

import ast
import importlib
import pickle
import sys
from pathlib import Path

import pytest

import sekai
from sekai._lazy import lazy_exports

LAZY_PACKAGES = [
    "sekai",
    "sekai.compat",
    "sekai.envs",
    "sekai.rendering",
    "sekai.testing",
    "sekai.utils",
    "sekai.vector",
    "sekai.vector.wrappers",
    "sekai.wrappers",
]
UNLISTED = {  # exported, but not by `from … import *`
    "sekai": {"core", "kernels", "registry"},
    "sekai.compat": {
        *("to_gymnasium_vector", "from_gymnasium_vector", "to_sb3"),
        *("SekaiToGymnasiumVector", "GymnasiumVectorToSekai", "SekaiToSB3"),
    },
}


def test_names_are_imported_when_asked_for(monkeypatch):
    module = type(sys)("lazy_example")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    get, names, exported = lazy_exports(module.__name__, {"pickle": "loads dumps"}, {"paths": "os.path"})
    assert exported == ["dumps", "loads", "paths"]
    assert set(names()) > {"dumps", "loads", "paths", "__name__"}
    assert get("loads") is module.loads is pickle.loads
    assert get("paths") is module.paths is importlib.import_module("os.path")
    with pytest.raises(AttributeError, match="module 'lazy_example' has no attribute 'nothing'"):
        get("nothing")


@pytest.mark.parametrize("name", LAZY_PACKAGES)
def test_what_type_checkers_see_is_what_is_exported(name):
    package = importlib.import_module(name)
    tree = ast.parse(Path(package.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.asname: node.module for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    seen.update({target.id: "" for node in block.body if isinstance(node, ast.Assign) for target in node.targets})
    public = {seen_name for seen_name in seen if seen_name == "__version__" or not seen_name.startswith("_")}
    assert public - UNLISTED.get(name, set()) == set(package.__all__)
    assert set(package.__all__) <= set(dir(package))


@pytest.mark.parametrize("name", LAZY_PACKAGES)
def test_everything_exported_exists(name):
    package = importlib.import_module(name)
    assert [export for export in package.__all__ if not hasattr(package, export)] == []
    with pytest.raises(AttributeError, match="nothing_here"):
        package.nothing_here  # noqa: B018


def test_submodules_are_reachable():
    for name in ("core", "registry", "kernels"):
        assert getattr(sekai, name) is sys.modules[f"sekai.{name}"]
        assert name not in sekai.__all__
    assert sekai.space_utils is sekai.spaces.utils


def test_the_module_of_the_same_name_has_the_same_contents():
    module = importlib.import_module("sekai.sekai")
    assert module.__all__ == sekai.__all__
    assert module.Env is sekai.Env
    with pytest.raises(AttributeError, match="nothing_here"):
        module.nothing_here  # noqa: B018
