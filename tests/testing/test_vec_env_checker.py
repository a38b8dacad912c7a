"""check_vec_env: for each check a batch that only this check reports; none for correct batches."""

import sys
from copy import deepcopy
from dataclasses import replace
from types import SimpleNamespace
from typing import ClassVar

import cloudpickle
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sekai
from sekai.envs.cartpole import CartPoleEnv, CartPoleVecEnv
from sekai.kernels import kernel, random
from sekai.kernels.jit import at
from sekai.testing import check_vec_env, lane_checks
from sekai.testing import strategies as sts
from sekai.vector.infos import PartialInfos

NAN = float("nan")


class Walk(sekai.Env):
    """A correct environment: a random walk, in episodes of three to eight steps."""

    def __init__(self, space=None):
        self.observation_space = space or sekai.Box(-50, 50, (2,))
        self.action_space = sekai.Discrete(3)

    def reset(self, *, seed=None, options=None):
        self._set_rng(seed)
        self.position, self.left = self.rng.uniform(-1, 1, 2).astype(np.float32), int(self.rng.integers(3, 9))
        return sekai.ResetResult(self.observe(), {})

    def step(self, action):
        self.position = self.position + np.float32(self.rng.uniform(-1, 1) + action)
        self.left -= 1
        return sekai.StepResult(self.observe(), float(self.position[0]), self.left == 0, False, {"left": self.left})

    def observe(self):
        return self.position.copy()


class Walks(sekai.SyncVecEnv):
    """A correct batch of seven."""

    def __init__(self, env_fn=Walk, num_envs=7):
        super().__init__([env_fn] * num_envs)


def walks(**members):
    """A batch with other methods."""
    return type("Variant", (Walks,), members)()


class Counters(sekai.NativeVecEnv):
    """A correct batch in NumPy, whose lanes share a stream."""

    def __init__(self, num_envs, **kwargs):
        super().__init__(num_envs, sekai.Box(0, 99, (1,), np.int64), sekai.Discrete(3), **kwargs)
        self.k = np.zeros(num_envs, np.int64)

    def _reset_envs(self, indices, options):
        self.k[indices] = self.rng.integers(0, 5, indices.size)

    def _observe(self):
        return self.k[:, None].copy()

    def _step(self, actions):
        return self._step_some(actions, np.ones(self.num_envs, bool))

    def _step_some(self, actions, mask):
        self.k[mask] += 1 + np.asarray(actions)[mask]
        return self.k.astype(float), self.k > 20, np.zeros(self.num_envs, bool), {"k": self.k}


def counters(**members):
    """Such a batch with other methods."""
    return type("Variant", (Counters,), members)(5)


def step_with(change, base=Walks):
    """A step whose result is changed: `change(vec, mask, **fields)` returns other values of some fields."""

    def step(self, actions, mask=None):
        result = base.step(self, actions, mask)
        fields = {name: getattr(result, name) for name in result.__slots__}
        return sekai.VecStepResult(**{**fields, **change(self, mask, **fields)})

    return {"step": step}


def reset_with(change):
    """A reset whose result is changed likewise."""

    def reset(self, *, seed=None, options=None, mask=None):
        result = Walks.reset(self, seed=seed, options=options, mask=mask)
        fields = {"observations": result.observations, "infos": result.infos}
        return sekai.VecResetResult(**{**fields, **change(self, mask, **fields)})

    return {"reset": reset}


def in_mode(mode, change, base=Walks):
    """The same in one autoreset mode only, in steps without a mask."""

    def change_in_mode(vec, mask, **fields):
        return change(**fields) if vec.autoreset_mode == mode and mask is None else {}

    return step_with(change_in_mode, base)


def infos_with(change):
    """Fields with other infos: `change(info)` returns what takes the place of one."""
    return lambda infos, **fields: {"infos": PartialInfos(map(change, infos), valid(infos))}


def valid(infos):
    return infos.valid if hasattr(infos, "valid") else np.ones(len(infos), bool)


def all_valid(infos, **fields):
    return {"infos": PartialInfos(infos, np.ones(len(infos), bool))}


def replace_in_end(key, value):
    return infos_with(lambda info: {**info, key: value} if key in info else info)


