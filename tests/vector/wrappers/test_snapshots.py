"""Snapshots of wrapped batches."""

import pickle

import numpy as np
import pytest

import sekai
from sekai.vector.vec_wrapper import WrapperSnapshot


def stack(n=4):
    vec = sekai.make_vec("CartPole-v1", n)
    vec = sekai.VecStickyAction(sekai.VecDelayAction(vec, 2, noop=1), 0.3)
    vec = sekai.VecRecordEpisodeStatistics(sekai.VecTimeLimit(vec, 15))
    return sekai.VecFrameStackObservation(sekai.VecTimeAwareObservation(vec, 15), 3)


def play(vec, steps, seed):
    rng = np.random.default_rng(seed)
    return [vec.step(rng.integers(2, size=vec.num_envs)) for _ in range(steps)]


def test_snapshots_hold_what_wrappers_remember(same):
    vec, other = stack(), stack()
    vec.reset(seed=0)
    play(vec, 20, 1)
    state = pickle.loads(pickle.dumps(vec.get_state()))
    expected = play(vec, 30, 2)
    vec.set_state(state)
    other.set_state(state)  # though it was never reset
    for again, elsewhere, before in zip(play(vec, 30, 2), play(other, 30, 2), expected, strict=True):
        assert same(again, before)
        assert same(elsewhere, before)


def test_lanes_can_be_moved(same):
    vec, other = stack(4), stack(3)
    vec.reset(seed=0)
    other.reset(seed=1)
    play(vec, 17, 1)
    play(other, 5, 2)
    other.set_state(vec.get_state([3, 1]), [0, 2])
    rng = np.random.default_rng(3)
    for _ in range(40):
        actions = rng.integers(2, size=4)
        one, two = vec.step(actions), other.step(actions[[3, 0, 1]])
        assert same(one.observations[[3, 1]], two.observations[[0, 2]])
        assert same([one.infos[i] for i in (3, 1)], [two.infos[i] for i in (0, 2)], drop={"env_index"})


def test_snapshots_that_do_not_fit_change_nothing(same):
    vec, other = stack(), stack(3)
    vec.reset(seed=0)
    other.reset(seed=0)
    play(vec, 9, 1)
    state = vec.get_state()
    other_wrapper = WrapperSnapshot(state.version, "Else", state.inner, state.rows)
    other_version = WrapperSnapshot(99, state.wrapper, state.inner, state.rows)
    for wrong in (other.get_state(), vec.get_state([0]), other_wrapper, other_version):
        with pytest.raises(ValueError, match="does not fit"):
            vec.set_state(wrong)
    with pytest.raises(TypeError, match="get_state"):
        vec.set_state(state.inner.inner.inner.inner.inner.inner)
    after = play(vec, 5, 2)
    vec.set_state(state)
    assert all(same(x, y) for x, y in zip(after, play(vec, 5, 2), strict=True))
