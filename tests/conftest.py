"""Settings of all tests."""

import os
import signal

from hypothesis import settings

# A kernel may compile in the first example, so no example has a deadline.
settings.register_profile("ci", deadline=None, derandomize=True)
settings.register_profile("dev", deadline=None)
settings.register_profile("nightly", deadline=None, max_examples=2_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if "CI" in os.environ else "dev"))


def pytest_configure(config):
    """Makes a process of tests the leader of its own group, so that it can tell its children from those of others.

    Ctrl-C interrupts, also where the tests were started by a shell that lets its background jobs ignore it.
    """
    if "PYTEST_XDIST_WORKER" in os.environ:
        os.setpgrp()
    signal.signal(signal.SIGINT, signal.default_int_handler)
