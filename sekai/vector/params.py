"""Parameters of a kernel env, packed for its kernels: one value for all lanes, or one per lane."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from sekai.vector.fields import Fields


class PerLane:
    """Marks the value of a parameter as one value per lane: `PoleVecEnv(3, gravity=PerLane([9.8, 3.7, 1.6]))`.

    Args:
        values: N values, one per lane; copied.
    """

    def __init__(self, values: Any) -> None:
        self.values = np.array(values)

    def __repr__(self) -> str:
        return f"PerLane({self.values.tolist()!r})"


class ParamRows:
    """The rows behind a batch's parameters, and after them those of its reset options.

    Attributes:
        words: `float64[rows]` while every parameter has one value for all lanes, else `float64[rows, N]`. Kernels
            are compiled for one or the other: a scalar is hoisted out of the loop over lanes.
        arrays: What all lanes share, by name: a price history, say.
    """

    def __init__(self, params: Fields, options: Fields, num_envs: int, per_lane: bool = False) -> None:
        self._params = params
        self._options = options
        self._num_envs = num_envs
        self._rows = {name: row for row, name in enumerate([*params.kinds, *options.kinds])}
        self.words = np.zeros((len(self._rows), num_envs) if per_lane else len(self._rows))
        self.arrays: dict[str, np.ndarray] = dict.fromkeys(params.arrays, np.empty(0))
        self._digests: dict[str, str] = {}
        for name, default in options.defaults.items():
            self._view(self.words, name)[...] = default

    def packed(self, words: np.ndarray) -> Any:
        """What the kernels take: the words of parameters and options, with the shared arrays if there are any."""
        return (words, *self.arrays.values()) if self.arrays else words

    def digests(self) -> dict[str, str]:
        """Hashes of the shared arrays by name: lanes can only go on with the same ones."""
        for name, array in self.arrays.items():
            if name not in self._digests:
                block = f"{array.dtype}{array.shape}".encode() + array.tobytes()
                self._digests[name] = hashlib.blake2b(block, digest_size=16).hexdigest()
        return {name: self._digests[name] for name in self.arrays}

    def get(self, name: str) -> Any:
        """The parameter's value: a Python number, an array of N if it differs by lane, or the array all lanes share."""
        if name in self.arrays:
            return self.arrays[name]
        view = self._view(self.words, name)
        if view.ndim == 0 or (view == view[0]).all():
            return self._params.kinds[name](view.flat[0])
        return view.astype(self._params.kinds[name])

    def of_lane(self, name: str, i: int) -> Any:
        """The parameter's value in lane i, a Python number, or the array all lanes share."""
        if name in self.arrays:
            return self.arrays[name]
        view = self._view(self.words, name)
        return self._params.kinds[name](view[i] if view.ndim else view[()])

    def check(self, name: str, value: Any) -> Any:
        """Return the value that a parameter is to have as its rows hold it: a number, an array of N or a shared array.

        Raises:
            TypeError, ValueError: The value is not what the field holds.
        """
        if name in self.arrays:
            return np.require(value, self._params.arrays[name], ["C", "A", "W"])
        if isinstance(value, PerLane):
            return self._params.check_lanes(name, value.values, self._num_envs)
        return self._params.check(name, value)

    def set(self, name: str, value: Any) -> None:
        """Set a parameter to what `check` returned."""
        if name in self.arrays:
            self.arrays[name] = value
            self._digests.pop(name, None)
            return
        if isinstance(value, np.ndarray):
            self.words = self._per_lane(self.words)
        self._view(self.words, name)[...] = value

    def with_options(self, given: list[dict[str, Any]]) -> np.ndarray:
        """The words for one reset: `given` holds checked option values, of all lanes or (N entries) of each lane."""
        if not any(given):
            return self.words
        words = self.words.copy() if len(given) == 1 else self._per_lane(self.words)
        for lane, values in enumerate(given):
            for name, value in values.items():
                self._view(words, name)[lane if len(given) > 1 else ...] = value
        return words

    def _per_lane(self, words: np.ndarray) -> np.ndarray:
        return words.copy() if words.ndim == 2 else np.repeat(words[:, None], self._num_envs, axis=1)

    def _view(self, words: np.ndarray, name: str) -> np.ndarray:
        kind = self._params.kinds.get(name) or self._options.kinds[name]
        row = words[self._rows[name], ...]
        return row if kind is float else row.view(np.int64)
