"""A plain env for the command to work on."""

import sekai


class Still(sekai.Env):
    """A plain env in which nothing happens."""

    def __init__(self, size: int = 1) -> None:
        if size < 1:
            raise ZeroDivisionError("no size")
        self.observation_space = sekai.Box(0, 1, (size,))
        self.action_space = sekai.Discrete(2)

    def reset(self, *, seed=None, options=None):
        self._set_rng(seed)
        return sekai.ResetResult(self.observation_space.low.copy(), {})

    def step(self, action):
        return sekai.StepResult(self.observation_space.low.copy(), 0.0, False, False, {})
