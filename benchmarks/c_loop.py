"""Environments in C, stepping the memory of a batch of sekai's."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent
COMMAND = ("cc", "-O3", "-march=native", "-shared", "-fPIC")

# The program of each environment, and its struct `lanes`: the first word of each row.
PROGRAMS = {
    "CartPole-v1": (
        "cartpole.c", ("x", "x_dot", "theta", "theta_dot", "episode_return", "past_end", "elapsed", "rng")
    ),
    "Pendulum-v1": ("pendulum.c", ("theta", "theta_dot", "last_u", "episode_return", "elapsed", "rng")),
}  # fmt: skip


def compiled(source: Path, lanes: type[ctypes.Structure]) -> Any:
    """The function `step` of a C program.

    Raises:
        OSError, subprocess.CalledProcessError: There is no C compiler, or it failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder, "loop.so")
        subprocess.run([*COMMAND, "-o", str(library), str(source)], check=True)
        step = ctypes.CDLL(str(library)).step
    pointer, integer = ctypes.c_void_p, ctypes.c_int64
    step.argtypes = [integer, integer, lanes, pointer, integer, *[pointer] * 7]
    step.restype = integer
    return step


class CLoop:
    """Steps a batch in C, in the batch's own arrays: the layout is the same on both sides.

    Args:
        vec: A batch of one of the `PROGRAMS` that was reset; nobody else steps it.

    Attributes:
        observations: float32 `(N, k)`, written by `step`.
        rewards: float64 `(N,)`.
        terminated, truncated: uint8 `(N,)`.
    """

    def __init__(self, vec: Any) -> None:
        n = vec.num_envs
        self._vec = vec
        source, names = PROGRAMS[vec.spec.id]
        self.observations, self.rewards = vec._empty_observations(n), np.empty(n)
        self.terminated, self.truncated = np.empty(n, np.uint8), np.empty(n, np.uint8)
        info, ends, final_observations = np.empty(n, np.int64), np.empty(n + 1, np.int64), vec._empty_observations(n)
        state = {name: vec._state_row(name) for name in vec._state.kinds}
        book = {name: vec._book_row(name) for name in ("episode_return", "elapsed")}
        rows = {**state, **book, "rng": vec._rng}
        fields = {"_fields_": [(name, ctypes.c_void_p) for name in names]}
        lanes = type("Lanes", (ctypes.Structure,), fields)
        self._outputs = (
            self.observations, self.rewards, self.terminated, self.truncated, info, ends, final_observations
        )  # fmt: skip
        pointers = [array.ctypes.data for array in self._outputs]
        self._arguments = n, vec._memory.shape[1], lanes(**{name: rows[name].ctypes.data for name in names})
        self._rest = vec.max_episode_steps, *pointers
        self._step = compiled(FOLDER / source, lanes)

    def step(self, actions: np.ndarray) -> None:
        """Step all lanes with actions as kernels take them: int64 `(N,)`, or float64 `(N, 1)`."""
        self._step(*self._arguments, actions.ctypes.data, *self._rest)
