"""ObservationNormalizer, and files of statistics."""

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sekai
from sekai.spaces import Box, Dict, Discrete, MaskedBox, Sequence, Tuple
from sekai.utils.normalization import ObservationNormalizer, load_statistics, save_statistics
from sekai.utils.running_stats import ExponentialMovingStats, RunningMeanStd

SLOTS = MaskedBox(-9, 9, (1,), max_size=3, dtype=np.float64)
NESTED = Dict({"x": Box(-9, 9, (2,)), "t": Tuple([Discrete(3), SLOTS])})


def nested(x, d, values, mask):
    return {
        "x": np.array(x, np.float32),
        "t": (np.array(d), {"values": np.array(values, float), "mask": np.array(mask, np.int8)}),
    }


BATCH = nested([[1, 2], [3, 6]], [0, 2], [[[1], [3], [50]], [[5], [60], [70]]], [[1, 1, 0], [1, 0, 0]])


def assert_equal(first, second):
    if isinstance(first, dict):
        assert first.keys() == second.keys()
        first, second = first.values(), second.values()
    if isinstance(first, (tuple, list, type({}.values()))):
        for x, y in zip(first, second, strict=True):
            assert_equal(x, y)
    elif first is not None:
        np.testing.assert_array_equal(first, second)


def test_statistics_are_nested_like_the_space():
    normalizer = ObservationNormalizer(NESTED)
    assert repr(normalizer.stats) == (
        "{'x': RunningMeanStd(shape=(2,), count=0.0001), 't': (None, RunningMeanStd(shape=(1,), count=0.0001))}"
    )
    assert isinstance(ObservationNormalizer(Box(0, 1, (3,)), stats="ewm").stats, ExponentialMovingStats)
    assert normalizer.output_space == Dict(
        {
            "x": Box(-np.inf, np.inf, (2,), np.float64),
            "t": Tuple([Discrete(3), MaskedBox(-np.inf, np.inf, (1,), max_size=3, dtype=np.float64)]),
        }
    )
    assert ObservationNormalizer(Box(0, 1, (3,)), clip=5).output_space == Box(-5, 5, (3,), np.float64)


def test_each_part_is_normalised_by_its_samples():
    normalizer = ObservationNormalizer(NESTED, epsilon=0.0)
    out = normalizer(BATCH)
    x, slots = RunningMeanStd((2,)), RunningMeanStd((1,))
    x.update(BATCH["x"])
    slots.update([[1], [3], [5]])
    np.testing.assert_array_equal(out["x"], x.normalize(BATCH["x"], epsilon=0.0))
    filled = slots.normalize([[1], [3], [5]], epsilon=0.0)[:, 0]
    assert out["t"][1]["values"].tolist() == [[[filled[0]], [filled[1]], [0]], [[filled[2]], [0], [0]]]
    assert out["t"][0] is BATCH["t"][0]
    assert out["t"][1]["mask"] is BATCH["t"][1]["mask"]
    assert out["x"].dtype == out["t"][1]["values"].dtype == np.float64


def test_one_observation_needs_no_leading_axis():
    batch, single = ObservationNormalizer(NESTED), ObservationNormalizer(NESTED)
    for k in range(2):
        one = nested(BATCH["x"][k], BATCH["t"][0][k], BATCH["t"][1]["values"][k], BATCH["t"][1]["mask"][k])
        out = batch(nested([one["x"]], [one["t"][0]], [one["t"][1]["values"]], [one["t"][1]["mask"]]))
        assert_equal(single(one)["x"], out["x"][0])
    assert_equal(single.state_dict(), batch.state_dict())


def test_frozen_statistics_are_used_only():
    normalizer = ObservationNormalizer(NESTED)
    normalizer(BATCH)
    before = normalizer.state_dict()
    assert_equal(normalizer(BATCH, update=False), normalizer(BATCH, update=False))
    assert_equal(normalizer.state_dict(), before)


def test_some_rows_update():
    some, few = ObservationNormalizer(NESTED), ObservationNormalizer(NESTED)
    some.update(BATCH, np.array([False, True]))
    few(nested([[3, 6]], [2], [[[5], [60], [70]]], [[1, 0, 0]]))
    assert_equal(some.state_dict(), few.state_dict())
    some.update(BATCH, np.array([False, False]))
    assert_equal(some.state_dict(), few.state_dict())


