"""Batches in the vector API of Stable-Baselines3; most of it needs that library, and torch with it."""

import sys

import gymnasium
import numpy as np
import pytest

import sekai
from sekai.compat import to_gymnasium, to_sb3


@pytest.fixture
def sb3():
    """Stable-Baselines3's vector environments."""
    return pytest.importorskip("stable_baselines3.common.vec_env")


class Toy(sekai.Env):
    """Counts to `last`, of which it tells in several ways; level and mask can be set from outside."""

    last, level = 3, 0

    def __init__(self, action_space=None, **parts):
        self.observation_space = sekai.Dict(
            {"count": sekai.Box(0, 9, (1,)), "code": sekai.Discrete(10), "bits": sekai.MultiBinary(2), **parts}
        )
        self.action_space = sekai.Discrete(2) if action_space is None else action_space

    def reset(self, *, seed=None, options=None):
        self._set_rng(seed)
        self.count, self.options = 0, options
        return sekai.ResetResult(self._see(), {"options": options})

    def step(self, action):
        assert self.action_space.contains(action)
        self.count += 1
        info = {"count": self.count, "is_success": True}
        return sekai.StepResult(self._see(), 1.0, self.count == self.last, False, info)

    def double(self, number, plus=0):
        self.level = 2 * number + plus
        return self.level

    def _see(self):
        count = np.array([self.count], np.float32)
        return {"count": count, "code": self.count, "bits": np.array([0, 1], np.int8)}


class MaskedToy(Toy):
    def action_mask(self):
        return [1, self.count % 2]


def toys(n=2, toy=Toy, **kwargs):
    return sekai.SyncVecEnv([lambda: toy(**kwargs)] * n)


def run(env, steps, seed=0):
    """What some steps with random actions return; `env` is reset first."""
    rng = np.random.default_rng(seed)
    rows = [env.reset()]
    for _ in range(steps):
        space = env.action_space
        if isinstance(space, gymnasium.spaces.Box):
            actions = rng.uniform(space.low, space.high, (env.num_envs, *space.shape)).astype(np.float32)
        else:
            actions = rng.integers(0, space.n, env.num_envs)
        rows.append(env.step(actions))
    return rows


# ---- reset and step ----------------------------------------------------------------------------------


def test_what_it_is(sb3):
    vec = sekai.make_vec("CartPole-v1", 3)
    env = to_sb3(vec)
    assert isinstance(env, sb3.VecEnv)
    assert env.sekai_vec is vec
    assert env.num_envs == 3
    assert env.observation_space == gymnasium.make("CartPole-v1").observation_space
    assert env.action_space == gymnasium.spaces.Discrete(2)
    assert env.unwrapped is env
    assert (env.render_mode, env.metadata) == (None, {"render_modes": []})
    assert env.get_attr("render_mode") == [None] * 3
    env.close()
    assert vec.closed


@pytest.mark.parametrize("name", ["CartPole-v1", "Pendulum-v1"])
def test_the_same_episodes_as_in_a_batch_of_single_environments(sb3, name):
    n, limit = 4, 12
    env = to_sb3(sekai.make_vec(name, n, max_episode_steps=limit))
    singles = sb3.DummyVecEnv([lambda: to_gymnasium(sekai.make(name, max_episode_steps=limit))] * n)
    singles._seeds = env.seed(7)
    (first, *ours), (want, *theirs) = run(env, 40), run(singles, 40)
    assert np.array_equal(first, want)
    assert first.dtype == want.dtype
    ended = 0
    for mine, other in zip(ours, theirs, strict=True):
        for array, expected in zip(mine[:3], other[:3], strict=True):
            assert np.array_equal(array, expected)
            assert array.dtype == expected.dtype
        for lane in range(n):
            if not mine[2][lane]:
                assert mine[3][lane] == {}
                continue
            ended += 1
            info, expected = mine[3][lane], dict(other[3][lane])
            assert np.array_equal(info.pop("terminal_observation"), expected.pop("terminal_observation"))
            assert info == expected
    assert ended > n
    assert env.reset_infos == singles.reset_infos
    timeouts = [infos[lane]["TimeLimit.truncated"] for *_, dones, infos in ours for lane in np.flatnonzero(dones)]
    assert True in timeouts
    assert (False in timeouts) == (name == "CartPole-v1")


