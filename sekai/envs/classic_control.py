"""What the classic-control environments share."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from sekai._types import ActType, ObsType
from sekai.vector.kernel import KernelVecEnv
from sekai.vector.kernel_env import KernelEnv


class ClassicControlVecEnv(KernelVecEnv[ObsType, ActType]):
    """A batch whose first states are drawn from a range that the options `low` and `high` may change."""

    @classmethod
    def check_options(cls, options: Any) -> dict[str, Any]:
        """Return the options `low` and `high`, each optional; other keys are ignored.

        Raises:
            TypeError: `options` is not a mapping, or a bound is not a real number.
            ValueError: `low` > `high`.
            OverflowError: The range is not finite.
        """
        if not isinstance(options, Mapping):
            raise TypeError(f"options must be a dict or None, got {options!r}")
        given = {name: options[name] for name in cls._options.kinds if name in options}
        for name, value in given.items():
            if not isinstance(value, numbers.Real):
                raise TypeError(f"options[{name!r}] must be a real number, got {value!r}")
        low, high = (given.get(name, cls._options.defaults[name]) for name in ("low", "high"))
        if low > high:
            raise ValueError(f"options['low'] must not be greater than options['high'], got {low!r} and {high!r}")
        if not math.isfinite(float(high) - float(low)):
            raise OverflowError(
                f"the range from options['low'] to options['high'] must be finite, got {low!r} to {high!r}"
            )
        return given


class ClassicControlEnv(KernelEnv[ObsType, ActType]):
    """A single env whose `state` is an array, and that goes on when stepped past the end of an episode."""

    _state_names: ClassVar[tuple[str, ...]]

    @property
    def state(self) -> np.ndarray | None:
        """The state, float64, a copy; None before the first reset. It may be assigned."""
        vec = self._vec
        return np.array([vec._state_row(name)[0] for name in self._state_names]) if vec._started else None

    @state.setter
    def state(self, values: Any) -> None:
        array = np.asarray(values)
        if array.shape != (len(self._state_names),) or array.dtype.kind not in "iuf":
            raise ValueError(
                f"state must be {len(self._state_names)} numbers ({', '.join(self._state_names)}), got {values!r}"
            )
        checked = [self._vec._state.check(name, value) for name, value in zip(self._state_names, array, strict=True)]
        for name, value in zip(self._state_names, checked, strict=True):
            self._vec._state_row(name)[0] = value
        self._vec._started = True

    def _step_past_end(self) -> None:
        pass
