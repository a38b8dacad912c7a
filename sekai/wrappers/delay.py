"""Let observations come late and actions take effect late."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Generic

from sekai._types import ActType, ObsType
from sekai.core.result import ResetResult
from sekai.core.wrapper import ActionWrapper, ObservationWrapper
from sekai.spaces import Box
from sekai.spaces.arguments import as_count
from sekai.utils.leaves import copied
from sekai.wrappers.auto_reset import warn_of_inner_auto_reset
from sekai.wrappers.history import History, require_padding

if TYPE_CHECKING:
    from sekai._types import SeedType
    from sekai.core.env import Env
    from sekai.core.result import ResetResult
    from sekai.spaces import Space


class DelayObservation(ObservationWrapper[ObsType, ActType, ObsType], Generic[ObsType, ActType]):
    """Returns the observation of some steps ago.

    Args:
        env: The environment to wrap.
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

    def __init__(self, env: Env[ObsType, ActType], delay: int, *, padding: str = "zeros") -> None:
        self.delay = as_count("delay", delay)
        self.padding = require_padding(padding)
        super().__init__(env)
        self._history = History(env.observation_space, self.delay + 1, padding)
        warn_of_inner_auto_reset(self)

    def _wrap_reset(self, result: ResetResult[ObsType]) -> ResetResult[ObsType]:
        self._history.restart(result.observation)
        return ResetResult(self._history.oldest(), result.info)

    def observation(self, obs: ObsType) -> ObsType:
        """Remember the observation, and return the one whose time has come."""
        self._history.push(obs)
        delayed: ObsType = self._history.oldest()
        return delayed


class DelayAction(ActionWrapper[ObsType, ActType, ActType], Generic[ObsType, ActType]):
    """Carries out each action some steps after it was chosen, and `noop` until the first one's time has come.

    Args:
        env: The environment to wrap.
        delay: How many steps later; 0 or more.
        noop: An action; by default the zeros of a Box action space, needed for other ones.

    Raises:
        TypeError: `delay` is not an integer.
        ValueError: `delay` is negative, or `noop` is missing or no action.

    Attributes:
        delay: As given.
        noop: As given, or the zeros.
    """

    def __init__(self, env: Env[ObsType, ActType], delay: int, *, noop: ActType | None = None) -> None:
        self.delay = as_count("delay", delay)
        super().__init__(env)
        self.noop = checked_noop(env.action_space, noop)
        self._pending: deque[ActType] = deque()
        warn_of_inner_auto_reset(self)

    @property
    def pending_actions(self) -> list[ActType]:
        """The actions that were chosen but not carried out yet, the oldest first."""
        return [copied(action) for action in self._pending]

    def action(self, action: ActType) -> ActType:
        """Remember the action, and return the one whose time has come."""
        if not self.delay:
            return action
        self._pending.append(copied(action))
        return self._pending.popleft() if len(self._pending) > self.delay else copied(self.noop)

    def reset(self, *, seed: SeedType = None, options: dict[str, Any] | None = None) -> ResetResult[ObsType]:
        """Reset `env`, and forget pending actions."""
        result = self.env.reset(seed=seed, options=options)
        self._pending.clear()
        return result

    async def async_reset(
        self, *, seed: SeedType = None, options: dict[str, Any] | None = None
    ) -> ResetResult[ObsType]:
        """Reset `env` asynchronously, and forget pending actions."""
        result = await self.env.async_reset(seed=seed, options=options)
        self._pending.clear()
        return result


def checked_noop(space: Space[Any], noop: Any) -> Any:
    """Return the action to carry out before the first one's time has come."""
    if noop is None:
        if not isinstance(space, Box):
            raise ValueError(f"noop must be given for the action space {space!r}")
        noop = space.zero()
    if not space.contains(noop):
        raise ValueError(f"noop must be an action in {space!r}, got {noop!r}")
    return noop
