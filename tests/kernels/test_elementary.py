"""Elementary functions against mpmath, in units in the last place, and against themselves, bit for bit."""

import functools
import math
import os
import re
import subprocess
import sys

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config
from sekai.kernels import elementary as el
from sekai.kernels import kernel

MAX = sys.float_info.max
QUARTER = math.pi / 4  # the double below pi/4
PRECISION = 150  # bits; mpmath adds what its own reduction of large arguments needs
WORST = 6381956970095103 * 2.0**797  # the double nearest to a multiple of pi/2
PI_BITS = 1300


@functools.cache
def loop_of(function):
    """A compiled loop that applies a function of one double with two results."""

    @kernel
    def loop(x, first, second):
        for i in range(x.size):
            first[i], second[i] = function(x[i])

    return loop


def over(function, x):
    """The results of a function at all x, from a compiled loop (from pure Python under NUMBA_DISABLE_JIT)."""
    x = np.asarray(x, dtype=np.float64)
    first, second = np.empty_like(x), np.empty_like(x)
    with np.errstate(all="ignore"):  # of NumPy's scalars, where nothing is compiled
        loop_of(function)(x, first, second)
    return first, second


def error(got, exact):
    """|got - exact| in ulps of the exact value."""
    if exact == 0:
        return abs(mpmath.mpf(got)) / mpmath.mpf(2) ** -1074
    return abs(mpmath.mpf(got) - exact) / mpmath.mpf(2) ** max(mpmath.frexp(exact)[1] - 53, -1074)


def worst_error(got, exact, x):
    with mpmath.workprec(PRECISION):
        return max(error(float(g), exact(mpmath.mpf(float(a)))) for g, a in zip(got, x, strict=True))


def same_bits(a, b):
    return np.asarray(a, dtype=np.float64).tobytes() == np.asarray(b, dtype=np.float64).tobytes()


def around(x):
    """The doubles x and three finite neighbours on either side, with both signs."""
    found = [np.asarray(x, dtype=np.float64)]
    for direction in (-MAX, MAX):
        step = found[0]
        for _ in range(3):
            step = np.nextafter(step, direction)
            found.append(step)
    found = np.concatenate(found)
    return np.concatenate([found, -found])


def doubles(n, low=5e-324, high=MAX, seed=0):
    """Random doubles of either sign, all exponents between the two bounds alike."""
    rng = np.random.default_rng(seed)
    first, last = np.array([low, high]).view(np.int64)
    return rng.integers(first, last, n, endpoint=True).view(np.float64) * rng.choice([-1.0, 1.0], n)


def multiples_of_quarter_turns(counts):
    """The doubles nearest to `counts` quarter turns."""
    with mpmath.workprec(PI_BITS):
        return np.array([float(mpmath.mpf(int(count)) * mpmath.pi / 2) for count in counts])


@functools.cache
def hardest():
    """For each exponent e, the double q * 2**e nearest to whole quarter turns; and how near the nearest of all comes.

    The best approximations p/q of 2**e * 2/pi are the convergents of its continued fraction.
    """
    with mpmath.workprec(PI_BITS):
        two_over_pi = int(mpmath.floor(mpmath.ldexp(2 / mpmath.pi, PI_BITS)))
    scale, found, distances = 2 ** (PI_BITS + 52), [], []
    for e in range(-52, 971):
        turns = (two_over_pi << (e + 52)) % scale
        numerator, denominator, q, q_next = turns, scale, 0, 1
        while q_next < 2**53:
            quotient, rest = divmod(denominator, numerator)
            numerator, denominator = rest, numerator
            q, q_next = q_next, quotient * q_next + q
        found.append(math.ldexp(q, e))
        distances.append(min(q * turns % scale, -q * turns % scale) / scale)
    return np.array(found), min(distances)


SINCOS_ARGUMENTS = {
    "all exponents": doubles(4000),
    "moderate": doubles(4000, 1e-3, 1e7, seed=1),
    "beside small multiples of pi/2": around(multiples_of_quarter_turns(range(1, 100))),
    "beside multiples of pi/2 near 1e6": around(multiples_of_quarter_turns(range(10**6, 10**6 + 100))),
    "beside multiples of pi/2 at the end of the near reduction": around(
        multiples_of_quarter_turns(range(2**20 - 50, 2**20 + 50))
    ),
    "beside huge multiples of pi/2": around(
        multiples_of_quarter_turns([int(x) for x in abs(doubles(100, 1e7, 1e308))])
    ),
    "between two quarters": around(multiples_of_quarter_turns(range(1, 200, 2)) / 2),
    "hardest of each exponent": hardest()[0],
    "boundaries": around([0.0, 5e-324, 2.2e-308, 1e-8, QUARTER, el.NEAR, 2.0**20, 1e300, MAX, WORST]),
}


@pytest.mark.parametrize("name", SINCOS_ARGUMENTS)
def test_sincos_is_within_an_ulp(name):
    x = SINCOS_ARGUMENTS[name]
    sin, cos = over(el.sincos, x)
    assert worst_error(sin, mpmath.sin, x) <= 1
    assert worst_error(cos, mpmath.cos, x) <= 1


