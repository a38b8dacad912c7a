"""PettingZoo's parallel environments as multi-agent environments of sekai."""

import asyncio
import copy
import pickle

import numpy as np
import pytest
from gymnasium import spaces
from numpy.random import default_rng
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.test import parallel_api_test
from pettingzoo.utils import BaseParallelWrapper, aec_to_parallel, parallel_to_aec

import sekai
from sekai.compat import PettingZooToSekai, from_pettingzoo, to_pettingzoo
from tests.compat.teams import Team


class Race(ParallelEnv):
    """Each agent moves its action forward plus a random bit; one that is past 3 is out."""

    metadata = {"name": "race", "is_parallelizable": True}  # noqa: RUF012
    render_mode = None
    dtype = np.float32

    def __init__(self):
        self.possible_agents = ["p", "q"]
        self.closed = False
        self.actions = [spaces.Discrete(2), spaces.Discrete(3)]

    def observation_space(self, agent):
        return spaces.Box(0, np.inf, (1,))

    def action_space(self, agent):
        return self.actions[self.possible_agents.index(agent)]

    def reset(self, seed=None, options=None):
        self.given = seed, options
        if seed is not None:
            self.rng = default_rng(seed)
        self.agents, self.at = list(self.possible_agents), dict.fromkeys(self.possible_agents, 0.0)
        return self._see(), {"p": {"mask": 1}, "q": {}}

    def step(self, actions):
        for agent, action in actions.items():
            self.at[agent] += action + self.rng.random()
        party, self.agents = self.agents, [agent for agent in self.agents if self.at[agent] <= 3]
        self.told = {agent: {"at": self.at[agent]} for agent in party}
        out = {agent: np.bool_(self.at[agent] > 3) for agent in party}
        return self._see(party), dict.fromkeys(party, np.float32(1)), out, dict.fromkeys(party, 0), self.told

    def close(self):
        self.closed = True

    def _see(self, agents=("p", "q")):
        return {agent: np.array([self.at[agent]], self.dtype) for agent in agents}


def test_what_it_is():
    race = Race()
    env = from_pettingzoo(race)
    assert isinstance(env, PettingZooToSekai)
    assert isinstance(env, sekai.MultiAgentEnv)
    assert env.pz_env is race
    assert str(env) == repr(env) == "<PettingZooToSekai Race>"
    assert env.agents == env.possible_agents == ["p", "q"]  # before the first reset
    assert env.possible_agents is not race.possible_agents
    assert env.observation_space("p") == sekai.Box(0, np.inf, (1,))
    assert (env.action_space("p"), env.action_space("q")) == (sekai.Discrete(2), sekai.Discrete(3))
    env.close()
    assert race.closed


def test_an_episode():
    env = from_pettingzoo(Race())
    result = env.reset(seed=4, options={"k": 1})
    assert env.pz_env.given == (4, {"k": 1})
    assert result == sekai.MAResetResult({"p": np.zeros(1), "q": np.zeros(1)}, {"p": {"mask": 1}, "q": {}})
    drawn = default_rng(4).random(3)

    result = env.step({"p": 0, "q": 2})
    assert {agent: x.item() for agent, x in result.observations.items()} == pytest.approx(
        {"p": drawn[0], "q": 2 + drawn[1]},
        rel=1e-7,  # float32
    )
    assert (result.rewards, result.terminated) == ({"p": 1.0, "q": 1.0}, {"p": False, "q": False})
    assert result.truncated == {"p": False, "q": False}
    assert result.info == env.pz_env.told
    assert result.info["p"] is not env.pz_env.told["p"]
    kinds = [result.rewards["p"], result.terminated["p"], result.truncated["p"]]
    assert [type(value) for value in kinds] == [float, bool, bool]

    result = env.step({"p": 0, "q": 2})
    assert result.terminated == {"p": False, "q": True}
    assert (result.all_done, result.any_done) == (False, True)
    assert (env.agents, env.num_agents, env.max_num_agents) == (["p"], 1, 2)


def test_seeds():
    env = from_pettingzoo(Race())
    env.reset(seed=np.int64(4))
    assert type(env.pz_env.given[0]) is int
    assert env._set_rng(None) == 4
    first = env.step({"p": 0, "q": 0}).observations
    env.reset()
    assert env.pz_env.given[0] is None
    assert env._set_rng(None) == 4
    env.reset(seed=4)
    assert env.step({"p": 0, "q": 0}).observations == first
    with pytest.raises(TypeError, match="a PettingZoo env cannot be given a Generator"):
        env.reset(seed=default_rng(4))


