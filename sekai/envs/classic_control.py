"""What the classic-control environments share."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sekai._types import ActType, ObsType
from sekai.vector.kernel import KernelVecEnv
from sekai.vector.kernel_env import KernelEnv

if TYPE_CHECKING:
    from sekai.envs import AcrobotEnv as AcrobotEnv
    from sekai.envs import CartPoleEnv as CartPoleEnv
    from sekai.envs import ContinuousMountainCarEnv as ContinuousMountainCarEnv
    from sekai.envs import MountainCarEnv as MountainCarEnv
    from sekai.envs import PendulumEnv as PendulumEnv
    from sekai.rendering import AcrobotRenderer as AcrobotRenderer
    from sekai.rendering import CartPoleRenderer as CartPoleRenderer
    from sekai.rendering import MountainCarRenderer as MountainCarRenderer
    from sekai.rendering import PendulumRenderer as PendulumRenderer
else:
    from sekai._lazy import lazy_exports

    # Lazily, as their modules import this one.
    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        objects={
            "sekai.envs": "CartPoleEnv MountainCarEnv ContinuousMountainCarEnv PendulumEnv AcrobotEnv",
            "sekai.rendering": "AcrobotRenderer CartPoleRenderer MountainCarRenderer PendulumRenderer",
        },
        modules={
            "acrobot": "sekai.envs.acrobot",
            "cartpole": "sekai.envs.cartpole",
            "continuous_mountain_car": "sekai.envs.continuous_mountain_car",
            "mountain_car": "sekai.envs.mountain_car",
            "pendulum": "sekai.envs.pendulum",
        },
    )


class ClassicControlVecEnv(KernelVecEnv[ObsType, ActType]):
    """A batch whose first states are drawn from a range that options, `low` and `high` mostly, may change."""

    @classmethod
    def check_options(cls, options: Any) -> dict[str, Any]:
        """Return the options that a reset takes, each optional; other keys are ignored.

        Raises:
            TypeError: `options` is not a mapping, or a value is not a real number.
            ValueError: The range is empty.
            OverflowError: The range is not finite.
        """
        if not isinstance(options, Mapping):
            raise TypeError(f"options must be a dict or None, got {options!r}")
        given = {name: options[name] for name in cls._options.kinds if name in options}
        for name, value in given.items():
            if not isinstance(value, numbers.Real):
                raise TypeError(f"options[{name!r}] must be a real number, got {value!r}")
        cls._check_start({**cls._options.defaults, **given})
        return given

    @classmethod
    def _check_start(cls, options: dict[str, Any]) -> None:
        """Check the range of first states that all options together make."""
        low, high = options["low"], options["high"]
        if low > high:
            raise ValueError(f"options['low'] must not be greater than options['high'], got {low!r} and {high!r}")
        if not math.isfinite(float(high) - float(low)):
            raise OverflowError(
                f"the range from options['low'] to options['high'] must be finite, got {low!r} to {high!r}"
            )


class Derived(property):
    """A property that is made of parameters; on the class itself, of their defaults."""

    def __get__(self, env: Any, cls: Any = None) -> Any:
        return super().__get__(cls if env is None else env, cls)


class ClassicControlEnv(KernelEnv[ObsType, ActType]):
    """A single env whose `state` is an array, and that goes on when stepped past the end of an episode."""

    _state_names: ClassVar[tuple[str, ...]]

    @property
    def state(self) -> np.ndarray | None:
        """The state, a copy; None before the first reset. It may be assigned.

        It is float64, but in some envs float32 before (Acrobot) or after (MountainCarContinuous) the first step.
        """
        vec = self._vec
        if not vec._started:
            return None
        narrow = "is_float32" in vec._state.kinds and vec._state_row("is_float32")[0]
        values = [vec._state_row(name)[0] for name in self._state_names]
        return np.array(values, np.float32 if narrow else np.float64)

    @state.setter
    def state(self, values: Any) -> None:
        array = np.asarray(values)
        if array.shape != (len(self._state_names),) or array.dtype.kind not in "iuf":
            raise ValueError(
                f"state must be {len(self._state_names)} numbers ({', '.join(self._state_names)}), got {values!r}"
            )
        given = dict(zip(self._state_names, array, strict=True))
        if "is_float32" in self._vec._state.kinds:
            given["is_float32"] = array.dtype == np.float32
        self._put_state(given)

    def _step_past_end(self) -> None:
        pass
