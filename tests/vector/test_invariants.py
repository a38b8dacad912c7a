"""What holds for every kernel env: the invariants of the design, bit for bit."""

import os
import subprocess
import sys
import tracemalloc
from collections import defaultdict

import numpy as np
import pytest

import sekai
from sekai.vector.infos import InfoRows

STEPS, LIMIT, LANES = 70, 25, 1025
SEED = 3
MODES = ("same_step", "next_step", "disabled")


def leaves(observations, name="observations"):
    """The arrays of batched observations, each with a name."""
    if isinstance(observations, dict):
        for key, part in observations.items():
            yield from leaves(part, f"{name}.{key}")
    else:
        yield name, observations


def parts_of(result, num_envs):
    """Everything that a step or reset returned, as named arrays of N rows."""
    parts = dict(leaves(result.observations))
    parts |= {f"info.{name}": array for name, array in result.infos.arrays.items()}
    if hasattr(result, "rewards"):
        parts |= {name: getattr(result, name) for name in ("rewards", "terminated", "truncated", "valid")}
        for name, finals in leaves(result.final_observations, "final"):
            parts[name] = np.zeros((num_envs, *finals.shape[1:]), finals.dtype)
            parts[name][result.final_lanes] = finals
        parts["ended"] = np.isin(np.arange(num_envs), result.final_lanes)
    return parts


def record(vec, seed, actions):
    """Everything that a batch returned from a reset on: named arrays (steps, N, ...)."""
    rows = defaultdict(list)
    for name, array in parts_of(vec.reset(seed=seed), len(vec)).items():
        rows[f"first {name}"].append(array)
    for action in actions:
        for name, array in parts_of(vec.step(action), len(vec)).items():
            rows[name].append(array)
    return {name: np.stack(arrays) for name, arrays in rows.items()}


def assert_same_bits(found, expected):
    assert found.keys() == expected.keys()
    for name in found:
        assert found[name].dtype == expected[name].dtype, name
        assert found[name].tobytes() == expected[name].tobytes(), name


def batch(spec, num_envs, mode="same_step", **kwargs):
    return sekai.make_vec(spec, num_envs, max_episode_steps=LIMIT, vector_kwargs={"autoreset": mode, **kwargs})


@pytest.fixture(scope="module", params=MODES)
def mode(request):
    return request.param


@pytest.fixture(scope="module")
def actions(spec):
    """Valid actions (steps, N, ...)."""
    space = batch(spec, LANES).batch_action_space
    space.seed(0)
    return np.stack([space.sample() for _ in range(STEPS)])


@pytest.fixture(scope="module")
def reference(spec, mode, actions):
    """What all lanes return in one batch."""
    return record(batch(spec, LANES, mode), SEED, actions)


def test_the_reference_sees_ends(spec, reference, mode):
    assert reference["terminated"].any() or spec.id != "CartPole-v1"  # the others hardly ever terminate so soon
    assert reference["truncated"].any()
    assert reference["ended"].any() == (mode == "same_step")
    assert reference["valid"].all() == (mode == "same_step")


# 1,024 lanes are a block, and here other lanes stand at its ends and in its middle than in the reference.
@pytest.mark.parametrize(
    ("num_envs", "num_threads"), [(1, 1), (2, 1), (7, 1), (64, 2), (1025, 1), (2049, 1), (2049, 2)]
)
def test_a_lane_is_the_same_in_any_batch_at_any_place(spec, mode, actions, reference, num_envs, num_threads):
    lanes = (5 + 37 * np.arange(num_envs)) % LANES
    seeds = sekai.lane_seeds(SEED, LANES)
    vec = batch(spec, num_envs, mode, num_threads=num_threads)
    found = record(vec, [seeds[lane] for lane in lanes], actions[:, lanes])
    assert_same_bits(found, {name: array[:, lanes] for name, array in reference.items()})


@pytest.mark.parametrize("lane", [0, 512, 1023, 1024])
def test_a_single_environment_is_a_lane(spec, actions, lane):
    vec, env = batch(spec, LANES), spec.make(max_episode_steps=LIMIT)
    first = vec.reset(seed=SEED)
    start = env.reset(seed=sekai.lane_seeds(SEED, LANES)[lane])
    assert_same_bits(*(dict(leaves(o)) for o in (start.observation, row(first.observations, lane))))
    assert repr(start.info) == repr(first.infos[lane])  # as text NaN is NaN
    ends = 0
    for action in actions:
        batched, result = vec.step(action), env.step(action[lane])
        assert result.reward == batched.rewards[lane]
        assert (result.terminated, result.truncated) == (batched.terminated[lane], batched.truncated[lane])
        info = batched.infos[lane]
        if result.done:
            ends += 1
            start = env.reset()
            assert info.keys() == result.info.keys() | {"final_observation", "final_info", "reset_info"}
            assert repr((info["final_info"], info["reset_info"])) == repr((result.info, start.info))
            assert_same_bits(*(dict(leaves(o)) for o in (result.observation, info["final_observation"])))
            result = start
        else:
            assert repr(info) == repr(result.info)
        assert_same_bits(*(dict(leaves(o)) for o in (result.observation, row(batched.observations, lane))))
    assert ends > 1


