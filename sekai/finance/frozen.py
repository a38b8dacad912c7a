"""Objects that never change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from typing_extensions import Self


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return the same array, which can no longer be written to."""
    array.flags.writeable = False
    return array


class Frozen:
    """An object whose attributes and arrays are set once, by `vars(self).update(…)` in `__init__`.

    It is shared instead of copied.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a {type(self).__name__} does not change; make another one to have another {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a {type(self).__name__} does not change; {name} cannot be deleted")

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __setstate__(self, state: dict[str, Any]) -> None:
        for value in state.values():  # pickles do not hold which arrays are read-only
            for array in value.values() if isinstance(value, dict) else [value]:
                if isinstance(array, np.ndarray):
                    read_only(array)
        vars(self).update(state)
