"""Libraries that a bridge needs and that sekai does without."""

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


def import_gymnasium_vector() -> Any:
    """Import `gymnasium.vector`, of a version that tells in which step lanes are reset.

    Raises:
        ImportError: gymnasium is missing, or older than 1.1.
    """
    vector = import_extra("gymnasium.vector", "gymnasium")
    if not hasattr(vector, "AutoresetMode"):
        raise ImportError('batches need gymnasium 1.1 or newer; pip install "gymnasium>=1.1"')
    return vector
