"""A NumPy generator whose draws are made by the kernels of one lane."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
from numpy.random import PCG64, Generator

LOW64 = 2**64 - 1


class Stream:
    """Keeps a NumPy generator and the random words of one lane in step, so that both are one stream.

    `pull` fetches the generator's state before the lane's kernels draw, `push` brings it back afterwards. A PCG64's
    words are read and written where they lie (1 us for both); the documented way, through a dict of Python ints, is
    for where that does not work.

    Args:
        generator: A generator over a PCG64.
        lane: The lane's six words, a view `uint64[6]`: state and increment (high, low), whether half a word is kept,
            and that half.
    """

    def __init__(self, generator: Generator, lane: np.ndarray) -> None:
        self.generator = generator
        self._lane = lane
        self._fast = memory_is_as_expected()
        if self._fast:
            self._lane_numbers, self._lane_half = lane[:4].reshape(2, 2), lane[4:]
            self._numbers, self._half = pcg64_memory(generator.bit_generator)

    def pull(self) -> None:
        """Take the generator's state over into the lane."""
        if self._fast:
            self._lane_numbers[:] = self._numbers
            self._lane_half[:] = self._half
        else:
            self._lane[:] = words_of(self.generator)

    def push(self) -> None:
        """Bring the lane's state back into the generator."""
        if self._fast:
            self._numbers[:] = self._lane_numbers
            self._half[:] = self._lane_half
        else:
            set_words(self.generator, self._lane)


def words_of(generator: Generator) -> np.ndarray:
    """The state of a PCG64 generator as the six words that a lane keeps."""
    state: Any = generator.bit_generator.state
    number, increment = state["state"]["state"], state["state"]["inc"]
    halves = (number >> 64, number & LOW64, increment >> 64, increment & LOW64)
    return np.array([*halves, state["has_uint32"], state["uinteger"]], np.uint64)


def set_words(generator: Generator, words: np.ndarray) -> None:
    """Give a PCG64 generator the state that six words describe."""
    high, low, inc_high, inc_low, has_half, half = map(int, words)
    numbers = {"state": high << 64 | low, "inc": inc_high << 64 | inc_low}
    generator.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": numbers,
        "has_uint32": has_half,
        "uinteger": half,
    }


def pcg64_memory(bit_generator: Any) -> tuple[np.ndarray, np.ndarray]:
    """Views of a PCG64's own memory: its two 128-bit numbers, high words first; the flag of its half word, and that."""
    address = bit_generator.ctypes.state_address
    numbers: Any = (ctypes.c_uint64 * 4).from_address(ctypes.c_uint64.from_address(address).value)
    half: Any = (ctypes.c_uint32 * 2).from_address(address + 8)
    return np.frombuffer(numbers, np.uint64).reshape(2, 2)[:, ::-1], np.frombuffer(half, np.uint32)


@cache
def memory_is_as_expected() -> bool:
    """Whether `pcg64_memory` finds a known state where it looks."""
    generator = Generator(PCG64(1))
    generator.integers(10)  # leaves half a word
    try:
        numbers, half = pcg64_memory(generator.bit_generator)
        found = [*numbers.ravel(), *half] == list(words_of(generator))
    except Exception:  # another layout: the documented way serves
        return False
    return found
