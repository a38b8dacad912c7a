"""Libraries that sekai does without."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

import sekai.compat
from sekai._extras import import_extra
from sekai.compat.gymnasium_version import import_gymnasium_vector

MISSING = """
import sys
sys.modules["gymnasium"] = sys.modules["pettingzoo"] = sys.modules["stable_baselines3"] = None
import sekai.compat
names = [name for name in dir(sekai.compat) if name.lower().startswith(("to_", "from_", "space_", "gymnas", "sekaito"))]
for name in sorted(names):
    try:
        value = getattr(sekai.compat, name)
        if name[0].islower():
            value(None)
    except ImportError as error:
        print(name, type(error).__name__, 'pip install "sekai[' in str(error))
"""


def test_a_missing_library_is_an_import_error_with_the_command():
    run = subprocess.run([sys.executable, "-c", MISSING], capture_output=True, text=True, check=True)
    lines = run.stdout.splitlines()
    assert len(lines) >= 11
    assert all(line.endswith("ImportError True") for line in lines)


def test_names():
    assert set(sekai.compat.__all__) == {
        *("to_gymnasium", "from_gymnasium", "space_to_gymnasium", "space_from_gymnasium"),
        *("to_pettingzoo", "from_pettingzoo"),
        *("SekaiToGymnasium", "GymnasiumToSekai", "GymnasiumRenderer", "SekaiToPettingZoo", "PettingZooToSekai"),
    }


def test_a_module_that_is_there():
    assert import_extra("sys", "nothing") is sys


def test_gymnasium_before_1_1(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium.vector", SimpleNamespace())
    with pytest.raises(ImportError, match=r'pip install "gymnasium>=1.1"'):
        import_gymnasium_vector()
