"""What a renderer remembers of the environments that it has drawn."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")


class PerEnv(Generic[T]):
    """A value per environment, made when it is first asked for, and forgotten together with the environment.

    Environments are told apart by identity, whatever their `==` says; those that cannot be referred to weakly are kept.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._entries: dict[int, tuple[Callable[[], Any], T]] = {}

    def __getitem__(self, env: Any) -> T:
        key = id(env)
        entry = self._entries.get(key)
        if entry is None or entry[0]() is not env:  # an earlier environment may have lived at this address
            entry = self._entries[key] = self._reference(env), self._make()
        return entry[1]

    def _reference(self, env: Any) -> Callable[[], Any]:
        entries, key = self._entries, id(env)

        def forget(reference: Any) -> None:
            if key in entries and entries[key][0] is reference:
                del entries[key]

        try:
            return weakref.ref(env, forget)
        except TypeError:
            return lambda: env

    def forget(self, env: Any) -> None:
        """Forget the value of one environment."""
        self._entries.pop(id(env), None)

    def clear(self) -> None:
        """Forget all values."""
        self._entries.clear()

    def __len__(self) -> int:
        return len(self._entries)


class History:
    """Samples of vectors over the steps of an episode.

    Of more than `limit` samples pairs of the lowest and the highest of four in a row stay, so that a picture of that
    width looks the same, and the history never outgrows it.

    Args:
        limit: Most samples to keep, a multiple of four.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self._count = 0
        self._steps = np.empty(0)
        self._columns: dict[Any, NDArray[np.float64]] = {}
        self.context: dict[Any, NDArray[np.float64]] = {}

    def __len__(self) -> int:
        return self._count

    @property
    def steps(self) -> NDArray[np.float64]:
        """Times of the samples, `(n,)`."""
        return self._steps[: self._count]

    def __getitem__(self, name: Any) -> NDArray[np.float64]:
        """Samples of one vector, `(n, k)`; NaN where it was shorter."""
        return self._columns[name][: self._count]

    def record(self, step: float, values: dict[Any, NDArray[np.float64]]) -> None:
        """Add a sample, or replace the last one if that is of the same step.

        Args:
            step: Not before that of the last sample.
            values: Vectors by name, of the same names each time.
        """
        if not self._count or step != self._steps[self._count - 1]:
            self._make_room()
            self._count += 1
        at = self._count - 1
        self._steps[at] = step
        for name, value in values.items():
            column = self._columns.get(name, np.empty((len(self._steps), 0)))
            if column.shape[1] < len(value):
                column = np.pad(column, ((0, 0), (0, len(value) - column.shape[1])), constant_values=np.nan)
            self._columns[name] = column
            column[at] = np.nan
            column[at, : len(value)] = value

    def _make_room(self) -> None:
        if self._count == self.limit:
            self._thin()
        if self._count == len(self._steps):
            more = min(max(2 * self._count, 64), self.limit) - self._count
            self._steps = np.append(self._steps, np.empty(more))
            self._columns = {name: np.pad(column, ((0, more), (0, 0))) for name, column in self._columns.items()}

    def _thin(self) -> None:
        """Halve the samples."""
        self._count //= 2
        self._steps[: self._count] = self._steps.reshape(-1, 4)[:, [0, 3]].ravel()
        for column in self._columns.values():
            column[: self._count] = extremes(column.reshape(-1, 4, column.shape[1]))

    def keep(self, window: float) -> None:
        """Forget samples from more than `window` before the last one."""
        first = int(np.searchsorted(self.steps, self.steps[-1] - window))
        if first:
            self._steps = self._steps[first : self._count].copy()
            self._columns = {name: column[first : self._count].copy() for name, column in self._columns.items()}
            self._count -= first


def extremes(groups: NDArray[np.float64]) -> NDArray[np.float64]:
    """The lowest and the highest of each group `(m, size, k)`, in the order that they have there: `(2 m, k)`."""
    lowest = np.where(np.isnan(groups), np.inf, groups).argmin(axis=1)
    highest = np.where(np.isnan(groups), -np.inf, groups).argmax(axis=1)
    places = np.stack([np.minimum(lowest, highest), np.maximum(lowest, highest)], axis=1)
    return np.take_along_axis(groups, places, axis=1).reshape(-1, groups.shape[2])
