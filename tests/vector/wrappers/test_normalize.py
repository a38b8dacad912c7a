"""VecNormalizeObservation and VecNormalizeReward."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sekai


def test_all_lanes_share_the_statistics(meander):
    vec = sekai.VecNormalizeObservation(sekai.SyncVecEnv([meander] * 4))
    bare, stats = sekai.SyncVecEnv([meander] * 4), sekai.RunningMeanStd((2,))
    raw, seen = bare.reset(seed=0).observations, vec.reset(seed=0).observations
    stats.update(raw)
    np.testing.assert_array_equal(seen, stats.normalize(raw))
    for _ in range(10):
        actions = np.zeros((4, 2), np.float32)
        raw, seen = bare.step(actions), vec.step(actions)
        stats.update(raw.observations)
        np.testing.assert_array_equal(seen.observations, stats.normalize(raw.observations))
        # Final observations are normalised, but are no samples.
        for before, after in zip(raw.infos, seen.infos, strict=True):
            if "final_observation" in before:
                expected = stats.normalize(before["final_observation"])
                np.testing.assert_array_equal(after["final_observation"], expected)
    assert repr(vec.obs_rms) == repr(stats)


@given(seed=st.integers(0, 2**32), stats=st.sampled_from(["running", "ewm"]), clip=st.none() | st.just(1.0))
@settings(max_examples=20)
def test_a_batch_of_one_lane_is_a_single_environment(meander, same, seed, stats, clip):
    arguments = {"stats": stats, "halflife": 3.0, "clip": clip}
    single = sekai.NormalizeReward(sekai.NormalizeObservation(meander(), **arguments), gamma=0.8)
    batch = sekai.VecNormalizeObservation(sekai.SyncVecEnv([meander], autoreset=False), **arguments)
    batch = sekai.VecNormalizeReward(batch, gamma=0.8)
    for start in (seed, None, None):
        one, all_ = single.reset(seed=start), batch.reset(seed=None if start is None else [start])
        assert same(all_.observations[0], one.observation)
        while not one.done:
            action = np.ones(2, np.float32)
            one, all_ = single.step(action), batch.step(action[None])
            assert same(all_.observations[0], one.observation)
            assert all_.rewards[0] == one.reward
    assert same(batch.state_dict(), single.state_dict())
    assert same(batch.venv.state_dict(), single.env.state_dict())


@pytest.mark.parametrize("mode", ["same_step", "next_step", "disabled"])
def test_only_transitions_and_resets_are_samples(meander, mode):
    vec = sekai.VecNormalizeReward(sekai.VecNormalizeObservation(sekai.SyncVecEnv([meander] * 3, autoreset=mode)))
    rng, rows, returns = np.random.default_rng(0), 3, 0
    vec.reset(seed=0)
    for t in range(30):
        mask = rng.random(3) < 0.6 if t % 2 else None
        result = vec.step(np.zeros((3, 2), np.float32), mask)
        rows, returns = rows + int(result.valid.sum()), returns + int(result.valid.sum())
        if t % 9 == 8:
            chosen = np.array([True, False, True])
            vec.reset(mask=chosen)
            rows += 2
    assert vec.venv.obs_rms.count == pytest.approx(rows + 1e-4, rel=1e-12)  # 1e-4 is added first
    assert vec.return_rms.count == pytest.approx(returns + 1e-4, rel=1e-12)


@pytest.mark.parametrize("mode", ["same_step", "next_step", "disabled"])
def test_lanes_that_are_left_out_repeat_their_observations(meander, mode):
    vec = sekai.VecNormalizeObservation(sekai.SyncVecEnv([meander] * 4, autoreset=mode))
    rng, last = np.random.default_rng(0), vec.reset(seed=0).observations
    actions = np.zeros((4, 2), np.float32)
    for _ in range(30):
        mask, over = rng.random(4) < 0.6, vec._progress.over
        result = vec.step(actions, mask)
        left_out = ~mask | (over if mode == "disabled" else False)
        np.testing.assert_array_equal(result.observations[left_out], last[left_out])
        chosen = rng.random(4) < 0.2
        reset = vec.reset(mask=chosen).observations
        np.testing.assert_array_equal(reset[~chosen], result.observations[~chosen])
        last = reset.copy()
        reset[:] = 99.0  # what was returned is the caller's


def test_worked_values_of_rewards(meander):
    class Fixed(meander):
        def __init__(self, length):
            super().__init__(actions=sekai.Discrete(9))
            self.length = length

        def step(self, action):
            self.k += 1
            return sekai.StepResult(np.zeros(2), float(action), self.k >= self.length, False, {})

    vec = sekai.VecNormalizeReward(sekai.SyncVecEnv([lambda: Fixed(2), lambda: Fixed(3)]), gamma=0.9)
    vec.reset(seed=0)
    rewards = [vec.step(actions).rewards for actions in ([1, 2], [1, 2], [3, 0])]
    expected = [[1.99985, 3.99970], [0.98443, 1.96886], [3.09314, 0]]
    np.testing.assert_allclose(rewards, expected, atol=5e-6)  # the expected values have five decimals
    vec.update_running_mean = False
    count = vec.return_rms.count
    vec.step([1, 1])
    assert vec.return_rms.count == count


def test_a_lane_with_nan_is_left_out(meander):
    class Broken(meander):
        def _look(self):
            return np.array([np.nan, 1.0]) if self.k == 1 else super()._look()

        def step(self, action):
            result = super().step(action)
            reward = np.nan if self.k == 1 else result.reward
            return sekai.StepResult(result.observation, reward, False, False, {})

    vec = sekai.SyncVecEnv([meander, Broken], autoreset=False)
    vec = sekai.VecNormalizeReward(sekai.VecNormalizeObservation(vec))
    vec.reset(seed=0)
    with pytest.warns(RuntimeWarning, match="left out") as caught:
        result = vec.step(np.zeros((2, 2), np.float32))
    assert len(caught) == 2
    assert np.isnan(result.observations[1, 0])
    assert np.isnan(result.rewards[1])
    assert (vec.venv.obs_rms.count, vec.return_rms.count) == (3.0001, 1.0001)
    assert np.isfinite(vec.step(np.zeros((2, 2), np.float32)).rewards[1])


def test_statistics_go_from_training_to_a_single_environment(meander, tmp_path):
    vec = sekai.VecNormalizeReward(sekai.VecNormalizeObservation(sekai.SyncVecEnv([meander] * 4)))
    vec.reset(seed=0)
    for _ in range(5):
        vec.step(np.zeros((4, 2), np.float32))
    sekai.utils.save_statistics(vec, tmp_path / "statistics.npz")
    env = sekai.NormalizeReward(sekai.NormalizeObservation(meander()))
    sekai.utils.load_statistics(env, tmp_path / "statistics.npz")
    assert repr(env.env.obs_rms) == repr(vec.venv.obs_rms)
    assert env.return_rms.var == vec.return_rms.var


def test_arguments_are_checked(meander):
    base = sekai.SyncVecEnv([meander])
    with pytest.raises(ValueError, match="stats"):
        sekai.VecNormalizeObservation(base, stats="no")
    vec = sekai.VecNormalizeObservation(base, 0.5)
    vec.epsilon = 2.0
    assert vec.epsilon == vec.normalizer.epsilon == 2.0
