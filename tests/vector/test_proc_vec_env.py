"""Batches in worker processes: how they are made, talk, fail and end."""

import asyncio
import gc
import os
import random
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import cloudpickle
import numpy as np
import pytest

import sekai

pytestmark = pytest.mark.usefixtures("nothing_left")

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import the tests
from_threads = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


def counts(result):
    return result.observations[:, 0].tolist()


# ---- how they are made -------------------------------------------------------------------------------


@from_threads
@pytest.mark.parametrize("context", ["fork", "spawn", "forkserver"])
def test_every_way_to_start_processes(tick, context):
    length = 2

    class Local(tick):
        pass

    with sekai.ProcVecEnv([lambda: Local(length)] * 3, num_workers=2, context=context) as vec:
        vec.reset(seed=0)
        vec.step([0, 0, 0])
        result = vec.step([1, 2, 3])
    expected = sekai.SyncVecEnv([lambda: Local(length)] * 3)
    expected.reset(seed=0)
    expected.step([0, 0, 0])
    expected = expected.step([1, 2, 3])
    assert np.array_equal(result.observations, expected.observations)
    np.testing.assert_equal(result.infos, expected.infos)


@pytest.mark.parametrize(
    ("num_workers", "names"),
    [(None, 5), (2, 2), (9, 5)],
)
def test_workers_share_the_lanes(tick, num_workers, names):
    class Where(tick):
        def where(self):
            return os.getpid()

    with sekai.ProcVecEnv([Where] * 5, num_workers=num_workers) as vec:
        assert vec.num_workers == names
        assert [p.name for p in vec._processes] == [f"sekai-ProcVecEnv-worker-{k}" for k in range(names)]
        assert all(process.daemon for process in vec._processes)
        pids = [process.pid for process in vec._processes]
        parts = np.array_split(np.arange(5), names)
        assert vec.call("where") == [pid for pid, part in zip(pids, parts, strict=True) for _ in part]
    assert vec._processes == []


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"num_workers": 0}, ValueError, "num_workers must be >= 1"),
        ({"num_workers": 1.5}, TypeError, "num_workers must be an int"),
        ({"num_groups": 3}, ValueError, "num_groups must be at most the number of workers, 2, got 3"),
        ({"num_groups": 0}, ValueError, "num_groups must be >= 1"),
        ({"context": "thread"}, ValueError, "cannot find context for 'thread'"),
        ({"close_timeout": 0}, ValueError, "close_timeout must be > 0, got 0"),
        ({"step_timeout": float("nan")}, ValueError, "step_timeout must be > 0, got nan"),
        ({"step_timeout": "1"}, TypeError, "step_timeout must be a number of seconds, got '1'"),
    ],
)
def test_bad_arguments(tick, arguments, error, text):
    with pytest.raises(error, match=text):
        sekai.ProcVecEnv([tick] * 2, **arguments)


def test_a_factory_that_fails_is_named_and_all_others_are_closed(tick, tmp_path):
    class Noting(tick):
        def close(self):
            (tmp_path / str(os.getpid())).open("a").write("closed ")

    def bad():
        raise KeyError("no such thing")

    with pytest.raises(sekai.VecEnvWorkerError, match="Sub-env 3 raised KeyError: 'no such thing'") as caught:
        sekai.ProcVecEnv([Noting, Noting, Noting, bad, Noting], num_workers=2)
    assert (caught.value.rank, caught.value.exc_type) == (3, "KeyError")
    assert "in bad" in caught.value.remote_traceback
    assert sorted(path.read_text() for path in tmp_path.iterdir()) == ["closed closed closed "]


def test_a_worker_that_dies_while_envs_are_made(tick):
    with pytest.raises(sekai.VecEnvWorkerError, match=r"Sub-env 1 raised WorkerDied: .* exit code 5"):
        sekai.ProcVecEnv([tick, lambda: os._exit(5)])


def test_a_factory_that_cannot_be_pickled(tick):
    lock = threading.Lock()
    with pytest.raises(TypeError, match="cannot pickle"):
        sekai.ProcVecEnv([tick, lambda: tick(lock)])


