"""sekai environments seen through gymnasium's API."""

import copy
import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import sekai
from sekai.compat import (
    SekaiToGymnasium,
    from_gymnasium,
    space_from_gymnasium,
    space_to_gymnasium,
    to_gymnasium,
)

IDS = [spec.id for spec in sekai.all_specs() if isinstance(sekai.make(spec.id), sekai.Env)]


class Painter:
    """A renderer that cannot be closed."""

    def render(self, env):
        return f"picture of {env}"


class ClosingPainter(Painter):
    closed = False

    def close(self):
        self.closed = True


def episode(env, seed=0, steps=30):
    """What an environment of gymnasium returns, step by step, for actions of its space."""
    env.action_space.seed(1)
    told = [env.reset(seed=seed)]
    for _ in range(steps):
        told.append(env.step(env.action_space.sample()))
        if told[-1][2] or told[-1][3]:
            told.append(env.reset())
    return told


# Where gymnasium's checker does not like the bounds of a Box, that is the environment's; it says so of its own, too.
@pytest.mark.filterwarnings("ignore:.*A Box observation space m(in|ax)imum value is -?infinity")
@pytest.mark.filterwarnings("ignore:.*For Box action spaces, we recommend")
@pytest.mark.parametrize("env_id", IDS)
def test_gymnasiums_checker_passes(env_id, monkeypatch):
    monkeypatch.setattr(gymnasium.envs.registration, "registry", {})
    gymnasium.register("Sekai-v0", lambda: to_gymnasium(sekai.make(env_id)))
    check_env(gymnasium.make("Sekai-v0").unwrapped)


@pytest.mark.parametrize("env_id", IDS)
def test_there_and_back_plays_the_same_episodes(env_id):
    ours, bridged = sekai.make(env_id), from_gymnasium(to_gymnasium(sekai.make(env_id)))
    assert bridged.observation_space == space_from_gymnasium(space_to_gymnasium(ours.observation_space))
    ours.action_space.seed(0)
    for seed in (3, np.int64(5), np.random.default_rng(7), None):
        first, second = (env.reset(seed=copy.deepcopy(seed)) for env in (ours, bridged))
        assert pickle.dumps(first.observation) == pickle.dumps(second.observation)
        for _ in range(40):
            mask = sekai.get_action_mask(ours)
            action = ours.action_space.sample(mask=mask)
            first, second = ours.step(action), bridged.step(action)
            assert pickle.dumps(second) == pickle.dumps(first)
            if first.done:
                break


def test_results_are_normalised_and_infos_passed_on(coin):
    env = to_gymnasium(coin)
    assert isinstance(env, SekaiToGymnasium)
    observation, info = env.reset(seed=0, options={"a": 1})
    assert info == {"steps": 0, "options": {"a": 1}}
    assert env.observation_space.contains(observation)
    observation, *rest = env.step(np.array([1, 2]))
    assert observation["luck"].dtype == np.float32
    assert rest == [1.0, False, False, {"steps": 1}]
    assert [type(value) for value in rest[:3]] == [float, bool, bool]
    with pytest.raises(sekai.InvalidAction):
        env.step(np.array([2, 0]))


def test_attributes(coin):
    env = to_gymnasium(sekai.TimeLimit(coin, 2))
    assert env.sekai_env.env is coin
    assert env.metadata == {"render_modes": [], "render_fps": 7}
    assert (env.render_mode, env.renderer, env.render(), env.spec) == (None, None, None, None)
    assert env.unwrapped is env
    assert str(env) == f"<SekaiToGymnasium{env.sekai_env}>" == "<SekaiToGymnasium<TimeLimit(<Coin>)>>"
    assert to_gymnasium(sekai.make("CartPole-v1")).action_space == gymnasium.spaces.Discrete(2)


