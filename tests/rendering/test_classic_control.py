import math

import numpy as np
import pytest

import sekai
from sekai.rendering import AcrobotRenderer, CartPoleRenderer, MountainCarRenderer, PendulumRenderer, rotate
from tests.rendering.texts import texts_are_in_their_place

RENDERERS = {
    "CartPole-v1": CartPoleRenderer,
    "MountainCar-v0": MountainCarRenderer,
    "MountainCarContinuous-v0": MountainCarRenderer,
    "Pendulum-v1": PendulumRenderer,
    "Acrobot-v1": AcrobotRenderer,
}
by_id = pytest.mark.parametrize("id", RENDERERS)


def center(shape):
    return shape.get_xy()[:-1].mean(axis=0)


def far_end(rod):
    """The middle of the end of a bar away from where it begins."""
    return rod.get_xy()[1:3].mean(axis=0)


@by_id
def test_frames(id):
    env = sekai.make(id)
    env.reset(seed=0)
    renderer = RENDERERS[id]()
    shape = (500, 500, 3) if id in ("Pendulum-v1", "Acrobot-v1") else (400, 600, 3)
    first = renderer.render(env)
    assert first.shape == shape
    assert first.dtype == np.uint8
    assert first.flags.c_contiguous
    assert first.flags.writeable
    assert np.array_equal(renderer.render(env), first)
    assert np.array_equal(RENDERERS[id]().render(env.unwrapped), first)
    env.action_space.seed(0)
    for _ in range(5):
        env.step(env.action_space.sample())
    assert not np.array_equal(renderer.render(env), first)
    texts_are_in_their_place(renderer.picture)


@by_id
@pytest.mark.parametrize("size", [160, 311])
def test_small_and_dark(id, size):
    env = sekai.make(id)
    env.reset(seed=0)
    square = id in ("Pendulum-v1", "Acrobot-v1")
    renderer = RENDERERS[id](*([size] if square else [size, 120]), theme="dark")
    assert renderer.render(env).shape == (size if square else 120, size, 3)
    texts_are_in_their_place(renderer.picture)


@by_id
def test_rendering_changes_nothing(id):
    env, twin = sekai.make(id), sekai.make(id)
    for one in (env, twin):
        one.reset(seed=0)
        one.action_space.seed(0)
    RENDERERS[id]().render(env)
    assert env.rng.bit_generator.state == twin.rng.bit_generator.state
    assert np.array_equal(env.unwrapped.state, twin.unwrapped.state)
    assert np.array_equal(
        env.step(env.action_space.sample()).observation, twin.step(twin.action_space.sample()).observation
    )


@by_id
def test_before_the_first_reset(id):
    with pytest.raises(sekai.ResetRequired, match="before render"):
        RENDERERS[id]().render(sekai.make(id))


@by_id
def test_other_environments_are_refused(id):
    other = sekai.make("CartPole-v1" if id != "CartPole-v1" else "Pendulum-v1")
    other.reset(seed=0)
    with pytest.raises(
        TypeError, match=rf"{RENDERERS[id].__name__} draws \w+Env.*, got {type(other.unwrapped).__name__}"
    ):
        RENDERERS[id]().render(other)


@by_id
def test_axes_never_move(id):
    env = sekai.make(id)
    env.reset(seed=0)
    env.action_space.seed(0)
    renderer = RENDERERS[id]()
    limits = set()
    for _ in range(8):
        env.step(env.action_space.sample())
        renderer.render(env)
        limits.add((*renderer.axes.get_xlim(), *renderer.axes.get_ylim()))
    assert len(limits) == 1


def test_cart_and_pole():
    env = sekai.make("CartPole-v1").unwrapped
    env.state = [1.0, 0.0, 0.1, 0.0]
    renderer = CartPoleRenderer()
    renderer.render(env)
    assert center(renderer.body)[0] == pytest.approx(1.0)
    foot = renderer.pole.get_xy()[[0, 3]].mean(axis=0)
    assert far_end(renderer.pole) - foot == pytest.approx(
        [math.sin(0.1), math.cos(0.1)]
    )  # a positive angle leans right
    assert renderer.note.get_text() == "cart +1.00 m,  pole +5.7°"
    env.length = 0.25
    renderer.render(env)
    assert np.linalg.norm(far_end(renderer.pole) - foot) == pytest.approx(0.5)


def test_the_car_stands_on_its_hill():
    env = sekai.make("MountainCar-v0").unwrapped
    env.state = [0.1, 0.02]
    renderer = MountainCarRenderer()
    renderer.render(env)
    hubs = [center(wheel) for wheel in renderer.wheels]
    for hub in hubs:
        assert abs(hub[1] - env.height(hub[0]) - renderer.wheel) < 0.02  # straight, on a curved track
    slope = (hubs[1] - hubs[0])[1] / (hubs[1] - hubs[0])[0]
    assert slope == pytest.approx(
        1.35 * math.cos(0.3), rel=1e-6
    )  # the derivative of the track is taken from differences
    assert env.goal_position in renderer.axes.lines[1].get_xdata()


def test_the_pendulum_and_its_torque():
    env = sekai.make("Pendulum-v1").unwrapped
    renderer = PendulumRenderer()
    env.reset(seed=0)
    env.state = [math.pi / 2, 0.0]
    renderer.render(env)
    assert far_end(renderer.rod) == pytest.approx([-1.0, 0.0], abs=1e-12)  # angles count counter-clockwise
    env.step(np.array([2.0], np.float32))
    renderer.render(env)
    x, y = renderer.arrow.get_data()
    assert (x[0], y[0]) == pytest.approx((0.0, renderer.arc), abs=1e-12)
    assert x[-1] < 0  # counter-clockwise
    assert renderer.note.get_text().endswith("torque +2.00 N m")


def test_both_links():
    env = sekai.make("Acrobot-v1").unwrapped
    renderer = AcrobotRenderer()
    env.state = [math.pi / 2, math.pi / 2, 0.0, 0.0]
    renderer.render(env)
    assert far_end(renderer.links[0]) == pytest.approx([1.0, 0.0], abs=1e-12)
    assert far_end(renderer.links[1]) == pytest.approx([1.0, 1.0], abs=1e-12)
    assert renderer.note.get_text() == "tip at +1.00 m,  goal +1.00 m"


def test_rotate():
    assert rotate([(1, 0)], math.pi, (2, 3)) == pytest.approx(np.array([[1.0, 3.0]]))
