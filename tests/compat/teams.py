"""Small multi-agent environments."""

import numpy as np

import sekai


class Team(sekai.MultiAgentEnv):
    """A game that ends for an agent at `ends[agent]` and that an agent joins at `joins[agent]`.

    An agent sees how many steps were made and a number that the environment draws; its reward is its action. One that
    its end finds at an odd step is truncated, the others terminate.
    """

    def __init__(self, ends, joins=None, dtype=np.float32):
        self.possible_agents = list(ends)
        self.agents = []
        self.ends, self.joins, self.dtype = ends, joins or {}, dtype
        seen, done = sekai.Box(0, 100, (2,)), sekai.Discrete(3)
        self.observation_spaces = dict.fromkeys(self.possible_agents, seen)
        self.action_spaces = dict.fromkeys(self.possible_agents, done)

    def reset(self, *, seed=None, options=None):
        self._set_rng(seed)
        self.t, self.options = 0, options
        self.agents = [agent for agent in self.possible_agents if self.joins.get(agent, 0) == 0]
        return sekai.MAResetResult(self._see(self.agents), {agent: {"t": 0} for agent in self.agents[:1]})

    def step(self, actions):
        assert set(actions) == set(self.agents)
        self.t += 1
        party = [agent for agent in self.possible_agents if agent in actions or self.joins.get(agent) == self.t]
        over = {agent: self.ends[agent] <= self.t for agent in party}
        self.agents = [agent for agent in party if not over[agent]]
        return sekai.MAStepResult(
            self._see(party),
            {agent: np.float32(actions.get(agent, 0)) for agent in party},
            {agent: np.bool_(over[agent] and self.t % 2 == 0) for agent in party},
            {agent: np.bool_(over[agent] and self.t % 2 == 1) for agent in party},
            {agent: {"t": self.t} for agent in party},
        )

    def _see(self, agents):
        return {agent: np.array([self.t, self.rng.random()], self.dtype) for agent in agents}


class Turns(sekai.MultiAgentEnv):
    """Agent k acts every `periods[k]` time units; the game ends at `end`.

    Those have an observation, the time, who act next; a reward is the sum of the actions since the last step, for all.
    """

    def __init__(self, periods, end=6, first=None):
        self.possible_agents = [f"agent_{k}" for k in range(len(periods))]
        self.agents = list(self.possible_agents)
        self.periods, self.end = dict(zip(self.possible_agents, periods, strict=True)), end
        self.first = dict.fromkeys(self.possible_agents, 0) if first is None else first
        self.observation_spaces = {agent: sekai.Box(0, 100, (1,)) for agent in self.possible_agents}
        self.action_spaces = {agent: sekai.MultiDiscrete([2, 3]) for agent in self.possible_agents}

    def reset(self, *, seed=None, options=None):
        self._set_rng(seed)
        self.t, self.agents, self.next = 0, list(self.possible_agents), dict(self.first)
        self.acted = None
        return sekai.MAResetResult(self._see(), {})

    def step(self, actions):
        assert set(actions) == set(self._acting())
        self.acted = {agent: np.asarray(action).tolist() for agent, action in actions.items()}
        for agent in actions:
            self.next[agent] += self.periods[agent]
        self.t = min([*self.next.values(), self.end])
        over = self.t >= self.end
        rewards = {agent: int(np.sum([actions.get(agent, 0)])) for agent in self.possible_agents}
        if over:
            self.next, self.agents = dict.fromkeys(self.agents, self.t), []
        flags = dict.fromkeys(self.possible_agents, False)
        done = dict.fromkeys(self.possible_agents, over)
        return sekai.MAStepResult(self._see(), rewards, done, flags, {})

    def action_mask(self, agent):
        return (np.array([True, True]), np.array([True, True, self.t < 2]))

    def _acting(self):
        return [agent for agent, when in self.next.items() if when <= self.t]

    def _see(self):
        return {agent: np.array([self.t], np.float32) for agent in self._acting()}