def test_rendering(coin):
    env = to_gymnasium(coin, Painter())
    assert (env.render_mode, env.metadata["render_modes"]) == ("rgb_array", ["rgb_array"])
    assert env.render() == "picture of <Coin>"
    env.close()
    painter = ClosingPainter()
    env = to_gymnasium(coin, painter, "ansi")
    assert (env.render_mode, env.metadata["render_modes"]) == ("ansi", ["ansi"])
    env.close()
    assert painter.closed


@pytest.mark.parametrize(
    ("renderer", "mode", "message"),
    [
        (None, "rgb_array", "render_mode 'rgb_array' needs a renderer"),
        (None, "human", "needs a renderer"),
        (Painter(), "human", r"got 'human'; gymnasium\.wrappers\.HumanRendering shows"),
        (Painter(), "rgb_array_list", r"must be one of \('rgb_array', 'ansi'\), got 'rgb_array_list'"),
        (Painter(), "", "got ''"),
    ],
)
def test_render_modes_that_there_are_not(coin, renderer, mode, message):
    with pytest.raises(ValueError, match=message):
        to_gymnasium(coin, renderer, mode)


def test_a_renderer_can_render():
    with pytest.raises(TypeError, match=r"renderer must be one of sekai\.rendering, got 'human'; make_renderer"):
        to_gymnasium(sekai.make("CartPole-v1"), "human")


@pytest.mark.parametrize("seed", [-1, 1.5, "1", True, [1]])
def test_bad_seeds_are_gymnasiums_error_and_change_nothing(coin, seed):
    env = to_gymnasium(coin)
    env.reset(seed=0)
    before = env.np_random.bit_generator.state
    with pytest.raises(gymnasium.error.Error, match="seed must be"):
        env.reset(seed=seed)
    assert env.np_random.bit_generator.state == before
    assert env.np_random_seed == 0


def test_the_generator_is_the_environments(coin):
    env = to_gymnasium(coin)
    env.reset(seed=np.int64(4))
    assert env.np_random is coin.rng
    assert env.np_random_seed == 4
    rng = np.random.default_rng(1)
    env.np_random = rng
    assert coin.rng is rng
    assert env.np_random_seed == -1
    env.reset(seed=np.random.default_rng(2))
    assert env.np_random.bit_generator.state != np.random.default_rng(2).bit_generator.state
    assert to_gymnasium(coin).np_random is coin.rng


def test_it_has_a_seeded_generator_though_the_environment_ignores_seeds():
    class Fixed(sekai.Env):
        observation_space = action_space = sekai.Discrete(1)

        def reset(self, *, seed=None, options=None):
            return sekai.ResetResult(0, {})

        def step(self, action): ...

    env = to_gymnasium(Fixed())
    states = []
    for seed in (1, 2, 1):
        env.reset(seed=seed)
        states.append(env.np_random.bit_generator.state)
        assert env.np_random_seed == seed
    assert states[0] == states[2] != states[1]


def test_action_masks(coin):
    env = gymnasium.wrappers.TimeLimit(to_gymnasium(sekai.TimeLimit(coin, 3)), 3)
    masks = env.get_wrapper_attr("action_masks")()
    assert masks.dtype == np.bool_
    assert masks.tolist() == [True, True, True, False, True]
    assert not hasattr(to_gymnasium(sekai.make("CartPole-v1")), "action_masks")


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_go_on_alike(clone):
    env = to_gymnasium(sekai.make("CartPole-v1"))
    env.reset(seed=0)
    other = clone(env)
    for action in (0, 1, 1, 0):
        assert pickle.dumps(env.step(action)) == pickle.dumps(other.step(action))


def test_in_gymnasiums_wrappers_and_batches():
    def make():
        return gymnasium.wrappers.TimeLimit(to_gymnasium(sekai.make("CartPole-v1")), 5)

    told = episode(make())
    assert told[5][3] is True
    batch = gymnasium.vector.SyncVectorEnv([make] * 2)
    observations, _ = batch.reset(seed=[0, 1])
    assert observations[0].tolist() == told[0][0].tolist()
    batch.close()
