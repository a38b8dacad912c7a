"""The random stream and the life cycle that all environments share."""

import copy
import pickle

import numpy as np
import pytest

from sekai.core.base import BaseEnv


class Base(BaseEnv):
    """The smallest class that follows the async rule."""

    def reset(self):
        return None

    def step(self):
        return None

    async def async_reset(self):
        return self.reset()

    async def async_step(self):
        return self.step()


def test_an_int_seed_starts_a_stream_and_none_continues_it():
    env = Base()
    assert env._set_rng(11) == 11
    first = [env.rng.random() for _ in range(2)]
    assert env._set_rng(None) == 11
    second = env.rng.random()
    expected = np.random.default_rng(11)
    assert [*first, second] == list(expected.random(3))


def test_without_a_seed_the_operating_system_gives_128_bits():
    env = Base()
    seed = env._set_rng(None)
    assert seed > 2**64
    assert env.rng.random() == np.random.default_rng(seed).random()
    assert Base()._set_rng(None) != seed


def test_touching_the_stream_first_fixes_it():
    env = Base()
    generator = env.rng
    seed = env._set_rng(None)
    assert env.rng is generator
    assert generator.random() == np.random.default_rng(seed).random()


def test_a_generator_is_used_itself():
    env, generator = Base(), np.random.default_rng(3)
    assert env._set_rng(generator) == -1
    assert env.rng is generator
    assert env._set_rng(None) == -1
    assert env.rng is generator


def test_assigning_a_generator_forgets_the_seed():
    env = Base()
    env._set_rng(5)
    env.rng = np.random.default_rng(3)
    assert env._set_rng(None) == -1
    assert env.rng.random() == np.random.default_rng(3).random()


@pytest.mark.parametrize(("seed", "error"), [(-1, ValueError), ("3", TypeError), (1.5, TypeError)])
def test_a_bad_seed_changes_nothing(seed, error):
    env = Base()
    env._set_rng(7)
    with pytest.raises(error, match="seed"):
        env._set_rng(seed)
    assert env._set_rng(None) == 7
    assert env.rng.random() == np.random.default_rng(7).random()


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_continues_the_stream_on_its_own(duplicate):
    env = Base()
    env._set_rng(7)
    env.rng.random()
    twin = duplicate(env)
    assert twin.rng.random() == env.rng.random()
    assert twin.rng is not env.rng


def test_leaving_the_context_closes_even_after_an_error():
    class Closing(Base):
        closed = False

        def close(self):
            self.closed = True

    with Closing() as env:
        assert not env.closed
    assert env.closed
    with pytest.raises(KeyError), Closing() as env:
        raise KeyError
    assert env.closed
    assert Base().close() is None
