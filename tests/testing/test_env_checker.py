"""check_env: for each check an environment that only this check reports; none for correct environments."""

import asyncio
from copy import deepcopy
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sekai
from sekai.testing import strategies as sts
from sekai.testing.env_checker import check_env

Reset, Step = sekai.ResetResult, sekai.StepResult
NAN, INF = float("nan"), float("inf")


class Walk(sekai.Env):
    """A correct environment: a random walk, in episodes of five steps."""

    def __init__(self):
        self.observation_space = sekai.Box(-10, 10, (2,))
        self.action_space = sekai.Discrete(3, seed=0)

    def reset(self, *, seed=None, options=None):
        self._set_rng(seed)
        self.position, self.t = self.rng.uniform(-1, 1, 2).astype(np.float32), 0
        return Reset(self.position.copy(), {})

    def step(self, action):
        self.position = self.position + np.float32(self.rng.uniform(-1, 1))
        return self.result(self.position.copy())

    def result(self, observation):
        self.t += 1
        return Step(observation, 1.0, self.t == 5, False, {})


def walk(**members):
    """A walk with other methods, or other spaces."""
    spaces = {name: members.pop(name) for name in ("observation_space", "action_space") if name in members}
    env = type("Variant", (Walk,), members)()
    vars(env).update(spaces)
    return env


# ---- what goes wrong -----------------------------------------------------------------------------


def raising(*args, **kwargs):
    raise LookupError("no data")


async def no_result(*args, **kwargs):
    return 3


def step_with(**changes):
    """A step with other values in some fields of its result."""

    def step(self, action):
        result = Walk.step(self, action)
        fields = {name: getattr(result, name) for name in ("observation", "reward", "terminated", "truncated", "info")}
        return Step(**{**fields, **changes})

    return step


def step_in_rollout_from(seed, do):
    """A step that does something else in an episode that began with `reset(seed=seed)`."""
    return lambda self, action: do(self, action) if self._rng_seed == seed else Walk.step(self, action)


def reset_from(wanted, do):
    """A reset that does something else for one seed."""
    return lambda self, *, seed=None, options=None: do(self) if seed == wanted else Walk.reset(self, seed=seed)


def mutate(self, action):
    self.position += np.float32(0.1)
    return self.result(self.position)


def take_turns(self, action):
    """Write observations into two arrays in turn."""
    self.arrays = getattr(self, "arrays", None) or [np.zeros(2, np.float32), np.zeros(2, np.float32)]
    self.arrays[self.t % 2][:] = self.rng.uniform(-1, 1)
    return self.result(self.arrays[self.t % 2])


def share(self, action):
    """Return the position itself, which no later step writes to."""
    self.position = self.position + np.float32(0.1)
    return self.result(self.position)


def overwrite(self, *, seed=None, options=None):
    """Write the first observation where the last one was."""
    last = getattr(self, "position", np.zeros(2, np.float32))
    Walk.reset(self, seed=seed)
    last[:] = self.position
    self.position = last
    return Reset(last.copy(), {})


def rewind(self):
    """Start the same stream again in the generator that there is."""
    self.rng.bit_generator.state = np.random.default_rng(5).bit_generator.state
    return Walk.reset(self)


def ignore_seed(self):
    Walk.reset(self)
    return Reset(np.random.default_rng().uniform(-1, 1, 2).astype(np.float32), {})


def reward_at_random(self, action):
    return Step(Walk.step(self, action).observation, np.random.default_rng().random(), self.t == 5, False, {})


class Raises(sekai.Discrete):
    def sample(self, mask=None):
        raise TypeError("cannot sample")


class Outside(sekai.Discrete):
    def sample(self, mask=None):
        return 99


class MaskedOutside(sekai.Discrete):
    def sample(self, mask=None):
        return super().sample() if mask is None else 99


class NoContains(sekai.Box):
    def contains(self, x):
        raise ZeroDivisionError("no answer")


def flags(**members):
    """A walk whose observations are two bools: a space that cannot be sampled."""
    space = sekai.Box(False, True, (2,), bool)
    observation = np.zeros(2, bool)
    return walk(
        observation_space=space,
        reset=lambda self, *, seed=None, options=None: Reset(observation.copy(), {}),
        step=lambda self, action: Step(observation.copy(), 1.0, False, False, {}),
    )


