"""The last observations or actions of all lanes, for vector wrappers that remember."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Generic

import numpy as np
from numpy.typing import NDArray

from sekai._types import ActType, ObsType
from sekai.spaces import Dict, Space, Tuple, concatenate, zero_sample
from sekai.vector.batches import as_arrays, as_batch, choose, map_arrays, put, take
from sekai.vector.progress import Progress
from sekai.vector.result import VecResetResult, VecStepResult
from sekai.vector.vec_env import VecEnv
from sekai.vector.vec_wrapper import Mask, VecObservationWrapper


class BatchHistory:
    """The last values of each lane's episode; it holds copies.

    Args:
        space: Space of one lane's value.
        num_envs: N.
        length: How many values, at least 1.
        pad: What stands in for values before the first; None: the first.

    Attributes:
        frames: The batches of values, the oldest first, as nested arrays.
    """

    def __init__(self, space: Space[Any], num_envs: int, length: int, pad: Any = None) -> None:
        self._space = space
        self._length = length
        self._pad = None if pad is None else as_arrays(space, concatenate(space, [pad] * num_envs))
        self.frames: list[Any] = []

    def restart(self, first: Any, lanes: Any = None) -> None:
        """Start episodes in some lanes (numbers, flags, or None for all) with their rows of the batch `first`."""
        values = as_arrays(self._space, first)
        pad = values if self._pad is None else map_arrays(lambda p, v: p.astype(v.dtype), self._pad, values)
        if lanes is None:
            self.frames = [map_arrays(np.copy, frame) for frame in [pad] * (self._length - 1) + [values]]
            return
        for frame in self.frames[:-1]:
            put(frame, lanes, take(pad, lanes))
        put(self.frames[-1], lanes, take(values, lanes))

    def push(self, latest: Any, moving: NDArray[np.bool_] | None) -> None:
        """Add the latest value of the lanes that move (None: of all), and drop their oldest."""
        values = as_arrays(self._space, latest)
        if moving is None:
            self.frames = [*self.frames[1:], map_arrays(np.copy, values)]
            return
        newer = [*self.frames[1:], values]
        self.frames = [choose(moving, new, old) for new, old in zip(newer, self.frames, strict=True)]

    def oldest(self) -> Any:
        """Return the batch of oldest values."""
        return as_batch(self._space, map_arrays(np.copy, self.frames[0]))

    def stacked(self) -> Any:
        """Return the batch of stacks of all values, the oldest first."""
        return _stack(self._space, self.frames)

    def after(self, latest: Any, lanes: NDArray[np.int64]) -> BatchHistory:
        """Return the history of a few lanes with the latest value of each added; this one stays as it is."""
        few = BatchHistory(self._space, lanes.size, self._length)
        few.frames = [*(take(frame, lanes) for frame in self.frames[1:]), as_arrays(self._space, latest)]
        return few


class HistoryWrapper(VecObservationWrapper[Any, ActType, ObsType], Generic[ActType, ObsType]):
    """What vector wrappers that remember observations have in common."""

    _lane_state = ("_history.frames", "_progress.over")
    _history: BatchHistory

    def __init__(self, venv: VecEnv[ObsType, ActType], length: int, padding: str) -> None:
        super().__init__(venv)
        pad = zero_sample(venv.observation_space) if padding == "zeros" else None
        self._history = BatchHistory(venv.observation_space, self.num_envs, length, pad)
        self._progress = Progress(venv)

    @abstractmethod
    def _view(self, history: BatchHistory) -> Any:
        """What the agent sees of a history."""

    def observation(self, observations: ObsType) -> Any:
        """Remember the observations, and return what the agent sees."""
        self._history.push(observations, None)
        return self._view(self._history)

    def _final_observations(self, observations: Any, lanes: Any) -> Any:
        return self._view(self._history.after(observations, lanes))

    def _on_reset(self, result: VecResetResult[ObsType], mask: Mask, prepared: Any) -> VecResetResult[Any]:
        self._progress.note_reset(mask)
        self._history.restart(result.observations, mask)
        return VecResetResult(self._view(self._history), result.infos)

    def _on_step(self, result: VecStepResult[ObsType], mask: Mask) -> VecStepResult[Any]:
        moving = self._progress.moving(mask)
        started = self._progress.note_step(result, mask)
        infos = self._final_infos(result)  # of the histories before this step
        self._history.push(result.observations, moving)
        if started.size:
            self._history.restart(result.observations, started)
        return self._seen(result, self._view(self._history), infos)


def _stack(space: Space[Any], frames: list[Any]) -> Any:
    """Stack batches as elements are stacked in a single environment, behind the axis of lanes."""
    if isinstance(space, Dict):
        return {key: _stack(part, [frame[key] for frame in frames]) for key, part in space.items()}
    if isinstance(space, Tuple):
        return tuple(_stack(part, [frame[k] for frame in frames]) for k, part in enumerate(space))
    if frames[0].dtype == object:
        return tuple(as_batch(space, frame) for frame in frames)
    return np.stack(frames, axis=1)
