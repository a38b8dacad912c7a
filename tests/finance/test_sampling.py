"""Where episodes start."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekai.finance import EpisodeSampler, FixedStart, RandomStart, SequentialStart, Time
from sekai.finance.sampling import as_sampler, first_start, resolve_start, sample_start, sample_window


def rng(seed=0):
    return np.random.default_rng(seed)


@given(st.integers(0, 99), st.integers(1, 50))
def test_a_random_start_is_one_integer(seed, n_starts):
    one, other = rng(seed), rng(seed)
    assert RandomStart().sample(one, n_starts, 5) == other.integers(0, n_starts)
    assert one.bit_generator.state == other.bit_generator.state


@given(st.integers(1, 20), st.integers(0, 19), st.one_of(st.none(), st.integers(1, 25)), st.integers(1, 10))
def test_sequential_starts_cover_the_history_again_and_again(n_starts, start, stride, length):
    start = min(start, n_starts - 1)
    sampler = SequentialStart(start, stride)
    one_pass = list(range(start, n_starts, stride or length))
    found = [sampler.sample(None, n_starts, length) for _ in range(3 * len(one_pass))]
    assert found == 3 * one_pass
    assert sampler.epoch == 3


def test_a_shorter_history_begins_anew():
    sampler = SequentialStart(1, 4)
    assert [sampler.sample(None, 10, 2) for _ in range(2)] == [1, 5]
    assert sampler.sample(None, 6, 2) == 1
    assert (sampler.next, sampler.epoch) == (5, 0)


def test_sequential_samplers_begin_again_and_have_copies():
    sampler = SequentialStart(1, 2)
    sampler.sample(None, 10, 2)
    other = sampler.spawn()
    assert (other.next, other.start, other.stride) == (1, 1, 2)
    for clone in (copy.deepcopy(sampler), pickle.loads(pickle.dumps(sampler))):
        assert clone.sample(None, 10, 2) == 3
    assert sampler.next == 3
    sampler.reset()
    assert (sampler.next, sampler.epoch) == (1, 0)
    assert RandomStart().reset() is None
    fixed = FixedStart(3)
    assert fixed.spawn() is fixed


def test_samplers_print_as_they_are_made():
    assert repr(SequentialStart(3, 7)) == "SequentialStart(start=3, stride=7)"
    assert repr(FixedStart(4)) == "FixedStart(4)"
    assert repr(RandomStart()) == "RandomStart()"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: FixedStart(-1), ValueError, "start must be >= 0, got -1"),
        (lambda: FixedStart(1.0), TypeError, "start must be an int, got 1.0"),
        (lambda: SequentialStart(0, 0), ValueError, "stride must be >= 1, got 0"),
        (lambda: FixedStart(20).sample(rng(), 10, 5), ValueError, "one of the 10 there are, 0 … 9, got 20"),
        (lambda: SequentialStart(10).sample(rng(), 10, 5), ValueError, "one of the 10 there are, 0 … 9, got 10"),
        (lambda: as_sampler(None), ValueError, 'sampler must be "random", "sequential", an int or an EpisodeSampler'),
        (lambda: as_sampler(True), ValueError, "got True"),
        (lambda: as_sampler("last"), ValueError, "got 'last'"),
        (EpisodeSampler, TypeError, "abstract"),
    ],
)
def test_wrong_samplers_are_refused(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert message in str(caught.value)


def test_short_forms_stand_for_samplers():
    assert isinstance(as_sampler("random"), RandomStart)
    assert isinstance(as_sampler("sequential"), SequentialStart)
    assert as_sampler("sequential") is not as_sampler("sequential")
    assert as_sampler(np.int64(4)).start == 4
    sampler = RandomStart()
    assert as_sampler(sampler) is sampler


@given(st.integers(0, 30), st.integers(0, 30), st.integers(1, 40), st.integers(0, 9))
def test_no_decision_is_made_within_the_warm_up(lookback, warmup, n_starts, seed):
    first = first_start(lookback, warmup)
    if first < n_starts:
        start = sample_start(
            RandomStart(), rng(seed), n_starts=n_starts, episode_length=2, lookback=lookback, warmup=warmup
        )
        assert first <= start < n_starts
        assert start + lookback >= warmup
        assert first == 0 or first - 1 + lookback < warmup
    else:
        with pytest.raises(ValueError, match="leaves no episode"):
            sample_start(RandomStart(), rng(), n_starts=n_starts, episode_length=2, lookback=lookback, warmup=warmup)


@pytest.mark.parametrize(("choice", "error"), [(5, ValueError), (-1, ValueError), (2.0, TypeError)])
def test_choices_of_other_samplers_are_checked(choice, error):
    class Own(EpisodeSampler):
        def sample(self, rng, n_starts, episode_length):
            return choice

    with pytest.raises(error, match="start must be"):
        sample_start(Own(), rng(), n_starts=5, episode_length=2, lookback=1)


def test_an_option_is_the_time_of_the_first_decision():
    known = {"timestamps": np.arange(100) * 10, "lookback": 10, "n_starts": 50}
    assert resolve_start(10, **known) == 0
    assert resolve_start(59, **known) == 49
    assert resolve_start(-41, **known) == 49
    assert resolve_start(Time(300), **known) == 20
    assert resolve_start(30, **known, warmup=30) == 20
    for option in (9, 60, -1, Time(5000)):
        with pytest.raises(ValueError, match="start must be from row 10 to row 59"):
            resolve_start(option, **known)
    with pytest.raises(ValueError, match="start must be from row 30 to row 59, got 29, which is row 29"):
        resolve_start(29, **known, warmup=30)
    with pytest.raises(ValueError, match="no episode can start"):
        resolve_start(29, **known, warmup=60)


@given(st.integers(0, 99), st.integers(1, 10))
def test_windows_are_successive_rows(seed, length):
    prices = np.arange(20).reshape(10, 2)
    one, other = rng(seed), rng(seed)
    window, start = sample_window(one, prices, length), other.integers(0, 11 - length)
    np.testing.assert_array_equal(window, prices[start : start + length])
    assert window.dtype == np.float64
    assert one.bit_generator.state == other.bit_generator.state


def test_windows_fit_into_the_prices():
    with pytest.raises(ValueError, match=r"prices must have at least 4 rows, got shape \(3,\)"):
        sample_window(rng(), np.ones(3), 4)
    with pytest.raises(ValueError, match="length must be >= 1, got 0"):
        sample_window(rng(), np.ones(3), 0)
