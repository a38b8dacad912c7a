"""Random numbers for each lane, bit for bit those of `numpy.random.Generator(numpy.random.PCG64(seed))`.

The generators of N lanes are one C-contiguous `uint64[6, N]` array, `rng`. Column i is lane i:

    rows 0, 1   PCG64's 128-bit state, high and low word
    rows 2, 3   its 128-bit increment, high and low word
    rows 4, 5   whether half of a 64-bit draw is left for the next 32-bit draw (0 or 1), and the half last put aside

A method `f(rng, i, ...)` returns what the Generator's method would, and leaves lane i as it would leave the Generator.
Arguments are not checked. In place of the array, `rng` may be a tuple of its six rows or of equal slices of them: the
state is then advanced in a way that a loop of `random` over lanes compiles to vector instructions. With the array or a
slice `rng[:, lo:hi]` of it, single draws take half the time.

Sources: O'Neill, PCG: a family of simple fast space-efficient statistically good algorithms for random number
generation, 2014; Marsaglia & Tsang, The ziggurat method for generating random variables, 2000; Lemire, Fast random
integer generation in an interval, 2019; Hörmann, The transformed rejection method for generating Poisson random
variables, 1993; constants and the order of draws as NumPy has them.
"""

import math

import numba
import numpy as np
from llvmlite import ir
from numba.extending import intrinsic, overload

from sekai.kernels.jit import PART_OPTIONS, entry, kernel
from sekai.kernels.ziggurat import (
    EXPONENTIAL_F,
    EXPONENTIAL_K,
    EXPONENTIAL_R,
    EXPONENTIAL_W,
    NORMAL_F,
    NORMAL_K,
    NORMAL_R,
    NORMAL_W,
)

# Everything that meets a uint64 has to be one: Numba makes int64 or float64 of other pairs.
ZERO, ONE = np.uint64(0), np.uint64(1)
S3, S9, S11, S16, S32, S58, S63, S64 = (np.uint64(n) for n in (3, 9, 11, 16, 32, 58, 63, 64))
LOW6, LOW8, LOW32, LOW52, LOW64 = (np.uint64(2**n - 1) for n in (6, 8, 32, 52, 64))
BIT8, BIT63 = np.uint64(2**8), np.uint64(2**63)

SPACING = 2.0**-53  # of the uniform doubles
MULTIPLIER_HIGH, MULTIPLIER_LOW = np.uint64(0x2360ED051FC65DA4), np.uint64(0x4385DF649FCCF645)


def multiply_add(high, low, factor_high, factor_low, term_high, term_low):
    """Multiply two 128-bit numbers and add a third, modulo 2**128; a number is a pair of words, high and low."""
    number = int(high) << 64 | int(low)
    factor = int(factor_high) << 64 | int(factor_low)
    term = int(term_high) << 64 | int(term_low)
    high, low = divmod(number * factor + term, 2**64)
    return np.uint64(high % 2**64), np.uint64(low)


@overload(multiply_add, jit_options=PART_OPTIONS)
def _compile_multiply_add(high, low, factor_high, factor_low, term_high, term_low):
    # In digits of 32 bits, which vectorise: `random` over 1,024 lanes takes 0.58 ns a lane, against 1.42 ns with LLVM's
    # 128-bit multiply. The term goes in digit by digit: LLVM 22 turns a bare product of digits into that multiply, and
    # then nothing vectorises (1.9 ns). Only the high word of the result wraps.
    def digits(high, low, factor_high, factor_low, term_high, term_low):
        a, b, c, d = low & LOW32, low >> S32, factor_low & LOW32, factor_low >> S32
        ac = a * c + (term_low & LOW32)
        bc = b * c + (ac >> S32) + (term_low >> S32)
        ad = a * d + (bc & LOW32)
        carry = b * d + (bc >> S32) + (ad >> S32)
        return high * factor_low + low * factor_high + term_high + carry, ad << S32 | ac & LOW32

    return digits


