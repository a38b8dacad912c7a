"""Action masks as sb3-contrib has them: one flat array of bools per environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekai.spaces import Box, Discrete, MultiDiscrete, Space
from sekai.utils.masking import action_mask_space, flatten_action_mask, get_action_mask, stack_action_masks


def flat_action_mask(env: Any) -> NDArray[np.bool_]:
    """Return which actions an environment allows, bool `(size,)`, or `(N, size)` for a batch.

    Raises:
        TypeError: The action space is neither a Discrete nor a MultiDiscrete nor a Box.
        ValueError: The environment's mask has the wrong structure.
    """
    space, mask = env.action_space, get_action_mask(env)
    lanes = getattr(env, "num_envs", None)
    if mask is None:
        lead = () if lanes is None else (lanes,)
        return np.ones((*lead, *action_mask_space(space).n), np.bool_)
    return flatten_action_mask(space, mask, batched=lanes is not None)


def has_flat_masks(space: Space[Any]) -> bool:
    """Whether flat masks of this action space can be told apart into those of its entries."""
    return isinstance(space, (Discrete, MultiDiscrete, Box))


def nested_action_mask(space: Space[Any], flat: Any) -> Any:
    """Return a flat mask as `space.sample(mask=…)` takes it: the inverse of `flatten_action_mask`.

    Args:
        space: A Discrete, MultiDiscrete or Box.
        flat: Bools `(size,)`.

    Raises:
        ValueError: The mask has another size.
    """
    flags, size = np.asarray(flat), action_mask_space(space).n
    if flags.shape != size:
        raise ValueError(f"action_masks() for {space!r} must have shape {size}, got {flags.shape}")
    if isinstance(space, MultiDiscrete):
        return _nest(np.split(flags, np.cumsum(space.nvec))[:-1], space.nvec.shape)
    return flags.reshape(space.shape) if isinstance(space, Box) else flags


def stacked_action_mask(space: Space[Any], flat: Any) -> Any:
    """Return the flat masks of N lanes, bools `(N, size)`, as `space.sample_batch(N, mask=…)` takes them.

    Raises:
        ValueError: The masks have another size.
    """
    return stack_action_masks(space, [nested_action_mask(space, row) for row in flat])


def _nest(masks: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """Arrange masks, in C order, in tuples nested like an array of some shape."""
    if len(shape) < 2:
        return tuple(masks) if shape else masks[0]
    width = len(masks) // shape[0]
    return tuple(_nest(masks[i * width : (i + 1) * width], shape[1:]) for i in range(shape[0]))
