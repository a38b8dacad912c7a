"""Settings of all tests."""

import os

from hypothesis import settings

# A kernel may compile in the first example, so no example has a deadline.
settings.register_profile("ci", deadline=None, derandomize=True)
settings.register_profile("dev", deadline=None)
settings.register_profile("nightly", deadline=None, max_examples=2_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if "CI" in os.environ else "dev"))


def pytest_configure(config):
    """Makes a process of tests the leader of its own group, so that it can tell its children from those of others.

    Without a compiler (`NUMBA_DISABLE_JIT=1`) the integers of random draws wrap around with a warning of NumPy's.
    """
    if "PYTEST_XDIST_WORKER" in os.environ:
        os.setpgrp()
    if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0":
        config.addinivalue_line("filterwarnings", "ignore:overflow encountered in scalar:RuntimeWarning")
