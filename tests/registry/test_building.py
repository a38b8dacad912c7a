"""Making environments and batches from specs."""

import numpy as np
import pytest

import sekai
from sekai.core import Env, MAResetResult, MAStepResult, MultiAgentEnv, ResetResult, StepResult, Wrapper
from sekai.error import EnvNotFound
from sekai.registry import EnvRegistry, EnvSpec, WrapperSpec, building
from sekai.wrappers.time_limit import TimeLimit


class Plain(Env):
    """Remembers its arguments."""

    def __init__(self, **kwargs):
        self.kwargs = kwargs

    def reset(self, *, seed=None, options=None):
        return ResetResult(0, {})

    def step(self, action):
        return StepResult(0, 0.0, False, False, {})


class Team(MultiAgentEnv):
    agents = possible_agents = ("a", "b")

    def reset(self, *, seed=None, options=None):
        return MAResetResult({}, {})

    def step(self, actions):
        return MAStepResult({}, {}, {}, {}, {})


class Batch:
    """Takes the place of a vector environment; remembers its arguments."""

    def __init__(self, **kwargs):
        self.kwargs = kwargs


class Lane(Plain):
    batch = Batch


class Layer(Wrapper):
    def __init__(self, env, **kwargs):
        super().__init__(env)
        self.kwargs = kwargs


@pytest.fixture
def registry():
    return EnvRegistry()


def test_arguments_of_the_caller_come_over_those_of_the_spec(registry):
    registry.register("A-v0", Plain, kwargs={"a": 1, "b": 2})
    env = registry.make("A-v0", b=3, c=4)
    assert env.kwargs == env.spec.kwargs == {"a": 1, "b": 3, "c": 4}
    assert registry.spec("A-v0").kwargs == {"a": 1, "b": 2}
    assert str(env) == "<A-v0>"


def test_the_spec_of_an_env_makes_another_like_it(registry):
    registered = registry.register("A-v0", Plain, max_episode_steps=5, kwargs={"a": 1})
    assert registry.make("A-v0").spec == registered
    assert registry.make("A-v0").spec is not registered
    clone = registry.make("A-v0", b=2, max_episode_steps=9).spec.make(b=3)
    assert clone.unwrapped.kwargs == {"a": 1, "b": 3}
    assert clone.max_episode_steps == clone.spec.max_episode_steps == 9


def test_the_time_limit(registry):
    registry.register("A-v0", Plain, max_episode_steps=5)
    assert [type(layer) for layer in registry.make("A-v0")] == [TimeLimit, Plain]
    assert registry.make("A-v0").max_episode_steps == 5
    assert registry.make("A-v0", max_episode_steps=np.int32(7)).max_episode_steps == 7
    unlimited = registry.make("A-v0", max_episode_steps=-1)
    assert type(unlimited) is Plain
    assert unlimited.spec.max_episode_steps is None
    assert "max_episode_steps" not in unlimited.kwargs


@pytest.mark.parametrize(("limit", "error"), [(0, ValueError), (-5, ValueError), (2.5, TypeError), ("3", TypeError)])
def test_limits_are_checked_before_anything_is_made(registry, limit, error):
    made = []
    registry.register("A-v0", lambda: made.append(1))
    registry.register("B-v0", Lane)
    with pytest.raises(error, match="max_episode_steps"):
        registry.make("A-v0", max_episode_steps=limit)
    with pytest.raises(error, match="max_episode_steps"):
        registry.make_vec("B-v0", 2, max_episode_steps=limit)
    assert made == []


def test_additional_wrappers_are_applied_in_order(registry):
    wrappers = (
        WrapperSpec("L", Layer, {"k": [1]}),
        WrapperSpec("T", f"{TimeLimit.__module__}:TimeLimit", {"max_episode_steps": 2}),
    )
    registry.register("A-v0", Plain, max_episode_steps=5, additional_wrappers=wrappers)
    env = registry.make("A-v0")
    assert [type(layer) for layer in env] == [TimeLimit, Layer, TimeLimit, Plain]
    env.env.kwargs["k"].append(2)
    assert registry.make("A-v0").env.kwargs == {"k": [1]}


def test_a_factory_may_return_a_wrapped_env(registry):
    registry.register("A-v0", lambda: Layer(Plain()))
    env = registry.make("A-v0")
    assert env.unwrapped.spec.id == "A-v0"


def test_a_factory_must_return_an_env(registry):
    registry.register("A-v0", lambda: 5)
    with pytest.raises(TypeError, match=r"'A-v0' must return a sekai\.Env, got 5"):
        registry.make("A-v0")


