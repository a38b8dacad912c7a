"""From wrappers to their vector twins."""

import warnings

import numpy as np
import pytest

import sekai
from sekai.vector.twins import TWINS

LIMIT = {"max_episode_steps": 9}


@pytest.mark.parametrize(
    ("wrap", "drop"),
    [
        (lambda env: sekai.TimeLimit(env, 6), set()),
        (sekai.OrderEnforcing, set()),
        (sekai.FlattenObservation, set()),
        (lambda env: sekai.FrameStackObservation(env, 3, padding="zeros"), set()),
        (lambda env: sekai.TransformObservation(env, lambda obs: obs[:2], sekai.Box(-9, 9, (2,))), set()),
        (lambda env: sekai.DtypeObservation(env, np.float64), set()),
        (lambda env: sekai.TimeAwareObservation(env, dict_key="t"), set()),
        (lambda env: sekai.TimeAwareObservation(env, 5, normalize_time=False), set()),
        (lambda env: sekai.DelayObservation(env, 2, padding="reset"), set()),
        (lambda env: sekai.StickyAction(env, 0.5), set()),
        (lambda env: sekai.ActionRepeat(env, 2), set()),
        (lambda env: sekai.DelayAction(env, 1, noop=1), set()),
        (lambda env: sekai.TransformReward(env, lambda reward: -reward), set()),
        (lambda env: sekai.ClipReward(env, None, 0.5), set()),
        (sekai.RecordEpisodeStatistics, {"episode", "final_info"}),
    ],
)
def test_a_native_batch_with_twins_does_what_wrapped_environments_do(wrap, drop):
    native = sekai.make_vec("CartPole-v1", 3, wrappers=[wrap], **LIMIT)
    sync = sekai.make_vec("CartPole-v1", 3, wrappers=[wrap], vectorization_mode="sync", **LIMIT)
    assert isinstance(getattr(native, "unwrapped", native), sekai.KernelVecEnv)
    assert native.observation_space == sync.observation_space
    np.testing.assert_array_equal(native.reset(seed=0).observations, sync.reset(seed=0).observations)
    rng = np.random.default_rng(0)
    for _ in range(30):
        actions = rng.integers(2, size=3)
        one, other = native.step(actions), sync.step(actions)
        for name in ("observations", "rewards", "terminated", "truncated", "final_lanes"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        for info, twin in zip(one.infos, other.infos, strict=True):
            assert info.keys() - drop == twin.keys() - drop
            if "final_observation" in info:
                np.testing.assert_array_equal(info["final_observation"], twin["final_observation"])


def test_normalisers_keep_what_they_were_given():
    def prepared(env):
        env = sekai.NormalizeObservation(env, 0.5, stats="ewm", halflife=7.0, clip=2.0)
        env.obs_rms.update(np.ones((3, 4)))
        env.update_running_mean = False
        return sekai.NormalizeReward(env, 0.5, 0.25)

    rewards = sekai.make_vec("CartPole-v1", 2, wrappers=[prepared])
    observations = rewards.venv
    normalizer = observations.normalizer
    assert (normalizer.kind, normalizer.halflife, normalizer.epsilon, normalizer.clip) == ("ewm", 7.0, 0.5, 2.0)
    assert observations.obs_rms.mean.tolist() == [1.0] * 4
    assert (observations.update_running_mean, rewards.update_running_mean) == (False, True)
    assert (rewards.gamma, rewards.epsilon) == (0.5, 0.25)


def test_a_recorder_keeps_its_tracker():
    tracker = sekai.InMemoryTracker(7)
    vec = sekai.make_vec("CartPole-v1", 2, wrappers=[lambda env: sekai.RecordEpisodeStatistics(env, tracker)])
    assert vec.tracker is tracker


def test_arguments_go_over_to_twins_for_other_spaces():
    slots = sekai.Dict({"s": sekai.Sequence(sekai.Box(0, 1, (1,)), max_length=4), "b": sekai.Box(-1, 1, (2,))})

    class Env(sekai.Env):
        observation_space, action_space = slots, sekai.Box(-2, 2, (2,))

        def reset(self, *, seed=None, options=None):
            return sekai.ResetResult({"s": (), "b": np.zeros(2, np.float32)}, {})

        def step(self, action):
            return sekai.StepResult({"s": (), "b": np.zeros(2, np.float32)}, 0.0, False, False, {})

        def action_mask(self):
            return [1, 0]

    def of(wrap, around=lambda env: env):
        wrapped = wrap(around(Env()))
        return TWINS[type(wrapped)](sekai.SyncVecEnv([lambda: around(Env())]), wrapped)

    padded = of(lambda env: sekai.PadSequenceObservation(env, 3, truncate="head"))
    assert (padded.max_length, padded.truncate) == (3, "head")
    assert of(lambda env: sekai.FilterObservation(env, ["b"])).keys == ("b",)
    assert of(lambda env: sekai.ActionMaskObservation(env, key="k")).key == "k"
    assert type(of(sekai.ClipAction)) is sekai.VecClipAction
    scaled = of(lambda env: sekai.RescaleAction(env, -1, [1, 3]))
    assert (scaled.min_action.tolist(), scaled.max_action.tolist()) == ([-1, -1], [1, 3])
    only = of(
        lambda env: sekai.RescaleObservation(env, [0, 1], 5),
        lambda env: sekai.TransformObservation(env, lambda obs: obs["b"], slots["b"]),
    )
    assert (only.min_obs.tolist(), only.max_obs.tolist()) == ([0, 1], [5, 5])


def test_every_wrapper_has_a_twin_or_a_reason():
    names = {cls.__name__ for cls in TWINS}
    assert set(sekai.wrappers.__all__) - names == {"AutoReset"}  # the batch resets by itself
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert isinstance(sekai.make_vec("CartPole-v1", wrappers=[sekai.AutoReset]), sekai.SyncVecEnv)
