"""What a worker process of a `ProcVecEnv` does."""

from __future__ import annotations

import pickle
import signal
import socket
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from sekai.vector.channel import Channel, encode
from sekai.vector.env_batch import columns
from sekai.vector.shared_observations import SharedObservations
from sekai.vector.sub_envs import LaneError, SubEnvs, first_error, spaces_of

Columns = tuple["list[Any] | None", ...]
Answer = tuple[str, Any]  # ("done", columns) or ("error", arguments of a VecEnvWorkerError)


def serve(end: socket.socket, env_fns: Callable[[], list[Callable[[], Any]]], first: int) -> None:
    """Make some environments, and do what the process of the batch asks for until it asks to close or is gone.

    Args:
        end: The worker's end of the connection.
        env_fns: Returns what makes each environment.
        first: Rank of the first of them.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process of the batch
    end.setblocking(True)
    channel = Channel(end)
    with suppress(EOFError):  # the process of the batch is gone
        sub_envs = SubEnvs.build(env_fns(), first)
        if isinstance(sub_envs, LaneError):
            _send(channel, encode(_failed(sub_envs)))
            return
        servant = Servant(sub_envs)
        try:
            _send(channel, servant.answer("introduce", ()))
            while not servant.closed:
                _send(channel, servant.answer(*_next(channel)))
        finally:
            servant.release()


class Servant:
    """Carries out commands, which are its methods, on the environments of one worker.

    A command returns columns, lists of one entry per lane; or None for what does not travel this way.
    """

    def __init__(self, sub_envs: SubEnvs) -> None:
        self.closed = False
        self._sub_envs = sub_envs
        self._shared: SharedObservations | None = None

    def answer(self, command: str, arguments: tuple[Any, ...]) -> bytes:
        """Carry out a command, and return the answer as it is sent."""
        first = self._sub_envs.lanes[0].rank
        try:
            columns: Columns = getattr(self, command)(*arguments)
        except LaneError as failure:
            return encode(_failed(failure))
        except Exception as error:
            return encode(_failed(LaneError(first, error)))
        try:
            return encode(("done", columns))
        except Exception as error:
            return encode(_failed(LaneError(first + _first_unsendable(columns), error)))

    def introduce(self) -> Columns:
        """The spaces of every environment, and whether any has an action mask."""
        pairs = _checked([lane.attempt(spaces_of) for lane in self._sub_envs.lanes])
        alike = [pairs[0] if pair == pairs[0] else pair for pair in pairs]  # of the same, one copy is sent
        return alike, [self._sub_envs.have_action_mask()] * len(pairs)

    def share(self, num_envs: int, name: str) -> Columns:
        """Write observations to shared memory from now on."""
        self._shared = SharedObservations(self._sub_envs.lanes[0].env.observation_space, num_envs, name)
        return ()

    def reset(self, *arguments: Any) -> Columns:
        """Reset lanes."""
        rows = _checked(self._sub_envs.reset(*arguments))
        return (self._observations(rows), [row.info for row in rows])

    def step(self, *arguments: Any) -> Columns:
        """Step lanes."""
        rows = _checked(self._sub_envs.step(*arguments))
        return (self._observations(rows), *columns(rows))

    def get_state(self, mask: list[bool]) -> Columns:
        """Snapshots of lanes."""
        return (_checked(self._sub_envs.get_state(mask)),)

    def set_state(self, states: list[bytes | None]) -> Columns:
        """Put lanes back to snapshots."""
        self._observations(_checked(self._sub_envs.set_state(states)))
        return ()

    def call(self, *arguments: Any) -> Columns:
        """Call a method of every environment."""
        return (_checked(self._sub_envs.call(*arguments)),)

    def get_attr(self, name: str) -> Columns:
        """Return an attribute of every environment."""
        return (_checked(self._sub_envs.get_attr(name)),)

    def set_attr(self, *arguments: Any) -> Columns:
        """Set an attribute of every environment."""
        return (_checked(self._sub_envs.set_attr(*arguments)),)

    def action_mask(self) -> Columns:
        """Return the action mask of every environment."""
        return (_checked(self._sub_envs.action_mask()),)

    def close(self) -> Columns:
        """Close every environment."""
        self.closed = True
        return (_checked(self._sub_envs.close()),)

    def release(self) -> None:
        """Leave nothing behind."""
        if not self.closed:
            self._sub_envs.close()
        if self._shared is not None:
            self._shared.close()

    def _observations(self, rows: list[Any]) -> list[Any] | None:
        """The observations of all lanes, or None if they are in shared memory."""
        if self._shared is None:
            return [row.observation for row in rows]
        for lane, row in zip(self._sub_envs.lanes, rows, strict=True):
            try:
                self._shared.write(lane.rank, row.observation)
            except Exception as error:
                raise LaneError(lane.rank, error) from error
        return None


def _send(channel: Channel, message: bytes) -> None:
    channel.post(message)
    channel.flush()


def _next(channel: Channel) -> tuple[str, tuple[Any, ...]]:
    while not channel.receive():
        pass
    return pickle.loads(channel.message)  # type: ignore[no-any-return]


def _first_unsendable(columns: Columns) -> int:
    """Index of the first lane one of whose entries cannot be pickled."""
    for i, entries in enumerate(zip(*filter(None, columns), strict=True)):
        try:
            encode(entries)
        except Exception:
            return i
    return 0


def _checked(results: list[Any]) -> list[Any]:
    failure = first_error(results)
    if failure is not None:
        raise failure
    return results


def _failed(failure: LaneError) -> Answer:
    """What is sent for an error of a lane."""
    error = failure.error
    origin = "".join(traceback.format_exception(error))
    return "error", (failure.rank, type(error).__name__, str(error), origin)
