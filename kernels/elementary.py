"""Elementary functions in plain double arithmetic, which LLVM vectorises.

A loop that calls `math.sin` calls libm for one element at a time, and SVML rounds differently in the vector body and in
the scalar tail. Here there is no call, no branch and no fused multiply-add: a function gives the same bits wherever its
element stands, on every machine, and in pure Python. Arguments are float64.

Nanoseconds an element (blocks of 1,024 in cache, one thread, AVX-512), NumPy's in brackets, and the largest error seen:

    sincos_quarter  0.7        0.8 ulp        exp   1.0 (1.2)  0.8 ulp
    sincos_near     1.5        0.8 ulp        log   1.2 (1.1)  0.9 ulp
    sincos          4.8 (19)   0.8 ulp        tanh  1.1 (2.0)  2.6 ulp
                                              squash  0.7      2.7e-16

In a loop that does not vectorise `sincos` takes 23, `sincos_near` 10, and libm's sine and cosine 18.
"""

import math

import numpy as np

from sekai.kernels.jit import kernel

NEAR = 1647099.0  # 2**20 quarter turns: as far as `sincos_near` goes

ROUND = 1.5 * 2.0**52  # x + ROUND has the integer nearest to x in its lowest bits; minus ROUND, it is that integer
SMALLEST_NORMAL = 2.0**-1022

# sin x = x + S3 x**3 + S5 x**5 + ... and cos x = 1 - x**2 / 2 + C4 x**4 + ... for |x| <= pi/4, errors below 2**-57
# (minimax coefficients of fdlibm's k_sin.c and k_cos.c, Sun Microsystems, 1993).
S3, S5, S7 = -0.16666666666666632, 0.00833333333332249, -0.0001984126982985795
S9, S11, S13 = 2.7557313707070068e-06, -2.5050760253406863e-08, 1.58969099521155e-10
C4, C6, C8 = 0.0416666666666666, -0.001388888888887411, 2.480158728947673e-05
C10, C12, C14 = -2.7557314351390663e-07, 2.087572321298175e-09, -1.1359647557788195e-11

# exp r = 1 + r + r**2 / 2 + E3 r**3 + ... for |r| <= log(2)/2, error below 2**-61 (ours, by Remez's algorithm).
E3, E4, E5 = 0.16666666666666669, 0.04166666666666654, 0.008333333333327933
E6, E7, E8 = 0.001388888888899117, 0.00019841269870945238, 2.4801587054663174e-05
E9, E10, E11 = 2.7557258729184416e-06, 2.755754010634813e-07, 2.510421881140925e-08
E12 = 2.0824570472791095e-09
# r coth r = 1 + T2 r**2 + T4 r**4 + ... for |r| <= log(2)/4, error below 2**-59 (ours, by Remez's algorithm).
T2, T4, T6 = 0.33333333333333204, -0.022222222221612176, 0.0021164020228462447
T8, T10 = -0.00021163394795296469, 2.1187258150407452e-05
# r coth r = Q0 + Q2 r**2 + ... for |r| <= log(2)/4, error times |r| below 2**-53 (ours, by Remez's algorithm).
Q0, Q2, Q4 = 1.0000000000000056, 0.3333333333296326, -0.022222221531594075
Q6, Q8 = 0.0021163494936475877, -0.00020988447196064865
# log((1 + s) / (1 - s)) = 2 s + L3 s**3 + L5 s**5 + ... for |s| <= 0.1716, error below 2**-58 (fdlibm's e_log.c).
L3, L5, L7, L9 = 0.6666666666666735, 0.3999999999940942, 0.2857142874366239, 0.22222198432149784
L11, L13, L15 = 0.1818357216161805, 0.15313837699209373, 0.14798198605116586
# log 2 = HIGH + LOW; HIGH has 41 bits, so that its multiples up to 1,100 are exact.
LN2_HIGH, LN2_LOW, LOG2_E = 0.693147180559663, 2.8235290563031577e-13, 1.4426950408889634
HALF_LN2 = 0.34657359027997264

