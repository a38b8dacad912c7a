"""Let observations of all lanes come late, and actions take effect late."""

from __future__ import annotations

from typing import Any, Generic

import numpy as np

from sekai._types import ActType, ObsType
from sekai.spaces import concatenate, iterate
from sekai.spaces.arguments import as_count
from sekai.vector.batches import as_batch
from sekai.vector.progress import Progress
from sekai.vector.result import VecResetResult, VecStepResult
from sekai.vector.vec_env import VecEnv
from sekai.vector.vec_wrapper import Mask, VecActionWrapper
from sekai.vector.wrappers.history import BatchHistory, HistoryWrapper
from sekai.wrappers.delay import checked_noop
from sekai.wrappers.history import require_padding


class VecDelayObservation(HistoryWrapper[ActType, ObsType], Generic[ObsType, ActType]):
    """Returns the observations of some steps ago, as `DelayObservation` does for each lane.

    The final observation of an episode comes late, too: it is the one of some steps before the end.

    Args:
        venv: The batch to wrap.
        delay: Of how many steps ago; 0 or more.
        padding: What stands in for observations before the first: `"zeros"`, the space's zero sample, or `"reset"`, the
            first.

    Raises:
        TypeError: `delay` is not an integer.
        ValueError: `delay` is negative, or `padding` something else.

    Attributes:
        delay: As given.
        padding: As given.
    """

    def __init__(self, venv: VecEnv[ObsType, ActType], delay: int, *, padding: str = "zeros") -> None:
        self.delay = as_count("delay", delay)
        self.padding = require_padding(padding)
        super().__init__(venv, self.delay + 1, padding)

    def _view(self, history: BatchHistory) -> Any:
        return history.oldest()


class VecDelayAction(VecActionWrapper[ObsType, ActType, ActType], Generic[ObsType, ActType]):
    """Carries out each lane's actions some steps after they were chosen, as `DelayAction` does.

    Args:
        venv: The batch to wrap.
        delay: How many steps later; 0 or more.
        noop: What a lane does until its first action's time has come; by default the zeros of a Box action space,
            needed for other ones.

    Raises:
        TypeError: `delay` is not an integer.
        ValueError: `delay` is negative, or `noop` is missing or no action.

    Attributes:
        delay: As given.
        noop: As given, or the zeros.
    """

    _lane_state = ("_history.frames", "_progress.over", "_counts")

    def __init__(self, venv: VecEnv[ObsType, ActType], delay: int, *, noop: Any = None) -> None:
        self.delay = as_count("delay", delay)
        super().__init__(venv)
        self.noop = checked_noop(venv.action_space, noop)
        self._noops = concatenate(venv.action_space, [self.noop] * self.num_envs)
        self._history = BatchHistory(venv.action_space, self.num_envs, max(self.delay, 1))
        self._history.restart(self._noops)
        self._counts = np.zeros(self.num_envs, np.int64)  # of actions chosen in the episode
        self._progress = Progress(venv)

    @property
    def pending_actions(self) -> list[list[Any]]:
        """For each lane, the actions that were chosen but not carried out yet, the oldest first."""
        space = self.venv.action_space
        frames = [list(iterate(space, as_batch(space, frame))) for frame in self._history.frames]
        rows = zip(*frames, strict=True)
        counts = np.minimum(self._counts, self.delay).tolist()
        return [list(row[len(row) - count :]) for row, count in zip(rows, counts, strict=True)]

    def action(self, actions: ActType) -> ActType:
        """Remember the actions of all lanes, and return those whose time has come."""
        return self._delayed(actions, None)

    def _delayed(self, actions: ActType, moving: Mask) -> ActType:
        if not self.delay:
            return actions
        due: ActType = self._history.oldest()
        self._history.push(actions, moving)
        self._counts[... if moving is None else moving] += 1
        return due

    def _forget(self, lanes: Any) -> None:
        self._history.restart(self._noops, lanes)
        self._counts[... if lanes is None else lanes] = 0

    def _before_step(self, actions: ActType, mask: Mask) -> ActType:
        return self._delayed(actions, self._progress.moving(mask))

    def _on_step(self, result: VecStepResult[ObsType], mask: Mask) -> VecStepResult[ObsType]:
        started = self._progress.note_step(result, mask)
        if started.size:
            self._forget(started)
        return result

    def _on_reset(self, result: VecResetResult[ObsType], mask: Mask, prepared: Any) -> VecResetResult[ObsType]:
        self._progress.note_reset(mask)
        self._forget(mask)
        return result
