"""The way from spaces to their kernels."""

import subprocess
import sys

import numpy as np

from sekai.spaces import Box, Discrete
from sekai.spaces.compiled import BATCH_KEY, rows_within, start_stream

SCRIPT = """
import sys
from sekai.spaces import Box, Dict, Discrete, Sequence
space = Dict(a=Box(0, 1, (2,)), b=Sequence(Discrete(3), stack=True), seed=0)
assert space.contains(space.sample())
assert "numba" not in sys.modules
space.sample_batch(2)
assert "numba" in sys.modules
"""


def test_numba_is_imported_for_the_first_batch_and_not_before():
    subprocess.run([sys.executable, "-c", SCRIPT], check=True)


def test_the_stream_is_numpys_generator_of_a_seed_of_its_own():
    state = np.random.PCG64(np.random.SeedSequence(5, spawn_key=(BATCH_KEY,))).state["state"]
    high, low = divmod(state["state"], 2**64)
    increment_high, increment_low = divmod(state["inc"], 2**64)
    assert start_stream(5)[:, 0].tolist() == [high, low, increment_high, increment_low, 0, 0]
    rng = np.random.default_rng(np.random.SeedSequence(5, spawn_key=(BATCH_KEY,)))
    assert Discrete(1000, seed=5).sample_batch(20).tolist() == rng.integers(1000, size=20).tolist()


def test_any_layout_is_compared():
    box = Box(0, 9, (2, 3), np.int16)
    x = np.arange(24, dtype=np.int8).reshape(4, 3, 2).transpose(0, 2, 1)[::-1]
    assert rows_within(x, box.low, box.high).tolist() == [False, False, False, True]


def test_signed_bounds_of_unsigned_numbers():
    x = np.array([[0], [5], [2**63 - 1], [2**63]], np.uint64)
    for low, high, inside in [
        (-1, 5, [True, True, False, False]),
        (1, 2**63 - 1, [False, True, True, False]),
        (-5, -1, [False] * 4),
    ]:
        assert rows_within(x, np.array([low]), np.array([high])).tolist() == inside
