import importlib
import sys

import pytest

import sekai
from sekai.rendering import AcrobotRenderer, CartPoleRenderer, MountainCarRenderer, PendulumRenderer, make_renderer
from sekai.rendering.making import RENDERERS


@pytest.mark.parametrize(
    ("id", "cls", "shape"),
    [
        ("CartPole-v1", CartPoleRenderer, (200, 300, 3)),
        ("MountainCar-v0", MountainCarRenderer, (200, 300, 3)),
        ("MountainCarContinuous-v0", MountainCarRenderer, (200, 300, 3)),
        ("Pendulum-v1", PendulumRenderer, (200, 200, 3)),
        ("Acrobot-v1", AcrobotRenderer, (200, 200, 3)),
    ],
)
def test_the_right_renderer_is_found(id, cls, shape):
    env = sekai.make(id)
    env.reset(seed=0)
    assert type(make_renderer(env)) is cls
    renderer = make_renderer(env, width=300, height=200, theme="dark")
    assert renderer.theme.name == "dark"
    assert renderer.render(env).shape == shape


@pytest.mark.parametrize(("module", "name"), sorted(set(RENDERERS.values())))
def test_what_is_found_exists(module, name):
    assert getattr(importlib.import_module(module), name) is getattr(sekai.rendering, name)


def test_subclasses_are_drawn_like_their_bases():
    class Mine(type(sekai.make("Pendulum-v1").unwrapped)):
        pass

    assert type(make_renderer(Mine())) is PendulumRenderer


def test_environments_without_one_are_told():
    with pytest.raises(TypeError, match=r"there is no renderer for object; sekai\.rendering\.Dashboard draws any"):
        make_renderer(object())


def test_batches_are_drawn_by_others():
    with pytest.raises(TypeError, match=r"env must be a single .*, got CartPoleVecEnv\(num_envs=2\); LaneGrid"):
        make_renderer(sekai.make_vec("CartPole-v1", 2))


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r'matplotlib cannot be imported .*; pip install "sekai\[render\]"'):
        make_renderer(sekai.make("CartPole-v1"))