def without(key):
    return infos_with(lambda info: {name: value for name, value in info.items() if name != key})


def raising(*args, **kwargs):
    raise LookupError("no data\nat all")


# ---- faults in batches of single envs --------------------------------------------------------------


def ignore_seed(self, *, seed=None, options=None, mask=None):
    return Walks.reset(self, mask=mask)


def restart(self, *, seed=None, options=None, mask=None):
    """Starts other streams when there is no seed."""
    new = int(np.random.default_rng().integers(2**32))
    return Walks.reset(self, seed=new if seed is None else seed, mask=mask)


def seed_otherwise(self, *, seed=None, options=None, mask=None):
    return Walks.reset(self, seed=None if seed is None else [seed + i for i in range(7)], mask=mask)


def draw_in_all(vec, mask, **fields):
    """A step with a mask that moves the streams of all lanes."""
    if mask is not None:
        for env in vec.envs:
            env.rng.random()
    return {}


def reseed_all(self, *, seed=None, options=None, mask=None):
    """A reset with a mask that moves the streams of all lanes."""
    result = Walks.reset(self, seed=seed, mask=mask)
    if mask is not None:
        for env in np.array(self.envs, object)[~mask]:
            env.rng.random()
    return result


def new_episode(self, *, seed=None, options=None, mask=None):
    """A reset with a mask that ignores the seed."""
    return Walks.reset(self, seed=None if mask is not None else seed, mask=mask)


def same_arrays(vec, mask, observations, rewards, **fields):
    """A step that returns the same arrays each time."""
    if not hasattr(vec, "arrays"):
        vec.arrays = observations, rewards
    vec.arrays[0][:], vec.arrays[1][:] = observations, rewards
    return {"observations": vec.arrays[0], "rewards": vec.arrays[1]}


def change_actions(self, actions, mask=None):
    result = Walks.step(self, actions, mask)
    actions[:] = 0
    return result


class Shared(Walk):
    """Instances count their steps together."""

    count: ClassVar[list[int]] = [0]

    def reset(self, *, seed=None, options=None):
        self.count[0] = 0
        return super().reset(seed=seed)

    def step(self, action):
        result = super().step(action)
        self.count[0] += 1
        return replace(result, reward=float(self.count[0] > 1))


class OtherFinals(sekai.VecStepResult):
    """Tells other final observations than the infos do."""

    __slots__ = ()

    @property
    def final_observations(self):
        return super().final_observations + 1


def tell_others(self, actions, mask=None):
    result = Walks.step(self, actions, mask)
    return OtherFinals(**{name: getattr(result, name) for name in sekai.VecStepResult.__slots__})


# ---- faults in kernel envs -------------------------------------------------------------------------


class Springs(sekai.KernelVecEnv):
    """A kernel env: weights on springs that are pushed. Its lane functions are correct.

    Attributes:
        fault: What else goes wrong.
    """

    fault: ClassVar[str | None] = None

    class State:
        x: float
        v: float

    class Params:
        stiffness: float = 0.1
        bonus: float = 0.0

    class Info:
        bonus: float

    observation_space = sekai.Box(-np.inf, np.inf, (1,))
    action_space = sekai.Box(-1, 1, ())

    @kernel
    def reset_lane(s, p, rng, i):
        s.x[i], s.v[i] = random.uniform(rng, i, -1.0, 1.0), 0.0

    @kernel
    def step_lane(s, p, rng, action, i):
        s.v[i] += action[i] - at(p.stiffness, i) * s.x[i]
        s.x[i] += s.v[i]
        return -abs(s.x[i]) + at(p.bonus, i), abs(s.x[i]) > 3.0, False

    @kernel
    def observe_lane(s, p, obs, i):
        obs[i, 0] = s.x[i]

    @kernel
    def inform_lane(s, p, info, i):
        info.bonus[i] = at(p.bonus, i)

    def __init__(self, num_envs, **kwargs):
        super().__init__(num_envs, **kwargs)
        if self.fault == "lanes matter":
            self.bonus = num_envs
        if self.fault == "threads matter":
            self.bonus = self.num_threads or 1

    def get_state(self, lanes=None):
        state = super().get_state(lanes)
        state.words[0] += self.fault == "snapshots differ"
        return state


