"""Environments of other installed packages, announced by entry points in their metadata."""

from __future__ import annotations

import warnings


def load_plugins(group: str) -> None:
    """Let packages register environments: import each entry point of `group`, and call it if it is a function.

    A plugin that fails becomes a RuntimeWarning, so that a broken package does not take the others down with it.
    """
    from importlib.metadata import entry_points

    for plugin in entry_points(group=group):
        try:
            loaded = plugin.load()
            if callable(loaded):
                loaded()
        except Exception as error:
            warnings.warn(
                f"plugin {plugin.name!r} of {group} ({plugin.value}) failed: {error!r}", RuntimeWarning, stacklevel=2
            )
