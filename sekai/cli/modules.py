"""Modules of the user's, and what goes wrong in them."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from sekai.error import SekaiError

# Errors whose message is made for users, but for a TypeError of other code than sekai's; of any other, its class and
# place are told too.
PLAIN = (SekaiError, ImportError, TypeError, ValueError, MemoryError, OSError)


def explanation(error: Exception) -> str:
    """What went wrong, for a user who did not ask for a traceback."""
    frame, line = list(traceback.walk_tb(error.__traceback__))[-1]
    ours = frame.f_globals.get("__name__", "").partition(".")[0] == "sekai"
    if isinstance(error, PLAIN) and (ours or not isinstance(error, TypeError)):
        return str(error) or type(error).__name__
    return f"{type(error).__name__}: {error} ({frame.f_code.co_filename}, line {line})"


def import_modules(names: Iterable[str]) -> None:
    """Import modules of the user's, from the current directory too.

    Raises:
        ImportError: One cannot be imported, for whatever reason.
    """
    if names and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    for name in names:
        try:
            import_module(name)
        except Exception as error:
            raise ImportError(f"could not import {name!r}: {explanation(error)}") from error


def load_attribute(option: str, name: str) -> Any:
    """What `"MODULE:ATTR"` names, in a module of the user's or any other.

    Args:
        option: The option that it is the value of.
        name: It.

    Raises:
        ValueError: It does not look like that, or the module has no such attribute.
        ImportError: The module cannot be imported.
    """
    module, _, attribute = name.rpartition(":")
    if not (module and attribute):
        raise ValueError(f"{option} must look like MODULE:ATTR, got {name!r}")
    import_modules([module])
    try:
        return getattr(sys.modules[module], attribute)
    except AttributeError:
        raise ValueError(f"{option}: module {module!r} has no attribute {attribute!r}") from None
