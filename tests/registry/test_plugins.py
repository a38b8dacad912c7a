"""Environments of other packages, found by entry points: with real packages in a temporary folder."""

import sys
from types import ModuleType

import pytest

from sekai.error import EnvNotFound
from sekai.registry import EnvRegistry


@pytest.fixture
def registry():
    return EnvRegistry(plugin_group="sekai_test.envs")


@pytest.fixture
def install(registry, tmp_path, monkeypatch):
    """Return a function that installs a package of one module, which knows `registry`, and one entry point."""
    host = ModuleType("sekai_test_host")
    host.registry = registry
    monkeypatch.setitem(sys.modules, host.__name__, host)
    monkeypatch.syspath_prepend(tmp_path)

    def install(name, code, function=""):
        (tmp_path / f"{name}.py").write_text(f"from {host.__name__} import registry\n{code}\n")
        metadata = tmp_path / f"{name}-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(f"[sekai_test.envs]\n{name} = {name}{function}\n")

    yield install
    for name in [name for name in sys.modules if name.startswith("sekai_test_plugin")]:
        del sys.modules[name]


def test_a_failed_look_up_imports_the_plugins(registry, install):
    install("sekai_test_plugin_a", "registry.register('A-v0', 'm:c')")
    install("sekai_test_plugin_b", "def start():\n    registry.register('B-v0', 'm:c')", function=":start")
    registry.register("Own-v0", "m:c")
    assert registry.spec("Own-v0").name == "Own"
    assert "sekai_test_plugin_a" not in sys.modules
    assert registry.spec("B-v0").name == "B"
    assert registry.spec("A-v0").name == "A"


def test_listing_imports_the_plugins(registry, install):
    install("sekai_test_plugin_c", "registry.register('C-v0', 'm:c')")
    assert [spec.id for spec in registry.all_specs()] == ["C-v0"]
    assert "    C-v0" in registry.pprint().splitlines()


def test_a_plugin_may_announce_a_namespace(registry, install):
    code = "registry.register_namespace('far', lambda: registry.register('far/D-v0', 'm:c'))"
    install("sekai_test_plugin_d", code)
    assert registry.spec("far/D-v0").name == "D"


def test_a_plugin_may_look_ids_up(registry, install):
    install(
        "sekai_test_plugin_e",
        "assert 'E-v0' not in [s.id for s in registry.all_specs()]\nregistry.register('E-v0', 'm:c')",
    )
    assert registry.spec("E-v0").name == "E"


def test_a_broken_plugin_is_reported_and_spares_the_others(registry, install):
    install("sekai_test_plugin_f", "raise RuntimeError('broken')")
    install("sekai_test_plugin_g", "registry.register('Good-v0', 'm:c')")
    with pytest.warns(RuntimeWarning, match=r"plugin 'sekai_test_plugin_f' .*RuntimeError\('broken'\)"):
        assert registry.spec("Good-v0").name == "Good"
    with pytest.raises(EnvNotFound, match="Did you mean 'Good-v0'"):
        registry.spec("Goood-v0")