@from_threads
def test_a_forked_worker_may_use_kernels_that_threads_have_used():
    vec = sekai.make_vec("CartPole-v1", 4096, vector_kwargs={"num_threads": 2})
    vec.reset(seed=0)
    vec.step(np.zeros(4096, int))
    lanes = sekai.make_vec("CartPole-v1", 2, vectorization_mode="proc", vector_kwargs={"context": "fork"})
    with lanes:
        observations = lanes.reset(seed=0).observations
        assert np.array_equal(observations, sekai.make_vec("CartPole-v1", 2).reset(seed=0).observations)
        lanes.call("reset")


# ---- observations and infos --------------------------------------------------------------------------


class Reel(sekai.Env):
    """Plays back observations."""

    def __init__(self, space, frames, info=None):
        self.observation_space, self.action_space = space, sekai.Discrete(2)
        self.frames, self.info, self.i = frames, info, 0

    def reset(self, *, seed=None, options=None):
        self.i = 0
        return sekai.ResetResult(self.frames[0], {})

    def step(self, action):
        self.i += 1
        return sekai.StepResult(self.frames[self.i % len(self.frames)], 0.0, False, False, {"x": self.info})


@pytest.mark.parametrize(("shared", "dtype"), [(None, np.float32), (True, np.float32), (False, np.float64)])
def test_shared_memory_casts_to_the_dtype_of_the_space(shared, dtype):
    space = sekai.Box(0, 9, (2,), np.float32)
    with sekai.ProcVecEnv([lambda: Reel(space, [np.array([0.1, 2.5])])], shared_memory=shared) as vec:
        assert vec.shared_memory is (shared is not False)
        assert vec.reset().observations.dtype == dtype
        assert os.listdir("/dev/shm") == []
    assert not vec.shared_memory


def test_observations_of_varying_size_are_pickled():
    def reel():
        return Reel(sekai.Sequence(sekai.Discrete(5)), [(1, 2), (3,)])

    with sekai.ProcVecEnv([reel] * 2, num_workers=1) as vec:
        assert not vec.shared_memory
        assert vec.reset().observations == ((1, 2), (1, 2))
        assert vec.step([0, 0]).observations == ((3,), (3,))
    with pytest.raises(TypeError, match="shared_memory needs observations of fixed size"):
        sekai.ProcVecEnv([reel], shared_memory=True)


def test_an_observation_of_a_wrong_shape_is_named():
    def reel(shape):
        return Reel(sekai.Box(0, 9, (2,)), [np.zeros(2), np.zeros(shape)])

    with sekai.ProcVecEnv([lambda: reel(2), lambda: reel(1)], num_workers=1) as vec:
        vec.reset()
        with pytest.raises(sekai.VecEnvWorkerError, match=r"Sub-env 1 raised SpaceMismatch: .* shape \(1,\)"):
            vec.step([0, 0])


def test_large_messages_go_both_ways():
    frame = np.random.default_rng(0).random(500_000)

    class Echo(Reel):
        def step(self, action):
            return sekai.StepResult(action, float(action[-1]), False, False, {})

        def __init__(self):
            super().__init__(None, [frame])
            self.observation_space = self.action_space = sekai.Box(0, 1, frame.shape, np.float64)

    with sekai.ProcVecEnv([Echo] * 2, shared_memory=False) as vec:
        assert np.array_equal(vec.reset().observations, [frame, frame])
        assert np.array_equal(vec.step([frame[::-1], frame]).observations, [frame[::-1], frame])


def test_infos_may_hold_whatever_cloudpickle_takes():
    with sekai.ProcVecEnv([lambda: Reel(sekai.Discrete(2), [0, 1], info=lambda: 7)]) as vec:
        vec.reset()
        assert vec.step([0]).infos[0]["x"]() == 7


def test_what_cannot_be_pickled_is_named(tick):
    class Locked(tick):
        def lock(self, arg=None):
            return threading.Lock() if self.n == 2 else None

        def step(self, action):
            result = super().step(action)
            result.info["lock"] = self.lock()
            return result

    with sekai.ProcVecEnv([tick, lambda: Locked(3), lambda: Locked(2)], num_workers=1) as vec:
        vec.set_attr("lock", None)
        vec.reset()
        with pytest.raises(TypeError, match="cannot pickle"):
            vec.call("reset", options=threading.Lock())
        with pytest.raises(TypeError, match="cannot pickle"):
            vec.step([0, 0, threading.Lock()])
        assert vec.get_attr("steps") == [0, 0, 0]
    with sekai.ProcVecEnv([lambda: Locked(3), lambda: Locked(2)], num_workers=1) as vec:
        vec.reset()
        with pytest.raises(sekai.VecEnvWorkerError, match="Sub-env 1 raised TypeError: cannot pickle"):
            vec.step([0, 0])
        with pytest.raises(sekai.VecEnvWorkerError, match="Sub-env 1 raised TypeError: cannot pickle"):
            vec.call("lock")
        assert vec.get_attr("steps") == [1, 1]


