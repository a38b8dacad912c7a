"""Batches of sekai seen through gymnasium's API."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import sekai
from sekai.compat import SekaiToGymnasiumVector, to_gymnasium_vector
from sekai.envs.classic_control import ClassicControlEnv

CLASSIC = [spec.id for spec in sekai.all_specs() if isinstance(sekai.make(spec.id).unwrapped, ClassicControlEnv)]
IDS = [spec.id for spec in sekai.all_specs() if isinstance(sekai.make(spec.id), sekai.Env)]
MODES = ["same_step", "next_step"]
N = 4


def cartpoles(**kwargs):
    return to_gymnasium_vector(sekai.make_vec("CartPole-v1", N, **kwargs))


def gymnasiums(env_id, mode, n=N):
    return SyncVectorEnv([lambda: gymnasium.make(env_id)] * n, autoreset_mode=AutoresetMode[mode.upper()])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("env_id", CLASSIC)
def test_the_same_as_gymnasiums_own(env_id, mode):
    ours = to_gymnasium_vector(sekai.make_vec(env_id, N, math="libm", autoreset=mode, max_episode_steps=30))
    theirs = SyncVectorEnv(
        [lambda: gymnasium.make(env_id, max_episode_steps=30)] * N, autoreset_mode=AutoresetMode[mode.upper()]
    )
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert ours.metadata["autoreset_mode"] is theirs.metadata["autoreset_mode"]
    ours.action_space.seed(0)
    seeds = [3, 1, 4, 1]
    assert ours.reset(seed=seeds)[0].tobytes() == theirs.reset(seed=seeds)[0].tobytes()
    for _ in range(100):
        actions = ours.action_space.sample()
        *first, infos = ours.step(actions)
        *second, their_infos = theirs.step(actions)
        for mine, other in zip(first, second, strict=True):
            assert mine.dtype == other.dtype
            assert mine.tobytes() == other.tobytes()
        assert ("final_obs" in infos) is ("final_obs" in their_infos)
        if "final_obs" in infos:
            assert infos["_final_obs"].tolist() == their_infos["_final_obs"].tolist()
            for mine, other in zip(infos["final_obs"], their_infos["final_obs"], strict=True):
                assert (mine is None) is (other is None)
                assert mine is None or mine.tobytes() == other.tobytes()


def test_nothing_is_copied():
    class Spy(sekai.VecWrapper):
        def reset(self, **kwargs):
            self.last = super().reset(**kwargs)
            return self.last

        def step(self, actions, mask=None):
            self.last = super().step(actions, mask)
            return self.last

    spy = Spy(sekai.make_vec("CartPole-v1", N))
    env = to_gymnasium_vector(spy)
    assert env.reset(seed=0)[0] is spy.last.observations
    observations, rewards, terminated, truncated, _ = env.step(np.zeros(N, int))
    result = spy.last
    assert observations is result.observations
    assert rewards is result.rewards
    assert terminated is result.terminated
    assert truncated is result.truncated


@pytest.mark.parametrize("mode", [*MODES, "disabled"])
def test_the_mode_is_that_of_the_batch(mode):
    env = cartpoles()
    env.sekai_vec.autoreset_mode = mode
    assert env.metadata["autoreset_mode"] is AutoresetMode[mode.upper()]
    assert env.metadata["render_modes"] == []


def test_attributes():
    env = cartpoles()
    assert isinstance(env, SekaiToGymnasiumVector)
    assert (env.num_envs, env.render_mode, env.spec) == (N, None, None)
    assert env.unwrapped is env
    assert env.single_observation_space.shape == (4,)
    assert env.observation_space.shape == (N, 4)
    assert str(env) == f"<SekaiToGymnasiumVector{env.sekai_vec}>"
    assert env.get_attr("gravity") == (9.8,) * N
    env.set_attr("gravity", (1.0, 2.0, 3.0, 4.0))
    assert env.get_attr("gravity") == (1.0, 2.0, 3.0, 4.0)
    env.reset(seed=0)
    assert len(env.call("observe")) == N
    env.close()
    env.close()
    assert env.closed
    assert env.sekai_vec.closed


def test_the_batch_outlives_the_bridge():
    vec = sekai.make_vec("CartPole-v1", N)
    to_gymnasium_vector(vec)
    assert not vec.closed


def test_seeds():
    env, vec = cartpoles(), sekai.make_vec("CartPole-v1", N)
    for seed in (5, [1, 2, 3, None], None):
        assert env.reset(seed=seed)[0].tolist() == vec.reset(seed=seed).observations.tolist()
    assert env.reset(seed=(1, 2, 3, 4))[0].tolist() == vec.reset(seed=[1, 2, 3, 4]).observations.tolist()
    env.reset(seed=np.int64(5))
    assert env.np_random_seed == 5
    state = env.np_random.bit_generator.state
    env.reset(seed=[1, 2, 3, 4])
    assert env.np_random.bit_generator.state == state
    env.reset(seed=5)
    assert env.np_random.bit_generator.state == state
    more = sekai.make_vec("CartPole-v1", N + 1).reset(seed=5).observations[N]  # its stream is that of one more lane
    assert env.np_random.bit_generator.seed_seq.spawn_key == (N,)
    assert not np.isin(more, env.reset(seed=5)[0]).any()


@pytest.mark.parametrize("seed", [-1, 1.5, "1"])
def test_bad_seeds(seed):
    env = cartpoles()
    env.reset(seed=5)
    with pytest.raises((TypeError, ValueError), match="seed must be"):
        env.reset(seed=seed)
    assert env.np_random_seed == 5


def test_options_and_reset_mask():
    env = cartpoles()
    first = env.reset(seed=0, options={"low": 0.01, "high": 0.02})[0]
    assert ((first >= 0.01) & (first <= 0.02)).all()
    mask = np.array([True, False, False, True])
    options = {"reset_mask": mask, "low": -0.02, "high": -0.01}
    second = env.reset(seed=[1, 2, 3, 4], options=options)[0]
    assert (second[~mask] == first[~mask]).all()
    assert (second[mask] < 0).all()
    assert list(options) == ["reset_mask", "low", "high"]


@pytest.mark.parametrize(
    ("mask", "error"),
    [
        ([True] * N, TypeError),
        (np.ones(N, int), TypeError),
        (np.ones(N + 1, bool), ValueError),
        (np.zeros(N, bool), ValueError),
    ],
)
def test_bad_reset_masks(mask, error):
    env = cartpoles()
    first = env.reset(seed=0)[0]
    with pytest.raises(error, match=r"options\['reset_mask'\] must"):
        env.reset(seed=1, options={"reset_mask": mask})
    assert env.sekai_vec.reset(mask=np.zeros(N, bool)).observations.tolist() == first.tolist()


def test_without_autoreset_lanes_wait_for_a_reset():
    env = cartpoles(autoreset="disabled", max_episode_steps=2)
    env.reset(seed=0)
    for _ in range(3):
        observations, rewards, _, truncated, infos = env.step(np.zeros(N, int))
    assert truncated.all()
    assert not rewards.any()
    assert infos == {}
    mask = np.arange(N) == 1
    assert (env.reset(options={"reset_mask": mask})[0] == observations).all(axis=1).tolist() == (~mask).tolist()
    assert env.step(np.zeros(N, int))[1].tolist() == [0.0, 1.0, 0.0, 0.0]


def test_action_masks(coin):
    env = to_gymnasium_vector(sekai.SyncVecEnv([type(coin)] * 2))
    assert env.action_masks().tolist() == [[True, True, True, False, True]] * 2
    assert not hasattr(cartpoles(), "action_masks")


def test_sloppy_environments(coin):
    with sekai.SyncVecEnv([type(coin)] * 2) as vec:
        env = to_gymnasium_vector(vec)
        observations, infos = env.reset(seed=0)
        assert env.observation_space.contains(observations)
        assert infos["steps"].tolist() == [0, 0]
        for _ in range(3):
            observations, *_, infos = env.step(env.action_space.sample())
        assert env.observation_space.contains(observations)
        assert infos["final_obs"][1].keys() == {"side", "luck"}
        assert infos["final_info"]["steps"].tolist() == [3, 3]
        assert infos["steps"].tolist() == [0, 0]


@pytest.mark.parametrize("mode", MODES)
def test_in_gymnasiums_wrappers(mode):
    env = gymnasium.wrappers.vector.RecordEpisodeStatistics(cartpoles(autoreset=mode, max_episode_steps=5))
    if mode == "next_step":  # the only one that gymnasium's wrappers of observations are made for
        env = gymnasium.wrappers.vector.DtypeObservation(env, np.float64)
    env.reset(seed=0)
    for _ in range(5):
        observations, *_, infos = env.step(np.array([0, 1, 0, 1]))
    assert observations.dtype == (np.float64 if mode == "next_step" else np.float32)
    assert infos["episode"]["l"].tolist() == [5] * N
    assert ("final_obs" in infos) is (mode == "same_step")


@pytest.mark.parametrize("env_id", IDS)
def test_arrays_are_handed_over_by_dlpack(env_id):
    env = to_gymnasium_vector(sekai.make_vec(env_id, N))
    observations, _ = env.reset(seed=0)
    *step, _ = env.step(env.action_space.sample())
    for array in (*leaves(observations), *leaves(step[0]), *step[1:]):
        assert array.flags.c_contiguous
        shared = np.from_dlpack(array)
        assert np.shares_memory(shared, array)
        assert np.array_equal(shared, array, equal_nan=array.dtype.kind == "f")


def leaves(observations):
    if not isinstance(observations, dict):
        return [observations]
    return [leaf for part in observations.values() for leaf in leaves(part)]


def test_torch_takes_them_without_a_copy():
    torch = pytest.importorskip("torch")
    observations, _ = cartpoles().reset(seed=0)
    tensor = torch.from_dlpack(observations)
    assert tensor.data_ptr() == observations.ctypes.data
    assert tensor.shape == (N, 4)


def test_jax_takes_them():
    jax = pytest.importorskip("jax")
    observations, _ = cartpoles().reset(seed=0)
    assert jax.dlpack.from_dlpack(observations).tolist() == observations.tolist()