def test_a_multi_agent_env_is_made_without_what_is_for_one_agent(registry):
    registry.register("A-v0", Team)
    env = registry.make("A-v0")
    assert type(env) is Team
    assert env.spec == registry.spec("A-v0")
    with pytest.raises(TypeError, match=r"TimeLimit wraps an instance of sekai\.Env, got <Team agents=\['a', 'b'\]>"):
        registry.make("A-v0", max_episode_steps=5)
    registry.register("A-v1", Team, additional_wrappers=(WrapperSpec("layer", Layer, {}),))
    with pytest.raises(TypeError, match=r"Layer wraps an instance of sekai\.Env"):
        registry.make("A-v1")


def test_changes_outside_do_not_reach_the_registry(registry):
    given = {"list": [1], "array": np.zeros(2), "object": object()}
    registry.register("A-v0", Plain, kwargs=given)
    given["list"].append(2)
    given["array"][:] = 7
    first = registry.make("A-v0")
    first.kwargs["list"].append(3)
    first.kwargs["array"][:] = 8
    first.spec.kwargs["new"] = 1
    second = registry.make("A-v0")
    assert second.kwargs["list"] == [1]
    assert second.kwargs["array"].tolist() == [0, 0]
    assert second.kwargs["object"] is given["object"]
    assert "new" not in second.kwargs


def test_the_spec_of_an_env_outlives_its_arguments(registry):
    registry.register("A-v0", Plain)
    days, tracker = [1, 2], object()
    env = registry.make("A-v0", days=days, tracker=tracker)
    days.append(3)
    env.kwargs["days"].append(4)
    assert env.spec.make().kwargs == {"days": [1, 2], "tracker": tracker}


def test_a_spec_without_entry_point_says_so(registry):
    for spec in (EnvSpec("A-v0"), EnvSpec.from_json(EnvSpec("A-v0", entry_point=Plain).to_json())):
        for make in (spec.make, lambda spec=spec: registry.make_vec(spec, vectorization_mode="sync")):
            with pytest.raises(EnvNotFound, match="'A-v0' has no entry point") as caught:
                make()
            assert caught.value.suggestions == ()


def test_a_vector_entry_point_makes_the_batch(registry):
    registry.register("A-v0", "m:c", vector_entry_point=Batch, max_episode_steps=5, kwargs={"a": 1, "b": 2})
    batch = registry.make_vec("A-v0", 2, b=3, vector_kwargs={"c": 4})
    assert batch.kwargs == {"num_envs": 2, "a": 1, "b": 3, "max_episode_steps": 5, "c": 4}
    assert (batch.spec.kwargs, batch.spec.max_episode_steps) == ({"a": 1, "b": 3}, 5)
    assert registry.make_vec("A-v0", max_episode_steps=-1).kwargs == {"num_envs": 1, "a": 1, "b": 2}
    assert registry.make_vec(batch.spec, 2, vector_kwargs={"c": 4}).kwargs == batch.kwargs
    assert registry.spec("A-v0").kwargs == {"a": 1, "b": 2}
    with pytest.raises(TypeError, match="num_envs"):
        registry.make_vec("A-v0", 2, vector_kwargs={"num_envs": 3})


@pytest.mark.parametrize("mode", [None, "native", "vector_entry_point"])
def test_the_batch_of_a_kernel_env_is_found_by_its_class(registry, mode):
    registry.register("A-v0", Lane, max_episode_steps=5)
    batch = registry.make_vec("A-v0", 3, gravity=1.0, vectorization_mode=mode)
    assert type(batch) is Batch
    assert batch.kwargs == {"num_envs": 3, "gravity": 1.0, "max_episode_steps": 5}


def test_a_subclass_that_steps_differently_is_not_a_lane_of_the_inherited_batch(registry):
    class Renamed(Lane):
        pass

    class Stepping(Lane):
        def step(self, action):
            return super().step(action)

    class Sized(Plain):
        batch = 32

    registry.register("Renamed-v0", Renamed)
    assert type(registry.make_vec("Renamed-v0")) is Batch
    for cls in (Stepping, Sized):
        registry.register(cls.__name__, cls)
        with pytest.raises(ValueError, match="has no native vector implementation"):
            registry.make_vec(cls.__name__, vectorization_mode="native")


def test_a_native_batch_takes_only_wrappers_with_twins(registry):
    registry.register("A-v0", Lane)
    registry.register("B-v0", Lane, additional_wrappers=[WrapperSpec("L", Layer)])
    with pytest.raises(ValueError, match="Layer has no twin for a native batch"):
        registry.make_vec("A-v0", vectorization_mode="native", wrappers=[Layer])
    with pytest.raises(ValueError, match="Layer has no twin for a native batch"):
        registry.make_vec("B-v0", vectorization_mode="native")


