"""A batch of wrapped environments and a wrapped batch of environments are the same, bit for bit."""

import asyncio

import numpy as np
import pytest

import sekai
from sekai.spaces import Box, Dict, Discrete, MaskedBox, MultiBinary, Sequence, Tuple
from sekai.testing import check_vec_env

SLOTS = MaskedBox(-2, 2, (1,), max_size=2, dtype=np.float64)
NESTED = Dict({"b": Box(-4, 4, (2,)), "t": Tuple([Discrete(3), SLOTS]), "m": MultiBinary(2)})
WORDS = Dict({"s": Sequence(Box(1, 2, (2,)), max_length=3), "d": Discrete(2)})
FROZEN = {"mean": np.array([0.5, -1.0]), "var": np.array([2.0, 0.25]), "count": 9.0}


def frozen(wrap, state):
    def build(env):
        wrapped = wrap(env)
        wrapped.load_state_dict(state)
        wrapped.update_running_mean = False
        return wrapped

    return build


def pair(name, *args, space=None, actions=None, drop=(), **kwargs):
    """The name of a wrapper, how to make it and its twin, and the spaces of the environments inside."""
    single, batch = getattr(sekai, name), getattr(sekai, f"Vec{name}")
    makers = (lambda env: single(env, *args, **kwargs)), (lambda env: batch(env, *args, **kwargs))
    shown = [getattr(arg, "__name__", arg) for arg in args]  # not the addresses of functions, which differ by process
    return pytest.param(*makers, space, actions, set(drop), id=f"{name}({shown}){kwargs}")


def frozen_pair(name, state, **kwargs):
    classes = getattr(sekai, name), getattr(sekai, f"Vec{name}")
    makers = (frozen(lambda env, cls=cls: cls(env, **kwargs), state) for cls in classes)
    return pytest.param(*makers, None, None, set(), id=f"{name}{kwargs}")


PAIRS = [
    pair("TimeLimit", 3),
    # A recorder inside the batch puts the episode into `final_info`, one around it does not.
    pair("RecordEpisodeStatistics", drop=["final_info"]),
    frozen_pair("NormalizeObservation", FROZEN, clip=1.5),
    frozen_pair("NormalizeReward", {"mean": 0.0, "var": 4.0, "count": 9.0}, gamma=0.5),
    pair("FlattenObservation", space=NESTED),
    pair("FrameStackObservation", 3),
    pair("FrameStackObservation", 2, padding="zeros", space=NESTED),
    pair("FrameStackObservation", 2, space=WORDS),
    pair("RescaleObservation", -1, [0, 3]),
    pair("DtypeObservation", np.float32),
    pair("FilterObservation", ["m", "b"], space=NESTED),
    pair("TimeAwareObservation", 4),
    pair("TimeAwareObservation", 4, normalize_time=False, space=NESTED),
    pair("DelayObservation", 2),
    pair("DelayObservation", 0),
    pair("DelayObservation", 3, padding="reset", space=WORDS),
    pair("PadSequenceObservation", 2, space=WORDS),
    pair("PadSequenceObservation", 2, truncate="head", space=WORDS),
    # The mask of a lane that was reset is gone.
    pair("ActionMaskObservation", drop=["final_observation"]),
    pair("ActionMaskObservation", space=NESTED, actions=Discrete(2), drop=["final_observation"]),
    pair("ClipAction"),
    pair("RescaleAction", -1, [1, 3]),
    pair("StickyAction", 0.4),
    pair("StickyAction", 0.6, actions=Discrete(9)),
    pair("StickyAction", 0.6, actions=Dict({"x": Discrete(5), "y": Tuple([Box(-1, 1, (2,))])})),
    pair("ActionRepeat", 3),
    pair("ActionRepeat", 1, space=WORDS),
    pair("DelayAction", 2),
    pair("DelayAction", 0, noop=1, actions=Discrete(9)),
    pair("ClipReward", -1, 1),
    pair("TransformObservation", lambda obs: obs * 2 + 1, Box(-9, 9, (2,), np.float64)),
    pair("TransformReward", lambda reward: reward * reward),
]


def batches(meander, single, batch, space, actions, mode, n=4):
    wrapped = sekai.SyncVecEnv([lambda: single(meander(space, actions))] * n, autoreset=mode)
    return wrapped, batch(sekai.SyncVecEnv([lambda: meander(space, actions)] * n, autoreset=mode))


@pytest.mark.parametrize("mode", ["same_step", "next_step", "disabled"])
@pytest.mark.parametrize(("single", "batch", "space", "actions", "drop"), PAIRS)
def test_twins_agree(meander, same, single, batch, space, actions, drop, mode):
    rng = np.random.default_rng(7)
    inside, outside = batches(meander, single, batch, space, actions, mode)
    assert inside.observation_space == outside.observation_space
    assert inside.action_space == outside.action_space
    inside.batch_action_space.seed(3)
    first = inside.reset(seed=11), outside.reset(seed=11)
    assert same(*first)
    for t in range(24):
        mask = rng.random(4) < 0.7 if t % 3 == 0 else None
        taken = inside.batch_action_space.sample()
        assert same(inside.step(taken, mask), outside.step(taken, mask), drop), t
        if t % 7 == 6:
            mask = rng.random(4) < 0.5
            seeds = [None, 5, t, np.random.default_rng(t)]
            twins = [None, 5, t, np.random.default_rng(t)]
            assert same(inside.reset(seed=seeds, mask=mask), outside.reset(seed=twins, mask=mask)), t
    assert same(inside.reset(seed=12), outside.reset(seed=12))


@pytest.mark.parametrize(("single", "batch", "space", "actions", "drop"), PAIRS)
def test_async_does_the_same(meander, same, single, batch, space, actions, drop):
    async def run(vec):
        results = [await vec.async_reset(seed=2)]
        return results + [await vec.async_step(taken) for taken in actions_taken]

    _, outside = batches(meander, single, batch, space, actions, "same_step", n=2)
    outside.batch_action_space.seed(3)
    actions_taken = [outside.batch_action_space.sample() for _ in range(8)]
    results = [outside.reset(seed=2), *(outside.step(taken) for taken in actions_taken)]
    for before, after in zip(results, asyncio.run(run(outside)), strict=True):
        assert same(before, after)


@pytest.mark.parametrize(("single", "batch", "space", "actions", "drop"), PAIRS)
def test_twins_keep_the_contract_of_batches(meander, single, batch, space, actions, drop):
    assert check_vec_env(batches(meander, single, batch, space, actions, "same_step", n=3)[1]) == []


def test_every_twin_is_compared():
    names = {param.id.partition("(")[0].partition("{")[0] for param in PAIRS}
    assert {f"Vec{name}" for name in names} == set(sekai.vector.wrappers.__all__)
    assert names == set(sekai.wrappers.__all__) - {"AutoReset", "OrderEnforcing"}
