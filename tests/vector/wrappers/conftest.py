"""Batches to wrap, and a strict comparison of results."""

import dataclasses
from copy import deepcopy

import numpy as np
import pytest

import sekai
from sekai.core import Env, ResetResult, StepResult


class Meander(Env):
    """Shows samples of its space; the lengths of its episodes, its rewards and its ends are drawn, too."""

    def __init__(self, space=None, actions=None):
        self.observation_space = sekai.Box(-4, 4, (2,), np.float64) if space is None else space
        self.action_space = sekai.Box(-2, 2, (2,), np.float32) if actions is None else actions
        self.k, self.actions = 0, []

    def _look(self):
        self.observation_space.seed(int(self.rng.integers(2**32)))
        return self.observation_space.sample()

    def reset(self, *, seed=None, options=None):
        self._set_rng(seed)
        self.k, self.left, self.cut = 0, int(self.rng.integers(1, 6)), bool(self.rng.integers(2))
        return ResetResult(self._look(), {"left": self.left})

    def step(self, action):
        if not self.action_space.contains(action):
            raise sekai.InvalidAction(action, self.action_space)
        self.k, self.left = self.k + 1, self.left - 1
        done = self.left == 0
        reward = float(self.rng.normal())
        if not isinstance(action, dict):
            reward += float(np.sum(action))
        info = {"k": self.k, "action": deepcopy(action)}
        return StepResult(self._look(), reward, done and not self.cut, done and self.cut, info)

    def action_mask(self):
        narrow = self.action_space.shape == (2,) or self.action_space == sekai.Discrete(2)
        return np.arange(2) <= self.k % 2 if narrow else None


@pytest.fixture(scope="session")
def meander():
    return Meander


def alike(x, y, drop=()):
    """Whether two results are the same down to types and bits; `drop` names entries of infos to leave out."""
    if isinstance(x, (sekai.VecStepResult, sekai.VecResetResult)):
        pairs = [(getattr(x, field.name), getattr(y, field.name)) for field in dataclasses.fields(x)]
        if isinstance(x, sekai.VecStepResult):
            pairs += [(x.valid, y.valid), (x.final_lanes, y.final_lanes)]
        return all(alike(*pair, drop) for pair in pairs)
    if isinstance(x, sekai.EpisodeStats):
        return all(getattr(x, name) == getattr(y, name) for name in STATS)
    if isinstance(x, dict):
        keys = x.keys() - drop
        return keys == y.keys() - drop and all(alike(x[key], y[key], drop) for key in keys)
    if isinstance(x, np.ndarray):
        same_type = isinstance(y, np.ndarray) and x.dtype == y.dtype and x.shape == y.shape
        return same_type and (x.tobytes() == y.tobytes() or np.array_equal(x, y))
    if isinstance(x, tuple):
        return isinstance(y, tuple) and len(x) == len(y) and all(map(lambda a, b: alike(a, b, drop), x, y))
    if hasattr(x, "__len__") and not isinstance(x, str):
        return len(x) == len(y) and all(alike(a, b, drop) for a, b in zip(x, y, strict=True))
    return x == y or (x != x and y != y)


STATS = ["episode_return", "episode_length", "terminated", "truncated"]


@pytest.fixture(scope="session")
def same():
    return alike
