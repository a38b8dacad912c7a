"""CartPole in C, stepping the memory of a batch of sekai's."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

SOURCE = Path(__file__).with_name("cartpole.c")
COMMAND = ("cc", "-O3", "-march=native", "-shared", "-fPIC")


class Lanes(ctypes.Structure):
    """The struct `lanes` of the C program: the first word of each row."""

    _fields_ = [
        (name, ctypes.c_void_p)
        for name in ("x", "x_dot", "theta", "theta_dot", "episode_return", "past_end", "elapsed", "rng")
    ]


def compiled() -> Any:
    """The function `step` of the C program.

    Raises:
        OSError, subprocess.CalledProcessError: There is no C compiler, or it failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, "cartpole.so")
        subprocess.run([*COMMAND, "-o", str(library), str(SOURCE)], check=True)
        step = ctypes.CDLL(str(library)).step
    pointer, integer = ctypes.c_void_p, ctypes.c_int64
    step.argtypes = [integer, integer, Lanes, pointer, integer, *[pointer] * 7]
    step.restype = integer
    return step


class CLoop:
    """Steps a batch of CartPoles in C, in the batch's own arrays: the layout is the same on both sides.

    Args:
        vec: A `CartPoleVecEnv` that was reset; nobody else steps it.

    Attributes:
        observations: float32 `(N, 4)`, written by `step`.
        rewards: float64 `(N,)`.
        terminated, truncated: uint8 `(N,)`.
    """

    def __init__(self, vec: Any) -> None:
        n = vec.num_envs
        self._vec = vec
        self.observations, self.rewards = np.empty((n, 4), np.float32), np.empty(n)
        self.terminated, self.truncated = np.empty(n, np.uint8), np.empty(n, np.uint8)
        info, ends, final_observations = np.empty(n, np.int64), np.empty(n + 1, np.int64), np.empty((n, 4), np.float32)
        state = {name: vec._state_row(name) for name in vec._state.kinds}
        book = {name: vec._book_row(name) for name in ("episode_return", "elapsed")}
        rows = {**state, **book, "rng": vec._rng}
        lanes = Lanes(**{name: row.ctypes.data for name, row in rows.items()})
        self._outputs = (
            self.observations, self.rewards, self.terminated, self.truncated, info, ends, final_observations
        )  # fmt: skip
        pointers = [array.ctypes.data for array in self._outputs]
        self._arguments = n, vec._memory.shape[1], lanes
        self._rest = vec.max_episode_steps, *pointers
        self._step = compiled()

    def step(self, actions: np.ndarray) -> None:
        """Step all lanes with int64 actions `(N,)`."""
        self._step(*self._arguments, actions.ctypes.data, *self._rest)