def row(observations, lane):
    """One lane's observation."""
    if isinstance(observations, dict):
        return {key: row(part, lane) for key, part in observations.items()}
    return observations[lane]


def test_a_frozen_lane_repeats_how_it_ended(spec, actions):
    vec = batch(spec, 64, "disabled")
    vec.reset(seed=SEED)
    last = vec.step(actions[0, :64])
    for action in actions[1 : LIMIT + 2, :64]:
        over, result = last.dones, vec.step(action)
        assert (result.valid == ~over).all()
        assert not result.rewards[over].any()
        assert [result.infos[lane] for lane in np.flatnonzero(over)] == [{}] * over.sum()
        for (_, array), (_, before) in zip(leaves(result.observations), leaves(last.observations), strict=True):
            assert array[over].tobytes() == before[over].tobytes()
        assert (result.terminated[over] == last.terminated[over]).all()
        assert (result.truncated[over] == last.truncated[over]).all()
        last = result
    assert last.dones.all()


@pytest.mark.parametrize("keep", ["result", "observations", "a row", "rewards", "flags", "infos", "info arrays"])
def test_what_a_step_returned_is_never_changed(spec, actions, keep):
    vec = batch(spec, 7)
    vec.reset(seed=SEED)
    kept, copies = [], []
    for action in actions[:, :7]:
        result = vec.step(action)
        if keep == "a row":
            held = [array[3:5] for _, array in leaves(result.observations)]
        elif keep == "flags":
            held = [result.terminated[1:]]
        elif keep == "info arrays":
            held = list(result.infos.arrays.values())
        elif keep in ("result", "infos"):
            held = [result if keep == "result" else result.infos]
        else:
            held = [array for _, array in leaves(getattr(result, keep))]
        kept.append(held)
        copies.append([frozen(part) for part in held])
        del result
    vec.reset()
    assert [[frozen(part) for part in held] for held in kept] == copies


def frozen(part):
    """A copy of the bits of an array, a result or infos."""
    if isinstance(part, np.ndarray):
        return part.tobytes()
    if hasattr(part, "rewards"):
        return {name: array.tobytes() for name, array in parts_of(part, len(part.rewards)).items()}
    return repr(list(part))


def test_what_was_passed_in_is_neither_changed_nor_kept(spec, actions):
    vec, other = batch(spec, 7), batch(spec, 7)
    vec.reset(seed=SEED)
    other.reset(seed=SEED)
    for action in actions[:, :7]:
        passed = action.copy()
        result = vec.step(passed)
        assert passed.tobytes() == action.tobytes()
        passed[...] = 0
        assert_same_bits(parts_of(result, 7), parts_of(other.step(action), 7))


SCRIPT = """
import hashlib
import sekai

def digests():
    found = {}
    for spec in sekai.all_specs():
        if not isinstance(spec.make().unwrapped, sekai.KernelEnv):
            continue
        vec = sekai.make_vec(spec, 7, max_episode_steps=20)
        vec.batch_action_space.seed(1)
        vec.reset(seed=2)
        digest = hashlib.sha256()
        for _ in range(50):
            result = vec.step(vec.batch_action_space.sample())
            for part in (result.observations, result.rewards, result.terminated, result.truncated, result.infos):
                digest.update(repr(list(part)).encode())
        found[spec.id] = digest.hexdigest()
    return found
"""


@pytest.mark.parametrize("variables", [{"PYTHONHASHSEED": "1"}, {"NUMBA_CPU_NAME": "generic"}])
def test_other_processes_and_processors_give_the_same_bits(variables):
    names = {}
    exec(SCRIPT, names)
    code = f"{SCRIPT}\nprint(digests())"
    env = {**os.environ, **variables}
    run = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == repr(names["digests"]())


def test_no_dict_is_built_before_it_is_looked_at(spec, actions, monkeypatch):
    vec = batch(spec, LANES)
    vec.reset(seed=SEED)

    def refuse(*args):
        raise AssertionError("an info was built")

    monkeypatch.setattr(InfoRows, "lane", refuse)
    ended = 0
    for action in actions[: LIMIT + 1]:
        result = vec.step(action)
        ended += result.final_lanes.size
        assert len(result.infos) == LANES
        assert all(len(array) == LANES for array in result.infos.arrays.values())
    assert ended >= LANES
    with pytest.raises(AssertionError, match="an info was built"):
        result.infos[0]


def objects_of_a_step(spec, actions, num_envs):
    """How many memory blocks a step's result is made of."""
    vec = batch(spec, num_envs)
    vec.reset(seed=SEED)
    results = [vec.step(action) for action in actions[:2, :num_envs]]
    tracemalloc.start()
    try:
        before = len(tracemalloc.take_snapshot().traces)
        results.append(vec.step(actions[2, :num_envs]))
        return len(tracemalloc.take_snapshot().traces) - before
    finally:
        tracemalloc.stop()


def test_a_step_of_many_lanes_makes_no_more_objects_than_one_of_few(spec, actions):
    few, many = (objects_of_a_step(spec, actions, num_envs) for num_envs in (2, LANES))
    assert many < few + 50  # the ends of episodes take some arrays more
