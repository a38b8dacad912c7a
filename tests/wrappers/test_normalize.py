"""NormalizeObservation and NormalizeReward."""

import asyncio
import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekai import Box, Dict, Discrete, NormalizeObservation, NormalizeReward, RunningMeanStd

FRAMES = [np.array(frame, np.float64) for frame in ((1, 10), (3, 10), (2, 40), (8, 0))]
SPACE = Box(0, 99, (2,), np.float64)


def test_worked_values(reel):
    env = NormalizeObservation(reel(SPACE, FRAMES))
    seen = [env.reset().observation, *(env.step(0).observation for _ in range(3))]
    expected = [[0, 0], [1.00002499, 0], [4.0822e-05, 1.41424880], [1.67128125, -1.00000272]]
    np.testing.assert_allclose(seen, expected, atol=5e-9)  # the expected values have eight digits
    assert repr(env.obs_rms) == "RunningMeanStd(shape=(2,), count=4)"
    assert env.observation_space == Box(-np.inf, np.inf, (2,), np.float64)


def test_each_reset_step_and_call_updates_once(reel):
    env = NormalizeObservation(reel(SPACE, FRAMES), epsilon=0.5)
    stats = RunningMeanStd((2,))
    for frame, observe in ((FRAMES[0], env.reset), (FRAMES[1], lambda: env.step(0)), (FRAMES[2], None)):
        stats.update([frame])
        seen = env.observation(frame) if observe is None else observe().observation
        np.testing.assert_array_equal(seen, stats.normalize(frame, epsilon=0.5))
    env.update_running_mean = False
    env.reset()
    assert env.obs_rms.count == stats.count
    env.epsilon = 2.0
    assert env.epsilon == env.normalizer.epsilon == 2.0


def test_nested_observations(reel):
    space = Dict({"x": SPACE, "d": Discrete(3)})
    env = NormalizeObservation(reel(space, [{"x": FRAMES[0], "d": 2}]), stats="ewm", halflife=3.0, clip=4.0)
    assert env.reset().observation["d"] == 2
    assert (env.obs_rms["d"], env.obs_rms["x"].halflife, env.normalizer.clip) == (None, 3.0, 4.0)
    other = NormalizeObservation(reel(space), stats="ewm")
    other.load_state_dict(env.state_dict())
    assert repr(other.obs_rms) == repr(env.obs_rms)


def test_arguments_are_checked(reel):
    for arguments in ({"stats": "no"}, {"clip": -1.0}, {"halflife": 0, "stats": "ewm"}):
        with pytest.raises(ValueError, match=next(iter(arguments))):
            NormalizeObservation(reel(SPACE), **arguments)
    with pytest.raises(TypeError, match="Box"):
        NormalizeObservation(reel(Discrete(2)))


@given(st.lists(st.tuples(st.floats(-10, 10), st.booleans()), min_size=1, max_size=20), st.floats(0, 1))
def test_rewards_are_divided_by_the_deviation_of_the_return(reel, steps, gamma):
    base = reel()
    env = NormalizeReward(base, gamma, epsilon=1e-3)
    env.reset()
    stats, total = RunningMeanStd(), 0.0
    for reward, ends in steps:
        base.reward, base.length = reward, 0 if ends else 10**9
        total = gamma * total + reward
        stats.update([total])
        got = env.step(0).reward
        # One more rounding: a product with the inverse instead of a quotient.
        assert got == pytest.approx(reward / np.sqrt(stats.var + 1e-3), rel=1e-15)
        assert type(got) is float
        total = 0.0 if ends else total
        assert env._returns == total
    for name, value in stats.state_dict().items():
        assert env.state_dict()[name] == value


def test_frozen_returns_are_still_tracked(reel):
    env = NormalizeReward(reel(reward=2.0), gamma=0.5)
    env.reset()
    env.update_running_mean = False
    assert [env.step(0).reward for _ in range(2)] == [2.0 / np.sqrt(1 + 1e-8)] * 2
    assert (env._returns, env.return_rms.count) == (3.0, 1e-4)
    env.reset()
    assert env._returns == 0.0


def test_a_reward_that_is_not_finite_is_passed_on_and_left_out(reel):
    env = NormalizeReward(reel(reward=1.0))
    env.reset()
    env.step(0)
    before = env.state_dict(), env._returns
    env.unwrapped.reward = np.nan
    with pytest.warns(RuntimeWarning, match="left out"):
        assert np.isnan(env.step(0).reward)
    assert np.isnan(env.step(0).reward)  # reported once
    assert (env.state_dict(), env._returns) == before


def test_state_of_the_return(reel):
    env, other = NormalizeReward(reel(reward=3.0)), NormalizeReward(reel())
    env.reset()
    env.step(0)
    other.load_state_dict(env.state_dict())
    assert other.state_dict() == env.state_dict()
    with pytest.raises(ValueError, match="shape"):
        other.load_state_dict({"mean": np.zeros(2), "var": np.zeros(2), "count": 1.0})


def test_copies_go_on_alike(reel):
    env = NormalizeReward(NormalizeObservation(reel(SPACE, FRAMES, reward=2.0)))
    env.reset(seed=0)
    env.step(0)
    twins = [env, copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    results = [twin.step(0) for twin in twins]
    assert len({(result.reward, tuple(result.observation)) for result in results}) == 1


def test_async_does_the_same(reel):
    async def run(env):
        first = await env.async_reset(seed=0)
        return [first.observation, (await env.async_step(0)).reward]

    base = reel(SPACE, FRAMES, reward=2.0)
    env = NormalizeReward(NormalizeObservation(reel(SPACE, FRAMES, reward=2.0)))
    first, reward = asyncio.run(run(NormalizeReward(NormalizeObservation(base))))
    np.testing.assert_array_equal(first, env.reset(seed=0).observation)
    assert reward == env.step(0).reward
    assert base.awaited == 2
