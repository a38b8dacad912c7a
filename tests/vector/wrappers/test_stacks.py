"""Stacks of wrappers, single and vector ones, against naive Python over random episodes.

The naive models deal with one lane in lists and floats; what autoreset, masks and freezing mean is spelt out here, too.
"""

import copy
import functools
import math

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from numpy.random import default_rng

import sekai
from sekai.utils.seeding import make_seed_sequence

N = 3
SEEDS = st.integers(0, 2**64)
MASKS = st.lists(st.booleans(), min_size=N, max_size=N)
ACTION = st.lists(st.floats(-3, 3, width=32), min_size=2, max_size=2)
ACTIONS = st.lists(ACTION, min_size=N, max_size=N)
LOW, HIGH = -4.0, 4.0


# ---- the environment, and its naive twin -------------------------------------------------------------


class World:
    """Two numbers that move with the actions; the length of an episode depends on the seed and on its number."""

    def __init__(self):
        self.seed, self.episode = 0, 0

    def reset(self, seed):
        self.seed = self.seed if seed is None else seed
        self.episode += 1
        self.k, self.x = 0, [(self.seed % 7 - 3) / 2, (self.episode % 5 - 2) / 4]
        self.length = 1 + (self.seed + 3 * self.episode) % 6
        self.cut = (self.seed + self.episode) % 3 == 0
        return list(self.x)

    def step(self, action):
        self.k += 1
        self.x = [min(max(0.5 * x + 0.25 * float(a), LOW), HIGH) for x, a in zip(self.x, action, strict=True)]
        done = self.k >= self.length
        return list(self.x), self.x[0] - 0.125 * self.k, done and not self.cut, done and self.cut, {"k": self.k}


class WorldEnv(sekai.Env):
    def __init__(self):
        self.observation_space = sekai.Box(LOW, HIGH, (2,), np.float64)
        self.action_space = sekai.Box(-3, 3, (2,), np.float64)
        self.world = World()

    def reset(self, *, seed=None, options=None):
        return sekai.ResetResult(np.array(self.world.reset(seed)), {})

    def step(self, action):
        observation, *rest = self.world.step(action)
        return sekai.StepResult(np.array(observation), *rest)


# ---- naive models of wrappers ------------------------------------------------------------------------


class Model:
    """Passes everything on."""

    def __init__(self, env):
        self.env = env

    def reset(self, seed):
        self.begin(seed)
        return self.see(self.env.reset(seed), True)

    def step(self, action):
        obs, reward, terminated, truncated, info = self.env.step(self.act(action))
        return self.after(self.see(obs, False), reward, terminated, truncated, info)

    def begin(self, seed):
        pass

    def act(self, action):
        return action

    def see(self, obs, first):
        return obs

    def after(self, *result):
        return result


class Limit(Model):
    def begin(self, seed):
        self.n = 0

    def after(self, obs, reward, terminated, truncated, info):
        self.n += 1
        return obs, reward, terminated, truncated or self.n >= 3, {**info, "elapsed_steps": self.n}


class Time(Model):
    def see(self, obs, first):
        self.n = 0 if first else self.n + 1
        return [*obs, min(self.n / 4, 1.0)]


class Stack(Model):
    def see(self, obs, first):
        self.frames = [obs, obs, obs] if first else [*self.frames[1:], obs]
        return [x for frame in self.frames for x in frame]


class Late(Model):
    def see(self, obs, first):
        self.seen = [obs] if first else [*self.seen, obs]
        return self.seen[-3] if len(self.seen) > 2 else [min(max(0.0, LOW), HIGH)] * len(obs)


class Rescaled(Model):
    def see(self, obs, first):
        return [min(max(-1.0 + (2.0 / (HIGH - LOW)) * (x - LOW), -1.0), 1.0) for x in obs]


class Doubled(Model):
    def see(self, obs, first):
        return [x * 2.0 for x in obs]


