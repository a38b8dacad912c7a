"""Rows of nested batches: chosen, written, and put together.

Batches of Dict and Tuple spaces are dicts and tuples of batches. Where elements are no arrays, those of a Sequence say,
a batch is a tuple or list of them. `as_arrays` makes an object array of that, so that there are nothing but arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekai.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Space, Tuple, concatenate
from sekai.utils.leaves import copied

ARRAY_SPACES = (Box, Discrete, MultiDiscrete, MultiBinary)


def as_arrays(space: Space[Any], batch: Any) -> Any:
    """Return a batch of elements of `space`, or a list of them, as nested arrays; what is an array is not copied."""
    if isinstance(space, Dict):
        parts = batch if isinstance(batch, dict) else concatenate(space, batch)
        return {key: as_arrays(part, parts[key]) for key, part in space.items()}
    if isinstance(space, Tuple):
        parts = batch if isinstance(batch, tuple) else concatenate(space, batch)
        return tuple(as_arrays(part, column) for part, column in zip(space, parts, strict=True))
    if isinstance(batch, np.ndarray) or isinstance(space, ARRAY_SPACES):
        return np.asarray(batch)
    array = np.empty(len(batch), object)
    array[:] = [copied(element) for element in batch]
    return array


def as_batch(space: Space[Any], arrays: Any) -> Any:
    """Return what `as_arrays` made as a batch again; elements of object arrays are copied."""
    if isinstance(space, Dict):
        return {key: as_batch(part, arrays[key]) for key, part in space.items()}
    if isinstance(space, Tuple):
        return tuple(as_batch(part, column) for part, column in zip(space, arrays, strict=True))
    return concatenate(space, [copied(element) for element in arrays]) if arrays.dtype == object else arrays


def stack(space: Space[Any], rows: list[Any], batch: Any) -> Any:
    """Return elements of `space` as one batch, with the dtypes of another batch; there may be none of them."""
    if isinstance(space, Dict):
        return {key: stack(part, [row[key] for row in rows], batch[key]) for key, part in space.items()}
    if isinstance(space, Tuple):
        return tuple(stack(part, [row[i] for row in rows], batch[i]) for i, part in enumerate(space))
    if isinstance(batch, np.ndarray):
        return np.array(rows, batch.dtype).reshape(len(rows), *batch.shape[1:])
    return type(batch)(rows)


def map_arrays(function: Callable[..., Any], *batches: Any) -> Any:
    """Return what `function` makes of each array of a nest, together with the ones in its place in further nests."""
    first = batches[0]
    if isinstance(first, dict):
        return {key: map_arrays(function, *(batch[key] for batch in batches)) for key in first}
    if isinstance(first, (tuple, list)):
        return type(first)(map_arrays(function, *parts) for parts in zip(*batches, strict=True))
    return function(*batches)


def take(arrays: Any, lanes: Any) -> Any:
    """Return a copy of some rows of nested arrays: those of lane numbers, or of flags that are set."""
    return map_arrays(lambda array: array[lanes], arrays)


def put(arrays: Any, lanes: Any, rows: Any) -> None:
    """Write some rows of nested arrays."""

    def write(array: NDArray[Any], values: NDArray[Any]) -> None:
        array[lanes] = values

    map_arrays(write, arrays, rows)


def choose(flags: NDArray[np.bool_], arrays: Any, others: Any) -> Any:
    """Return nested arrays with the rows of `arrays` where the flag is set, and of `others` elsewhere."""

    def pick(array: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
        return np.where(flags.reshape(-1, *[1] * (array.ndim - 1)), array, other)

    return map_arrays(pick, arrays, others)


def merge(space: Space[Any], parts: list[tuple[NDArray[np.int64], Any]]) -> tuple[NDArray[np.int64], Any]:
    """Return the lanes of several batches of rows in order, and their rows in that order as one batch.

    Args:
        space: Space of one row.
        parts: Lane numbers, and the batch of their rows; empty ones are dropped.
    """
    some = [(lanes, as_arrays(space, rows)) for lanes, rows in parts if lanes.size]
    if len(some) < 2:
        lanes, rows = next(((lanes, rows) for lanes, rows in parts if lanes.size), parts[0])
        return lanes, rows
    lanes = np.concatenate([lanes for lanes, _ in some])
    order = np.argsort(lanes)
    rows = map_arrays(lambda *arrays: np.concatenate(arrays)[order], *(rows for _, rows in some))
    return lanes[order], as_batch(space, rows)
