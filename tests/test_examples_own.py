"""The examples about environments of one's own, and worlds of many kinds, do what they say."""

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


def test_a_policy_taught_in_many_worlds_lasts_longer_in_new_ones():
    _, one, many = [line.split()[-2:] for line in run("domain_randomisation.py")]
    assert float(one[0]) == 500
    assert float(one[1]) < 300
    assert float(many[1]) > 450


def test_processes_give_the_results_of_one():
    found = [
        re.fullmatch(r"(.{13})  +([\d,]+) rewards +[\d,]+ steps/s", line) for line in run("processes.py", "--quick")
    ]
    assert [line[1].strip() for line in found] == ["one process", "two workers", "in two groups"]
    assert len({line[2] for line in found}) == 1
    assert found[0][2] != "0"


def test_the_property_tests_pass():
    lines = run("property_tests.py")
    assert len(lines) == 5
    assert all(line.startswith("test_") and line.endswith(" passed") for line in lines)


def test_a_store_without_a_capacity_fails_them(tmp_path):
    text = (EXAMPLES / "property_tests.py").read_text()
    broken = text.replace("min(int(action), self.capacity - self.stock)", "int(action)")
    assert broken != text
    (tmp_path / "broken.py").write_text(broken)
    done = subprocess.run([sys.executable, str(tmp_path / "broken.py")], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "test_observations_lie_in_their_space" in done.stderr
