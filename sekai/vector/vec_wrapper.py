"""Base classes of vector wrappers: batches that hold another one and change part of what it does."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, ClassVar, Generic

import numpy as np
from numpy.typing import NDArray

from sekai._types import ActType, InfoDict, ObsType, WActType, WObsType
from sekai.core.env import Env
from sekai.spaces import Space, concatenate, iterate
from sekai.vector.batches import map_arrays, take
from sekai.vector.info_layers import FinalObservations, NoFinalObservations
from sekai.vector.result import VecResetResult, VecStepResult
from sekai.vector.snapshot import VERSION, lane_indices
from sekai.vector.vec_env import VecEnv

Mask = NDArray[np.bool_] | None


@dataclass(frozen=True, eq=False)
class WrapperSnapshot:
    """What `get_state` of a vector wrapper returns. It can be pickled.

    Attributes:
        version: Of the layout.
        wrapper: Class of the wrapper.
        inner: The snapshot of the batch inside.
        rows: What the wrapper itself remembers of these lanes, nested arrays with a row per lane.
    """

    version: int
    wrapper: str
    inner: Any
    rows: Any


class VecWrapper(VecEnv[WObsType, WActType], Generic[WObsType, WActType, ObsType, ActType]):
    """A batch that passes everything on to `venv`, except what a subclass overrides.

    A subclass may override `reset` and `step` (and their async twins, see `VecEnv`). Or it defines the hooks that both
    the sync and the async ones call: `_before_reset`, `_on_reset`, `_before_step` and `_on_step`.

    Args:
        venv: The batch to wrap.

    Raises:
        TypeError: `venv` is not a `VecEnv`.

    Attributes:
        venv: The batch inside.
    """

    # Attributes, also of attributes, that are nested arrays with a row per lane.
    _lane_state: ClassVar[tuple[str, ...]] = ()

    def __init__(self, venv: VecEnv[ObsType, ActType]) -> None:
        if not isinstance(venv, VecEnv):
            hint = "; put it around what make_vec() returns" if isinstance(venv, Env) else ""
            raise TypeError(f"{type(self).__name__} wraps an instance of sekai.VecEnv, got {venv!r}{hint}")
        self.venv = venv
        self.num_envs = venv.num_envs
        self._observation_space: Space[Any] | None = None
        self._action_space: Space[Any] | None = None

    @property
    def observation_space(self) -> Space[Any]:
        """Space of one lane's observation: what was assigned here, else that of `venv`; assign None to undo."""
        return self.venv.observation_space if self._observation_space is None else self._observation_space

    @observation_space.setter
    def observation_space(self, space: Space[Any] | None) -> None:
        self._observation_space = space

    @property
    def action_space(self) -> Space[Any]:
        """Space of one lane's action: what was assigned here, else that of `venv`; assign None to undo."""
        return self.venv.action_space if self._action_space is None else self._action_space

    @action_space.setter
    def action_space(self, space: Space[Any] | None) -> None:
        self._action_space = space

    @property
    def _autoreset_mode(self) -> str:
        return self.venv.autoreset_mode

    @_autoreset_mode.setter
    def _autoreset_mode(self, mode: str) -> None:
        self.venv.autoreset_mode = mode

    @property
    def closed(self) -> bool:
        """Whether `venv` is closed."""
        return self.venv.closed

    @closed.setter
    def closed(self, closed: bool) -> None:
        self.venv.closed = closed

    @property
    def spec(self) -> Any:
        """The spec of `venv`."""
        return self.venv.spec

    @spec.setter
    def spec(self, spec: Any) -> None:
        self.venv.spec = spec

    @property
    def unwrapped(self) -> VecEnv[Any, Any]:
        """The batch under all wrappers."""
        return self.venv.unwrapped if isinstance(self.venv, VecWrapper) else self.venv

    @property
    def _started(self) -> bool:
        return getattr(self.venv, "_started", False)

    # ---- hooks -----------------------------------------------------------------------------------

    def _before_reset(self, seed: Any, mask: Mask) -> Any:
        """Prepare for a reset; what it returns goes to `_on_reset`."""

    def _on_reset(self, result: VecResetResult[ObsType], mask: Mask, prepared: Any) -> VecResetResult[WObsType]:
        """Change what a reset of all lanes, or those of `mask`, returns."""
        return result  # type: ignore[return-value]

    def _before_step(self, actions: WActType, mask: Mask) -> ActType:
        """Change the actions of a step."""
        return actions  # type: ignore[return-value]

    def _on_step(self, result: VecStepResult[ObsType], mask: Mask) -> VecStepResult[WObsType]:
        """Change what a step of all lanes, or those of `mask`, returns."""
        return result  # type: ignore[return-value]

    # ---- the contract ----------------------------------------------------------------------------

    def reset(self, *, seed: Any = None, options: Any = None, mask: Any = None) -> VecResetResult[WObsType]:
        """Reset `venv`."""
        mask = self._check_mask(mask)
        prepared = self._before_reset(seed, mask)
        return self._on_reset(self.venv.reset(seed=seed, options=options, **given(mask)), mask, prepared)

    async def async_reset(self, *, seed: Any = None, options: Any = None, mask: Any = None) -> VecResetResult[WObsType]:
        """Reset `venv` asynchronously."""
        mask = self._check_mask(mask)
        prepared = self._before_reset(seed, mask)
        return self._on_reset(await self.venv.async_reset(seed=seed, options=options, **given(mask)), mask, prepared)

    def step(self, actions: WActType, mask: Any = None) -> VecStepResult[WObsType]:
        """Step `venv`."""
        mask = self._check_mask(mask)
        return self._on_step(self.venv.step(self._before_step(actions, mask), **given(mask)), mask)

    async def async_step(self, actions: WActType, mask: Any = None) -> VecStepResult[WObsType]:
        """Step `venv` asynchronously."""
        mask = self._check_mask(mask)
        return self._on_step(await self.venv.async_step(self._before_step(actions, mask), **given(mask)), mask)

    def close(self) -> None:
        """Close `venv`."""
        self.venv.close()

    def call(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """Call a method of every lane of `venv`."""
        return self.venv.call(method, *args, **kwargs)

    def get_attr(self, name: str) -> list[Any]:
        """Return every lane's attribute `name`, of `venv`."""
        return self.venv.get_attr(name)

    def set_attr(self, name: str, values: Any) -> None:
        """Set every lane's attribute `name`, of `venv`."""
        self.venv.set_attr(name, values)

    # ---- snapshots -------------------------------------------------------------------------------

    def get_state(self, lanes: Any = None) -> WrapperSnapshot:
        """A snapshot of lanes in mid-episode, what the wrappers remember of them included.

        What all lanes share, such as the statistics of a normaliser, is not part of it.

        Args:
            lanes: A sequence of lane numbers or a bool mask `(N,)`; None for all lanes.

        Raises:
            TypeError: The batch inside has no snapshots.
        """
        inner = _method(self.venv, "get_state")(lanes)
        chosen = lane_indices(lanes, self.num_envs)
        rows = map_arrays(lambda array: array[chosen].copy(), self._rows())
        return WrapperSnapshot(VERSION, type(self).__qualname__, inner, rows)

    def set_state(self, state: WrapperSnapshot, lanes: Any = None) -> None:
        """Put lanes back to a snapshot.

        Args:
            state: What `get_state` returned, of this stack of wrappers or one like it.
            lanes: Which lanes, in the order of the snapshot's; None for all.

        Raises:
            TypeError: `state` is not a snapshot, or the batch inside has none.
            ValueError: It does not fit these lanes. Nothing has changed then.
        """
        chosen = lane_indices(lanes, self.num_envs)
        if not isinstance(state, WrapperSnapshot):
            raise TypeError(f"state must be what get_state() returned, got {type(state).__name__}")
        if (state.version, state.wrapper) != (VERSION, type(self).__qualname__):
            raise ValueError(f"the snapshot does not fit: it is one of {state.wrapper}, version {state.version}")
        started = self._started
        if started and _layout(take(self._rows(), chosen)) != _layout(state.rows):
            raise ValueError("the snapshot does not fit: it holds other lanes, or arrays of other shapes")
        _method(self.venv, "set_state")(state.inner, lanes)
        for name, rows in state.rows.items():
            arrays = (
                map_arrays(with_rows(chosen), attrgetter(name)(self), rows) if started else map_arrays(np.copy, rows)
            )
            *path, last = name.split(".")
            setattr(attrgetter(".".join(path))(self) if path else self, last, arrays)

    def _rows(self) -> dict[str, Any]:
        """The nested arrays that hold what the wrapper remembers, a row per lane."""
        return {name: attrgetter(name)(self) for name in self._lane_state}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.venv!r})"


