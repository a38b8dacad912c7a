"""Let the agent see the last few observations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic

from sekai._types import ActType, ObsType
from sekai.core.result import ResetResult
from sekai.core.wrapper import ObservationWrapper
from sekai.spaces import batch_space, concatenate
from sekai.utils.integers import positive_int
from sekai.wrappers.auto_reset import warn_of_inner_auto_reset
from sekai.wrappers.history import History, require_padding

if TYPE_CHECKING:
    from sekai.core.env import Env
    from sekai.spaces import Space


class FrameStackObservation(ObservationWrapper[Any, ActType, ObsType], Generic[ActType, ObsType]):
    """Stacks the last observations along a new leading axis, the latest last; in each part of a Dict or Tuple.

    Args:
        env: The environment to wrap.
        num_stack: How many observations, at least 1.
        padding: What stands in for those before the first: `"reset"`, the first, or `"zeros"`, the space's zero sample.

    Raises:
        TypeError: `num_stack` is not an integer, or observations of this kind of space do not stack.
        ValueError: `num_stack` is less than 1, or `padding` something else.

    Attributes:
        num_stack: As given.
        padding: As given.
    """

    def __init__(self, env: Env[ObsType, ActType], num_stack: int, *, padding: str = "reset") -> None:
        self.num_stack = positive_int("num_stack", num_stack)
        self.padding = require_padding(padding)
        super().__init__(env)
        self.observation_space = stacked_space(env.observation_space, self.num_stack)
        self._history = History(env.observation_space, self.num_stack, padding)
        warn_of_inner_auto_reset(self)

    def _wrap_reset(self, result: ResetResult[ObsType]) -> ResetResult[Any]:
        self._history.restart(result.observation)
        return ResetResult(self._stack(), result.info)

    def observation(self, obs: ObsType) -> Any:
        """Add the observation to the stack, and return that."""
        self._history.push(obs)
        return self._stack()

    def _stack(self) -> Any:
        return concatenate(self.env.observation_space, self._history.values())


def stacked_space(space: Space[Any], num_stack: int) -> Space[Any]:
    """Return the space of stacks, or raise a TypeError if there is none."""
    try:
        return batch_space(space, num_stack)
    except NotImplementedError as error:
        raise TypeError(f"observations of {space!r} cannot be stacked: {error}") from None
