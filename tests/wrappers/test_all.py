"""What holds for each wrapper of a single environment."""

import asyncio
import copy
import pickle

import numpy as np
import pytest

import sekai
from sekai.spaces import Box, Dict, MultiBinary, Sequence

WORDS = Sequence(Box(1, 2, (2,)), max_length=3)
NESTED = Dict({"x": Box(-1, 1, (2,)), "m": MultiBinary(2)})


class Drift(sekai.Env):
    """Shows draws of its own stream; allows everything."""

    def __init__(self, space):
        self.observation_space = Box(-4, 4, (2,), np.float64) if space is None else space
        self.action_space = Box(-2, 2, (2,), np.float32)
        self.awaited = 0

    def _look(self):
        self.observation_space.seed(int(self.rng.integers(2**32)))
        return self.observation_space.sample()

    def reset(self, *, seed=None, options=None):
        self._set_rng(seed)
        self.left = int(self.rng.integers(3, 6))
        return sekai.ResetResult(self._look(), {})

    def step(self, action):
        self.left -= 1
        return sekai.StepResult(self._look(), float(np.sum(action)), self.left == 0, False, {"left": self.left})

    async def async_reset(self, *, seed=None, options=None):
        self.awaited += 1
        return self.reset(seed=seed, options=options)

    async def async_step(self, action):
        self.awaited += 1
        return self.step(action)

    def action_mask(self):
        return [True, False]


def negated(x):
    return -x


CASES = {
    "TimeLimit": (lambda e: sekai.TimeLimit(e, 3), None),
    "AutoReset": (sekai.AutoReset, None),
    "OrderEnforcing": (sekai.OrderEnforcing, None),
    "RecordEpisodeStatistics": (sekai.RecordEpisodeStatistics, None),
    "FlattenObservation": (sekai.FlattenObservation, NESTED),
    "NormalizeObservation": (sekai.NormalizeObservation, NESTED),
    "FrameStackObservation": (lambda e: sekai.FrameStackObservation(e, 3), NESTED),
    "TransformObservation": (lambda e: sekai.TransformObservation(e, negated), None),
    "RescaleObservation": (lambda e: sekai.RescaleObservation(e, 0, 1), None),
    "DtypeObservation": (lambda e: sekai.DtypeObservation(e, np.float32), None),
    "FilterObservation": (lambda e: sekai.FilterObservation(e, ["m"]), NESTED),
    "TimeAwareObservation": (lambda e: sekai.TimeAwareObservation(e, 5), None),
    "DelayObservation": (lambda e: sekai.DelayObservation(e, 2), NESTED),
    "PadSequenceObservation": (sekai.PadSequenceObservation, WORDS),
    "ActionMaskObservation": (sekai.ActionMaskObservation, None),
    "ClipAction": (sekai.ClipAction, None),
    "RescaleAction": (lambda e: sekai.RescaleAction(e, -1, 1), None),
    "StickyAction": (lambda e: sekai.StickyAction(e, 0.5), None),
    "ActionRepeat": (lambda e: sekai.ActionRepeat(e, 2), None),
    "DelayAction": (lambda e: sekai.DelayAction(e, 2), None),
    "NormalizeReward": (sekai.NormalizeReward, None),
    "TransformReward": (lambda e: sekai.TransformReward(e, negated), None),
    "ClipReward": (lambda e: sekai.ClipReward(e, -1, 1), None),
}
EVERY = pytest.mark.parametrize(("wrap", "space"), CASES.values(), ids=CASES)
ACTIONS = [np.array([k / 9 - 1, 0.5], np.float32) for k in range(9)]


def shown(result):
    """A result as text, without the times in it."""
    info = {key: value for key, value in result.info.items() if key not in ("episode", "final_info")}
    return str((result.observation, getattr(result, "reward", None), result.done, info))


def test_every_wrapper_is_here():
    assert set(CASES) == set(sekai.wrappers.__all__)
    assert len(CASES) == 23


@EVERY
def test_observations_lie_in_their_space(wrap, space):
    env = wrap(Drift(space))
    for seed in (1, None):
        assert env.observation_space.contains(env.reset(seed=seed).observation)
        for action in ACTIONS[:3]:
            assert env.observation_space.contains(env.step(action).observation)


@EVERY
def test_async_does_the_same_and_stays_async(wrap, space):
    async def run(env):
        results = [await env.async_reset(seed=3)]
        results += [await env.async_step(action) for action in ACTIONS]
        return [*results, await env.async_reset()]

    env, twin = wrap(Drift(space)), wrap(Drift(space))
    expected = [twin.reset(seed=3), *(twin.step(action) for action in ACTIONS), twin.reset()]
    assert list(map(shown, asyncio.run(run(env)))) == list(map(shown, expected))
    assert env.unwrapped.awaited >= len(ACTIONS) + 2


@EVERY
def test_copies_go_on_alike(wrap, space):
    env = wrap(Drift(space))
    env.reset(seed=5)
    env.step(ACTIONS[0])
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        first = copy.deepcopy(env)
        for action in ACTIONS[1:4]:
            assert shown(twin.step(action)) == shown(first.step(action))


@EVERY
def test_infos_inside_are_left_alone(wrap, space):
    class Fixed(Drift):
        info = {"fixed": True}  # noqa: RUF012

        def step(self, action):
            result = super().step(action)
            return sekai.StepResult(result.observation, result.reward, result.done, False, self.info)

    env = wrap(Fixed(space))
    env.reset(seed=0)
    for action in ACTIONS[:3]:
        assert env.step(action).info["fixed"]
    assert Fixed.info == {"fixed": True}


@EVERY
def test_a_wrapper_is_one_layer_of_a_stack(wrap, space):
    env = wrap(Drift(space))
    assert [type(layer) for layer in env] == [type(env), Drift]
    assert str(env) == f"<{type(env).__name__}(<Drift>)>"
    env.reset(seed=0)
    assert env.rng is env.unwrapped.rng
    with pytest.raises(TypeError, match=r"sekai\.Env"):
        wrap(None)


@pytest.mark.parametrize("name", CASES)
def test_classes_can_be_subscripted(name):
    cls = getattr(sekai, name)
    assert cls[(int,) * len(cls.__parameters__)].__origin__ is cls