def test_async_methods_do_the_same():
    async def first_steps(env):
        return await env.async_reset(seed=3), await env.async_step({"p": 1, "q": 0})

    env = from_pettingzoo(Race())
    assert asyncio.run(first_steps(from_pettingzoo(Race()))) == (env.reset(seed=3), env.step({"p": 1, "q": 0}))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["copy", "pickle"])
def test_copies_go_on_alike(copied):
    env = from_pettingzoo(Race())
    env.reset(seed=1)
    assert copied(env).step({"p": 0, "q": 0}) == env.step({"p": 0, "q": 0})


def test_observations_get_the_dtype_of_their_space():
    class Precise(Race):
        dtype = np.float64

        def reset(self, seed=None, options=None):
            observations, infos = super().reset(seed, options)
            return {**observations, "common": np.zeros(1)}, infos

    observations = from_pettingzoo(Precise()).reset(seed=1).observations
    assert observations["p"].dtype == np.float32
    assert observations["common"].dtype == np.float64  # what is told to all has no space


def test_a_wrapped_env_is_taken_as_it_is():
    env = from_pettingzoo(BaseParallelWrapper(Race()))
    env.reset(seed=0)
    assert env.step({"p": 0, "q": 2}).rewards == {"p": 1.0, "q": 1.0}


def test_the_aec_api_needs_a_conversion():
    env = parallel_to_aec(Race())
    assert isinstance(env, AECEnv)
    with pytest.raises(TypeError, match=r"AECEnv is for from_pettingzoo, after pettingzoo\.utils\.aec_to_parallel$"):
        from_pettingzoo(env)
    assert (
        from_pettingzoo(aec_to_parallel(env)).reset(seed=1).observations == from_pettingzoo(Race()).reset().observations
    )


@pytest.mark.parametrize(
    ("env", "message"),
    [
        (lambda: sekai.make("CartPole-v1"), "a sekai.Env is for to_gymnasium$"),
        (lambda: Team({"a": 1}), "a sekai.MultiAgentEnv is for to_pettingzoo$"),
        (lambda: Race, "got the class Race"),
        (object, "got <object object at"),
    ],
)
def test_only_parallel_envs(env, message):
    with pytest.raises(TypeError, match=message):
        from_pettingzoo(env())


def test_a_space_without_a_counterpart():
    race = Race()
    race.actions = [spaces.Discrete(2), spaces.Text(3)]
    with pytest.raises(TypeError, match="no counterpart for Text"):
        from_pettingzoo(race)


def test_action_masks():
    class Masked(Race):
        def reset(self, seed=None, options=None):
            observations, _ = super().reset(seed, options)
            return {"p": {"observation": observations["p"], "action_mask": "seen"}, "q": observations["q"]}, {
                "p": {},
                "q": {"action_mask": "told"},
            }

    env = from_pettingzoo(Masked())
    assert env.action_mask("p") is None
    env.reset(seed=0)
    assert (env.action_mask("p"), env.action_mask("q")) == ("seen", "told")
    env.step({"p": 0, "q": 0})
    assert env.action_mask("q") is None
    with pytest.raises(KeyError):
        env.action_mask("z")


def test_there_and_back():
    env = to_pettingzoo(from_pettingzoo(Race()))
    parallel_api_test(env, num_cycles=20)
    team, again = Team({"a": 3, "b": 2}), from_pettingzoo(to_pettingzoo(Team({"a": 3, "b": 2})))
    first, second = team.reset(seed=6), again.reset(seed=6)
    assert {a: x.tolist() for a, x in first.observations.items()} == {
        a: x.tolist() for a, x in second.observations.items()
    }
    while team.agents:
        actions = dict.fromkeys(team.agents, 2)
        first, second = team.step(actions), again.step(actions)
        assert team.agents == again.agents
        for name in ("rewards", "terminated", "truncated", "info"):
            assert getattr(first, name) == getattr(second, name)
        for agent, observation in first.observations.items():
            assert np.array_equal(observation, second.observations[agent])
