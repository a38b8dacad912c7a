"""Entry points: what an environment is made by, as an object or as the place where it can be imported."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeAlias

EntryPoint: TypeAlias = str | Callable[..., Any]


def load(entry_point: EntryPoint) -> Callable[..., Any]:
    """Return the callable that `entry_point` is, or that `"module:attribute"` names.

    Raises:
        ValueError: a string without a colon.
        ImportError: the module cannot be imported.
        AttributeError: the module has no such attribute.
    """
    if not isinstance(entry_point, str):
        return entry_point
    module, colon, attribute = entry_point.rpartition(":")
    if not colon:
        raise ValueError(f'an entry point must look like "module:attribute", got {entry_point!r}')
    return getattr(import_module(module), attribute)  # type: ignore[no-any-return]
