"""Runs the kernels of an environment without a batch around them."""

from collections import namedtuple
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.random import PCG64, Generator

from sekai.kernels.jit import substitute
from sekai.vector.programs import LIBM


class Lanes:
    """The lane functions of a kernel module, with rows and parameters to give them."""

    def __init__(self, module):
        self.module = module
        self.state = namedtuple("State", module.State.__annotations__)
        names = {**module.Params.__annotations__, **module.Options.__annotations__}
        defaults = {**vars(module.Options), **vars(module.Params)}
        self.params = namedtuple("Params", names)(**{name: defaults[name] for name in names})
        self.libm = SimpleNamespace(
            step_block=substitute(module.step_block, __name__, LIBM),
            step_lane=substitute(module.step_lane, __name__, LIBM),
        )

    def rows(self, values):
        """Rows from an array of the first fields (k, n); the others are zeros."""
        kinds = list(self.module.State.__annotations__.values())[len(values) :]
        zeros = [np.zeros(values.shape[1], np.int64 if kind is bool else np.float64) for kind in kinds]
        return self.state(*np.array(values, np.float64), *zeros)

    def step_block(self, s, actions, params=None, rng=None, libm=False):
        """Step rows in place; returns rewards and terminated."""
        n = len(s[0])
        rng = np.zeros((6, n), np.uint64) if rng is None else rng
        rewards, terminated, truncated = np.empty(n), np.empty(n, np.bool_), np.ones(n, np.bool_)
        step = (self.libm if libm else self.module).step_block
        step(s, self.params if params is None else params, rng, actions, rewards, terminated, truncated)
        assert not truncated.any()
        return rewards, terminated

    def step_lanes(self, s, actions, params=None, rng=None):
        """The same, lane by lane."""
        params = self.params if params is None else params
        rng = np.zeros((6, len(s[0])), np.uint64) if rng is None else rng
        results = [self.module.step_lane(s, params, rng, actions, i) for i in range(len(s[0]))]
        rewards, terminated, truncated = zip(*results, strict=True)
        assert not any(truncated)
        return np.array(rewards), np.array(terminated)


@pytest.fixture(scope="module")
def lanes(request):
    """`Lanes` of the module that the test file calls MODULE."""
    return Lanes(request.module.MODULE)


@pytest.fixture
def stream():
    """Makes the random words of one lane, and NumPy's generator of the same stream."""

    def make(seed):
        generator = Generator(PCG64(seed))
        state = generator.bit_generator.state["state"]
        numbers = [state["state"] >> 64, state["state"] % 2**64, state["inc"] >> 64, state["inc"] % 2**64, 0, 0]
        return np.array(numbers, np.uint64).reshape(6, 1), generator

    return make
