"""Environments that the tests of bridges share."""

import numpy as np
import pytest

import sekai


class Coin(sekai.Env):
    """Guess a coin; some guesses are forbidden. Its dtypes are sloppy."""

    metadata = {"render_fps": 7, "author": "sekai"}  # noqa: RUF012

    def __init__(self):
        self.observation_space = sekai.Dict({"side": sekai.Discrete(2), "luck": sekai.Box(0, 1, (1,))})
        self.action_space = sekai.MultiDiscrete([2, 3])

    def look(self):
        return {"side": int(self.rng.integers(2)), "luck": self.rng.random(1)}

    def reset(self, *, seed=None, options=None):
        self._set_rng(seed)
        self.steps = 0
        return sekai.ResetResult(self.look(), {"steps": 0, "options": options})

    def step(self, action):
        if not self.action_space.contains(action):
            raise sekai.InvalidAction(action, self.action_space)
        self.steps += 1
        over = np.bool_(self.steps == 3)
        return sekai.StepResult(self.look(), np.float32(action[0]), over, np.False_, {"steps": self.steps})

    def action_mask(self):
        return ([1, 1], [1, 0, 1])


@pytest.fixture
def coin():
    return Coin()
