"""sekai's multi-agent environments seen through PettingZoo's Parallel API."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sekai._extras import import_extra
from sekai.compat.kinds import require_kind
from sekai.compat.masks import nested_action_mask
from sekai.compat.spaces import as_declared, space_to_gymnasium
from sekai.core.multi_agent import MultiAgentEnv
from sekai.spaces import Discrete, MultiDiscrete, Space
from sekai.spaces.utils import zero_sample
from sekai.utils.masking import flatten_action_mask

pettingzoo = import_extra("pettingzoo", "pettingzoo")


class SekaiToPettingZoo(pettingzoo.ParallelEnv):  # type: ignore[misc, name-defined]
    """Exposes a sekai `MultiAgentEnv` through PettingZoo's Parallel API.

    Observations are those of the sekai environment, arrays of another dtype than their `Box` cast to it; actions are
    passed on as they are. Where the environment has a method `action_mask(agent)`, `infos[agent]["action_mask"]` holds
    what the agent may do next, as `action_space(agent).sample` takes it.

    In an environment where agents act in turns, those have an observation who act next, and only they may act.
    Libraries that expect every agent to act in every step need `simultaneous=True`.

    Args:
        env: The environment.
        simultaneous: Whether all agents that take part have an observation, a reward, flags and an info in every step
            (where the environment gives none: the last observation again, or a zero before the first; 0; False; empty),
            and may give an action in every step, which is left out where it is not their turn.
        no_op: With `simultaneous`, a function from an agent to the action it takes when its turn comes and it gives
            none. Without it, the environment has to do without.

    Raises:
        TypeError: `env` is not a `MultiAgentEnv`.
        ValueError: There is a `no_op` without `simultaneous`.

    Attributes:
        sekai_env: The environment.
    """

    render_mode = None

    def __init__(
        self,
        env: MultiAgentEnv[Any, Any, Any],
        *,
        simultaneous: bool = False,
        no_op: Callable[[Any], Any] | None = None,
    ) -> None:
        require_kind(env, MultiAgentEnv, "to_pettingzoo")
        if no_op is not None and not simultaneous:
            raise ValueError("no_op needs simultaneous=True; without it, the environment gets the actions as they are")
        self.sekai_env = env
        self.possible_agents = list(env.possible_agents)
        self.agents = list(env.agents)
        self.observation_spaces = {a: space_to_gymnasium(env.observation_space(a)) for a in self.possible_agents}
        self.action_spaces = {a: space_to_gymnasium(env.action_space(a)) for a in self.possible_agents}
        self.metadata = {"name": type(env).__name__, "render_modes": [], "is_parallelizable": True}
        self._simultaneous = simultaneous
        self._no_op = no_op
        self._turn: frozenset[Any] = frozenset()  # who had an observation in the last result
        self._last: dict[Any, Any] = {}  # the last observation of everyone, if they are to be repeated

    def observation_space(self, agent: Any) -> Any:
        """Return the gymnasium space of an agent's observations, the same object every time."""
        return self.observation_spaces[agent]

    def action_space(self, agent: Any) -> Any:
        """Return the gymnasium space of an agent's actions, the same object every time."""
        return self.action_spaces[agent]

    def reset(
        self, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[Any, Any], dict[Any, dict[str, Any]]]:
        """Start an episode.

        Args:
            seed: An int, a Generator or None, as the environment takes it.
            options: Handed to the environment.
        """
        result = self.sekai_env.reset(seed=seed, options=options)
        self.agents = list(self.sekai_env.agents)
        self._last = {}
        observations = self._observe(result.observations, self.agents if self._simultaneous else ())
        return observations, self._infos({agent: result.info.get(agent, {}) for agent in observations})

    def step(
        self, actions: Mapping[Any, Any]
    ) -> tuple[dict[Any, Any], dict[Any, float], dict[Any, bool], dict[Any, bool], dict[Any, dict[str, Any]]]:
        """Carry out one action per agent.

        Returns:
            Observations, rewards, terminations, truncations and infos, by agent.
        """
        before = self.agents
        result = self.sekai_env.step(self._in_turn(actions) if self._simultaneous else dict(actions))
        self.agents = list(self.sekai_env.agents)
        party = dict.fromkeys([*before, *self.agents]) if self._simultaneous else {}
        observations = self._observe(result.observations, party)
        return (
            observations,
            {**dict.fromkeys(party, 0.0), **{agent: float(reward) for agent, reward in result.rewards.items()}},
            {**dict.fromkeys(party, False), **{agent: bool(flag) for agent, flag in result.terminated.items()}},
            {**dict.fromkeys(party, False), **{agent: bool(flag) for agent, flag in result.truncated.items()}},
            self._infos({**{agent: {} for agent in observations}, **result.info}),
        )

    def render(self) -> None:
        """Return None: there is nothing to see."""

    def close(self) -> None:
        """Close the environment."""
        self.sekai_env.close()

    def _in_turn(self, actions: Mapping[Any, Any]) -> dict[Any, Any]:
        """The actions of those whose turn it is."""
        acting = [agent for agent in self.agents if agent in self._turn]
        taken = {agent: actions[agent] for agent in acting if agent in actions}
        if self._no_op is not None:
            taken.update({agent: self._no_op(agent) for agent in acting if agent not in actions})
        return taken

    def _observe(self, given: Mapping[Any, Any], party: Any) -> dict[Any, Any]:
        """The observations that the environment gave, and repeated ones for the others of a party."""
        space = self.sekai_env.observation_space
        observations = {agent: as_declared(space(agent), observation) for agent, observation in given.items()}
        self._turn = frozenset(observations)
        for agent in party:
            if agent not in observations:
                observations[agent] = self._last[agent] if agent in self._last else zero_sample(space(agent))
        if self._simultaneous:
            self._last.update(observations)
        return observations

    def _infos(self, given: Mapping[Any, Any]) -> dict[Any, dict[str, Any]]:
        """Copies of infos, with the masks of the agents that take part."""
        infos = {agent: dict(info) for agent, info in given.items()}
        if hasattr(self.sekai_env, "action_mask"):
            for agent in filter(infos.__contains__, self.agents):
                mask = self.sekai_env.action_mask(agent)
                if mask is not None:
                    infos[agent].setdefault("action_mask", _sampling_mask(self.sekai_env.action_space(agent), mask))
        return infos

    def __str__(self) -> str:
        return f"<SekaiToPettingZoo{self.sekai_env}>"

    __repr__ = __str__


def _sampling_mask(space: Space[Any], mask: Any) -> Any:
    """Return a mask as the gymnasium space's `sample` takes it: int8, nested as a MultiDiscrete is."""
    if not isinstance(space, (Discrete, MultiDiscrete)):
        return mask
    return _int8(nested_action_mask(space, flatten_action_mask(space, mask)))


def _int8(mask: Any) -> Any:
    return tuple(map(_int8, mask)) if isinstance(mask, tuple) else mask.astype(np.int8)