class Narrow(Model):
    def see(self, obs, first):
        return [float(np.float32(x)) for x in obs]


class Normal(Model):
    def see(self, obs, first):
        return [(x - 0.5) * (1.0 / math.sqrt(2.0 + 1e-8)) for x in obs]


class NormalReward(Model):
    def after(self, obs, reward, *rest):
        return obs, reward * (1.0 / math.sqrt(4.0 + 1e-8)), *rest


class ClippedReward(Model):
    def after(self, obs, reward, *rest):
        return obs, min(max(reward, -0.25), 0.5), *rest


class SquaredReward(Model):
    def after(self, obs, reward, *rest):
        return obs, reward * reward, *rest


class ClippedAction(Model):
    def act(self, action):
        return [min(max(a, -3.0), 3.0) for a in action]


class ScaledAction(Model):
    def act(self, action):
        return [min(max(-3.0 + 3.0 * (a - -1.0), -3.0), 3.0) for a in action]


class Sticky(Model):
    generator = None

    def begin(self, seed):
        self.last = None
        if seed is not None:
            self.generator = default_rng(make_seed_sequence(seed, 2)[1])

    def act(self, action):
        if self.last is None or self.generator.random() >= 0.5:
            self.last = action
        return self.last


class LateAction(Model):
    def begin(self, seed):
        self.chosen = []

    def act(self, action):
        self.chosen.append(action)
        return self.chosen[-3] if len(self.chosen) > 2 else [0.0, 0.0]


class Repeat(Model):
    def step(self, action):
        total, count = 0.0, 0
        while True:
            obs, reward, terminated, truncated, info = self.env.step(action)
            total, count = total + reward, count + 1
            if count == 2 or terminated or truncated:
                return obs, total, terminated, truncated, {**info, "action_repeats": count}


class Record(Model):
    def begin(self, seed):
        self.total, self.n = 0.0, 0

    def after(self, obs, reward, terminated, truncated, info):
        self.total, self.n = self.total + reward, self.n + 1
        if terminated or truncated:
            info = {**info, "episode": (self.total, self.n)}
        return obs, reward, terminated, truncated, info


def frozen(cls, shape):
    def build(env):
        wrapped = cls(env)
        size = env.observation_space.shape if shape is None else shape
        wrapped.load_state_dict({"mean": np.full(size, 0.5), "var": np.full(size, MOMENTS[cls]), "count": 1.0})
        wrapped.update_running_mean = False
        return wrapped

    return build


MOMENTS = {
    sekai.NormalizeObservation: 2.0, sekai.VecNormalizeObservation: 2.0,
    sekai.NormalizeReward: 4.0, sekai.VecNormalizeReward: 4.0,
}  # fmt: skip


def stack_flat(frames, flat):
    return lambda env: flat(frames(env, 3))


