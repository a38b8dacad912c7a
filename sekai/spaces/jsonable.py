"""Spaces from plain data, found by the name of their type."""

from __future__ import annotations

from typing import Any

from sekai.spaces.space import Space

_types: dict[Any, type[Space[Any]]] = {}


def register_space_type(name: str, cls: type[Space[Any]]) -> None:
    """Let `space_from_jsonable` rebuild data of type `name` with `cls.from_jsonable`."""
    _types[name] = cls


def space_from_jsonable(data: dict[str, Any]) -> Space[Any]:
    """Rebuild the space that `to_jsonable` described.

    Raises:
        ValueError: No space type of that name is registered.
    """
    name = data.get("type")
    if name not in _types:
        raise ValueError(f"Unknown space type {name!r}; register_space_type knows {sorted(_types)}")
    return _types[name].from_jsonable(data)