FAULTS = [
    (walk(action_space=[0, 1]), "ERROR: action_space must be a sekai.Space, got list."),
    (walk(observation_space=None), "ERROR: observation_space must be a sekai.Space, got NoneType."),
    (walk(action_space=Raises(3)), "ERROR: action_space.sample() raised TypeError: cannot sample"),
    (walk(action_space=Outside(3)), "ERROR: action_space.sample() returned 99, which is not in Discrete(3)."),
    (flags(), "ERROR: observation_space.sample() raised TypeError: "),
    # The first reset.
    (walk(reset=raising), "ERROR: reset() raised LookupError: no data"),
    (
        walk(reset=reset_from(42, lambda self: np.zeros(2))),
        "ERROR: reset() returned a ndarray without observation, info; return a sekai.ResetResult.",
    ),
    (
        walk(reset=reset_from(42, lambda self: Reset(Walk.reset(self, seed=42).observation, None))),
        "ERROR: reset() returned info of type NoneType, and must be a dict.",
    ),
    (
        walk(reset=reset_from(42, lambda self: Reset(Walk.reset(self, seed=42).observation + np.float32(99), {}))),
        "WARNING: Observation from reset() is not within observation_space Box(-10.0, 10.0, (2,), float32): array([99.",
    ),
    # Masks.
    (walk(action_mask=raising), "ERROR: action_space.sample(mask=env.action_mask()) raised LookupError: no data"),
    (
        walk(action_mask=lambda self: np.array([1, 1, 2])),
        "ERROR: action_space.sample(mask=env.action_mask()) raised ValueError: mask must hold nothing but 0 and 1",
    ),
    (
        walk(action_space=MaskedOutside(3), action_mask=lambda self: np.ones(3, np.int8)),
        "ERROR: action_space.sample(mask=env.action_mask()) returned 99, which is not in Discrete(3).",
    ),
    (
        walk(action_mask=lambda self: np.full(3, self.t < 4, np.int8)),
        "ERROR: Sampling an action at step 4 raised ValueError: All actions masked",
    ),
    # Steps.
    (walk(step=step_in_rollout_from(42, raising)), "ERROR: step() raised LookupError at step 0: no data"),
    (
        walk(step=step_in_rollout_from(42, lambda self, action: Reset(self.position, {}))),
        "ERROR: step() at step 0 returned a ResetResult without reward, terminated, truncated; return a sekai.Step",
    ),
    (
        walk(step=step_in_rollout_from(42, step_with(observation=np.full(2, NAN, np.float32)))),
        "WARNING: Observation from step() at step 0 is not within observation_space Box(-10.0, 10.0, (2,), float32): ",
    ),
    (
        walk(step=step_in_rollout_from(42, step_with(observation=np.zeros(2)))),
        "WARNING: Observation from step() at step 0 has dtype float64, space has float32. (seen at 100 steps; first",
    ),
    (
        walk(step=step_with(reward="1")),
        "WARNING: reward at step 0 is of type str, and must be a real number. (seen at 100 steps; first shown)",
    ),
    (walk(step=step_with(reward=np.True_)), "WARNING: reward at step 0 is of type bool"),
    (
        walk(step=step_with(reward=np.float32(NAN))),
        "WARNING: reward at step 0 is NaN. (seen at 100 steps; first shown)",
    ),
    (walk(step=step_with(reward=-INF)), "WARNING: The reward was infinite at 100 of 100 steps."),
    (
        walk(step=step_with(terminated=0)),
        "WARNING: terminated at step 0 is of type int, and must be a bool. (seen at 100 steps; first shown)",
    ),
    (walk(step=step_with(truncated=np.zeros(2, bool))), "WARNING: truncated at step 0 is of type ndarray"),
    (
        walk(step=step_with(info=None)),
        "WARNING: info at step 0 is of type NoneType, and must be a dict. (seen at 100 steps; first shown)",
    ),
    (walk(step=mutate), "WARNING: step() mutated a previously returned observation in place. Return a copy"),
    (walk(step=take_turns), "WARNING: step() mutated a previously returned observation in place. Return a copy"),
    # The resets between episodes.
    (
        walk(reset=reset_from(None, raising)),
        "ERROR: reset() after the episode ended at step 4 raised LookupError: no data",
    ),
    (
        walk(reset=reset_from(None, lambda self: None)),
        "ERROR: reset() after the episode ended at step 4 returned a NoneType without observation, info",
    ),
    (
        walk(reset=reset_from(None, lambda self: Reset(Walk.reset(self).observation.astype(float), {}))),
        "WARNING: Observation from reset() after the episode ended at step 4 has dtype float64, space has float32. "
        "(seen at 20 resets; first shown)",
    ),
    (
        walk(reset=overwrite, step=share),
        "WARNING: reset() overwrote, in place, the last observation of the episode, which is stored as `final_obs",
    ),
    (
        walk(reset=reset_from(None, lambda self: Walk.reset(self, seed=7))),
        "WARNING: reset() without a seed restarted the random stream. Call self._set_rng(seed)",
    ),
    (walk(reset=reset_from(None, rewind)), "WARNING: reset() without a seed restarted the random stream."),
    # Seeds.
    (walk(reset=reset_from(0, raising)), "ERROR: reset(seed=0) raised LookupError: no data"),
    (walk(reset=reset_from(0, ignore_seed)), "WARNING: reset(seed=0) returned different observations on two calls."),
    (
        walk(step=step_in_rollout_from(123, raising)),
        "ERROR: A rollout from reset(seed=123), to check determinism, raised LookupError: no data",
    ),
    (walk(step=reward_at_random), "WARNING: Two rollouts from reset(seed=123) with the same actions differ. Draw all"),
    # The rest.
    (walk(async_step=raising), "ERROR: async_reset() or async_step() raised LookupError: no data"),
    (walk(async_reset=no_result), "ERROR: async_reset() returned a int without observation, info"),
    (walk(async_step=no_result), "ERROR: async_step() returned a int without observation, reward, terminated, trunc"),
    (walk(close=raising), "ERROR: close() raised LookupError: no data"),
    (
        walk(observation_space=NoContains(-10, 10, (2,))),
        "ERROR: the checks ended early, since something raised ZeroDivisionError: no answer",
    ),
]


