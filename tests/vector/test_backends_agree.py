"""One environment under every kind of batch: the same results, whatever it observes and however long it runs."""

import sys
from copy import deepcopy

import cloudpickle
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import sekai
from sekai.testing.strategies import spaces

pytestmark = pytest.mark.usefixtures("bounded", "fork_server")

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import the tests

MODES = ["same_step", "next_step", "disabled"]


class Anything(sekai.Env):
    """Observes what its space holds, for as long as its stream says; tells what it was given.

    Args:
        observation_space, action_space: Any spaces.
        longest: Most steps of an episode.
        reuse: Whether it returns the same array object every time, where observations are arrays.
    """

    def __init__(self, observation_space, action_space, longest, reuse):
        self.observation_space, self.action_space = deepcopy(observation_space), action_space
        self.longest, self.reuse = longest, reuse

    def reset(self, *, seed=None, options=None):
        self._set_rng(seed)
        self.observation_space.seed(int(self.rng.integers(2**31)))
        self.left = int(self.rng.integers(1, self.longest + 1))
        self.view = None
        return sekai.ResetResult(self.look(), {"options": options, "left": self.left})

    def step(self, action):
        self.left -= 1
        terminated, truncated = self.left == 0 and bool(self.rng.integers(2)), self.left == 0
        info = {"action": action, "left": self.left}
        return sekai.StepResult(self.look(), self.rng.normal(), terminated, truncated, info)

    def look(self):
        sample = self.observation_space.sample()
        if self.reuse and type(sample) is type(self.view) is np.ndarray and sample.shape == self.view.shape:
            self.view[...] = sample
        else:
            self.view = sample
        return self.view


def everything(result):
    """All that a result holds, in a form that `assert_equal` compares by value."""
    fields = {name: getattr(result, name) for name in type(result).__dataclass_fields__}
    step = {"valid": result.valid, "final_lanes": result.final_lanes} if "rewards" in fields else {}
    return {**fields, **step, "infos": list(result.infos), "types": types(fields)}


def types(x):
    """The dtypes of the arrays in a result."""
    if isinstance(x, dict):
        return {key: types(value) for key, value in x.items()}
    if isinstance(x, (tuple, list)):
        return type(x) is tuple, [types(value) for value in x]
    return x.dtype if isinstance(x, (np.ndarray, np.generic)) else type(x)


def play(vec, actions, masks, mode):
    """Everything that a batch returns, with a partial reset in the middle."""
    n = len(vec)
    vec.autoreset_mode = mode
    results = [vec.reset(seed=3, options=[{"lane": i} for i in range(n)])]
    for t, (action, mask) in enumerate(zip(actions, masks, strict=True)):
        results.append(vec.step(action, mask=mask))
        if t == len(actions) // 2:
            results.append(vec.reset(seed=list(range(n)), mask=mask))
    return [everything(result) for result in results]


@settings(max_examples=20, phases=[Phase.explicit, Phase.reuse, Phase.generate])  # shrinking would take minutes
@given(st.data())
def test_sync_async_and_processes_agree(data):
    observation_space, action_space = data.draw(spaces(max_depth=2)), data.draw(spaces(max_depth=1))
    longest, reuse = data.draw(st.integers(1, 5)), data.draw(st.booleans())
    n, mode = data.draw(st.integers(1, 3)), data.draw(st.sampled_from(MODES))
    env_fns = [lambda: Anything(observation_space, action_space, longest, reuse)] * n
    actions = [[action_space.sample() for _ in range(n)] for _ in range(12)]
    some = st.none() | st.lists(st.booleans(), min_size=n, max_size=n)
    masks = data.draw(st.lists(some, min_size=12, max_size=12))

    with sekai.SyncVecEnv(env_fns) as vec:
        expected = play(vec, actions, masks, mode)
    with sekai.AsyncVecEnv(env_fns) as vec:
        np.testing.assert_equal(play(vec, actions, masks, mode), expected)
    with sekai.ProcVecEnv(env_fns, num_workers=2) as vec:
        np.testing.assert_equal(play(vec, actions, masks, mode), expected)


