"""Batches of gymnasium seen through sekai's API."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

import sekai
from sekai.compat import GymnasiumVectorToSekai, from_gymnasium_vector, to_gymnasium, to_gymnasium_vector
from sekai.envs.classic_control import ClassicControlEnv
from sekai.testing import check_vec_env

CLASSIC = [spec.id for spec in sekai.all_specs() if isinstance(sekai.make(spec.id).unwrapped, ClassicControlEnv)]
MODES = ["same_step", "next_step"]
N = 4
LEFT = np.zeros(N, int)


def theirs(mode="next_step", env_id="CartPole-v1", **kwargs):
    make = [lambda: gymnasium.make(env_id, **kwargs)] * N
    return from_gymnasium_vector(SyncVectorEnv(make, autoreset_mode=AutoresetMode[mode.upper()]))


def assert_same(first, second):
    assert first.observations.tobytes() == second.observations.tobytes()
    assert first.rewards.tolist() == second.rewards.tolist()
    assert first.terminated.tolist() == second.terminated.tolist()
    assert first.truncated.tolist() == second.truncated.tolist()
    assert first.valid.tolist() == second.valid.tolist()
    assert first.final_lanes.tolist() == second.final_lanes.tolist()
    assert first.final_observations.tobytes() == second.final_observations.tobytes()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("env_id", CLASSIC)
def test_the_same_as_ours(env_id, mode):
    batch = theirs(mode, env_id, max_episode_steps=30)
    ours = sekai.make_vec(env_id, N, math="libm", autoreset=mode, max_episode_steps=30)
    assert batch.batch_observation_space == ours.batch_observation_space
    ours.action_space.seed(0)
    seeds = [2, 7, 1, 8]
    starts = [vec.reset(seed=seeds).observations.tobytes() for vec in (batch, ours)]
    assert starts[0] == starts[1]
    for _ in range(100):
        actions = ours.action_space.sample_batch(N)
        first, second = batch.step(actions), ours.step(actions)
        assert_same(first, second)
        for i, info in enumerate(second.infos):
            assert first.infos[i].keys() | {"elapsed_steps"} == info.keys() | {"elapsed_steps"}


@pytest.mark.parametrize("mode", [*MODES, "disabled"])
def test_our_checker_passes(mode):
    assert check_vec_env(theirs(mode, max_episode_steps=20), n_steps=60) == []


@pytest.mark.parametrize("mode", MODES)
def test_our_checker_passes_there_and_back(mode):
    vec = sekai.make_vec("CartPole-v1", N, autoreset=mode)
    assert check_vec_env(from_gymnasium_vector(to_gymnasium_vector(vec)), n_steps=60) == []


def test_our_checker_passes_of_batches_written_in_numpy():
    venv = gymnasium.make_vec("CartPole-v1", N, vectorization_mode="vector_entry_point")
    assert check_vec_env(from_gymnasium_vector(venv), n_steps=60) == []


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", [3, [1, 2, 3, None], None])
def test_there_and_back_plays_the_same_episodes(mode, seed):
    ours = sekai.make_vec("CartPole-v1", N, autoreset=mode)
    bridged = from_gymnasium_vector(to_gymnasium_vector(sekai.make_vec("CartPole-v1", N, autoreset=mode)))
    ours.reset(seed=0), bridged.reset(seed=0)
    assert ours.reset(seed=seed).observations.tobytes() == bridged.reset(seed=seed).observations.tobytes()
    for _ in range(40):
        first, second = ours.step(LEFT), bridged.step(LEFT)
        assert_same(first, second)
        for i, info in enumerate(first.infos):
            other = second.infos[i]
            if "final_observation" in info:
                finals = [told.pop("final_observation").tobytes() for told in (info, other)]
                assert finals[0] == finals[1]
            assert other == info


def test_results_are_ours_to_keep():
    class Reusing(gymnasium.vector.VectorEnv):
        num_envs = N
        single_observation_space = gymnasium.spaces.Box(0, 1, (2,))
        single_action_space = gymnasium.spaces.Discrete(2)

        def __init__(self):
            self.memory = np.zeros((2, N))  # of another dtype, and not C-contiguous when it is returned
            self.flags, self.counts = np.zeros(N, np.int8), np.zeros(N, np.int32)

        def reset(self, *, seed=None, options=None):
            return self.memory.T, {}

        def step(self, actions):
            self.memory += 1
            self.counts += 1
            return self.memory.T, self.counts, self.flags, self.flags, {"count": self.counts}

    vec = from_gymnasium_vector(Reusing())
    assert vec.autoreset_mode == "next_step"
    start, first = vec.reset(), vec.step(LEFT)
    vec.step(LEFT)
    assert start.observations.tolist() == [[0, 0]] * N
    assert first.observations.tolist() == [[1, 1]] * N
    assert first.observations.dtype == np.float32
    assert first.observations.flags.c_contiguous
    assert first.rewards.dtype == np.float64
    assert first.rewards.tolist() == [1.0] * N
    assert first.terminated.dtype == np.bool_
    assert first.infos[2] == {"count": 1}
    with pytest.raises(NotImplementedError, match="resets all lanes at once"):
        vec.reset(mask=np.arange(N) == 0)
    for use in (lambda: vec.call("observe"), lambda: vec.get_attr("x"), lambda: vec.set_attr("x", 1)):
        with pytest.raises(NotImplementedError, match="and no lanes of its own"):
            use()


def test_attributes():
    vec = theirs()
    assert isinstance(vec, GymnasiumVectorToSekai)
    assert vec.num_envs == len(vec) == N
    assert vec.metadata["render_fps"] == 50
    assert str(vec) == f"<GymnasiumVectorToSekai{vec.gym_venv}>"
    assert vec.get_attr("gravity") == [9.8] * N
    vec.set_attr("gravity", [1.0, 2.0, 3.0, 4.0])
    assert vec.get_attr("gravity") == [1.0, 2.0, 3.0, 4.0]
    assert vec.call("get_wrapper_attr", "gravity") == [1.0, 2.0, 3.0, 4.0]
    vec.close()
    vec.close()
    with pytest.raises(sekai.error.VecEnvClosed):
        vec.reset()


def test_the_mode_stays():
    vec = theirs("next_step")
    vec.autoreset_mode = "next_step"
    with pytest.raises(ValueError, match=r"must be a bool or one of \('next_step',\), got 'same_step'"):
        vec.autoreset_mode = "same_step"


def test_order():
    vec = theirs()
    with pytest.raises(sekai.ResetRequired):
        vec.step(LEFT)
    with pytest.raises(sekai.ResetRequired, match="reset all lanes before"):
        vec.reset(mask=np.arange(N) == 0)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"seed": -1}, ValueError),
        ({"seed": [1]}, ValueError),
        ({"seed": 1.5}, TypeError),
        ({"seed": [np.random.default_rng(0)] * N}, TypeError),
        ({"options": [{}] * N}, TypeError),
        ({"mask": [True]}, ValueError),
        ({"mask": [1] * N}, TypeError),
    ],
)
def test_bad_arguments_of_reset(arguments, error):
    vec = theirs()
    first = vec.reset(seed=0).observations
    with pytest.raises(error, match=f"{next(iter(arguments))} must"):
        vec.reset(**arguments)
    assert vec.reset(mask=np.zeros(N, bool)).observations.tolist() == first.tolist()


@pytest.mark.parametrize("mode", [*MODES, "disabled"])
def test_reset_with_a_mask(mode):
    vec = theirs(mode, max_episode_steps=2)
    vec.reset(seed=0)
    mask = np.arange(N) < 2
    vec.step(LEFT)
    result = vec.step(LEFT)
    assert result.truncated.all()
    again = vec.reset(seed=[9] * N, mask=mask)
    assert (again.observations[~mask] == result.observations[~mask]).all()
    assert again.observations[0].tolist() == again.observations[1].tolist()
    assert [info for info in again.infos][2:] == [{}, {}]
    if mode == "disabled":
        with pytest.raises(NotImplementedError, match=r"lanes \[2, 3\] are over; reset those first"):
            vec.step(LEFT)
        vec.reset(mask=~mask)
    result = vec.step(LEFT)
    assert result.valid.tolist() == (mask if mode == "next_step" else np.ones(N, bool)).tolist()
    assert [info.get("reset", False) for info in result.infos] == (~result.valid).tolist()


def test_no_step_with_a_mask():
    vec = theirs()
    vec.reset(seed=0)
    vec.step(LEFT, mask=np.ones(N, bool))
    with pytest.raises(NotImplementedError, match="step all lanes"):
        vec.step(LEFT, mask=np.arange(N) < 2)


def test_seeds_go_straight_to_the_gymnasium_batch():
    vec = theirs()
    plain = SyncVectorEnv([lambda: gymnasium.make("CartPole-v1")] * N)
    for seed in (3, [1, 2, 3, None], None):
        assert vec.reset(seed=seed).observations.tolist() == plain.reset(seed=seed)[0].tolist()
    assert vec.reset(seed=[np.int64(1)] * N).observations.tolist() == plain.reset(seed=[1] * N)[0].tolist()


def test_action_masks(coin):
    make = lambda: to_gymnasium(type(coin)())  # noqa: E731
    lanes = from_gymnasium_vector(SyncVectorEnv([make] * 2))
    there_and_back = from_gymnasium_vector(to_gymnasium_vector(sekai.SyncVecEnv([type(coin)] * 2)))
    for vec in (lanes, there_and_back):
        assert sekai.get_action_mask(vec).tolist() == [[[True, True, False], [True, False, True]]] * 2
    assert sekai.get_action_mask(theirs()) is None


def test_asking_for_a_mask_leaves_worker_processes_alive():
    vec = from_gymnasium_vector(AsyncVectorEnv([lambda: gymnasium.make("CartPole-v1")] * 2))
    assert sekai.get_action_mask(vec) is None
    assert vec.reset(seed=[1, 2]).observations.shape == (2, 4)
    assert vec.step(np.zeros(2, int)).rewards.tolist() == [1.0, 1.0]
    vec.close()


def test_in_our_wrappers():
    vec = sekai.VecRecordEpisodeStatistics(theirs("same_step", max_episode_steps=5))
    vec.reset(seed=0)
    for _ in range(5):
        result = vec.step(LEFT)
    assert [info["episode"].episode_length for info in result.infos] == [5] * N
    rollout = sekai.rollout(theirs("next_step"), "random", 20, seed=0)
    assert rollout.observations.shape[:2] == (20, N)
