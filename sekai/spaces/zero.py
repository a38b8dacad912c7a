"""The neutral element of a space."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekai.spaces.box import Box
from sekai.spaces.dict import Dict
from sekai.spaces.discrete import Discrete
from sekai.spaces.multi_binary import MultiBinary
from sekai.spaces.multi_discrete import MultiDiscrete
from sekai.spaces.space import Space
from sekai.spaces.tuple import Tuple


@singledispatch
def zero_sample(space: Space[Any]) -> Any:
    """Return the element nearest to zero: the smallest value of a Discrete, the empty sequence, no occupied slot.

    A `functools.singledispatch` function: `zero_sample.register(MySpace)` teaches it a space of your own.

    Raises:
        TypeError: Nothing is registered for this kind of space.
    """
    raise TypeError(f"zero_sample does not know {type(space).__name__}; register it")


@zero_sample.register
def _(space: Box) -> NDArray[Any]:
    return space.zero()


@zero_sample.register
def _(space: Discrete) -> np.intp:
    value: np.intp = np.intp(space.start)
    return value


@zero_sample.register
def _(space: MultiDiscrete) -> NDArray[Any]:
    return space.start.astype(space.dtype)


@zero_sample.register
def _(space: MultiBinary) -> NDArray[np.int8]:
    return np.zeros(space.n, np.int8)


@zero_sample.register
def _(space: Dict) -> dict[Any, Any]:
    return {key: zero_sample(part) for key, part in space.items()}


@zero_sample.register
def _(space: Tuple) -> tuple[Any, ...]:
    return tuple(zero_sample(part) for part in space)
