"""Environments and fixtures that the tests of batches share."""

import gc
import multiprocessing
import os
import signal
import sys
import threading
import time

import cloudpickle
import numpy as np
import pytest

import sekai
from sekai.kernels import kernel, random
from sekai.kernels.jit import at

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


@pytest.fixture
def ctrl_c():
    """Interrupts this process, as Ctrl-C does, as soon as a condition holds."""
    threads = []

    def interrupt(condition):
        def wait():
            while not condition():
                time.sleep(0.001)
            os.kill(os.getpid(), signal.SIGINT)

        threads.append(threading.Thread(target=wait))
        threads[-1].start()

    yield interrupt
    for thread in threads:
        thread.join()


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
    while (left := leaked(before)) and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.01)
    assert not left
    assert multiprocessing.active_children() == []


def leaked(before):
    """Which resources there are more of than before."""
    now = resources()
    return {name: (now[name], count) for name, count in before.items() if now[name] > count}


def resources():
    """How many processes, segments of shared memory and open files there are of this process and its children."""
    return {
        "processes": processes(),
        "segments": sum(name.startswith(f"sekai-{os.getpid()}-") for name in os.listdir("/dev/shm")),
        "files": len(os.listdir("/proc/self/fd")),
    }


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


class TankVecEnv(sekai.KernelVecEnv):
    """A kernel env of all kinds of fields, as a user would write it.

    A tank leaks now and then; the episode ends when it runs over or dry, or has lost too many drops.
    """

    class State:
        level: float
        drops: int
        leaking: bool

    class Params:
        inflow: float = 0.5
        burst: int = 3
        tight: bool = False

    class Info:
        height: float
        drops: int
        leaking: bool

    class Options:
        level: float = 1.0
        drops: int = 0

    observation_space = sekai.Box(-np.inf, np.inf, (3,), np.float32)
    action_space = sekai.Box(np.array([-1.0, -2.0], np.float32), np.array([1.0, 2.0], np.float32))

    @kernel
    def reset_lane(s, p, rng, i):
        s.level[i] = at(p.level, i) + random.uniform(rng, i, -0.1, 0.1)
        s.drops[i] = at(p.drops, i)
        s.leaking[i] = random.random(rng, i) < 0.5

    @kernel
    def step_lane(s, p, rng, action, i):
        drops = random.integers(rng, i, 0, at(p.burst, i) + 1) if s.leaking[i] else 0
        s.drops[i] += drops
        s.level[i] += at(p.inflow, i) * action[i, 0] + 0.1 * action[i, 1] * random.standard_normal(rng, i) - 0.1 * drops
        s.leaking[i] = (random.random(rng, i) < 0.5) & (at(p.tight, i) == 0)
        return s.level[i], (s.level[i] < 0.0) | (s.level[i] > 2.0), s.drops[i] > 20

    @kernel
    def observe_lane(s, p, obs, i):
        obs[i, 0], obs[i, 1], obs[i, 2] = s.level[i], s.drops[i], s.leaking[i]

    @kernel
    def inform_lane(s, p, info, i):
        info.height[i], info.drops[i], info.leaking[i] = s.level[i], s.drops[i], s.leaking[i]


class TankEnv(sekai.KernelEnv):
    """One tank."""

    batch = TankVecEnv


@pytest.fixture(scope="session")
def tank_vec_env():
    """The class of a batch of tanks."""
    return TankVecEnv


@pytest.fixture(scope="session")
def tank_env():
    """The class of one tank."""
    return TankEnv


def kernel_specs():
    """Specs of all registered kernel envs, and of the tank."""
    specs = [spec for spec in sekai.all_specs() if isinstance(spec.make().unwrapped, sekai.KernelEnv)]
    return [*specs, sekai.registry.EnvSpec("Tank-v0", TankEnv)]


def pytest_generate_tests(metafunc):
    """Run a test that asks for a `spec` for each kernel env."""
    if "spec" in metafunc.fixturenames:
        metafunc.parametrize("spec", kernel_specs(), ids=lambda spec: spec.id, scope="module")