class BoldCartPole(CartPoleEnv):
    """Gives larger rewards than its batch."""

    def step(self, action):
        result = super().step(action)
        return replace(result, reward=result.reward + 1.0)


FAULTS = [
    (SimpleNamespace(num_envs="3"), "ERROR: num_envs must be an int of at least 1, got '3'."),
    (SimpleNamespace(num_envs=3), "ERROR: observation_space must be the sekai.Space of one lane, got None."),
    (
        SimpleNamespace(num_envs=3, observation_space=sekai.Discrete(2), action_space=sekai.Discrete(2)),
        "ERROR: autoreset_mode must be one of same_step, next_step, disabled, got None.",
    ),
    # What reset and step return.
    (
        walks(reset=raising),
        "ERROR: Checking what reset and step return ended early, since something raised LookupError",
    ),
    (
        walks(reset=lambda self, **kwargs: ()),
        "ERROR: reset() returned a tuple without observations, infos; return a sekai.VecResetResult.",
    ),
    (
        walks(step=lambda self, actions: Walks.reset(self)),
        "ERROR: step() at step 0 returned a VecResetResult without rewards, terminated, truncated; return a sekai.Vec",
    ),
    (
        walks(**step_with(lambda vec, mask, rewards, **fields: {"rewards": rewards.astype(np.float32)})),
        "ERROR: rewards from step() at step 0 must be an array, float64 (7,), got float32 (7,).",
    ),
    (
        walks(**step_with(lambda vec, mask, terminated, **fields: {"terminated": terminated[:, None]})),
        "ERROR: terminated from step() at step 0 must be an array, bool (7,), got bool (7, 1).",
    ),
    (
        walks(**step_with(lambda vec, mask, truncated, **fields: {"truncated": truncated.tolist()})),
        "ERROR: truncated from step() at step 0 must be an array, bool (7,), got a list.",
    ),
    (
        walks(**step_with(lambda vec, mask, rewards, **fields: {"rewards": rewards * [1, 1, 1, NAN, 1, 1, 1]})),
        "WARNING: The reward of lane [3] from step() at step 0 is NaN.",
    ),
    (
        walks(**reset_with(lambda vec, mask, observations, **fields: {"observations": observations[1:]})),
        "ERROR: Observations from reset() have 6 rows, and must have 7.",
    ),
    (
        walks(**step_with(lambda vec, mask, observations, **fields: {"observations": np.float32(3)})),
        "ERROR: Observations from step() at step 0 are no batch of Box(",
    ),
    (
        walks(**step_with(lambda vec, mask, observations, **fields: {"observations": observations + np.float32(99)})),
        "WARNING: The observation of lane 0 from step() at step 0 is not within observation_space Box(-50.0, 50.0, (2",
    ),
    (
        walks(**step_with(lambda vec, mask, observations, **fields: {"observations": observations.astype(float)})),
        "WARNING: Observations from step() at step 0 have dtype float64, their space has float32.",
    ),
    (
        walks(**reset_with(lambda vec, mask, infos, **fields: {"infos": infos[1:]})),
        "ERROR: infos from reset() must hold a dict for each lane, 7, got 6.",
    ),
    (
        walks(**reset_with(lambda vec, mask, infos, **fields: {"infos": [None] * 7})),
        "ERROR: infos[0] from reset() must be a dict, got None.",
    ),
    # Seeds.
    (
        walks(reset=ignore_seed),
        "WARNING: reset(seed=42) and the same actions gave other results the second time: the first observations",
    ),
    (
        walks(
            **step_with(lambda vec, mask, rewards, **fields: {"rewards": rewards + np.random.default_rng().random()})
        ),
        "WARNING: reset(seed=42) and the same actions gave other results the second time: reward of lane 0 at step 0.",
    ),
    (
        walks(reset=restart),
        "WARNING: reset() without a seed gave other observations, though all before it was the same.",
    ),
    # Autoreset.
    (
        walks(**in_mode("same_step", lambda infos, **fields: {"infos": PartialInfos(infos, np.zeros(7, bool))})),
        "ERROR: In same-step mode every row is a transition: `valid` must be True everywhere.",
    ),
    (
        counters(**in_mode("same_step", without("final_observation"), Counters)),
        "ERROR: Lanes [2, 4] ended, but final_lanes is []. In same-step mode put the last observation into the info of",
    ),
    (
        counters(**in_mode("same_step", replace_in_end("final_observation", np.array([-1])), Counters)),
        "WARNING: The final observation of lane 2 is not within observation_space Box(0, 99, (1,), int64).",
    ),
    (walks(**in_mode("same_step", without("reset_info"))), "ERROR: The info of lane 2, which ended, lacks reset_info."),
    (
        walks(**in_mode("same_step", replace_in_end("final_info", None))),
        "ERROR: final_info of lane 2 must be a dict, got None.",
    ),
    (
        walks(step=tell_others),
        "ERROR: final_observations must hold the final observations of final_lanes, a row for each",
    ),
    (
        walks(**in_mode("next_step", without("reset"))),
        "ERROR: Lane 2 ended in the last step: in next-step mode this one must reset it, with reward 0, flags False",
    ),
    (
        walks(**in_mode("next_step", lambda rewards, **fields: {"rewards": rewards + 1})),
        "ERROR: Lane 2 ended in the last step: in next-step mode this one must reset it, with reward 0, flags False",
    ),
    (
        walks(**in_mode("next_step", infos_with(lambda info: {**info, "reset": True}))),
        "ERROR: Lane 0 was reset in next-step mode, but had not ended in the last step.",
    ),
    (
        walks(**in_mode("next_step", all_valid)),
        "ERROR: In next-step mode `valid` must be False for lanes that were reset in the step, and True for the other",
    ),
    (
        walks(**in_mode("disabled", lambda rewards, **fields: {"rewards": rewards + 1})),
        "ERROR: Without autoreset, a lane that ended must repeat its last observation and flags, with reward 0 and an",
    ),
    (
        walks(**in_mode("disabled", infos_with(lambda info: {**info, "more": 1}))),
        "ERROR: Without autoreset, a lane that ended must repeat its last observation and flags, with reward 0 and an",
    ),
    (
        walks(**in_mode("disabled", lambda terminated, infos, **fields: {"terminated": terminated & valid(infos)})),
        "ERROR: Without autoreset, a lane that ended must repeat its last observation and flags, with reward 0 and an",
    ),
    (
        walks(**in_mode("disabled", all_valid)),
        "ERROR: Without autoreset `valid` must be False for lanes that wait for a reset, and True for the others.",
    ),
    (
        walks(**step_with(lambda vec, mask, **fields: raising() if vec.autoreset_mode == "disabled" else {})),
        "ERROR: Checking that without autoreset lanes that ended are frozen ended early, since something raised Look",
    ),
    # Masks.
    (
        walks(**step_with(lambda vec, mask, rewards, **fields: {} if mask is None else {"rewards": rewards + 1})),
        "ERROR: In a step with a mask, a lane left out must repeat its last observation and flags, with reward 0",
    ),
    (
        walks(**step_with(lambda vec, mask, **fields: {} if mask is None else all_valid(**fields))),
        "ERROR: In a step with a mask, `valid` must be False for lanes left out, and True for the others.",
    ),
    (
        walks(**step_with(draw_in_all)),
        "ERROR: A mask that leaves lanes out of a step changes how they go on: ",
    ),
    (
        walks(
            **reset_with(
                lambda vec, mask, observations, **fields: (
                    {} if mask is None else {"observations": observations * mask[0]}
                )
            )
        ),
        "ERROR: A reset with a mask must repeat the observation of a lane left out; lane 0 changed.",
    ),
    (
        walks(reset=new_episode),
        "ERROR: A reset with a mask must begin the episodes that one of all lanes begins; lane 1",
    ),
    (walks(reset=reseed_all), "ERROR: A mask that leaves lanes out of a reset changes how they go on: "),
    # Copies.
    (
        walks(**step_with(same_arrays)),
        "ERROR: A later call changed the observations and rewards that step() had returned. Return copies.",
    ),
    (walks(step=change_actions), "ERROR: step() changed the actions that it was given. Copy what is to be changed."),
    # Single envs.
    (
        walks(reset=seed_otherwise),
        "ERROR: Lane 0 is not the single environment with the seed lane_seeds(seed, 7)[0]: observation after reset() d",
    ),
    (
        walks(set_state=lambda self, state, lanes=None: None),
        "ERROR: After set_state(get_state()) the same actions gave other results: ",
    ),
]


