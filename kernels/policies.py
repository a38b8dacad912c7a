"""Policies that run inside a fused rollout."""

import numba
import numpy as np
from numba.extending import overload

from sekai.kernels.jit import kernel

S11, S27, S30, S31, S32 = (np.uint64(n) for n in (11, 27, 30, 31, 32))
GOLDEN, FIRST, SECOND = (np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


@kernel
def mix(x):
    """Scramble 64 bits, one to one: SplitMix64's finaliser (Steele, Lea and Flood, 2014, fig. 16)."""
    x = (x ^ x >> S30) * FIRST
    x = (x ^ x >> S27) * SECOND
    return x ^ x >> S31


@kernel
def lane_keys(rng, keys):
    """Make the keys of the lanes' random actions from the increments of their streams.

    Those are as random as the seeds, and never change: a lane's random actions depend on its seed alone, and take no draw
    from its environment.

    Args:
        rng: the random words of n lanes.
    Writes: keys (uint64, (n,)).
    """
    for i in range(keys.size):
        keys[i] = mix(rng[3][i] ^ mix(rng[2][i]))


@kernel
def random_integers(keys, clock, low, high, action):
    """Draw `action[i]` from low to high for each lane.

    The bits are a function of the lane's key and of the clock: a stream per lane without a state to store, so that the
    loop vectorises and any step of it can be had at once. The bias is below (high - low + 1) / 2**32.

    Args:
        keys (uint64, (n,)): random, one per lane. clock (uint64): number of the draw.
    Writes: action (int64, (n,)).
    """
    moment = mix(clock * GOLDEN)
    count = np.uint64(high - low) + np.uint64(1)
    for i in range(action.size):
        action[i] = low + np.int64((mix(keys[i] ^ moment) >> S32) * count >> S32)


@kernel
def random_reals(keys, clock, low, high, action):
    """Draw `action[i]` uniformly from [low, high) for each lane, as `random_integers` does."""
    moment = mix(clock * GOLDEN)
    for i in range(action.size):
        action[i] = low + (high - low) * (np.float64(mix(keys[i] ^ moment) >> S11) * 2.0**-53)


def random_actions(keys, clock, bounds, action):
    """Draw an action for each lane, uniform on `bounds[0] <= action <= bounds[1]`.

    Args:
        keys (uint64, (n,)), clock (uint64): see `random_integers`; an action of several numbers takes as many ticks.
        bounds (int64 or float64, (2, k)).
    Writes: action (same dtype, (n, …) with k numbers a lane).
    """
    draw = random_integers if action.dtype.kind == "i" else random_reals
    numbers = action.reshape((action.shape[0], -1))
    size = bounds.shape[1]
    for k in range(size):
        draw(keys, clock * np.uint64(size) + np.uint64(k), bounds[0, k], bounds[1, k], numbers[:, k])


@overload(random_actions)
def _compile_random_actions(keys, clock, bounds, action):
    draw = random_integers if isinstance(action.dtype, numba.types.Integer) else random_reals

    def one(keys, clock, bounds, action):
        draw(keys, clock, bounds[0, 0], bounds[1, 0], action)

    def several(keys, clock, bounds, action):
        numbers = action.reshape((action.shape[0], bounds.shape[1]))
        size = np.uint64(bounds.shape[1])
        for k in range(bounds.shape[1]):
            draw(keys, clock * size + np.uint64(k), bounds[0, k], bounds[1, k], numbers[:, k])

    return one if action.ndim == 1 else several
