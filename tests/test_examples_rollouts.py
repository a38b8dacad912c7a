"""The examples of rollouts run, and do what they say."""

import re
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(name, *args):
    """What an example prints, line by line."""
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name), *args], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_evolution_strategies_solve_cartpole():
    *lines, last = run("evolution_strategies.py")
    assert len(lines) < 30
    assert float(re.fullmatch(r"solved in .* s: mean return (.*) over 100 episodes", last)[1]) >= 475


def test_evolution_strategies_quickly():
    lines = run("evolution_strategies.py", "--quick")
    assert [line.partition(":")[0] for line in lines] == ["generation 0", "generation 1"]


def test_branching_search_keeps_the_pole_up():
    assert run("branching_search.py", "--quick") == ["return 50"]
