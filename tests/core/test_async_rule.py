"""Awaiting never skips an override: the cases of the rule, for single-agent and multi-agent environments."""

import asyncio
import inspect

import pytest

from sekai.core import Env, MAResetResult, MAStepResult, MultiAgentEnv, ResetResult, StepResult, Wrapper


class SyncEnv(Env):
    """Defines the sync methods only; notes what ran."""

    def __init__(self):
        self.ran = []

    def reset(self, *, seed=None, options=None):
        self.ran.append("reset")
        return ResetResult((seed, options), {})

    def step(self, action):
        self.ran.append("step")
        return StepResult(action, 0.0, False, False, {})


class AsyncEnv(SyncEnv):
    """Defines all four methods."""

    def reset(self, *, seed=None, options=None):
        return super().reset(seed=seed, options=options)

    def step(self, action):
        return super().step(action)

    async def async_reset(self, *, seed=None, options=None):
        self.ran.append("async_reset")
        return ResetResult((seed, options), {})

    async def async_step(self, action):
        self.ran.append("async_step")
        return StepResult(action, 0.0, False, False, {})


def ran(env):
    """What an awaited reset and an awaited step of `env` run."""
    base = env.unwrapped
    base.ran.clear()

    async def episode():
        assert (await env.async_reset(seed=3, options={"k": 1})).observation == (3, {"k": 1})
        assert (await env.async_step(7)).observation == 7

    asyncio.run(episode())
    return base.ran


class StepOverride(AsyncEnv):
    def step(self, action):
        self.ran.append("override")
        return StepResult(action, 0.0, False, False, {})


class StepWrapper(Wrapper):
    def step(self, action):
        self.unwrapped.ran.append("wrapper step")
        return self.env.step(action)


class ResetWrapper(Wrapper):
    def reset(self, *, seed=None, options=None):
        self.unwrapped.ran.append("wrapper reset")
        return self.env.reset(seed=seed, options=options)


class StepMixin:
    def step(self, action):
        self.unwrapped.ran.append("mixin step")
        return super().step(action)


class MixedWrapper(StepMixin, Wrapper):
    """The mixin comes before the wrapper, whose async_step would skip it."""


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        (SyncEnv(), ["reset", "step"]),
        (AsyncEnv(), ["async_reset", "async_step"]),
        (StepOverride(), ["async_reset", "override"]),
        (Wrapper(AsyncEnv()), ["async_reset", "async_step"]),
        (StepWrapper(AsyncEnv()), ["async_reset", "wrapper step", "step"]),
        (ResetWrapper(AsyncEnv()), ["wrapper reset", "reset", "async_step"]),
        (MixedWrapper(AsyncEnv()), ["async_reset", "mixin step", "step"]),
        (Wrapper(StepWrapper(AsyncEnv())), ["async_reset", "wrapper step", "step"]),
    ],
    ids=["sync", "async", "override", "wrapper", "step wrapper", "reset wrapper", "mixin", "stack"],
)
def test_what_awaiting_runs(env, expected):
    assert ran(env) == expected


def test_chaining_to_super_runs_each_layer_once():
    class Both(StepWrapper):
        def step(self, action):
            self.unwrapped.ran.append("both step")
            return super().step(action)

        async def async_step(self, action):
            self.unwrapped.ran.append("both async_step")
            return await super().async_step(action)

    assert ran(Both(AsyncEnv())) == ["async_reset", "both async_step", "wrapper step", "step"]


def test_installed_methods_say_what_they_are():
    method = StepWrapper.__dict__["async_step"]
    assert method.__name__ == "async_step"
    assert method.__qualname__ == "StepWrapper.async_step"
    assert method.__module__ == __name__
    assert "StepWrapper.step" in method.__doc__
    assert inspect.iscoroutinefunction(method)


def test_nothing_is_installed_without_need():
    assert "async_reset" not in StepWrapper.__dict__
    assert not {"async_reset", "async_step"} & vars(StepMixin).keys()
    assert AsyncEnv.__dict__["async_step"].__doc__ is None


def test_multi_agent_envs_follow_the_rule_too():
    class Async(MultiAgentEnv):
        def reset(self, *, seed=None, options=None):
            return MAResetResult({}, {})

        def step(self, actions):
            return MAStepResult({}, {}, {}, {}, {"ran": "step"})

        async def async_step(self, actions):
            return MAStepResult({}, {}, {}, {}, {"ran": "async_step"})

    class Override(Async):
        def step(self, actions):
            return MAStepResult({}, {}, {}, {}, {"ran": "override"})

    assert asyncio.run(Async().async_step({})).info == {"ran": "async_step"}
    assert asyncio.run(Override().async_step({})).info == {"ran": "override"}