# Name: the naive model, the wrapper and its twin.
WRAPPERS = {
    "limit": (Limit, lambda e: sekai.TimeLimit(e, 3), lambda v: sekai.VecTimeLimit(v, 3)),
    "time": (Time, lambda e: sekai.TimeAwareObservation(e, 4), lambda v: sekai.VecTimeAwareObservation(v, 4)),
    "stack": (
        Stack,
        stack_flat(sekai.FrameStackObservation, lambda e: sekai.TransformObservation(e, np.ravel, ravelled(e))),
        stack_flat(sekai.VecFrameStackObservation, lambda v: sekai.VecTransformObservation(v, rows, ravelled(v))),
    ),
    "late": (Late, lambda e: sekai.DelayObservation(e, 2), lambda v: sekai.VecDelayObservation(v, 2)),
    "rescaled": (
        Rescaled, lambda e: sekai.RescaleObservation(e, -1, 1), lambda v: sekai.VecRescaleObservation(v, -1, 1),
    ),
    "doubled": (
        Doubled, lambda e: sekai.TransformObservation(e, twice), lambda v: sekai.VecTransformObservation(v, twice),
    ),
    "narrow": (Narrow, lambda e: sekai.DtypeObservation(e, "f4"), lambda v: sekai.VecDtypeObservation(v, "f4")),
    "normal": (Normal, frozen(sekai.NormalizeObservation, None), frozen(sekai.VecNormalizeObservation, None)),
    "normal reward": (NormalReward, frozen(sekai.NormalizeReward, ()), frozen(sekai.VecNormalizeReward, ())),
    "clipped reward": (
        ClippedReward, lambda e: sekai.ClipReward(e, -0.25, 0.5), lambda v: sekai.VecClipReward(v, -0.25, 0.5),
    ),
    "squared reward": (
        SquaredReward, lambda e: sekai.TransformReward(e, square), lambda v: sekai.VecTransformReward(v, square),
    ),
    "clipped action": (ClippedAction, sekai.ClipAction, sekai.VecClipAction),
    "scaled action": (
        ScaledAction, lambda e: sekai.RescaleAction(e, -1, 1), lambda v: sekai.VecRescaleAction(v, -1, 1),
    ),
    "sticky": (Sticky, lambda e: sekai.StickyAction(e, 0.5), lambda v: sekai.VecStickyAction(v, 0.5)),
    "late action": (LateAction, lambda e: sekai.DelayAction(e, 2), lambda v: sekai.VecDelayAction(v, 2)),
    "repeat": (Repeat, lambda e: sekai.ActionRepeat(e, 2), lambda v: sekai.VecActionRepeat(v, 2)),
    "record": (Record, sekai.RecordEpisodeStatistics, sekai.VecRecordEpisodeStatistics),
}  # fmt: skip


def wrapped(env, wrappers):
    return functools.reduce(lambda inner, wrap: wrap(inner), wrappers, env)


def twice(obs):
    return obs * 2.0


def square(reward):
    return reward * reward


def rows(batch):
    return batch.reshape(len(batch), -1)


def ravelled(env):
    box = env.observation_space
    return sekai.Box(box.low.ravel(), box.high.ravel(), dtype=box.dtype)


def fits(names):
    """Whether a stack can be built: what needs finite bounds, or the bounds of the environment, comes early enough."""
    kept = set()
    for name in names:
        if name in ("rescaled", "late") and kept & {"time", "doubled", "normal", "rescaled", "narrow"}:
            return False  # the naive models know the bounds of the environment only
        if name == "scaled action" and kept & {"scaled action"}:
            return False
        if name in ("late action", "clipped action") and kept & {"scaled action"}:
            return False
        if name == "limit" and "record" in kept:
            return False  # warns, and rightly so
        kept.add(name)
    return len(set(names)) == len(names)


NAMES = st.lists(st.sampled_from(sorted(WRAPPERS)), min_size=2, max_size=4).filter(fits)


# ---- the naive batch ---------------------------------------------------------------------------------


class NaiveLane:
    """What a batch does with one lane."""

    def __init__(self, models):
        self.env = World()
        for model in models:
            self.env = model(self.env)
        self.over = False

    def reset(self, seed):
        self.obs, self.flags, self.over = self.env.reset(seed), (False, False), False

    def step(self, action, mode):
        """Observation, reward, flags, info, final observation, and whether it is a transition."""
        if self.over and mode == "next_step":
            self.reset(None)
            return self.row(0.0, {"reset": True}, None, False)
        if self.over:
            return self.idle()
        self.obs, reward, terminated, truncated, info = self.env.step(action)
        self.flags = terminated, truncated
        final = None
        if terminated or truncated:
            final, flags = self.obs, self.flags
            if mode != "same_step":
                self.over = True
                return self.row(reward, info, None, True)
            self.obs = self.env.reset(None)
            self.flags = flags
        return self.row(reward, info, final, True)

    def idle(self):
        return self.row(0.0, {}, None, False)

    def row(self, reward, info, final, valid):
        return list(self.obs), reward, *self.flags, info, final, valid


