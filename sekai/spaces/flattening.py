"""Elements as flat float32 vectors, and back.

`flatdim`, `flatten`, `unflatten` and `flatten_space` are `functools.singledispatch` functions on the space, so
`flatten.register(MySpace)` teaches them a space of your own, inside a Dict or Tuple too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import singledispatch
from math import prod
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from sekai.spaces.box import Box
from sekai.spaces.dict import Dict
from sekai.spaces.discrete import Discrete
from sekai.spaces.multi_binary import MultiBinary
from sekai.spaces.multi_discrete import MultiDiscrete
from sekai.spaces.space import Space
from sekai.spaces.tuple import Tuple

Vector = NDArray[np.float32]


@singledispatch
def flatdim(space: Space[Any]) -> int:
    """Return the length of a flattened element.

    Raises:
        NotImplementedError: Elements do not flatten (a Sequence), or nothing is registered for this kind of space.
    """
    _refuse("flatdim", space)


@singledispatch
def flatten(space: Space[Any], x: Any) -> Vector:
    """Return an element as a fresh float32 vector; finite values beyond float32 become its largest.

    What float32 cannot carry is lost: digits after the seventh or so, and integers beyond 2**24 in the last places.

    Raises:
        NotImplementedError: As for `flatdim`.
        ValueError: `x` does not have the structure of an element, or lies outside a Discrete or MultiDiscrete.
    """
    _refuse("flatten", space)


@singledispatch
def unflatten(space: Space[Any], x: Any) -> Any:
    """Return the element nearest to a flat vector, so that noise and rounding still give an element.

    Values are clipped into their bounds (and rounded, for integers), NaN becomes the value nearest to zero, and the
    largest of each group of scores decides for Discrete and MultiDiscrete.

    Raises:
        NotImplementedError: As for `flatdim`.
        ValueError: `x` has another length than `flatdim(space)`.
    """
    _refuse("unflatten", space)


@singledispatch
def flatten_space(space: Space[Any]) -> Box:
    """Return the float32 Box that holds all flattened elements.

    Raises:
        NotImplementedError: As for `flatdim`.
    """
    _refuse("flatten_space", space)


def _refuse(function: str, space: Space[Any]) -> NoReturn:
    reason = "its elements vary in length" if not space.is_flattenable else "register it"
    raise NotImplementedError(f"{function} does not know {type(space).__name__}; {reason}")


@flatdim.register
def _(space: Box) -> int:
    return prod(space.shape)


@flatdim.register
def _(space: Discrete) -> int:
    return space.n


@flatdim.register
def _(space: MultiDiscrete) -> int:
    return int(space.nvec.sum())


@flatdim.register
def _(space: MultiBinary) -> int:
    return prod(space.n)


@flatdim.register(Dict)
@flatdim.register(Tuple)
def _(space: Dict | Tuple) -> int:
    return sum(flatdim(part) for part in space.parts)


@flatten.register(Box)
@flatten.register(MultiBinary)
def _(space: Box | MultiBinary, x: Any) -> Vector:
    vector = _as_float32(np.asarray(x))
    if vector.size != flatdim(space):
        raise ValueError(f"x must have the shape of {space!r}, got shape {np.shape(x)}")
    return vector


@flatten.register
def _(space: Discrete, x: Any) -> Vector:
    _require_element(space, x)
    vector = np.zeros(space.n, np.float32)
    vector[int(x) - space.start] = 1.0
    return vector


@flatten.register
def _(space: MultiDiscrete, x: Any) -> Vector:
    _require_element(space, x)
    vector = np.zeros(flatdim(space), np.float32)
    blocks = np.cumsum(space.nvec) - space.nvec.ravel()
    vector[blocks + (np.asarray(x, np.int64) - space.start).ravel()] = 1.0
    return vector


@flatten.register
def _(space: Dict, x: Any) -> Vector:
    if not isinstance(x, Mapping) or x.keys() != space.keys():
        raise ValueError(f"x must be a mapping with the keys {list(space)}, got {x!r}")
    return _join(flatten(part, x[key]) for key, part in space.items())


@flatten.register
def _(space: Tuple, x: Any) -> Vector:
    if not isinstance(x, (tuple, list)) or len(x) != len(space):
        raise ValueError(f"x must be a tuple of {len(space)} entries, got {x!r}")
    return _join(flatten(part, entry) for part, entry in zip(space, x, strict=True))


@unflatten.register
def _(space: Box, x: Any) -> NDArray[Any]:
    vector = _as_vector(space, x)
    values = vector.reshape(space.shape)
    if space.dtype.kind not in "iub":
        with np.errstate(over="ignore"):
            values = np.where(np.isnan(values), space.zero(), values.astype(space.dtype))
        return np.asarray(np.minimum(np.maximum(values, space.low), space.high))
    if values.dtype.kind in "iub":
        low, high = space.low.astype(object), space.high.astype(object)
        return np.asarray(np.minimum(np.maximum(values.astype(object), low), high), space.dtype)
    return _round_into(space, values.astype(np.float64))


@unflatten.register
def _(space: Discrete, x: Any) -> np.intp:
    value: np.intp = np.intp(int(np.argmax(_as_vector(space, x))) + space.start)
    return value


@unflatten.register
def _(space: MultiDiscrete, x: Any) -> NDArray[Any]:
    scores = np.split(_as_vector(space, x), np.cumsum(space.nvec)[:-1]) if space.nvec.size else []
    choices = np.array([np.argmax(block) for block in scores], np.int64).reshape(space.nvec.shape)
    return np.asarray(choices + space.start).astype(space.dtype)


@unflatten.register
def _(space: MultiBinary, x: Any) -> NDArray[np.int8]:
    return (_as_vector(space, x) > 0.5).astype(np.int8).reshape(space.n)


@unflatten.register
def _(space: Dict, x: Any) -> dict[Any, Any]:
    parts = zip(space.items(), _split(space, x), strict=True)
    return {key: unflatten(part, vector) for (key, part), vector in parts}


@unflatten.register
def _(space: Tuple, x: Any) -> tuple[Any, ...]:
    return tuple(unflatten(part, vector) for part, vector in zip(space, _split(space, x), strict=True))


@flatten_space.register
def _(space: Box) -> Box:
    return Box(_as_float32(space.low), _as_float32(space.high))


@flatten_space.register(Discrete)
@flatten_space.register(MultiDiscrete)
@flatten_space.register(MultiBinary)
def _(space: Space[Any]) -> Box:
    return Box(0.0, 1.0, (flatdim(space),))


@flatten_space.register(Dict)
@flatten_space.register(Tuple)
def _(space: Dict | Tuple) -> Box:
    boxes = [flatten_space(part) for part in space.parts]
    return Box(_join(box.low for box in boxes), _join(box.high for box in boxes))


def _require_element(space: Space[Any], x: Any) -> None:
    if not space.contains(x):
        raise ValueError(f"x must be an element of {space!r}, got {x!r}")


def _as_float32(array: NDArray[Any]) -> Vector:
    """Return a fresh flat copy, with finite values clipped into the range of float32."""
    with np.errstate(over="ignore"):
        vector = array.astype(np.float32).ravel()
    lost = np.isinf(vector) & np.isfinite(array.ravel())
    vector[lost] = np.copysign(np.finfo(np.float32).max, vector[lost])
    return vector


def _as_vector(space: Space[Any], x: Any) -> NDArray[Any]:
    vector = np.asarray(x)
    if vector.shape != (flatdim(space),):
        raise ValueError(f"x must have shape {(flatdim(space),)} to unflatten into {space!r}, got {vector.shape}")
    return vector


def _round_into(space: Box, values: NDArray[np.float64]) -> NDArray[Any]:
    """Round doubles to the nearest integers in the Box, without a cast that overflows."""
    whole = np.rint(values)
    below, above = whole <= space.low.astype(np.float64), whole >= space.high.astype(np.float64)
    inside = ~(below | above | np.isnan(whole))
    x = np.where(inside, whole, 0.0).astype(space.dtype)
    x = np.where(below, space.low, np.where(above, space.high, x))
    return np.where(np.isnan(whole), space.zero(), x)


def _join(vectors: Iterable[Vector]) -> Vector:
    return np.concatenate([np.zeros(0, np.float32), *vectors])


def _split(space: Dict | Tuple, x: Any) -> list[NDArray[Any]]:
    ends = np.cumsum([flatdim(part) for part in space.parts])
    return np.split(_as_vector(space, x), ends[:-1]) if len(ends) else []
