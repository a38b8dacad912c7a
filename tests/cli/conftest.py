"""Environments for the command to work on."""

import pytest

import sekai
from sekai import cli
from tests.cli.still import Still


@pytest.fixture
def run():
    """Runs the command, and returns its exit code."""
    return lambda *args: cli.main(list(args))


@pytest.fixture
def still():
    """Three environments in the namespace `cli_tests`."""
    ids = [
        sekai.register("cli_tests/Still-v0", Still, max_episode_steps=5).id,
        sekai.register("cli_tests/Faulty-v0", Still, kwargs={"size": 0}).id,
        sekai.register("cli_tests/Away-v10", "cli_tests_nowhere:Env", vector_entry_point="cli_tests_nowhere:Vec").id,
    ]
    yield
    for id in ids:
        sekai.deregister(id)


@pytest.fixture
def registered():
    """Registers environments in the namespace `cli_tests` for a test."""
    ids = []

    def register(entry_point, **kwargs):
        ids.append(sekai.register(f"cli_tests/Check{len(ids)}-v0", entry_point, **kwargs).id)
        return ids[-1]

    yield register
    for id in ids:
        sekai.deregister(id)
