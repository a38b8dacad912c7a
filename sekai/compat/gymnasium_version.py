"""Which gymnasium the bridges for batches need."""

from __future__ import annotations

from typing import Any

from sekai._extras import import_extra


def import_gymnasium_vector() -> Any:
    """Import `gymnasium.vector`, of a version that tells in which step lanes are reset.

    Raises:
        ImportError: gymnasium is missing, or older than 1.1.
    """
    vector = import_extra("gymnasium.vector", "gymnasium")
    if not hasattr(vector, "AutoresetMode"):
        raise ImportError('batches need gymnasium 1.1 or newer; pip install "gymnasium>=1.1"')
    return vector