# pi/2 = A + B + C + D to 150 bits. A, B and C have so few bits that their multiples up to NEAR are exact.
HALF_PI_A, HALF_PI_B, HALF_PI_C = 1.5707963267341256, 6.077100506303966e-11, 2.0222662487111665e-21
HALF_PI_D = 8.4784276603689e-32
# pi/2 = HIGH + LOW, and HIGH has 26 bits.
HALF_PI, HALF_PI_HIGH, HALF_PI_LOW = 1.5707963267948966, 1.5707963109016418, 1.5893254773528196e-08
QUARTERS_PER_RADIAN = 0.6366197723675814  # 2/pi

# The first 1,160 bits of 2/pi.
TWO_OVER_PI = int(
    "a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561b7246e3a424dd2e006492eea09d1921cf"
    "e1deb1cb129a73ee88235f52ebb4484e99c7026b45f7e413991d639835339f49c845f8bbdf9283b1ff897ffde05980fef"
    "2f118b5a0a6d1f6d367ecf27cb09b74f463f669e5fea2d7527bac7ebe5f17b3d0739f78a5292ea6bfb5fb11f8d5d0856",
    16,
)


def _windows():
    """Cut out of 2/pi what matters to each block of eight exponents: column b holds 2/pi * 2**(8 b - 1075) modulo 4.

    A window has 192 bits, the last of them worth 2**-190. Its three rows are words of 64 bits, the highest first.
    """
    windows = [(TWO_OVER_PI >> (2045 - 8 * block)) % 2**192 for block in range(256)]
    return np.array([[(window >> shift) % 2**64 for window in windows] for shift in (128, 64, 0)], dtype=np.uint64)


WINDOWS = _windows()

ONE, TWO, THREE, SEVEN = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(7)
S32, S52, S62 = np.uint64(32), np.uint64(52), np.uint64(62)  # shifts
LOW12, LOW32 = np.uint64(2**12 - 1), np.uint64(2**32 - 1)
SIGN = np.uint64(2**63)
FRACTION, IMPLICIT = np.uint64(2**52 - 1), np.uint64(2**52)  # written and leading bits of a mantissa
HIGH26 = np.uint64(2**64 - 2**27)  # sign, exponent and the first 26 bits of a double
# Powers of two whose last bits are worth 2**-30, 2**-62, 2**-94 and 2**-126, and their bits.
UNIT_30, UNIT_62, UNIT_94, UNIT_126 = 2.0**22, 2.0**-10, 2.0**-42, 2.0**-74
BITS_30, BITS_62, BITS_94, BITS_126 = np.array([UNIT_30, UNIT_62, UNIT_94, UNIT_126]).view(np.uint64)
BITS_ROOT, BITS_1, BITS_INTEGER = np.array([math.sqrt(0.5), 1.0, 2.0**52]).view(np.uint64)


@kernel
def bits(x):
    """Return the 64 bits of a double, as uint64."""
    return np.float64(x).view(np.uint64)


@kernel
def from_bits(u):
    """Return the double that has these 64 bits."""
    return np.uint64(u).view(np.float64)


@kernel
def sincos_quarter(x):
    """Compute sine and cosine for |x| <= pi/4 [rad], each within 1 ulp; NaN for NaN."""
    z = x * x
    half = 0.5 * z
    lead = 1.0 - half
    sin = x + z * x * _odd(z)
    cos = lead + ((1.0 - lead - half) + z * z * _even(z))  # 1 - (half - ...), 0.05 ns less, is off by up to 1.03 ulp
    return (sin if x != 0.0 else x), cos  # -0.0 + 0.0 would lose the sign


@kernel
def sincos_near(x):
    """Compute sine and cosine for |x| <= NEAR [rad], each with the bits of `sincos`; NaN for inf and NaN."""
    head, tail, quarters = _reduce_near(abs(x))
    return _sincos_reduced(head, tail, quarters, x)


@kernel
def sincos(x):
    """Compute sine and cosine of any double [rad], each within 1 ulp; NaN for inf and NaN.

    For |x| <= pi/4 the bits are those of `sincos_quarter`. Both reductions are computed, so that a loop has no branch.
    """
    magnitude = abs(x)
    head, tail, quarters = _reduce_near(magnitude)
    far_head, far_tail, far_quarters = _reduce_far(magnitude)
    if NEAR < magnitude < np.inf:
        head, tail, quarters = far_head, far_tail, far_quarters
    return _sincos_reduced(head, tail, quarters, x)


@kernel
def square(x):
    """Compute x**2."""
    return x * x


