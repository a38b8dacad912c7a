"""The wrapper base classes."""

import asyncio
import copy
import pickle

import numpy as np
import pytest

from sekai.core import ActionWrapper, Env, ObservationWrapper, ResetResult, RewardWrapper, StepResult, Wrapper


class Base(Env):
    metadata = {"render_fps": 4}  # noqa: RUF012
    frozen = property(lambda self: 1)

    def __init__(self):
        self.observation_space = "observations"
        self.action_space = "actions"
        self.gain = 2
        self.closed = False

    def reset(self, *, seed=None, options=None):
        self._set_rng(seed)
        return ResetResult(1, {"options": options})

    def step(self, action):
        return StepResult(action, float(action), False, True, {"draw": self.rng.random()})

    def close(self):
        self.closed = True


class AddHundred(ObservationWrapper):
    def observation(self, obs):
        return obs + 100


class Negate(RewardWrapper):
    def reward(self, reward):
        return -reward


class Double(ActionWrapper):
    def action(self, action):
        return action * 2


class Limit(Wrapper):
    """A layer with an attribute of its own."""

    def __init__(self, env, limit):
        super().__init__(env)
        self.limit = limit


@pytest.mark.parametrize("not_an_env", [object(), None, Base], ids=["object", "None", "class"])
def test_only_env_instances_are_wrapped(not_an_env):
    with pytest.raises(TypeError, match=r"Limit wraps an instance of sekai\.Env.*from_gymnasium"):
        Limit(not_an_env, 3)


def test_calls_are_passed_on():
    env = Wrapper(Base())
    assert env.reset(seed=3, options={"a": 1}) == ResetResult(1, {"options": {"a": 1}})
    assert env.step(5) == StepResult(5, 5.0, False, True, {"draw": np.random.default_rng(3).random()})
    env.close()
    assert env.unwrapped.closed


def test_spaces_are_the_inner_ones_until_assigned():
    base = Base()
    inner, outer = Wrapper(base), Wrapper(Wrapper(base))
    outer = Wrapper(inner)
    assert (outer.observation_space, outer.action_space) == ("observations", "actions")
    inner.observation_space = "changed"
    base.action_space = "live"
    assert (outer.observation_space, outer.action_space) == ("changed", "live")
    assert base.observation_space == "observations"
    outer.action_space = "own"
    assert (outer.action_space, inner.action_space) == ("own", "live")
    outer.action_space = inner.observation_space = None
    assert (outer.observation_space, outer.action_space) == ("observations", "live")


def test_the_generator_is_that_of_the_base():
    base = Base()
    env = Wrapper(Wrapper(base))
    assert env._set_rng(8) == base._rng_seed == env._rng_seed == 8
    assert env.rng is base.rng is env._rng is env.get_attr("_rng")
    generator = np.random.default_rng(1)
    env.rng = generator
    assert base.rng is generator
    assert env._set_rng(None) == -1
    env._rng, env._rng_seed = np.random.default_rng(2), 2
    assert base._set_rng(None) == 2


def test_a_generator_can_be_made_through_a_wrapper():
    env = Wrapper(Base())
    assert env._rng is None
    assert env.rng is env.unwrapped.rng


def test_spec_and_metadata_are_those_of_the_base():
    base = Base()
    env = Wrapper(Wrapper(base))
    spec = type("Spec", (), {"id": "Base-v0"})()
    env.spec = spec
    assert base.spec is env.spec is spec
    assert str(env) == repr(env) == "<Wrapper(<Wrapper(<Base-v0>)>)>"
    assert env.metadata is base.metadata
    with pytest.raises(AttributeError):
        env.metadata = {}


def test_walking_the_stack():
    base = Base()
    inner = Limit(base, 3)
    env = Wrapper(inner)
    assert list(env) == [env, inner, base]
    assert len(env) == 3
    assert len(inner) == 2
    assert env.unwrapped is base
    assert str(env) == "<Wrapper(<Limit(<Base>)>)>"


def test_attributes_are_looked_up_by_name_only():
    env = Wrapper(Limit(Base(), 3))
    with pytest.raises(AttributeError):
        env.limit  # noqa: B018
    assert env.has_attr("limit")
    assert env.has_attr("gain")
    assert not env.has_attr("nothing")
    assert (env.get_attr("limit"), env.get_attr("gain")) == (3, 2)
    with pytest.raises(AttributeError, match="nothing"):
        env.get_attr("nothing")


def test_attributes_are_set_where_they_are():
    env = Wrapper(Limit(Base(), 3))
    env.set_attr("limit", 4)
    env.set_attr("gain", 5)
    env.set_attr("new", 6)
    assert env.env.limit == 4
    assert env.unwrapped.gain == 5
    assert env.new == 6
    assert not env.env.has_attr("new")
    with pytest.raises(AttributeError):
        env.set_attr("frozen", 2)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_of_a_stack_continue_identically(duplicate):
    env = AddHundred(Limit(Base(), 3))
    env.reset(seed=1)
    twin = duplicate(env)
    assert twin.step(1) == env.step(1)
    assert twin.unwrapped is not env.unwrapped


def test_bases_are_generic():
    assert Wrapper[int, int, int, int].__origin__ is Wrapper
    for base in (ObservationWrapper[int, int, int], RewardWrapper[int, int], ActionWrapper[int, int, int]):
        assert issubclass(base.__origin__, Wrapper)


@pytest.mark.parametrize("base", [ObservationWrapper, RewardWrapper, ActionWrapper])
def test_semantic_bases_are_abstract(base):
    with pytest.raises(TypeError, match="abstract"):
        base(Base())


def run(env, awaited):
    """The results of one reset and one step, sync or async."""
    if not awaited:
        return env.reset(seed=0, options={"q": 1}), env.step(3)

    async def episode():
        return await env.async_reset(seed=0, options={"q": 1}), await env.async_step(3)

    return asyncio.run(episode())


@pytest.mark.parametrize("awaited", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize(
    ("wrap", "first", "observation", "reward"),
    [
        (AddHundred, 101, 103, 3.0),
        (Negate, 1, 3, -3.0),
        (Double, 1, 6, 6.0),
        (lambda env: AddHundred(Negate(Double(env))), 101, 106, -6.0),
    ],
    ids=["observation", "reward", "action", "all"],
)
def test_semantic_bases_change_their_part_only(wrap, first, observation, reward, awaited):
    start, step = run(wrap(Base()), awaited)
    draw = np.random.default_rng(0).random()
    assert start == ResetResult(first, {"options": {"q": 1}})
    assert step == StepResult(observation, reward, False, True, {"draw": draw})


def test_infos_pass_through_as_they_are():
    info = {"k": 1}

    class Fixed(Base):
        def reset(self, *, seed=None, options=None):
            return ResetResult(1, info)

        def step(self, action):
            return StepResult(1, 0.0, False, False, info)

    env = AddHundred(Negate(Double(Fixed())))
    assert env.reset().info is info
    assert env.step(0).info is info


def test_reverse_action_is_optional():
    with pytest.raises(NotImplementedError, match="Double"):
        Double(Base()).reverse_action(1)