# ---- send and recv -----------------------------------------------------------------------------------


def test_step_in_two_halves(tick):
    with sekai.ProcVecEnv([tick] * 3, num_workers=2) as vec:
        vec.reset(seed=0)
        vec.send([1, 2, 3])
        result = vec.recv()
        assert isinstance(result, sekai.VecStepResult)
        assert result.lanes.tolist() == [0, 1, 2]
        assert result.rewards.tolist() == [1.0, 2.0, 3.0]
        assert counts(vec.step([0, 0, 0])) == [2, 2, 2]


def test_groups_fly_alternately(tick):
    with sekai.ProcVecEnv([tick] * 5, num_workers=3, num_groups=2) as vec:
        assert [lanes.tolist() for lanes in vec.groups] == [[0, 1, 2, 3], [4]]
        first = vec.reset(seed=0).observations
        for lanes in vec.groups:
            vec.send(lanes, lanes)
        steps = [0] * 5
        for _ in range(4):
            result = vec.recv()
            assert result.rewards.tolist() == result.lanes.tolist()
            for lane, k in zip(result.lanes, counts(result), strict=True):
                steps[lane] = (steps[lane] + 1) % 3
                assert k == steps[lane]
            vec.send(result.lanes, result.lanes)
        seen = {vec.recv().lanes.size, vec.recv().lanes.size}
        assert seen == {4, 1}
        single = tick()
        assert first[4].tolist() == single.reset(seed=sekai.lane_seeds(0, 5)[4]).observation.tolist()


@pytest.fixture
def gate(tick, tmp_path):
    """A class whose action 5 waits until `Gate.open` is touched."""

    class Gate(tick):
        open = tmp_path / "open"

        def step(self, action):
            while action == 5 and not self.open.exists():
                time.sleep(0.001)
            return super().step(action)

    return Gate


def test_the_group_that_is_ready_comes_first(gate):
    with sekai.ProcVecEnv([gate] * 2, num_groups=2) as vec:
        vec.reset(seed=0)
        vec.send([5])
        vec.send([0])
        assert vec.recv().lanes.tolist() == [1]
        gate.open.touch()
        assert vec.recv().lanes.tolist() == [0]


def test_without_lanes_the_group_that_waited_longest_is_sent(tick):
    with sekai.ProcVecEnv([tick] * 3, num_groups=3) as vec:
        vec.reset(seed=0)
        vec.send([0], [1])
        vec.send([0])
        vec.send([0])
        received = [vec.recv().lanes.tolist() for _ in range(3)]
        assert sorted(received) == [[0], [1], [2]]
        for lanes in received:
            vec.send([0])
            assert vec.recv().lanes.tolist() == lanes


def test_calls_out_of_turn(tick):
    with sekai.ProcVecEnv([tick] * 2, num_groups=2) as vec:
        with pytest.raises(sekai.ResetRequired):
            vec.send([0])
        vec.reset(seed=0)
        with pytest.raises(sekai.AsyncCallPending, match=r"call send\(\) before recv\(\)"):
            vec.recv()
        with pytest.raises(ValueError, match="lanes must be those of a group"):
            vec.send([0], [0, 1])
        with pytest.raises(ValueError, match="actions must have one entry per lane, 1, got 2"):
            vec.send([0, 0])
        vec.send([0], [1])
        calls = [
            vec.reset,
            lambda: vec.step([0, 0]),
            lambda: vec.call("look"),
            lambda: vec.get_attr("k"),
            lambda: vec.set_attr("k", 0),
            lambda: vec.send([0], [1]),
            lambda: asyncio.run(vec.async_step([0, 0])),
        ]
        for call in calls:
            with pytest.raises(sekai.AsyncCallPending):
                call()
        vec.send([0])
        with pytest.raises(sekai.AsyncCallPending, match=r"call recv\(\) before send\(\)"):
            vec.send([0])
        assert {vec.recv().lanes[0], vec.recv().lanes[0]} == {0, 1}
        vec.send([0])
    for use in (vec.recv, lambda: vec.send([0])):
        with pytest.raises(sekai.VecEnvClosed):
            use()