@intrinsic
def _multiply_add_wide(typing, high, low, factor_high, factor_low, term_high, term_low):
    """`multiply_add` by LLVM's 128-bit integers: one machine instruction, but none for vectors."""
    word, wide = ir.IntType(64), ir.IntType(128)
    uint64 = numba.types.uint64

    def code(context, builder, signature, args):
        def number(high, low):
            shifted = builder.shl(builder.zext(high, wide), ir.Constant(wide, 64))
            return builder.or_(shifted, builder.zext(low, wide))

        state, factor, term = number(*args[:2]), number(*args[2:4]), number(*args[4:])
        result = builder.add(builder.mul(state, factor), term)
        words = builder.lshr(result, ir.Constant(wide, 64)), result
        return context.make_tuple(builder, signature.return_type, [builder.trunc(w, word) for w in words])

    return numba.types.UniTuple(uint64, 2)(*[uint64] * 6), code


def _next_state(rng, k):
    """The state of lane k after its next draw, as (high, low)."""
    return multiply_add(rng[0][k], rng[1][k], MULTIPLIER_HIGH, MULTIPLIER_LOW, rng[2][k], rng[3][k])


@overload(_next_state, jit_options=PART_OPTIONS)
def _compile_next_state(rng, k):
    # By the kind of `rng`: four draws one after another on one lane take 8 ns by wide numbers, 15 ns in digits.
    multiply = _multiply_add_wide if isinstance(rng, numba.types.Array) else multiply_add
    return lambda rng, k: multiply(rng[0][k], rng[1][k], MULTIPLIER_HIGH, MULTIPLIER_LOW, rng[2][k], rng[3][k])


@kernel
def _output(high, low):
    """Make 64 random bits of a state: the xor of its words, rotated by its top 6 bits (XSL-RR)."""
    bits, turn = high ^ low, high >> S58
    return bits >> turn | bits << (S64 - turn & LOW6)


@kernel
def next64(rng, i):
    """Draw 64 bits, as a uint64."""
    k = np.uint64(i)  # unsigned: a lane's number is never negative, and code that allows for it would not vectorise
    high, low = _next_state(rng, k)
    rng[0][k], rng[1][k] = high, low
    return _output(high, low)


@kernel
def next32(rng, i):
    """Draw 32 bits, as a uint64: the low half of a 64-bit draw, and its high half the next time."""
    k = np.uint64(i)
    if rng[4][k]:
        rng[4][k] = ZERO
        return rng[5][k]
    bits = next64(rng, i)
    rng[4][k], rng[5][k] = ONE, bits >> S32
    return bits & LOW32


@kernel
def random(rng, i):
    """Draw a float64 uniform in [0, 1)."""
    return (next64(rng, i) >> S11) * SPACING


@kernel
def uniform(rng, i, low, high):
    """Draw a float64 uniform in [low, high)."""
    return low + (high - low) * random(rng, i)


@kernel
def _normal_candidate(bits):
    """Find the point in the ziggurat that 64 bits stand for: layer, number of steps, and signed distance."""
    layer, steps = bits & LOW8, bits >> S9 & LOW52
    x = steps * NORMAL_W[layer]
    return layer, steps, -x if bits & BIT8 else x


@kernel
def _normal_tail(rng, i):
    """Draw the absolute value of a normal beyond NORMAL_R (Marsaglia 1964)."""
    while True:
        x = -1.0 / NORMAL_R * math.log1p(-random(rng, i))
        y = -math.log1p(-random(rng, i))
        if y + y > x * x:
            return NORMAL_R + x


@kernel
def _accept_normal(rng, i, bits):
    """Finish the draw of a normal that began with these 64 bits."""
    while True:
        layer, steps, x = _normal_candidate(bits)
        if steps < NORMAL_K[layer]:
            return x
        if layer == ZERO:
            tail = _normal_tail(rng, i)
            return -tail if steps & BIT8 else tail
        above, below = NORMAL_F[layer - ONE], NORMAL_F[layer]
        if (above - below) * random(rng, i) + below < math.exp(-0.5 * x * x):
            return x
        bits = next64(rng, i)


