"""gymnasium environments seen through sekai's API."""

import asyncio

import gymnasium
import numpy as np
import pytest

import sekai
from sekai.compat import GymnasiumRenderer, GymnasiumToSekai, from_gymnasium
from sekai.envs.classic_control import ClassicControlEnv

CLASSIC = [spec.id for spec in sekai.all_specs() if isinstance(sekai.make(spec.id).unwrapped, ClassicControlEnv)]
TOY_TEXT = [spec.id for spec in gymnasium.registry.values() if "toy_text" in str(spec.entry_point)]


class Sloppy(gymnasium.Env):
    """Returns what its spaces do not declare, and masks actions."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 7}  # noqa: RUF012
    render_mode = "rgb_array"
    closed = False

    def __init__(self):
        self.observation_space = gymnasium.spaces.Box(0, 1, (2,))
        self.action_space = gymnasium.spaces.MultiDiscrete([2, 2])
        self.info = {"a": 1}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.np_random.random(2), self.info

    def step(self, action):
        return self.np_random.random(2), np.float32(0.5), np.bool_(True), 0, self.info

    def render(self):
        return np.zeros((4, 5, 3), np.uint8)

    def close(self):
        self.closed = True

    def action_masks(self):
        return np.array([True, False, True, True])


@pytest.mark.parametrize("env_id", CLASSIC + TOY_TEXT)
def test_our_checker_passes(env_id):
    assert sekai.check_env(from_gymnasium(gymnasium.make(env_id))) == []


@pytest.mark.parametrize("env_id", CLASSIC)
def test_the_same_as_ours(env_id):
    theirs, ours = from_gymnasium(gymnasium.make(env_id)), sekai.make(env_id, math="libm")
    assert theirs.observation_space == ours.observation_space
    assert theirs.action_space == ours.action_space
    ours.action_space.seed(0)
    for seed in (0, np.random.default_rng(1), None, 2):
        start = [
            env.reset(seed=np.random.default_rng(1) if isinstance(seed, np.random.Generator) else seed)
            for env in (theirs, ours)
        ]
        assert start[0].observation.tobytes() == start[1].observation.tobytes()
        done = False
        while not done:
            action = ours.action_space.sample()
            first, second = theirs.step(action), ours.step(action)
            assert first.observation.tobytes() == second.observation.tobytes()
            parts = (first.reward, first.terminated, first.truncated)
            assert parts == (second.reward, second.terminated, second.truncated)
            done = first.done


def test_results_are_normalised_and_infos_copied():
    env = from_gymnasium(Sloppy())
    assert isinstance(env, GymnasiumToSekai)
    start = env.reset(seed=3, options={"x": 1})
    assert start.observation.dtype == np.float32
    assert start.observation.tolist() == np.random.default_rng(3).random(2).astype(np.float32).tolist()
    start.info["a"] = 2
    result = env.step(np.array([0, 0]))
    assert (result.reward, result.terminated, result.truncated, result.info) == (0.5, True, False, {"a": 1})
    assert [type(part) for part in (result.reward, result.terminated, result.truncated)] == [float, bool, bool]


def test_attributes():
    env = from_gymnasium(Sloppy())
    assert env.metadata == Sloppy.metadata
    assert env.metadata is not Sloppy.metadata
    assert (env.spec, env.unwrapped) == (None, env)
    assert str(env) == f"<GymnasiumToSekai{env.gym_env}>"
    env.close()
    assert env.gym_env.closed


def test_seeds_go_straight_to_the_gymnasium_env():
    env = from_gymnasium(gymnasium.make("CartPole-v1"))
    assert env.reset(seed=np.int64(3)).observation.tolist() == env.reset(seed=3).observation.tolist()
    assert env._rng_seed == 3
    rng, twin = np.random.default_rng(3), np.random.default_rng(3)
    for seed in (rng, None):
        assert env.reset(seed=seed).observation.tolist() == twin.uniform(-0.05, 0.05, 4).astype(np.float32).tolist()
        assert env.rng is rng
        assert env._rng_seed == -1


@pytest.mark.parametrize("seed", [-1, 1.5, "1"])
def test_bad_seeds_are_gymnasiums_error(seed):
    env = from_gymnasium(gymnasium.make("CartPole-v1"))
    env.reset(seed=5)
    with pytest.raises(gymnasium.error.Error):
        env.reset(seed=seed)
    assert env._rng_seed == 5


def test_the_generator_is_the_gymnasium_envs():
    env = from_gymnasium(gymnasium.make("CartPole-v1"))
    base = env.gym_env.unwrapped
    assert env._rng is None
    env.rng = rng = np.random.default_rng(1)
    assert env.rng is env._rng is base.np_random is rng
    assert env._set_rng(None) == -1
    assert env._set_rng(9) == 9
    assert base.np_random.random() == np.random.default_rng(9).random()
    assert env._set_rng(None) == 9
    assert env._set_rng(rng) == -1
    assert base.np_random is rng


def test_action_masks():
    env = sekai.TimeLimit(from_gymnasium(gymnasium.wrappers.TimeLimit(Sloppy(), 3)), 3)
    assert [flags.tolist() for flags in sekai.get_action_mask(env)] == [[True, False], [True, True]]
    assert sekai.get_action_mask(from_gymnasium(gymnasium.make("CartPole-v1"))) is None


def test_errors_are_gymnasiums():
    env = from_gymnasium(gymnasium.make("CartPole-v1"))
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    env.reset(seed=0)
    with pytest.raises(AssertionError):
        env.step(7)


def test_a_space_without_a_counterpart():
    env = Sloppy()
    env.observation_space = gymnasium.spaces.Text(3)
    with pytest.raises(TypeError, match="no counterpart for Text"):
        from_gymnasium(env)


def test_in_wrappers_batches_and_async():
    def make():
        return from_gymnasium(gymnasium.make("CartPole-v1"))

    env = sekai.RecordEpisodeStatistics(make())
    env.reset(seed=0)
    while not (result := env.step(1)).done:
        pass
    assert result.info["episode"].episode_return == 8.0
    with sekai.SyncVecEnv([make] * 2) as vec:
        start = vec.reset(seed=[0, 1]).observations[1]
    assert start.tolist() == asyncio.run(make().async_reset(seed=1)).observation.tolist()


def test_the_renderer_calls_the_gymnasium_envs_own():
    with GymnasiumRenderer() as renderer:
        frame = renderer.render(sekai.TimeLimit(from_gymnasium(Sloppy()), 3))
    assert frame.shape == (4, 5, 3)
    lake = from_gymnasium(gymnasium.make("FrozenLake-v1", render_mode="ansi"))
    lake.reset(seed=0)
    assert "FFF" in GymnasiumRenderer().render(lake)
    with pytest.raises(TypeError, match=r"draws environments made by from_gymnasium, got <TimeLimit\(<CartPole"):
        GymnasiumRenderer().render(sekai.make("CartPole-v1"))
