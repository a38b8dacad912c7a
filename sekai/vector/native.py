"""Batches that a user writes in NumPy, all lanes at once."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any, TypeVar

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from sekai._types import ActType, InfoDict, ObsType
from sekai.error import ResetRequired
from sekai.spaces import Dict, Space, Tuple
from sekai.spaces.utils import iterate
from sekai.utils.integers import positive_int
from sekai.utils.seeding import as_seed, np_random
from sekai.vector.infos import ListedInfos
from sekai.vector.result import VecResetResult, VecStepResult
from sekai.vector.vec_env import VecEnv

F = TypeVar("F", bound=Callable[..., Any])
StepArrays = tuple[Any, Any, Any, Mapping[str, Any]]


def shared(function: F) -> F:
    """Mark what a method or a property's getter returns as common to all lanes (`@property` goes outside).

    `get_attr` and `call` of a `NativeVecEnv` repeat it whole, even if its first axis has N entries.
    """
    function._shared = True  # type: ignore[attr-defined]
    return function


class NativeVecEnv(VecEnv[ObsType, ActType]):
    """A batch whose lanes are rows of NumPy arrays.

    A subclass defines the hooks `_reset_envs`, `_observe` and `_step`, and perhaps `_reset_infos` and `_step_some`.
    Time limit, autoreset, freezing and infos come with the class. All lanes draw from one generator, `rng`, so what a
    lane does depends on the others; `KernelVecEnv` has a stream per lane.

    Args:
        num_envs: N, at least 1.
        observation_space: Space of one lane's observation.
        action_space: Space of one lane's action.
        autoreset: See `VecEnv`.
        max_episode_steps: Steps after which an episode is truncated, at least 1; None for no limit. An attribute that
            may be changed at any time.

    Raises:
        TypeError: `num_envs` or `max_episode_steps` is not an int.
        ValueError: One of them is less than 1.
    """

    def __init__(
        self,
        num_envs: int,
        observation_space: Space[Any],
        action_space: Space[Any],
        *,
        autoreset: bool | str = True,
        max_episode_steps: int | None = None,
    ) -> None:
        super().__init__(num_envs, autoreset)
        self.observation_space = observation_space
        self.action_space = action_space
        self.max_episode_steps = (
            None if max_episode_steps is None else positive_int("max_episode_steps", max_episode_steps)
        )
        n = self.num_envs
        self._rng: Generator | None = None
        self._started = False
        self._elapsed = np.zeros(n, np.int64)
        self._over = np.zeros(n, np.bool_)  # whose episode has ended and that wait for a reset
        self._flags = np.zeros((2, n), np.bool_)  # terminated and truncated, as last returned
        self._last_actions: NDArray[Any] | None = None  # of the lanes that are over
        self._last_rows: dict[int, Any] = {}  # observations of the lanes that are over

    # ---- hooks -----------------------------------------------------------------------------------

    @abstractmethod
    def _reset_envs(self, indices: NDArray[np.int64], options: list[Any]) -> None:
        """Start an episode in the lanes `indices`, with options (or None) for each of them."""

    @abstractmethod
    def _observe(self) -> ObsType:
        """Return the observations of all lanes, in arrays that are new in every call."""

    @abstractmethod
    def _step(self, actions: ActType) -> StepArrays:
        """Advance all lanes.

        Returns:
            rewards `(N,)`, terminated `(N,)`, truncated `(N,)`, and infos: name to array or list of N.
        """

    def _step_some(self, actions: ActType, mask: NDArray[np.bool_]) -> StepArrays:
        """Advance the lanes of `mask` and leave the others as they are; `step` with a mask needs it.

        Returns:
            As `_step`; the rows of the other lanes are ignored.
        """
        raise NotImplementedError(f"{type(self).__name__} defines no _step_some, which step(mask=…) needs")

    def _reset_infos(self, indices: NDArray[np.int64]) -> Mapping[str, Any]:
        """Return the infos of a reset: name to array or list, one entry for each of `indices`."""
        return {}

    # ---- reset and step --------------------------------------------------------------------------

    def reset(self, *, seed: Any = None, options: Any = None, mask: Any = None) -> VecResetResult[ObsType]:
        """Start an episode in every lane, or in those of `mask`.

        Args:
            seed: An int seeds `rng`. So does a list of one int, Generator (which is drawn from once) or None (`rng` is
                drawn from once) per lane, unless all are None. None lets the stream go on.
            options: What every lane is reset with, or a list of one per lane.
            mask: See `VecEnv.reset`. The streams of all lanes are one, so the draws of the others come later.

        Raises:
            VecEnvClosed: After `close`.
            ResetRequired: A mask, before all lanes have been reset.
            TypeError, ValueError: A seed, options or mask of another kind or length; nothing has changed then.
        """
        self._check_open()
        chosen = self._check_mask(mask)
        if chosen is not None:
            self._check_started()
        lanes = np.arange(self.num_envs) if chosen is None else np.flatnonzero(chosen)
        each = self._expand_options(options)
        self._seed(self._check_seed(seed), lanes)
        infos: list[InfoDict] = [{} for _ in range(self.num_envs)]
        for lane, info in zip(lanes, self._restart(lanes, [each[lane] for lane in lanes]), strict=True):
            infos[lane] = info
        self._flags[:, lanes] = False
        self._started = True
        return VecResetResult(self._freeze(self._observe()), infos)

    def step(self, actions: ActType, mask: Any = None) -> VecStepResult[ObsType]:
        """Step every lane with its action, or those of `mask`.

        Lanes that wait for a reset go through `_step` too, with the action of their last real step; what comes of it is
        dropped.

        Args:
            actions: Handed to `_step`; N rows.
            mask: See `VecEnv.step`; needs the hook `_step_some`.

        Raises:
            VecEnvClosed: After `close`.
            ResetRequired: Before the first `reset`.
            ValueError: The actions, or what `_step` returned, have other than N rows.
            NotImplementedError: A mask, and no `_step_some`.
        """
        self._check_open()
        self._check_started()
        self._check_rows(actions)
        chosen = self._check_mask(mask)
        taken = np.ones(self.num_envs, np.bool_) if chosen is None else chosen
        due = self._over & taken if self._autoreset_mode == "next_step" else np.zeros(self.num_envs, np.bool_)
        moved = taken & ~self._over
        numbers = _numbers(actions, self.num_envs)
        given = actions if numbers is None else self._with_last_actions(actions, numbers)
        arrays = self._step(given) if chosen is None else self._step_some(given, moved)
        rewards, terminated, truncated, infos = self._transitions(moved, due, *arrays)
        self._flags[:] = terminated, truncated

        for lane, info in zip(np.flatnonzero(due), self._restart_due(due), strict=True):
            infos[lane] = {**info, "reset": True}
        observations = self._observe()
        ended = moved & (terminated | truncated)
        if ended.any():
            self._end(ended, observations, numbers, infos)
            observations = self._observe()
        observations = self._freeze(observations)
        listed = ListedInfos(infos, moved, self.observation_space, observations)
        return VecStepResult(observations, rewards, terminated, truncated, listed)

    def close(self) -> None:
        """Mark the batch closed; `reset` and `step` refuse from then on. Calling it again does nothing."""
        self.closed = True

    def _transitions(
        self, moved: NDArray[np.bool_], due: NDArray[np.bool_], *arrays: Any
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], list[InfoDict]]:
        """What `_step` returned, copied and checked, with the time limit; lanes that did not move repeat themselves."""
        rewards = self._rows("rewards", arrays[0], np.float64)
        terminated = self._rows("terminated", arrays[1], np.bool_)
        truncated = self._rows("truncated", arrays[2], np.bool_)
        infos = split_infos(arrays[3], self.num_envs)
        self._elapsed[moved] += 1
        if self.max_episode_steps is not None:
            truncated |= self._elapsed >= self.max_episode_steps
            for info, elapsed in zip(infos, self._elapsed.tolist(), strict=True):
                info["elapsed_steps"] = elapsed
        for lane in np.flatnonzero(~moved):
            infos[lane] = {}
        rewards[~moved] = 0.0
        terminated[~moved], truncated[~moved] = self._flags[:, ~moved] & ~due[~moved]
        return rewards, terminated, truncated, infos

    def _end(
        self, ended: NDArray[np.bool_], observations: Any, numbers: NDArray[Any] | None, infos: list[InfoDict]
    ) -> None:
        """Begin the next episode in lanes whose episode ended, or let them wait for it."""
        lanes = np.flatnonzero(ended)
        finals = {lane: take_index(self.observation_space, observations, lane) for lane in lanes.tolist()}
        if self._autoreset_mode != "same_step":
            self._over |= ended
            self._last_rows.update(finals)
            self._note_actions(ended, numbers)
            return
        for (lane, final), reset_info in zip(finals.items(), self._restart(lanes, [None] * lanes.size), strict=True):
            info = infos[lane]
            infos[lane] = {**info, "final_observation": final, "final_info": info, "reset_info": reset_info}

    def _restart(self, lanes: NDArray[np.int64], options: list[Any]) -> list[InfoDict]:
        """Start an episode in some lanes; returns their infos."""
        self._reset_envs(lanes, options)
        self._elapsed[lanes] = 0
        self._over[lanes] = False
        for lane in lanes.tolist():
            self._last_rows.pop(lane, None)
        return split_infos(self._reset_infos(lanes), lanes.size)

    def _restart_due(self, due: NDArray[np.bool_]) -> list[InfoDict]:
        lanes = np.flatnonzero(due)
        return self._restart(lanes, [None] * lanes.size) if lanes.size else []

    def _freeze(self, observations: Any) -> Any:
        """Give the lanes that are over their last observations."""
        for lane, row in self._last_rows.items():
            observations = put_index(self.observation_space, observations, lane, row)
        return observations

    def _with_last_actions(self, actions: Any, numbers: NDArray[Any]) -> Any:
        """The actions, those of lanes that are over replaced by the ones that they ended with."""
        if self._last_actions is None or self._last_actions.shape != numbers.shape or not self._over.any():
            return actions
        return np.where(self._over.reshape(-1, *(1,) * (numbers.ndim - 1)), self._last_actions, numbers)

    def _note_actions(self, ended: NDArray[np.bool_], numbers: NDArray[Any] | None) -> None:
        if numbers is None:
            self._last_actions = None
        elif self._last_actions is None or self._last_actions.shape != numbers.shape:
            self._last_actions = numbers.copy()
        else:
            self._last_actions = np.where(ended.reshape(-1, *(1,) * (numbers.ndim - 1)), numbers, self._last_actions)

    def _check_started(self) -> None:
        if not self._started:
            raise ResetRequired("call reset() first, for all lanes")

    def _check_rows(self, actions: Any) -> None:
        composite = isinstance(self.action_space, (Dict, Tuple)) and isinstance(actions, (Mapping, tuple))
        count = len(list(iterate(self.action_space, actions)) if composite else actions)
        if count != self.num_envs:
            raise ValueError(f"actions must have one entry per lane, {self.num_envs}, got {count}")

    def _rows(self, name: str, values: Any, dtype: Any) -> Any:
        array = np.array(values, dtype)
        if array.shape != (self.num_envs,):
            raise ValueError(
                f"{name} of {type(self).__name__}._step must have shape ({self.num_envs},), got {array.shape}"
            )
        return array

    # ---- random numbers --------------------------------------------------------------------------

    @property
    def rng(self) -> Generator:
        """The generator that all lanes draw from; made from the operating system's entropy when nobody seeded it."""
        if self._rng is None:
            self._rng = np_random()[0]
        return self._rng

    def _seed(self, seed: Any, lanes: NDArray[np.int64]) -> None:
        if isinstance(seed, list):
            entries = [seed[lane] for lane in lanes]
            checked = [entry if entry is None or isinstance(entry, Generator) else as_seed(entry) for entry in entries]
            if any(entry is not None for entry in checked):
                self._rng = default_rng([self._number(entry) for entry in checked])
        elif seed is not None:
            self._rng = default_rng(seed)

    def _number(self, seed: Any) -> int:
        source = self.rng if seed is None else seed
        return int(source.integers(2**63)) if isinstance(source, Generator) else seed

    # ---- attributes ------------------------------------------------------------------------------

    @property
    def elapsed_steps(self) -> NDArray[np.int64]:
        """Int64 `(N,)`: steps since each lane's last reset; a copy."""
        elapsed: NDArray[np.int64] = self._elapsed.copy()
        return elapsed

    @property
    def frozen(self) -> NDArray[np.bool_]:
        """Bool `(N,)`: lanes whose episode has ended and that wait for a reset; a copy."""
        over: NDArray[np.bool_] = self._over.copy()
        return over

    def get_attr(self, name: str) -> list[Any]:
        """Return an attribute by lane: the rows of an array with N of them; anything else N times.

        Raises:
            AttributeError: There is no such attribute.
        """
        return self._by_lane(name, getattr(self, name))

    def call(self, method: str, *args: Any, **kwargs: Any) -> list[Any]:
        """Call a method once for all lanes, and return what it returns by lane, as `get_attr` does.

        Raises:
            AttributeError: There is no such attribute.
        """
        value = getattr(self, method)
        return self._by_lane(method, value(*args, **kwargs) if callable(value) else value)

    def set_attr(self, name: str, values: Any) -> None:
        """Set an attribute that exists: a list of one value per lane is stored as an array, anything else as it is.

        Raises:
            AttributeError: There is no such attribute, or it cannot be set.
            ValueError: A list of another length than N.
        """
        if not hasattr(self, name):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        if isinstance(values, list):
            self._check_count(f"values of {name!r}", values)
            values = np.array(values)
        setattr(self, name, values)

    def _by_lane(self, name: str, value: Any) -> list[Any]:
        if isinstance(value, np.ndarray) and value.shape[:1] == (self.num_envs,) and not self._is_shared(name):
            return list(value.copy())
        return [value] * self.num_envs

    def _is_shared(self, name: str) -> bool:
        member = inspect.getattr_static(self, name, None)
        return hasattr(member.fget if isinstance(member, property) else member, "_shared")