@kernel
def standard_normal(rng, i):
    """Draw a normal float64 of mean 0 and standard deviation 1."""
    return _accept_normal(rng, i, next64(rng, i))


@kernel
def standard_normals(rng, out):
    """Write `standard_normal(rng, i)` to out[i], for all i, in half the time (2.3 ns a lane, not 4.7).

    The first loop, in vector instructions, makes the 98.5% of the normals that need one draw only. For the others, the
    bits that they have drawn are made of the state once more.
    """
    for i in range(out.size):
        layer, steps, x = _normal_candidate(next64(rng, i))
        out[i] = x if steps < NORMAL_K[layer] else np.nan
    for i in range(out.size):
        if np.isnan(out[i]):
            out[i] = _accept_normal(rng, i, _output(rng[0][i], rng[1][i]))


@kernel
def normal(rng, i, loc, scale):
    """Draw a normal float64 of mean `loc` and standard deviation `scale`."""
    return loc + scale * standard_normal(rng, i)


@kernel
def standard_exponential(rng, i):
    """Draw an exponential float64 of mean 1."""
    while True:
        bits = next64(rng, i)
        layer, steps = bits >> S3 & LOW8, bits >> S11
        x = steps * EXPONENTIAL_W[layer]
        if steps < EXPONENTIAL_K[layer]:
            return x
        if layer == ZERO:
            return EXPONENTIAL_R - math.log1p(-random(rng, i))
        above, below = EXPONENTIAL_F[layer - ONE], EXPONENTIAL_F[layer]
        if (above - below) * random(rng, i) + below < math.exp(-x):
            return x


@kernel
def exponential(rng, i, scale):
    """Draw an exponential float64 of mean `scale`."""
    return scale * standard_exponential(rng, i)


@kernel
def _bounded32(rng, i, last):
    """Draw an integer in 0 .. last, for last < 2**32 - 1 (Lemire 2019)."""
    count = last + ONE
    product = next32(rng, i) * count
    if product & LOW32 < count:
        threshold = (LOW32 - last) % count
        while product & LOW32 < threshold:
            product = next32(rng, i) * count
    return product >> S32


@kernel
def _bounded64(rng, i, last):
    """Draw an integer in 0 .. last, for last < 2**64 - 1 (Lemire 2019)."""
    count = last + ONE
    high, low = multiply_add(ZERO, next64(rng, i), ZERO, count, ZERO, ZERO)
    if low < count:
        threshold = (LOW64 - last) % count
        while low < threshold:
            high, low = multiply_add(ZERO, next64(rng, i), ZERO, count, ZERO, ZERO)
    return high


@kernel
def _bounded(rng, i, last):
    """Draw a uint64 in 0 .. last."""
    if last == ZERO:
        return ZERO
    if last < LOW32:
        return _bounded32(rng, i, last)
    if last == LOW32:
        return next32(rng, i)
    if last < LOW64:
        return _bounded64(rng, i, last)
    return next64(rng, i)


@kernel
def integers(rng, i, low, high):
    """Draw an int64 in low .. high - 1; `high` may be `np.uint64(2**63)`."""
    # Shifted by 2**63, an int64 is a uint64 in the same order, and nothing below wraps.
    first, last = np.uint64(np.int64(low)) ^ BIT63, np.uint64(np.int64(high - 1)) ^ BIT63
    return np.int64(first + _bounded(rng, i, last - first) ^ BIT63)