class Counter(sekai.Env):
    """Adds its action to what it observes; its length comes from its options."""

    observation_space = sekai.Box(-np.inf, np.inf, (2,), np.float64)
    action_space = sekai.Discrete(5)
    length = 4

    def reset(self, *, seed=None, options=None):
        self.length = (options or {}).get("length", self.length)
        self.k, self.total = 0, 0.0
        return sekai.ResetResult(np.array([self.k, self.total]), {"length": self.length})

    def step(self, action):
        self.k += 1
        self.total += action
        terminated = self.k >= self.length
        return sekai.StepResult(np.array([self.k, self.total]), self.total, terminated, False, {"k": self.k})


class NativeCounter(sekai.NativeVecEnv):
    """The same for all lanes at once."""

    def __init__(self, num_envs, **kwargs):
        super().__init__(num_envs, Counter.observation_space, Counter.action_space, **kwargs)
        self.length, self.k = np.full(num_envs, Counter.length), np.zeros(num_envs, np.int64)
        self.total = np.zeros(num_envs)

    def _reset_envs(self, indices, options):
        for lane, chosen in zip(indices, options, strict=True):
            self.length[lane] = (chosen or {}).get("length", self.length[lane])
        self.k[indices], self.total[indices] = 0, 0.0

    def _reset_infos(self, indices):
        return {"length": self.length[indices]}

    def _observe(self):
        return np.stack([self.k, self.total], axis=1)

    def _step(self, actions):
        return self._step_some(actions, np.ones(self.num_envs, bool))

    def _step_some(self, actions, mask):
        self.k[mask] += 1
        self.total[mask] += np.asarray(actions)[mask]
        return self.total, self.k >= self.length, np.zeros(self.num_envs, bool), {"k": self.k}


@given(st.data())
def test_sync_and_native_agree(data):
    n, mode = data.draw(st.integers(1, 4)), data.draw(st.sampled_from(MODES))
    lengths = data.draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))
    lane = st.integers(0, 4)
    steps = data.draw(st.lists(st.lists(lane, min_size=n, max_size=n), min_size=1, max_size=15))
    some = st.none() | st.lists(st.booleans(), min_size=n, max_size=n)
    masks = data.draw(st.lists(some, min_size=len(steps), max_size=len(steps)))
    results = []
    for vec in (sekai.SyncVecEnv([Counter] * n, autoreset=mode), NativeCounter(n, autoreset=mode)):
        rows = [vec.reset(options=[{"length": length} for length in lengths])]
        for t, (actions, mask) in enumerate(zip(steps, masks, strict=True)):
            rows.append(vec.step(actions, mask))
            if t % 4 == 3:
                rows.append(vec.reset(mask=mask))
        results.append([everything(row) for row in rows])
    np.testing.assert_equal(results[1], results[0])


@pytest.mark.parametrize(("backend", "options"), [("sync", {}), ("async", {}), ("proc", {"num_workers": 1})])
def test_the_batches_of_a_kernel_env_agree(backend, options):
    rng, n = np.random.default_rng(0), 5
    actions = rng.integers(0, 2, (80, n))
    masks = [rng.random(n) < 0.8 if rng.random() < 0.5 else None for _ in range(80)]
    results = []
    for kind, kwargs in (("native", {}), (backend, options)):
        with sekai.make_vec(
            "CartPole-v1", n, vectorization_mode=kind, vector_kwargs=kwargs, max_episode_steps=25
        ) as vec:
            results.append([row for mode in MODES for row in play(vec, actions, masks, mode)])
    for native, other in zip(*results, strict=True):
        native.pop("types"), other.pop("types")  # the infos of kernel envs are lazy
        np.testing.assert_equal(other, native)
