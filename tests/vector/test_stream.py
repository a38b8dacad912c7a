"""Generators whose draws the kernels make."""

import copy
import pickle

import numpy as np
import pytest
from numpy.random import MT19937, PCG64, Generator, Philox

import sekai
from sekai.vector import stream
from sekai.vector.stream import Stream, set_words, words_of


@pytest.mark.parametrize("fast", [True, False])
def test_pull_and_push_keep_generator_and_lane_in_step(monkeypatch, fast):
    if not fast:
        monkeypatch.setattr(stream, "memory_is_as_expected", lambda: False)
    generator, lane = Generator(PCG64(7)), np.zeros(6, np.uint64)
    generator.integers(10)  # leaves half a word
    link = Stream(generator, lane)
    link.pull()
    assert lane.tolist() == words_of(generator).tolist()
    other = Generator(PCG64(8))
    other.integers(10)
    lane[:] = words_of(other)
    link.push()
    assert generator.bit_generator.state == other.bit_generator.state
    assert generator.integers(10, size=3).tolist() == other.integers(10, size=3).tolist()


def test_words_round_trip():
    generator, other = Generator(PCG64(2**90 + 1)), Generator(PCG64())
    generator.integers(100)
    set_words(other, words_of(generator))
    assert other.bit_generator.state == generator.bit_generator.state


@pytest.mark.parametrize("kind", [MT19937, Philox])
class TestOtherBitGenerators:
    """A single env draws from any NumPy generator, in plain Python."""

    def test_the_generator_itself_is_used(self, kind):
        generator, twin = Generator(kind(3)), Generator(kind(3))
        env = sekai.make("CartPole-v1")
        start = env.reset(seed=generator).observation
        assert start.tolist() == twin.uniform(-0.05, 0.05, 4).astype(np.float32).tolist()
        assert env.rng is generator
        assert env.reset().observation.tolist() == twin.uniform(-0.05, 0.05, 4).astype(np.float32).tolist()

    def test_steps_are_those_of_the_compiled_env(self, kind):
        env, compiled = sekai.make("CartPole-v1"), sekai.make("CartPole-v1")
        env.reset(seed=Generator(kind(3)))
        compiled.reset(seed=0)
        compiled.unwrapped.state = env.unwrapped.state
        for action in (0, 1, 1, 0):
            assert env.step(action).observation.tobytes() == compiled.step(action).observation.tobytes()

    def test_copies_go_on_with_the_same_stream(self, kind):
        env = sekai.make("CartPole-v1")
        env.reset(seed=Generator(kind(3)))
        copies = copy.deepcopy(env), pickle.loads(pickle.dumps(env))
        expected = env.reset().observation.tolist()
        assert [twin.reset().observation.tolist() for twin in copies] == [expected] * 2

    def test_an_integer_seed_ends_it(self, kind):
        env = sekai.make("CartPole-v1")
        env.reset(seed=Generator(kind(3)))
        fresh = sekai.make("CartPole-v1").reset(seed=5).observation.tolist()
        assert env.reset(seed=5).observation.tolist() == fresh
        assert isinstance(env.rng.bit_generator, PCG64)

    def test_a_batch_refuses_it(self, kind):
        vec = sekai.make_vec("CartPole-v1", 2)
        with pytest.raises(TypeError, match=f"of lane 1 must be over a PCG64, .* not over {kind.__name__}"):
            vec.reset(seed=[3, Generator(kind(1))])

    def test_it_has_no_snapshot(self, kind):
        env = sekai.make("CartPole-v1")
        env.reset(seed=Generator(kind(3)))
        with pytest.raises(TypeError, match="has no snapshot; seed it with an int"):
            env.unwrapped._vec.get_state()
