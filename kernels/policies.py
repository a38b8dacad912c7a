"""Policies that run inside a fused rollout.

A policy's block function is `act_block(w, observations, keys, rng, work, clock, bounds, action)` for n lanes:

    w (float64, (W,))              its weights
    observations ((n, ...))        of these lanes
    keys (uint64, (n,))            random, one per lane, for `random_bits` with the clock
    rng                            streams of the policy, one per lane, for `sekai.kernels.random`
    work (float64, (2, rows, TILE))  scratch space
    clock (uint64)                 number of the draw
    bounds ((2, k))                lowest and highest action
    action ((n,) or (n, k))        written
"""

import numba
import numpy as np
from numba.extending import overload

from sekai.kernels.dense import TILE, dense
from sekai.kernels.elementary import exp, squash
from sekai.kernels.hashing import random_bits, random_unit
from sekai.kernels.jit import PART_OPTIONS, kernel
from sekai.kernels.rows import flat

S32, LOW32, FEW = (np.uint64(n) for n in (32, 2**32 - 1, 2**32))


# ---- random ----------------------------------------------------------------------------------------


@kernel
def upper_half(a, b):
    """The upper 64 bits of a product: of its four parts, each of 32 bits by 32."""
    a1, a0, b1, b0 = a >> S32, a & LOW32, b >> S32, b & LOW32
    upper, lower = a1 * b0, a0 * b1
    carry = (a0 * b0 >> S32) + (upper & LOW32) + (lower & LOW32)
    return a1 * b1 + (upper >> S32) + (lower >> S32) + (carry >> S32)


@kernel
def random_integers(keys, clock, low, high, action):
    """Draw `action[i]`, one of count numbers from low to high, for each lane.

    The bias is below count / 2**32, or, where there are more than 2**32 numbers, below count / 2**64.
    """
    count = np.uint64(high - low) + np.uint64(1)
    if count <= FEW:
        for i in range(action.size):
            action[i] = low + np.int64((random_bits(keys[i], clock) >> S32) * count >> S32)
    else:
        for i in range(action.size):
            action[i] = low + np.int64(upper_half(random_bits(keys[i], clock), count))


@kernel
def random_reals(keys, clock, low, high, action):
    """Draw `action[i]` uniformly from [low, high) for each lane."""
    for i in range(action.size):
        action[i] = low + (high - low) * random_unit(keys[i], clock)


def random_block(w, observations, keys, rng, work, clock, bounds, action):
    """Draw an action for each lane, uniform on the action space; one of k numbers takes k ticks of the clock."""
    draw = random_integers if action.dtype.kind == "i" else random_reals
    numbers = action.reshape((action.shape[0], -1))
    size = bounds.shape[1]
    for k in range(size):
        draw(keys, clock * np.uint64(size) + np.uint64(k), bounds[0, k], bounds[1, k], numbers[:, k])


@overload(random_block, jit_options=PART_OPTIONS)
def _compile_random_block(w, observations, keys, rng, work, clock, bounds, action):
    draw = random_integers if isinstance(action.dtype, numba.types.Integer) else random_reals

    def one(w, observations, keys, rng, work, clock, bounds, action):
        draw(keys, clock, bounds[0, 0], bounds[1, 0], action)

    def several(w, observations, keys, rng, work, clock, bounds, action):
        numbers = action.reshape((action.shape[0], bounds.shape[1]))
        size = np.uint64(bounds.shape[1])
        for k in range(bounds.shape[1]):
            draw(keys, clock * size + np.uint64(k), bounds[0, k], bounds[1, k], numbers[:, k])

    return one if action.ndim == 1 else several


# ---- constant and users' own -------------------------------------------------------------------------


@kernel
def constant_block(w, observations, keys, rng, work, clock, bounds, action):
    """Give every lane the action whose numbers are the weights."""
    numbers = action.reshape((action.shape[0], bounds.shape[1]))
    for i in range(numbers.shape[0]):
        for k in range(numbers.shape[1]):
            numbers[i, k] = w[k]


def lane_block(w, observations, keys, rng, work, clock, bounds, action):
    """Template: call a user's `act_lane(w, obs, rng, action, i)` for each lane; `streams` is one of the below."""
    for i in range(action.shape[0]):
        act_lane(w, observations, streams(rng), action, i)  # noqa: F821


@kernel
def own_streams(rng):
    """Those of the policy."""
    return rng


@kernel
def no_streams(rng):
    """Nothing to draw from: a policy that says that it does not draw, and does, must not compile."""
    return ()


# ---- networks --------------------------------------------------------------------------------------


def network_block(w, observations, keys, rng, work, clock, bounds, action):
    """Template: a fully connected network, tile by tile of lanes.

    SIZES are the numbers of units, inputs first; `activate` is applied to hidden layers, `head` to the outputs. The
    weights of a layer are its matrix (outputs, inputs), row by row, then its biases; layers follow one another.
    `work` holds the units of two layers of a tile, a row each.
    """
    inputs = flat(observations)
    for lo in range(0, action.shape[0], TILE):
        n = min(TILE, action.shape[0] - lo)
        x, y = work[0], work[1]
        for k in range(SIZES[0]):  # noqa: F821
            for i in range(n):
                x[k, i] = inputs[(lo + i) * SIZES[0] + k]  # noqa: F821
            for i in range(n, TILE):  # the lanes beyond take part in whole vectors
                x[k, i] = 0.0
        place = 0
        for layer in range(len(SIZES) - 1):  # noqa: F821
            n_in, n_out = SIZES[layer], SIZES[layer + 1]  # noqa: F821
            dense(w[place : place + n_out * (n_in + 1)], n_in, n_out, n, x, y)
            if layer < len(SIZES) - 2:  # noqa: F821
                for j in range(n_out):
                    activate(y[j, :n])  # noqa: F821
            x, y = y, x
            place += n_out * (n_in + 1)
        head(SIZES[-1], x, keys[lo : lo + n], clock, bounds, action[lo : lo + n])  # noqa: F821


@kernel
def activate_tanh(out):
    """Hyperbolic tangent."""
    for i in range(out.size):
        out[i] = squash(out[i])


@kernel
def activate_relu(out):
    """The positive part."""
    for i in range(out.size):
        out[i] = 0.0 if out[i] < 0.0 else out[i]  # NaN stays


@kernel
def head_argmax(n, x, keys, clock, bounds, action):
    """The discrete action whose output is greatest, the first of equals."""
    for i in range(action.size):
        best = 0
        for j in range(1, n):
            if x[j, i] > x[best, i]:
                best = j
        action[i] = bounds[0, 0] + best


@kernel
def head_sample(n, x, keys, clock, bounds, action):
    """A discrete action drawn with the softmax of the outputs as probabilities."""
    for i in range(action.size):
        greatest = x[0, i]
        for j in range(1, n):
            greatest = max(greatest, x[j, i])
        total = 0.0
        for j in range(n):
            x[j, i] = exp(x[j, i] - greatest)
            total += x[j, i]
        left = random_unit(keys[i], clock) * total
        choice = 0
        while choice < n - 1 and left >= x[choice, i]:
            left -= x[choice, i]
            choice += 1
        action[i] = bounds[0, 0] + choice


@kernel
def head_clip(n, x, keys, clock, bounds, action):
    """The outputs as a continuous action, clipped to its bounds; NaN stays NaN."""
    numbers = action.reshape((action.shape[0], n))
    for k in range(n):
        low, high = bounds[0, k], bounds[1, k]
        for i in range(numbers.shape[0]):
            number = low if x[k, i] < low else x[k, i]
            numbers[i, k] = high if number > high else number
