"""RunningMeanStd and ExponentialMovingStats."""

import copy
import math
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekai.kernels import running
from sekai.utils.running_stats import ExponentialMovingStats, RunningMeanStd

KINDS = [RunningMeanStd, ExponentialMovingStats]


def test_before_the_first_sample():
    stats = RunningMeanStd()
    assert (float(stats.mean), float(stats.var), float(stats.std), stats.count, stats.epsilon) == (0, 1, 1, 1e-4, 1e-4)
    assert repr(stats) == "RunningMeanStd(shape=(), count=0.0001)"
    moving = ExponentialMovingStats((), halflife=4.0)
    assert (float(moving.mean), float(moving.var), moving.count, moving.weight) == (0, 1, 0, 0)
    assert moving.decay == 0.5**0.25
    assert repr(moving) == "ExponentialMovingStats(shape=(), halflife=4, count=0)"


def test_worked_values_of_running_statistics():
    stats = RunningMeanStd()
    stats.update([5.0])
    assert (float(stats.mean), float(stats.var), stats.count) == (5.0, 1e-4 / 1.0001, 1.0001)
    stats.update([7.0, 9.0])
    # To the last digits, in which the order of additions shows.
    assert float(stats.mean) == pytest.approx(6.999933335555482, rel=1e-15)
    assert float(stats.var) == pytest.approx(2.6667444374077904, rel=1e-14)
    assert repr(stats) == "RunningMeanStd(shape=(), count=3)"
    assert float(stats.normalize(6.0)) == pytest.approx(-0.612322682246641, rel=1e-13)


def test_worked_values_of_moving_statistics():
    stats = ExponentialMovingStats((), halflife=4.0)
    means, variances, weights = [], [], []
    for batch in ([1.0], [2.0], [3.0, 5.0, 4.0]):
        stats.update(batch)
        means.append(float(stats.mean))
        variances.append(float(stats.var))
        weights.append(stats.weight)
    assert means == pytest.approx([1, 1.543213616862945, 3.343231383151597], rel=1e-14)
    assert variances == pytest.approx([0, 0.2481325833176226, 1.7369758250799485], rel=1e-14)
    assert weights == pytest.approx([1, 1.8408964152537144, 4.09460355750136], rel=1e-14)
    assert stats.count == 5


@pytest.mark.parametrize("size", [1_000, 4_096, 1_000_000])
def test_a_large_mean_costs_no_digits(size):
    x = np.random.default_rng(0).normal(1e8, 1e-2, 1_000_000)
    stats = RunningMeanStd()
    for first in range(0, x.size, size):
        stats.update(x[first : first + size])
    assert float(stats.var) == pytest.approx(x.var(), rel=1e-5)  # the prior shows in the sixth digit


def test_nor_does_it_sample_by_sample():
    x = np.random.default_rng(0).normal(1e8, 1e-2, 50_000)
    stats = RunningMeanStd()
    for sample in x:
        stats.update(sample[None])
    assert float(stats.var) == pytest.approx(x.var(), rel=1e-3)  # the mean is off by some of its last digits


def test_float32_is_summed_in_double_precision():
    x = np.random.default_rng(0).normal(1e4, 1.0, 1_000_000).astype(np.float32)
    stats, moving = RunningMeanStd(), ExponentialMovingStats(halflife=1e9)
    for batch in x.reshape(100, -1):
        stats.update(batch)
        moving.update(batch)
    assert float(stats.var) == pytest.approx(x.astype(np.float64).var(), rel=1e-5)
    assert float(moving.var) == pytest.approx(x.astype(np.float64).var(), rel=1e-2)  # and it has forgotten a little


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.bool_, np.float16, ">f4"])
def test_numbers_of_all_types_are_taken(dtype):
    stats = RunningMeanStd((2,), epsilon=0.0)
    stats.update(np.array([[0, 1], [1, 1]], dtype))
    assert (stats.mean.tolist(), stats.var.tolist()) == ([0.5, 1.0], [0.25, 0.0])


def test_arrays_of_all_layouts_are_taken():
    x = np.arange(24.0).reshape(4, 6)
    fixed = x[:, :3].copy()
    fixed.flags.writeable = False
    for batch in (x[:, ::2], x.T[:4, :3], fixed, fixed.tolist()):
        stats = RunningMeanStd((3,), epsilon=0.0)
        stats.update(batch)
        np.testing.assert_allclose(stats.mean, np.mean(batch, 0), rtol=1e-15)


def test_kernels_are_compiled_for_two_types_of_numbers_only():
    for dtype in (np.uint8, np.float16, np.float32, np.float64, np.int64):
        for shape in ((), (2,), (2, 3)):
            for kind in KINDS:
                stats, batch = kind(shape), np.ones((4, *shape), dtype)
                stats.update(batch)
                stats.update(batch[::2])
                stats.normalize(batch)
    for entry in (running.absorb, running.normalize):
        assert len(getattr(entry, "signatures", [])) <= 2


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_batch_of_samples_is_refused(kind):
    stats = kind((2,))
    for batch in (np.ones((3, 5)), np.ones(2), 1.0, np.ones((2, 2, 2))):
        with pytest.raises(ValueError, match=r"batch must have shape \(n, \*\(2,\)\)"):
            stats.update(batch)
    with pytest.raises(TypeError, match="real numbers"):
        stats.update([["a", "b"]])
    with pytest.raises(ValueError, match="broadcast"):
        stats.update_from_moments([1.0, 2.0, 3.0], 1.0, 4)
    stats.update(np.ones((0, 2)))
    stats.update_from_moments(9.0, 9.0, 0)
    stats.update_from_moments(9.0, 9.0, -2)
    assert stats.state_dict()["count"] == kind((2,)).count


