"""How much memory a batch takes, and that it does not grow."""

import gc
import tracemalloc
from contextlib import contextmanager

import numpy as np
import pytest
from numba import config
from numba.core.runtime import _nrt_python, rtsys

import sekai

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="a plain step of 100,000 lanes takes seconds")

LANES = 100_000
RESULT = 16 + 8 + 1 + 1 + 8  # bytes a lane: observations, rewards, two flags, and the steps that infos tell


@contextmanager
def traced():
    """Count the memory that is allocated through Python, NumPy's arrays included."""
    gc.collect()
    tracemalloc.start()
    try:
        yield
    finally:
        tracemalloc.stop()


def cartpoles(num_envs, limit=5, **kwargs):
    """A batch that has taken some steps; and through them, some ends."""
    vec = sekai.make_vec("CartPole-v1", num_envs, max_episode_steps=limit, vector_kwargs=kwargs)
    vec.reset(seed=0)
    actions = np.zeros(num_envs, np.int64)
    for _ in range(2 * limit + 1):
        vec.step(actions)
    return vec


@pytest.mark.parametrize("copy", [True, False])
def test_a_cartpole_takes_under_200_bytes_beyond_its_results(copy):
    cartpoles(2, copy=copy)  # loads the machine code
    with traced():
        vec = cartpoles(LANES, copy=copy)
        gc.collect()
        held, _ = tracemalloc.get_traced_memory()
    # The arrays of the last result and of the last but one are there, to be handed out again.
    assert held - 2 * RESULT * LANES < 200 * LANES
    assert vec.num_envs == LANES


def test_making_and_seeding_takes_under_400_bytes_a_lane_for_a_moment():
    cartpoles(LANES)
    with traced():
        cartpoles(LANES)
        _, peak = tracemalloc.get_traced_memory()
    assert peak < 400 * LANES


def test_memory_stays_flat():
    cartpoles(2)
    with traced():
        vec = cartpoles(64, limit=20)
        actions = np.random.default_rng(0).integers(2, size=(200, 64))
        sizes = []
        for _ in range(20):
            for action in actions:
                result = vec.step(action)
            assert len(list(result.infos)) == 64
            del result
            gc.collect()
            sizes.append(tracemalloc.get_traced_memory()[0])
    # How much the last result holds depends on how many lanes ended: final observations, their numbers and infos.
    assert max(sizes) - min(sizes) < 64 * (16 + 8 + 8) + 2_000


@pytest.mark.parametrize("num_envs", [2, 3000])
def test_kernels_allocate_nothing_for_lanes_and_give_everything_back(num_envs):
    vec = cartpoles(num_envs)
    actions = np.zeros(num_envs, np.int64)
    _nrt_python.memsys_enable_stats()
    try:
        before = rtsys.get_allocation_stats()
        for _ in range(10):
            vec.step(actions)
        after = rtsys.get_allocation_stats()
    finally:
        _nrt_python.memsys_disable_stats()
    assert after.alloc - before.alloc == after.free - before.free
    assert after.mi_alloc - before.mi_alloc == after.mi_free - before.mi_free
    assert after.alloc - before.alloc <= 10 * 16  # a header for each array that is passed
