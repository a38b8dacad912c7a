"""Random bits as a function of lane and clock: the streams of random actions, which have no state to keep."""

import numpy as np
from numba.extending import overload

from sekai.kernels.jit import PART_OPTIONS, kernel

S11, S27, S30, S31 = (np.uint64(n) for n in (11, 27, 30, 31))
GOLDEN, FIRST, SECOND = (np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def multiply(a, b):
    """The product modulo 2**64, of which NumPy's scalars would warn."""
    return np.uint64(int(a) * int(b) % 2**64)


@overload(multiply, jit_options=PART_OPTIONS)
def _compile_multiply(a, b):
    return lambda a, b: a * b


@kernel
def mix(x):
    """Scramble 64 bits, one to one: SplitMix64's finaliser (Steele, Lea and Flood, 2014, fig. 16)."""
    x = multiply(x ^ x >> S30, FIRST)
    x = multiply(x ^ x >> S27, SECOND)
    return x ^ x >> S31


@kernel
def lane_keys(seeds, keys):
    """Make the keys of the lanes' random actions, which then depend on the lanes' seeds alone.

    Args:
        seeds (uint64, (2, n)): increments of the lanes' streams, which are as random as the seeds.
    Writes: keys (uint64, (n,)).
    """
    for i in range(keys.size):
        keys[i] = mix(seeds[1, i] ^ mix(seeds[0, i]))


@kernel
def random_bits(key, clock):
    """64 random bits of a lane: its stream has no state to store, and any draw of it can be had at once."""
    return mix(key ^ mix(multiply(clock, GOLDEN)))


@kernel
def random_unit(key, clock):
    """A float64 uniform in [0, 1)."""
    return np.float64(random_bits(key, clock) >> S11) * 2.0**-53