@pytest.mark.parametrize(("env", "expected"), FAULTS, ids=[expected for _, expected in FAULTS])
def test_a_fault_is_reported_by_its_check_alone(env, expected):
    issues = check_env(env, check_determinism=True, check_close=True)
    assert len(issues) == 1
    assert issues[0].startswith(expected)


def test_the_env_without_faults_has_no_issue():
    assert check_env(walk(), check_determinism=True, check_close=True) == []


def test_missing_spaces_are_reported_together():
    class Bare(sekai.Env):
        reset = step = raising

    expected = [
        f"ERROR: {name} is not defined. Set it in __init__()." for name in ("observation_space", "action_space")
    ]
    assert check_env(Bare()) == check_env(object()) == expected


# ---- correct environments ------------------------------------------------------------------------


class Anything(sekai.Env):
    """Observations and actions of any kind, drawn by a stream of the environment's own."""

    def __init__(self, observation_space, action_space):
        self.observation_space, self.action_space = observation_space, action_space

    def draw(self):
        space = deepcopy(self.observation_space)
        space.seed(int(self.rng.integers(2**32)))
        return space.sample()

    def reset(self, *, seed=None, options=None):
        self._set_rng(seed)
        return Reset(self.draw(), {})

    def step(self, action):
        assert self.action_space.contains(action)
        return Step(self.draw(), np.float32(self.rng.random()), bool(self.rng.random() < 0.2), np.False_, {})


@settings(max_examples=25)
@given(sts.spaces(), sts.spaces())
def test_correct_envs_of_every_kind_of_space_pass(observation_space, action_space):
    env = Anything(observation_space, action_space)
    assert check_env(env, n_steps=10, check_determinism=True, check_close=True) == []


@settings(max_examples=25)
@given(st.data())
def test_correct_masks_of_every_kind_of_space_pass(data):
    class Masked(Anything):
        def action_mask(self):
            return mask

    space = data.draw(sts.spaces())
    mask = data.draw(sts.masks(space))
    env = Masked(sekai.Discrete(2), space)
    assert check_env(env, n_steps=10, check_determinism=True) == []


@pytest.mark.parametrize("spec", sekai.all_specs(), ids=lambda spec: spec.id)
def test_registered_envs_pass(spec):
    assert check_env(spec.make(), n_steps=500, check_determinism=True, check_close=True) == []


# ---- details -------------------------------------------------------------------------------------


def test_dtypes_inside_dicts_and_tuples():
    class Nested(Anything):
        def draw(self):
            x = super().draw()
            return {"a": (x["a"][0].astype(np.float16), x["a"][1]), "b": x["b"].astype(np.int8)}

    space = sekai.Dict(a=sekai.Tuple([sekai.Box(0, 1, (2,)), sekai.Box(0, 1, (2,))]), b=sekai.Box(0, 9, (), np.int64))
    issues = check_env(Nested(space, sekai.Discrete(2)), n_steps=3, check_async=False, check_reset_seed=False)
    assert [issue.split(" (seen")[0] for issue in issues] == [
        "WARNING: Observation['a'][0] from reset() has dtype float16, space has float32.",
        "WARNING: Observation['b'] from reset() has dtype int8, space has int64.",
        "WARNING: Observation['a'][0] from step() at step 0 has dtype float16, space has float32.",
        "WARNING: Observation['b'] from step() at step 0 has dtype int8, space has int64.",
    ]


