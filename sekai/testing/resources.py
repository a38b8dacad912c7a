"""What an environment may leave open: files, sockets, processes, threads, event loops."""

from __future__ import annotations

import asyncio
import io
import mmap
import multiprocessing
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import singledispatch
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from sekai.core.wrapper import Wrapper


@singledispatch
def is_open(value: Any) -> bool:
    """Whether `value` is a resource in use, of a kind that is known; `is_open.register` adds others."""
    return False


@is_open.register(io.RawIOBase)
@is_open.register(io.BufferedIOBase)
@is_open.register(io.TextIOBase)
@is_open.register(mmap.mmap)
@is_open.register(Connection)
def _(value: Any) -> bool:
    harmless = isinstance(value, (io.BytesIO, io.StringIO)) or value in (sys.stdin, sys.stdout, sys.stderr)
    return not (value.closed or harmless)


@is_open.register
def _(value: socket.socket) -> bool:
    return value.fileno() != -1


@is_open.register
def _(value: subprocess.Popen) -> bool:  # type: ignore[type-arg]
    return value.poll() is None


@is_open.register(threading.Thread)
@is_open.register(BaseProcess)
def _(value: Any) -> bool:
    return bool(value.is_alive())


@is_open.register
def _(value: asyncio.AbstractEventLoop) -> bool:
    return not value.is_closed()


def running() -> set[Any]:
    """The threads and child processes there are now."""
    return {*threading.enumerate(), *multiprocessing.active_children()}


def left_open(env: Any, before: set[Any]) -> list[str]:
    """Names of resources in use: attributes of an environment's layers, and what has been running since `before`."""
    found = {}
    for layer in env if isinstance(env, Wrapper) else [env]:
        for name, value in getattr(layer, "__dict__", {}).items():
            found.update({id(part): f"{type(layer).__name__}.{name}" for part in _parts(value) if is_open(part)})
    for task in running() - before:
        kind = "thread" if isinstance(task, threading.Thread) else "process"
        found.setdefault(id(task), f"the {kind} {task.name!r}")
    return list(found.values())


def _parts(value: Any) -> Iterator[Any]:
    """A value, or those in a container."""
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, (list, tuple, set)):
        yield from value
    else:
        yield value
