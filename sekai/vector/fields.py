"""The fields that an environment written as kernels declares: names, types and defaults."""

from __future__ import annotations

import inspect
import numbers
from typing import Any

import numpy as np

REQUIRED = object()
KINDS = {float: "a number", int: "an int", bool: "a bool"}
ARRAY_KINDS = (np.float64, np.float32, np.int64, np.uint64)


class Fields:
    """The annotated names of a class like `State` or `Params`, in order.

    Attributes:
        names: All of them, in the order of the declaration.
        kinds: Name to type (float, int or bool), of those that are one value a lane.
        arrays: Name to dtype (float64, float32, int64 or uint64), of those that are arrays.
        defaults: Name to default; names without one are missing.

    Raises:
        TypeError: A declaration is no class, an annotation is none of these types, or a default does not fit it.
    """

    def __init__(self, declaration: type | None, *more: type | None) -> None:
        self.names: list[str] = []
        self.kinds: dict[str, type] = {}
        self.arrays: dict[str, np.dtype[Any]] = {}
        self.defaults: dict[str, Any] = {}
        for cls in (declaration, *more):
            if cls is not None and not isinstance(cls, type):
                raise TypeError(f"State, Params, Info and Options must be classes with annotations, got {cls!r}")
            for base in reversed(cls.__mro__) if cls else ():
                for name, kind in inspect.get_annotations(base, eval_str=True).items():
                    self.names += [name] if name not in self.names else []
                    if kind in ARRAY_KINDS:
                        self.arrays[name] = np.dtype(kind)
                        continue
                    if kind not in KINDS:
                        raise TypeError(
                            f"{base.__qualname__}.{name} must be annotated float, int or bool, or as an array by "
                            f"np.float64, np.float32, np.int64 or np.uint64, got {kind!r}"
                        )
                    self.kinds[name] = kind
                    if name in vars(base):
                        self.defaults[name] = self.check(name, vars(base)[name])

    def __len__(self) -> int:
        return len(self.kinds)

    def check(self, name: str, value: Any) -> float:
        """Return a scalar as the Python number that a row stores.

        Raises:
            TypeError: It is not of the field's type; nothing is rounded or parsed.
            ValueError: It is NaN, or too large.
        """
        kind = self.kinds[name]
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        truth = isinstance(value, (bool, np.bool_))
        if kind is float and isinstance(value, numbers.Real) and not truth:
            if value != value:
                raise ValueError(f"{name} must not be NaN")
            try:
                return float(value)
            except OverflowError:
                raise ValueError(f"{name} must fit a float, got {value}") from None
        if kind is int and isinstance(value, numbers.Integral) and not truth:
            if not -(2**63) <= int(value) < 2**63:
                raise ValueError(f"{name} must fit 64 bits, got {value}")
            return int(value)
        if kind is bool and truth:
            return bool(value)
        raise TypeError(f"{name} must be {KINDS[kind]}, got {value!r}")

    def check_lanes(self, name: str, values: Any, num_envs: int) -> np.ndarray:
        """Return one value per lane as an array of N words, each checked as `check` does."""
        array = np.asarray(values)
        if array.shape != (num_envs,):
            raise ValueError(f"{name} must hold one value per lane, shape ({num_envs},), got shape {array.shape}")
        kind = self.kinds[name]
        if array.dtype.kind not in {float: "fiu", int: "iu", bool: "b"}[kind]:
            raise TypeError(f"{name} must hold values that are each {KINDS[kind]}, got an array of {array.dtype}")
        if kind is float and np.isnan(array).any():
            raise ValueError(f"{name} must not be NaN, got NaN in lane {int(np.isnan(array).argmax())}")
        if array.dtype == np.uint64 and kind is int and (array >= 2**63).any():
            raise ValueError(f"{name} must fit 64 bits, got {array.max()} in lane {int(array.argmax())}")
        return array.astype(np.float64 if kind is float else np.int64)
