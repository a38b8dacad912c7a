"""Infos of a batch as gymnasium has them: an array per name, and a mask `_name` of the lanes that have it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekai._types import InfoDict
from sekai.vector.info_layers import EpisodeInfos, FinalObservations, InfoLayer
from sekai.vector.infos import LazyInfos
from sekai.vector.result import VecStepResult

AddInfo = Callable[[dict[str, Any], InfoDict, int], dict[str, Any]]  # `_add_info` of gymnasium's vector envs


class ArrayInfos(dict[str, Any]):
    """A dict that is filled when it is first looked at."""

    _fill: Callable[[], dict[str, Any]] | None = None

    @classmethod
    def later(cls, fill: Callable[[], dict[str, Any]]) -> ArrayInfos:
        """Return a dict with what a function returns, which is called when that is needed."""
        infos = cls()
        infos._fill = fill
        return infos

    def _filled(self) -> ArrayInfos:
        if self._fill is not None:
            fill, self._fill = self._fill, None
            dict.update(self, fill())
        return self

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return ArrayInfos, (dict(self),)


def _once_filled(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def call(self: ArrayInfos, *args: Any, **kwargs: Any) -> Any:
        return method(self._filled(), *args, **kwargs)

    return call


UNTOUCHED = {"__new__", "__init__", "__getattribute__", "__class_getitem__", "__hash__", "__doc__", "fromkeys"}
for _name in vars(dict).keys() - UNTOUCHED:
    setattr(ArrayInfos, _name, _once_filled(getattr(dict, _name)))


def step_infos(result: VecStepResult[Any], add_info: AddInfo) -> ArrayInfos:
    """Return the infos of a step; of a lane that ended and was reset in it, those of the reset.

    What it ended with is in `final_obs`, an object array with None for the other lanes, and `final_info`.

    Args:
        result: Of the step.
        add_info: Adds the info of a lane to array infos.
    """

    def fill() -> dict[str, Any]:
        infos = arrays_of(result.infos, add_info)
        lanes = result.final_lanes
        if lanes.size:
            finals = np.empty(len(result.rewards), object)  # None everywhere
            finals[lanes] = _final_rows(result)
            infos["final_obs"], infos["_final_obs"] = finals, _flags(finals.size, lanes)
        return infos

    return ArrayInfos.later(fill)


def reset_infos(infos: Sequence[InfoDict], add_info: AddInfo) -> ArrayInfos:
    """Return the infos of a reset."""
    return ArrayInfos.later(lambda: arrays_of(infos, add_info))


def arrays_of(infos: Sequence[InfoDict], add_info: AddInfo) -> dict[str, Any]:
    """Return the infos of all lanes without final observations; where there are arrays, no dict is made per lane."""
    if isinstance(infos, LazyInfos):
        return _of_arrays(infos)
    if type(infos) in (InfoLayer, FinalObservations):
        return arrays_of(infos.result.infos, add_info)  # type: ignore[attr-defined]
    if isinstance(infos, EpisodeInfos):
        return {**arrays_of(infos.result.infos, add_info), **_of_episodes(infos)}
    return _of_dicts(infos, add_info)


def _of_arrays(infos: LazyInfos) -> dict[str, Any]:
    n, ends = infos.num_envs, infos.final_lanes
    silent = np.flatnonzero(~infos.valid | _flags(n, ends))  # of no step to tell
    lanes, resets = infos.reset_arrays()
    arrays: dict[str, Any] = {}
    final: dict[str, Any] = {}
    for name, column in infos.arrays.items():
        if ends.size:
            final[name], final[f"_{name}"] = _nothing(n, column), _flags(n, ends)
            final[name][ends] = column[ends]
        if silent.size == n and name not in resets:
            continue
        arrays[name], told = column.copy(), np.ones(n, np.bool_)
        arrays[name][silent], told[silent] = _nothing(1, column), False
        if name in resets:
            arrays[name][lanes], told[lanes] = resets[name], True
        arrays[f"_{name}"] = told
    if ends.size:
        arrays["final_info"], arrays["_final_info"] = final, _flags(n, ends)
    return arrays


def _of_episodes(infos: EpisodeInfos) -> dict[str, Any]:
    lanes = infos.episodes.lanes
    episodes = np.empty(len(infos), object)
    episodes[lanes] = list(infos.episodes)
    return {"episode": episodes, "_episode": _flags(len(infos), lanes)}


def _of_dicts(infos: Sequence[InfoDict], add_info: AddInfo) -> dict[str, Any]:
    arrays: dict[str, Any] = {}
    for i, info in enumerate(infos):
        told = {key: value for key, value in info.items() if key not in ("reset", "final_observation")}
        if "final_info" in info:
            reset, final = told.pop("reset_info"), info["final_info"]
            told = {**{key: value for key, value in told.items() if key not in final}, **reset}
        arrays = add_info(arrays, told, i)
    return arrays


def _final_rows(result: VecStepResult[Any]) -> NDArray[np.object_]:
    """The last observations of `final_lanes`, one object each."""
    lanes = result.final_lanes
    if isinstance(result.observations, np.ndarray):
        return np.fromiter(result.final_observations, object, lanes.size)
    return np.fromiter((result.infos[lane]["final_observation"] for lane in lanes), object, lanes.size)


def _nothing(n: int, column: NDArray[Any]) -> NDArray[Any]:
    """What gymnasium has for n lanes without an info."""
    make = np.empty if column.dtype == object else np.zeros  # an empty array of objects holds None
    return make((n, *column.shape[1:]), column.dtype)


def _flags(n: int, lanes: NDArray[np.int64]) -> NDArray[np.bool_]:
    flags = np.zeros(n, np.bool_)
    flags[lanes] = True
    return flags
