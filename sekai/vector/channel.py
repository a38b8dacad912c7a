"""Messages between two processes."""

from __future__ import annotations

import os
import pickle
import socket
import struct
import weakref
from collections import deque
from typing import Any

HEADER = struct.Struct("<Q")  # length of a message in bytes
CHUNK = 1 << 16


class Channel:
    """One end of a connection over which two processes send each other one message in turn.

    It blocks if the socket does. Nothing that interrupts a call, such as Ctrl-C, leaves half a message behind: signal
    handlers run between bytecodes, and the one call into C that sends or receives bytes also notes them.

    Args:
        end: A connected socket, closed by `close`. Processes that are forked close their copy of a socket that does not
            block, so that nobody but the owner keeps the connection open.
    """

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self._inbox: deque[bytes] = deque()  # what has come of the message that is awaited, or all of it
        self._outbox: tuple[memoryview, deque[int]] = memoryview(b""), deque()
        if not end.getblocking():
            _owned.add(self)

    @property
    def awaiting(self) -> bool:
        """Whether it is the other end's turn: its message has not come, or not all of it."""
        length = sum(map(len, self._inbox)) - HEADER.size
        if length < 0:
            return True
        start = self._inbox[0] if len(self._inbox[0]) >= HEADER.size else b"".join(self._inbox)
        return length < HEADER.unpack_from(start)[0]  # type: ignore[no-any-return]

    @property
    def message(self) -> bytes:
        """What came last, once it is not awaited any more."""
        return b"".join(self._inbox)[HEADER.size :]

    def fileno(self) -> int:
        """The socket's file descriptor."""
        return self._socket.fileno()

    def post(self, message: bytes) -> None:
        """Hand a message over for `flush` to send; from then on it is the other end's turn."""
        self._outbox = memoryview(HEADER.pack(len(message)) + message), deque()
        self._inbox = deque()

    def flush(self) -> bool:
        """Send what has not been sent yet; returns whether all of it has.

        Raises:
            EOFError: The other end is closed.
        """
        data, sent = self._outbox
        while rest := data[sum(sent) :]:
            try:
                sent.extend(map(self._socket.send, (rest,)))
            except BlockingIOError:
                return False
            except ConnectionError:
                raise EOFError from None
        return True

    def receive(self) -> bool:
        """Receive what has come; returns whether that completes the message.

        Raises:
            EOFError: The other end is closed.
        """
        inbox = self._inbox if self.awaiting else deque()  # nothing but the end may come out of turn
        try:
            inbox.extend(map(self._socket.recv, (CHUNK,)))
        except BlockingIOError:
            return False
        except ConnectionError:
            raise EOFError from None
        if not inbox[-1]:
            raise EOFError
        return not self.awaiting

    def close(self) -> None:
        """Close this end."""
        self._socket.close()


def encode(message: Any) -> bytes:
    """Pickle a message; cloudpickle takes what pickle does not, lambdas and classes of a notebook, say."""
    try:
        return pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    except Exception:
        import cloudpickle

        return cloudpickle.dumps(message)  # type: ignore[no-any-return]


_owned: weakref.WeakSet[Channel] = weakref.WeakSet()


def _close_owned() -> None:
    for channel in list(_owned):
        channel.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_owned)
