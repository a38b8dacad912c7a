"""TimeLimit."""

import asyncio
import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekai.core import Env, ResetResult, StepResult
from sekai.wrappers.time_limit import TimeLimit


class Scripted(Env):
    """Ends as told; fails when asked to."""

    def __init__(self, flags=()):
        self.flags = list(flags)

    def reset(self, *, seed=None, options=None):
        if options:
            raise ValueError("bad options")
        return ResetResult(0, {"start": True})

    def step(self, action):
        if action == "fail":
            raise KeyError(action)
        terminated, truncated = self.flags.pop(0) if self.flags else (False, False)
        return StepResult(action, 1.5, terminated, truncated, {"k": action})


@given(limit=st.integers(1, 8), flags=st.lists(st.tuples(st.booleans(), st.booleans()), max_size=12))
def test_steps_from_the_limit_on_are_truncated(limit, flags):
    env = TimeLimit(Scripted(flags), limit)
    assert env.elapsed_steps == 0
    assert env.reset() == ResetResult(0, {"start": True})
    for n, (terminated, truncated) in enumerate(flags, start=1):
        assert env.step(n) == StepResult(n, 1.5, terminated, truncated or n >= limit, {"k": n, "elapsed_steps": n})
        assert env.elapsed_steps == n


def test_reset_starts_counting_anew():
    env = TimeLimit(Scripted(), 2)
    assert [env.step(0).truncated for _ in range(3)] == [False, True, True]
    env.reset()
    assert [env.step(0).truncated for _ in range(2)] == [False, True]


def test_what_fails_does_not_count():
    env = TimeLimit(Scripted(), 2)
    env.step(0)
    with pytest.raises(KeyError):
        env.step("fail")
    with pytest.raises(ValueError, match="bad options"):
        env.reset(options={"bad": 1})
    assert env.elapsed_steps == 1


def test_the_inner_info_is_left_alone():
    info = {"k": 1}

    class Fixed(Scripted):
        def step(self, action):
            return StepResult(0, 0.0, False, False, info)

    assert list(TimeLimit(Fixed(), 2).step(0).info) == ["k", "elapsed_steps"]
    assert info == {"k": 1}


def test_async_counts_alike():
    async def episode(env):
        first = await env.async_reset()
        return first, [await env.async_step(n) for n in range(3)]

    env = TimeLimit(Scripted(), 2)
    first, steps = asyncio.run(episode(TimeLimit(Scripted(), 2)))
    assert first == env.reset()
    assert steps == [env.step(n) for n in range(3)]


def test_the_limit_can_be_changed():
    env = TimeLimit(Scripted(), np.int32(5))
    assert type(env.max_episode_steps) is int
    env.max_episode_steps = 1
    assert env.step(0).truncated is True
    with pytest.raises(AttributeError):
        env.elapsed_steps = 0


def test_a_copy_counts_on_from_where_it_was():
    env = TimeLimit(Scripted(), 3)
    env.step(0)
    twin = copy.deepcopy(env)
    env.step(0)
    assert (env.elapsed_steps, twin.elapsed_steps) == (2, 1)


@pytest.mark.parametrize(("limit", "error"), [(0, ValueError), (-5, ValueError), (2.5, TypeError), ("3", TypeError)])
def test_limits_are_counts(limit, error):
    with pytest.raises(error, match="max_episode_steps"):
        TimeLimit(Scripted(), limit)


def test_the_limit_is_checked_before_the_env():
    with pytest.raises(ValueError, match="max_episode_steps"):
        TimeLimit(None, 0)
    with pytest.raises(TypeError, match=r"sekai\.Env"):
        TimeLimit(None, 3)
