"""The base class of multi-agent environments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic

from sekai._types import ActType, AgentID, ObsType
from sekai.core.base import BaseEnv

if TYPE_CHECKING:
    from sekai._types import SeedType
    from sekai.core.result import MAResetResult, MAStepResult
    from sekai.spaces import Space


class MultiAgentEnv(BaseEnv, ABC, Generic[ObsType, ActType, AgentID]):
    """An environment in which several agents act at once.

    A subclass sets the attributes, and defines `reset` and `step`. Where a class overrides a sync method but not its
    async twin, the async method runs the override.

    Attributes:
        agents: who takes part now.
        possible_agents: who may ever take part.
        observation_spaces: where each agent's observations lie.
        action_spaces: where each agent's actions lie.
    """

    agents: list[AgentID]
    possible_agents: list[AgentID]
    observation_spaces: dict[AgentID, Space[ObsType]]
    action_spaces: dict[AgentID, Space[ActType]]

    @abstractmethod
    def reset(self, *, seed: SeedType = None, options: dict[str, Any] | None = None) -> MAResetResult[ObsType, AgentID]:
        """Start an episode.

        Args:
            seed: an int >= 0 re-seeds `rng`; a Generator becomes `rng`; None goes on with the stream there is.
            options: what the environment lets the caller choose per episode.
        """

    @abstractmethod
    def step(self, actions: dict[AgentID, ActType]) -> MAStepResult[ObsType, AgentID]:
        """Carry out one action per agent and return what they led to."""

    async def async_reset(
        self, *, seed: SeedType = None, options: dict[str, Any] | None = None
    ) -> MAResetResult[ObsType, AgentID]:
        """Start an episode, as `reset` does."""
        return self.reset(seed=seed, options=options)

    async def async_step(self, actions: dict[AgentID, ActType]) -> MAStepResult[ObsType, AgentID]:
        """Carry out one action per agent, as `step` does."""
        return self.step(actions)

    @property
    def num_agents(self) -> int:
        """How many agents take part now."""
        return len(self.agents)

    @property
    def max_num_agents(self) -> int:
        """How many agents may ever take part."""
        return len(self.possible_agents)

    def observation_space(self, agent: AgentID) -> Space[ObsType]:
        """Return the space of the observations of `agent`.

        Raises:
            KeyError: there is no such agent.
        """
        return self.observation_spaces[agent]

    def action_space(self, agent: AgentID) -> Space[ActType]:
        """Return the space of the actions of `agent`.

        Raises:
            KeyError: there is no such agent.
        """
        return self.action_spaces[agent]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} agents={list(self.agents)}>"

    __str__ = __repr__
