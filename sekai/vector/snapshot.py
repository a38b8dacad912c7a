"""Snapshots of lanes: state, counters and random streams in mid-episode."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

VERSION = 3


@dataclass(frozen=True, eq=False)
class Snapshot:
    """What `get_state` of a kernel env returns: everything that decides how some lanes go on. It can be pickled.

    Attributes:
        version: Of the layout.
        env: Class of the batch it was taken from.
        rows: Names of the rows of `words`.
        words: `float64[rows, n]`, a column per lane.
        arrays: What a lane has more than one value of, arrays `(n, …)`.
        param_names: Names of the parameters.
        params: The parameters of the lanes, `float64[P]` or `float64[P, n]`.
        shared: Name to hash of what the batch's lanes share.
    """

    version: int
    env: str
    rows: tuple[str, ...]
    words: np.ndarray
    arrays: tuple[np.ndarray, ...]
    param_names: tuple[str, ...]
    params: np.ndarray
    shared: dict[str, str]

    @property
    def num_lanes(self) -> int:
        """How many lanes it holds."""
        return int(self.words.shape[1])

    def of_lane(self, k: int) -> Snapshot:
        """The snapshot of its k-th lane alone."""
        params = self.params if self.params.ndim == 1 else self.params[:, k : k + 1]
        arrays = tuple(array[k : k + 1].copy() for array in self.arrays)
        return replace(self, words=self.words[:, k : k + 1].copy(), arrays=arrays, params=params.copy())

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """Shapes of a lane's arrays."""
        return [array.shape[1:] for array in self.arrays]

    def check_fits(self, other: Snapshot) -> None:
        """Check that these lanes may take the place of others; the words of those are not looked at.

        Raises:
            ValueError: They are of another version, class, number or have other parameters; says which.
        """
        for name in ("version", "env", "rows", "num_lanes"):
            self._check_same(name, getattr(self, name), getattr(other, name))
        for name in (name for name, digest in other.shared.items() if self.shared.get(name) != digest):
            raise ValueError(f"the snapshot does not fit: {name!r}, which all its lanes share, is not the batch's")
        self._check_same("shapes", self.shapes, other.shapes)
        if self.params.tobytes() == other.params.tobytes():
            return
        mine, theirs = (np.broadcast_to(s.params.T, (s.num_lanes, len(s.params))) for s in (self, other))
        differ = mine.view(np.int64) != theirs.view(np.int64)  # bits: a row of ints may look like NaN
        if differ.any():
            lane, row = np.argwhere(differ)[0]
            raise ValueError(
                f"the snapshot does not fit: parameter {self.param_names[row]!r} of its lane {lane} is not the batch's"
            )

    @staticmethod
    def _check_same(name: str, mine: Any, theirs: Any) -> None:
        if mine != theirs:
            raise ValueError(f"the snapshot does not fit: its {name} is {mine!r}, the batch's {theirs!r}")


def lane_indices(lanes: Any, num_envs: int) -> Any:
    """Indices of some lanes for indexing columns, a slice for all.

    Raises:
        TypeError: `lanes` is not a sequence of ints or a bool mask.
        IndexError: A lane is not in 0 … N - 1.
        ValueError: A lane is named twice, or a mask has another length.
    """
    if lanes is None:
        return slice(0, num_envs)
    array = np.asarray(lanes)
    if array.dtype == np.bool_:
        if array.shape != (num_envs,):
            raise ValueError(f"lanes as a mask must have shape ({num_envs},), got {array.shape}")
        return np.flatnonzero(array)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise TypeError(f"lanes must be a sequence of ints or a mask, got {lanes!r}")
    outside = array[(array < 0) | (array >= num_envs)]
    if outside.size:
        raise IndexError(f"lanes must lie in 0 … {num_envs - 1}, got {outside[0]}")
    if np.unique(array).size < array.size:
        raise ValueError(f"lanes must name each lane once, got {lanes!r}")
    return array.astype(np.intp)
