"""Multi-agent environments in PettingZoo's Parallel API."""

import copy
import pickle

import gymnasium
import numpy as np
import pytest
from numpy.random import default_rng
from pettingzoo import ParallelEnv
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test
from pettingzoo.utils import parallel_to_aec

import sekai
from sekai.compat import SekaiToPettingZoo, to_pettingzoo
from tests.compat.teams import Team, Turns

TEAMS = {
    "all to the end": lambda: Team({"a": 5, "b": 5}),
    "one dies": lambda: Team({"a": 3, "b": 6, 7: 4}),
    "one joins": lambda: Team({"a": 6, "b": 9}, joins={"b": 2}),
}


@pytest.mark.parametrize("make", TEAMS.values(), ids=TEAMS)
def test_pettingzoo_finds_nothing_wrong(make):
    parallel_api_test(to_pettingzoo(make()), num_cycles=20)
    parallel_seed_test(lambda: to_pettingzoo(make()), num_cycles=20)


def test_pettingzoo_finds_nothing_wrong_one_by_one():
    api_test(parallel_to_aec(to_pettingzoo(Team({"player_0": 3, "player_1": 6}))), num_cycles=20)


def test_what_it_is():
    team = Team({"a": 1, "b": 1})
    env = to_pettingzoo(team)
    assert isinstance(env, SekaiToPettingZoo)
    assert isinstance(env, ParallelEnv)
    assert env.sekai_env is team
    assert str(env) == repr(env) == "<SekaiToPettingZoo<Team agents=[]>>"
    assert env.metadata == {"name": "Team", "render_modes": [], "is_parallelizable": True}
    assert (env.render_mode, env.render(), env.unwrapped) == (None, None, env)
    assert (env.agents, env.possible_agents, env.num_agents, env.max_num_agents) == ([], ["a", "b"], 0, 2)
    assert env.possible_agents is not team.possible_agents
    with pytest.raises(NotImplementedError):
        env.state()


def test_each_agent_has_spaces_of_its_own():
    env = to_pettingzoo(Team({"a": 1, "b": 1}))
    assert env.observation_space("a") == gymnasium.spaces.Box(0, 100, (2,))
    assert env.action_space("b") == gymnasium.spaces.Discrete(3)
    assert env.observation_space("a") is env.observation_space("a")
    assert env.action_space("a") is not env.action_space("b")  # though they are one object in the environment
    with pytest.raises(KeyError):
        env.action_space("c")


def test_an_episode():
    env = to_pettingzoo(Team({"a": 1, "b": 2}))
    observations, infos = env.reset(3, {"k": 1})
    drawn = default_rng(3).random(5).astype(np.float32)
    assert env.sekai_env.options == {"k": 1}
    assert {agent: x.tolist() for agent, x in observations.items()} == {"a": [0, drawn[0]], "b": [0, drawn[1]]}
    assert infos == {"a": {"t": 0}, "b": {}}
    assert env.agents == ["a", "b"]

    observations, *rest = env.step({"a": 2, "b": 1})
    assert observations["a"].tolist() == [1, drawn[2]]
    assert rest == [
        {"a": 2.0, "b": 1.0},
        {"a": False, "b": False},
        {"a": True, "b": False},
        {"a": {"t": 1}, "b": {"t": 1}},
    ]
    assert {type(value) for part in rest[:3] for value in part.values()} == {float, bool}
    assert env.agents == ["b"]

    observations, *rest = env.step({"b": 1})
    assert observations["b"].tolist() == [2, drawn[4]]
    assert rest == [{"b": 1.0}, {"b": True}, {"b": False}, {"b": {"t": 2}}]
    assert env.agents == []


@pytest.mark.parametrize("seed", [5, np.int64(5), default_rng(5)], ids=["int", "numpy int", "generator"])
def test_seeds_of_all_kinds_reach_the_environment(seed):
    observations, _ = to_pettingzoo(Team({"a": 1})).reset(seed=seed)
    assert observations["a"][1] == np.float32(default_rng(5).random())


