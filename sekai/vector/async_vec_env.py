"""Batches of environments that wait for something, all at once."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from sekai._types import ActType, ObsType
from sekai.error import AsyncCallPending
from sekai.vector.env_batch import EnvFn
from sekai.vector.local_env_batch import LocalEnvBatch, checked
from sekai.vector.result import VecResetResult, VecStepResult

T = TypeVar("T")


class AsyncVecEnv(LocalEnvBatch[ObsType, ActType]):
    """N environments in this thread, whose `async_step` and `async_reset` run at the same time.

    `step` and `reset` run the async methods on an event loop of the batch's own. An exception that an environment
    raises propagates as it is, once the other lanes have finished; the results of that call are lost.

    Args:
        env_fns: What makes each environment, at least one.
        autoreset: See `VecEnv`.

    Raises:
        ValueError: `env_fns` is empty.
        TypeError: `env_fns` is no sequence, or an environment has several agents.
        SpaceMismatch: The environments differ in their spaces. They have been closed then, as after any error here.
    """

    def __init__(self, env_fns: Sequence[EnvFn], *, autoreset: bool | str = True) -> None:
        super().__init__(env_fns, autoreset=autoreset)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._busy = False

    async def async_reset(self, *, seed: Any = None, options: Any = None, mask: Any = None) -> VecResetResult[ObsType]:
        """Start an episode in every lane, or in those of `mask`.

        Args:
            seed: See `VecEnv.reset`.
            options: See `VecEnv.reset`.
            mask: See `VecEnv.reset`.

        Raises:
            VecEnvClosed: After `close`.
            AsyncCallPending: Another call on this batch has not finished.
            ResetRequired: A mask, before all lanes have been reset.
            TypeError, ValueError: A seed, options or mask of another kind or length; nothing has changed then.
        """
        seeds, each, taken = self._reset_arguments(seed, options, mask)
        with self._turn():
            rows = zip(self._sub_envs.lanes, seeds, each, taken, strict=True)
            results = await asyncio.gather(
                *(lane.async_reset(seed, chosen) if t else _now(lane.wait()) for lane, seed, chosen, t in rows)
            )
        result = self._batch_reset(checked(results))
        self._started = True
        return result

    async def async_step(self, actions: ActType, mask: Any = None) -> VecStepResult[ObsType]:
        """Step every lane with its action, or those of `mask`.

        Args:
            actions: See `VecEnv.step`.
            mask: See `VecEnv.step`.

        Returns:
            As `SyncVecEnv.step`.

        Raises:
            VecEnvClosed: After `close`.
            AsyncCallPending: Another call on this batch has not finished.
            ResetRequired: Before the first `reset`.
            TypeError, ValueError: Actions or a mask of another kind or length; nothing has changed then.
        """
        each, taken = self._step_arguments(actions, mask)
        with self._turn():
            rows = zip(self._sub_envs.lanes, each, taken, strict=True)
            mode = self._autoreset_mode
            results = await asyncio.gather(
                *(lane.async_step(action, mode) if t else _now(lane.wait()) for lane, action, t in rows)
            )
        return self._batch_step(checked(results))

    def reset(self, *, seed: Any = None, options: Any = None, mask: Any = None) -> VecResetResult[ObsType]:
        """Run `async_reset`.

        Raises:
            RuntimeError: An event loop runs in this thread; await `async_reset` there.
        """
        return self._run(AsyncVecEnv.async_reset(self, seed=seed, options=options, mask=mask))

    def step(self, actions: ActType, mask: Any = None) -> VecStepResult[ObsType]:
        """Run `async_step`.

        Raises:
            RuntimeError: An event loop runs in this thread; await `async_step` there.
        """
        return self._run(AsyncVecEnv.async_step(self, actions, mask))

    def close(self) -> None:
        """Close every environment, and the event loop; the first error of one is raised when all have been asked."""
        loop, self._loop = self._loop, None
        if loop is not None:
            leftovers = asyncio.all_tasks(loop)
            for task in leftovers:
                task.cancel()
            if leftovers:
                loop.run_until_complete(asyncio.gather(*leftovers, return_exceptions=True))
            loop.close()
        super().close()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Only one call at a time."""
        if self._busy:
            raise AsyncCallPending()
        self._busy = True
        try:
            yield
        finally:
            self._busy = False

    def _run(self, call: Coroutine[Any, Any, T]) -> T:
        """Run a call to its end on the batch's own loop; if this is interrupted, so is the call."""
        try:
            self._check_open()
            loop = self._own_loop()
            task = loop.create_task(call)
        except BaseException:
            call.close()
            raise
        try:
            return loop.run_until_complete(task)
        except BaseException:
            if not task.done():
                task.cancel()
                loop.run_until_complete(asyncio.gather(task, return_exceptions=True))
            raise

    def _own_loop(self) -> asyncio.AbstractEventLoop:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            pass
        else:
            raise RuntimeError("an event loop runs in this thread: await async_step() or async_reset() instead")
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            weakref.finalize(self, self._loop.close)
        return self._loop


async def _now(value: T) -> T:
    return value
