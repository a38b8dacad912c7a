"""Next-step autoreset against gymnasium's vector env in that mode: the same rows, bit for bit."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import sekai

IDS = ("CartPole-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Pendulum-v1", "Acrobot-v1")
LIMIT, LANES, STEPS = 23, 6, 200


@pytest.mark.parametrize("env_id", IDS)
def test_rows_are_those_of_gymnasium(env_id):
    ours = sekai.make_vec(env_id, LANES, max_episode_steps=LIMIT, math="libm", vector_kwargs={"autoreset": "next_step"})
    theirs = SyncVectorEnv(
        [lambda: gymnasium.make(env_id, max_episode_steps=LIMIT)] * LANES, autoreset_mode=AutoresetMode.NEXT_STEP
    )
    seeds = list(range(40, 40 + LANES))
    assert ours.reset(seed=seeds).observations.tobytes() == theirs.reset(seed=seeds)[0].tobytes()
    theirs.action_space.seed(1)
    ends = 0
    for _ in range(STEPS):
        actions = theirs.action_space.sample()
        waited = ours._book_row("ending") != 0
        result = ours.step(actions)
        observations, rewards, terminated, truncated, _ = theirs.step(actions)
        assert result.observations.tobytes() == observations.tobytes()
        assert result.rewards.tobytes() == np.asarray(rewards, np.float64).tobytes()
        assert np.array_equal(result.terminated, terminated)
        assert np.array_equal(result.truncated, truncated)
        assert np.array_equal(result.valid, ~waited)
        assert [info.get("reset", False) for info in result.infos] == waited.tolist()
        ends += result.dones.sum()
    theirs.close()
    assert ends > LANES
