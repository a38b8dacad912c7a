"""The registry behind the functions of the package."""

import pytest

import sekai
import sekai.registry
from sekai.core import Env


class Plain(Env):
    def reset(self, *, seed=None, options=None):
        return sekai.ResetResult(0, {})

    def step(self, action):
        return sekai.StepResult(0, 0.0, False, False, {})


@pytest.fixture
def plain():
    """Register an environment for the time of one test."""
    sekai.register("test_ns/Plain-v0", Plain, max_episode_steps=4)
    yield "test_ns/Plain-v0"
    sekai.deregister("test_ns/Plain-v0")


def test_functions_share_one_registry(plain, capsys):
    env = sekai.make(plain)
    assert str(env) == "<TimeLimit(<test_ns/Plain-v0>)>"
    assert env.max_episode_steps == 4
    assert sekai.spec(plain) in sekai.all_specs()
    assert sekai.pprint_registry() is None
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Registered environments:"
    assert lines[lines.index("  [test_ns]") + 1] == "    test_ns/Plain-v0"
    assert lines.index("  [no namespace]") < lines.index("    CartPole-v1")


def test_the_entry_point_is_required():
    with pytest.raises(TypeError):
        sekai.register("OnlyId-v0")


def test_a_namespace_of_the_package():
    sekai.register_namespace("test_far", lambda: sekai.register("test_far/A-v0", Plain))
    assert type(sekai.make("test_far/A-v0")) is Plain
    sekai.deregister("test_far/A-v0")


def test_one_name_one_object():
    for name in sekai.registry.__all__:
        if name != "EnvRegistry":
            assert getattr(sekai, name) is getattr(sekai.registry, name)
