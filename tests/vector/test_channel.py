"""Messages between two processes: in pieces, after interruptions, and when nobody listens any more."""

import os
import pickle
import random
import signal
import socket
import threading

import pytest

from sekai.vector.channel import CHUNK, HEADER, Channel, encode

pytestmark = pytest.mark.usefixtures("bounded")


@pytest.fixture
def ends():
    """A channel that does not block, and one at the other end that does."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    channels = Channel(ours), Channel(theirs)
    yield channels
    for channel in channels:
        channel.close()


def answered(channel, message):
    """Send a message, however many pieces that takes, and return the answer."""
    channel.post(message)
    while channel.awaiting:
        channel.flush()
        channel.receive()
    return channel.message


def echo(channel):
    """Send back what comes until the other end closes."""
    try:
        while True:
            while not channel.receive():
                pass
            channel.post(channel.message)
            channel.flush()
    except EOFError:
        pass


@pytest.fixture
def echoing(ends):
    """The end of a channel whose other end sends back what comes."""
    ours, theirs = ends
    thread = threading.Thread(target=echo, args=(theirs,))
    thread.start()
    yield ours
    ours._socket.shutdown(socket.SHUT_RDWR)
    thread.join()


@pytest.mark.parametrize("size", [0, 1, CHUNK - HEADER.size, CHUNK, 3 * CHUNK + 5])
def test_messages_of_any_size_arrive_whole(echoing, size):
    message = random.Random(size).randbytes(size)
    assert answered(echoing, message) == message
    assert answered(echoing, b"next") == b"next"


def test_whose_turn_it_is(ends):
    ours, theirs = ends
    assert ours.awaiting
    assert theirs.awaiting
    theirs.post(b"hello")
    assert theirs.flush()
    assert ours.receive()
    assert not ours.awaiting
    assert theirs.awaiting
    assert ours.fileno() > 0


def test_nothing_is_received_before_something_came(ends):
    assert not ends[0].receive()


def test_a_message_that_comes_byte_by_byte(ends):
    ours, theirs = ends
    for byte in HEADER.pack(3) + b"abc":
        assert ours.awaiting
        theirs._socket.send(bytes([byte]))
        ours.receive()
    assert not ours.awaiting
    assert ours.message == b"abc"


def test_a_message_that_nobody_reads_does_not_block(ends):
    ours, theirs = ends
    ours.post(bytes(10 * CHUNK))
    assert not ours.flush()
    assert not ours.flush()
    received = 0
    while not ours.flush():
        received += len(theirs._socket.recv(CHUNK))
    while received < 10 * CHUNK + HEADER.size:
        received += len(theirs._socket.recv(CHUNK))


@pytest.mark.parametrize("use", ["receive", "flush"])
def test_a_closed_connection_is_an_end(ends, use):
    ours, theirs = ends
    theirs.close()
    ours.post(b"anybody?")
    with pytest.raises(EOFError):
        getattr(ours, use)()


class Interrupt(BaseException):
    """What a signal handler raises."""


def test_no_interruption_leaves_half_a_message_behind(echoing):
    def interrupt(signum, frame):
        raise Interrupt

    assert answered(echoing, b"first") == b"first"
    before = signal.signal(signal.SIGUSR1, interrupt)
    stop, rng = threading.Event(), random.Random(0)

    def annoy():
        while not stop.wait(rng.random() * 1e-3):
            os.kill(os.getpid(), signal.SIGUSR1)

    main = [0, 0]  # messages sent, interruptions
    annoying = threading.Thread(target=annoy)
    annoying.start()
    try:
        while main[1] < 300:
            try:
                while echoing.awaiting:  # what an interrupted round left
                    echoing.flush()
                    echoing.receive()
                message = bytes([main[0] % 256]) * rng.choice([1, 100_000])
                main[0] += 1
                assert answered(echoing, message) == message
            except Interrupt:
                main[1] += 1
    finally:
        stopped = False
        while not stopped:
            try:
                stop.set()
                annoying.join()
                signal.signal(signal.SIGUSR1, before)
                stopped = True
            except Interrupt:
                pass
    while echoing.awaiting:
        echoing.flush()
        echoing.receive()
    assert answered(echoing, b"well") == b"well"


def test_a_forked_process_does_not_keep_the_connection_open(ends):
    ours, theirs = ends
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(writing)
        os.read(reading, 1)  # lives until it is told to end
        os._exit(0)
    try:
        os.close(reading)
        ours.close()
        with pytest.raises(EOFError):
            theirs.receive()
    finally:
        os.close(writing)
        os.waitpid(pid, 0)


def test_what_pickle_refuses_is_sent_all_the_same():
    class Local:
        value = 3

    assert pickle.loads(encode(lambda: 5))() == 5
    assert pickle.loads(encode(Local())).value == 3
    with pytest.raises(TypeError, match="cannot pickle"):
        encode(threading.Lock())
