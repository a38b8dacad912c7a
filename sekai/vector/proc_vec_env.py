"""Batches of environments that run in other processes."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from multiprocessing import forkserver, resource_tracker
from multiprocessing.process import BaseProcess
from multiprocessing.util import Finalize
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekai._types import ActType, InfoDict, ObsType
from sekai.error import AsyncCallPending
from sekai.utils.integers import positive_int
from sekai.vector import worker
from sekai.vector.env_batch import EnvBatch, EnvFn
from sekai.vector.result import GroupStepResult, VecResetResult, VecStepResult
from sekai.vector.shared_observations import SharedObservations, has_fixed_size
from sekai.vector.worker_pool import Worker, WorkerPool


@dataclass(eq=False)
class Group:
    """Lanes that are sent and received together."""

    workers: list[Worker]

    @property
    def first(self) -> int:
        """The lowest lane."""
        return self.workers[0].lanes[0]

    @property
    def last(self) -> int:
        """One past the highest lane."""
        return self.workers[-1].lanes[-1] + 1

    @property
    def lanes(self) -> NDArray[np.int64]:
        """All lanes."""
        return np.arange(self.first, self.last)

    @property
    def ready(self) -> bool:
        """Whether all its workers have answered."""
        return not any(worker.channel.awaiting for worker in self.workers)


class ProcVecEnv(EnvBatch[ObsType, ActType]):
    """N environments in worker processes, each worker with some of them, one after the other.

    Results are those of `SyncVecEnv`, except that observations in shared memory have the dtypes of their space, and
    that a Generator passed as a seed is copied into the worker. Scripts need an `if __name__ == "__main__":` guard,
    unless the context is "fork".

    `send` and `recv` are the two halves of `step`, between which this process is free. With `num_groups` of 2 the
    environments of one group work while the policy works for the other:

        result = vec.reset(seed=0)
        for lanes in vec.groups:
            vec.send(policy(result.observations[lanes]), lanes)
        while True:
            result = vec.recv()
            vec.send(policy(result.observations), result.lanes)

    An exception that an environment raises arrives as a `VecEnvWorkerError` when all other lanes have had their turn;
    the results of that call are lost. Stepping on is allowed, `reset` starts afresh. A worker that dies, or does not
    answer within `step_timeout`, is reported by the call that needs it and by every later one but `close`, and no lane
    moves any more.

    Args:
        env_fns: What makes each environment, at least one; sent with cloudpickle, so lambdas and local classes will do.
        autoreset: See `VecEnv`.
        context: "forkserver" (the default where there is one), "spawn" or "fork".
        close_timeout: Seconds that `close` gives the workers before it ends them by force.
        num_workers: Number of processes, at most N, which it is by default. Worker k has consecutive lanes, as
            `np.array_split(range(N), num_workers)[k]`.
        shared_memory: Whether observations go through shared memory; None: if their space is of fixed size.
        step_timeout: Seconds that a worker may take for an answer; None waits for ever.
        num_groups: Into how many groups, of whole workers each, `send` and `recv` divide the lanes.

    Attributes:
        num_workers: Number of processes.
        close_timeout: As given.
        step_timeout: As given.
        groups: Int64 arrays: the lanes of each group.

    Raises:
        ValueError: `env_fns` is empty, the context is not known, or a number is too small or too large.
        TypeError: An argument is of the wrong type, an environment has several agents, or `shared_memory` is True but
            the space is not of fixed size.
        VecEnvWorkerError: An environment could not be made.
        SpaceMismatch: The environments differ in their spaces. All workers have ended then, as after any error here.
    """

    def __init__(
        self,
        env_fns: Sequence[EnvFn],
        *,
        autoreset: bool | str = True,
        context: str | None = None,
        close_timeout: float = 5.0,
        num_workers: int | None = None,
        shared_memory: bool | None = None,
        step_timeout: float | None = None,
        num_groups: int = 1,
    ) -> None:
        super().__init__(env_fns, autoreset)
        n = self.num_envs
        self.num_workers = n if num_workers is None else min(n, positive_int("num_workers", num_workers))
        self.close_timeout = _seconds("close_timeout", close_timeout)
        self.step_timeout = None if step_timeout is None else _seconds("step_timeout", step_timeout)
        if positive_int("num_groups", num_groups) > self.num_workers:
            raise ValueError(f"num_groups must be at most the number of workers, {self.num_workers}, got {num_groups}")
        start = multiprocessing.get_context(context or _default_context())
        _preload()
        if os.name == "posix":
            resource_tracker.ensure_running()  # or a forked worker would start one that ends with it
        self._lock = threading.Lock()
        self._pool = WorkerPool()
        self._finalizer = Finalize(self, self._pool.stop, (self.close_timeout,), exitpriority=10)
        try:
            for lanes in np.array_split(np.arange(n), self.num_workers):
                self._pool.start(start, range(lanes[0], lanes[-1] + 1), [env_fns[lane] for lane in lanes])
            self._everyone = Group(self._pool.workers)
            self._introduce(shared_memory)
        except BaseException:
            self.closed = True
            self._pool.stop(self.close_timeout)
            raise
        indices = np.array_split(np.arange(self.num_workers), num_groups)
        self._groups = [Group(self._pool.workers[part[0] : part[-1] + 1]) for part in indices]
        self._idle = list(self._groups)  # those not sent, in the order in which they are sent
        self._flying: list[Group] = []

    def _introduce(self, shared_memory: bool | None) -> None:
        """Learn about the environments, and agree on how observations travel."""
        pool = self._pool
        pool.finish([pool.workers], None)
        spaces, have_action_mask = map(_joined, zip(*pool.answers(pool.workers), strict=True))
        self._take_spaces(spaces)
        self._have_action_mask = any(have_action_mask)
        fixed = has_fixed_size(self.observation_space)
        if shared_memory and not fixed:
            raise TypeError(f"shared_memory needs observations of fixed size, got {self.observation_space!r}")
        if fixed and shared_memory is not False:
            shared = pool.shared = SharedObservations(self.observation_space, self.num_envs)
            try:
                self._command("share", (), self.num_envs, shared.name)
            finally:
                shared.unlink()

    @property
    def shared_memory(self) -> bool:
        """Whether observations go through shared memory; False after `close`."""
        return self._pool.shared is not None

    @property
    def groups(self) -> list[NDArray[np.int64]]:
        """The lanes of each group."""
        return [group.lanes for group in self._groups]

    @property
    def _processes(self) -> list[BaseProcess]:
        return self._pool.processes

    # ---- reset and step --------------------------------------------------------------------------

    def reset(self, *, seed: Any = None, options: Any = None, mask: Any = None) -> VecResetResult[ObsType]:
        """Start an episode in every lane, or in those of `mask`.

        Args:
            seed: See `VecEnv.reset`.
            options: See `VecEnv.reset`.
            mask: See `VecEnv.reset`.

        Raises:
            VecEnvClosed: After `close`.
            AsyncCallPending: Between `send` and `recv`, or while another call on this batch runs.
            ResetRequired: A mask, before all lanes have been reset.
            TypeError, ValueError: A seed, options or mask of another kind or length; nothing has changed then.
            VecEnvWorkerError: An environment or a worker failed.
        """
        arguments = self._reset_arguments(seed, options, mask)
        with self._turn():
            answers = self._command("reset", arguments)
        return self._reset_result(answers)

    async def async_reset(self, *, seed: Any = None, options: Any = None, mask: Any = None) -> VecResetResult[ObsType]:
        """`reset` for callers that await; the event loop runs meanwhile."""
        arguments = self._reset_arguments(seed, options, mask)
        with self._turn():
            answers = await self._async_command("reset", arguments)
        return self._reset_result(answers)

    def step(self, actions: ActType, mask: Any = None) -> VecStepResult[ObsType]:
        """Step every lane with its action, or those of `mask`.

        Args:
            actions: See `VecEnv.step`.
            mask: See `VecEnv.step`.

        Returns:
            As `SyncVecEnv.step`.

        Raises:
            VecEnvClosed: After `close`.
            AsyncCallPending: Between `send` and `recv`, or while another call on this batch runs.
            ResetRequired: Before the first `reset`.
            TypeError, ValueError: Actions or a mask of another kind or length; nothing has changed then.
            VecEnvWorkerError: An environment or a worker failed.
        """
        arguments = self._step_arguments(actions, mask)
        with self._turn():
            answers = self._command("step", arguments, self._autoreset_mode)
        return VecStepResult(*self._step_parts(answers, self._everyone))

    async def async_step(self, actions: ActType, mask: Any = None) -> VecStepResult[ObsType]:
        """`step` for callers that await; the event loop runs meanwhile."""
        arguments = self._step_arguments(actions, mask)
        with self._turn():
            answers = await self._async_command("step", arguments, self._autoreset_mode)
        return VecStepResult(*self._step_parts(answers, self._everyone))

    def send(self, actions: ActType, lanes: Any = None) -> None:
        """Have the lanes of a group begin a step, and return at once.

        Args:
            actions: An action for each lane of the group.
            lanes: The group, as `groups` and the `lanes` of results have it. None: of the groups that are not on their
                way, the one that has waited longest.

        Raises:
            VecEnvClosed: After `close`.
            AsyncCallPending: The group, or all groups, have been sent already; or another call on this batch runs.
            ResetRequired: Before the first `reset`.
            ValueError: `lanes` are no group, or there are more or fewer actions than lanes.
            VecEnvWorkerError: A worker failed.
        """
        self._check_open()
        self._check_started()
        group = self._group(lanes)
        each = self._split_actions(actions, len(group.lanes))
        with self._turn(flying=True):
            commands = self._commands("step", group, (each, [True] * len(each)), self._autoreset_mode)
            self._pool.finish([group.workers], self.step_timeout)
            self._pool.ask(group.workers, commands)
            self._flying.append(group)
            self._idle.remove(group)

    def recv(self) -> GroupStepResult[ObsType]:
        """Wait for a group that was sent to finish its step; of several, the one that was sent first.

        Returns:
            The step of the group, whose lanes are `result.lanes`.

        Raises:
            VecEnvClosed: After `close`.
            AsyncCallPending: Nothing has been sent; or another call on this batch runs.
            VecEnvWorkerError: An environment of the group or a worker failed.
        """
        self._check_open()
        if not self._flying:
            raise AsyncCallPending(message="nothing has been sent: call send() before recv()")
        with self._turn(flying=True):
            self._pool.finish([group.workers for group in self._flying], self.step_timeout)
            group = next(group for group in self._flying if group.ready)
            self._flying.remove(group)
            self._idle.append(group)
            answers = self._pool.answers(group.workers)
        return GroupStepResult(*self._step_parts(answers, group), group.lanes)

    def _group(self, lanes: Any) -> Group:
        if lanes is None:
            candidates = self._idle
        else:
            candidates = [group for group in self._groups if np.array_equal(group.lanes, lanes)]
            if not candidates:
                raise ValueError(f"lanes must be those of a group, one of {self.groups}, got {lanes!r}")
        if not candidates or candidates[0] in self._flying:
            raise AsyncCallPending(message="the group has been sent already: call recv() before send()")
        return candidates[0]

    def _reset_result(self, answers: list[Any]) -> VecResetResult[ObsType]:
        self._started = True
        self._idle = list(self._groups)
        observations, infos = zip(*answers, strict=True)
        return VecResetResult(self._observations(observations, self._everyone), _joined(infos))

    def _step_parts(self, answers: list[Any], group: Group) -> tuple[ObsType, Any, Any, Any, list[InfoDict]]:
        observations, *columns = zip(*answers, strict=True)
        return self._step_fields(self._observations(observations, group), *map(_joined, columns))

    def _observations(self, columns: Sequence[Any], group: Group) -> Any:
        shared = self._pool.shared
        return self._batch_obs(_joined(columns)) if shared is None else shared.read(group.first, group.last)

    # ---- attributes ------------------------------------------------------------------------------

    def call(self, method: str, *args: Any, **kwargs: Any) -> list[Any]:
        """Call a method of every environment, or of a wrapper around it; an attribute that is none is returned.

        Raises:
            VecEnvClosed: After `close`.
            AsyncCallPending: Between `send` and `recv`, or while another call on this batch runs.
            VecEnvWorkerError: An environment raised (`exc_type` is "AttributeError" if it has no such attribute), or
                what it returned cannot be pickled.
        """
        return self._values("call", method, args, kwargs)

    def get_attr(self, name: str) -> list[Any]:
        """Return the attribute `name` of every environment, looked up through its wrappers; raises as `call` does."""
        return self._values("get_attr", name)

    def set_attr(self, name: str, values: Any) -> None:
        """Set an attribute of every environment, on the layer that has it; raises as `call` does.

        Args:
            name: The attribute.
            values: A list holds one value per lane; anything else, tuples and arrays too, goes to all.

        Raises:
            ValueError: A list of another length.
        """
        self._check_open()
        each = self._one_value_each(name, values)
        with self._turn():
            self._command("set_attr", (each,), name)

    def _action_masks(self) -> list[Any]:
        return self._values("action_mask")

    def _save(self, mask: list[bool]) -> list[Any]:
        with self._turn():
            return _joined(column for (column,) in self._command("get_state", (mask,)))

    def _restore(self, states: list[bytes | None]) -> None:
        with self._turn():
            self._command("set_state", (states,))

    def _values(self, command: str, *arguments: Any) -> list[Any]:
        self._check_open()
        with self._turn():
            return _joined(column for (column,) in self._command(command, (), *arguments))

    # ---- commands --------------------------------------------------------------------------------

    @contextmanager
    def _turn(self, flying: bool = False) -> Iterator[None]:
        """Only one call at a time, and while groups are flying none but `send` and `recv`."""
        self._pool.check()
        if (self._flying and not flying) or not self._lock.acquire(blocking=False):
            raise AsyncCallPending()
        try:
            yield
        finally:
            self._lock.release()

    def _command(self, name: str, columns: Sequence[list[Any]], *common: Any) -> list[Any]:
        """Have all workers do the same, each with its lanes' part of `columns`; returns their answers."""
        commands, everyone = self._commands(name, self._everyone, columns, *common), self._everyone.workers
        self._pool.finish([everyone], self.step_timeout)  # a call that was interrupted
        self._pool.ask(everyone, commands)
        self._pool.finish([everyone], self.step_timeout)
        return self._pool.answers(everyone)

    async def _async_command(self, name: str, columns: Sequence[list[Any]], *common: Any) -> list[Any]:
        """`_command` while the event loop runs."""
        commands, everyone = self._commands(name, self._everyone, columns, *common), self._everyone.workers
        await self._pool.async_finish([everyone], self.step_timeout)
        self._pool.ask(everyone, commands)
        await self._pool.async_finish([everyone], self.step_timeout)
        return self._pool.answers(everyone)

    def _commands(self, name: str, group: Group, columns: Sequence[list[Any]], *common: Any) -> list[Any]:
        """A command for each worker of a group, whose lanes are what `columns` are about."""
        starts = [worker.lanes[0] - group.first for worker in group.workers]
        ends = [worker.lanes[-1] - group.first + 1 for worker in group.workers]
        return [
            (name, (*(column[start:end] for column in columns), *common))
            for start, end in zip(starts, ends, strict=True)
        ]

    def close(self) -> None:
        """Close every environment and end the workers, by force if it takes longer than `close_timeout`.

        Raises:
            VecEnvWorkerError: An environment raised when it was closed; the first of these errors, when all has ended.
        """
        self.closed = True
        errors = self._pool.stop(self.close_timeout)
        self._finalizer.cancel()
        if errors:
            raise errors[0]


def _default_context() -> str:
    return "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"


def _preload() -> None:
    """Let the fork server import what workers need once for all of them, unless it has been told what to import."""
    server: Any = forkserver._forkserver
    if getattr(server, "_preload_modules", None) == ["__main__"]:
        server.set_forkserver_preload(["__main__", worker.__name__])


def _seconds(name: str, value: Any) -> float:
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number of seconds, got {value!r}")
    seconds = float(value)
    if not seconds > 0:
        raise ValueError(f"{name} must be > 0, got {value!r}")
    return seconds


def _joined(columns: Iterable[list[Any]]) -> list[Any]:
    return list(chain.from_iterable(columns))
