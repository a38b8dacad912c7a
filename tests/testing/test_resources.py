"""What counts as left open."""

import asyncio
import io
import mmap
import multiprocessing
import socket
import subprocess
import sys
import threading

import pytest

import sekai
from sekai.testing.resources import is_open, left_open, running


class Holder(sekai.Env):
    """Holds something, and closes it if it is told to."""

    def __init__(self, value=None):
        self.value = value

    def reset(self, *, seed=None, options=None):
        return sekai.ResetResult(0, {})

    def step(self, action):
        return sekai.StepResult(0, 0.0, False, False, {})


def event_loop():
    loop = asyncio.new_event_loop()
    return loop, loop.close


def file():
    file = open(__file__)  # noqa: SIM115
    return file, file.close


def bytes_file():
    file = open(__file__, "rb", buffering=0)  # noqa: SIM115
    return file, file.close


def memory_map():
    memory = mmap.mmap(-1, 8)
    return memory, memory.close


def pipe():
    ours, theirs = multiprocessing.Pipe()
    theirs.close()
    return ours, ours.close


def web_socket():
    connection = socket.socket()
    return connection, connection.close


def command():
    process = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    return process, process.communicate


def thread():
    event = threading.Event()
    thread = threading.Thread(target=event.wait)
    thread.start()

    def stop():
        event.set()
        thread.join()

    return thread, stop


@pytest.mark.parametrize("make", [event_loop, file, bytes_file, memory_map, pipe, web_socket, command, thread])
def test_resources_are_open_until_they_are_closed(make):
    before = running()
    value, close = make()
    try:
        assert is_open(value)
        env = sekai.TimeLimit(Holder(value), 3)
        assert left_open(env, before) == left_open(env, running()) == ["Holder.value"]
        assert left_open(Holder([1, value]), before) == left_open(Holder({"it": value}), before) == ["Holder.value"]
    finally:
        close()
    assert not is_open(value)
    assert left_open(env, before) == []


@pytest.mark.parametrize("value", [1, "text", io.StringIO(), io.BytesIO(), sys.stdout, threading.Event(), [[]]])
def test_other_things_are_not_open(value):
    assert left_open(Holder(value), running()) == []


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_threads_and_processes_count_wherever_they_are_held():
    before = running()
    event = threading.Event()
    held = threading.Thread(target=event.wait, name="feed")
    process = multiprocessing.get_context("fork").Process(target=event.wait, args=(60,), name="worker")
    process.start()
    held.start()
    try:
        assert sorted(left_open(Holder(), before)) == ["the process 'worker'", "the thread 'feed'"]
    finally:
        event.set()
        held.join()
        process.terminate()
        process.join()
    assert left_open(Holder(), before) == []


def test_the_checker_names_what_close_left_open():
    class Reader(Holder):
        def __init__(self):
            super().__init__(open(__file__))  # noqa: SIM115
            self.observation_space, self.action_space = sekai.Discrete(2), sekai.Discrete(2)

    env = Reader()
    issues = sekai.check_env(env, check_close=True)
    env.value.close()
    assert issues == ["WARNING: close() left Reader.value open. Close what the environment opened."]
