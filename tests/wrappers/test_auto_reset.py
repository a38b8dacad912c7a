"""AutoReset."""

import asyncio

import numpy as np
import pytest

from sekai import (
    AutoReset,
    DelayAction,
    DelayObservation,
    FrameStackObservation,
    StickyAction,
    TimeAwareObservation,
    TimeLimit,
)


def test_the_next_episode_starts_where_one_ends(reel):
    env = AutoReset(reel(length=2))
    assert env.reset(seed=3).info == {"start": 3}
    assert env.step(0).info == {"k": 1}
    result = env.step(0)
    assert result.observation.tolist() == [0, 0]
    assert (result.reward, result.terminated, result.truncated) == (1.0, True, False)
    assert list(result.info) == ["k", "final_observation", "final_info", "reset_info"]
    assert result.info["final_observation"].tolist() == [2, -2]
    assert (result.info["final_info"], result.info["reset_info"]) == ({"k": 2}, {"start": None})
    assert env.step(0).info == {"k": 1}


def test_async_does_the_same_and_stays_async(reel):
    async def run(env):
        await env.async_reset(seed=0)
        return [await env.async_step(0) for _ in range(5)]

    base, twin = reel(length=2), AutoReset(reel(length=2))
    results = asyncio.run(run(AutoReset(base)))
    twin.reset(seed=0)
    for result in results:
        expected = twin.step(0)
        assert str(result) == str(expected)
    assert base.awaited == 1 + 5 + 2


def test_the_final_observation_survives_an_env_that_reuses_its_array(reel):
    class Buffer(reel):
        def _frame(self):
            self.frames[0][:] = self.k
            return self.frames[0]

    env = AutoReset(Buffer(frames=[np.zeros(2)], length=2))
    env.reset()
    env.step(0)
    assert env.step(0).info["final_observation"].tolist() == [2, 2]


def test_a_limit_outside_never_starts_anew(reel):
    with pytest.warns(UserWarning, match="outermost"):
        env = TimeLimit(AutoReset(reel(length=2)), 3)
    env.reset()
    flags = [(result.terminated, result.truncated) for result in (env.step(0) for _ in range(5))]
    assert flags == [(False, False), (True, False), (False, True), (True, True), (False, True)]


@pytest.mark.parametrize(
    "wrap",
    [
        lambda env: TimeLimit(env, 3),
        lambda env: FrameStackObservation(env, 3),
        lambda env: TimeAwareObservation(env, 3),
        lambda env: DelayObservation(env, 3),
        lambda env: StickyAction(env, 0.5),
        lambda env: DelayAction(env, 3, noop=0),
    ],
)
def test_wrappers_that_do_not_notice_resets_warn_their_maker(reel, wrap):
    with pytest.warns(UserWarning, match="outermost") as caught:
        env = wrap(AutoReset(reel()))
    assert [warning.filename for warning in caught] == [__file__]
    assert type(env).__name__ in str(caught[0].message)
    AutoReset(wrap(reel()))