class VecObservationWrapper(VecWrapper[WObsType, ActType, ObsType, ActType], Generic[WObsType, ActType, ObsType]):
    """A vector wrapper that changes observations: of resets, of steps, and the final ones of episodes."""

    @abstractmethod
    def observation(self, observations: ObsType) -> WObsType:
        """Return what the agent sees of a batch of observations; called once per reset and once per step."""

    def final_observation(self, observation: Any) -> Any:
        """Return what the agent sees of the last observation of one episode; by default a batch of one."""
        batch = concatenate(self.venv.observation_space, [observation])
        return next(iter(iterate(self.observation_space, self.observation(batch))))

    def _final_observations(self, observations: Any, lanes: NDArray[np.int64]) -> Any:
        """`final_observation` of each of a batch; `lanes` are those whose episodes ended."""
        rows = [self.final_observation(row) for row in iterate(self.venv.observation_space, observations)]
        return concatenate(self.observation_space, rows)

    def _on_reset(self, result: VecResetResult[ObsType], mask: Mask, prepared: Any) -> VecResetResult[WObsType]:
        return VecResetResult(self.observation(result.observations), result.infos)

    def _final_infos(self, result: VecStepResult[ObsType]) -> Sequence[InfoDict]:
        """The infos of a step, with the final observations as the agent sees them."""
        lanes = result.final_lanes
        if not lanes.size:
            return result.infos
        finals = self._final_observations(final_batch(self.venv.observation_space, result), lanes)
        return FinalObservations(result, self.observation_space, finals)

    def _seen(self, result: VecStepResult[ObsType], observations: Any, infos: Any) -> VecStepResult[WObsType]:
        """The step as the agent sees it; `infos` are what `_final_infos` returned."""
        if infos is result.infos:  # no episode ended, but final observations are of another kind nevertheless
            infos = NoFinalObservations(result, self.observation_space, observations)
        return VecStepResult(observations, result.rewards, result.terminated, result.truncated, infos)

    def _on_step(self, result: VecStepResult[ObsType], mask: Mask) -> VecStepResult[WObsType]:
        observations = self.observation(result.observations)
        return self._seen(result, observations, self._final_infos(result))