def test_an_end_that_is_no_timeout_is_told_as_such(sb3):
    env = to_sb3(sekai.make_vec("CartPole-v1", 200, max_episode_steps=10))
    env.seed(0)
    env.reset()
    both = 0
    for _ in range(10):
        *_, dones, infos = env.step(np.ones(200, np.int64))
        batch = env.sekai_vec._recent[-1]
        for lane in np.flatnonzero(dones):
            assert infos[lane]["TimeLimit.truncated"] == (batch.truncated[lane] and not batch.terminated[lane])
            both += batch.truncated[lane] and batch.terminated[lane]
    assert both > 0


def test_rows_of_infos_are_dicts_of_their_own(sb3):
    env = to_sb3(sekai.make_vec("CartPole-v1", 3))
    env.reset()
    *_, infos = env.step(np.zeros(3, np.int64))
    assert infos == [{}, {}, {}]
    infos[0]["written"] = 1
    assert infos[1] == {}
    assert env.step(np.zeros(3, np.int64))[3] == [{}, {}, {}]


def test_every_info_on_request(sb3):
    env = to_sb3(toys(), every_info=True)
    env.reset()
    kept = []
    for count in (1, 2):
        *_, infos = env.step(np.zeros(2, np.int64))
        assert infos == [{"count": count, "is_success": True}] * 2
        kept.append(infos)
        infos[0]["written"] = 1
    *_, dones, infos = env.step(np.zeros(2, np.int64))
    assert dones.all()
    last = infos[1]
    assert last.keys() == {"count", "is_success", "terminal_observation", "TimeLimit.truncated"}
    assert {key: np.asarray(part).tolist() for key, part in last["terminal_observation"].items()} == {
        "count": [3],
        "code": 3,
        "bits": [0, 1],
    }
    assert last["count"] == 3
    assert kept[0][0] == {"count": 1, "is_success": True, "written": 1}


def test_dict_observations(sb3):
    env = to_sb3(toys(3))
    assert list(env.observation_space) == ["count", "code", "bits"]
    observations = env.reset()
    observations, *_ = env.step(np.zeros(3, np.int64))
    assert {key: part.tolist() for key, part in observations.items()} == {
        "count": [[1], [1], [1]],
        "code": [1, 1, 1],
        "bits": [[0, 1]] * 3,
    }


def test_nothing_that_was_returned_is_changed_later(sb3):
    env = to_sb3(sekai.make_vec("CartPole-v1", 5))
    env.seed(0)
    rows = run(env, 3)
    before = [np.array(rows[0]), *(np.array(part) for row in rows[1:] for part in row[:3])]
    env.step(np.zeros(5, np.int64))
    after = [rows[0], *(part for row in rows[1:] for part in row[:3])]
    assert all(map(np.array_equal, before, after))


# ---- seeds and options -------------------------------------------------------------------------------


def test_seeds_are_those_of_lanes_and_used_once(sb3):
    env = to_sb3(sekai.make_vec("CartPole-v1", 3))
    assert env.seed(5) == sekai.lane_seeds(5, 3)
    first, second = env.reset(), env.reset()
    assert np.array_equal(first, sekai.make_vec("CartPole-v1", 3).reset(seed=5).observations)
    assert not np.array_equal(first, second)
    env.seed(5)
    assert np.array_equal(env.reset(), first)


def test_without_a_seed_numpys_global_one_decides(sb3):
    env = to_sb3(sekai.make_vec("CartPole-v1", 3))
    drawn = []
    for _ in range(2):
        np.random.seed(4)  # noqa: NPY002 -- what Stable-Baselines3's own `seed` draws from
        drawn.append(env.seed())
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) == 3


def test_options_are_for_one_reset(sb3):
    env = to_sb3(toys())
    env.set_options({"k": 1})
    env.reset()
    assert env.reset_infos == [{"options": {"k": 1}}] * 2
    env.set_options([{"k": 2}, {}])
    env.reset()
    assert env.reset_infos == [{"options": {"k": 2}}, {"options": None}]
    env.reset()
    assert env.reset_infos == [{"options": None}] * 2


