"""How the sync and the async methods of a class are kept in step."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any


def keep_async_consistent(cls: type) -> None:
    """Let the async methods of `cls` run the sync ones that override them.

    For `step` and for `reset`: where the class that defines the sync method comes before the class that defines the
    async one in the method resolution order, awaiting the inherited async method would skip the override. So `cls`
    gets an async method that runs exactly that sync function; not `self.step`, since a subclass that overrides both
    and chains to `super()` would run twice. Call it in `__init_subclass__`.
    """
    for name in ("step", "reset"):
        sync_owner, async_owner = _owner(cls, name), _owner(cls, f"async_{name}")
        if cls.__mro__.index(sync_owner) < cls.__mro__.index(async_owner):
            setattr(cls, f"async_{name}", _async_method(cls, name, sync_owner.__dict__[name]))


def _owner(cls: type, name: str) -> type:
    """Return the class whose `name` the instances of `cls` see."""
    return next(base for base in cls.__mro__ if name in base.__dict__)


def _async_method(cls: type, name: str, sync: Callable[..., Any]) -> Callable[..., Coroutine[Any, Any, Any]]:
    async def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return sync(self, *args, **kwargs)

    method.__name__ = f"async_{name}"
    method.__qualname__ = f"{cls.__qualname__}.async_{name}"
    method.__module__ = cls.__module__
    method.__doc__ = f"Run `{sync.__qualname__}`, which overrides the async method of a base class."
    return method
