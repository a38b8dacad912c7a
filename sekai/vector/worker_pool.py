"""The worker processes of a `ProcVecEnv`, seen from the process of the batch."""

from __future__ import annotations

import asyncio
import pickle
import selectors
import signal
import socket
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from typing import Any

from sekai.error import VecEnvWorkerError
from sekai.utils.pickle import CloudpickleWrapper
from sekai.vector.channel import Channel, encode
from sekai.vector.env_batch import EnvFn
from sekai.vector.shared_observations import SharedObservations
from sekai.vector.worker import serve

GRACE = 1.0  # seconds for a process to end once it has been told to
NAP = 0.5  # seconds; how long a thread that waits on behalf of an event loop may outlive its purpose


@dataclass(eq=False)
class Worker:
    """The lanes that one worker process serves, and the connection to it."""

    index: int
    lanes: range
    channel: Channel


class WorkerPool:
    """Sends commands to workers and collects their answers.

    When a worker has been lost, everything but `stop` raises a `VecEnvWorkerError` that says so.

    Attributes:
        workers: The workers, by the lanes they serve.
        processes: Their processes, as long as there are any.
        shared: The observations that workers write to shared memory, if they do.
    """

    def __init__(self) -> None:
        self.workers: list[Worker] = []
        self.processes: list[BaseProcess] = []
        self.shared: SharedObservations | None = None
        self._selector = selectors.DefaultSelector()
        self._dead: list[Worker] = []  # those whose connection has ended
        self._lost: tuple[Worker, str, str] | None = None  # the one that makes the pool useless, and why

    def start(self, context: BaseContext, lanes: range, env_fns: Sequence[EnvFn]) -> None:
        """Start a worker for the next lanes. It introduces itself, unasked, when their environments exist."""
        index = len(self.workers)
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        channel = Channel(ours)
        try:
            process: BaseProcess = context.Process(  # type: ignore[attr-defined]
                target=serve,
                args=(theirs, CloudpickleWrapper(lambda: env_fns), lanes[0]),
                name=f"sekai-ProcVecEnv-worker-{index}",
                daemon=True,
            )
            process.start()
        except BaseException:
            channel.close()
            raise
        finally:
            theirs.close()
        self.processes.append(process)
        worker = Worker(index, lanes, channel)
        self.workers.append(worker)
        self._selector.register(channel, selectors.EVENT_READ, worker)

    # ---- commands --------------------------------------------------------------------------------

    def check(self) -> None:
        """Raise a VecEnvWorkerError if a worker has been lost."""
        if self._lost is not None:
            raise self._loss()

    def ask(self, workers: Sequence[Worker], commands: Sequence[Any]) -> None:
        """Send each worker a command; nothing is sent if one cannot be pickled, or a worker has been lost."""
        messages = [encode(command) for command in commands]
        self.pump(0.0)  # notices who has died in the meantime
        if self._dead:
            raise self._bury(self._dead[0])
        for worker, message in zip(workers, messages, strict=True):
            worker.channel.post(message)
        for worker in workers:
            self._flush(worker)

    def finish(self, groups: Sequence[Sequence[Worker]], timeout: float | None) -> None:
        """Wait until all workers of one of some groups have answered.

        Raises:
            VecEnvWorkerError: A worker has been lost, or has not answered for `timeout` seconds.
        """
        for seconds in self._waits(groups, timeout):
            self.pump(seconds)

    async def async_finish(self, groups: Sequence[Sequence[Worker]], timeout: float | None) -> None:
        """Wait as `finish` does, while the event loop runs."""
        for seconds in self._waits(groups, timeout):
            await asyncio.to_thread(self._selector.select, NAP if seconds is None else min(NAP, seconds))
            self.pump(0.0)

    def answers(self, workers: Sequence[Worker]) -> list[Any]:
        """What some workers, which have finished, have answered.

        Raises:
            VecEnvWorkerError: Of the environment of the lowest rank that raised.
        """
        answers = [pickle.loads(worker.channel.message) for worker in workers]
        for kind, content in answers:
            if kind == "error":
                raise VecEnvWorkerError(*content)
        return [content for _, content in answers]

    def pump(self, timeout: float | None) -> None:
        """Send and receive what can be, after waiting at most `timeout` seconds for that.

        Raises:
            VecEnvWorkerError: A worker has been lost.
        """
        self.check()
        self._exchange(timeout)
        for worker in self._dead:
            if worker.channel.awaiting:
                raise self._bury(worker)

    def _waits(self, groups: Sequence[Sequence[Worker]], timeout: float | None) -> Iterator[float | None]:
        """How long to wait for answers, again and again until those of some group are all there."""
        for worker in chain.from_iterable(groups):
            self._flush(worker)  # an interruption may have come between posting and sending
        deadline = None if timeout is None else time.monotonic() + timeout
        missing = [deque(group) for group in groups]
        while all(map(_without_answered, missing)):
            seconds = None if deadline is None else deadline - time.monotonic()
            if seconds is not None and seconds <= 0:
                raise self._lose(missing[0][0], "TimeoutError", f"no answer within {timeout} s")
            yield seconds

    def _exchange(self, timeout: float | None) -> None:
        """Send and receive what can be, after waiting at most `timeout` seconds for that."""
        for key, events in self._selector.select(timeout):
            worker: Worker = key.data
            if events & selectors.EVENT_WRITE:
                self._flush(worker)
            if events & selectors.EVENT_READ:
                try:
                    worker.channel.receive()
                except EOFError:
                    self._dead.append(worker)
                    self._selector.unregister(worker.channel)

    def _flush(self, worker: Worker) -> None:
        """Send what goes; have the rest sent when there is room. That nobody receives it shows when reading."""
        if worker in self._dead:
            return
        try:
            unsent = not worker.channel.flush()
        except EOFError:
            unsent = False
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if unsent else 0)
        if self._selector.get_key(worker.channel).events != events:
            self._selector.modify(worker.channel, events, worker)

    def _bury(self, worker: Worker) -> VecEnvWorkerError:
        process = self.processes[worker.index]
        process.join(GRACE)
        return self._lose(worker, "WorkerDied", _how_it_ended(process))

    def _lose(self, worker: Worker, exc_type: str, message: str) -> VecEnvWorkerError:
        self._lost = worker, exc_type, message
        return self._loss()

    def _loss(self) -> VecEnvWorkerError:
        assert self._lost is not None
        worker, exc_type, message = self._lost
        first, last = worker.lanes[0], worker.lanes[-1]
        name = None if first == last else f"Worker {worker.index} (sub-envs {first}-{last})"
        return VecEnvWorkerError(first, exc_type, message, "", worker=name)

    # ---- the end ---------------------------------------------------------------------------------

    def stop(self, timeout: float) -> list[VecEnvWorkerError]:
        """Have all environments closed and end the processes, those that take longer than `timeout` seconds by force.

        Calling it again does nothing, except after it has been interrupted.

        Returns:
            What environments raised when they were closed, by rank.
        """
        errors: list[VecEnvWorkerError] = []
        deadline = time.monotonic()
        try:
            errors = self._ask_to_close(deadline + timeout)
            deadline += timeout
        finally:
            self._end_processes(deadline)
        return errors

    def _ask_to_close(self, deadline: float) -> list[VecEnvWorkerError]:
        lost = None if self._lost is None else self._lost[0]
        hopeful = [worker for worker in self.workers if worker is not lost]
        asked: list[Worker] = []
        while (seconds := deadline - time.monotonic()) > 0:
            for worker in hopeful:
                if worker not in asked and not worker.channel.awaiting:  # what it still had to answer is dropped
                    asked.append(worker)
                    worker.channel.post(encode(("close", ())))
                    self._flush(worker)
            if all(worker in self._dead or not worker.channel.awaiting for worker in hopeful):
                break
            self._exchange(seconds)
        answers = [
            pickle.loads(worker.channel.message)
            for worker in self.workers
            if worker in asked and not worker.channel.awaiting
        ]
        return [VecEnvWorkerError(*content) for kind, content in answers if kind == "error"]

    def _end_processes(self, deadline: float) -> None:
        """Wait for processes to end by themselves, except one that is lost; then make them."""
        lost = None if self._lost is None else self._lost[0].index
        _join([process for i, process in enumerate(self.processes) if i != lost], deadline)
        for end in (BaseProcess.terminate, BaseProcess.kill):
            running = [process for process in self.processes if process.is_alive()]
            for process in running:
                end(process)
            _join(running, time.monotonic() + GRACE)
        for worker in self.workers:
            worker.channel.close()
        self._selector.close()
        if self.shared is not None:
            self.shared.close()
        self.workers, self.processes, self.shared = [], [], None


def _without_answered(workers: deque[Worker]) -> deque[Worker]:
    while workers and not workers[0].channel.awaiting:
        workers.popleft()
    return workers


def _join(processes: Sequence[BaseProcess], deadline: float) -> None:
    for process in processes:
        process.join(max(0.0, deadline - time.monotonic()))


def _how_it_ended(process: BaseProcess) -> str:
    code = process.exitcode
    if code is None:
        return "its process does not answer any more"
    name = f" ({signal.Signals(-code).name})" if -code in set(signal.Signals) else ""
    return f"its process ended with exit code {code}{name}"
