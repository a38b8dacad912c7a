"""Infos of a batch, built only when looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from sekai.spaces import Space
from sekai.vector.batches import map_arrays, stack

NO_LANES = np.empty(0, np.int64)


class InfoRows:
    """Which infos a kernel env writes, and where they are in its packed info array.

    Args:
        kinds: Name to float, int or bool, in the order of the first rows.
        lengths: Name to length, of infos that are arrays; they share out the last rows evenly.
        names: All names in the order in which infos list them; by default those of `kinds`.
        decode: Name to what turns the array `(N,)` that is kept into the one that is shown.
    """

    def __init__(
        self,
        kinds: dict[str, type],
        lengths: dict[str, int] | None = None,
        names: Iterable[str] | None = None,
        decode: dict[str, Callable[[np.ndarray], Any]] | None = None,
    ) -> None:
        self.kinds = kinds
        self.lengths = lengths or {}
        self.names = list(kinds if names is None else names)
        self._decode = decode or {}
        self._rows = {name: row for row, name in enumerate(kinds)}

    def arrays(self, words: np.ndarray) -> dict[str, np.ndarray]:
        """Name to array `(…, N)` or `(…, N, length)`, of a packed `float64[rows, …, N]`."""
        return {name: self._array(name, words) for name in self.names}

    def lane(self, words: np.ndarray, i: int) -> dict[str, Any]:
        """The info dict of column i, of Python numbers and of copies of arrays."""
        integers = words.view(np.int64)
        return {
            name: self.kinds[name]((words if self.kinds[name] is float else integers)[self._rows[name], i])
            if name in self._rows and name not in self._decode
            else element(self._array(name, words[:, i : i + 1])[0])
            for name in self.names
        }

    def _array(self, name: str, words: np.ndarray) -> np.ndarray:
        if name in self.lengths:
            room = max(self.lengths.values())
            first = words.shape[0] - room * (len(self.lengths) - list(self.lengths).index(name))
            return np.moveaxis(words[first : first + self.lengths[name]], 0, -1)
        row, kind = words[self._rows[name]], self.kinds[name]
        array = row if kind is float else row.view(np.int64) if kind is int else row.view(np.int64) != 0
        decoded: np.ndarray = self._decode[name](array) if name in self._decode else array
        return decoded


def element(value: Any) -> Any:
    """An element of an info array by itself: a copy of a row, or a Python number (dates stay NumPy's)."""
    if isinstance(value, np.ndarray):
        return value.copy()
    return value.item() if isinstance(value, np.number) else value


class PartialInfos(list[dict[str, Any]]):
    """The infos of a step in which some lanes made no transition: they waited, or were only reset.

    Attributes:
        valid: Bool array `(N,)`: rows that are real transitions.
    """

    def __init__(self, infos: Iterable[dict[str, Any]], valid: np.ndarray) -> None:
        super().__init__(infos)
        self.valid = valid

    def __reduce__(self) -> tuple[Any, ...]:
        return PartialInfos, (list(self), self.valid)


class ListedInfos(PartialInfos):
    """The infos of a step of a batch that has a dict for each lane anyway.

    Args:
        infos: Of the lanes.
        valid: Bool array `(N,)`: rows that are real transitions.
        space: Space of one observation.
        observations: Those of the step; final observations, which are batched when asked for, have their dtypes.
    """

    def __init__(
        self, infos: Iterable[dict[str, Any]], valid: np.ndarray, space: Space[Any], observations: Any
    ) -> None:
        super().__init__(infos, valid)
        self._space = space
        self._like = observations

    @property
    def final_observations(self) -> Any:
        """The last observations of the lanes whose episode ended in this step, as one batch in that order."""
        rows = [info["final_observation"] for info in self if "final_observation" in info]
        return stack(self._space, rows, self._like)

    def __reduce__(self) -> tuple[Any, ...]:
        return ListedInfos, (list(self), self.valid, self._space, stack(self._space, [], self._like))


class LazyInfos(Sequence[dict[str, Any]]):
    """One info dict per lane, built each time it is asked for from the arrays of that very step.

    Attributes:
        num_envs: N.
        final_lanes: int64 array: lanes whose episode ended in this step and that were reset in it, ascending.
        final_observations: Their last observations, rows in that order.
        words: The arrays packed, `float64[rows, N]`, as kernels write them.
    """

    __slots__ = (
        "_reset_rows",
        "_reset_words",
        "_resets",
        "_rows",
        "_valid",
        "final_lanes",
        "final_observations",
        "num_envs",
        "words",
    )

    def __init__(
        self,
        num_envs: int,
        rows: InfoRows,
        words: np.ndarray,
        valid: np.ndarray | None = None,
        resets: np.ndarray | None = None,
        reset_rows: InfoRows | None = None,
    ) -> None:
        self.num_envs = num_envs
        self.final_lanes = NO_LANES
        self.final_observations: Any = NO_LANES
        self.words = words
        self._rows = rows
        self._valid = valid
        self._resets = resets
        self._reset_rows = reset_rows

    def set_ends(self, lanes: np.ndarray, observations: Any, reset_rows: InfoRows, reset_words: np.ndarray) -> None:
        """Add the lanes that ended, their last observations, and the infos of their resets, all in that order."""
        self.final_lanes = lanes
        self.final_observations = observations
        self._reset_rows, self._reset_words = reset_rows, reset_words

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """Name to array `(N,)` of this step; lanes that ended have the values of their last step."""
        return self._rows.arrays(self.words)

    def reset_arrays(self) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """The lanes that were reset in this step, ascending, and the infos of that: name to array, a row for each."""
        rows = self._reset_rows
        if rows is not None and self.final_lanes.size:
            return self.final_lanes, rows.arrays(self._reset_words)
        if rows is not None and self._resets is not None and self._resets.any():
            lanes = np.flatnonzero(self._resets)
            return lanes, {name: column[lanes] for name, column in rows.arrays(self.words).items()}
        return NO_LANES, {}

    @property
    def valid(self) -> np.ndarray:
        """Bool array `(N,)`: rows that are real transitions, not those of lanes that waited or were only reset."""
        return np.ones(self.num_envs, np.bool_) if self._valid is None else self._valid

    def __len__(self) -> int:
        return self.num_envs

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self.num_envs))]
        i = range(self.num_envs)[index]
        if self._valid is not None and not self._valid[i]:
            if self._resets is None or not self._resets[i]:
                return {}
            assert self._reset_rows is not None
            return {**self._reset_rows.lane(self.words, i), "reset": True}
        info = self._rows.lane(self.words, i)
        k = int(np.searchsorted(self.final_lanes, i))
        if k == self.final_lanes.size or self.final_lanes[k] != i:
            return info
        assert self._reset_rows is not None
        return {
            **info,
            "final_observation": map_arrays(lambda rows: rows[k].copy(), self.final_observations),
            "final_info": info,
            "reset_info": self._reset_rows.lane(self._reset_words, k),
        }

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[i] for i in range(self.num_envs))

    def __repr__(self) -> str:
        return f"LazyInfos(num_envs={self.num_envs}, names={self._rows.names})"