# ---- wrappers ----------------------------------------------------------------------------------------


def test_monitors_and_recorded_statistics_agree(sb3):
    vec = sekai.make_vec("CartPole-v1", 20)
    plain, recording = to_sb3(vec), to_sb3(sekai.VecRecordEpisodeStatistics(sekai.make_vec("CartPole-v1", 20)))
    plain.seed(1), recording.seed(1)
    monitored, recorded = run(sb3.VecMonitor(plain), 60), run(recording, 60)
    ended = 0
    for (*_, first), (*_, dones, second) in zip(monitored[1:], recorded[1:], strict=True):
        for lane in np.flatnonzero(dones):
            want, got = first[lane]["episode"], second[lane]["episode"]
            assert got.keys() == want.keys() == {"r", "l", "t"}
            assert (got["r"], got["l"]) == (want["r"], want["l"])
            assert got["t"] >= 0
            ended += 1
    assert ended > 20
    assert recording.env_is_wrapped(sekai.VecRecordEpisodeStatistics) == [True] * 20
    assert plain.env_is_wrapped(sekai.VecRecordEpisodeStatistics, indices=[0, 3]) == [False] * 2


def test_an_episode_of_another_kind_is_passed_on(sb3):
    class Telling(Toy):
        def step(self, action):
            result = super().step(action)
            result.info["episode"] = {"r": 5.0, "l": 1, "t": 0.0}
            return result

    env = to_sb3(toys(toy=Telling))
    env.reset()
    *_, infos = [env.step(np.zeros(2, np.int64)) for _ in range(3)][-1]
    assert infos[0]["episode"] == {"r": 5.0, "l": 1, "t": 0.0}


def test_wrappers_of_terminal_observations(sb3):
    env = sb3.VecFrameStack(to_sb3(sekai.make_vec("CartPole-v1", 4)), 2)
    env.seed(2)
    rows = run(env, 60)
    ends = [(t, lane) for t, row in enumerate(rows[1:], 1) for lane in np.flatnonzero(row[2])]
    assert len(ends) > 4
    for t, lane in ends:
        before = rows[t - 1][0] if t > 1 else rows[0]
        assert np.array_equal(rows[t][3][lane]["terminal_observation"][:4], before[lane][4:])
        assert np.array_equal(rows[t][0][lane][:4], np.zeros(4))

    env = sb3.VecNormalize(to_sb3(sekai.make_vec("CartPole-v1", 4)))
    env.seed(2)
    for *_, dones, infos in run(env, 60)[1:]:
        for lane in np.flatnonzero(dones):
            assert np.abs(infos[lane]["terminal_observation"]).max() <= env.clip_obs


# ---- attributes and methods of lanes -----------------------------------------------------------------


def test_attributes_of_lanes(sb3):
    env = to_sb3(toys(3))
    assert env.get_attr("level") == [0, 0, 0]
    env.set_attr("level", 4)
    env.set_attr("level", [7], indices=1)
    assert env.get_attr("level") == [4, [7], 4]
    assert env.get_attr("level", indices=[2, 1]) == [4, [7]]
    assert env.has_attr("level")
    assert not env.has_attr("nothing")
    with pytest.raises(AttributeError):
        env.get_attr("nothing")


def test_parameters_of_kernels(sb3):
    env = to_sb3(sekai.make_vec("CartPole-v1", 3))
    env.set_attr("gravity", 5.0)
    env.set_attr("gravity", 6.0, indices=[0, 2])
    assert env.get_attr("gravity") == [6.0, 5.0, 6.0]
    assert not env.has_attr("nothing")
    env.reset()
    assert [type(made) for made in env.env_method("__repr__", indices=[1])] == [str]


def test_attributes_of_lanes_in_other_processes(sb3):
    with sekai.ProcVecEnv([Toy] * 2) as vec:
        env = to_sb3(vec)
        assert env.get_attr("level") == [0, 0]
        assert not env.has_attr("nothing")
        assert env.env_method("double", 4) == [8, 8]
        with pytest.raises(NotImplementedError, match="leave out `indices`"):
            env.env_method("double", 4, indices=[0])


