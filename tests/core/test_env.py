"""The base class of single-agent environments."""

import asyncio
import inspect

import pytest

from sekai.core import Env, ResetResult, StepResult


class Plain(Env[int, int]):
    def reset(self, *, seed=None, options=None):
        return ResetResult(self._set_rng(seed), {"options": options})

    def step(self, action):
        return StepResult(action, 0.0, False, False, {})


def test_reset_and_step_are_abstract():
    for missing in ("reset", "step"):
        methods = {name: getattr(Plain, name) for name in ("reset", "step") if name != missing}
        with pytest.raises(TypeError, match=missing):
            type("Partial", (Env,), methods)()
    with pytest.raises(TypeError):
        Env()


def test_defaults():
    env = Plain()
    assert env.spec is None
    assert env.metadata == {}
    assert env.unwrapped is env
    assert env.close() is None
    assert str(env) == repr(env) == "<Plain>"
    for absent in ("observation_space", "action_space", "render", "render_mode", "np_random", "seed"):
        assert not hasattr(env, absent)


def test_str_shows_the_id_of_the_spec():
    env = Plain()
    env.spec = type("Spec", (), {"id": "Plain-v3"})()
    assert str(env) == repr(env) == "<Plain-v3>"


def test_reset_takes_keywords_only():
    with pytest.raises(TypeError):
        Plain().reset(3)
    assert list(inspect.signature(Env.reset).parameters) == ["self", "seed", "options"]


def test_async_methods_pass_everything_on():
    async def episode():
        env = Plain()
        return await env.async_reset(seed=4, options={"a": 1}), await env.async_step(2)

    reset, step = asyncio.run(episode())
    assert reset == ResetResult(4, {"options": {"a": 1}})
    assert step == StepResult(2, 0.0, False, False, {})


def test_attributes_by_name():
    env = Plain()
    assert not env.has_attr("gain")
    with pytest.raises(AttributeError, match="gain"):
        env.get_attr("gain")
    env.set_attr("gain", 3)
    assert env.has_attr("gain")
    assert env.get_attr("gain") == env.gain == 3