@pytest.mark.parametrize("kind", KINDS)
def test_scalar_moments_stand_for_all_entries(kind):
    stats = kind((2,))
    stats.update_from_moments(3.0, 1.0, 4)
    assert stats.mean.tolist() == [3.0, 3.0]
    assert stats.var.shape == (2,)


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=30), st.integers(1, 30))
def test_moments_merge_as_samples_do(samples, cut):
    whole, parts = RunningMeanStd(epsilon=0.0), RunningMeanStd(epsilon=0.0)
    whole.update(samples)
    for part in (samples[:cut], samples[cut:]):
        if part:
            parts.update_from_moments(np.mean(part), np.var(part), len(part))
    # Roundings of numbers up to 1e3, and of their squares.
    assert float(parts.mean) == pytest.approx(float(whole.mean), rel=1e-12, abs=1e-10)
    assert float(parts.var) == pytest.approx(float(whole.var), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e200])
def test_samples_that_would_spoil_everything_are_reported_once_and_left_out(kind, bad):
    stats, clean = kind((2,)), kind((2,))
    batch = np.array([[1.0, 2.0], [bad, 5.0], [3.0, 4.0]])
    with pytest.warns(RuntimeWarning, match=r"1 sample\(s\)"):
        stats.update(batch)
    clean.update(batch[[0, 2]])
    stats.update(batch[1:2])  # without a further warning
    stats.update_from_moments(bad, 1.0, 5)
    for name, value in clean.state_dict().items():
        np.testing.assert_array_equal(stats.state_dict()[name], value)


def test_a_warning_comes_from_the_line_that_updates():
    stats = RunningMeanStd()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        stats.update([math.nan])
    assert [warning.filename for warning in caught] == [__file__]


def test_normalisation_broadcasts():
    stats = RunningMeanStd((2,), epsilon=0.0)
    stats.update([[1.0, 2.0], [3.0, 6.0]])
    np.testing.assert_array_equal(stats.normalize(np.array([3, 6], np.float32), epsilon=0.0), [1.0, 1.0])
    np.testing.assert_array_equal(stats.normalize(4.0, epsilon=0.0), [2.0, 0.0])
    assert stats.normalize(np.ones((5, 3, 2))).shape == (5, 3, 2)
    assert stats.normalize(1.0).dtype == np.float64


@pytest.mark.parametrize("kind", KINDS)
def test_state_goes_from_one_to_another(kind):
    stats = kind((2,))
    stats.update([[1.0, 2.0], [3.0, 5.0]])
    twin = kind((2,))
    twin.load_state_dict(stats.state_dict())
    for one in (twin, copy.deepcopy(stats), pickle.loads(pickle.dumps(stats))):
        stats_copy = copy.deepcopy(stats)
        for each in (one, stats_copy):
            each.update([[4.0, 4.0]])
        for name, value in stats_copy.state_dict().items():
            np.testing.assert_array_equal(one.state_dict()[name], value)


@pytest.mark.parametrize("kind", KINDS)
def test_state_that_does_not_fit_changes_nothing(kind):
    stats = kind((2,))
    stats.update([[1.0, 2.0], [3.0, 5.0]])
    before = stats.state_dict()
    for wrong in ({"mean": np.zeros(3)}, {"var": 1.0}, {"count": [1.0]}):
        with pytest.raises(ValueError, match="shape"):
            stats.load_state_dict({**before, **wrong})
    for name in ("mean", "var", "count"):
        with pytest.raises(KeyError, match=name):
            stats.load_state_dict({key: value for key, value in before.items() if key != name})
    for name, value in before.items():
        np.testing.assert_array_equal(stats.state_dict()[name], value)


def test_what_state_holds():
    stats = ExponentialMovingStats((), 10.0)
    assert list(stats.state_dict()) == ["mean", "var", "count", "halflife", "weight"]
    assert list(RunningMeanStd().state_dict()) == ["mean", "var", "count"]
    stats.load_state_dict({"mean": 1.0, "var": 4.0, "count": 3.0})
    assert (stats.halflife, stats.weight, stats.count) == (10.0, 3.0, 3.0)
    stats.load_state_dict({"mean": 1.0, "var": 4.0, "count": 3.0, "halflife": 2.0, "weight": 2.5})
    assert (stats.halflife, stats.weight, stats.decay) == (2.0, 2.5, 0.5**0.5)
    with pytest.raises(ValueError, match="halflife"):
        stats.load_state_dict({"mean": 0.0, "var": 0.0, "count": 0.0, "halflife": 0.0})
    assert float(stats.var) == 4.0


def test_a_loaded_prior_is_still_one():
    stats = RunningMeanStd()
    stats.load_state_dict(RunningMeanStd().state_dict())
    stats.update([5.0])
    assert float(stats.mean) == 5.0


def test_moments_are_copies_and_can_be_set():
    stats = RunningMeanStd((2,))
    mean = stats.mean
    stats.update([[1.0, 1.0]])
    assert mean.tolist() == [0.0, 0.0]
    stats.mean, stats.var, stats.count = [1.0, 2.0], 4.0, 7
    assert (stats.mean.tolist(), stats.var.tolist(), stats.count) == ([1.0, 2.0], [4.0, 4.0], 7.0)


@pytest.mark.parametrize("halflife", [0.0, -1.0, math.nan])
def test_halflives_are_positive(halflife):
    with pytest.raises(ValueError, match="halflife"):
        ExponentialMovingStats((), halflife)


def test_samples_without_numbers():
    for kind in KINDS:
        stats = kind((0, 3))
        stats.update(np.ones((2, 0, 3)))
        assert stats.normalize(np.ones((5, 0, 3))).shape == (5, 0, 3)
