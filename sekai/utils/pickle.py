"""Send functions to other processes, those without an importable name included."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any


class CloudpickleWrapper:
    """A callable without arguments that pickles lambdas and closures.

    Args:
        fn: what calling the wrapper calls.
    """

    def __init__(self, fn: Callable[[], Any]) -> None:
        self.fn = fn

    def __call__(self) -> Any:
        """Call `fn`."""
        return self.fn()

    def __getstate__(self) -> bytes:
        import cloudpickle

        return cloudpickle.dumps(self.fn)  # type: ignore[no-any-return]

    def __setstate__(self, state: bytes) -> None:
        self.fn = pickle.loads(state)