def test_an_error_in_a_group_concerns_that_group(tick):
    with sekai.ProcVecEnv([lambda: tick(faults={1: "raise"}), tick], num_groups=2) as vec:
        vec.reset(seed=0)
        vec.send([0], [0])
        with pytest.raises(sekai.VecEnvWorkerError, match="Sub-env 0 raised LookupError"):
            vec.recv()
        vec.send([0], [1])
        assert vec.recv().lanes.tolist() == [1]
        vec.send([0], [0])
        assert counts(vec.recv()) == [2]


# ---- async -------------------------------------------------------------------------------------------


def test_the_event_loop_runs_while_workers_work(gate):
    async def main(vec):
        await vec.async_reset(seed=0)
        step = asyncio.create_task(vec.async_step([5, 2]))
        await asyncio.sleep(0)
        with pytest.raises(sekai.AsyncCallPending):
            await vec.async_step([0, 0])
        gate.open.touch()
        return await step

    with sekai.ProcVecEnv([gate] * 2) as vec:
        assert asyncio.run(main(vec)).rewards.tolist() == [5.0, 2.0]


def test_a_cancelled_call_is_waited_for_and_forgotten(gate):
    async def main(vec):
        await vec.async_reset(seed=0)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(vec.async_step([5, 0]), timeout=0.02)
        gate.open.touch()
        return await vec.async_step([0, 0])

    with sekai.ProcVecEnv([gate] * 2) as vec:
        assert counts(asyncio.run(main(vec))) == [2, 2]


# ---- errors of environments --------------------------------------------------------------------------


def test_an_error_lets_the_others_finish_and_stepping_go_on(tick):
    with sekai.ProcVecEnv([lambda: tick(9, faults={1: "raise"}), *[tick] * 3], num_workers=2) as vec:
        vec.reset(seed=0)
        with pytest.raises(sekai.VecEnvWorkerError) as caught:
            vec.step([0] * 4)
        assert (caught.value.rank, caught.value.exc_type) == (0, "LookupError")
        assert str(caught.value).startswith("Sub-env 0 raised LookupError: no data\n\nTraceback of the worker:\n")
        assert "in fail" in caught.value.remote_traceback
        assert vec.get_attr("steps") == [1, 1, 1, 1]
        assert counts(vec.step([0] * 4)) == [2] * 4
        assert counts(vec.reset()) == [0] * 4


def test_of_several_errors_the_lowest_rank_is_raised(tick):
    with sekai.ProcVecEnv([lambda r=r: tick(faults={1: r} if r else {}) for r in (0, "raise", "raise", 0)]) as vec:
        vec.reset(seed=0)
        with pytest.raises(sekai.VecEnvWorkerError, match="Sub-env 1"):
            vec.step([0] * 4)
        with pytest.raises(sekai.VecEnvWorkerError, match="Sub-env 0 raised AttributeError"):
            vec.get_attr("missing")
        with pytest.raises(sekai.VecEnvWorkerError, match="Sub-env 0 raised AttributeError"):
            vec.call("missing")


# ---- workers that are lost ---------------------------------------------------------------------------


def test_a_worker_with_one_env_is_named_by_its_rank(tick):
    with sekai.ProcVecEnv([tick, lambda: tick(faults={1: "kill"})]) as vec:
        vec.reset(seed=0)
        for _ in range(2):
            with pytest.raises(sekai.VecEnvWorkerError) as caught:
                vec.step([0, 0])
            assert str(caught.value) == ("Sub-env 1 raised WorkerDied: its process ended with exit code -9 (SIGKILL)")
            assert (caught.value.rank, caught.value.remote_traceback) == (1, "")


def test_a_worker_that_dies_between_calls_is_noticed_before_anybody_moves(tick, tmp_path):
    class Noting(tick):
        def step(self, action):
            (tmp_path / "steps").open("a").write("x")
            return super().step(action)

    with sekai.ProcVecEnv([Noting] * 3, num_workers=3) as vec:
        vec.reset(seed=0)
        vec.step([0, 0, 0])
        process = vec._processes[2]
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        uses = [
            lambda: vec.step([0, 0, 0]),
            vec.reset,
            lambda: vec.get_attr("k"),
            lambda: vec.send([0, 0, 0]),
            lambda: asyncio.run(vec.async_step([0, 0, 0])),
        ]
        for use in uses:
            with pytest.raises(sekai.VecEnvWorkerError, match="Sub-env 2 raised WorkerDied"):
                use()
    assert (tmp_path / "steps").read_text() == "xxx"


