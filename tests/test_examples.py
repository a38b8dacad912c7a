"""The examples run, and a user's kernel env works wherever its code stands."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.random import PCG64, Generator

import sekai

EXAMPLES = Path(__file__).parents[1] / "examples"

# What a user does with the env of `pole.py`: a batch through several ends of episodes, and lane 3 as a single env.
USE = """
import json
import numpy as np
import sekai

lanes, steps = 7, 120
actions = np.random.default_rng(1).integers(0, 2, (steps, lanes))
vec, env = sekai.make_vec("Pole-v0", lanes), sekai.make("Pole-v0")
batch, single = vec.reset(seed=5), env.reset(seed=sekai.lane_seeds(5, lanes)[3])
seen, infos, ends, same = [batch.observations.tolist()], [list(batch.infos)], [[False] * lanes], True
for action in actions:
    batch, single = vec.step(action), env.step(int(action[3]))
    last = batch.infos[3]
    same &= np.array_equal(last.get("final_observation", batch.observations[3]), single.observation)
    same &= last["pushes"] == single.info["pushes"] and batch.dones[3] == single.done
    if single.done:
        single = env.reset()
        same &= np.array_equal(batch.observations[3], single.observation) and last["reset_info"] == single.info
    seen.append(batch.observations.tolist())
    infos.append([{name: info[name] for name in ("pushes", "elapsed_steps")} for info in batch.infos])
    ends.append(batch.dones.tolist())
print(json.dumps({"observations": seen, "infos": infos, "ends": ends, "single is lane 3": bool(same)}))
"""


def run(*args, cache=None, cwd=None):
    """Standard output of a fresh Python process that keeps its machine code in the folder `cache`, or where we do."""
    env = {**os.environ, **({"SEKAI_CACHE_DIR": str(cache)} if cache else {})}
    done = subprocess.run(
        [sys.executable, "-W", "error", *map(str, args)], env=env, cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def cached(cache):
    return sorted(path.name for path in cache.iterdir()) if cache.exists() else []


def oracle(lanes=7, steps=120, seed=5):
    """The same run in plain Python: observations and infos before each reset, and which lanes ended."""
    rngs = [Generator(PCG64(s)) for s in sekai.lane_seeds(seed, lanes)]
    actions = np.random.default_rng(1).integers(0, 2, (steps, lanes))
    theta, omega = [rng.uniform(-0.05, 0.05) for rng in rngs], [0.0] * lanes
    pushes, elapsed = [0] * lanes, [0] * lanes
    rows = []
    for t in range(steps):
        ended, infos = [], []
        for i in range(lanes):
            force = 2.0 if actions[t, i] else -2.0
            omega[i] += 0.02 * (9.8 * math.sin(theta[i]) + force * math.cos(theta[i]))
            theta[i] += 0.02 * omega[i]
            pushes[i] += int(actions[t, i])
            elapsed[i] += 1
            ended.append(abs(theta[i]) > 0.5)
            infos.append({"pushes": pushes[i], "elapsed_steps": elapsed[i]})
            if ended[i]:
                theta[i], omega[i], pushes[i], elapsed[i] = rngs[i].uniform(-0.05, 0.05), 0.0, 0, 0
        rows.append((list(zip(theta, omega, strict=True)), infos, ended))
    return [list(column) for column in zip(*rows, strict=True)]


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    """The two lines that the example, and after it `USE`, print as a script."""
    folder = tmp_path_factory.mktemp("script")
    path = folder / "script.py"
    path.write_text((EXAMPLES / "pole.py").read_text() + USE)
    return run(path, cache=folder / "cache").splitlines(keepends=True)


def test_the_pole_is_a_script_of_less_than_60_lines(script):
    assert len((EXAMPLES / "pole.py").read_text().splitlines()) < 60
    assert script[0].startswith("Statistics(num_episodes=")
    assert len(script) == 2


def test_the_pole_moves_as_its_equations_say(script):
    result = json.loads(script[1])
    observations, infos, ends = oracle()
    assert result["single is lane 3"]
    assert result["ends"][1:] == ends
    assert sum(map(sum, ends)) >= 7
    assert result["infos"][1:] == infos
    # float32; sine and cosine may be an ulp of float64 off, which an unstable pole makes larger.
    np.testing.assert_allclose(result["observations"][1:], observations, rtol=1e-6, atol=1e-9)


def test_the_pole_works_in_a_package_and_comes_back_from_the_cache(script, tmp_path):
    package, cache = tmp_path / "pole_package", tmp_path / "cache"
    package.mkdir()
    (package / "__init__.py").write_text("from pole_package.pole import PoleEnv, PoleVecEnv\n")
    (package / "pole.py").write_text((EXAMPLES / "pole.py").read_text())
    assert run("-c", f"import pole_package\n{USE}", cache=cache, cwd=tmp_path) == script[1]
    files = cached(cache)
    assert files
    assert run("-c", f"import pole_package\n{USE}", cache=cache, cwd=tmp_path) == script[1]
    assert cached(cache) == files


def test_the_pole_works_in_a_notebook_cell_without_a_file(script, tmp_path):
    cell = (EXAMPLES / "pole.py").read_text().split("\nif __name__")[0]
    program = f"exec(compile({cell!r}, '<cell 1>', 'exec'))\n{USE}"
    assert run("-c", program, cache=tmp_path / "cache") == script[1]
    assert cached(tmp_path / "cache") == []  # nothing could tell its files from those of the next cell


def test_a_random_rollout():
    printed = run(EXAMPLES / "random_rollout.py", "--quick")
    first, second = printed.splitlines()
    want = sekai.rollout(sekai.make_vec("CartPole-v1", 1_000), "random", 200, record=None, seed=0).statistics
    assert first.startswith("1,000 lanes took 200 steps each: ")
    assert second == (f"{want.num_episodes:,} episodes ended, return {want.return_mean:.2f} ± {want.return_std:.2f}")


def test_every_example_is_tested():
    tested = "".join(path.read_text() for path in Path(__file__).parent.glob("test_examples*.py"))
    assert [path.name for path in sorted(EXAMPLES.glob("*.py")) if f'"{path.name}"' not in tested] == []