def test_a_result_needs_no_done():
    fields = ("observation", "reward", "terminated", "truncated", "info")

    class Own(Walk):
        resets = 0

        def reset(self, *, seed=None, options=None):
            self.resets += 1
            result = super().reset(seed=seed)
            return SimpleNamespace(observation=result.observation, info=result.info)

        def step(self, action):
            result = super().step(action)
            return SimpleNamespace(**{name: getattr(result, name) for name in fields})

    env = Own()
    assert check_env(env, n_steps=10, check_async=False, check_reset_seed=False) == []
    assert env.resets == 3


def test_order_of_calls_and_draws():
    calls = []

    class Tape(Walk):
        def reset(self, *, seed=None, options=None):
            calls.append(("reset", seed))
            return super().reset(seed=seed)

        def step(self, action):
            calls.append(("step", int(action)))
            result = super().step(action)
            return Step(result.observation, 0.0, self.t == 4, False, {})

    env = Tape()
    env.action_space = sekai.Discrete(1000, seed=0)
    check_env(env, n_steps=9, check_determinism=True)
    assert [seed for name, seed in calls if name == "reset"] == [42, None, None, 0, 0, 123, 123, 7]
    drawn = sekai.Discrete(1000, seed=0)
    samples = [int(drawn.sample()) for _ in range(11)]
    steps = [action for name, action in calls if name == "step"]
    assert steps[:9] == samples[1:10]  # the first is that of `check_action_space`
    assert steps[9:13] == steps[13:17]  # from a space of their own
    assert steps[17] == samples[10]


def test_switches():
    far = walk(step=step_with(observation=np.full(2, 99, np.float32)), async_step=raising)
    assert [issue.split(":")[0] for issue in check_env(far)] == ["WARNING", "ERROR"]
    assert check_env(far, warn_on_anomaly=False) == ["ERROR: async_reset() or async_step() raised LookupError: no data"]
    assert check_env(far, check_obs_space=False, check_async=False) == []
    assert check_env(walk(action_space=Outside(3)), check_action_space=False) == []
    assert check_env(walk(reset=reset_from(0, raising)), check_reset_seed=False) == []
    assert check_env(walk(close=raising)) == []


def test_an_action_that_cannot_be_drawn_ends_the_rollout():
    issues = check_env(walk(action_space=Raises(3)), check_action_space=False, check_async=False)
    assert issues == ["ERROR: Sampling an action at step 0 raised TypeError: cannot sample"]


def test_counted_warnings_come_after_the_others():
    class Sloppy(Walk):
        def step(self, action):
            self.position += np.float32(0.1)
            return self.result(self.position.astype(float) if self.t % 2 else self.position)

        async def async_step(self, action):
            raise OSError("net")

    assert [issue.split()[1] for issue in check_env(Sloppy())] == ["step()", "Observation", "async_reset()"]


def test_async_methods_are_left_out_where_a_loop_runs():
    async def inside():
        return check_env(walk(async_step=raising))

    assert asyncio.run(inside()) == []


def test_tasks_that_an_env_leaves_on_the_loop_are_ended():
    cancelled = []

    async def feed():
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    async def start(self, *, seed=None, options=None):
        self.task = asyncio.ensure_future(feed())
        await asyncio.sleep(0)
        return Walk.reset(self, seed=seed)

    assert check_env(walk(async_reset=start)) == []
    assert cancelled == [True]


def test_the_wrapped_env_keeps_its_stream():
    assert check_env(sekai.TimeLimit(walk(), 3), check_determinism=True) == []
    issues = check_env(sekai.TimeLimit(walk(reset=reset_from(None, lambda self: Walk.reset(self, seed=7))), 3))
    assert [issue.split(".")[0] for issue in issues] == ["WARNING: reset() without a seed restarted the random stream"]


def test_the_names_that_lead_to_it():
    from sekai.utils import checker

    assert sekai.check_env is sekai.testing.check_env is checker.check_env is check_env


def test_what_is_no_single_environment_is_told_at_once():
    members = {"reset": Walk.reset, "step": Walk.step, "__repr__": lambda self: "several"}
    several = type("Several", (sekai.MultiAgentEnv,), members)
    for env, message in (
        (Walk, f"{Walk!r}; make one first."),
        (sekai.make_vec("CartPole-v1", 2), "CartPoleVecEnv(num_envs=2); check_vec_env is for batches."),
        (several(), "several; it is of several agents."),
    ):
        assert check_env(env) == [f"ERROR: env must be a single-agent environment, got {message}"]
