"""What a lane does with its single environment: the book-keeping of batches made of such environments.

Sync and async batches hold all sub-environments, each worker of a process batch holds a part of them.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from sekai.core.multi_agent import MultiAgentEnv
from sekai.core.result import ResetResult, StepResult
from sekai.error import ResetRequired
from sekai.utils.masking import get_action_mask, supports_action_mask
from sekai.vector.channel import encode

Row = StepResult[Any]


class IdleRow(Row):
    """A lane's part of a step in which it made no transition: it waited, or was only reset."""

    __slots__ = ()


class LaneError(Exception):
    """What the environment of one lane raised; it also takes the place of that lane's result.

    Args:
        rank: The lane.
        error: What was raised.
    """

    def __init__(self, rank: int, error: Exception) -> None:
        self.rank = rank
        self.error = error
        super().__init__(rank, error)


class Lane:
    """One sub-environment, and where its episode stands.

    Every method returns a `LaneError` for what the environment raises. A lane whose reset failed has no row; it raises
    `ResetRequired` until a reset succeeds.

    Attributes:
        rank: Its index in the batch.
        env: The sub-environment.
        row: What the lane last contributed to a result, or None.
        running: Whether the next step goes to the environment: its episode has begun and not ended.
    """

    __slots__ = ("env", "rank", "row", "running")

    def __init__(self, rank: int, env: Any) -> None:
        self.rank = rank
        self.env = env
        self.row: Row | None = None
        self.running = False

    def reset(self, seed: Any, options: Any) -> Row | LaneError:
        """Start an episode."""
        try:
            self._leave()
            return self._begin(self.env.reset(seed=seed, options=options))
        except Exception as error:
            return LaneError(self.rank, error)

    async def async_reset(self, seed: Any, options: Any) -> Row | LaneError:
        """Start an episode, as `reset` does."""
        try:
            self._leave()
            return self._begin(await self.env.async_reset(seed=seed, options=options))
        except Exception as error:
            return LaneError(self.rank, error)

    def step(self, action: Any, mode: str) -> Row | LaneError:
        """Do what this step of the batch means for the lane, in an autoreset mode."""
        try:
            if not self.running:
                return self._begin_idly(self.env.reset()) if self._is_due(mode) else self._idle_row()
            result: Row = self.env.step(action)
            self.row = result
            if not (result.terminated or result.truncated):
                return result
            end = self._end(result, mode)
            return result if end is None else self._begin_again(end, self.env.reset())
        except Exception as error:
            return LaneError(self.rank, error)

    async def async_step(self, action: Any, mode: str) -> Row | LaneError:
        """Do what this step of the batch means for the lane, as `step` does."""
        try:
            if not self.running:
                return self._begin_idly(await self.env.async_reset()) if self._is_due(mode) else self._idle_row()
            result: Row = await self.env.async_step(action)
            self.row = result
            if not (result.terminated or result.truncated):
                return result
            end = self._end(result, mode)
            return result if end is None else self._begin_again(end, await self.env.async_reset())
        except Exception as error:
            return LaneError(self.rank, error)

    def wait(self) -> Row | LaneError:
        """Take no part in a step or reset of the batch."""
        try:
            return self._idle_row()
        except ResetRequired as error:
            return LaneError(self.rank, error)

    def save(self) -> bytes | LaneError:
        """The environment and where its episode stands, pickled."""
        return self.attempt(lambda env: encode((env, self.row, self.running)))  # type: ignore[no-any-return]

    def restore(self, state: tuple[Any, Row | None, bool]) -> Row | LaneError:
        """Go on from what `save` has pickled; returns an idle row."""
        self.env, self.row, self.running = state
        return self.wait()

    def attempt(self, use: Callable[..., Any], *args: Any) -> Any:
        """Return `use(env, *args)`."""
        try:
            return use(self.env, *args)
        except Exception as error:
            return LaneError(self.rank, error)

    def _leave(self) -> None:
        """Give up the episode that there is; another one has begun when the environment has been reset."""
        self.row, self.running = None, False

    def _begin(self, reset: ResetResult[Any]) -> Row:
        self.row, self.running = StepResult(reset.observation, 0.0, False, False, reset.info), True
        return self.row

    def _end(self, result: Row, mode: str) -> Row | None:
        """Take note of the end of an episode, and return it if the next one is to begin now.

        What is kept is a copy, since an environment may write its next observation into the same array. A
        sub-environment that resets itself goes on.
        """
        if "final_observation" in result.info:
            return None
        final = copied(result.observation)
        end = StepResult(final, result.reward, result.terminated, result.truncated, dict(result.info))
        self.row, self.running = end, False
        if mode != "same_step":
            return None
        self._leave()
        return end

    def _begin_again(self, end: Row, reset: ResetResult[Any]) -> Row:
        """The row of the step that ended an episode, after the reset that came with it."""
        info = {
            **end.info,
            "final_observation": end.observation,
            "final_info": end.info,
            "reset_info": reset.info,
        }
        self.row, self.running = StepResult(reset.observation, end.reward, end.terminated, end.truncated, info), True
        return self.row

    def _is_due(self, mode: str) -> bool:
        """Whether a lane that does not run is reset in this step, rather than frozen."""
        if self.row is None:
            raise ResetRequired(f"the last reset of lane {self.rank} failed: call reset() before step()")
        if mode == "next_step":
            self._leave()
            return True
        return False

    def _begin_idly(self, reset: ResetResult[Any]) -> Row:
        self.row = IdleRow(reset.observation, 0.0, False, False, {**reset.info, "reset": True})
        self.running = True
        return self.row

    def _idle_row(self) -> Row:
        if self.row is None:
            raise ResetRequired(f"the last reset of lane {self.rank} failed: call reset() for it")
        return IdleRow(self.row.observation, 0.0, self.row.terminated, self.row.truncated, {})


