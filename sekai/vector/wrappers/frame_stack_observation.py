"""Let the agent see the last few observations of each lane."""

from __future__ import annotations

from typing import Any, Generic

from sekai._types import ActType, ObsType
from sekai.utils.integers import positive_int
from sekai.vector.vec_env import VecEnv
from sekai.vector.wrappers.history import BatchHistory, HistoryWrapper
from sekai.wrappers.frame_stack_observation import stacked_space
from sekai.wrappers.history import require_padding


class VecFrameStackObservation(HistoryWrapper[ActType, ObsType], Generic[ActType, ObsType]):
    """Stacks the last observations of each lane, as `FrameStackObservation` does; the axis of lanes comes first.

    Args:
        venv: The batch to wrap.
        num_stack: How many observations, at least 1.
        padding: What stands in for those before the first: `"reset"`, the first, or `"zeros"`, the space's zero sample.

    Raises:
        TypeError: `num_stack` is not an integer, or observations of this kind of space do not stack.
        ValueError: `num_stack` is less than 1, or `padding` something else.

    Attributes:
        num_stack: As given.
        padding: As given.
    """

    def __init__(self, venv: VecEnv[ObsType, ActType], num_stack: int, *, padding: str = "reset") -> None:
        self.num_stack = positive_int("num_stack", num_stack)
        self.padding = require_padding(padding)
        super().__init__(venv, self.num_stack, padding)
        self.observation_space = stacked_space(venv.observation_space, self.num_stack)

    def _view(self, history: BatchHistory) -> Any:
        return history.stacked()
