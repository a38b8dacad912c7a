"""Where the episodes of lanes stand, for vector wrappers that remember something of each lane."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekai.vector.result import VecStepResult
from sekai.vector.vec_env import VecEnv

Mask = NDArray[np.bool_] | None
Lanes = NDArray[np.int64]


class Progress:
    """Tells which lanes a step moves on, and in which an episode starts."""

    def __init__(self, venv: VecEnv[Any, Any]) -> None:
        self._venv = venv
        self.over = np.zeros(venv.num_envs, np.bool_)

    @property
    def over(self) -> NDArray[np.bool_]:
        """Bool `(N,)`: lanes whose episode ended and that wait for a reset."""
        return self._over

    @over.setter
    def over(self, over: NDArray[np.bool_]) -> None:
        self._over = over
        self._some_over = bool(over.any())

    def moving(self, mask: Mask) -> Mask:
        """The lanes that the next step moves on, of those in `mask`; None for all of them."""
        if not self._some_over:
            return mask
        return ~self._over if mask is None else mask & ~self._over

    def note_reset(self, mask: Mask) -> None:
        """Take note of a reset."""
        self.over = np.zeros_like(self._over) if mask is None else self._over & ~mask

    def note_step(self, result: VecStepResult[Any], mask: Mask) -> Lanes:
        """Take note of a step, and return the lanes in which an episode has started with it, ascending."""
        started, mode = result.final_lanes, self._venv.autoreset_mode
        if mode == "same_step" and not self._some_over:
            return started
        stepped = np.ones_like(self._over) if mask is None else mask
        resets = stepped & self._over if mode == "next_step" else np.zeros_like(self._over)
        over = np.where(stepped, result.dones, self._over)
        over[started] = False
        self.over = over
        resets[started] = True
        return np.flatnonzero(resets)