@pytest.mark.parametrize("mode", [None, "native"])
def test_wrappers_with_twins_are_put_around_a_native_batch(mode):
    spec = EnvSpec(
        "Pole-v0",
        "sekai.envs:CartPoleEnv",
        max_episode_steps=9,
        additional_wrappers=(WrapperSpec("C", "sekai:ClipReward", {"max_reward": 0.5}),),
    )
    stack = [sekai.OrderEnforcing, lambda env: sekai.StickyAction(env, 0.25)]
    vec = sekai.make_vec(spec, 3, vectorization_mode=mode, wrappers=stack, vector_kwargs={"autoreset": False})
    assert [type(layer) for layer in (vec, vec.venv)] == [sekai.VecStickyAction, sekai.VecClipReward]
    assert (vec.repeat_action_probability, vec.venv.max_reward) == (0.25, 0.5)
    assert (vec.unwrapped.max_episode_steps, vec.autoreset_mode, vec.spec.id) == (9, "disabled", "Pole-v0")
    vec.reset(seed=0)
    assert vec.step([0, 1, 0]).rewards.tolist() == [0.5] * 3


def test_a_probe_is_closed(registry):
    closed = []

    class Closing(Lane):
        def close(self):
            closed.append(self)

    registry.register("A-v0", Closing)
    registry.make_vec("A-v0", wrappers=[sekai.OrderEnforcing])
    assert len(closed) == 1


def test_bad_arguments_of_make_vec(registry):
    registry.register("A-v0", Lane)
    with pytest.raises(ValueError, match="num_envs must be >= 1, got 0"):
        registry.make_vec("Nothing-v0", 0)
    with pytest.raises(TypeError, match=r"num_envs must be an int, got 2\.0"):
        registry.make_vec("A-v0", 2.0)
    with pytest.raises(ValueError, match="vectorization_mode must be native, sync, async, proc or None, got 'warp'"):
        registry.make_vec("A-v0", vectorization_mode="warp")


@pytest.mark.parametrize("mode", [None, "native", "sync", "proc"])
def test_wrappers_of_batches_are_told_where_they_belong(mode):
    with pytest.raises(TypeError) as caught:
        sekai.make_vec("CartPole-v1", 2, vectorization_mode=mode, wrappers=[sekai.VecClipReward])
    assert str(caught.value) == (
        "wrappers must be functions of a single environment, got VecClipReward, a wrapper of batches: put it around "
        "the batch, VecClipReward(make_vec(…))"
    )


def test_functions_that_make_wrappers_of_batches_are_told_too():
    with pytest.raises(TypeError, match=r"VecClipReward wraps .* put it around what make_vec\(\) returns"):
        sekai.make_vec("CartPole-v1", 2, wrappers=[lambda env: sekai.VecClipReward(env, max_reward=1.0)])


@pytest.mark.parametrize("mode", ["sync", "async", "proc"])
def test_other_batches_are_made_of_single_envs(registry, monkeypatch, mode):
    class EnvBatch:
        def __init__(self, factories, **kwargs):
            self.envs, self.kwargs = [factory() for factory in factories], kwargs

    class Outer(Layer):
        pass

    monkeypatch.setitem(building.BATCHES_OF_ENVS, mode, EnvBatch)
    registry.register("A-v0", Lane, max_episode_steps=5, kwargs={"k": [1]})
    batch = registry.make_vec(
        "A-v0", 2, vectorization_mode=mode, wrappers=iter([Layer, Outer]), vector_kwargs={"copy": False}, a=2
    )
    assert [[type(layer) for layer in env] for env in batch.envs] == [[Outer, Layer, TimeLimit, Lane]] * 2
    assert batch.kwargs == {"copy": False}
    assert (batch.spec.kwargs, batch.spec.max_episode_steps) == ({"k": [1], "a": 2}, 5)
    first, second = batch.envs
    first.unwrapped.kwargs["k"].append(2)
    first.spec.kwargs["k"].append(3)
    assert second.unwrapped.kwargs == second.spec.kwargs == batch.spec.kwargs == {"k": [1], "a": 2}


def test_wrappers_choose_a_batch_of_single_envs(registry, monkeypatch):
    monkeypatch.setitem(building.BATCHES_OF_ENVS, "sync", lambda factories: factories[0]())
    registry.register("A-v0", Lane)
    registry.register("B-v0", Lane, additional_wrappers=[WrapperSpec("L", Layer)])
    registry.register("C-v0", Plain)
    with pytest.warns(UserWarning, match="Layer has no twin") as caught:
        assert str(registry.make_vec("A-v0", wrappers=[Layer])) == "<Layer(<A-v0>)>"
    assert [warning.filename for warning in caught] == [__file__]
    with pytest.warns(UserWarning, match="Layer has no twin"):
        assert str(registry.make_vec("B-v0")) == "<Layer(<B-v0>)>"
    assert str(registry.make_vec("C-v0", wrappers=[Layer])) == "<Layer(<C-v0>)>"
