"""Random numbers of lanes against `numpy.random.Generator`, bit for bit, and with the same state afterwards."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import config
from numpy.random import PCG64, Generator, SeedSequence

from sekai.kernels import random
from sekai.kernels.jit import entry
from sekai.kernels.ziggurat import EXPONENTIAL_K, NORMAL_K

MANY = 20_000 if config.DISABLE_JIT else 200_000
LOW64 = 2**64 - 1
MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645
LANE = 1  # of 3 in the tests of single lanes; its neighbours must stay as they are

compiling = settings(deadline=None)  # the first example compiles
seeds = st.integers(0, 2**128 - 1)


def repeated(draw):
    """Make an entry that fills `out` with draws of lane `i`."""

    @entry
    def repeat(rng, i, arguments, out):
        for k in range(out.size):
            out[k] = draw(rng, i, *arguments)

    return repeat


# name: (entry that fills an array, type of its elements, what NumPy draws)
METHODS = {
    "next64": (repeated(random.next64), np.uint64, lambda g, n: g.bit_generator.random_raw(n)),
    "next32": (repeated(random.next32), np.uint64, lambda g, n: g.integers(0, 2**32, n, np.uint32)),
    "random": (repeated(random.random), np.float64, lambda g, n: g.random(n)),
    "uniform": (repeated(random.uniform), np.float64, lambda g, n, low, high: g.uniform(low, high, n)),
    "standard_normal": (repeated(random.standard_normal), np.float64, lambda g, n: g.standard_normal(n)),
    "normal": (repeated(random.normal), np.float64, lambda g, n, loc, scale: g.normal(loc, scale, n)),
    "integers": (repeated(random.integers), np.int64, lambda g, n, low, high: g.integers(low, high, n)),
    "standard_exponential": (repeated(random.standard_exponential), np.float64, lambda g, n: g.standard_exponential(n)),
    "exponential": (repeated(random.exponential), np.float64, lambda g, n, scale: g.exponential(scale, n)),
    "poisson": (repeated(random.poisson), np.int64, lambda g, n, lam: g.poisson(lam, n)),
}


def words_of(number, count):
    return np.array([number >> 32 * k & 0xFFFFFFFF for k in range(count)], np.uint32)


def seeded_lanes(*numbers):
    """Make the random state of lanes with these seeds."""
    rng = np.full((6, len(numbers)), 7, np.uint64)
    words = np.array([words_of(number, 4) for number in numbers])
    random.seed_lanes(words, rng, np.arange(len(numbers)))
    return rng


def state_of(rng, i):
    """Read lane i as the state of a bit generator."""
    high, low, add_high, add_low, has_half, half = map(int, rng[:, i])
    numbers = {"state": high << 64 | low, "inc": add_high << 64 | add_low}
    return {"bit_generator": "PCG64", "state": numbers, "has_uint32": has_half, "uinteger": half}


def assert_same_bits(actual, expected):
    np.testing.assert_array_equal(actual.view(np.uint64), expected.astype(actual.dtype).view(np.uint64))


def check(generator, rng, i, name, arguments=(), count=100):
    """Draw from both, and compare the draws and the states."""
    fill, dtype, draw = METHODS[name]
    out = np.empty(count, dtype)
    fill(rng, i, arguments, out)
    assert_same_bits(out, draw(generator, count, *arguments))
    assert state_of(rng, i) == generator.bit_generator.state


def pair(seed):
    """Make a generator, and lanes of which number LANE is that generator."""
    return Generator(PCG64(seed)), seeded_lanes(2**100 + 1, seed, 5)


def with_next_draw(bits, seed=0):
    """Make a pair whose next 64-bit draw gives `bits`."""
    generator, rng = pair(seed)
    state = generator.bit_generator.state
    high = state["state"]["state"] >> 64
    turn = high >> 58
    low = high ^ ((bits << turn | bits >> (64 - turn)) & LOW64)
    before = ((high << 64 | low) - state["state"]["inc"]) * pow(MULTIPLIER, -1, 2**128) % 2**128
    state["state"]["state"] = before
    generator.bit_generator.state = state
    rng[:2, LANE] = before >> 64, before & LOW64
    return generator, rng


bounds = st.floats(-1e300, 1e300)
spans = st.integers(1, 100) | st.integers(1, 2**34) | st.integers(1, 2**64) | st.sampled_from([2**31 + 1, 2**32])


@st.composite
def calls(draw):
    """Choose a method, arguments for it, and how often to call it."""
    name = draw(st.sampled_from(sorted(METHODS)))
    arguments = ()
    if name == "uniform":
        arguments = tuple(sorted(draw(st.tuples(bounds, bounds))))
    elif name == "normal":
        arguments = draw(st.tuples(bounds, st.floats(0.0, 1e300)))
    elif name == "integers":
        low = draw(st.integers(-(2**63), 2**63 - 2))
        arguments = (low, min(low + draw(spans), 2**63 - 1))
    elif name == "exponential":
        arguments = (draw(st.floats(0.0, 1e300)),)
    elif name == "poisson":
        arguments = (draw(st.floats(0.0, 30.0) | st.floats(0.0, 9.2e18)),)
    return name, arguments, draw(st.integers(1, 9))


@compiling
@given(seeds, st.lists(calls(), max_size=12))
def test_any_sequence_of_calls(seed, sequence):
    generator, rng = pair(seed)
    neighbours = rng[:, ::2].copy()
    for name, arguments, count in sequence:
        check(generator, rng, LANE, name, arguments, count)
    np.testing.assert_array_equal(rng[:, ::2], neighbours)


@pytest.mark.parametrize("name", ["next64", "next32", "random", "standard_normal", "standard_exponential"])
def test_many_draws(name):
    check(*pair(20), LANE, name, count=MANY)


@pytest.mark.parametrize("lam", [0.0, 1e-300, 0.5, 9.99, np.nextafter(10.0, 0.0), 10.0, 11.5, 1e3, 1e9, 1e15, 9.2e18])
def test_poisson(lam):
    check(*pair(21), LANE, "poisson", (lam,), MANY // 10)


@pytest.mark.parametrize("low", [-(2**63), -(2**33) - 5, -1, 0, 3])
@pytest.mark.parametrize("span", [1, 2, 3, 2**31 + 1, 2**32 - 1, 2**32, 2**32 + 1, 2**62, 2**63 - 4])
def test_integers(low, span):
    check(*pair(22), LANE, "integers", (low, low + span))


@pytest.mark.parametrize("low", [-(2**63), -(2**63) + 1, -(2**62) - 3, 0, 2**63 - 2, 2**63 - 1])
def test_integers_up_to_the_largest(low):
    check(*pair(23), LANE, "integers", (np.int64(low), np.uint64(2**63)))


@pytest.mark.parametrize("high", [10, 2**40])
def test_half_a_draw_waits_for_the_next_bounded_integer(high):
    generator, rng = pair(24)
    for name, arguments in [("integers", (0, 10)), ("random", ()), ("integers", (0, high)), ("integers", (0, 7))]:
        check(generator, rng, LANE, name, arguments, count=1)


@pytest.mark.parametrize("sign", [0, 1])
@pytest.mark.parametrize("excess", [-1, 0, 1])
def test_normal_at_the_edge_of_each_layer(sign, excess):
    for layer, inside in enumerate(NORMAL_K):
        steps = max(int(inside) + excess, 0)
        check(*with_next_draw(layer | sign << 8 | steps << 9), LANE, "standard_normal", count=2)


@pytest.mark.parametrize("excess", [-1, 0, 1])
def test_exponential_at_the_edge_of_each_layer(excess):
    for layer, inside in enumerate(EXPONENTIAL_K):
        steps = max(int(inside) + excess, 0)
        check(*with_next_draw(layer << 3 | steps << 11), LANE, "standard_exponential", count=2)


@compiling
@given(seeds, st.integers(0, LOW64))
def test_normal_in_both_tails(seed, bits):
    check(*with_next_draw(bits & ~0xFF | 0xF << 57, seed), LANE, "standard_normal", count=2)


EXAMPLES = {
    "uniform": (-1.0, 2.0),
    "normal": (0.0, 1.0),
    "integers": (0, 2**40),
    "exponential": (3.0,),
    "poisson": (20.0,),
}


@pytest.mark.parametrize("bits", [0, LOW64, 2**63, 2**63 - 1])
@pytest.mark.parametrize("name", METHODS)
def test_extreme_draws(name, bits):
    check(*with_next_draw(bits), LANE, name, EXAMPLES.get(name, ()), count=3)


@entry
def uniforms(rng, out):
    for i in range(out.size):
        out[i] = random.random(rng, i)


@entry
def normals(rng, out):
    random.standard_normals(rng, out)


@pytest.mark.parametrize("block", [uniforms, normals])
def test_slices_of_rows_stand_for_the_array(block):
    rng, lo, hi = seeded_lanes(*range(2**70, 2**70 + 200)), 30, 130
    generators = [Generator(PCG64(2**70 + i)) for i in range(lo, hi)]
    before, out = rng.copy(), np.empty(hi - lo)
    for _ in range(max(3, MANY // 10_000)):  # 2,000 normals, of which 30 need more than one draw
        block(tuple(row[lo:hi] for row in rng), out)
        expected = [g.random() if block is uniforms else g.standard_normal() for g in generators]
        assert_same_bits(out, np.array(expected))
    assert [state_of(rng, i) for i in range(lo, hi)] == [g.bit_generator.state for g in generators]
    np.testing.assert_array_equal(np.delete(rng, np.s_[lo:hi], 1), np.delete(before, np.s_[lo:hi], 1))


def test_block_of_normals_is_the_normals_of_the_lanes():
    rng = seeded_lanes(*range(1000))
    expected = [Generator(PCG64(i)) for i in range(1000)]
    for _ in range(MANY // 1000):
        out = np.empty(1000)
        normals(rng, out)
        assert_same_bits(out, np.array([g.standard_normal() for g in expected]))
    assert [state_of(rng, i) for i in range(1000)] == [g.bit_generator.state for g in expected]


@compiling
@given(st.lists(seeds, min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_seed_lanes(numbers, shuffle):
    rng = np.arange(60, dtype=np.uint64).reshape(6, 10)
    lanes = np.array(shuffle.sample(range(10), len(numbers)))
    random.seed_lanes(np.array([words_of(number, 4) for number in numbers]), rng, lanes)
    for lane, number in zip(lanes, numbers, strict=True):
        assert state_of(rng, lane) == PCG64(number).state
    others = np.setdiff1d(np.arange(10), lanes)
    np.testing.assert_array_equal(rng[:, others], np.arange(60).reshape(6, 10)[:, others])


@compiling
@given(st.integers(0, 2**300), st.integers(0, 2**32 - 6), st.integers(0, 5))  # NumPy cannot count beyond 2**32 - 1
def test_spawn_words(number, first, count):
    words = np.empty((count, 4), np.uint32)
    random.spawn_words(words_of(number, max(1, -(-number.bit_length() // 32))), words, first)
    children = SeedSequence(number, n_children_spawned=first).spawn(count)
    np.testing.assert_array_equal(words, np.array([c.generate_state(4) for c in children]).reshape(count, 4))


def test_spawned_lanes_are_the_generators_of_their_seeds():
    words, rng = np.empty((1000, 4), np.uint32), np.empty((6, 1000), np.uint64)
    random.spawn_words(words_of(2024, 1), words, 0)
    random.seed_lanes(words, rng, np.arange(1000))
    for i, child in enumerate(SeedSequence(2024).spawn(1000)):
        seed = sum(int(word) << 32 * k for k, word in enumerate(child.generate_state(4)))
        assert state_of(rng, i) == PCG64(seed).state


@entry
def compiled_multiply_add(a, b, c, d, e, f):
    return random.multiply_add(a, b, c, d, e, f)


@compiling
@given(st.tuples(*[st.integers(0, LOW64)] * 6))
def test_multiply_add_in_python_and_compiled(words):
    a, b, c = (high << 64 | low for high, low in zip(words[::2], words[1::2], strict=True))
    for multiply_add in (random.multiply_add, compiled_multiply_add):
        high, low = multiply_add(*map(np.uint64, words))
        assert int(high) << 64 | int(low) == (a * b + c) % 2**128
    digits = random._compile_multiply_add(*words)  # what is compiled: arrays wrap around as it does, with no warning
    high, low = digits(*(np.array([word], np.uint64) for word in words))
    assert int(high[0]) << 64 | int(low[0]) == (a * b + c) % 2**128
