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
from numba import config, float64

from sekai.kernels import elementary as el
from sekai.kernels import kernel

PAIRS = (el.sincos_quarter, el.sincos_near, el.sincos)
SINGLES = (el.exp, el.log, el.tanh, el.squash)

MAX = sys.float_info.max
TINY = 5e-324
QUARTER = math.pi / 4  # the double below pi/4
LARGEST_EXP = 709.782712893384  # the largest double whose exponential is finite
WORST = 6381956970095103 * 2.0**797  # the double nearest to a multiple of pi/2
PRECISION = 150  # bits; mpmath adds what its own reduction of large arguments needs
PI_BITS = 1300

compiling = settings(deadline=None)  # the first example compiles


@functools.cache
def loop_of(function):
    """Make a loop over arrays: arguments, then a result each."""

    @kernel
    def single(x, y):
        for i in range(x.size):
            y[i] = function(x[i])

    @kernel
    def pair(x, y, z):
        for i in range(x.size):
            y[i], z[i] = function(x[i])

    return pair if function in PAIRS else single


def over(function, x):
    """Apply a function to all x in one loop: a row for each of its results."""
    x = np.asarray(x, dtype=np.float64)
    results = np.empty((2 if function in PAIRS else 1, x.size))
    with np.errstate(all="ignore"):  # of NumPy's scalars, under NUMBA_DISABLE_JIT
        loop_of(function)(x, *results)
    return results


def one_by_one(function, x):
    """Apply a function to each x in a call of its own, with rows as from `over`."""
    with np.errstate(all="ignore"):
        return np.array([function(float(a)) for a in x], dtype=np.float64).reshape(len(x), -1).T


def same_bits(a, b):
    """Compare doubles as they are stored: NaN equals itself and -0.0 is not 0.0."""
    return np.asarray(a, dtype=np.float64).tobytes() == np.asarray(b, dtype=np.float64).tobytes()


def worst_error(got, exact, x):
    """Find the largest |got - exact(x)| in ulps of the exact value."""
    with mpmath.workprec(PRECISION):
        return max(_error(mpmath.mpf(float(g)), exact(mpmath.mpf(float(a)))) for g, a in zip(got, x, strict=True))


def _error(got, exact):
    exponent = mpmath.frexp(exact)[1] if exact else -1074
    return abs(got - exact) / mpmath.mpf(2) ** max(exponent - 53, -1074)


def doubles(n, low=TINY, high=MAX, seed=0):
    """Draw doubles of either sign, all exponents between the two bounds alike."""
    rng = np.random.default_rng(seed)
    first, last = np.array([low, high]).view(np.int64)
    return rng.integers(first, last, n, endpoint=True).view(np.float64) * rng.choice([-1.0, 1.0], n)


def around(x):
    """Add to the doubles x three finite neighbours on either side, and the negatives of all."""
    found = [np.asarray(x, dtype=np.float64)]
    for direction in (-MAX, MAX):
        step = found[0]
        for _ in range(3):
            step = np.nextafter(step, direction)
            found.append(step)
    found = np.concatenate(found)
    return np.concatenate([found, -found])


def quarter_turns(counts):
    """Find the doubles nearest to `counts` times pi/2."""
    with mpmath.workprec(PI_BITS):
        return np.array([float(mpmath.mpf(int(count)) * mpmath.pi / 2) for count in counts])


