"""How the fields of many lanes are distributed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekai.error import ResetRequired
from sekai.rendering.history import History
from sekai.rendering.picture import Picture
from sekai.rendering.rollouts import MOST_LANES, MOST_TIMES, gathered, of_lanes, picked
from sekai.rendering.theme import Theme
from sekai.rendering.time_charts import Fan, quantiles_of
from sekai.rollouts.result import Rollout
from sekai.vector.kernel import KernelVecEnv
from sekai.vector.vec_env import VecEnv

MOST_CHARTS = 12
MOST_COMPONENTS = 6  # of a field that is shown without being asked for
SAMPLES = 2048  # that a live picture keeps
QUANTILES = len(Fan.quantiles)


def plot_lanes(
    source: VecEnv[Any, Any] | Rollout,
    fields: Sequence[str] | None = None,
    *,
    single_lanes: int = 3,
    width: int = 960,
    height: int = 640,
    theme: str | Theme = "light",
) -> Picture:
    """Show how fields are distributed over the lanes: medians, bands of quantiles, and a few lanes singled out.

    A field of several numbers has a chart for each: `"observations"` stands for all of `"observations[0]"`,
    `"observations[1]"` and so on, which can be named alone, too; parts of a dict are `"observations.weights"`.

    Args:
        source: A rollout, over whose steps its arrays and infos are shown; or a batch, which is not stepped: it is
            shown as it is now, and again with every `record()` of the picture. Fields of a batch of kernel envs are the
            names of its `State` and `Info`, and `"observations"`; of other batches, attributes of the environments.
        fields: Which; None for those that have few components.
        single_lanes: How many lanes, from the first on, are drawn as lines of their own, too.
        width: In pixels.
        height: In pixels.
        theme: `"light"`, `"dark"` or a `Theme`.

    Returns:
        A figure, which shows itself in a notebook; that of a batch is a `LanesPicture`.

    Raises:
        TypeError: `source` is neither, or `fields` is a string.
        ValueError: There is no such field, or more than 12 charts would be needed.
        ResetRequired: The batch was never reset.
    """
    if isinstance(fields, str):
        raise TypeError(f"fields must be a sequence of names, got {fields!r}")
    if isinstance(source, VecEnv):
        return LanesPicture(source, fields, single_lanes=single_lanes, width=width, height=height, theme=theme)
    if not isinstance(source, Rollout):
        raise TypeError(f"source must be a batch or a rollout, got {source!r}")
    return picture_of_rollout(source, fields, single_lanes, Picture(width, height, theme=theme))


def picture_of_rollout(rollout: Rollout, fields: Sequence[str] | None, single: int, picture: Picture) -> Picture:
    """Show fields of a rollout in an empty picture."""
    arrays = {"rewards": rollout.rewards, "observations": rollout.observations, "actions": rollout.actions}
    recorded = {name: array for name, array in {**arrays, **rollout.infos}.items() if array is not None}
    chosen = choose(recorded, fields, axes=2)
    charts = {name: Fan(name) for name in chosen}
    picture.place(*rows_of(list(charts.values())))
    picture.title.set_text(f"Fields over time{of_lanes(rollout.num_envs, single)}")
    times, lanes = picked(rollout.num_steps, MOST_TIMES), picked(rollout.num_envs, MOST_LANES)
    singled = np.arange(min(single, rollout.num_envs))
    for name, chart in charts.items():
        chart.span = (0, rollout.num_steps)
        chart.set_data(times, *(gathered(chosen[name], rollout, times, some) for some in (lanes, singled)))
    return picture


class LanesPicture(Picture):
    """Fan charts of the fields of a batch, with one more sample of them after each `record()`.

    Args:
        vec: The batch.
        fields, single_lanes, width, height, theme: As in `plot_lanes`.
    """

    def __init__(
        self,
        vec: VecEnv[Any, Any],
        fields: Sequence[str] | None = None,
        *,
        single_lanes: int = 3,
        width: int = 960,
        height: int = 640,
        theme: str | Theme = "light",
    ) -> None:
        super().__init__(width, height, theme=theme)
        self._vec: Any = getattr(vec, "unwrapped", vec)
        self._lanes = picked(vec.num_envs, MOST_LANES)
        self._single = min(single_lanes, vec.num_envs)
        self._names = list(choose(self._fields(fields), fields, axes=1))
        self._history = History(SAMPLES)
        self.charts = [Fan(name) for name in self._names]
        self.place(*rows_of(self.charts))
        self.title.set_text(f"Fields over time{of_lanes(vec.num_envs, self._single)}")
        self.record()

    def _fields(self, names: Sequence[str] | None) -> dict[str, Any]:
        vec = self._vec
        if not isinstance(vec, KernelVecEnv):
            if names is None:
                raise ValueError("fields must name attributes of the environments of the batch, got None")
            return {name: np.array(vec.get_attr(name)) for name in {root_of(name) for name in names}}
        if not vec._started:
            raise ResetRequired("call reset() before plot_lanes(): there is no state to draw.")
        now: Any = vec.reset(mask=np.zeros(vec.num_envs, np.bool_))  # resets no lane, and shows how they are
        if names is None:
            return {name: values for name, values in state_of(vec).items() if values.dtype.kind == "f"}
        return {"observations": now.observations, **now.infos.arrays, **state_of(vec)}

    def record(self) -> None:
        """Add a sample of the batch as it is now."""
        chosen = choose(self._fields(self._names), self._names, axes=1)
        sample = {}
        for name, values in chosen.items():
            row = values[self._lanes].astype(float)
            sample[name] = np.append(quantiles_of(row[None], Fan.quantiles), values[: self._single])
        step = self._history.steps[-1] + 1 if len(self._history) else 0
        self._history.record(step, sample)
        for name, chart in zip(self._names, self.charts, strict=True):
            samples = self._history[name]
            chart.set_quantiles(self._history.steps, samples[:, :QUANTILES].T, samples[:, QUANTILES:])


def state_of(vec: KernelVecEnv[Any, Any]) -> dict[str, NDArray[Any]]:
    """The state of a batch of kernel envs, by name; arrays `(N, …)`."""
    rows = {name: vec._state_row(name) for name in vec._state.kinds}
    return {**rows, **{name: vec._array(name) for name in vec._state.arrays}}


def root_of(name: str) -> str:
    """The field that a component belongs to."""
    return name.replace("[", ".").split(".")[0]


def components(name: str, field: Any, axes: int) -> Iterator[tuple[str, NDArray[Any]]]:
    """The numbers that a field consists of, each with its name and an array of the first `axes` axes."""
    if isinstance(field, Mapping):
        for key, part in field.items():
            yield from components(f"{name}.{key}", part, axes)
    elif isinstance(field, tuple):
        for i, part in enumerate(field):
            yield from components(f"{name}.{i}", part, axes)
    else:
        for place in np.ndindex(field.shape[axes:]):
            yield name + "".join(f"[{i}]" for i in place), field[(slice(None),) * axes + place]


def choose(recorded: dict[str, Any], fields: Sequence[str] | None, axes: int) -> dict[str, NDArray[Any]]:
    """The components of the fields that are asked for, by name.

    Raises:
        ValueError: There is none of a name, or there are too many.
    """
    known = {name: dict(components(name, field, axes)) for name, field in recorded.items()}
    if fields is None:
        few = [parts for parts in known.values() if len(parts) <= MOST_COMPONENTS]
        return dict([pair for parts in few for pair in parts.items()][:MOST_CHARTS])
    everything = {name: array for parts in known.values() for name, array in parts.items()}
    chosen: dict[str, NDArray[Any]] = {}
    for field in fields:
        found = {name: array for name, array in everything.items() if is_part(name, field)}
        if not found:
            raise ValueError(f"fields must be among {', '.join(known)} or parts of them, got {field!r}")
        chosen.update(found)
    if len(chosen) > MOST_CHARTS:
        raise ValueError(f"fields must come to {MOST_CHARTS} charts at most, got {len(chosen)}; name parts of them")
    return chosen


def is_part(name: str, field: str) -> bool:
    """Whether a component is a field or belongs to it."""
    return name == field or name.startswith((f"{field}[", f"{field}."))


def rows_of(charts: list[Any]) -> list[list[Any]]:
    """Charts in rows, for a picture about as wide as it is high."""
    columns = math.ceil(math.sqrt(len(charts) / 1.5)) if charts else 1
    return [charts[i : i + columns] for i in range(0, len(charts), columns)]