def test_methods_of_lanes(sb3):
    env = to_sb3(sekai.VecTransformReward(toys(3), lambda rewards: rewards))
    assert env.env_method("double", 3, plus=1) == [7, 7, 7]
    assert env.env_method("double", 5, indices=[2]) == [10]
    assert env.get_attr("level") == [7, 7, 10]  # no other lane was called


def test_action_masks(sb3):
    env = to_sb3(toys(toy=MaskedToy))
    env.reset()
    assert env.has_attr("action_masks")
    env.step(np.zeros(2, np.int64))
    masks = env.env_method("action_masks")
    assert np.stack(masks).tolist() == [[True, True]] * 2
    env.step(np.ones(2, np.int64))
    assert np.stack(env.env_method("action_masks", indices=1)).tolist() == [[True, False]]
    assert env.get_attr("action_masks")[0]().tolist() == [True, False]
    assert not to_sb3(toys()).has_attr("action_masks")


# ---- refusals ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["next_step", "disabled"])
def test_lanes_must_start_anew_in_the_same_step(sb3, mode):
    vec = sekai.make_vec("CartPole-v1", 2, vector_kwargs={"autoreset": mode})
    with pytest.raises(ValueError, match=f"\"same_step\", got '{mode}'; make it with autoreset=True, or set"):
        to_sb3(vec)
    vec.autoreset_mode = "same_step"
    assert to_sb3(vec).num_envs == 2


def test_results_must_be_kept(sb3):
    vec = sekai.VecTransformReward(sekai.make_vec("CartPole-v1", 2, vector_kwargs={"copy": False}), lambda r: r)
    with pytest.raises(ValueError, match="copy=False"):
        to_sb3(vec)


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"nested": sekai.Dict({"a": sekai.Discrete(2)})}, "VecFlattenObservation"),
        ({"action_space": sekai.Tuple([sekai.Discrete(2)])}, "action_space is Tuple"),
        ({"action_space": sekai.Dict({"a": sekai.Discrete(2)})}, "action_space is Dict"),
    ],
)
def test_spaces_without_batches(sb3, kwargs, message):
    with pytest.raises(TypeError, match=message):
        to_sb3(toys(**kwargs))


def test_only_batches(sb3):
    with pytest.raises(TypeError, match=r"to_sb3 takes an instance of sekai\.VecEnv, got .*to_gymnasium$"):
        to_sb3(sekai.make("CartPole-v1"))


def test_a_missing_library_is_an_error_that_helps(monkeypatch):
    monkeypatch.delitem(sys.modules, "sekai.compat.sekai_to_sb3", raising=False)
    for name in [name for name in sys.modules if name.startswith("stable_baselines3.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)
    with pytest.raises(ImportError, match=r'pip install "sekai\[sb3\]"'):
        to_sb3(None)


# ---- algorithms --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("algorithm", "policy", "make", "settings"),
    [
        ("PPO", "MlpPolicy", lambda: sekai.make_vec("CartPole-v1", 8), {"n_steps": 16, "batch_size": 64}),
        ("PPO", "MultiInputPolicy", toys, {"n_steps": 8, "batch_size": 16}),
        ("A2C", "MultiInputPolicy", lambda: toys(action_space=sekai.MultiBinary(2)), {}),
        ("A2C", "MultiInputPolicy", lambda: toys(action_space=sekai.MultiDiscrete([2, 3])), {}),
        ("DQN", "MlpPolicy", lambda: sekai.make_vec("MountainCar-v0", 4), {"learning_starts": 20}),
        ("SAC", "MlpPolicy", lambda: sekai.make_vec("Pendulum-v1", 4), {"learning_starts": 20}),
    ],
    ids=["PPO", "dict", "bits", "several choices", "DQN", "SAC"],
)
def test_algorithms_run(sb3, algorithm, policy, make, settings):
    import stable_baselines3

    model = getattr(stable_baselines3, algorithm)(policy, to_sb3(make()), seed=0, device="cpu", **settings)
    model.learn(128)
    assert model.num_timesteps >= 128
