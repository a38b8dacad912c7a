import numpy as np
import pytest

import sekai
from sekai.rendering import BaseRenderer, LaneGrid, make_renderer, record_lanes
from sekai.rendering.grid import GAP, tiled


class Positions(BaseRenderer):
    """Tiny frames; it notes what it has seen."""

    def __init__(self):
        self.seen = []

    def render(self, env):
        self.seen.append((env, float(env.unwrapped.state[0]), env.elapsed_steps))
        return np.full((4, 6, 3), len(self.seen), np.uint8)


@pytest.fixture(scope="module")
def vec():
    return sekai.make_vec("CartPole-v1", 8)


def test_lanes_are_drawn_as_they_are(vec):
    vec.reset(seed=0)
    renderer = Positions()
    grid = LaneGrid(vec, [1, 5, 6], renderer=renderer)
    first = grid.render()
    assert first.shape == (2 * 4 + GAP, 2 * 6 + GAP, 3)
    assert [first[0, 0, 0], first[0, -1, 0], first[-1, 0, 0]] == [1, 2, 3]
    before = vec.get_state()
    batch = vec.step(np.ones(8, int))
    assert before.words.shape == vec.get_state().words.shape
    grid.render()
    for (env, _, elapsed), (same, x, now), lane in zip(renderer.seen[:3], renderer.seen[3:], grid.lanes, strict=True):
        assert env is same  # so that histories go on
        assert (elapsed, now) == (0, 1)
        assert np.float32(x) == batch.observations[lane, 0]


def test_drawing_changes_nothing(vec):
    vec.reset(seed=0)
    before = vec.get_state().words
    LaneGrid(vec, 4, renderer=Positions()).render()
    assert np.array_equal(vec.get_state().words, before)


def test_frames_of_a_run(vec):
    renderer = Positions()
    frames = record_lanes(vec, "random", 3, lanes=2, seed=0, renderer=renderer)
    assert len(frames) == 4
    assert {frame.shape for frame in frames} == {(4, 12 + GAP, 3)}
    assert [now for _, _, now in renderer.seen[::2]] == [0, 1, 2, 3]
    actions = np.zeros((2, 8), int)
    record_lanes(vec, actions, 2, lanes=1, seed=0, renderer=renderer)
    x = sekai.rollout(vec, actions, 2, seed=0).last_observations[0, 0]
    assert np.float32(renderer.seen[-1][1]) == x


def test_the_right_renderer_is_found(vec):
    vec.reset(seed=0)
    frame = LaneGrid(vec, 2, width=200, height=150, columns=1).render()
    assert frame.shape == (300 + GAP, 200, 3)
    assert np.array_equal(frame[:150], make_renderer(vec.lane(0), width=200, height=150).render(vec.lane(0)))


def test_dashboards_get_the_room_that_they_need():
    vec = sekai.make_vec("MarketMaking-v0", 2)
    vec.reset(seed=0)
    assert LaneGrid(vec).render().shape == (240, 640 + GAP, 3)
    assert LaneGrid(vec, 1, width=400).render().shape == (240, 400, 3)
    with pytest.raises(ValueError, match="at least 320 x 240, got 320 x 200"):
        LaneGrid(vec, height=200).render()


def test_batches_of_single_environments():
    vec = sekai.SyncVecEnv([lambda: sekai.make("CartPole-v1")] * 3)
    vec.reset(seed=0)
    renderer = Positions()
    LaneGrid(vec, 9, renderer=renderer).render()
    assert [env for env, _, _ in renderer.seen] == vec.envs


def test_bad_arguments(vec):
    with pytest.raises(IndexError, match=r"lanes must lie in 0 … 7, got 8"):
        LaneGrid(vec, [8])
    for lanes, error, message in (
        (0, ValueError, "lanes must be >= 1, got 0"),
        ([], ValueError, "lanes must name at least one lane, got none"),
        (-1, ValueError, "lanes must be >= 1, got -1"),
        ("3", TypeError, "lanes must be an int, got '3'"),
        ([1.0], TypeError, "a lane must be an int, got 1.0"),
    ):
        with pytest.raises(error, match=message):
            LaneGrid(vec, lanes)
    for columns in (0, -1):
        with pytest.raises(ValueError, match=f"columns must be >= 1, got {columns}"):
            LaneGrid(vec, columns=columns)
    before = vec.get_state().words
    with pytest.raises(ValueError, match="num_steps must be >= 1, got -1"):
        record_lanes(vec, "random", -1, seed=5)
    with pytest.raises(TypeError, match=r"policy must be .*, got 'rand'"):
        record_lanes(vec, "rand", 2, seed=5)
    with pytest.raises(ValueError, match=r"an array of actions must have shape \(3, 8\), got \(2, 8\)"):
        record_lanes(vec, np.zeros((2, 8), int), 3, seed=5)
    assert np.array_equal(vec.get_state().words, before)
    with pytest.raises(TypeError, match="vec must be a batch of kernel envs or a SyncVecEnv"):
        LaneGrid(sekai.make("CartPole-v1"))
    with pytest.raises(sekai.ResetRequired):
        LaneGrid(sekai.make_vec("CartPole-v1", 2), renderer=Positions()).render()


def test_tiled():
    whole = tiled([np.zeros((2, 3, 3), np.uint8)] * 3, 2, "#ff0102")
    assert whole.shape == (4 + GAP, 6 + GAP, 3)
    assert whole[-1, -1].tolist() == [255, 1, 2]
    assert whole[0, 0].tolist() == [0, 0, 0]