def as_naive(result):
    """A result of a batch, in the same terms."""
    naive = []
    for i, info in enumerate(result.infos):
        own = {key: value for key, value in info.items() if key not in ("final_info", "reset_info")}
        final = own.pop("final_observation", None)
        if "episode" in own:
            own["episode"] = own["episode"].episode_return, own["episode"].episode_length
        flags = bool(result.terminated[i]), bool(result.truncated[i])
        final = None if final is None else final.tolist()
        observation, reward = result.observations[i].tolist(), float(result.rewards[i])
        naive.append((observation, reward, *flags, own, final, bool(result.valid[i])))
    lanes = [i for i, row in enumerate(naive) if row[5] is not None]
    assert result.final_lanes.tolist() == lanes
    assert [row.tolist() for row in result.final_observations] == [naive[i][5] for i in lanes]
    return naive


class Stacks(RuleBasedStateMachine):
    """The same stack three times: naive lanes, a batch of wrapped environments, a wrapped batch."""

    @initialize(names=NAMES, mode=st.sampled_from(["same_step", "next_step", "disabled"]), seed=SEEDS)
    def build(self, names, mode, seed):
        models, singles, twins = zip(*(WRAPPERS[name] for name in names), strict=True)
        self.mode = mode
        self.lanes = [NaiveLane(models) for _ in range(N)]
        inside = sekai.SyncVecEnv([lambda: wrapped(WorldEnv(), singles)] * N, autoreset=mode)
        outside = wrapped(sekai.SyncVecEnv([WorldEnv] * N, autoreset=mode), twins)
        self.batches, self.saved = [inside, outside], None
        self.reset(seed)

    def reset(self, seed):
        for lane, lane_seed in zip(self.lanes, sekai.lane_seeds(seed, N), strict=True):
            lane.reset(lane_seed)
        for vec in self.batches:
            assert vec.reset(seed=seed).observations.tolist() == [lane.obs for lane in self.lanes]

    @rule(seed=SEEDS)
    def reset_all(self, seed):
        self.reset(seed)

    @rule(mask=MASKS, seeds=st.lists(st.none() | SEEDS, min_size=N, max_size=N))
    def reset_some(self, mask, seeds):
        for lane, chosen, seed in zip(self.lanes, mask, seeds, strict=True):
            if chosen:
                lane.reset(seed)
        for vec in self.batches:
            assert vec.reset(seed=seeds, mask=np.array(mask)).observations.tolist() == [lane.obs for lane in self.lanes]

    @rule(plan=st.lists(ACTIONS, min_size=1, max_size=8))
    def step(self, plan):
        for actions in plan:
            self.compare(actions, [True] * N, None)

    @rule(lanes=st.permutations(range(N)), count=st.integers(1, N))
    def save(self, lanes, count):
        chosen = lanes[:count]
        self.saved = (
            [copy.deepcopy(self.lanes[lane]) for lane in chosen],
            [vec.get_state(chosen) for vec in self.batches],
        )

    @precondition(lambda self: self.saved is not None)
    @rule(lanes=st.permutations(range(N)))
    def restore(self, lanes):
        naive, states = self.saved
        chosen = lanes[: len(naive)]
        for lane, saved in zip(chosen, naive, strict=True):
            self.lanes[lane] = copy.deepcopy(saved)
        for vec, state in zip(self.batches, states, strict=True):
            vec.set_state(state, chosen)

    @rule(actions=ACTIONS, mask=MASKS)
    def step_some(self, actions, mask):
        self.compare(actions, mask, np.array(mask))

    def compare(self, actions, chosen, mask):
        naive = [
            lane.step(action, self.mode) if moves else lane.idle()
            for lane, action, moves in zip(self.lanes, actions, chosen, strict=True)
        ]
        for vec in self.batches:
            assert as_naive(vec.step(np.array(actions), mask)) == naive


TestStacks = Stacks.TestCase
TestStacks.settings = settings(
    max_examples=60, stateful_step_count=10, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)
