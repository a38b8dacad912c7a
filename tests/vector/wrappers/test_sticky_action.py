"""VecStickyAction."""

import numpy as np
import pytest
from numpy.random import default_rng

import sekai
from sekai.utils.seeding import make_seed_sequence
from sekai.vector.stream import words_of


class Echo(sekai.NativeVecEnv):
    """Shows the actions that it gets."""

    def __init__(self, n):
        super().__init__(n, sekai.Box(0, 999, (), np.int64), sekai.Discrete(1000))
        self.got = np.zeros(n, np.int64)

    def _reset_envs(self, indices, options):
        self.got[indices] = 0

    def _observe(self):
        return self.got.copy()

    def _step(self, actions):
        self.got = np.array(actions)
        return np.zeros(self.num_envs), np.zeros(self.num_envs, bool), np.zeros(self.num_envs, bool), {}


@pytest.mark.parametrize("n", [3, 100])
def test_each_lane_draws_from_a_child_of_its_seed(n):
    vec = sekai.VecStickyAction(Echo(n), 0.5)
    vec.reset(seed=9)
    generators = [default_rng(make_seed_sequence(seed, 2)[1]) for seed in sekai.lane_seeds(9, n)]
    assert vec._rng.T.tolist() == [words_of(generator).tolist() for generator in generators]
    last = None
    for t in range(1, 8):
        actions = np.arange(n) * 0 + t
        seen = vec.step(actions).observations
        sticky = [last is not None and generator.random() < 0.5 for generator in generators]
        last = actions if last is None else np.where(sticky, last, actions)
        assert seen.tolist() == last.tolist()


def test_some_lanes_are_seeded_and_others_go_on():
    vec = sekai.VecStickyAction(Echo(3), 0.5)
    before = vec._rng.copy()
    vec.reset(seed=[None, 5, default_rng(3)])
    assert vec._rng[:, 0].tolist() == before[:, 0].tolist()
    assert vec._rng[:, 1].tolist() == words_of(default_rng(make_seed_sequence(5, 2)[1])).tolist()
    child = default_rng(3).bit_generator.seed_seq.spawn(1)[0]
    assert vec._rng[:, 2].tolist() == words_of(default_rng(child)).tolist()


def test_lanes_have_streams_of_their_own_before_any_seed():
    assert len(np.unique(sekai.VecStickyAction(Echo(5), 0.5)._rng[1])) == 5


def test_a_reset_that_fails_changes_nothing():
    vec = sekai.VecStickyAction(Echo(2), 0.5)
    vec.reset(seed=0)
    vec.step([1, 2])
    before = vec._rng.copy()
    for seed in (-1, [1], "a", default_rng(0)):
        with pytest.raises((TypeError, ValueError), match="seed"):
            vec.reset(seed=seed)
    with pytest.raises(ValueError, match="options"):
        vec.reset(seed=3, options=[None])
    np.testing.assert_array_equal(vec._rng, before)
    assert vec._ready.all()


def test_actions_are_copied():
    vec = sekai.VecStickyAction(Echo(1), 0.999)
    vec.reset(seed=0)
    buffer = np.array([7])
    vec.step(buffer)
    buffer[0] = 8
    assert vec.step(buffer).observations.tolist() == [7]


def test_probabilities_are_checked():
    with pytest.raises(ValueError, match="repeat_action_probability"):
        sekai.VecStickyAction(Echo(1), 1.0)