@functools.cache
def hardest():
    """Find for each exponent e the q * 2**e nearest to whole quarter turns, and how near the nearest of all comes.

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


ANGLES = {
    "all exponents": doubles(4000),
    "moderate": doubles(4000, 1e-3, 1e7, seed=1),
    "beside small multiples of pi/2": around(quarter_turns(range(1, 100))),
    "beside multiples of pi/2 near 1e6": around(quarter_turns(range(10**6, 10**6 + 100))),
    "where the near reduction ends": around(quarter_turns(range(2**20 - 50, 2**20 + 50))),
    "beside huge multiples of pi/2": around(quarter_turns(abs(doubles(100, 1e7, 1e308)))),
    "between two quarters": around(quarter_turns(range(1, 200, 2)) / 2),
    "hardest of each exponent": hardest()[0],
    "boundaries": around([0.0, TINY, el.SMALLEST_NORMAL, 1e-8, QUARTER, el.NEAR, 2.0**20, 1e300, MAX, WORST]),
}


@pytest.mark.parametrize("name", ANGLES)
def test_sincos_is_within_an_ulp(name):
    x = ANGLES[name]
    sin, cos = over(el.sincos, x)
    assert worst_error(sin, mpmath.sin, x) <= 1
    assert worst_error(cos, mpmath.cos, x) <= 1


def test_sincos_quarter_is_within_an_ulp():
    x = np.concatenate([np.random.default_rng(2).uniform(-QUARTER, QUARTER, 4000), doubles(2000, high=QUARTER)])
    sin, cos = over(el.sincos_quarter, x)
    assert worst_error(sin, mpmath.sin, x) <= 1
    assert worst_error(cos, mpmath.cos, x) <= 1


@pytest.mark.parametrize(("function", "bound"), [(el.sincos_quarter, QUARTER), (el.sincos_near, el.NEAR)])
def test_faster_functions_have_the_bits_of_sincos(function, bound):
    x = np.concatenate([*ANGLES.values(), doubles(4000, high=bound, seed=3)])
    x = x[abs(x) <= bound]
    assert bound in x
    assert same_bits(over(function, x), over(el.sincos, x))


@given(st.floats(allow_nan=False, allow_infinity=False))
@compiling
def test_sincos_of_any_double(x):
    (sin,), (cos,) = over(el.sincos, [x])
    assert worst_error([sin], mpmath.sin, [x]) <= 1
    assert worst_error([cos], mpmath.cos, [x]) <= 1
    assert same_bits(over(el.sincos, [-x]), [[-sin], [cos]])


@pytest.mark.parametrize("function", PAIRS)
def test_sincos_of_special_values(function):
    sin, cos = over(function, [0.0, -0.0, TINY, -TINY, math.nan])
    assert same_bits(sin[:4], [0.0, -0.0, TINY, -TINY])
    assert same_bits(cos[:4], [1.0, 1.0, 1.0, 1.0])
    assert np.isnan([sin[4], cos[4]]).all()


@pytest.mark.parametrize("function", [el.sincos_near, el.sincos])
def test_sincos_of_infinity_is_nan(function):
    assert np.isnan(over(function, [math.inf, -math.inf])).all()


def test_no_double_is_nearer_to_a_quarter_turn_than_the_far_reduction_allows():
    x, nearest = hardest()
    assert WORST in x
    assert 2**-62 < nearest < 2**-61


HALVES_OF_LOG_2 = around(np.arange(1.0, 2000.0, 20.0) * math.log(2) / 2)  # where exp turns to another power of two
ARGUMENTS = {
    "exp": np.concatenate([np.random.default_rng(5).uniform(-750, 709, 4000), doubles(4000, high=709)]),
    "exp, turns": HALVES_OF_LOG_2,
    "exp, subnormal": np.random.default_rng(6).uniform(-746, -708, 2000),
    "exp, ends": np.concatenate([[LARGEST_EXP], around([0.0, TINY, 708.3964185322641, 709.0, 745.1332191019412])]),
    "log": abs(doubles(6000)),
    "log, beside 1": np.random.default_rng(7).uniform(0.5, 2, 6000),
    "log, boundaries": around([TINY, el.SMALLEST_NORMAL, math.sqrt(0.5), 1.0, math.sqrt(2), 2.0, MAX / 2]),
    "tanh": np.concatenate([np.random.default_rng(8).uniform(-20, 20, 6000), doubles(4000)]),
    "tanh, below powers of two": np.random.default_rng(9).uniform(0.97, 1, 6000) / 2.0 ** (3 + np.arange(6000) % 6),
    "tanh, boundaries": np.concatenate([around([TINY, el.SMALLEST_NORMAL, 19.06, 20.0, MAX]), HALVES_OF_LOG_2 / 2]),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_functions_are_within_their_bounds(name):
    function = name.partition(",")[0]
    x = ARGUMENTS[name]
    x = x[x > 0] if function == "log" else x[x <= LARGEST_EXP] if function == "exp" else x
    (y,) = over(getattr(el, function), x)
    assert worst_error(y, getattr(mpmath, function), x) <= (3 if function == "tanh" else 1)


@given(st.floats(-1000, LARGEST_EXP))
@compiling
def test_exp_of_any_double(x):
    assert worst_error(over(el.exp, [x])[0], mpmath.exp, [x]) <= 1


@given(st.floats(TINY, MAX))
@compiling
def test_log_of_any_positive_double(x):
    assert worst_error(over(el.log, [x])[0], mpmath.log, [x]) <= 1


@given(st.floats(allow_nan=False, allow_infinity=False))
@compiling
def test_tanh_of_any_double(x):
    assert worst_error(over(el.tanh, [x])[0], mpmath.tanh, [x]) <= 3
    assert same_bits(over(el.tanh, [-x]), -over(el.tanh, [x]))


@given(st.floats(-25.0, 25.0) | st.floats(-0.5, 0.5) | st.sampled_from(HALVES_OF_LOG_2.tolist()))
@compiling
def test_squash_is_near_tanh(x):
    above, below = over(el.squash, [x, -x])[0].tolist()
    with mpmath.workprec(PRECISION):
        assert abs(mpmath.mpf(above) - mpmath.tanh(x)) < 4e-16
    assert below == -above


@pytest.mark.parametrize(
    ("function", "x", "y"),
    [
        (el.exp, 0.0, 1.0),
        (el.exp, -0.0, 1.0),
        (el.exp, math.nextafter(LARGEST_EXP, math.inf), math.inf),
        (el.exp, MAX, math.inf),
        (el.exp, math.inf, math.inf),
        (el.exp, -746.0, 0.0),
        (el.exp, -MAX, 0.0),
        (el.exp, -math.inf, 0.0),
        (el.log, 1.0, 0.0),
        (el.log, 0.0, -math.inf),
        (el.log, -0.0, -math.inf),
        (el.log, math.inf, math.inf),
        (el.tanh, 0.0, 0.0),
        (el.tanh, -0.0, -0.0),
        (el.tanh, -TINY, -TINY),
        (el.tanh, 20.0, 1.0),
        (el.tanh, -MAX, -1.0),
        (el.tanh, math.inf, 1.0),
        (el.tanh, -math.inf, -1.0),
        (el.squash, -0.0, 0.0),
        (el.squash, 20.0, 1.0),
        (el.squash, -MAX, -1.0),
        (el.squash, math.inf, 1.0),
    ],
)
def test_special_values(function, x, y):
    assert same_bits(over(function, [x]), y)


@pytest.mark.parametrize(
    ("function", "x"),
    [(f, math.nan) for f in (el.exp, el.tanh, el.squash)] + [(el.log, x) for x in (math.nan, -TINY, -1.0, -math.inf)],
)
def test_what_has_no_value_is_nan(function, x):
    assert np.isnan(over(function, [x])).all()


def test_constants():
    with mpmath.workprec(PI_BITS):
        exact = int(mpmath.floor(mpmath.ldexp(2 / mpmath.pi, 1160)))
        assert exact == el.TWO_OVER_PI
        parts = mpmath.fsum([el.HALF_PI_A, el.HALF_PI_B, el.HALF_PI_C, el.HALF_PI_D])
        assert abs(parts - mpmath.pi / 2) < mpmath.mpf(2) ** -150
        assert abs(mpmath.mpf(el.HALF_PI_HIGH) + el.HALF_PI_LOW - mpmath.pi / 2) < mpmath.mpf(2) ** -78
        assert abs(mpmath.mpf(el.LN2_HIGH) + el.LN2_LOW - mpmath.log(2)) < mpmath.mpf(2) ** -94
    assert el.HALF_PI_HIGH.as_integer_ratio()[0] < 2**26


@pytest.mark.parametrize(
    ("part", "most"), [(el.HALF_PI_A, 2**20), (el.HALF_PI_B, 2**20), (el.HALF_PI_C, 2**20), (el.LN2_HIGH, 1100)]
)
def test_multiples_of_high_parts_are_exact(part, most):
    assert part.as_integer_ratio()[0] * most <= 2**53


@pytest.mark.parametrize("x", [0.0, -0.0, 1.0, -1.5, TINY, MAX, math.inf, -math.inf, math.nan])
def test_bits_and_back(x):
    assert int(el.bits(x)) == int(np.array(x).view(np.uint64))
    assert same_bits(el.from_bits(np.uint64(el.bits(x))), x)


ANYTHING = np.concatenate(
    [doubles(1500), doubles(1500, 1e-3, 1e3), around([0.0, el.NEAR, QUARTER]), [np.inf, -np.inf, np.nan]]
)


@pytest.mark.parametrize("function", PAIRS + SINGLES)
def test_a_result_depends_on_nothing_but_its_argument(function):
    alone = one_by_one(function, ANYTHING)
    assert same_bits(over(function, ANYTHING), alone)
    order = np.random.default_rng(4).permutation(ANYTHING.size)
    assert same_bits(over(function, ANYTHING[order]), alone[:, order])
    for n in range(1, 20):
        assert same_bits(over(function, ANYTHING[-n:]), alone[:, -n:])


WITHOUT_COMPILER = """
import sys
import numpy as np
from sekai.kernels import elementary

