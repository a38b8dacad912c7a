"""StickyAction."""

import asyncio

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng

from sekai import Box, StickyAction
from sekai.utils.seeding import make_seed_sequence

SPACE = Box(-99, 99, (1,), np.float64)


def played(reel, seed, probability=0.5, count=20):
    """The actions that the env got for 0, 1, 2, …, and the next number of its own stream."""
    env = StickyAction(reel(actions=SPACE), probability)
    env.reset(seed=seed)
    buffer = np.zeros(1)
    for k in range(count):
        buffer[0] = k
        env.step(buffer)
    return [int(action) for (action,) in env.unwrapped.actions], float(env.rng.random())


def naive(generator, probability=0.5, count=20):
    last, seen = None, []
    for k in range(count):
        last = last if last is not None and generator.random() < probability else k
        seen.append(last)
    return seen


@pytest.mark.parametrize(
    ("seed", "actions"),
    [
        (0, "0 0 2 2 2 5 6 7 8 9 9 9 9 13 14 14 16 16 16 16"),
        (7, "0 1 2 2 2 2 6 7 7 7 10 10 12 13 13 15 15 15 18 18"),
        (np.int64(7), "0 1 2 2 2 2 6 7 7 7 10 10 12 13 13 15 15 15 18 18"),
        (default_rng(0), "0 1 1 3 3 3 6 6 8 8 10 11 11 13 14 14 16 17 17 17"),
    ],
)
def test_worked_values(reel, seed, actions):
    assert played(reel, seed)[0] == [int(action) for action in actions.split()]


@given(seed=st.integers(0, 2**130), probability=st.floats(0, 0.999))
def test_draws_come_from_a_child_of_the_seed(reel, seed, probability):
    actions, own = played(reel, seed, probability)
    assert actions == naive(default_rng(make_seed_sequence(seed, 2)[1]), probability)
    assert own == default_rng(seed).random()


def test_a_generator_is_asked_for_children_and_not_drawn_from(reel):
    seed = default_rng(11)
    first, second = played(reel, seed, count=40)[0], played(reel, seed, count=40)[0]
    children = default_rng(11).bit_generator.seed_seq.spawn(2)
    assert (first, second) == tuple(naive(default_rng(child), count=40) for child in children)
    assert first != second


def test_a_generator_without_children_is_drawn_from_once(reel):
    seed, twin = (np.random.Generator(np.random.MT19937()) for _ in range(2))
    for generator in (seed, twin):
        generator.bit_generator._legacy_seeding(3)  # as np.random.seed(3) does
    assert played(reel, seed) == (naive(default_rng(int(twin.integers(2**63)))), twin.random())


def test_resets_forget_the_last_action_but_not_the_stream(reel):
    env, generator = StickyAction(reel(), 0.5), default_rng(make_seed_sequence(5, 2)[1])
    env.reset(seed=5)
    for _ in range(3):
        env.unwrapped.actions.clear()
        for k in range(6):
            env.step(k)
        assert env.unwrapped.actions == naive(generator, count=6)
        env.reset()


def test_async_draws_alike(reel):
    async def run(env):
        await env.async_reset(seed=2)
        for k in range(9):
            await env.async_step(k)

    base = reel()
    asyncio.run(run(StickyAction(base, 0.5)))
    assert base.actions == naive(default_rng(make_seed_sequence(2, 2)[1]), count=9)
    assert base.awaited == 10


@pytest.mark.parametrize("seed", [-1, "3", 2.5])
def test_what_is_no_seed_changes_nothing(reel, seed):
    env = StickyAction(reel(), 0.5)
    env.reset(seed=0)
    env.step(4)
    state = env._generator.bit_generator.state
    with pytest.raises((TypeError, ValueError), match="seed"):
        env.reset(seed=seed)
    assert env._generator.bit_generator.state == state
    assert env._has_last


@pytest.mark.parametrize("probability", [-0.1, 1.0, np.nan])
def test_probabilities_are_checked(reel, probability):
    with pytest.raises(ValueError, match="repeat_action_probability"):
        StickyAction(reel(), probability)
    assert StickyAction(reel(), 0.25).repeat_action_probability == 0.25


def test_actions_cannot_be_reversed(reel):
    with pytest.raises(NotImplementedError, match="StickyAction"):
        StickyAction(reel(), 0.5).reverse_action(0)
