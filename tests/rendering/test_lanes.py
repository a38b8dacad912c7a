import numpy as np
import pytest

import sekai
from sekai.rendering import plot_lanes
from sekai.rendering.lanes import choose, components
from sekai.rollouts.result import Rollout
from tests.rendering.texts import texts_are_in_their_place


@pytest.fixture(scope="module")
def vec():
    return sekai.make_vec("CartPole-v1", 50)


def titles(picture):
    return [axes.get_title("left") for axes in picture.axes]


def test_all_of_a_rollout(vec):
    rollout = sekai.rollout(vec, "random", 40, seed=0, record=["observations", "rewards", "elapsed_steps"])
    picture = plot_lanes(rollout, single_lanes=2)
    assert titles(picture) == ["rewards", *(f"observations[{i}]" for i in range(4)), "elapsed_steps"]
    median, first, second = picture.axes[1].lines
    assert median.get_ydata() == pytest.approx(np.median(rollout.observations[:, :, 0], axis=1), rel=1e-6)  # float32
    assert first.get_ydata().tolist() == rollout.observations[:, 0, 0].tolist()
    assert second.get_ydata().tolist() == rollout.observations[:, 1, 0].tolist()
    assert {axes.get_xlim() for axes in picture.axes} == {(0, 40)}
    texts_are_in_their_place(picture)
    texts_are_in_their_place(plot_lanes(rollout, width=480, height=400))


def test_fields_of_a_rollout(vec):
    rollout = sekai.rollout(vec, "random", 5, seed=0)
    assert titles(plot_lanes(rollout, ["observations[2]", "actions"])) == ["observations[2]", "actions"]
    with pytest.raises(
        ValueError, match="fields must be among rewards, observations, actions or parts of them, got 'x'"
    ):
        plot_lanes(rollout, ["x"])
    with pytest.raises(TypeError, match="fields must be a sequence of names, got 'actions'"):
        plot_lanes(rollout, "actions")
    with pytest.raises(TypeError, match="source must be a batch or a rollout, got 3"):
        plot_lanes(3)


def test_lanes_that_wait_are_left_out():
    valid = np.array([[True, True, False]])
    picture = plot_lanes(Rollout(3, 1, rewards=np.array([[1.0, 3.0, 100.0]]), valid=valid))
    assert picture.axes[0].lines[0].get_ydata().tolist() == [2.0]


def test_dicts_and_large_fields():
    nest = {"a": np.zeros((2, 3)), "b": (np.ones((2, 3, 2)),)}
    assert [name for name, _ in components("obs", nest, 2)] == ["obs.a", "obs.b.0[0]", "obs.b.0[1]"]
    recorded = {"obs": nest, "large": np.zeros((2, 3, 20))}
    assert list(choose(recorded, None, 2)) == ["obs.a", "obs.b.0[0]", "obs.b.0[1]"]
    assert list(choose(recorded, ["obs.b", "large[3]"], 2)) == ["obs.b.0[0]", "obs.b.0[1]", "large[3]"]
    with pytest.raises(ValueError, match="fields must come to 12 charts at most, got 20"):
        choose(recorded, ["large"], 2)


def test_a_batch_as_it_goes_on(vec):
    vec.reset(seed=0)
    before = vec.get_state().words
    picture = plot_lanes(vec, ["theta", "observations[2]"], single_lanes=1)
    assert np.array_equal(vec.get_state().words, before)
    assert titles(picture) == ["theta", "observations[2]"]
    first = picture.frame()
    seen = [before[2, :50]]
    for _ in range(3):
        vec.step(np.ones(50, int))
        picture.record()
        seen.append(vec.get_state().words[2, :50])
    theta, observed = picture.axes
    assert theta.lines[0].get_ydata() == pytest.approx(
        np.median(seen, axis=1), rel=1e-12
    )  # means of two in another way
    assert theta.lines[1].get_ydata().tolist() == [row[0] for row in seen]
    assert observed.lines[1].get_ydata().tolist() == [float(np.float32(row[0])) for row in seen]
    frame = picture.frame()
    assert frame.shape == first.shape
    assert not np.array_equal(frame, first)
    texts_are_in_their_place(picture)


def test_the_state_is_shown_if_nothing_is_asked_for(vec):
    vec.reset(seed=0)
    assert titles(plot_lanes(vec)) == ["x", "x_dot", "theta", "theta_dot"]
    with pytest.raises(sekai.ResetRequired, match=r"call reset\(\) before plot_lanes\(\)"):
        plot_lanes(sekai.make_vec("CartPole-v1", 2))


def test_attributes_of_single_environments():
    vec = sekai.SyncVecEnv([lambda: sekai.make("CartPole-v1")] * 3)
    vec.reset(seed=0)
    picture = plot_lanes(vec, ["state[0]", "elapsed_steps"])
    assert picture.axes[0].lines[1].get_ydata().tolist() == [vec.envs[0].unwrapped.state[0]]
    assert picture.axes[1].lines[0].get_ydata().tolist() == [0.0]
    with pytest.raises(ValueError, match="fields must name attributes"):
        plot_lanes(vec)
