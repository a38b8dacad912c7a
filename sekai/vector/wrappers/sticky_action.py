"""Let actions of each lane stick."""

from __future__ import annotations

from typing import Any, Generic

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from sekai._types import ActType, ObsType
from sekai.kernels.transforms import child_words, draw_sticky
from sekai.spaces import concatenate, zero_sample
from sekai.utils.seeding import as_seed
from sekai.vector.batches import as_arrays, as_batch, choose, map_arrays
from sekai.vector.progress import Progress
from sekai.vector.result import VecResetResult, VecStepResult
from sekai.vector.seeding import SEED_WORDS, seed_lanes, spawned_words
from sekai.vector.stream import words_of
from sekai.vector.vec_env import VecEnv
from sekai.vector.vec_wrapper import Mask, VecActionWrapper
from sekai.wrappers.sticky_action import checked_probability, child_generator

STICKY_CHILD = 1  # number of the child of a lane's seed that its sticky actions draw from


class VecStickyAction(VecActionWrapper[ObsType, ActType, ActType], Generic[ObsType, ActType]):
    """Carries out each lane's previous action again instead of the new one, as `StickyAction` does.

    Every lane has a stream of its own, the one that a `StickyAction` around it would have.

    Args:
        venv: The batch to wrap.
        repeat_action_probability: At least 0, less than 1.

    Raises:
        ValueError: The probability is out of range.

    Attributes:
        repeat_action_probability: As given.
    """

    _lane_state = ("_streams", "_ready", "_last", "_progress.over")

    def __init__(self, venv: VecEnv[ObsType, ActType], repeat_action_probability: float) -> None:
        self.repeat_action_probability = checked_probability(repeat_action_probability)
        super().__init__(venv)
        space = venv.action_space
        self._ready = np.zeros(self.num_envs, np.bool_)  # lanes that have a last action
        self._last = as_arrays(space, concatenate(space, [zero_sample(space)] * self.num_envs))
        self._progress = Progress(venv)
        self._rng = np.zeros((6, self.num_envs), np.uint64)
        seed_children(self._rng, as_seed(SeedSequence().entropy), np.arange(self.num_envs))

    @property
    def _streams(self) -> NDArray[np.uint64]:
        streams: NDArray[np.uint64] = self._rng.T
        return streams

    @_streams.setter
    def _streams(self, streams: NDArray[np.uint64]) -> None:
        self._rng = np.ascontiguousarray(streams.T)

    def action(self, actions: ActType) -> ActType:
        """Return the actions to carry out in all lanes: new ones or, where they stick, the last ones."""
        return self._stuck(actions, None)

    def _stuck(self, actions: ActType, moving: Mask) -> ActType:
        ready = self._ready if moving is None else self._ready & moving
        sticky = np.empty(self.num_envs, np.bool_)
        draw_sticky(self._rng, self.repeat_action_probability, ready, sticky)
        arrays = as_arrays(self.venv.action_space, actions)
        if sticky.any():
            arrays = choose(sticky, self._last, arrays)
            actions = as_batch(self.venv.action_space, arrays)
        self._last = map_arrays(np.copy, arrays) if moving is None else choose(moving, arrays, self._last)
        self._ready[... if moving is None else moving] = True
        return actions

    def _before_step(self, actions: ActType, mask: Mask) -> ActType:
        return self._stuck(actions, self._progress.moving(mask))

    def _on_step(self, result: VecStepResult[ObsType], mask: Mask) -> VecStepResult[ObsType]:
        self._ready[self._progress.note_step(result, mask)] = False
        return result

    def _before_reset(self, seed: Any, mask: Mask) -> NDArray[np.uint64]:
        """The streams after the reset."""
        seeds, rng = self._check_seed(seed), np.array(self._rng)
        lanes = np.arange(self.num_envs) if mask is None else np.flatnonzero(mask)
        if isinstance(seeds, list):
            for lane in lanes.tolist():
                if seeds[lane] is not None:
                    rng[:, lane] = words_of(child_generator(seeds[lane]))
        elif seeds is not None:
            seed_children(rng, seeds, lanes)
        return rng

    def _on_reset(self, result: VecResetResult[ObsType], mask: Mask, prepared: Any) -> VecResetResult[ObsType]:
        self._rng = prepared
        self._progress.note_reset(mask)
        self._ready[... if mask is None else mask] = False
        return result


def seed_children(rng: NDArray[np.uint64], seed: int, lanes: NDArray[np.int64]) -> None:
    """Start the streams of lanes as their `StickyAction`s would, in a batch that is reset with `seed`."""
    words = np.empty((rng.shape[1], SEED_WORDS), np.uint32)
    child_words(spawned_words(seed, rng.shape[1]), STICKY_CHILD, words)
    seed_lanes(rng, lanes, words[lanes])
