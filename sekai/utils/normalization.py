"""Normalisation of observations by running statistics, and files that keep the statistics of a stack of wrappers."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekai.spaces import Box, MaskedBox, Space
from sekai.utils.leaves import map_leaves, map_space
from sekai.utils.running_stats import ExponentialMovingStats, RunningMeanStd, RunningStats


class ObservationNormalizer:
    """Normalises batches of observations: each Box part by its running mean and variance, the others as they are.

    Of a MaskedBox, the occupied slots are the samples; empty slots become 0.

    Args:
        space: Space of one observation.
        stats: `"running"`: every sample counts the same. `"ewm"`: the older a batch, the less it counts.
        halflife: After how many batches the weight of one is halved, with `"ewm"`.
        epsilon: Added to the variance.
        clip: Largest absolute value of the output, or None.

    Raises:
        TypeError: No part of the space is a Box or a MaskedBox.
        ValueError: `stats` is something else; `clip` or `halflife` is not more than 0.

    Attributes:
        space: Space of one observation.
        output_space: Space of one normalised observation.
        stats: The statistics, nested like the space; None for parts that are not normalised.
        kind: `"running"` or `"ewm"`.
        halflife: As given.
        epsilon: As given.
        clip: As given.
    """

    def __init__(
        self,
        space: Space[Any],
        *,
        stats: str = "running",
        halflife: float = 1000.0,
        epsilon: float = 1e-8,
        clip: float | None = None,
    ) -> None:
        if stats not in ("running", "ewm"):
            raise ValueError(f"stats must be 'running' or 'ewm', got {stats!r}")
        if clip is not None and not clip > 0:
            raise ValueError(f"clip must be > 0 or None, got {clip!r}")
        self.space = space
        self.kind = stats
        self.halflife = halflife
        self.epsilon = epsilon
        self.clip = clip
        self._leaves = map_leaves(self._new_leaf, space)
        self.stats = map_leaves(lambda _, leaf: leaf.stats, space, self._leaves)
        if next(_named(self.stats), None) is None:
            raise TypeError(f"some part of the observation space must be a Box or MaskedBox, got {space!r}")
        self.output_space = map_space(self._output, space)

    def __call__(self, batch: Any, *, update: bool = True) -> Any:
        """Return a batch normalised, as fresh float64 arrays.

        Args:
            batch: Observations, each part with a leading axis; or one observation without it.
            update: Whether the statistics take in the batch before that.
        """
        limit = math.inf if self.clip is None else self.clip
        return _normalize(self._leaves, batch, update, self.epsilon, limit)

    def update(self, batch: Any, rows: NDArray[np.bool_]) -> None:
        """Let the statistics take in the observations of a batch whose flag in `rows` is set."""
        self(map_leaves(lambda leaf, part: _rows_of(part, rows), self.space, batch))

    def state_dict(self) -> Any:
        """Return a copy of the statistics, nested like the space, with lists for Tuples."""
        return _state_of(self.stats)

    def load_state_dict(self, state: Any) -> None:
        """Take over statistics that `state_dict` returned. Nothing has changed if they do not fit.

        Raises:
            KeyError: A part is missing.
            ValueError: A part has another shape, or a Tuple another length.
        """
        _load(list(_matched(self.stats, state)))

    def _new_leaf(self, leaf: Space[Any]) -> BoxLeaf | PlainLeaf:
        if not isinstance(leaf, (Box, MaskedBox)):
            return PlainLeaf()
        shape = leaf.shape if isinstance(leaf, Box) else leaf.element_shape
        stats = RunningMeanStd(shape) if self.kind == "running" else ExponentialMovingStats(shape, self.halflife)
        return (BoxLeaf if isinstance(leaf, Box) else MaskedBoxLeaf)(stats)

    def _output(self, leaf: Space[Any]) -> Space[Any]:
        limit = math.inf if self.clip is None else self.clip
        if isinstance(leaf, MaskedBox):
            return MaskedBox(-limit, limit, leaf.element_shape, max_size=leaf.max_size, dtype=np.float64)
        return Box(-limit, limit, leaf.shape, np.float64) if isinstance(leaf, Box) else leaf


class PlainLeaf:
    """A part that is not normalised."""

    stats = None

    def __call__(self, x: Any, update: bool, epsilon: float, clip: float) -> Any:
        """Return the part as it is."""
        return x


class BoxLeaf:
    """A Box part: the samples are its elements."""

    def __init__(self, stats: RunningStats) -> None:
        self.stats = stats
        # Of exponential statistics, one batch counts as one sample, whatever its size.
        self._weight = 1.0 if isinstance(stats, ExponentialMovingStats) else 0.0

    def __call__(self, x: Any, update: bool, epsilon: float, clip: float) -> Any:
        """Return the part normalised."""
        return self.stats.normalize_samples(x, update, self._weight, epsilon, clip)


class MaskedBoxLeaf(BoxLeaf):
    """A MaskedBox part: the samples are what is in its occupied slots; empty slots become 0."""

    def __call__(self, x: Any, update: bool, epsilon: float, clip: float) -> Any:
        """Return the part normalised."""
        values, occupied = np.asarray(x["values"]), np.asarray(x["mask"]) != 0
        normalized = np.zeros(values.shape)
        normalized[occupied] = super().__call__(values[occupied], update, epsilon, clip)
        return {"values": normalized, "mask": x["mask"]}


def _normalize(leaf: Any, x: Any, update: bool, epsilon: float, clip: float) -> Any:
    """Normalise the nested parts of a batch."""
    if type(leaf) is dict:
        return {key: _normalize(part, x[key], update, epsilon, clip) for key, part in leaf.items()}
    if type(leaf) is tuple:
        pairs = zip(leaf, x, strict=True)
        return tuple(_normalize(part, part_x, update, epsilon, clip) for part, part_x in pairs)
    return leaf(x, update, epsilon, clip)


def save_statistics(env: Any, path: str | Path) -> None:
    """Write the statistics of all normalising wrappers of a stack to an `.npz` file.

    They fit the same stack of wrappers again, and its twin around a batch, in whatever order other wrappers come.

    Args:
        env: An environment or a batch, in its wrappers.
        path: The file, which is overwritten.

    Raises:
        ValueError: No wrapper of the stack normalises.
    """
    named = _statistics_of(env)
    arrays = {f"{name}.{key}": value for name, stats in named.items() for key, value in stats.state_dict().items()}
    with Path(path).open("wb") as file:
        np.savez(file, **arrays)


def load_statistics(env: Any, path: str | Path) -> None:
    """Take over what `save_statistics` wrote. Nothing has changed if it does not fit the stack.

    Args:
        env: An environment or a batch, in its wrappers.
        path: The file.

    Raises:
        ValueError: The file and the stack do not have the same statistics, of the same shapes.
    """
    named = _statistics_of(env)
    with np.load(path, allow_pickle=False) as file:
        arrays = dict(file)
    wanted = {f"{name}.{key}" for name, stats in named.items() for key in stats.state_dict()}
    if wanted != arrays.keys():
        raise ValueError(
            f"{path} does not fit: it lacks {sorted(wanted - arrays.keys())} and has {sorted(arrays.keys() - wanted)} "
            "that the wrappers lack"
        )
    states = [{key: arrays[f"{name}.{key}"] for key in stats.state_dict()} for name, stats in named.items()]
    _load(list(zip(named.values(), states, strict=True)))


def _statistics_of(env: Any) -> dict[str, RunningStats]:
    """The statistics of a stack, by names that count normalisers of each sort from the inside out."""
    layers = [env]
    while (inner := getattr(layers[-1], "env", None) or getattr(layers[-1], "venv", None)) is not None:
        layers.append(inner)
    named: dict[str, RunningStats] = {}
    for sort, attribute in (("observation", "obs_rms"), ("reward", "return_rms")):
        trees = [getattr(layer, attribute) for layer in reversed(layers) if hasattr(layer, attribute)]
        named |= {f"{sort}{i}{path}": stats for i, tree in enumerate(trees) for path, stats in _named(tree)}
    if not named:
        raise ValueError(f"no wrapper of {env!r} normalises")
    return named


def _named(tree: Any, path: str = "") -> Iterator[tuple[str, RunningStats]]:
    """Go through nested statistics, each with the path that leads to it."""
    if isinstance(tree, (dict, tuple)):
        for key, part in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from _named(part, f"{path}/{key}")
    elif tree is not None:
        yield path, tree


def _state_of(tree: Any) -> Any:
    """The state of nested statistics."""
    if isinstance(tree, dict):
        return {key: _state_of(part) for key, part in tree.items()}
    if isinstance(tree, tuple):
        return [_state_of(part) for part in tree]
    return None if tree is None else tree.state_dict()


def _rows_of(part: Any, rows: NDArray[np.bool_]) -> Any:
    """The chosen rows of the batch of a leaf; only those of arrays matter."""
    if isinstance(part, dict):  # of a MaskedBox
        return {key: values[rows] for key, values in part.items()}
    return part[rows] if isinstance(part, np.ndarray) else part


def _matched(tree: Any, state: Any) -> Iterator[tuple[RunningStats, Mapping[str, Any]]]:
    """Go through nested statistics, each with its part of a state."""
    if isinstance(tree, dict):
        for key, part in tree.items():
            yield from _matched(part, state[key])
    elif isinstance(tree, tuple):
        if len(tree) != len(state):
            raise ValueError(f"the state of a Tuple must have {len(tree)} parts, got {len(state)}")
        for part, part_state in zip(tree, state, strict=True):
            yield from _matched(part, part_state)
    elif tree is not None:
        yield tree, state


def _load(pairs: list[tuple[RunningStats, Mapping[str, Any]]]) -> None:
    """Load all states, or none of them if one does not fit."""
    for stats, state in pairs:
        copy.deepcopy(stats).load_state_dict(state)
    for stats, state in pairs:
        stats.load_state_dict(state)