def split_infos(infos: Mapping[str, Any], n: int) -> list[InfoDict]:
    """Turn infos of arrays into one dict per lane.

    Args:
        infos: Name to array or list with n entries along its first axis.
        n: Number of lanes.

    Returns:
        n dicts. Entries of 1-D arrays are Python scalars (dates and durations NumPy's), others rows of a copy.

    Raises:
        ValueError: An array has another length.
    """
    columns: dict[str, Sequence[Any]] = {}
    for name, values in infos.items():
        array = np.array(values)
        if array.shape[:1] != (n,):
            raise ValueError(f"info {name!r} must have {n} entries along its first axis, got shape {array.shape}")
        columns[name] = array.tolist() if array.ndim == 1 and array.dtype.kind not in "mM" else list(array)
    return [{name: column[i] for name, column in columns.items()} for i in range(n)]


def take_index(space: Space[Any], batch: Any, i: int) -> Any:
    """Return a copy of element i of a batch of elements of `space`."""
    if isinstance(space, Dict):
        return {key: take_index(part, batch[key], i) for key, part in space.items()}
    if isinstance(space, Tuple):
        return tuple(take_index(part, column, i) for part, column in zip(space, batch, strict=True))
    return deepcopy(batch[i])


def put_index(space: Space[Any], batch: Any, i: int, element: Any) -> Any:
    """Return a batch of elements of `space` with `element` at index i; arrays are written to."""
    if isinstance(space, Dict):
        return {key: put_index(part, batch[key], i, element[key]) for key, part in space.items()}
    if isinstance(space, Tuple):
        parts = zip(space, batch, element, strict=True)
        return tuple(put_index(part, column, i, value) for part, column, value in parts)
    if isinstance(batch, np.ndarray):
        batch[i] = element
        return batch
    return type(batch)([*batch[:i], element, *batch[i + 1 :]])


def _numbers(actions: Any, n: int) -> NDArray[Any] | None:
    """Actions as an array of n rows of numbers, or None if they are something else."""
    if isinstance(actions, Mapping):
        return None
    try:
        array = np.asarray(actions)
    except ValueError:  # ragged
        return None
    return array if array.dtype.kind in "biuf" and array.shape[:1] == (n,) else None
