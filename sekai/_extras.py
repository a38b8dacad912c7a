"""Libraries that sekai does without, unless one asks for what needs them: those of its extras."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def import_extra(module: str, extra: str) -> Any:
    """Import a module of an optional dependency.

    Args:
        module: Its name.
        extra: Name of sekai's extra that installs it.

    Raises:
        ImportError: It cannot be imported; the message tells how to install it.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f'{module} cannot be imported ({error}); pip install "sekai[{extra}]"') from error
