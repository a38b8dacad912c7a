import gc

import numpy as np

from sekai.rendering.history import History, PerEnv, extremes


class Plain:
    """Equal to everything."""

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


class Slotted:
    __slots__ = ()


def test_many_short_lived_envs_never_share_a_value():
    values = PerEnv(list)
    for _ in range(300):
        for env in (Plain(), Slotted()):
            assert values[env] == []
            values[env].append(1)
            assert values[env] == [1]
    env = None
    gc.collect()
    assert len(values) == 300  # those that cannot be referred to weakly


def test_a_recycled_address_is_noticed():
    values = PerEnv(list)
    env = Plain()
    values[env].append(1)
    values._entries[id(env)] = (lambda: None, ["of one that is gone"])
    assert values[env] == []
    values.forget(env)
    assert len(values) == 0


def test_samples_are_kept_in_order():
    history = History(400)
    for t in range(100):
        history.record(t, {"a": np.array([t, -t]), "b": np.array([np.nan])})
    assert history.steps.tolist() == list(range(100))
    assert history["a"].tolist() == [[t, -t] for t in range(100)]
    assert np.isnan(history["b"]).all()


def test_a_sample_of_the_same_step_replaces_the_last():
    history = History(8)
    history.record(3, {"a": np.array([1.0])})
    history.record(3, {"a": np.array([2.0])})
    assert history.steps.tolist() == [3]
    assert history["a"].tolist() == [[2.0]]


def test_vectors_may_grow():
    history = History(8)
    history.record(0, {"a": np.array([1.0])})
    history.record(1, {"a": np.array([2.0, 3.0])})
    history.record(2, {"a": np.array([4.0])})
    assert np.array_equal(history["a"], [[1, np.nan], [2, 3], [4, np.nan]], equal_nan=True)


def test_it_never_outgrows_its_limit_and_keeps_the_extremes():
    history = History(64)
    values = np.random.default_rng(0).normal(size=5000)
    for t, value in enumerate(values):
        history.record(t, {"a": np.array([value])})
        assert len(history) <= 64
    assert history["a"].min() == values.min()
    assert history["a"].max() == values.max()
    assert (np.diff(history.steps) > 0).all()
    assert history.steps[-1] == 4999
    assert history["a"][-1, 0] == values[-1]


def test_a_window():
    history = History(64)
    for t in range(500):
        history.record(t, {"a": np.array([t])})
        history.keep(10)
    assert history.steps.tolist() == list(range(489, 500))
    assert history["a"].ravel().tolist() == list(range(489, 500))


def test_extremes():
    groups = np.array([[[1.0], [5.0], [0.0], [2.0]], [[np.nan], [np.nan], [3.0], [np.nan]]])
    assert extremes(groups).ravel().tolist() == [5.0, 0.0, 3.0, 3.0]
    assert np.isnan(extremes(np.full((1, 4, 1), np.nan))).all()
