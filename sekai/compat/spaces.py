"""Spaces of sekai as those of gymnasium, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from sekai._extras import import_extra
from sekai.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Sequence, Space, Tuple


def space_to_gymnasium(space: Any) -> Any:
    """Convert a sekai space to the equivalent gymnasium space, unseeded.

    Keys keep their order. gymnasium has no counterpart of two things: a `MaskedBox` becomes a Dict of `values` and
    `mask`, and the `max_length` of a `Sequence` is left out.

    Raises:
        TypeError: `space`, or a space in it, is none of sekai's eight.
        ValueError: gymnasium does not take it: it has no `MultiBinary` without bits.
        ImportError: gymnasium is missing.
    """
    spaces = import_extra("gymnasium", "gymnasium").spaces
    if isinstance(space, Box):
        return spaces.Box(space.low.copy(), space.high.copy(), space.shape, space.dtype.type)
    if isinstance(space, Discrete):
        return spaces.Discrete(space.n, start=space.start)
    if isinstance(space, MultiDiscrete):
        return spaces.MultiDiscrete(space.nvec.copy(), dtype=space.dtype.type, start=space.start.copy())
    if isinstance(space, MultiBinary):
        return spaces.MultiBinary(space.n[0] if len(space.n) == 1 else space.n)
    if isinstance(space, Dict):  # of pairs: gymnasium would sort the keys of a dict
        return spaces.Dict([(key, space_to_gymnasium(part)) for key, part in space.items()])
    if isinstance(space, Tuple):
        return spaces.Tuple([space_to_gymnasium(part) for part in space])
    if isinstance(space, Sequence):
        return spaces.Sequence(space_to_gymnasium(space.feature_space), stack=space.stack)
    raise TypeError(f"space_to_gymnasium takes a sekai space, got {space!r} of type {_class_name(space)}")


def space_from_gymnasium(space: Any) -> Space[Any]:
    """Convert a gymnasium space to the equivalent sekai space, unseeded.

    Keys keep their order. The dtype of a `Discrete` is left out: sekai's is always int64.

    Raises:
        TypeError: `space`, or a space in it, is no gymnasium space or one without a counterpart (`Text`, `Graph`,
            `OneOf`).
        ImportError: gymnasium is missing.
    """
    spaces = import_extra("gymnasium", "gymnasium").spaces
    if isinstance(space, spaces.Box):
        return Box(space.low.copy(), space.high.copy(), space.shape, space.dtype)
    if isinstance(space, spaces.Discrete):
        return Discrete(int(space.n), start=int(space.start))
    if isinstance(space, spaces.MultiDiscrete):
        return MultiDiscrete(space.nvec.copy(), start=space.start.copy(), dtype=space.dtype)
    if isinstance(space, spaces.MultiBinary):
        return MultiBinary(space.n)
    if isinstance(space, spaces.Dict):
        return Dict({key: space_from_gymnasium(part) for key, part in space.items()})
    if isinstance(space, spaces.Tuple):
        return Tuple([space_from_gymnasium(part) for part in space])
    if isinstance(space, spaces.Sequence):
        return Sequence(space_from_gymnasium(space.feature_space), stack=space.stack)
    raise TypeError(
        f"space_from_gymnasium has no counterpart for {space!r} of type {_class_name(space)}; it converts Box, "
        "Discrete, MultiDiscrete, MultiBinary, Dict, Tuple and Sequence spaces of gymnasium"
    )


def as_declared(space: Space[Any], x: Any) -> Any:
    """Return an observation with the dtypes that its space declares; one that has them is returned itself.

    Only arrays of a Box are cast, and only where no kind of number is lost (float64 to float32, not float to int). What
    does not fit the space is left for checkers to find.
    """
    if isinstance(space, Dict):
        if isinstance(x, dict) and x.keys() <= space.keys():
            return {key: as_declared(space[key], part) for key, part in x.items()}
    elif isinstance(space, Tuple):
        if isinstance(x, tuple) and len(x) == len(space.spaces):
            return tuple(as_declared(part, value) for part, value in zip(space, x, strict=True))
    elif isinstance(space, Box) and isinstance(x, np.ndarray) and x.dtype != space.dtype:
        return x.astype(space.dtype) if np.can_cast(x.dtype, space.dtype, "same_kind") else x
    return x


def _class_name(space: Any) -> str:
    return f"{type(space).__module__}.{type(space).__qualname__}"
