"""Which bridge is meant for which kind of environment."""

import gymnasium
import pytest

import sekai
from sekai.compat import from_gymnasium, from_gymnasium_vector, to_gymnasium, to_gymnasium_vector
from sekai.compat.kinds import ADVICE, require_kind

BRIDGES = [to_gymnasium, from_gymnasium, to_gymnasium_vector, from_gymnasium_vector]
KINDS = {
    to_gymnasium: lambda: sekai.make("CartPole-v1"),
    from_gymnasium: lambda: gymnasium.make("CartPole-v1"),
    to_gymnasium_vector: lambda: sekai.make_vec("CartPole-v1", 2),
    from_gymnasium_vector: lambda: gymnasium.make_vec("CartPole-v1", 2),
}


@pytest.mark.parametrize("bridge", BRIDGES, ids=lambda bridge: bridge.__name__)
@pytest.mark.parametrize("right", BRIDGES, ids=lambda bridge: bridge.__name__)
def test_an_environment_of_another_kind(bridge, right):
    if bridge is right:
        assert bridge(KINDS[right]()).num_envs == 2 if "vector" in bridge.__name__ else bridge(KINDS[right]())
        return
    with pytest.raises(TypeError, match=rf"^{bridge.__name__} takes an instance of .*; a .* is for {right.__name__}\b"):
        bridge(KINDS[right]())


@pytest.mark.parametrize("bridge", BRIDGES, ids=lambda bridge: bridge.__name__)
@pytest.mark.parametrize("thing", [None, "CartPole-v1", object(), sekai.Env, gymnasium.Env])
def test_no_environment(bridge, thing):
    with pytest.raises(TypeError, match=rf"^{bridge.__name__} takes an instance of [a-z]+\.(Vector|Vec)?Env, got"):
        bridge(thing)


@pytest.mark.parametrize(("package", "name"), [("pettingzoo", "ParallelEnv"), ("pettingzoo", "AECEnv")])
def test_environments_of_packages_that_are_not_loaded(package, name):
    base = type(name, (), {"__module__": f"{package}.utils.env"})
    with pytest.raises(TypeError) as error:
        require_kind(type("Chess", (base,), {})(), sekai.Env, "to_gymnasium")
    assert str(error.value).endswith(f"of type Chess; {ADVICE[package, name]}")


def test_multi_agent_environments():
    class Duel(sekai.MultiAgentEnv):
        agents = ()

        def reset(self, *, seed=None, options=None): ...

        def step(self, actions): ...

    for bridge in BRIDGES:
        with pytest.raises(TypeError, match=r"a sekai\.MultiAgentEnv is for to_pettingzoo"):
            bridge(Duel())
