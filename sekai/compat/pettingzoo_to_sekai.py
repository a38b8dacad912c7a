"""PettingZoo's parallel environments seen through sekai's multi-agent API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from sekai._extras import import_extra
from sekai.compat.kinds import require_kind
from sekai.compat.spaces import as_declared, space_from_gymnasium
from sekai.core.multi_agent import MultiAgentEnv
from sekai.core.result import MAResetResult, MAStepResult

if TYPE_CHECKING:
    from sekai._types import SeedType

pettingzoo = import_extra("pettingzoo", "pettingzoo")


class PettingZooToSekai(MultiAgentEnv[Any, Any, Any]):
    """Exposes a PettingZoo `ParallelEnv` through the sekai `MultiAgentEnv` API.

    The PettingZoo env keeps its own randomness, of which `rng` knows nothing, and raises its own errors. Observations
    are passed on, arrays of another dtype than their `Box` cast to it; infos are copied.

    Args:
        env: The PettingZoo env. One with the AEC API has to go through `pettingzoo.utils.aec_to_parallel` first.

    Raises:
        TypeError: `env` is not a `ParallelEnv`, or a space has no counterpart.

    Attributes:
        pz_env: The PettingZoo env.
    """

    def __init__(self, env: Any) -> None:
        require_kind(env, pettingzoo.ParallelEnv, "from_pettingzoo")
        self.pz_env = env
        self.possible_agents = list(env.possible_agents)
        self.agents = list(getattr(env, "agents", self.possible_agents))
        self.observation_spaces = {a: space_from_gymnasium(env.observation_space(a)) for a in self.possible_agents}
        self.action_spaces = {a: space_from_gymnasium(env.action_space(a)) for a in self.possible_agents}
        self._masks: dict[Any, Any] = {}

    def reset(self, *, seed: SeedType = None, options: dict[str, Any] | None = None) -> MAResetResult[Any, Any]:
        """Start an episode.

        Args:
            seed: An int goes straight to the PettingZoo env; None lets it go on.
            options: Handed to the PettingZoo env.

        Raises:
            TypeError: The seed is a Generator; PettingZoo has no standard way to hand one over.
        """
        if isinstance(seed, Generator):
            raise TypeError("seed must be an int or None: a PettingZoo env cannot be given a Generator")
        if isinstance(seed, np.integer):
            seed = int(seed)
        observations, infos = self.pz_env.reset(seed=seed, options=options)
        if seed is not None:
            self._set_rng(seed)
        return MAResetResult(*self._take(observations, infos))

    def step(self, actions: dict[Any, Any]) -> MAStepResult[Any, Any]:
        """Carry out one action per agent."""
        observations, rewards, terminated, truncated, infos = self.pz_env.step(actions)
        observations, infos = self._take(observations, infos)
        return MAStepResult(
            observations,
            {agent: float(reward) for agent, reward in rewards.items()},
            {agent: bool(flag) for agent, flag in terminated.items()},
            {agent: bool(flag) for agent, flag in truncated.items()},
            infos,
        )

    def action_mask(self, agent: Any) -> Any:
        """Return what an agent may do: the last `action_mask` in its info, or in its observation if that is a dict.

        None if there was none.

        Raises:
            KeyError: There is no such agent.
        """
        self.action_space(agent)
        return self._masks.get(agent)

    def close(self) -> None:
        """Close the PettingZoo env."""
        self.pz_env.close()

    def _take(self, observations: dict[Any, Any], infos: dict[Any, Any]) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """What the PettingZoo env told, as sekai has it."""
        self.agents = list(self.pz_env.agents)
        self._masks = {
            a: x["action_mask"] for a, x in observations.items() if isinstance(x, dict) and "action_mask" in x
        }
        self._masks |= {agent: info["action_mask"] for agent, info in infos.items() if "action_mask" in info}
        spaces = self.observation_spaces  # there may be an observation for all, under a key that is no agent
        declared = {key: as_declared(spaces[key], x) if key in spaces else x for key, x in observations.items()}
        return declared, {agent: dict(info) for agent, info in infos.items()}

    def __repr__(self) -> str:
        return f"<PettingZooToSekai {type(self.pz_env).__name__}>"

    __str__ = __repr__