def test_a_worker_lost_on_the_way_is_reported_ever_after(tick):
    with sekai.ProcVecEnv([tick, lambda: tick(faults={1: "exit"})], num_groups=2) as vec:
        vec.reset(seed=0)
        vec.send([0], [0])
        vec.send([0], [1])
        for use in (lambda: [vec.recv(), vec.recv()], vec.recv, vec.reset, lambda: vec.get_attr("k")):
            with pytest.raises(sekai.VecEnvWorkerError, match=r"Sub-env 1 raised WorkerDied: .* exit code 7"):
                use()


def test_an_answer_that_takes_too_long(tick):
    with sekai.ProcVecEnv([tick, lambda: tick(faults={1: "sleep"})], close_timeout=0.1) as vec:
        vec.reset(seed=0)
        vec.step_timeout = 0.5
        for _ in range(2):
            with pytest.raises(sekai.VecEnvWorkerError, match=r"Sub-env 1 .* no answer within 0\.5 s"):
                vec.step([0, 0])


def test_a_stopped_worker_does_not_block_a_large_message():
    class Big(Reel):
        def __init__(self):
            super().__init__(sekai.Discrete(2), [0, 1])
            self.action_space = sekai.Box(0, 1, (500_000,), np.float64)

    with sekai.ProcVecEnv([Big]) as vec:
        vec.reset()
        vec.step_timeout = 0.1
        os.kill(vec._processes[0].pid, signal.SIGSTOP)
        with pytest.raises(sekai.VecEnvWorkerError, match="TimeoutError"):
            vec.step(np.zeros((1, 500_000)))


def play(vec):
    """Step a batch twenty times."""
    for _ in range(20):
        vec.step([0] * len(vec))


# Each fault: what happens to the batch, and how it is reported.
REPORTS = {
    "raise": ("LookupError", "no data"),
    "exit": ("WorkerDied", "its process ended with exit code 7"),
    "leave": ("WorkerDied", "its process ended with exit code 3"),
    "kill": ("WorkerDied", r"its process ended with exit code -9 \(SIGKILL\)"),
    "stop": ("TimeoutError", r"no answer within 1\.0 s"),
}


@pytest.mark.parametrize("seed", [*range(20), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(20, 220))])
def test_a_random_fault_ends_in_the_right_error(tick, tmp_path, seed):
    rng = random.Random(seed)
    num_envs = rng.randint(1, 6)
    num_workers = rng.randint(1, num_envs)
    victim, when = rng.randrange(num_envs), rng.randint(1, 8)
    fault = list(REPORTS)[seed % len(REPORTS)]

    class Noting(tick):
        rank = None

        def step(self, action):
            (tmp_path / str(self.rank)).open("a").write("x")
            return super().step(action)

    def steps(lane):
        path = tmp_path / str(lane)
        return len(path.read_text()) if path.exists() else 0

    vec = sekai.ProcVecEnv(
        [lambda i=i: Noting(3, faults={when: fault} if i == victim else {}) for i in range(num_envs)],
        num_workers=num_workers,
        autoreset=rng.choice(["same_step", "next_step"]),
        step_timeout=1.0 if fault == "stop" else None,
        close_timeout=1.0,
    )
    with vec:
        vec.set_attr("rank", list(range(num_envs)))
        vec.reset(seed=seed)
        exc_type, text = REPORTS[fault]
        with pytest.raises(sekai.VecEnvWorkerError, match=text) as caught:
            play(vec)
        part = next(part for part in np.array_split(np.arange(num_envs), num_workers) if victim in part)
        assert caught.value.exc_type == exc_type
        assert caught.value.rank == (victim if fault == "raise" else part[0])
        if fault == "raise":
            assert [steps(lane) for lane in range(num_envs)] == vec.get_attr("steps")
            assert counts(vec.reset()) == [0] * num_envs
            assert counts(vec.step([0] * num_envs)) == [1] * num_envs
        else:
            for use in (lambda: vec.step([0] * num_envs), vec.reset, lambda: vec.get_attr("k")):
                with pytest.raises(sekai.VecEnvWorkerError, match=text):
                    use()
    assert steps(victim) >= when
    if fault != "raise":
        assert steps(victim) == when
        assert {steps(lane) for lane in set(range(num_envs)) - set(part.tolist())} <= {when}


