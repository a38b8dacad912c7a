"""Observations of a batch in memory that several processes see."""

from __future__ import annotations

import os
import secrets
from multiprocessing.shared_memory import SharedMemory
from typing import Any

import numpy as np

from sekai.error import SpaceMismatch
from sekai.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Space, Tuple


class SharedObservations:
    """One observation per lane, which the process of the lane writes and the process of the batch reads.

    Args:
        space: Space of one observation, of fixed size.
        num_envs: N.
        name: Memory that another process has made; None makes it.

    Attributes:
        name: What another process finds the memory by, until `unlink`.
    """

    def __init__(self, space: Space[Any], num_envs: int, name: str | None = None) -> None:
        dtype = _dtype(space)
        size = max(1, num_envs * dtype.itemsize)
        # The name tells whose the memory is; macOS allows 30 characters.
        made = f"sekai-{os.getpid()}-{secrets.token_hex(4)}"
        self._memory = SharedMemory(name or made, create=name is None, size=size)
        self.name = self._memory.name
        self._space = space
        self._views = _views(space, np.ndarray(num_envs, dtype, self._memory.buf))

    def write(self, lane: int, observation: Any) -> None:
        """Write the observation of a lane, cast to the dtypes of its space.

        Raises:
            SpaceMismatch: It is built otherwise than the elements of its space.
        """
        _write(self._space, self._views, lane, observation)

    def read(self, first: int, last: int) -> Any:
        """Return a copy of the observations of lanes first to last - 1, batched."""
        return _copy(self._views, slice(first, last))

    def unlink(self) -> None:
        """Take the name away, so that nothing is left behind when the last process that uses the memory ends."""
        self._memory.unlink()

    def close(self) -> None:
        """Let go of the memory."""
        self._views = None
        self._memory.close()


def has_fixed_size(space: Space[Any]) -> bool:
    """Whether all elements of a space take up the same memory."""
    if isinstance(space, (Dict, Tuple)):
        return all(map(has_fixed_size, space.parts))
    return isinstance(space, (Box, Discrete, MultiBinary, MultiDiscrete))


def _dtype(space: Space[Any]) -> np.dtype[Any]:
    """The dtype whose scalars hold an element; the parts of a Dict or Tuple are fields, named by their place."""
    if isinstance(space, (Dict, Tuple)):
        return np.dtype([(str(i), _dtype(part)) for i, part in enumerate(space.parts)], align=True)
    return np.dtype((space.dtype, space.shape))


def _views(space: Space[Any], array: np.ndarray) -> Any:
    """Views of an array of the space's dtype, structured like a batch of elements."""
    if isinstance(space, Dict):
        return {key: _views(part, array[str(i)]) for i, (key, part) in enumerate(space.items())}
    if isinstance(space, Tuple):
        return tuple(_views(part, array[str(i)]) for i, part in enumerate(space))
    return array


def _write(space: Space[Any], views: Any, lane: int, element: Any) -> None:
    if isinstance(space, Dict):
        if not hasattr(element, "keys") or element.keys() != views.keys():
            raise SpaceMismatch(f"an observation does not have the keys of {space!r}: {element!r}")
        for key, part in space.items():
            _write(part, views[key], lane, element[key])
    elif isinstance(space, Tuple):
        if len(element) != len(views):
            raise SpaceMismatch(f"an observation does not have the length of {space!r}: {element!r}")
        for part, view, value in zip(space, views, element, strict=True):
            _write(part, view, lane, value)
    elif np.shape(element) != views.shape[1:]:
        raise SpaceMismatch(f"an observation has shape {np.shape(element)}, but its space is {space!r}")
    else:
        views[lane] = element


def _copy(views: Any, lanes: slice) -> Any:
    if isinstance(views, dict):
        return {key: _copy(view, lanes) for key, view in views.items()}
    if isinstance(views, tuple):
        return tuple(_copy(view, lanes) for view in views)
    return views[lanes].copy()