def test_observations_get_the_dtype_of_their_space():
    observations, _ = to_pettingzoo(Team({"a": 1}, dtype=np.float64)).reset(seed=5)
    assert observations["a"].dtype == np.float32


def test_copies_of_infos():
    class Kept(Team):
        def step(self, actions):
            self.result = super().step(actions)
            return self.result

    env = to_pettingzoo(Kept({"a": 5}))
    env.reset()
    *_, infos = env.step({"a": 0})
    infos["a"]["t"] = 9
    assert env.sekai_env.result.info == {"a": {"t": 1}}


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["copy", "pickle"])
@pytest.mark.parametrize("simultaneous", [False, True])
def test_copies_go_on_alike(copied, simultaneous):
    env = to_pettingzoo(Team({"a": 5, "b": 5}), simultaneous=simultaneous)
    env.reset(seed=1)
    twin = copied(env)
    first, second = (one.step({"a": 1, "b": 2})[0] for one in (env, twin))
    assert first["b"].tolist() == second["b"].tolist()


def test_close():
    class Closing(Team):
        closed = False

        def close(self):
            self.closed = True

    env = to_pettingzoo(Closing({"a": 1}))
    env.close()
    assert env.sekai_env.closed


def test_only_multi_agent_environments():
    with pytest.raises(TypeError, match=r"takes an instance of sekai\.MultiAgentEnv, got .*to_gymnasium$"):
        to_pettingzoo(sekai.make("CartPole-v1"))
    with pytest.raises(TypeError, match="from_pettingzoo"):
        to_pettingzoo(to_pettingzoo(Team({"a": 1})))


# ---- turns -------------------------------------------------------------------------------------------


def test_in_turns_those_have_an_observation_who_act_next():
    env = to_pettingzoo(Turns([1, 3]))
    observations, infos = env.reset()
    assert (list(observations), list(infos)) == (["agent_0", "agent_1"], ["agent_0", "agent_1"])
    action = np.array([1, 1])
    observations, rewards, terminated, _, infos = env.step({"agent_0": action, "agent_1": action})
    assert (list(observations), list(infos)) == (["agent_0"], ["agent_0"])
    assert rewards == {"agent_0": 2.0, "agent_1": 2.0}
    assert terminated == {"agent_0": False, "agent_1": False}
    with pytest.raises(AssertionError):
        env.step({"agent_0": action, "agent_1": action})


@pytest.mark.parametrize("first", [None, {"agent_0": 0, "agent_1": 2}], ids=["together", "one later"])
def test_pettingzoo_finds_nothing_wrong_with_turns_that_are_simultaneous(first):
    def make():
        return to_pettingzoo(Turns([1, 2], first=first), simultaneous=True)

    parallel_api_test(make(), num_cycles=20)
    parallel_seed_test(make, num_cycles=20)


def test_simultaneous_agents_see_their_last_observation_again():
    env = to_pettingzoo(Turns([1, 3], end=4, first={"agent_0": 0, "agent_1": 1}), simultaneous=True)
    observations, infos = env.reset()
    assert observations == {"agent_0": np.zeros(1), "agent_1": np.zeros(1)}  # the second one has seen nothing yet
    assert list(infos) == ["agent_0", "agent_1"]
    seen = []
    while env.agents:
        observations, rewards, terminated, truncated, infos = env.step(dict.fromkeys(env.agents, np.array([1, 0])))
        assert list(rewards) == list(terminated) == list(truncated) == list(infos) == ["agent_0", "agent_1"]
        seen.append([observations["agent_0"].item(), observations["agent_1"].item()])
    assert seen == [[1, 1], [2, 1], [3, 1], [4, 4]]
    env.reset()
    assert env.step({"agent_0": np.array([1, 0])})[0]["agent_1"].tolist() == [1]


