"""OrderEnforcing."""

import asyncio

import pytest

from sekai import OrderEnforcing, ResetRequired


def test_a_reset_must_come_first(reel):
    env = OrderEnforcing(reel())
    assert env.has_reset is False
    with pytest.raises(ResetRequired):
        env.step(0)
    with pytest.raises(ResetRequired):
        asyncio.run(env.async_step(0))
    assert env.unwrapped.actions == []
    env.reset()
    assert env.has_reset is True
    assert env.step(0).info == {"k": 1}


def test_a_reset_that_fails_does_not_count(reel):
    env = OrderEnforcing(reel())
    with pytest.raises(ValueError, match="bad options"):
        env.reset(options={"bad": 1})
    assert env.has_reset is False


def test_an_async_reset_counts(reel):
    env = OrderEnforcing(reel())
    asyncio.run(env.async_reset(seed=0))
    assert asyncio.run(env.async_step(0)).info == {"k": 1}
    assert env.unwrapped.awaited == 2