def test_sincos_quarter_is_within_an_ulp():
    x = np.concatenate([np.random.default_rng(2).uniform(-QUARTER, QUARTER, 4000), doubles(2000, high=QUARTER)])
    sin, cos = over(el.sincos_quarter, x)
    assert worst_error(sin, mpmath.sin, x) <= 1
    assert worst_error(cos, mpmath.cos, x) <= 1


@pytest.mark.parametrize(("function", "bound"), [(el.sincos_quarter, QUARTER), (el.sincos_near, el.NEAR)])
def test_functions_agree_bit_for_bit_where_both_are_valid(function, bound):
    x = np.concatenate([*SINCOS_ARGUMENTS.values(), doubles(4000, high=bound, seed=3)])
    x = x[abs(x) <= bound]
    assert bound in x
    assert -0.0 in x
    assert same_bits(over(function, x), over(el.sincos, x))


@given(st.floats(allow_nan=False, allow_infinity=False))
@settings(deadline=None)
def test_sincos_of_any_double(x):
    sin, cos = el.sincos(x)
    assert worst_error([sin], mpmath.sin, [x]) <= 1
    assert worst_error([cos], mpmath.cos, [x]) <= 1
    assert same_bits(el.sincos(-x), (-sin, cos))


@pytest.mark.parametrize("function", [el.sincos_quarter, el.sincos_near, el.sincos])
def test_sincos_of_special_values(function):
    assert same_bits(function(0.0), (0.0, 1.0))
    assert same_bits(function(-0.0), (-0.0, 1.0))
    assert same_bits(function(-5e-324), (-5e-324, 1.0))
    assert np.isnan(function(math.nan)).all()


@pytest.mark.parametrize("function", [el.sincos_near, el.sincos])
@pytest.mark.parametrize("x", [math.inf, -math.inf])
def test_sincos_of_infinity_is_nan(function, x):
    assert np.isnan(function(x)).all()


def test_no_double_comes_nearer_to_a_quarter_turn_than_the_far_reduction_allows():
    x, nearest = hardest()
    assert WORST in x
    assert 2**-62 < nearest < 2**-61


def test_constants():
    with mpmath.workprec(PI_BITS):
        assert int(mpmath.floor(mpmath.ldexp(2 / mpmath.pi, 1160))) == el.TWO_OVER_PI
        parts = mpmath.fsum([el.HALF_PI_A, el.HALF_PI_B, el.HALF_PI_C, el.HALF_PI_D])
        assert abs(parts - mpmath.pi / 2) < mpmath.mpf(2) ** -150
        assert abs(mpmath.mpf(el.HALF_PI_HIGH) + el.HALF_PI_LOW - mpmath.pi / 2) < mpmath.mpf(2) ** -78
    turns = 2**20
    assert round(el.NEAR / (math.pi / 2)) == turns
    for part in (el.HALF_PI_A, el.HALF_PI_B, el.HALF_PI_C):
        assert part.as_integer_ratio()[0] * turns <= 2**53  # so that products with up to 2**20 are exact
    assert el.HALF_PI_HIGH.as_integer_ratio()[0] < 2**26


@pytest.mark.parametrize("x", [0.0, -0.0, 1.0, -1.5, 5e-324, MAX, math.inf, -math.inf, math.nan])
def test_bits_and_back(x):
    assert int(el.bits(x)) == int(np.array(x).view(np.uint64))
    assert same_bits(el.from_bits(np.uint64(el.bits(x))), x)


ANYTHING = np.concatenate([doubles(1500), doubles(1500, 1e-3, 1e3), around([0.0, el.NEAR, QUARTER]), [np.inf, np.nan]])


@pytest.mark.parametrize("function", [el.sincos_quarter, el.sincos_near, el.sincos])
def test_a_result_depends_on_nothing_but_its_argument(function):
    single = np.array([function(float(x)) for x in ANYTHING]).T
    assert same_bits(over(function, ANYTHING), single)
    order = np.random.default_rng(4).permutation(ANYTHING.size)
    assert same_bits(over(function, ANYTHING[order]), single[:, order])
    for n in range(20):
        assert same_bits(over(function, ANYTHING[-n:]), single[:, -n:])


WITHOUT_COMPILER = """
import sys
import numpy as np
from sekai.kernels import elementary

x = np.frombuffer(sys.stdin.buffer.read())
with np.errstate(all="ignore"):
    results = [getattr(elementary, sys.argv[1])(a) for a in x]
sys.stdout.buffer.write(np.array(results).tobytes())
"""


@pytest.mark.parametrize("function", [el.sincos_quarter, el.sincos_near, el.sincos])
def test_pure_python_gives_the_same_bits(function):
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_COMPILER, function.__name__],
        input=ANYTHING.tobytes(),
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        check=True,
    )
    pure = np.frombuffer(run.stdout).reshape(-1, 2).T
    assert same_bits(over(function, ANYTHING), pure)


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="there is no machine code to look at")
@pytest.mark.parametrize("function", [el.sincos_quarter, el.sincos_near, el.sincos])
def test_loops_are_vectorised(function):
    over(function, np.ones(1024))
    loop = loop_of(function)
    (signature,) = loop.signatures
    assert "vector.body:" in loop.inspect_llvm(signature)  # the loop vectoriser's name for what it makes
    assert re.search(r"\bv?mulpd\b|\bfmul(\.2d)?\s+v\d", loop.inspect_asm(signature))  # x86's packed product; ARM's