@kernel
def _log_gamma(x):
    """Take the logarithm of gamma(x) for a whole x >= 1, as NumPy does: by Stirling's series, shifted to 7 or more."""
    if x == 1.0 or x == 2.0:
        return 0.0
    shift = max(7.0 - x, 0.0)
    z = x + shift
    inverse = 1.0 / z
    y = inverse * inverse
    series = -1.39243221690590e00 * y + 1.796443723688307e-01
    series = series * y - 2.955065359477124e-02
    series = series * y + 6.410256410256410e-03
    series = series * y - 1.917526917526918e-03
    series = series * y + 8.417508417508418e-04
    series = series * y - 5.952380952380952e-04
    series = series * y + 7.936507936507937e-04
    series = series * y - 2.777777777777778e-03
    series = series * y + 8.333333333333333e-02
    result = series / z + 0.9189385332046727 + (z - 0.5) * math.log(z) - z  # 0.918… = log(2 pi) / 2
    while z > x:
        z -= 1.0
        result -= math.log(z)
    return result


@kernel
def _poisson_product(rng, i, lam):
    """Count the uniforms whose product stays above exp(-lam), for lam < 10."""
    limit, product, count = math.exp(-lam), random(rng, i), 0
    while product > limit:
        product *= random(rng, i)
        count += 1
    return count


@kernel
def _poisson_rejection(rng, i, lam):
    """Draw by transformed rejection, for lam >= 10 (Hörmann 1993, algorithm PTRS)."""
    log_lam = math.log(lam)
    b = 0.931 + 2.53 * math.sqrt(lam)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    v_r = 0.9277 - 3.6224 / (b - 2.0)
    while True:
        u = random(rng, i) - 0.5
        v = random(rng, i)
        us = 0.5 - abs(u)
        if us == 0.0:
            continue  # k would be minus infinity
        k = np.floor((2.0 * a / us + b) * u + lam + 0.43)
        if us >= 0.07 and v <= v_r:
            return np.int64(k)
        if k < 0.0 or (us < 0.013 and v > us):
            continue
        tried = math.log(v) + math.log(inverse_alpha) - math.log(a / (us * us) + b)
        if tried <= -lam + k * log_lam - _log_gamma(k + 1.0):
            return np.int64(k)


@kernel
def poisson(rng, i, lam):
    """Draw a Poisson int64 of mean `lam`, where 0 <= lam <= 9.2e18."""
    if lam >= 10.0:
        return _poisson_rejection(rng, i, lam)
    if lam == 0.0:
        return 0
    return _poisson_product(rng, i, lam)


# NumPy's SeedSequence (after O'Neill's seed_seq_fe, 2015) makes a pool of four 32-bit words, held here in uint64s.
# Hashing number k of those that fill the pool, or that read it out, uses START * STEP**k modulo 2**32.

FILL_START, FILL_STEP = 0x43B0D7E5, np.uint64(0x931E8875)
READ_START, READ_STEP = 0x8B51F9DD, np.uint64(0x58F38DED)
FILL = np.array([FILL_START * int(FILL_STEP) ** k % 2**32 for k in range(17)], np.uint64)
READ = np.array([READ_START * int(READ_STEP) ** k % 2**32 for k in range(8)], np.uint64)
MIX_LEFT, MIX_RIGHT = np.uint64(0xCA01F9DD), np.uint64(2**32 - 0x4973F715)


@kernel
def _fold(x):
    """Keep 32 bits of x, and xor their upper half into the lower."""
    x &= LOW32
    return x ^ x >> S16


@kernel
def _hash(word, constant, step):
    return _fold((word ^ constant) * (constant * step & LOW32))


@kernel
def _mix(word, other, constant):
    """Mix a hash of `other` into a word of the pool."""
    hashed = _hash(other, constant, FILL_STEP)
    return _fold((word * MIX_LEFT & LOW32) + (hashed * MIX_RIGHT & LOW32))