# ---- interruptions -----------------------------------------------------------------------------------


@pytest.fixture
def slow(tick, tmp_path):
    """A class that takes its time for action 5, and says when it has begun to."""

    class Slow(tick):
        begun = tmp_path / "begun"

        def step(self, action):
            if action == 5:
                self.begun.touch()
                time.sleep(0.3)
            return super().step(action)

    return Slow


def test_an_answer_that_comes_after_an_interruption_is_thrown_away(slow, ctrl_c):
    with sekai.ProcVecEnv([slow] * 2) as vec:
        vec.reset(seed=0)
        ctrl_c(slow.begun.exists)
        with pytest.raises(KeyboardInterrupt):
            vec.step([0, 5])
        assert vec.get_attr("steps") == [1, 1]
        assert counts(vec.step([0, 0])) == [2, 2]


def test_what_an_interrupted_recv_waited_for_can_still_be_received(slow, ctrl_c):
    with sekai.ProcVecEnv([slow]) as vec:
        vec.reset(seed=0)
        ctrl_c(slow.begun.exists)
        with pytest.raises(KeyboardInterrupt):
            send_and_receive(vec, [5])
        assert vec.recv().rewards.tolist() == [5.0]


def send_and_receive(vec, actions):
    """A step in two halves."""
    vec.send(actions)
    return vec.recv()


class Interrupt(BaseException):
    """What a signal handler raises."""


def test_interruptions_at_any_moment_do_no_harm(tick):
    def interrupt(signum, frame):
        raise Interrupt

    rng, stop = random.Random(0), threading.Event()

    def annoy():
        while not stop.wait(rng.random() * 3e-3):
            signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    with sekai.ProcVecEnv([lambda: tick(10**9)] * 4, num_workers=2) as vec:
        vec.reset(seed=0)
        annoying = threading.Thread(target=annoy)
        annoying.start()
        interruptions = 0
        while interruptions < 200:
            try:
                signal.signal(signal.SIGUSR1, interrupt)
                while True:
                    assert counts(vec.reset()) == [0] * 4
                    assert counts(vec.step([0] * 4)) == [1] * 4
            except Interrupt:
                signal.signal(signal.SIGUSR1, signal.SIG_IGN)
                interruptions += 1
        stop.set()
        annoying.join()
        assert counts(vec.reset()) == [0] * 4
    signal.signal(signal.SIGUSR1, before)


PRELUDE = """
    import os, signal, sys, time
    import numpy as np
    import sekai

    class Env(sekai.Env):
        def __init__(self, stubborn=False):
            self.observation_space = sekai.Box(0, 9, (2,))
            self.action_space = sekai.Discrete(9)
            if stubborn:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)

        def reset(self, *, seed=None, options=None):
            return sekai.ResetResult(np.zeros(2), {})

        def step(self, action):
            time.sleep(int(action))
            return sekai.StepResult(np.zeros(2), float(action), False, False, {})

    def interrupt(*processes):
        "What Ctrl-C in a terminal does."
        signal.setitimer(signal.ITIMER_REAL, 0.4)
        signal.signal(signal.SIGALRM, lambda *args: os.killpg(0, signal.SIGINT))

    if __name__ == "__main__":
"""


def run_script(tmp_path, body):
    """Run a script in a process group of its own; returns its exit code, output and errors, and what it left alive."""
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(PRELUDE) + textwrap.indent(textwrap.dedent(body), "    "))
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-X", "dev", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        cwd=tmp_path,
    )
    try:
        out, err = process.communicate(timeout=20)
    finally:
        left = survivors(process.pid)
    return process.returncode, out, err, left


def survivors(session):
    """Processes of a session, after they have had a moment to end; what is left then is killed."""
    deadline = time.monotonic() + 5
    while (left := members(session)) and time.monotonic() < deadline:
        time.sleep(0.02)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    return left


def members(session):
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


def test_ctrl_c_stops_no_worker(tmp_path):
    body = """
        vec = sekai.ProcVecEnv([Env] * 3, num_workers=2)
        vec.reset()
        interrupt()
        try:
            vec.step([0, 0, 1])
        except KeyboardInterrupt:
            print("interrupted")
        print(vec.step([0, 0, 0]).rewards)
        vec.close()
    """
    assert run_script(tmp_path, body) == (0, "interrupted\n[0. 0. 0.]\n", "", [])