@pytest.mark.parametrize(("vec", "expected"), FAULTS, ids=[expected for _, expected in FAULTS])
def test_a_fault_is_reported_by_its_check_alone(vec, expected):
    issues = check_vec_env(vec, check_vectorised=False)
    assert len(issues) == 1
    assert issues[0].startswith(expected)
    assert "\n" not in issues[0]


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (
            "lanes matter",
            "ERROR: Lane 0 of 7 differs from lane 0 of 1 with the same seed and actions: reward and info at",
        ),
        ("threads matter", "ERROR: With two threads the rewards differ from those with one. In lane functions use the"),
        ("snapshots differ", "ERROR: After set_state(get_state()) the same actions gave other results: observation"),
    ],
)
def test_a_fault_of_a_kernel_env_is_reported_by_its_check_alone(monkeypatch, fault, expected):
    monkeypatch.setattr(Springs, "fault", fault)
    issues = check_vec_env(Springs(7), check_vectorised=False)
    assert len(issues) == 1
    assert issues[0].startswith(expected)


def test_a_kernel_env_and_its_single_view_that_differ_are_reported(monkeypatch):
    monkeypatch.setattr(CartPoleVecEnv, "single", BoldCartPole)
    issues = check_vec_env(CartPoleVecEnv(3), check_vectorised=False)
    assert [issue.split(". ")[0] for issue in issues] == [
        "ERROR: Lane 0 is not the single environment with the seed lane_seeds(seed, 3)[0]: reward at step 0 differs"
    ]