class SubEnvs:
    """The sub-environments of consecutive lanes.

    What concerns all lanes returns a list of one result per lane, with a `LaneError` where the environment raised: an
    error in one lane does not keep the others from theirs.

    Args:
        lanes: The lanes; see `build`.
    """

    def __init__(self, lanes: list[Lane]) -> None:
        self.lanes = lanes

    @classmethod
    def build(cls, env_fns: Iterable[Callable[[], Any]], first: int = 0) -> SubEnvs | LaneError:
        """Make the environments of the lanes from `first` on; if one fails, those made before are closed."""
        sub_envs = cls([])
        for rank, env_fn in enumerate(env_fns, first):
            try:
                sub_envs.lanes.append(Lane(rank, env_fn()))
            except Exception as error:
                sub_envs.close()
                return LaneError(rank, error)
            except BaseException:
                sub_envs.close()
                raise
        return sub_envs

    def reset(self, seeds: Sequence[Any], options: Sequence[Any], mask: Sequence[bool]) -> list[Row | LaneError]:
        """Reset the lanes of `mask`; the others wait."""
        rows = zip(self.lanes, seeds, options, mask, strict=True)
        return [lane.reset(seed, chosen) if taken else lane.wait() for lane, seed, chosen, taken in rows]

    def step(self, actions: Sequence[Any], mask: Sequence[bool], mode: str) -> list[Row | LaneError]:
        """Step the lanes of `mask`; the others wait."""
        rows = zip(self.lanes, actions, mask, strict=True)
        return [lane.step(action, mode) if taken else lane.wait() for lane, action, taken in rows]

    def get_state(self, mask: Sequence[bool]) -> list[bytes | LaneError | None]:
        """Snapshots of the lanes of `mask`, None for the others."""
        return [lane.save() if taken else None for lane, taken in zip(self.lanes, mask, strict=True)]

    def set_state(self, states: Sequence[bytes | None]) -> list[Row | LaneError]:
        """Put lanes back to a snapshot; the others, whose state is None, wait."""
        decoded = [None if state is None else pickle.loads(state) for state in states]
        rows = zip(self.lanes, decoded, strict=True)
        return [lane.wait() if state is None else lane.restore(state) for lane, state in rows]

    def call(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """Call a method of every environment, or of a wrapper around it; an attribute that is none is returned."""
        return [lane.attempt(call_attr, method, args, kwargs) for lane in self.lanes]

    def get_attr(self, name: str) -> list[Any]:
        """Look an attribute of every environment up."""
        return [lane.attempt(get_attr, name) for lane in self.lanes]

    def set_attr(self, values: Sequence[Any], name: str) -> list[Any]:
        """Set an attribute of every environment, to one value each."""
        return [lane.attempt(set_attr, name, value) for lane, value in zip(self.lanes, values, strict=True)]

    def action_mask(self) -> list[Any]:
        """The action mask of every environment; None where it has none."""
        return [lane.attempt(get_action_mask) for lane in self.lanes]

    def have_action_mask(self) -> bool:
        """Whether any environment has an action mask."""
        return any(supports_action_mask(lane.env) for lane in self.lanes)

    def close(self) -> list[Any]:
        """Close every environment."""
        return [lane.attempt(lambda env: env.close()) for lane in self.lanes]


def copied(observation: Any) -> Any:
    """A deep copy; of what observations are usually made of, in a tenth of the time of `deepcopy`."""
    kind = type(observation)
    if kind is np.ndarray:
        return observation.copy()
    if kind is dict:
        return {key: copied(part) for key, part in observation.items()}
    if kind is tuple:
        return tuple(map(copied, observation))
    return observation if isinstance(observation, np.generic) else deepcopy(observation)


def spaces_of(env: Any) -> tuple[Any, Any] | str:
    """The two spaces of an environment; the repr of one of several agents, which has methods in their place."""
    return repr(env) if isinstance(env, MultiAgentEnv) else (env.observation_space, env.action_space)


def get_attr(env: Any, name: str) -> Any:
    """Look an attribute up, through wrappers where there are any."""
    return env.get_attr(name) if hasattr(env, "get_attr") else getattr(env, name)


def call_attr(env: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a method, or return the attribute if it is not callable."""
    value = get_attr(env, name)
    return value(*args, **kwargs) if callable(value) else value


def set_attr(env: Any, name: str, value: Any) -> None:
    """Set an attribute, on the layer that has it where there are wrappers."""
    if hasattr(env, "set_attr"):
        env.set_attr(name, value)
    else:
        setattr(env, name, value)


def first_error(results: Sequence[Any]) -> LaneError | None:
    """The error of the lowest lane, if any."""
    if LaneError not in set(map(type, results)):  # three times as fast as looking at each of them
        return None
    return next(result for result in results if isinstance(result, LaneError))
