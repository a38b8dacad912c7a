"""Actions as the kernels take them."""

from __future__ import annotations

from typing import Any

import numpy as np

from sekai.error import InvalidAction
from sekai.spaces.box import Box
from sekai.spaces.discrete import Discrete
from sekai.spaces.multi_binary import MultiBinary
from sekai.spaces.multi_discrete import MultiDiscrete
from sekai.spaces.space import Space


class ActionFormat:
    """How actions of a space are packed: `int64` for integer spaces, `float64` for a `Box` (which holds every float32).

    Kernels are compiled for these types only.

    Attributes:
        shape: Shape of one action.
        dtype: int64 or float64.
        bounds: `dtype[2, k]`: lowest and highest value of each of the k numbers of an action.
        accepted: The same of what a step accepts.

    Raises:
        TypeError: The space is not a Discrete, MultiDiscrete, MultiBinary or floating Box.
    """

    def __init__(self, space: Space[Any]) -> None:
        self.space = space
        low, high = bounds_of(space)
        self.shape = low.shape
        self.dtype = np.dtype(np.float64 if isinstance(space, Box) else np.int64)
        self.bounds = self.accepted = np.array([low.ravel(), high.ravel()], self.dtype)
        self._kinds = "iuf" if isinstance(space, Box) else "iu"

    def pack(self, actions: Any, num_envs: int) -> np.ndarray:
        """Return the actions of N lanes as the kernels take them; the kernels check their ranges.

        Raises:
            ValueError: The shape is not `(N, *shape)`.
            InvalidAction: The numbers are of another kind (floats or bools for an integer space, say).
        """
        expected = num_envs, *self.shape
        try:
            array = np.asarray(actions)
        except ValueError:
            raise ValueError(f"actions must have shape {expected}, got rows of different lengths") from None
        if array.shape != expected:
            raise ValueError(f"actions must have shape {expected}, got {array.shape}")
        dtype = self._packed_dtype(array.dtype)
        if array.dtype == dtype and array.flags.carray:
            return array
        if array.dtype.kind not in self._kinds:
            raise self._refused(array)
        return np.require(self._within_64_bits(array), dtype, ["C", "A", "W"])

    def pack_one(self, action: Any) -> np.ndarray:
        """Return one action as a fresh batch of one lane.

        Raises:
            InvalidAction: It is not of the space's shape and kind of number; bools and one-element arrays are not
                integers.
        """
        packed = np.empty((1, *self.shape), self.dtype)
        try:
            if self.shape or isinstance(action, bool) or not isinstance(action, (int, np.integer)):
                array = np.asarray(action)
                if array.shape != self.shape or array.dtype.kind not in self._kinds:
                    raise InvalidAction(action, self.space)
                packed[0] = self._within_64_bits(array)
            else:
                packed[0] = int(action)
        except (ValueError, OverflowError):  # rows of different lengths, or an int beyond 64 bits
            raise InvalidAction(action, self.space) from None
        return packed

    def _packed_dtype(self, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """What actions of some type are packed as."""
        return self.dtype

    def _refused(self, actions: Any) -> Exception:
        """The error for what is not numbers of the right kind."""
        return InvalidAction(actions, self.space)

    def _within_64_bits(self, array: np.ndarray) -> np.ndarray:
        """The same numbers, but those that would wrap around as int64: they are out of range all the same."""
        if array.dtype == np.uint64 and self.dtype == np.int64:
            array = np.minimum(array, np.uint64(2**63 - 1))
        return array


class ClippedActions(ActionFormat):
    """Actions of a `Box` that the environment clips itself: any finite ones are accepted.

    What comes as float32 stays float32, as arithmetic in NumPy rounds it differently. Kernels are compiled for both.
    """

    def __init__(self, space: Space[Any]) -> None:
        super().__init__(space)
        largest = np.finfo(np.float64).max
        self.accepted = np.empty_like(self.bounds)
        self.accepted[:] = [[-largest], [largest]]

    def pack_one(self, action: Any) -> np.ndarray:
        """Return one action as a fresh batch of one lane: its first numbers, whatever its shape.

        Raises:
            InvalidAction: There are too few numbers.
            TypeError: They are not numbers.
        """
        try:
            array = np.asarray(action).reshape(-1)
        except ValueError:  # rows of different lengths
            raise self._refused(action) from None
        if array.dtype.kind not in self._kinds:
            raise self._refused(action)
        size = self.bounds.shape[1]
        if array.size < size:
            raise self._of_wrong_size(action)
        return array[:size].astype(self._packed_dtype(array.dtype)).reshape(1, *self.shape)

    def _packed_dtype(self, dtype: np.dtype[Any]) -> np.dtype[Any]:
        return dtype if dtype == np.float32 else self.dtype

    def _refused(self, actions: Any) -> Exception:
        return TypeError(f"actions must be numbers, got {actions!r}")

    def _of_wrong_size(self, action: Any) -> InvalidAction:
        """The error for too few or too many numbers; what is out of the bounds of the space is clipped."""
        reason = f"its size is {np.size(action)}, not {self.bounds.shape[1]}"
        return InvalidAction(action, self.space, reason=reason)


class NumbersOnly(ClippedActions):
    """Actions of a `Box` that the environment clips itself, in float64 always: as many finite numbers as it has."""

    def pack_one(self, action: Any) -> np.ndarray:
        """Return one action as a fresh batch of one lane, whatever its shape.

        Raises:
            InvalidAction: There are more or fewer numbers than the space has.
            TypeError: They are not numbers.
        """
        packed = super().pack_one(action)
        if np.size(action) != packed.size:
            raise self._of_wrong_size(action)
        return packed

    def _packed_dtype(self, dtype: np.dtype[Any]) -> np.dtype[Any]:
        return self.dtype


def bounds_of(space: Space[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest action, arrays of one action's shape."""
    if isinstance(space, Discrete):
        return np.array(space.start), np.array(space.start + space.n - 1)
    if isinstance(space, MultiDiscrete):
        return space.start, space.start + space.nvec - 1
    if isinstance(space, MultiBinary):
        return np.zeros(space.n), np.ones(space.n)
    if isinstance(space, Box) and space.dtype.kind == "f":
        return space.low, space.high
    raise TypeError(
        f"a kernel env needs a Discrete, MultiDiscrete, MultiBinary or floating Box action_space, got {space!r}"
    )
