"""The progress bar of rollouts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

Bar = Callable[[Sequence[int]], Iterable[int]]


def progress_bar() -> Bar:
    """What goes through chunks of steps and shows on stderr how far it is, if that is a terminal.

    Raises:
        ImportError: rich is not installed.
    """
    try:
        from rich.console import Console
        from rich.progress import track
    except ImportError:
        raise ImportError('a progress bar needs rich: pip install "sekai[cli]"') from None
    console = Console(stderr=True)
    hidden = not console.is_terminal
    return partial(track, description="Rolling out", console=console, transient=True, disable=hidden)
