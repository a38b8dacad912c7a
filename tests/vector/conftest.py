"""What tests of batches of single environments share."""

import gc
import multiprocessing
import os
import signal
import sys
import time

import cloudpickle
import numpy as np
import pytest

import sekai

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import the tests

SECONDS = 30  # that a test may take


class Tick(sekai.Env):
    """Counts its steps; an episode takes `n` of them. Faults happen at steps of the first episode.

    Args:
        n: Length of an episode.
        cut: Whether it is truncated rather than terminated.
        faults: Step to what is done there; see `FAULTS`.
    """

    def __init__(self, n=3, cut=False, faults=None):
        self.observation_space = sekai.Box(-np.inf, np.inf, (2,), np.float64)
        self.action_space = sekai.Discrete(10)
        self.n, self.cut, self.faults = n, cut, faults or {}
        self.k, self.steps, self.closed, self.resets = 0, 0, 0, []

    def reset(self, *, seed=None, options=None):
        if "reset" in self.faults:
            FAULTS[self.faults["reset"]]()
        self._set_rng(seed)
        self.resets.append((seed, options))
        self.k = 0
        return sekai.ResetResult(self.look(), {"fresh": len(self.resets)})

    def step(self, action):
        self.k += 1
        self.steps += 1
        if self.steps in self.faults:
            FAULTS[self.faults[self.steps]]()
        done = self.k >= self.n
        return sekai.StepResult(self.look(), float(action), done and not self.cut, done and self.cut, {"k": self.k})

    def look(self):
        return np.array([self.k, self.rng.random()])

    def close(self):
        self.closed += 1


def fail():
    raise LookupError("no data")


FAULTS = {
    "raise": fail,
    "exit": lambda: os._exit(7),
    "leave": lambda: sys.exit(3),
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "stop": lambda: os.kill(os.getpid(), signal.SIGSTOP),
    "sleep": lambda: time.sleep(60),
}


@pytest.fixture
def tick():
    """The class of a small environment."""
    return Tick


@pytest.fixture
def bounded():
    """Ends a test that hangs."""

    def expire(signum, frame):
        raise TimeoutError(f"the test took more than {SECONDS} s")

    before = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="session")
def fork_server():
    """Starts what processes are forked from, once and for all."""
    sekai.ProcVecEnv([Tick]).close()


@pytest.fixture
def nothing_left(fork_server, bounded):
    """Checks that a test leaves no process, shared memory or file descriptor behind."""
    before = resources()
    yield
    deadline = time.monotonic() + 5
    while resources() != before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert resources() == before
    assert multiprocessing.active_children() == []


def resources():
    """Processes of this session, segments of shared memory, and open files."""
    gc.collect()
    return processes(), sorted(os.listdir("/dev/shm")), len(os.listdir("/proc/self/fd"))


def processes():
    """How many processes there are in this one's group."""
    count = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as stat:
                group = stat.read().rpartition(")")[2].split()[2]
        except OSError:  # it has just ended
            continue
        count += int(group) == os.getpgrp()
    return count
