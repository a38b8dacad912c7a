"""A fixed number of slots, each empty or holding an element of a Box."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from sekai.spaces.arguments import as_count
from sekai.spaces.batching import batch_space
from sekai.spaces.box import Box, format_bound
from sekai.spaces.compiled import draw_integers
from sekai.spaces.dict import Dict
from sekai.spaces.flattening import unflatten
from sekai.spaces.multi_binary import MultiBinary
from sekai.spaces.space import Space
from sekai.spaces.zero import zero_sample
from sekai.utils.integers import positive_int


class MaskedBox(Dict):
    """A fixed number of slots, each empty or holding an element of a Box.

    An element is a dict: `"values"` of shape `(max_size, *shape)`, and the int8 `"mask"` of shape `(max_size,)`, 1
    where a slot is occupied. Empty slots hold `fill_value`.

    Args:
        low: Smallest value of each entry of a slot, as for `Box`.
        high: Largest value of each entry of a slot.
        shape: Shape of a slot.
        max_size: Number of slots, at least 1.
        dtype: Dtype of the values.
        fill_value: What empty slots hold, broadcast to `shape`; by default the Box's `zero()`.
        seed: What `Dict.seed` takes.

    Raises:
        TypeError: `max_size` is not an int, or an argument is one that `Box` refuses.
        ValueError: `max_size` < 1, `fill_value` is outside the Box, or an argument is one that `Box` refuses.
    """

    def __init__(
        self,
        low: Any,
        high: Any,
        shape: Sequence[int] | None = None,
        *,
        max_size: int,
        dtype: DTypeLike = np.float32,
        fill_value: Any = None,
        seed: Any = None,
    ) -> None:
        self.max_size = positive_int("max_size", max_size)
        self.element_space = Box(low, high, shape, dtype)
        self.fill_value = _as_fill(fill_value, self.element_space)
        self._slots: Box = batch_space(self.element_space, self.max_size)  # type: ignore[assignment]
        super().__init__({"values": self._slots, "mask": MultiBinary(self.max_size)}, seed)

    @property
    def element_shape(self) -> tuple[int, ...]:
        """Shape of a slot."""
        return self.element_space.shape

    @property
    def value_dtype(self) -> np.dtype[Any]:
        """Dtype of the values."""
        return self.element_space.dtype

    def sample(self, mask: Any = None) -> dict[str, NDArray[Any]]:
        """Draw an element.

        Args:
            mask: Shape `(max_size,)`: true where a slot is occupied. Drawn if None.

        Raises:
            ValueError: The mask has another shape.
        """
        if mask is None:
            occupied = self.rng.integers(0, 2, size=self.max_size, dtype=np.int8)
        else:
            occupied = np.asarray(mask).astype(bool).astype(np.int8)
            if occupied.shape != (self.max_size,):
                raise ValueError(f"mask.shape must be {(self.max_size,)}, got {occupied.shape}")
        return self._fill(self._slots.sample(), occupied)

    def empty(self) -> dict[str, NDArray[Any]]:
        """Return the element without an occupied slot."""
        values = np.empty((self.max_size, *self.element_shape), self.value_dtype)
        values[...] = self.fill_value
        return {"values": values, "mask": np.zeros(self.max_size, np.int8)}

    def pack(self, values: Any, slots: Any = None) -> dict[str, NDArray[Any]]:
        """Return the element that holds `values`; their bounds are not checked.

        Args:
            values: What to put into slots, cast to the dtype and cut into rows of `element_shape`.
            slots: The slot of each row, no two alike; the first ones by default.

        Raises:
            TypeError: `slots` are not integers.
            ValueError: `values` do not divide into rows, or the slots do not suit them.
        """
        rows = np.atleast_1d(np.asarray(values, self.value_dtype))
        if rows.shape[1:] != self.element_shape:
            rows = rows.reshape(-1, *self.element_shape)
        places = np.atleast_1d(np.arange(len(rows)) if slots is None else np.asarray(slots))
        if places.dtype.kind not in "iu" and places.size:
            raise TypeError(f"slots must be integers, got {slots!r}")
        if places.shape != (len(rows),):
            raise ValueError(f"slots must name one slot for each of {len(rows)} rows, got {slots!r}")
        if len(rows) > self.max_size or np.any((places < 0) | (places >= self.max_size)):
            raise ValueError(f"slots must be below max_size={self.max_size}, got {places.tolist()}")
        if len(np.unique(places)) < len(places):
            raise ValueError(f"slots must not repeat, got {places.tolist()}")
        x = self.empty()
        x["values"][places.astype(np.intp)] = rows
        x["mask"][places.astype(np.intp)] = 1
        return x

    def unpack(self, x: dict[str, Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """Return the occupied rows of an element, and their slots in ascending order."""
        slots = np.flatnonzero(np.asarray(x["mask"]))
        return np.asarray(x["values"])[slots], slots

    def contains(self, x: Any) -> bool:
        """Whether `x` is a dict of both parts, occupied rows in the Box and empty ones equal to `fill_value`."""
        return super().contains(x) and bool(self._empties_match(x).all())

    def sample_batch(self, n: int, mask: Any = None) -> dict[str, NDArray[Any]]:
        """Draw `n` elements at once (see `Space.sample_batch`).

        Args:
            n: Number of elements.
            mask: As for `sample`, for all elements; or shape `(n, max_size)`.

        Raises:
            TypeError: `n` is not an int.
            ValueError: `n` is negative, or the mask has another shape.
        """
        n = as_count("n", n)
        if mask is None:
            zeros = np.zeros(self.max_size, np.int64)
            occupied = draw_integers(zeros, zeros + 1, n, self.stream).astype(np.int8)
        else:
            flags = np.asarray(mask).astype(bool)
            if flags.shape not in ((self.max_size,), (n, self.max_size)):
                raise ValueError(f"mask.shape must be {(self.max_size,)} or {(n, self.max_size)}, got {flags.shape}")
            occupied = np.broadcast_to(flags, (n, self.max_size)).astype(np.int8)
        return self._fill(self._slots.sample_batch(n), occupied)

    def contains_batch(self, x: Any) -> NDArray[np.bool_]:
        """Return which elements of a dict of batches are elements of the space, by the rules of `contains`.

        Raises:
            ValueError: `x` is no dict of batches of one length.
        """
        inside = super().contains_batch(x)
        # Where any element passes, the parts are arrays of the right shapes.
        return inside & self._empties_match(x).all(axis=1) if inside.any() else inside

    def to_jsonable(self) -> dict[str, Any]:
        """Describe the space in plain data."""
        box = self.element_space.to_jsonable()
        return {**box, "type": "MaskedBox", "max_size": self.max_size, "fill_value": self.fill_value.tolist()}

    @classmethod
    def from_jsonable(cls, data: dict[str, Any]) -> MaskedBox:
        """Rebuild the space that `to_jsonable` described; `fill_value` is optional."""
        box = Box.from_jsonable(data)
        fill = data.get("fill_value")
        if fill is not None:
            fill = np.array(fill, box.dtype).reshape(box.shape)
        return cls(box.low, box.high, max_size=data["max_size"], dtype=box.dtype, fill_value=fill)

    def _empties_match(self, x: dict[str, Any]) -> NDArray[np.bool_]:
        """Return for each slot whether it is occupied or holds exactly the fill value."""
        values = np.asarray(self._slots.as_numbers(x["values"]))
        occupied = np.asarray(x["mask"]).astype(np.bool_)
        filled = np.asarray(values == self.fill_value).all(axis=tuple(range(occupied.ndim, values.ndim)))
        return np.asarray(occupied | filled)

    def _fill(self, values: NDArray[Any], occupied: NDArray[np.int8]) -> dict[str, NDArray[Any]]:
        values[occupied == 0] = self.fill_value
        return {"values": values, "mask": occupied}

    def __setitem__(self, key: Any, space: Space[Any]) -> None:
        raise TypeError(f"the parts of a MaskedBox are fixed, got a new {key!r}")

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, MaskedBox)
            and self.element_space == other.element_space
            and self.max_size == other.max_size
            and np.array_equal(self.fill_value, other.fill_value)
        )

    __hash__ = None

    def __repr__(self) -> str:
        box = self.element_space
        fill = f", fill_value={format_bound(self.fill_value)}" if self.fill_value.any() else ""
        bounds = f"{format_bound(box.low)}, {format_bound(box.high)}"
        return f"MaskedBox({bounds}, {box.shape}, max_size={self.max_size}, {box.dtype}{fill})"


@unflatten.register
def _(space: MaskedBox, x: Any) -> dict[str, NDArray[Any]]:
    element: dict[str, NDArray[Any]] = unflatten.dispatch(Dict)(space, x)
    element["values"][element["mask"] == 0] = space.fill_value
    return element


@zero_sample.register
def _(space: MaskedBox) -> dict[str, NDArray[Any]]:
    return space.empty()


def _as_fill(value: Any, box: Box) -> NDArray[Any]:
    """Return `fill_value` as a fresh element of the Box, or say why it is none."""
    if value is None:
        return box.zero()
    given = np.asarray(value)
    if given.dtype.kind not in "biuf":
        raise TypeError(f"fill_value must be a number or an array of numbers, got {value!r}")
    with np.errstate(over="ignore", invalid="ignore"):
        fill: NDArray[Any] = np.broadcast_to(given.astype(box.dtype), box.shape).copy()
    if not box.contains(fill) or (box.dtype.kind != "f" and np.any(fill != given)):
        raise ValueError(f"fill_value must lie in {box!r}, got {value!r}")
    return fill
