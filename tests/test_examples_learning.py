"""The examples of learning from batches solve CartPole."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def last_line(name):
    """The last line that an example prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name)],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()[-1]


def mean_return(line):
    return float(re.fullmatch(r"[\d,]+ steps.*: mean return ([\d.]+)", line)[1])


def test_ppo_in_the_manner_of_cleanrl():
    assert mean_return(last_line("cleanrl_ppo.py")) >= 475


def test_ppo_of_stable_baselines():
    pytest.importorskip("stable_baselines3")
    assert mean_return(last_line("sb3_ppo.py")) >= 475