def test_a_loop_that_is_not_vectorised_is_reported(monkeypatch):
    monkeypatch.setattr(lane_checks, "why_not_vectorised", lambda vec: "it is too long")
    issues = check_vec_env(Springs(7))
    assert len(issues) == 1
    assert issues[0].startswith("WARNING: The loop that steps the lanes is slower than it need be: it is too long. Use")
    assert check_vec_env(Springs(7), check_vectorised=False) == []


# ---- correct batches -------------------------------------------------------------------------------


def test_the_batches_without_faults_have_no_issue():
    assert check_vec_env(walks()) == []
    assert check_vec_env(Springs(7)) == []


@pytest.mark.parametrize("spec", sekai.all_specs(), ids=lambda spec: spec.id)
def test_registered_envs_pass(spec):
    assert check_vec_env(sekai.make_vec(spec, 5)) == []
    assert check_vec_env(sekai.make_vec(spec, 1), check_vectorised=False) == []
    assert check_vec_env(sekai.make_vec(spec, 3, vectorization_mode="sync"), n_steps=300) == []


class Anything(Walk):
    """Observations and actions of any kind, some of the actions forbidden."""

    def __init__(self, observation_space, action_space, mask=None):
        super().__init__(observation_space)
        self.action_space, self.mask = action_space, mask

    def observe(self):
        space = deepcopy(self.observation_space)
        space.seed(int(self.rng.integers(2**32)))
        return space.sample()

    def step(self, action):
        assert self.action_space.contains(action)
        return super().step(0)

    def action_mask(self):
        return self.mask


@settings(max_examples=15)
@given(st.data())
def test_correct_batches_of_every_kind_of_space_pass(data):
    spaces = sts.spaces().filter(lambda space: space.holds_data)  # batches of others have no length
    observation_space, action_space = data.draw(spaces), data.draw(spaces)
    mask = data.draw(st.none() | sts.masks(action_space)) if stacks_masks(action_space) else None
    batch = data.draw(st.sampled_from([sekai.SyncVecEnv, sekai.AsyncVecEnv]))
    with batch([lambda: Anything(observation_space, action_space, mask)] * data.draw(st.integers(1, 3))) as vec:
        assert check_vec_env(vec, n_steps=12) == []


