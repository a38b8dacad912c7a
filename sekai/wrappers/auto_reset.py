"""Start the next episode as soon as one ends."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Generic

from sekai._types import ActType, ObsType
from sekai.core.result import ResetResult, StepResult
from sekai.core.wrapper import Wrapper
from sekai.utils.leaves import copied

if TYPE_CHECKING:
    from typing import Any


class AutoReset(Wrapper[ObsType, ActType, ObsType, ActType], Generic[ObsType, ActType]):
    """Resets `env` in the step that ends an episode, without a seed and without options.

    That step returns the first observation of the next episode, with the reward and the flags of the last one's end.
    Its info gets three more keys: `final_observation`, the last observation; `final_info`, the info that came with it;
    and `reset_info`, the info of the reset. Wrappers around this one change the observation, not `final_observation`.

    Args:
        env: The environment to wrap.
    """

    def _next_episode(
        self, result: StepResult[ObsType], final_observation: ObsType, first: ResetResult[ObsType]
    ) -> StepResult[ObsType]:
        info = {
            **result.info,
            "final_observation": final_observation,
            "final_info": result.info,
            "reset_info": first.info,
        }
        return StepResult(first.observation, result.reward, result.terminated, result.truncated, info)

    def step(self, action: ActType) -> StepResult[ObsType]:
        """Step `env`, and reset it if the episode ended."""
        result = self.env.step(action)
        if not result.done:
            return result
        # Copied, since the reset may reuse the array.
        return self._next_episode(result, copied(result.observation), self.env.reset())

    async def async_step(self, action: ActType) -> StepResult[ObsType]:
        """Step `env` asynchronously, and reset it if the episode ended."""
        result = await self.env.async_step(action)
        if not result.done:
            return result
        return self._next_episode(result, copied(result.observation), await self.env.async_reset())


def warn_of_inner_auto_reset(wrapper: Wrapper[Any, Any, Any, Any]) -> None:
    """Warn whoever constructs `wrapper` if an AutoReset below hides from it where episodes begin."""
    if any(isinstance(layer, AutoReset) for layer in wrapper):
        warnings.warn(
            f"{type(wrapper).__name__} does not notice the resets of the AutoReset inside it; "
            "make AutoReset the outermost of the two",
            UserWarning,
            stacklevel=3,
        )
