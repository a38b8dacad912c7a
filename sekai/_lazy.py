"""Packages that import what they export when it is first asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


def lazy_exports(
    package: str, objects: dict[str, str], modules: dict[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return what a package needs to export things without importing them: `__getattr__`, `__dir__` and `__all__`.

    Args:
        package: the package's `__name__`.
        objects: module to the names of what the package exports from it, separated by spaces.
        modules: exported name to the module that it stands for.
    """
    sources = {name: module for module, names in objects.items() for name in names.split()}
    modules = modules or {}
    exported = sorted([*sources, *modules])

    def get(name: str) -> Any:
        if name in sources:
            value = getattr(import_module(sources[name]), name)
        elif name in modules:
            value = import_module(modules[name])
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(sys.modules[package], name, value)  # so that this function is not called for it again
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *exported})

    return get, names, exported