def test_moving_statistics_count_batches():
    normalizer = ObservationNormalizer(SLOTS, stats="ewm", halflife=1.0)
    normalizer({"values": np.ones((2, 3, 1)), "mask": np.ones((2, 3), np.int8)})
    normalizer({"values": np.ones((2, 3, 1)), "mask": np.zeros((2, 3), np.int8)})
    assert (normalizer.stats.count, normalizer.stats.weight) == (1.0, 1.0)
    normalizer({"values": np.ones((1, 3, 1)), "mask": np.ones((1, 3), np.int8)})
    assert (normalizer.stats.count, normalizer.stats.weight) == (2.0, 1.5)


@given(clip=st.floats(0.01, 3), scale=st.floats(0.1, 100))
def test_output_lies_in_the_output_space(clip, scale):
    normalizer = ObservationNormalizer(NESTED, clip=clip)
    for _ in range(3):
        batch = nested(scale * BATCH["x"], *(BATCH["t"][0], BATCH["t"][1]["values"], BATCH["t"][1]["mask"]))
        assert normalizer.output_space.contains_batch(normalizer(batch)).all()


def test_nan_passes_but_is_not_absorbed():
    normalizer = ObservationNormalizer(Box(-9, 9, (2,), np.float64))
    normalizer(np.array([[1.0, 2.0], [3.0, 4.0]]))
    before = normalizer.state_dict()
    with pytest.warns(RuntimeWarning, match="left out"):
        out = normalizer(np.array([np.nan, 2.0]))
    assert np.isnan(out[0])
    assert out[1] == normalizer(np.array([0.0, 2.0]), update=False)[1]
    assert_equal(normalizer.state_dict(), before)


def test_arguments_are_checked():
    for arguments, token in (
        ({"stats": "no"}, "stats"),
        ({"clip": 0}, "clip"),
        ({"stats": "ewm", "halflife": 0}, "half"),
    ):
        with pytest.raises(ValueError, match=token):
            ObservationNormalizer(NESTED, **arguments)
    ObservationNormalizer(NESTED, halflife=0)  # not used
    for space in (Discrete(3), Sequence(Box(0, 1, (1,))), Dict()):
        with pytest.raises(TypeError, match="Box or MaskedBox"):
            ObservationNormalizer(space)


def test_state_is_plain_and_loads_whole_or_not_at_all():
    normalizer, other = ObservationNormalizer(NESTED), ObservationNormalizer(NESTED)
    normalizer(BATCH)
    state = normalizer.state_dict()
    assert isinstance(state["t"], list)
    assert state["t"][0] is None
    assert sorted(state["x"]) == ["count", "mean", "var"]
    fresh = other.state_dict()
    wrong = copy.deepcopy(state)
    wrong["t"][1]["mean"] = np.zeros(9)
    for bad, error in (
        (wrong, ValueError),
        ({"x": state["x"]}, KeyError),
        ({**state, "t": state["t"][:1]}, ValueError),
    ):
        with pytest.raises(error):
            other.load_state_dict(bad)
        assert_equal(other.state_dict(), fresh)
    other.load_state_dict({**state, "more": 1})
    assert_equal(other.state_dict(), state)


class Walk(sekai.Env):
    def __init__(self):
        self.observation_space, self.action_space = NESTED, Discrete(2)

    def reset(self, *, seed=None, options=None):
        self.observation_space.seed(seed)
        return sekai.ResetResult(self.observation_space.sample(), {})

    def step(self, action):
        return sekai.StepResult(self.observation_space.sample(), 1.5, False, False, {})


def stack(**arguments):
    return sekai.NormalizeReward(sekai.TransformReward(sekai.NormalizeObservation(Walk(), **arguments), float))


def test_files_keep_all_statistics_of_a_stack(tmp_path):
    env, other = stack(), stack()
    env.reset(seed=0)
    for _ in range(5):
        env.step(0)
    path = tmp_path / "statistics"
    save_statistics(env, path)
    load_statistics(other, path)
    assert_equal(other.state_dict(), env.state_dict())
    assert_equal(other.env.env.state_dict(), env.env.env.state_dict())
    with np.load(path, allow_pickle=False) as file:
        assert "observation0/t/1.mean" in file.files
        assert "reward0.count" in file.files


def test_a_file_that_does_not_fit_changes_nothing(tmp_path):
    env = stack()
    env.reset(seed=0)
    save_statistics(env, tmp_path / "a.npz")
    for other in (stack(stats="ewm"), env.env, sekai.NormalizeObservation(stack())):
        with pytest.raises(ValueError, match="does not fit"):
            load_statistics(other, tmp_path / "a.npz")
    for call in (save_statistics, load_statistics):
        with pytest.raises(ValueError, match="normalises"):
            call(Walk(), tmp_path / "a.npz")
