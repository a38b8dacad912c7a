"""The progress bar of rollouts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

Bar = Callable[[Sequence[int]], Iterable[int]]


@contextmanager
def progress_bar() -> Iterator[Bar]:
    """Shows on stderr, if that is a terminal, that something compiles, and then how far a rollout is.

    Gives what goes through its chunks of steps.

    Raises:
        ImportError: rich is not installed.
    """
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ImportError:
        raise ImportError('a progress bar needs rich: pip install "sekai[cli]"') from None
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as display:
        task = display.add_task("Compiling", total=None)

        def through(chunks: Sequence[int]) -> Iterable[int]:
            display.update(task, description="Rolling out")
            return display.track(chunks, task_id=task)

        yield through
