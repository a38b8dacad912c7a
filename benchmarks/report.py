"""Tables of measurements, written into Markdown files between two marks."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from sekai.vector.threads import available

ROOT = Path(__file__).parents[1]


def machine(*packages: str) -> str:
    """The processor, how many threads of it there are and how busy it was, and versions, as one sentence each."""
    load = f" Load average when it began: {os.getloadavg()[0]:.1f}." if hasattr(os, "getloadavg") else ""
    versions = [f"{name} {importlib.metadata.version(name)}" for name in packages]
    return (
        f"{processor()}, {available()} hardware threads, {platform.system()}.{load}\n"
        f"Python {platform.python_version()}, {', '.join(versions)}, {compiler()}."
    )


def processor() -> str:
    """The name of the processor."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor() or platform.machine()
    found = re.search(r"model name\s*: (.*)", text)
    return found[1] if found else platform.machine()


def compiler() -> str:
    """The first line of what the C compiler says about itself."""
    return subprocess.run(["cc", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]


def table(header: Sequence[str], rows: Iterable[Sequence[str]], numeric: Sequence[int] = ()) -> str:
    """A Markdown table; the columns `numeric` are aligned to the right."""
    rule = ["---:" if k in numeric else "---" for k in range(len(header))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [header, rule, *rows])


def fill(path: Path, name: str, text: str) -> None:
    """Replace what stands between the marks `<!-- measured: name -->` and `<!-- end -->` of a file.

    Raises:
        ValueError: The file has no such marks.
    """
    content = path.read_text(encoding="utf-8")
    filled, count = re.subn(
        rf"(?s)(<!-- measured: {name} -->\n).*?(<!-- end -->)", lambda found: f"{found[1]}{text}\n{found[2]}", content
    )
    if count != 1:
        raise ValueError(f"{path} must have one pair of marks for {name!r}, got {count}")
    path.write_text(filled, encoding="utf-8")
