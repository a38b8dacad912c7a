"""Functions applied to each part of nested observations: every leaf of Dict and Tuple spaces."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any, TypeGuard

import numpy as np

from sekai.spaces import Dict, MaskedBox, Space, Tuple


def map_leaves(function: Callable[..., Any], space: Space[Any], *values: Any) -> Any:
    """Return what `function(leaf, *parts)` gives, nested like `space`: in dicts for Dict and tuples for Tuple.

    A MaskedBox is one leaf.

    Args:
        function: Gets a leaf of the space and the part of each of the values that belongs to it.
        space: The space that says where the leaves are.
        *values: Nested likewise; lists will do for tuples.

    Raises:
        KeyError: A value lacks a key of a Dict.
        ValueError: A value has more or fewer parts than a Tuple.
    """
    if is_dict(space):
        return {key: map_leaves(function, part, *(value[key] for value in values)) for key, part in space.items()}
    if isinstance(space, Tuple):
        return tuple(map_leaves(function, *parts) for parts in zip(space, *values, strict=True))
    return function(space, *values)


def map_space(function: Callable[[Space[Any]], Space[Any]], space: Space[Any]) -> Space[Any]:
    """Return `space` with `function` applied to each leaf."""
    if is_dict(space):
        return Dict({key: map_space(function, part) for key, part in space.items()})
    if isinstance(space, Tuple):
        return Tuple([map_space(function, part) for part in space])
    return function(space)


def is_dict(space: Space[Any]) -> TypeGuard[Dict]:
    """Whether a space is a Dict other than a MaskedBox."""
    return isinstance(space, Dict) and not isinstance(space, MaskedBox)


def copied(x: Any) -> Any:
    """Return a deep copy of an observation or an action; quicker than `deepcopy` for arrays."""
    if isinstance(x, np.ndarray):
        return x.copy()
    if type(x) is dict:
        return {key: copied(part) for key, part in x.items()}
    return deepcopy(x)