@kernel
def all_within(x, limit):
    """Tell whether |x[i]| <= limit for all i: then a cheaper function may do for them. Not if one is NaN."""
    good = True
    for i in range(x.size):
        good &= abs(x[i]) <= limit
    return good


# Two chains of half the length beat Horner's one by 7 %.
@kernel
def _odd(z):
    """Compute (sin x - x) / x**3 for z = x**2."""
    w = z * z
    return S3 + z * (S5 + z * S7 + w * (S9 + z * S11 + w * S13))


@kernel
def _even(z):
    """Compute (cos x - 1 + x**2 / 2) / x**4 for z = x**2."""
    w = z * z
    return C4 + z * (C6 + z * C8 + w * (C10 + z * C12 + w * C14))


@kernel
def _sincos_reduced(head, tail, quarters, x):
    """Compute sine and cosine of head + tail and so many quarter turns, for x >= 0 or its negative."""
    z = head * head
    half = 0.5 * z
    lead = 1.0 - half
    sin = head + (z * head * _odd(z) + tail * lead)
    cos = lead + ((1.0 - lead - half) + (z * z * _even(z) - head * tail))
    if quarters & ONE:
        sin, cos = cos, sin
    sin_sign = (bits(x) & SIGN) ^ ((quarters & TWO) << S62)
    cos_sign = ((quarters + ONE) & TWO) << S62
    return from_bits(bits(sin) ^ sin_sign), from_bits(bits(cos) ^ cos_sign)


@kernel
def _reduce_near(x):
    """Split 0 <= x <= NEAR into quarter turns and a rest (Cody and Waite).

    The rest, at most pi/4 and a hair, is a head and a much smaller tail. The two lowest bits of the third result count
    the quarter turns modulo 4.
    """
    rounded = x * QUARTERS_PER_RADIAN + ROUND
    n = rounded - ROUND
    # Products and the first difference are exact; the errors of the other two go into the tail.
    rest = x - n * HALF_PI_A
    part = n * HALF_PI_B
    shorter = rest - part
    tail = (rest - shorter) - part
    part = n * HALF_PI_C
    head = shorter - part
    tail += (shorter - head) - part
    return head, tail - n * HALF_PI_D, bits(rounded)


@kernel
def _reduce_far(x):
    """Split x > NEAR as `_reduce_near` does (Payne and Hanek): x * 2/pi modulo 4 in 128-bit integers."""
    exponent = bits(x) >> S52
    mantissa = ((bits(x) & FRACTION) | IMPLICIT) << (exponent & SEVEN)  # x = mantissa * 2**(8 * block - 1075)
    block = exponent >> THREE
    high, low = _halves(mantissa)
    w5, w4 = _halves(WINDOWS[0, block])
    w3, w2 = _halves(WINDOWS[1, block])
    w1, w0 = _halves(WINDOWS[2, block])

    # The product, column by column from the right. What is left out is below 2**-124 quarter turns, and no double is
    # nearer than 2**-62 to a whole number of them. The last carry is whole turns.
    carry = (low * w1 >> S32) + (high * w0 >> S32)
    digit_126, carry = _column(low, w2, high, w1, carry)
    digit_94, carry = _column(low, w3, high, w2, carry)
    digit_62, carry = _column(low, w4, high, w3, carry)
    digit_30, _ = _column(low, w5, high, w4, carry)

    # Quarter turns in [0, 4), cut into four exact doubles; then the nearest integer goes.
    a = from_bits(BITS_30 | digit_30) - UNIT_30
    b = from_bits(BITS_62 | digit_62) - UNIT_62
    c = from_bits(BITS_94 | digit_94) - UNIT_94
    d = from_bits(BITS_126 | digit_126) - UNIT_126
    rounded = a + ROUND
    a -= rounded - ROUND
    ab = a + b
    turn = ab + c
    turn_tail = ((b - (ab - a)) + (c - (turn - ab))) + d

    # Times pi/2: the product of the high parts is exact.
    turn_high = from_bits(bits(turn) & HIGH26)
    product = turn_high * HALF_PI_HIGH
    rest = ((turn - turn_high) + turn_tail) * HALF_PI + turn_high * HALF_PI_LOW
    head = product + rest
    return head, rest - (head - product), bits(rounded)


@kernel
def _halves(u):
    """Split 64 bits into the upper and the lower 32."""
    return u >> S32, u & LOW32


