"""Infos of wrapped batches: those of the batch inside, with what a wrapper changes; each built when it is looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekai._types import InfoDict
from sekai.spaces import Space
from sekai.stats.tracker import EpisodeBatch
from sekai.vector.batches import stack
from sekai.vector.native import take_index
from sekai.vector.result import VecStepResult

Lanes = NDArray[np.int64]


class InfoLayer(Sequence[InfoDict]):
    """The infos of a step, unchanged; a subclass changes some.

    Args:
        result: What the batch inside returned.

    Attributes:
        result: As given.
    """

    def __init__(self, result: VecStepResult[Any]) -> None:
        self.result = result

    def lane(self, i: int) -> InfoDict:
        """Build the info of lane i."""
        return self.result.infos[i]

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Name to array `(N, …)` of this step; only if the infos inside have it."""
        return self.result.infos.arrays  # type: ignore[attr-defined, no-any-return]

    @property
    def valid(self) -> NDArray[np.bool_]:
        """Bool array `(N,)`: rows that are transitions."""
        return self.result.valid

    @property
    def final_lanes(self) -> Lanes:
        """The lanes whose episode ended in this step and that were reset in it, ascending."""
        return self.result.final_lanes

    @property
    def final_observations(self) -> Any:
        """Their last observations, a batch in that order."""
        return self.result.final_observations

    def __len__(self) -> int:
        return len(self.result.infos)

    def __getitem__(self, index: Any) -> Any:
        lanes = range(len(self))
        return [self.lane(i) for i in lanes[index]] if isinstance(index, slice) else self.lane(lanes[index])

    def __iter__(self) -> Iterator[InfoDict]:
        return (self.lane(i) for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and not isinstance(other, str) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}(num_envs={len(self)})"


class FinalObservations(InfoLayer):
    """Infos with other final observations.

    Args:
        result: What the batch inside returned.
        space: Space of one observation.
        observations: The final observations, a batch in the order of `result.final_lanes`.
    """

    def __init__(self, result: VecStepResult[Any], space: Space[Any], observations: Any) -> None:
        super().__init__(result)
        self._lanes = result.final_lanes
        self._space = space
        self._observations = observations

    @property
    def final_observations(self) -> Any:
        """The last observations of `final_lanes`, a batch in that order."""
        return self._observations

    def lane(self, i: int) -> InfoDict:
        """Build the info of lane i."""
        info = super().lane(i)
        k = place(self._lanes, i)
        return info if k is None else {**info, "final_observation": take_index(self._space, self._observations, k)}


class NoFinalObservations(InfoLayer):
    """Infos of a step in which no episode ended, where final observations would be of another kind than inside.

    Args:
        result: What the batch inside returned.
        space: Space of one observation.
        observations: Those of the step, whose dtypes an empty batch has.
    """

    def __init__(self, result: VecStepResult[Any], space: Space[Any], observations: Any) -> None:
        super().__init__(result)
        self._space = space
        self._like = observations

    @property
    def final_observations(self) -> Any:
        """A batch of none."""
        return stack(self._space, [], self._like)


class EpisodeInfos(InfoLayer):
    """Infos with an `episode` where one ended.

    Args:
        result: What the batch inside returned.
        episodes: The episodes that ended.
    """

    def __init__(self, result: VecStepResult[Any], episodes: EpisodeBatch) -> None:
        super().__init__(result)
        self.episodes = episodes

    def lane(self, i: int) -> InfoDict:
        """Build the info of lane i."""
        info = super().lane(i)
        k = place(self.episodes.lanes, i)
        return info if k is None else {**info, "episode": self.episodes[k]}


def with_count(info: InfoDict, name: str, count: int) -> InfoDict:
    """Return an info with one more entry, in its `final_info` too if it has one."""
    counted = {**info, name: count}
    if "final_info" in info:
        counted["final_info"] = {**info["final_info"], name: count}
    return counted


def place(lanes: Lanes, i: int) -> int | None:
    """Return where lane i is in an ascending array of lanes, or None."""
    k = int(np.searchsorted(lanes, i))
    return k if k < lanes.size and lanes[k] == i else None