def test_ctrl_c_that_ends_the_program_leaves_nothing(tmp_path):
    body = """
        vec = sekai.ProcVecEnv([Env] * 3, num_workers=2, close_timeout=0.5)
        vec.reset()
        interrupt()
        vec.step([0, 0, 9])
    """
    code, _, err, left = run_script(tmp_path, body)
    assert code == -signal.SIGINT
    assert re.findall(r"^\w*(?:Error|Warning|Interrupt)\b", err, re.MULTILINE) == ["KeyboardInterrupt"]
    assert "Exception ignored" not in err
    assert left == []


@pytest.mark.parametrize("step", ["", "vec.send([0, 0, 9])", "del vec"])
def test_a_program_that_ends_leaves_nothing(tmp_path, step):
    body = f"""
        vec = sekai.ProcVecEnv([Env] * 3, num_workers=2, close_timeout=0.5)
        vec.reset()
        {step}
    """
    assert run_script(tmp_path, body) == (0, "", "", [])


def test_workers_that_ignore_being_terminated_end_with_the_program(tmp_path):
    body = """
        vec = sekai.ProcVecEnv([lambda: Env(stubborn=True)], close_timeout=0.3, context="fork")
        vec.reset()
        vec.send([9])
    """
    assert run_script(tmp_path, body) == (0, "", "", [])


def test_workers_end_when_the_program_is_killed(tmp_path):
    body = """
        vec = sekai.ProcVecEnv([Env] * 2, context="fork")
        other = sekai.ProcVecEnv([Env] * 2, context="fork")
        vec.reset()
        os.kill(os.getpid(), signal.SIGKILL)
    """
    code, _, _, left = run_script(tmp_path, body)
    assert (code, left) == (-signal.SIGKILL, [])


# ---- the end -----------------------------------------------------------------------------------------


def test_a_closed_batch_refuses_everything_but_closing(tick):
    vec = sekai.ProcVecEnv([tick])
    processes = list(vec._processes)
    vec.close()
    assert [process.exitcode for process in processes] == [0]
    for use in (lambda: vec.call("look"), lambda: vec.get_attr("k"), lambda: vec.set_attr("k", 1)):
        with pytest.raises(sekai.VecEnvClosed):
            use()
    vec.close()


def test_errors_in_closing_are_raised_when_all_has_ended(tick):
    class Bad(tick):
        def close(self):
            raise KeyError("close")

    vec = sekai.ProcVecEnv([tick, Bad, Bad, tick], close_timeout=20)
    processes = list(vec._processes)
    with pytest.raises(sekai.VecEnvWorkerError, match="Sub-env 1 raised KeyError: 'close'"):
        vec.close()
    assert not any(process.is_alive() for process in processes)
    vec.close()


def test_closing_while_workers_work(tick):
    vec = sekai.ProcVecEnv([lambda: tick(faults={1: "sleep"}), tick], num_workers=2, close_timeout=0.2)
    vec.reset(seed=0)
    vec.send([0, 0])
    vec.close()


def test_closing_workers_that_ignore_being_terminated(tick):
    class Stubborn(tick):
        def __init__(self):
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            super().__init__(faults={1: "sleep"})

    vec = sekai.ProcVecEnv([Stubborn] * 6, close_timeout=0.2)
    vec.reset(seed=0)
    vec.send([0] * 6)
    start = time.monotonic()
    vec.close()
    assert time.monotonic() - start < 3.5  # the bound that the contract names: 0.2 s, then 1 s for each kind of force


def test_an_interrupted_close_ends_everything_at_once(tick, ctrl_c):
    vec = sekai.ProcVecEnv([lambda: tick(faults={1: "sleep"})], close_timeout=60)
    vec.reset(seed=0)
    vec.send([0])
    ctrl_c(lambda: vec.closed)
    with pytest.raises(KeyboardInterrupt):
        vec.close()
    vec.close()


def test_a_batch_that_nobody_holds_ends_by_itself(tick):
    vec = sekai.ProcVecEnv([tick] * 2)
    processes = list(vec._processes)
    vec.reset(seed=0)
    del vec
    gc.collect()
    assert not any(process.is_alive() for process in processes)