@kernel
def _column(a, b, c, d, carry):
    """Split a * b + c * d + carry into its lowest 32 bits and what is above; c < 2**28, so that no sum overflows."""
    first = a * b + carry
    second = c * d + (first & LOW32)
    return second & LOW32, (first >> S32) + (second >> S32)


@kernel
def exp(x):
    """Compute e**x within 1 ulp for any double, subnormal results included; NaN for NaN."""
    x = 710.0 if x > 710.0 else x  # inf from here on
    x = -746.0 if x < -746.0 else x  # 0 from here on
    excess, n = _reduced_exp(x, ROUND + 2046.0)
    half = n >> ONE  # 2**n in two factors: it may lie outside the range of doubles
    return (1.0 + excess) * from_bits(half << S52) * from_bits((n - half) << S52)


@kernel
def log(x):
    """Compute the natural logarithm within 1 ulp for any double; -inf for 0, NaN for what is negative and for NaN."""
    magnitude = abs(x)
    subnormal = magnitude < SMALLEST_NORMAL
    # x = 2**n * (1 + f) with 1 + f from sqrt(1/2) to sqrt(2).
    shifted = bits(magnitude * 2.0**54 if subnormal else magnitude) + (BITS_1 - BITS_ROOT)
    n = from_bits(BITS_INTEGER | (shifted >> S52)) - (2.0**52 + 1023.0 + 54.0 if subnormal else 2.0**52 + 1023.0)
    f = from_bits((shifted & FRACTION) + BITS_ROOT) - 1.0
    half = 0.5 * f * f
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    series = z * (L3 + z * L5 + w * (L7 + z * L9 + w * (L11 + z * L13 + w * L15)))
    y = n * LN2_HIGH - ((half - (s * (half + series) + n * LN2_LOW)) - f)
    y = y if magnitude < np.inf else x
    y = -np.inf if x == 0.0 else y
    return np.nan if x < 0.0 else y


@kernel
def tanh(x):
    """Compute the hyperbolic tangent within 3 ulp for any double; NaN for NaN."""
    magnitude = abs(x)
    magnitude = 20.0 if magnitude > 20.0 else magnitude  # 1 from here on
    rounded = magnitude * (2.0 * LOG2_E) + (ROUND + 1023.0)
    n = rounded - (ROUND + 1023.0)
    r = (magnitude - n * (0.5 * LN2_HIGH)) - n * (0.5 * LN2_LOW)
    # With c = r coth r, exp(2 x) is 2**n (c + r) / (c - r), and the tangent has one division.
    power = from_bits(bits(rounded) << S52)
    more, less = power + 1.0, power - 1.0
    z = r * r
    c_minus_1 = z * (T2 + z * T4 + z * z * (T6 + z * T8 + z * z * T10))
    y = (less + (more * r + less * c_minus_1)) / (more + (less * r + more * c_minus_1))
    return math.copysign(y, x)


@kernel
def squash(x):
    """Compute tanh x, as units of networks need it: to within 4e-16, not relative to it; NaN for NaN.

    A loop takes two thirds of the time of `tanh`: division and products are what it waits for.
    """
    x = 20.0 if x > 20.0 else x  # 1 from here on
    x = -20.0 if x < -20.0 else x
    rounded = x * (2.0 * LOG2_E) + ROUND
    r = x - (rounded - ROUND) * HALF_LN2
    z = r * r
    c = Q0 + z * (Q2 + z * (Q4 + z * (Q6 + z * Q8)))
    # With c = r coth r, exp(2 x) is 2**n (c + r) / (c - r). Instead of a product, n is added to the exponent.
    more = from_bits(np.int64(bits(c + r)) + (np.int64(bits(rounded)) << 52))
    less = c - r
    return (more - less) / (more + less)


@kernel
def _reduced_exp(x, rounding):
    """Find exp x = 2**n * (1 + excess), |excess| < 0.42: the excess, and n + bias where rounding = ROUND + bias."""
    rounded = x * LOG2_E + rounding
    n = rounded - rounding
    head = x - n * LN2_HIGH  # exact
    tail = n * LN2_LOW
    r = head - tail
    z = r * r
    w = z * z
    series = E3 + r * E4 + z * (E5 + r * E6) + w * (E7 + r * E8 + z * (E9 + r * E10) + w * (E11 + r * E12))
    return head + (0.5 * z + z * r * series - tail), bits(rounded) & LOW12
