"""The base class of multi-agent environments."""

import asyncio

import numpy as np
import pytest

from sekai.core import Env, MAResetResult, MAStepResult, MultiAgentEnv, Wrapper
from sekai.testing import check_env


class Pair(MultiAgentEnv[int, int, str]):
    def __init__(self):
        self.possible_agents = ["a", "b", "c"]
        self.agents = ["a", "b"]
        self.observation_spaces = {"a": "seen by a"}
        self.action_spaces = {"a": "done by a"}

    def reset(self, *, seed=None, options=None):
        self._set_rng(seed)
        return MAResetResult({agent: self.rng.random() for agent in self.agents}, {"options": options})

    def step(self, actions):
        return MAStepResult(actions, {}, {}, {}, {})


def test_reset_and_step_are_abstract():
    with pytest.raises(TypeError):
        MultiAgentEnv()


def test_members():
    env = Pair()
    assert (env.num_agents, env.max_num_agents) == (2, 3)
    assert env.observation_space("a") == "seen by a"
    assert env.action_space("a") == "done by a"
    for space in (env.observation_space, env.action_space):
        with pytest.raises(KeyError):
            space("z")
    assert str(env) == repr(env) == "<Pair agents=['a', 'b']>"
    assert not isinstance(env, Env)
    for absent in ("spec", "unwrapped", "metadata", "get_attr"):
        assert not hasattr(env, absent)


def test_it_has_one_random_stream():
    env = Pair()
    assert list(env.reset(seed=5).observations.values()) == list(np.random.default_rng(5).random(2))


def test_async_methods_run_the_sync_ones():
    async def episode():
        env = Pair()
        return await env.async_reset(seed=5, options={"k": 1}), await env.async_step({"a": 1})

    reset, step = asyncio.run(episode())
    assert reset == Pair().reset(seed=5, options={"k": 1})
    assert step.observations == {"a": 1}


def test_close_and_context():
    class Closing(Pair):
        closed = False

        def close(self):
            self.closed = True

    assert Pair().close() is None
    with Closing() as env:
        assert not env.closed
    assert env.closed


def test_what_is_for_one_agent_refuses_it():
    with pytest.raises(TypeError, match=r"Wrapper wraps an instance of sekai\.Env, got <Pair"):
        Wrapper(Pair())
    assert check_env(Pair()) == [
        "ERROR: env must be a single-agent environment, got <Pair agents=['a', 'b']>; it is of several agents."
    ]