def stacks_masks(space):
    """Whether the masks of several lanes go together into one."""
    if isinstance(space, (sekai.Dict, sekai.Tuple)) and not isinstance(space, sekai.MaskedBox):
        return all(map(stacks_masks, space.values() if isinstance(space, sekai.Dict) else space))
    return not isinstance(space, (sekai.Sequence, sekai.MaskedBox))


class Limited(Counters):
    """One that cannot step some of its lanes."""

    _step_some = sekai.NativeVecEnv._step_some

    def _step(self, actions):
        return Counters._step_some(self, actions, np.ones(self.num_envs, bool))


class OtherSprings(Springs):
    """One whose constructor takes something else."""

    def __init__(self, num_envs, level):
        super().__init__(num_envs, stiffness=level)


class OneMode(Walks):
    """One that knows one autoreset mode."""

    _supported_modes = ("next_step",)
    _autoreset_mode = "next_step"

    def __init__(self):
        sekai.SyncVecEnv.__init__(self, [Walk] * 3, autoreset="next_step")


@pytest.mark.parametrize(
    "make",
    [
        lambda: Counters(5),
        lambda: Counters(1, max_episode_steps=4),
        lambda: Limited(5),
        lambda: OneMode(),
        lambda: sekai.SyncVecEnv([lambda: sekai.AutoReset(Walk())] * 3),
        lambda: sekai.SyncVecEnv([lambda: sekai.RecordEpisodeStatistics(Walk())] * 3),
        lambda: Springs(3, copy=False, max_episode_steps=4),
        lambda: Springs(3, debug=True, max_episode_steps=4),
        lambda: Springs(3, stiffness=sekai.PerLane([0.1, 0.2, 0.3])),
        lambda: Springs(1500),
        lambda: OtherSprings(3, 0.2),
        lambda: sekai.VecTimeLimit(Springs(3), 4),
        lambda: sekai.VecFrameStackObservation(walks(), 3),
        lambda: sekai.VecNormalizeReward(Springs(3)),
    ],
)
def test_other_correct_batches_pass(make):
    with make() as vec:
        assert check_vec_env(vec, n_steps=60) == []


def test_batches_in_other_processes():
    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import the tests
    with sekai.ProcVecEnv([Walk] * 3, num_workers=2) as vec:
        assert check_vec_env(vec, n_steps=60) == []
    with sekai.ProcVecEnv([Shared] * 3, num_workers=1) as vec:
        issues = check_vec_env(vec, n_steps=60)
    assert any(issue.startswith("ERROR: Lane 0 is not the single environment with the seed") for issue in issues)


# ---- details ---------------------------------------------------------------------------------------


def test_the_batch_keeps_its_mode_and_stays_open():
    vec = walks()
    vec.autoreset_mode = "disabled"
    check_vec_env(vec)
    assert vec.autoreset_mode == "disabled"
    assert not vec.closed


def test_nothing_about_seeds_is_checked_where_there_are_none():
    vec = walks(reset=ignore_seed)
    vec.spec = sekai.EnvSpec("Live-v0", nondeterministic=True)
    assert check_vec_env(vec) == []


def test_a_wrapped_batch_is_compared_with_the_single_env_that_is_given():
    vec = sekai.VecTransformReward(walks(), lambda rewards: 2 * rewards)
    assert check_vec_env(vec, env_fn=lambda: sekai.TransformReward(Walk(), lambda reward: 2 * reward)) == []
    issues = check_vec_env(vec, env_fn=Walk)
    assert [issue.split(". ")[0] for issue in issues] == [
        "ERROR: Lane 0 is not the single environment with the seed lane_seeds(seed, 7)[0]: reward at step 0 differs"
    ]


def test_envs_that_cannot_be_pickled_are_not_compared():
    vec = walks(reset=seed_otherwise)
    assert len(check_vec_env(vec)) == 1
    for env in vec.envs:
        env.feed = (price for price in range(3))
    assert check_vec_env(vec) == []


def test_runs_end_after_the_given_number_of_steps():
    class Counting(Walks):
        steps = 0

        def step(self, actions, mask=None):
            self.steps += 1
            return super().step(actions, mask)

    few, many = Counting(), Counting()
    assert check_vec_env(few, n_steps=5) == []
    assert check_vec_env(many, n_steps=1000) == []
    assert few.steps < 50 < many.steps < 300
