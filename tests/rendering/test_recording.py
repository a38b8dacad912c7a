import asyncio

import numpy as np
import pytest
from PIL import Image

import sekai
from sekai.rendering import BaseRenderer, RecordFrames, Renderer


class Counter(BaseRenderer):
    """Frames whose pixels count the calls."""

    def __init__(self):
        self.calls, self.seen, self.closed = 0, None, 0

    def render(self, env):
        self.calls += 1
        self.seen = env
        return np.full((6, 8, 3), self.calls, np.uint8)

    def close(self):
        self.closed += 1


@pytest.fixture
def env():
    return sekai.make("CartPole-v1")


def numbers(frames):
    return [int(frame[0, 0, 0]) for frame in frames]


def test_every_reset_and_step_is_drawn(env):
    renderer = Counter()
    recorder = RecordFrames(env, renderer)
    recorder.reset(seed=0)
    for _ in range(4):
        recorder.step(0)
    recorder.enabled = False
    recorder.step(0)
    recorder.enabled = True
    recorder.reset()
    assert numbers(recorder.frames) == [1, 2, 3, 4, 5, 6]
    assert renderer.seen is env
    kept = recorder.frames
    recorder.clear()
    assert recorder.frames == []
    assert len(kept) == 6


def test_the_first_frames_are_kept(env):
    renderer = Counter()
    recorder = RecordFrames(env, renderer, max_frames=2)
    recorder.reset(seed=0)
    for _ in range(4):
        recorder.step(0)
    assert numbers(recorder.frames) == [1, 2]
    assert renderer.calls == 2


def test_nothing_is_drawn_where_nothing_is_asked_for(env):
    recorder = RecordFrames(env, None, enabled=False)
    recorder.reset(seed=0)
    recorder.step(0)
    assert recorder.frames == []


def test_async_calls_are_drawn(env):
    recorder = RecordFrames(env, Counter())

    async def run():
        await recorder.async_reset(seed=0)
        await recorder.async_step(0)

    asyncio.run(run())
    assert numbers(recorder.frames) == [1, 2]


def test_it_is_transparent(env):
    recorder, twin = RecordFrames(env, Counter()), sekai.make("CartPole-v1")
    assert np.array_equal(recorder.reset(seed=1).observation, twin.reset(seed=1).observation)
    assert np.array_equal(recorder.step(1).observation, twin.step(1).observation)
    assert recorder.unwrapped is env.unwrapped
    assert recorder.metadata == {"render_fps": 50}
    assert recorder.rng.bit_generator.state == twin.rng.bit_generator.state


def test_the_renderer_is_closed_first(env):
    order = []
    renderer = Counter()
    renderer.close = lambda: order.append("renderer")
    env.close = lambda: order.append("env")
    RecordFrames(env, renderer).close()
    assert order == ["renderer", "env"]


@pytest.mark.parametrize("env", [object(), None])
def test_only_environments_are_wrapped(env):
    with pytest.raises(TypeError, match=r"RecordFrames wraps an instance of sekai\.Env"):
        RecordFrames(env, Counter())


@pytest.mark.parametrize(("fps", "delay"), [(None, 20), (10, 100)])
def test_the_frame_rate_is_that_of_the_environment(env, tmp_path, fps, delay):
    recorder = RecordFrames(env, Counter())
    recorder.reset(seed=0)
    recorder.step(0)
    path = recorder.save(tmp_path / "run.GIF", fps)
    with Image.open(path) as image:
        assert image.n_frames == 2
        assert image.info["duration"] == delay
        assert np.array(image.convert("RGB")).tolist() == recorder.frames[0].tolist()


def test_a_frame_rate_of_zero_is_an_error(env, tmp_path):
    recorder = RecordFrames(env, Counter())
    recorder.reset(seed=0)
    with pytest.raises(ValueError, match="fps must be a positive number, got 0"):
        recorder.save(tmp_path / "run.gif", 0)


def test_other_suffixes_are_videos(env, tmp_path):
    recorder = RecordFrames(env, Counter())
    recorder.reset(seed=0)
    assert recorder.save(tmp_path / "run.png").read_bytes()[:4] == b"\x89PNG"
    with pytest.raises(ValueError, match="path must end in one of"):
        recorder.save(tmp_path / "run.tiff")


def test_renderers():
    assert isinstance(Counter(), Renderer)
    assert not isinstance(object(), Renderer)
    with Counter() as renderer:
        assert renderer.closed == 0
    assert renderer.closed == 1
    with pytest.raises(NotImplementedError, match="BaseRenderer does not define render"):
        BaseRenderer().render(None)