@kernel
def _pool(a, b, c, d):
    """Fill the pool from four words of entropy."""
    a, b = _hash(a, FILL[0], FILL_STEP), _hash(b, FILL[1], FILL_STEP)
    c, d = _hash(c, FILL[2], FILL_STEP), _hash(d, FILL[3], FILL_STEP)
    b, c, d = _mix(b, a, FILL[4]), _mix(c, a, FILL[5]), _mix(d, a, FILL[6])
    a, c, d = _mix(a, b, FILL[7]), _mix(c, b, FILL[8]), _mix(d, b, FILL[9])
    a, b, d = _mix(a, c, FILL[10]), _mix(b, c, FILL[11]), _mix(d, c, FILL[12])
    a, b, c = _mix(a, d, FILL[13]), _mix(b, d, FILL[14]), _mix(c, d, FILL[15])
    return a, b, c, d


@kernel
def _absorb(a, b, c, d, word, constant):
    """Mix one more word of entropy into the pool, with this constant and the next three."""
    a = _mix(a, word, constant)
    constant = constant * FILL_STEP & LOW32
    b = _mix(b, word, constant)
    constant = constant * FILL_STEP & LOW32
    c = _mix(c, word, constant)
    constant = constant * FILL_STEP & LOW32
    return a, b, c, _mix(d, word, constant), constant * FILL_STEP & LOW32


@kernel
def _read(word, k):
    """Make word k of the output from word k % 4 of the pool."""
    return _hash(word, READ[k], READ_STEP)


@kernel
def _seed_lane(rng, i, a, b, c, d):
    """Seed lane i from a pool, with no half draw left over."""
    high, low = _read(a, 0) | _read(b, 1) << S32, _read(c, 2) | _read(d, 3) << S32
    stream_high, stream_low = _read(a, 4) | _read(b, 5) << S32, _read(c, 6) | _read(d, 7) << S32
    add_high, add_low = stream_high << ONE | stream_low >> S63, stream_low << ONE | ONE
    high, low = multiply_add(high, low, ZERO, ONE, add_high, add_low)
    high, low = multiply_add(high, low, MULTIPLIER_HIGH, MULTIPLIER_LOW, add_high, add_low)
    rng[0, i], rng[1, i], rng[2, i], rng[3, i] = high, low, add_high, add_low
    rng[4, i], rng[5, i] = ZERO, ZERO


@entry
def seed_lanes(words, rng, lanes):
    """Seed lane lanes[k] as `PCG64(seed)` does, for each k.

    Args:
        words (uint32[n, 4]): the seeds, integers below 2**128, each as four 32-bit words, the lowest first.
        rng (uint64[6, N]): the generators; the columns of these lanes are overwritten.
        lanes (int64[n]): where the seeds go.

    """
    for k in range(lanes.size):
        seed = words[k]
        a, b, c, d = _pool(np.uint64(seed[0]), np.uint64(seed[1]), np.uint64(seed[2]), np.uint64(seed[3]))
        _seed_lane(rng, lanes[k], a, b, c, d)


@kernel
def _entropy(words, k):
    """Read word k of some entropy, zero beyond its end."""
    return np.uint64(words[k]) if k < words.size else ZERO


@entry
def spawn_words(parent, words, first):
    """Write `SeedSequence(s).spawn(first + n)[first + i].generate_state(4)` to words[i], for each i.

    Args:
        parent (uint32[m], m >= 1): the integer s in 32-bit words, the lowest first.
        words (uint32[n, 4]): overwritten.
        first (int64): number of the first child; first + n is at most 2**32.

    """
    a, b, c, d = _entropy(parent, 0), _entropy(parent, 1), _entropy(parent, 2), _entropy(parent, 3)
    a, b, c, d = _pool(a, b, c, d)
    constant = FILL[16]
    for k in range(4, parent.size):
        a, b, c, d, constant = _absorb(a, b, c, d, np.uint64(parent[k]), constant)
    for i in range(words.shape[0]):
        e, f, g, h, _ = _absorb(a, b, c, d, np.uint64(first + i), constant)
        words[i, 0], words[i, 1], words[i, 2], words[i, 3] = _read(e, 0), _read(f, 1), _read(g, 2), _read(h, 3)
