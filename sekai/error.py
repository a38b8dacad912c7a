"""The errors that sekai raises on purpose."""
# ruff: noqa: N818 -- the public names say what happened, without "Error"

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typing_extensions import Self

__all__ = [
    "AsyncCallPending",
    "DeprecatedAPI",
    "EnvAlreadyRegistered",
    "EnvNotFound",
    "InvalidAction",
    "InvalidObservation",
    "LookAheadError",
    "ResetRequired",
    "SekaiError",
    "SpaceMismatch",
    "VecEnvClosed",
    "VecEnvWorkerError",
]


class SekaiError(Exception):
    """Base class of all of sekai's own errors.

    An error remembers the arguments that it was made from, and is pickled and copied by making it again: `Exception`
    would pass the finished message to the constructor of the subclass instead.
    """

    _arguments: tuple[tuple[Any, ...], dict[str, Any]]

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Note the arguments for `__reduce__`."""
        error = super().__new__(cls, *args)
        error._arguments = args, kwargs
        return error

    def __reduce__(self) -> tuple[Any, ...]:
        args, kwargs = self._arguments
        return partial(type(self), **kwargs), args, self.__dict__


class EnvNotFound(SekaiError):
    """No environment can be made from this id.

    Args:
        id: what was looked up.
        suggestions: registered ids that look similar.
        reason: why there is none, when it is not that nothing has this id.
    """

    def __init__(self, id: str, suggestions: Iterable[str] = (), *, reason: str = "is not registered") -> None:
        self.id = id
        self.suggestions = tuple(suggestions)
        hint = f" Did you mean {' or '.join(map(repr, self.suggestions))}?" if self.suggestions else ""
        super().__init__(f"environment {id!r} {reason}.{hint} sekai.all_specs() lists what there is.")


class EnvAlreadyRegistered(SekaiError):
    """An environment of this id exists; deregister it first to replace it."""

    def __init__(self, id: str) -> None:
        super().__init__(f"environment {id!r} is already registered; sekai.deregister({id!r}) makes room for another.")


class InvalidAction(SekaiError):
    """An action does not lie in the action space.

    Args:
        action: the action.
        space: the space it should lie in.
        lane: whose action it is, in a batch.
        reason: why it does not, where that is not plain to see.
    """

    def __init__(self, action: object, space: object, *, lane: int | None = None, reason: str | None = None) -> None:
        whose = "" if lane is None else f" of lane {lane}"
        why = "" if reason is None else f": {reason}"
        super().__init__(f"action {action!r}{whose} does not lie in {space!r}{why}.")


class InvalidObservation(SekaiError):
    """An observation does not lie in the observation space."""

    def __init__(self, obs: object, space: object) -> None:
        super().__init__(f"observation {obs!r} does not lie in {space!r}.")


class ResetRequired(SekaiError):
    """The environment has no episode to step."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or "call reset() before step(): there is no episode to continue.")


class AsyncCallPending(SekaiError):
    """A call was made out of turn: while another one on the same environment was running, or to fetch what none made.

    Args:
        message: what is to be done, where it is not to await the other call.
    """

    def __init__(
        self, *, message: str = "another async call on this environment has not finished; await it first."
    ) -> None:
        super().__init__(message)


class SpaceMismatch(SekaiError):
    """Spaces, or what is said to lie in them, do not fit together."""

    def __init__(self, msg: str) -> None:
        super().__init__(msg)


class DeprecatedAPI(SekaiError):
    """Something was removed in favour of something else."""

    def __init__(self, old: str, new: str) -> None:
        super().__init__(f"{old!r} was removed; use {new!r}.")


class VecEnvWorkerError(SekaiError):
    """A sub-environment failed in its worker, or the worker did.

    Args:
        rank: index of the sub-environment; of a worker that failed, the first one of its own.
        exc_type: name of the error's class; `WorkerDied` or `TimeoutError` for a worker.
        message: text of the error.
        remote_traceback: the worker's formatted traceback; may be empty.
        worker: the worker and its sub-environments, where it is not known which of them failed.
    """

    def __init__(
        self, rank: int, exc_type: str, message: str, remote_traceback: str, *, worker: str | None = None
    ) -> None:
        self.rank = rank
        self.exc_type = exc_type
        self.remote_traceback = remote_traceback
        origin = f"\n\nTraceback of the worker:\n{remote_traceback}" if remote_traceback else ""
        super().__init__(f"{worker or f'Sub-env {rank}'} raised {exc_type}: {message}{origin}")


class VecEnvClosed(SekaiError):
    """A closed vector environment was used."""

    def __init__(self) -> None:
        super().__init__("this vector environment is closed.")


class LookAheadError(SekaiError):
    """A result depends on data from the future."""

    def __init__(self, msg: str) -> None:
        super().__init__(msg)