def test_simultaneous_actions_out_of_turn_are_left_out():
    env = to_pettingzoo(Turns([1, 3]), simultaneous=True)
    env.reset()
    actions = {"agent_0": [1, 1], "agent_1": [0, 2]}
    env.step(actions)
    assert env.sekai_env.acted == actions
    env.step(actions)
    assert env.sekai_env.acted == {"agent_0": [1, 1]}


def test_an_agent_that_gives_no_action_in_its_turn():
    env = to_pettingzoo(Turns([1, 3]), simultaneous=True, no_op=lambda agent: [0, 2 if agent == "agent_1" else 1])
    env.reset()
    env.step({"agent_0": [1, 0]})
    assert env.sekai_env.acted == {"agent_0": [1, 0], "agent_1": [0, 2]}
    env.step({})
    assert env.sekai_env.acted == {"agent_0": [0, 1]}
    with pytest.raises(AssertionError):  # the environment's own
        to_pettingzoo(env.sekai_env, simultaneous=True).step({})
    with pytest.raises(ValueError, match="no_op needs simultaneous=True"):
        to_pettingzoo(env.sekai_env, no_op=lambda agent: 0)


def test_simultaneous_movers_that_die_and_join():
    env = to_pettingzoo(TEAMS["one joins"](), simultaneous=True)
    parallel_api_test(env, num_cycles=20)
    env = to_pettingzoo(TEAMS["one dies"](), simultaneous=True)
    parallel_api_test(env, num_cycles=20)
    env.reset()
    last = [list(env.step(dict.fromkeys(env.agents, 0))[0]) for _ in range(6)]
    assert last == [["a", "b", 7], ["a", "b", 7], ["a", "b", 7], ["b", 7], ["b"], ["b"]]


# ---- action masks ------------------------------------------------------------------------------------


def test_masks_are_in_the_infos_of_those_who_take_part():
    env = to_pettingzoo(Turns([1, 3], end=3), simultaneous=True)
    _, infos = env.reset()
    for allowed in (1, 1, 0):
        for agent in env.agents:
            mask = infos[agent]["action_mask"]
            assert [part.dtype for part in mask] == [np.int8, np.int8]
            assert [part.tolist() for part in mask] == [[1, 1], [1, 1, allowed]]
            env.action_space(agent).sample(mask)
        *_, infos = env.step(dict.fromkeys(env.agents, (0, 0)))
    assert infos == {"agent_0": {}, "agent_1": {}}  # the game is over


@pytest.mark.parametrize(
    ("space", "mask", "want"),
    [
        (sekai.Discrete(3), [True, False, True], [1, 0, 1]),
        (sekai.MultiDiscrete([2, 3]), np.array([[1, 0, 0], [0, 1, 1]]), ([1, 0], [0, 1, 1])),
        (sekai.MultiDiscrete([[1, 2]]), (([1], [0, 1]),), (([1], [0, 1]),)),
        (sekai.Box(0, 1, (2,)), "as it is", "as it is"),
        (sekai.Discrete(3), None, None),
    ],
)
def test_a_mask_is_what_gymnasium_samples_with(space, mask, want):
    class Masked(Team):
        def action_mask(self, agent):
            return mask

    def listed(mask):
        return tuple(map(listed, mask)) if isinstance(mask, tuple) else getattr(mask, "tolist", lambda: mask)()

    team = Masked({"a": 5})
    team.action_spaces = {"a": space}
    env = to_pettingzoo(team)
    _, infos = env.reset()
    assert listed(infos["a"].get("action_mask")) == want
    if isinstance(want, (list, tuple)):
        env.action_space("a").sample(infos["a"]["action_mask"])


def test_the_mask_that_an_info_has_comes_first():
    class Masked(Team):
        def action_mask(self, agent):
            return [1, 1, 1]

        def reset(self, **kwargs):
            return sekai.MAResetResult(super().reset(**kwargs).observations, {"a": {"action_mask": "its own"}})

    assert to_pettingzoo(Masked({"a": 5})).reset()[1] == {"a": {"action_mask": "its own"}}
