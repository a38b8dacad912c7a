"""Infos of gymnasium's batches, arrays with masks, as one dict per lane."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekai._types import InfoDict
from sekai.spaces import Space, concatenate, zero_sample
from sekai.utils.leaves import copied
from sekai.vector.batches import as_arrays, as_batch, take


class LaneInfos(Sequence[InfoDict]):
    """One info dict per lane, built each time it is asked for.

    Args:
        infos: What gymnasium's batch returned: name to array, dict of arrays, or a value of all lanes, and `_name` to
            the lanes that have it.
        valid: Bool `(N,)`: lanes that made a transition.
        resets: Bool `(N,)`: those of the others that were reset.
        space: Space of one lane's observation.
    """

    def __init__(
        self, infos: dict[str, Any], valid: NDArray[np.bool_], resets: NDArray[np.bool_], space: Space[Any]
    ) -> None:
        self._infos = _owned(infos)
        self.valid = valid
        self._resets = resets
        self._space = space

    @property
    def final_lanes(self) -> NDArray[np.int64]:
        """The lanes whose episode ended in this step and that were reset in it, ascending."""
        return np.flatnonzero(self._infos.get("_final_obs", False))

    @property
    def final_observations(self) -> Any:
        """Their last observations, a batch in that order."""
        rows = [self._infos["final_obs"][lane] for lane in self.final_lanes]
        arrays = as_arrays(self._space, concatenate(self._space, rows or [zero_sample(self._space)]))
        return as_batch(self._space, take(arrays, slice(len(rows))))

    def __len__(self) -> int:
        return len(self.valid)

    def __getitem__(self, index: Any) -> Any:
        lanes = range(len(self))
        return [self._lane(i) for i in lanes[index]] if isinstance(index, slice) else self._lane(lanes[index])

    def __iter__(self) -> Iterator[InfoDict]:
        return (self._lane(i) for i in range(len(self)))

    def _lane(self, i: int) -> InfoDict:
        info = _lane_of(self._infos, i)
        if "final_obs" in info:
            observation, final = info.pop("final_obs"), info.pop("final_info", {})
            return {**info, **final, "final_observation": observation, "final_info": final, "reset_info": info}
        if self._resets[i]:
            return {**info, "reset": True}
        return info if self.valid[i] else {}

    def __repr__(self) -> str:
        return f"LaneInfos(num_envs={len(self)})"


def _owned(infos: dict[str, Any]) -> dict[str, Any]:
    """A copy that no later step of the batch writes to."""
    return {key: _owned(value) if isinstance(value, dict) else copied(value) for key, value in infos.items()}


def _lane_of(infos: dict[str, Any], i: int) -> InfoDict:
    return {
        key: _lane_of(value, i) if isinstance(value, dict) else _element(value, i)
        for key, value in infos.items()
        if not _is_mask(key, infos) and (f"_{key}" not in infos or infos[f"_{key}"][i])
    }


def _is_mask(key: Any, infos: dict[str, Any]) -> bool:
    return isinstance(key, str) and key.startswith("_") and key[1:] in infos


def _element(value: Any, i: int) -> Any:
    """Lane i's part of an array: a Python number, or a copy of what it is."""
    element = value[i] if isinstance(value, np.ndarray) and value.ndim else value
    return element.item() if isinstance(element, (np.number, np.bool_)) else copied(element)
