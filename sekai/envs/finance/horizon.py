"""What the environments with a fixed number of steps share."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from sekai._types import ActType, ObsType
from sekai.finance.arguments import check_range, lane_of
from sekai.vector.actions import NumbersOnly
from sekai.vector.kernel import KernelVecEnv, param_property
from sekai.vector.kernel_env import KernelEnv, LaneParam
from sekai.vector.params import PerLane


class HorizonVecEnv(KernelVecEnv[ObsType, ActType]):
    """A batch whose episodes have `n_steps` steps and last for `total_time`, and whose actions are clipped.

    Args:
        num_envs: N, at least 1.
        **arguments: Of `KernelVecEnv`, parameters included; the time of a step, if it is None, is made of `total_time`
            and `n_steps`.
    """

    clips_actions = True
    time_of_step: ClassVar[str]  # which parameter that is
    symbols: ClassVar[dict[str, str]] = {}  # attributes by another name: what papers call a parameter
    ranges: ClassVar[dict[str, dict[str, float]]] = {}  # of parameters, as `check_range` takes them

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for symbol, name in cls.symbols.items():
            setattr(cls, symbol, param_property(name))

    def __init__(self, num_envs: int, **arguments: Any) -> None:
        derived = arguments[self.time_of_step] is None
        if derived:
            arguments[self.time_of_step] = 1.0
        super().__init__(num_envs, **arguments)
        if derived:
            time = self._param_rows.get("total_time") / self._param_rows.get("n_steps")
            self._set_param(self.time_of_step, PerLane(time) if isinstance(time, np.ndarray) else time)
        self._use_actions(self.action_space)

    def _use_actions(self, space: Any) -> None:
        self.action_space = space
        self._actions = NumbersOnly(space)

    @classmethod
    def check_param(cls, name: str, value: Any) -> None:
        """Check the range of a parameter."""
        check_range(name, value, place=lane_of, **cls.ranges.get(name, {}))

    def _set_param(self, name: str, value: Any) -> None:
        given = np.asarray(value.values if isinstance(value, PerLane) else value)
        if self._params.kinds[name] is int and given.dtype.kind == "f":
            raise ValueError(f"{name} must be an int, got {value!r}")
        super()._set_param(name, value)

    def get_attr(self, name: str) -> list[Any]:  # noqa: D102 -- the base class's
        return super().get_attr(self.symbols.get(name, name))

    def set_attr(self, name: str, values: Any) -> None:  # noqa: D102 -- the base class's
        super().set_attr(self.symbols.get(name, name), values)

    @property
    def elapsed_steps(self) -> np.ndarray:
        """Steps of the current episodes, int64 `(N,)`."""
        return self._row("t")

    def _row(self, name: str) -> np.ndarray:
        """A copy of a row of the state, in the type of its field."""
        return self._state_row(name).astype(self._state.kinds[name])

    @property
    def _alike(self) -> bool:
        """Whether no parameter was ever given per lane."""
        return self._param_rows.words.ndim == 1

    def _read(self, name: str, size: int, given: np.ndarray | None = None, lanes: int | None = None) -> np.ndarray:
        """What a kernel of the class says about the first lanes (all, by default).

        Args:
            name: Of the kernel, a `read_lane` of `sekai.kernels.reading`.
            size: How many numbers it writes.
            given: What it asks for, `(lanes, J)`.
            lanes: How many lanes.

        Returns:
            float64 `(lanes, size)`.
        """
        lanes = self.num_envs if lanes is None else lanes
        out = np.empty((lanes, size))
        given = np.zeros((lanes, 0)) if given is None else np.require(given, np.float64, ["C", "A", "W"])
        params = self._param_rows.packed(self._param_rows.words)
        self._reader(name)(self._packed_memory, params, given, out)
        return out

    def _reader(self, name: str) -> Any:
        key = name, self.debug, self.math
        if key not in self._rollouts:
            from sekai.kernels.jit import bind, entry
            from sekai.kernels.reading import read_lanes
            from sekai.vector.programs import own_functions, plain

            owner = f"{type(self).__module__}.{type(self).__qualname__}"
            read_lane = own_functions(type(self), self.math, [name])[name]
            program = bind(read_lanes, owner, entry, **{**self._program.parts, "read_lane": read_lane})
            self._rollouts[key] = plain(program) if self.debug else program
        return self._rollouts[key]


class HorizonEnv(KernelEnv[ObsType, ActType]):
    """One such environment."""

    batch: ClassVar[type[HorizonVecEnv[Any, Any]]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "batch" in cls.__dict__:
            for symbol, name in cls.batch.symbols.items():
                setattr(cls, symbol, LaneParam(name))


def state_property(name: str, doc: str) -> property:
    """A row of the state as a read-only attribute of a batch."""
    return property(lambda self: self._row(name), doc=doc)