x = np.frombuffer(sys.stdin.buffer.read())
with np.errstate(all="ignore"):
    for name in sys.argv[1:]:
        function = getattr(elementary, name)
        sys.stdout.buffer.write(np.array([function(float(a)) for a in x]).T.tobytes())
"""


def test_pure_python_gives_the_same_bits():
    names = [function.__name__ for function in PAIRS + SINGLES]
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_COMPILER, *names],
        input=ANYTHING.tobytes(),
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        check=True,
    )
    assert run.stdout == b"".join(over(function, ANYTHING).tobytes() for function in PAIRS + SINGLES)


@pytest.mark.parametrize(
    ("x", "limit", "answer"),
    [([], 0.0, True), ([1.0, -2.0], 2.0, True), ([1.0, -2.1], 2.0, False), ([0.0, math.nan], 9.0, False)],
)
def test_all_within(x, limit, answer):
    assert el.all_within(np.array(x), limit) == answer


@given(st.floats(-1e150, 1e150))
def test_square(x):
    assert el.square(x) == x * x


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="there is no machine code to look at")
@pytest.mark.parametrize("function", PAIRS + SINGLES)
def test_loops_are_vectorised(function):
    loop = loop_of(function)
    signature = (float64[::1],) * (3 if function in PAIRS else 2)
    loop.compile(signature)
    assert "vector.body:" in loop.inspect_llvm(signature)  # the loop vectoriser's name for what it makes
    assert re.search(r"\bv?mulpd\b|\bfmul(\.2d)?\s+v\d", loop.inspect_asm(signature))  # x86's packed product; ARM's
