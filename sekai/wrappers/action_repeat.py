"""Decide only every few steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic

from sekai._types import ActType, ObsType
from sekai.core.result import StepResult
from sekai.core.wrapper import Wrapper
from sekai.utils.integers import positive_int

if TYPE_CHECKING:
    from sekai.core.env import Env


class ActionRepeat(Wrapper[ObsType, ActType, ObsType, ActType], Generic[ObsType, ActType]):
    """Carries out each action several times, or until the episode ends, and adds up the rewards.

    Everything else is that of the last step; `info["action_repeats"]` is how many there were.

    Args:
        env: The environment to wrap.
        repeat: How many times, at least 1.

    Raises:
        TypeError: `repeat` is not an integer.
        ValueError: `repeat` is less than 1.

    Attributes:
        repeat: As given.
    """

    def __init__(self, env: Env[ObsType, ActType], repeat: int) -> None:
        self.repeat = positive_int("repeat", repeat)
        super().__init__(env)

    def step(self, action: ActType) -> StepResult[ObsType]:
        """Step `env` several times."""
        result = self.env.step(action)
        total, count = float(result.reward), 1
        while count < self.repeat and not result.done:
            result = self.env.step(action)
            total, count = total + float(result.reward), count + 1
        return _summed(result, total, count)

    async def async_step(self, action: ActType) -> StepResult[ObsType]:
        """Step `env` asynchronously several times."""
        result = await self.env.async_step(action)
        total, count = float(result.reward), 1
        while count < self.repeat and not result.done:
            result = await self.env.async_step(action)
            total, count = total + float(result.reward), count + 1
        return _summed(result, total, count)


def _summed(last: StepResult[ObsType], reward: float, count: int) -> StepResult[ObsType]:
    info = {**last.info, "action_repeats": count}
    return StepResult(last.observation, reward, last.terminated, last.truncated, info)
