"""Work shared by threads, and work that Ctrl-C waits for."""

import signal
import threading
import time
from concurrent.futures import wait

import pytest

from sekai.vector.threads import available, over_lanes, ranges, uninterrupted


@pytest.mark.parametrize(("lanes", "parts"), [(1, 4), (1024, 4), (1025, 4), (10_000, 3), (10_000, 100)])
def test_ranges_cover_all_lanes_in_whole_blocks(lanes, parts):
    found = ranges(lanes, 1024, parts)
    assert [first for first, _ in found] == [0, *(last for _, last in found[:-1])]
    assert found[-1][1] == lanes
    assert all(first % 1024 == 0 for first, _ in found)
    assert len(found) == min(parts, -(-lanes // 1024))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_results_come_in_the_order_of_the_lanes(threads):
    found = over_lanes(lambda first, last: (first, last), 50_000, 1024, threads)
    assert found == ranges(50_000, 1024, 1 if threads == 1 else 4 * threads)


def test_an_error_is_raised_when_all_others_are_done():
    done = []

    def work(first, last):
        if first == 0:
            raise LookupError("the first")
        time.sleep(0.001)
        done.append(first)

    with pytest.raises(LookupError, match="the first"):
        over_lanes(work, 8 * 1024, 1024, 2)
    assert sorted(done) == [1024 * k for k in range(1, 8)]


def test_there_is_a_processor():
    assert available() >= 1


def test_ctrl_c_waits_for_what_must_not_be_interrupted():
    done = []

    def work(name):
        signal.raise_signal(signal.SIGINT)
        time.sleep(0.01)
        done.append(name)

    with pytest.raises(KeyboardInterrupt):
        uninterrupted(work, "all")
    assert done == ["all"]


def test_results_and_errors_pass_through():
    assert uninterrupted(max, 1, 2) == 2
    with pytest.raises(ZeroDivisionError):
        uninterrupted(divmod, 1, 0)


def test_other_threads_are_not_interrupted_and_call_for_themselves():
    found = []
    thread = threading.Thread(target=lambda: found.append(uninterrupted(threading.current_thread)))
    thread.start()
    thread.join()
    assert found == [thread]
    assert uninterrupted(threading.current_thread) is not threading.main_thread()


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_again_and_again_is_waited_with_too(threads, monkeypatch):
    done, waits = [], []

    def impatient(futures):
        waits.append(len(futures))
        if len(waits) < 4:
            raise KeyboardInterrupt
        return wait(futures)

    def work(first, last):
        time.sleep(0.05)
        done.append(first)

    monkeypatch.setattr("sekai.vector.threads.wait", impatient)
    with pytest.raises(KeyboardInterrupt):
        uninterrupted(work, 0, 1) if threads == 1 else over_lanes(work, 2048, 1024, threads)
    assert len(waits) == 4
    assert sorted(done) == [0, 1024][:threads]


def test_an_error_is_raised_rather_than_ctrl_c():
    def work():
        signal.raise_signal(signal.SIGINT)
        raise LookupError("of the work")

    with pytest.raises(LookupError, match="of the work"):
        uninterrupted(work)
