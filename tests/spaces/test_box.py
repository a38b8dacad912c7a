"""Bounds, samples and membership of Box, up to the limits of every dtype."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekai.spaces import Box
from sekai.testing import strategies as sts

FLOATS = ["float16", "float32", "float64"]
INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
BIG = 1e308
TINY = 5e-324


def test_bounds_are_fresh_arrays_of_the_dtype_and_shape():
    low, high = np.zeros(2, np.float32), np.ones(2, np.float32)
    box = Box(low, high)
    low[0], high[0] = -5, 5
    assert (box.low.tolist(), box.high.tolist()) == ([0, 0], [1, 1])
    assert box.low.dtype == box.high.dtype == np.float32
    assert Box(0, 1, [2, 3]).low.shape == (2, 3)
    assert Box(np.zeros(3), 1, (2, 3)).shape == (2, 3)
    assert Box(0, 1).shape == ()


@pytest.mark.parametrize(
    ("args", "error", "words"),
    [
        ((1, 0), ValueError, "low must not exceed high"),
        ((np.zeros(2), np.ones(3)), ValueError, "one shape"),
        ((np.zeros(2), 1), ValueError, "one shape"),
        ((np.zeros(2), 1, (2, 3)), ValueError, "broadcast"),
        ((np.nan, 1, (2,)), ValueError, "low must not be NaN"),
        ((0, np.array([1, np.nan]), (2,), np.int64), ValueError, "high must not be NaN"),
        ((0, 1, 3), TypeError, "shape must be a sequence of ints"),
        ((0, 1, (2.0,)), TypeError, "shape must be a sequence of ints"),
        ((None, 1), TypeError, "low must be a number"),
        ((0, "1"), TypeError, "high must be a number"),
        ((0, 1j), TypeError, "high must be a number"),
        ((np.inf, np.inf), ValueError, "low must be below inf"),
        ((-np.inf, -np.inf), ValueError, "high above -inf"),
        ((0.2, 0.8, (), np.int64), ValueError, "low must not exceed high"),
    ],
)
def test_bad_arguments_are_named(args, error, words):
    with pytest.raises(error, match=words):
        Box(*args)


@pytest.mark.parametrize(
    ("low", "high", "dtype", "expected"),
    [
        (-np.inf, np.inf, np.int8, (-128, 127)),
        (-np.inf, np.inf, np.uint64, (0, 2**64 - 1)),
        (0.5, 2.5, np.int64, (1, 2)),
        (-2.5, -0.5, np.int64, (-2, -1)),
        (-0.5, 255.9, np.uint8, (0, 255)),
        ([1, 2**63 + 1], [1, 2**64 - 1], np.uint64, ([1, 2**63 + 1], [1, 2**64 - 1])),
        (True, 3, np.int8, (1, 3)),
        (0, 1, bool, (False, True)),
        (-np.inf, np.inf, bool, (False, True)),
        (0, 2**70, np.float64, (0.0, 2.0**70)),
    ],
)
def test_bounds_become_the_dtype_without_a_warning(low, high, dtype, expected):
    box = Box(low, high, dtype=dtype)
    assert (box.low.tolist(), box.high.tolist()) == expected


@pytest.mark.parametrize(
    ("low", "high", "dtype", "expected"),
    [
        (-1, 256, np.uint8, (0, 255)),
        (-1.0, 255.0, np.uint8, (0, 255)),
        (0, 1e30, np.int64, (0, 2**63 - 1)),
        (0, 2.0**63, np.int64, (0, 2**63 - 1)),
        (-(10**30), 0, np.int16, (-(2**15), 0)),
        (np.array([-1]), np.array([2**40]), np.uint32, ([0], [2**32 - 1])),
        (0, 1e39, np.float32, (0, float(np.finfo(np.float32).max))),
        (-BIG, 0, np.float16, (-65504.0, 0.0)),
        (0, 2, bool, (False, True)),
    ],
)
def test_finite_bounds_beyond_the_dtype_move_to_its_limit_with_a_warning(low, high, dtype, expected):
    with pytest.warns(UserWarning, match=np.dtype(dtype).name):
        box = Box(low, high, dtype=dtype)
    assert (box.low.tolist(), box.high.tolist()) == expected


def test_the_warning_points_at_the_caller():
    with pytest.warns(UserWarning, match="uint8") as caught:
        Box(0, 256, dtype=np.uint8)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (-BIG, BIG),
        (-np.finfo(float).max, np.finfo(float).max),
        (-np.inf, np.inf),
        (-np.inf, -BIG),
        (BIG, np.inf),
        (np.finfo(float).max, np.inf),
        (0.0, TINY),
        (-TINY, TINY),
        (TINY, TINY),
        (BIG, BIG),
        (0.0, -0.0),
        ([-BIG, 0, -np.inf, -np.inf, TINY], [BIG, 1, 0, np.inf, np.inf]),
    ],
)
def test_float_samples_at_the_extremes(low, high):
    box = Box(low, high, np.shape(low), np.float64, seed=0)
    samples = [box.sample() for _ in range(50)]
    assert all(box.contains(x) and np.isfinite(x).all() for x in samples)
    batch = box.sample_batch(50)
    assert box.contains_batch(batch).all()
    assert np.isfinite(batch).all()


@pytest.mark.parametrize("dtype", FLOATS)
def test_float_samples_at_the_limits_of_the_dtype(dtype):
    limits = np.finfo(dtype)
    tiny = limits.smallest_subnormal
    for low, high in [(-limits.max, limits.max), (limits.max, np.inf), (-np.inf, -limits.max), (0, tiny), (tiny, tiny)]:
        box = Box(low, high, (3,), dtype, seed=0)
        for x in [*(box.sample() for _ in range(50)), *box.sample_batch(50)]:
            assert x.dtype == dtype
            assert box.contains(x)
            assert np.isfinite(x).all()


@pytest.mark.parametrize("dtype", INTS)
def test_integer_samples_at_the_limits_of_the_dtype(dtype):
    limits = np.iinfo(dtype)
    for low, high in [(limits.min, limits.max), (limits.max, limits.max), (limits.min, limits.min), (0, 1)]:
        box = Box(low, high, (3,), dtype, seed=0)
        for x in [*(box.sample() for _ in range(20)), *box.sample_batch(20)]:
            assert x.dtype == dtype
            assert box.contains(x)
    narrow = Box(limits.max - 1, limits.max, (100,), dtype, seed=0)
    assert set(narrow.sample().tolist()) == set(narrow.sample_batch(1)[0].tolist()) == {limits.max - 1, limits.max}


def test_wide_uniform_samples_spread_over_the_whole_range():
    box = Box(-BIG, BIG, (1000,), np.float64, seed=0)
    for x in (box.sample(), box.sample_batch(1)[0]):
        # Mean and extremes of 1,000 uniforms; five standard errors of the mean are 0.09.
        assert abs((x / BIG).mean()) < 0.1
        assert (x / BIG).min() < -0.95
        assert (x / BIG).max() > 0.95


def test_samples_follow_the_documented_draws():
    box = Box([-np.inf, 0, -np.inf, 0], [np.inf, np.inf, 0, 1], dtype=np.float64, seed=0)
    rng = np.random.default_rng(0)
    uniform, above, below = rng.uniform(0.0, 1.0), rng.exponential(), -rng.exponential()
    assert box.sample().tolist() == [rng.standard_normal(), above, below, uniform]


def test_batches_have_the_documented_distributions():
    box = Box([-np.inf, 0, -np.inf, 2], [np.inf, np.inf, 0, 4], dtype=np.float64, seed=0)
    x = box.sample_batch(20_000)
    # Standard errors of the means are 0.007 or less, of the variances 0.02 or less; five of them.
    assert np.allclose(x.mean(axis=0), [0, 1, -1, 3], atol=0.036)
    assert np.allclose(x.var(axis=0), [1, 1, 1, 1 / 3], atol=0.1)


def test_empty_and_scalar_boxes():
    empty = Box(0, 1, (0, 3), seed=0)
    assert empty.sample().shape == (0, 3)
    assert empty.sample_batch(2).shape == (2, 0, 3)
    assert empty.contains(np.zeros((0, 3), np.float32))
    assert empty.contains_batch(np.zeros((2, 0, 3), np.float32)).tolist() == [True, True]
    scalar = Box(0, 50, (), np.int32, seed=1).sample()
    assert isinstance(scalar, np.ndarray)
    assert (scalar.shape, scalar.dtype, int(scalar)) == ((), np.int32, 24)


@pytest.mark.parametrize("dtype", [bool, complex, object, np.longdouble])
def test_other_dtypes_construct_and_check_but_do_not_sample(dtype):
    box = Box(0, 1, (2,), dtype)
    assert box.contains(box.zero())
    assert box.contains_batch(np.stack([box.zero(), box.zero()])).tolist() == [True, True]
    for draw in (box.sample, lambda: box.sample_batch(2)):
        with pytest.raises(TypeError, match="cannot be sampled"):
            draw()


def test_masked_out_entries_are_zero_and_the_stream_is_the_same():
    masked, free = Box(1, 2, (4,), seed=0), Box(1, 2, (4,), seed=0)
    x, full = masked.sample(mask=[1, 0, 7, 0]), free.sample()
    assert x.tolist() == [full[0], 1, full[2], 1]
    assert x.dtype == np.float32
    assert masked.sample().tolist() == free.sample().tolist()


def test_a_bad_mask_is_refused_before_any_draw():
    box = Box(0, 1, (2,), seed=0)
    for draw in (box.sample, lambda mask: box.sample_batch(4, mask)):
        with pytest.raises(ValueError, match="broadcast"):
            draw([1, 0, 1])
    assert box.sample().tolist() == Box(0, 1, (2,), seed=0).sample().tolist()
    assert box.sample_batch(2).tolist() == Box(0, 1, (2,), seed=0).sample_batch(2).tolist()


def test_batch_masks_are_shared_or_one_per_element():
    box = Box(1, 2, (2,), seed=0)
    assert (box.sample_batch(3, [0, 1])[:, 0] == 1).all()
    mask = np.array([[0, 1], [1, 0], [0, 0]])
    assert ((box.sample_batch(3, mask) == 1) == (mask == 0)).all()


@pytest.mark.parametrize(
    ("x", "inside"),
    [
        ([0, 200], True),
        ((0, 200), True),
        ([0, 201], False),
        ([-1, 5], False),
        ([0.0, 1.0], False),
        (np.array([0, 1]), False),
        (np.array([0, 1], np.uint64), True),
        (np.array([True, True]), True),
        ([np.int64(0), 300], False),
        ([np.int64(0), np.int64(5)], True),
        ([1], False),
        ([[1], [1, 2]], False),
        (None, False),
        ("ab", False),
    ],
)
def test_integer_membership(x, inside):
    box = Box(0, 200, (2,), np.uint8)
    assert box.contains(x) is inside


def test_membership_of_64_bit_integers_is_exact():
    top = 2**64 - 1
    assert Box(5, top, (2,), np.uint64).contains([5, top])
    assert not Box(5, top, (2,), np.uint64).contains([5, top + 1])
    assert not Box(0, 2**60, (1,), np.uint64).contains([2**60 + 1])
    signed = Box(-np.inf, np.inf, (1,), np.int64)
    assert not signed.contains(np.array([2**63], np.uint64))
    assert signed.contains_batch(np.array([[2**63], [2**63 - 1]], np.uint64)).tolist() == [False, True]
    negative = Box(-5, -1, (1,), np.int64)
    assert negative.contains_batch(np.array([[0], [2**64 - 1]], np.uint64)).tolist() == [False, False]


def test_float_membership():
    assert not Box(0.1, 0.2, (1,)).contains(np.array([0.1]))  # below float32's 0.1
    assert Box(0.1, 0.2, (1,)).contains(np.array([0.1], np.float32))
    assert Box(-np.inf, np.inf, (1,)).contains(np.array([np.inf]))
    assert not Box(-np.inf, np.inf, (1,)).contains(np.array([np.nan]))
    assert not Box(0, 1, (1,)).contains(np.array([0j]))
    assert not Box(0, 1, (1,)).contains(np.array([0.5], object))
    assert Box(0, 1).contains(0.5)
    assert Box(0, 3, (), np.uint8).contains(3)
    assert not Box(0, 3, (), np.uint8).contains(4)
    assert Box(0, 1, (2,)).contains([0, 1])
    assert type(Box(0, 1, (2,)).contains(np.zeros(2))) is bool


@given(st.data())
def test_batch_membership_is_membership_of_the_rows(data):
    box = data.draw(sts.boxes())
    wide = data.draw(st.sampled_from([box.dtype, *map(np.dtype, ("float64", "int64", "uint64", "bool", "complex64"))]))
    shape = (data.draw(st.integers(0, 3)), *box.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # casts of NaN and of what does not fit, and sums that overflow
        rows = np.stack([data.draw(sts.elements(box)) for _ in range(shape[0])]) if shape[0] else np.zeros(shape)
        shift = np.array(data.draw(st.sampled_from([0.0, 1.0, -1.0, np.nan])))
        rows = rows.astype(wide) + shift.astype(wide)
    expected = [box.contains(rows[i, ...]) for i in range(shape[0])]  # arrays, even those without axes
    np.testing.assert_array_equal(box.contains_batch(rows), np.array(expected, bool))


def test_batch_membership_of_what_is_no_batch():
    box = Box(0, 3, (2,), np.uint8)
    assert box.contains_batch([[0, 3], [1, 4]]).tolist() == [True, False]
    assert box.contains_batch(np.zeros((3, 1), np.uint8)).tolist() == [False] * 3
    assert box.contains_batch(np.array(["a", "b"])).tolist() == [False, False]
    assert Box(0, 3, (), np.uint8).contains_batch([3, 4, 2**70]).tolist() == [True, False, False]
    for x in (None, 3, np.uint8(3), [[1, 2], [1]], {}):
        with pytest.raises(ValueError, match="x must be a batch"):
            box.contains_batch(x)


def test_zero_is_the_element_nearest_to_zero():
    assert Box(1, 2, (2,)).zero().tolist() == [1, 1]
    assert Box(-5, -2, (2,)).zero().tolist() == [-2, -2]
    assert Box(-1, 1).zero().tolist() == 0
    assert Box(3, 9, (1,), np.uint8).zero().dtype == np.uint8
    box = Box(1, 2, (2,))
    box.zero()[0] = 7
    assert box.low.tolist() == [1, 1]


def test_is_bounded():
    assert Box(0, 1).is_bounded == (True, True)
    assert Box([-np.inf, 0], [1, 1]).is_bounded == (False, True)
    assert Box(-np.inf, np.inf, (2,)).is_bounded == (False, False)
    assert Box(-np.inf, np.inf, (2,), np.int8).is_bounded == (True, True)


def test_equality():
    box = Box(0, 1, (2,))
    assert box == Box(np.zeros(2), np.ones(2), seed=5)
    for other in (Box(0, 1, (2,), np.float64), Box(0, 1, (1, 2)), Box(0, 2, (2,)), 3):
        assert box != other


@pytest.mark.parametrize(
    ("box", "text"),
    [
        (Box(-1.2, 0.6, (2,)), "Box(-1.2, 0.6, (2,), float32)"),
        (Box([-1, -np.inf], [1, np.inf]), "Box([-1.0, -inf], [1.0, inf], (2,), float32)"),
        (Box(0, 1, (0,)), "Box([], [], (0,), float32)"),
        (Box(np.arange(9), 10, (9,), np.int8), "Box([0, 1, 2, ..., 6, 7, 8], 10, (9,), int8)"),
        (Box([1e-9, 1e20], 1e30, (2,), np.float64).low, None),
    ],
)
def test_repr(box, text):
    assert text is None or repr(box) == text


@given(sts.boxes())
def test_a_float_sample_is_drawn_by_the_documented_calls(box):
    rng = np.random.default_rng(12)
    box.seed(12)
    x = box.sample()
    if box.dtype.kind != "f":
        drawn = rng.integers(box.low, box.high, size=box.shape, dtype=box.dtype, endpoint=True)
        np.testing.assert_array_equal(x, drawn)
        return
    low, high = box.low.astype(float), box.high.astype(float)
    has_low, has_high = np.isfinite(low), np.isfinite(high)
    both, lower, upper = has_low & has_high, has_low & ~has_high, has_high & ~has_low
    with np.errstate(over="ignore"):
        wide = bool(np.isinf((high - low)[both]).any())
    expected = np.empty(box.shape)
    if wide:  # `uniform` itself refuses such a range
        expected[both] = rng.uniform(low[both] / 2, high[both] / 2) * 2
    elif both.any():
        expected[both] = rng.uniform(low[both], high[both])
    expected[lower] = low[lower] + rng.exponential(size=lower.sum()) if lower.any() else 0
    expected[upper] = high[upper] - rng.exponential(size=upper.sum()) if upper.any() else 0
    free = ~has_low & ~has_high
    expected[free] = rng.standard_normal(size=free.sum()) if free.any() else 0
    limit = float(np.finfo(box.dtype).max)
    expected = np.clip(expected, np.maximum(low, -limit), np.minimum(high, limit)).astype(box.dtype)
    np.testing.assert_array_equal(x, expected)
