"""Action masks: which actions an environment allows right now.

The convention: an environment, or any wrapper around it, defines `action_mask()`, which returns a mask as its
`action_space.sample(mask=…)` takes it, or None if everything is allowed. For a batch of environments the mask is one
array for all lanes, as `action_space.sample_batch(num_envs, mask=…)` takes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekai.error import VecEnvWorkerError
from sekai.spaces import Box, Dict, Discrete, MaskedBox, MultiBinary, MultiDiscrete, Space, Tuple, flatdim
from sekai.spaces.dict import part_mask


def supports_action_mask(env: Any) -> bool:
    """Whether the environment, a wrapper around it, or the lanes of a batch define `action_mask`."""
    if _is_batch(env):
        return any(hasattr(layer, "action_mask") for layer in _layers(env)) or _lanes_support_mask(env)
    return bool(env.has_attr("action_mask")) if hasattr(env, "has_attr") else hasattr(env, "action_mask")


def get_action_mask(env: Any) -> Any:
    """Return what the outermost layer with an `action_mask` allows, or None if there is none.

    Args:
        env: An environment, or a batch of them. `action_mask` may be a method or the mask itself. Where only the single
            environments of a batch have one, their masks are stacked.
    """
    if not supports_action_mask(env):
        return None
    if _is_batch(env):
        for layer in _layers(env):
            if hasattr(layer, "action_mask"):
                return _value(layer.action_mask)
        return stack_action_masks(env.action_space, env.call("action_mask"))
    return _value(env.get_attr("action_mask") if hasattr(env, "get_attr") else env.action_mask)


def stack_action_masks(space: Space[Any], masks: Sequence[Any]) -> Any:
    """Return the masks of many lanes as one, as `space.sample_batch(len(masks), mask=…)` takes it.

    A Dict or Tuple gives a dict or tuple of such masks, a MultiDiscrete a bool array `(n, *nvec.shape, max(nvec))`.

    Args:
        space: The action space of one lane.
        masks: One mask per lane; None allows everything. If all are None, so is the result.

    Raises:
        TypeError: The masks of this kind of space do not stack.
        ValueError: A mask has the wrong structure.
    """
    if all(mask is None for mask in masks):
        return None
    if isinstance(space, Dict) and not isinstance(space, MaskedBox):
        return {key: stack_action_masks(part, [part_mask(mask, key) for mask in masks]) for key, part in space.items()}
    if isinstance(space, Tuple):
        columns = zip(*map(space.part_masks, masks), strict=True)
        return tuple(stack_action_masks(part, column) for part, column in zip(space, columns, strict=True))
    return np.stack([_lane_mask(space, mask) for mask in masks])


def action_mask_space(space: Space[Any]) -> MultiBinary:
    """Return the space of flat action masks, for a Discrete, MultiDiscrete or Box.

    Raises:
        TypeError: `space` is another kind of space.
    """
    return MultiBinary(_flat_size(space))


def flatten_action_mask(space: Space[Any], mask: Any, batched: bool = False) -> NDArray[np.bool_]:
    """Return an action mask as a flat bool array: which values, or which entries of a Box, are allowed.

    Args:
        space: The action space (of one lane).
        mask: A mask of it. Flags of a Discrete or MultiDiscrete are 0 or 1, so that sampling and flattening agree.
        batched: Whether the mask is one for many lanes; the result then is `(n, size)`.

    Returns:
        Shape `(size,)`, where size is `n` for a Discrete, `sum(nvec)` for a MultiDiscrete, in C order, and the number
        of entries for a Box.

    Raises:
        TypeError: `space` is another kind of space.
        ValueError: The mask has the wrong structure, or a flag is neither 0 nor 1.
    """
    size = _flat_size(space)
    if isinstance(space, MultiDiscrete):
        return _flatten_multi_discrete(space, mask, batched)
    flags = np.asarray(mask)
    lead = flags.shape[:1] if batched else ()
    if isinstance(space, Box):
        return np.broadcast_to(flags.astype(bool), (*lead, *space.shape)).reshape(*lead, size)
    fits = flags.shape == (*lead, size) if batched else flags.size == size
    if not fits:
        raise ValueError(f"mask of {space!r} must hold {size} flags{' per lane' * batched}, got shape {flags.shape}")
    return _as_flags(flags).reshape(*lead, size)


def _flatten_multi_discrete(space: MultiDiscrete, mask: Any, batched: bool) -> NDArray[np.bool_]:
    masks = [_as_flags(flags) for flags in space.entry_masks(mask, batched)]
    lanes = max((len(flags) for flags in masks if flags.ndim == 2), default=None)
    if batched and lanes is None:
        raise ValueError(f"mask of {space!r} must have one row per lane, got {mask!r}")
    flat = np.zeros((() if lanes is None else (lanes,)) + (flatdim(space),), np.bool_)
    ends = np.cumsum(space.nvec)
    for flags, end in zip(masks, ends, strict=True):
        flat[..., end - flags.shape[-1] : end] = flags
    return flat


def _as_flags(mask: NDArray[Any]) -> NDArray[np.bool_]:
    flags: NDArray[np.bool_] = mask == 1
    if np.any(~flags & (mask != 0)):
        raise ValueError(f"mask must hold nothing but 0 and 1, got {mask!r}")
    return flags


def _flat_size(space: Space[Any]) -> int:
    if isinstance(space, (Box, Discrete, MultiDiscrete)):
        return flatdim(space)
    raise TypeError(f"a flat action mask needs a Discrete, MultiDiscrete or Box action space, got {space!r}")


def _lane_mask(space: Space[Any], mask: Any) -> NDArray[Any]:
    """Return the mask of one lane as an array that stacks with those of the others."""
    if isinstance(space, MultiDiscrete):
        width = space.nvec.max(initial=0)
        allowed = np.full((space.nvec.size, width), mask is None)
        for entry, flags in enumerate([] if mask is None else space.entry_masks(mask)):
            allowed[entry, : len(flags)] = flags == 1
        return allowed.reshape(*space.nvec.shape, width)
    if isinstance(space, Box):
        return np.broadcast_to(np.asarray(True if mask is None else mask).astype(bool), space.shape)
    if isinstance(space, (Discrete, MultiBinary)):
        shape, free = ((space.n,), 1) if isinstance(space, Discrete) else (space.n, -1)
        return np.full(shape, free) if mask is None else np.asarray(mask)
    raise TypeError(f"action masks of {space!r} do not stack")


def _is_batch(env: Any) -> bool:
    return hasattr(env, "num_envs")


def _layers(vec: Any) -> Iterator[Any]:
    """Go through a stack of vector wrappers, from outside in."""
    while vec is not None:
        yield vec
        vec = getattr(vec, "venv", None)


def _lanes_support_mask(vec: Any) -> bool:
    try:
        vec.get_attr("action_mask")
    except (AttributeError, NotImplementedError):
        return False
    except VecEnvWorkerError as error:
        return error.exc_type != "AttributeError"
    return True


def _value(mask: Any) -> Any:
    return mask() if callable(mask) else mask
