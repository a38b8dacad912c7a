"""Environments to wrap."""

import numpy as np
import pytest

from sekai.core import Env, ResetResult, StepResult
from sekai.spaces import Box, Discrete


class Reel(Env):
    """Shows given observations one after the other, and notes the actions."""

    def __init__(self, space=None, frames=(), actions=None, length=10**9, reward=1.0):
        self.observation_space = Box(-9, 9, (2,), np.float64) if space is None else space
        self.action_space = Discrete(9) if actions is None else actions
        self.frames = list(frames) or [np.array([k, -k], np.float64) for k in range(6)]
        self.length, self.reward = length, reward
        self.k, self.actions, self.awaited = 0, [], 0

    def _frame(self):
        return self.frames[min(self.k, len(self.frames) - 1)]

    def reset(self, *, seed=None, options=None):
        if options:
            raise ValueError("bad options")
        self._set_rng(seed)
        self.k = 0
        return ResetResult(self._frame(), {"start": seed})

    def step(self, action):
        self.k += 1
        self.actions.append(np.copy(action).tolist())
        return StepResult(self._frame(), self.reward, self.k >= self.length, False, {"k": self.k})

    async def async_reset(self, *, seed=None, options=None):
        self.awaited += 1
        return self.reset(seed=seed, options=options)

    async def async_step(self, action):
        self.awaited += 1
        return self.step(action)


@pytest.fixture(scope="session")
def reel():
    return Reel