class VecRewardWrapper(VecWrapper[ObsType, ActType, ObsType, ActType], Generic[ObsType, ActType]):
    """A vector wrapper that changes the rewards of steps."""

    @abstractmethod
    def reward(self, rewards: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what the agent gets for the rewards `(N,)`; called once per step."""

    def _on_step(self, result: VecStepResult[ObsType], mask: Mask) -> VecStepResult[ObsType]:
        rewards = self.reward(result.rewards)
        return VecStepResult(result.observations, rewards, result.terminated, result.truncated, result.infos)


class VecActionWrapper(VecWrapper[ObsType, WActType, ObsType, ActType], Generic[ObsType, WActType, ActType]):
    """A vector wrapper that changes the actions of steps."""

    @abstractmethod
    def action(self, actions: WActType) -> ActType:
        """Return the actions of `venv` that a batch of actions stands for; called once per step."""

    def _before_step(self, actions: WActType, mask: Mask) -> ActType:
        return self.action(actions)


def final_batch(space: Space[Any], result: VecStepResult[Any]) -> Any:
    """The final observations of a result, as a batch of elements of `space`; there is one."""
    if hasattr(result.infos, "final_observations"):
        return result.final_observations
    return concatenate(space, [result.infos[i]["final_observation"] for i in result.final_lanes])


def with_rows(lanes: Any) -> Callable[..., NDArray[Any]]:
    """A function that returns an array with other rows of these lanes, of a dtype that holds both."""

    def replace(array: NDArray[Any], rows: NDArray[Any]) -> NDArray[Any]:
        array = array.astype(np.result_type(array, rows))
        array[lanes] = rows
        return array

    return replace


def as_floats(rewards: NDArray[Any]) -> NDArray[np.float64]:
    """Return rewards as the kernels take them."""
    if rewards.dtype == np.float64 and rewards.flags.carray:
        return rewards
    return np.require(rewards, np.float64, ["C", "A", "W"])


def given(mask: Mask) -> dict[str, Any]:
    """The mask as an argument, if there is one: a user's batch need not know of it."""
    return {} if mask is None else {"mask": mask}


def _method(venv: Any, name: str) -> Any:
    if not hasattr(venv, name):
        raise TypeError(f"{type(venv).__name__} has no {name}()")
    return getattr(venv, name)


def _layout(rows: Any) -> Any:
    """Shapes and kinds of nested arrays."""
    return map_arrays(lambda array: (array.shape, array.dtype.kind), rows)
