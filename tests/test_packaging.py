"""What is in the wheel."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_every_package_is_listed():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    listed = re.findall(r'"([\w.]+)"', re.search(r"(?s)\npackages = \[(.*?)\]", text)[1])
    folders = [path.parent for name in ("sekai", "kernels") for path in (ROOT / name).rglob("__init__.py")]
    names = [".".join(path.relative_to(ROOT).parts).replace("kernels", "sekai.kernels", 1) for path in folders]
    assert sorted(listed) == sorted(names)


def test_the_versions_agree():
    version = re.search(r'\nversion = "(.*)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))[1]
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
