"""The contract of every batch of environments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Generic

import numpy as np
from numpy.typing import NDArray

from sekai._types import ActType, ObsType
from sekai.core.async_rule import keep_async_consistent
from sekai.error import VecEnvClosed
from sekai.utils.integers import positive_int
from sekai.utils.seeding import as_seed
from sekai.vector.result import VecResetResult, VecStepResult
from sekai.vector.seeding import lane_seeds

if TYPE_CHECKING:
    from typing_extensions import Self

    from sekai.spaces import Space

AUTORESET_MODES = ("same_step", "next_step", "disabled")


class VecEnv(ABC, Generic[ObsType, ActType]):
    """N environments, the *lanes*, that are reset and stepped together.

    Where a class overrides `step` or `reset` but not its async twin, the async method runs the override.

    Args:
        num_envs: N, at least 1.
        autoreset: What happens to a lane whose episode ended: `True` or `"same_step"` starts the next episode in the
            same step, `"next_step"` in the step after, `False` or `"disabled"` freezes the lane until `reset`. It may
            be changed between two steps; a frozen lane thaws when the mode becomes `"next_step"`.

    Attributes:
        num_envs: N.
        observation_space: Space of one lane's observation.
        action_space: Space of one lane's action.
        closed: Whether `close` was called.
        spec: The `EnvSpec` that `make_vec` built the batch from, else None.
    """

    num_envs: int
    observation_space: Space[Any]
    action_space: Space[Any]
    closed = False
    spec: Any = None
    _supported_modes: ClassVar[tuple[str, ...]] = AUTORESET_MODES
    _autoreset_mode = "same_step"

    def __init__(self, num_envs: int, autoreset: bool | str = True) -> None:
        self.num_envs = positive_int("num_envs", num_envs)
        self.autoreset_mode = autoreset

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        keep_async_consistent(cls)

    @abstractmethod
    def reset(self, *, seed: Any = None, options: Any = None, mask: Any = None) -> VecResetResult[ObsType]:
        """Start an episode in every lane, or in those of `mask`.

        Args:
            seed: An int seeds lane i with `lane_seeds(seed, N)[i]`. A list has one entry per lane: an int, a Generator
                (used itself), or None. None lets the streams go on.
            options: What every lane is reset with, or a list of one per lane.
            mask: Bool `(N,)`: the lanes to reset. The others are untouched, and their rows of the observations are
                those of their last result; their entries of `seed` and `options` are ignored.
        """

    @abstractmethod
    def step(self, actions: ActType, mask: Any = None) -> VecStepResult[ObsType]:
        """Step every lane with its action, or those of `mask`.

        Args:
            actions: An action per lane, batched as `batch_action_space` says.
            mask: Bool `(N,)`: the lanes to step. The others keep their state and stream; their rows are the observation
                and flags of their last result, reward 0 and an empty info. Their actions are ignored.
        """

    @abstractmethod
    def close(self) -> None:
        """Release what the batch holds; it cannot be used afterwards."""

    @property
    def autoreset_mode(self) -> str:
        """`"same_step"`, `"next_step"` or `"disabled"`."""
        return self._autoreset_mode

    @autoreset_mode.setter
    def autoreset_mode(self, mode: bool | str) -> None:
        name = {True: "same_step", False: "disabled"}[mode] if isinstance(mode, bool) else mode
        if name not in self._supported_modes:
            raise ValueError(f"autoreset must be a bool or one of {self._supported_modes}, got {mode!r}")
        self._autoreset_mode = name

    @property
    def autoreset(self) -> bool:
        """Whether lanes whose episode ended start a new one by themselves."""
        return self._autoreset_mode != "disabled"

    @autoreset.setter
    def autoreset(self, mode: bool | str) -> None:
        self.autoreset_mode = mode

    @property
    def batch_observation_space(self) -> Space[Any]:
        """Space of the observations of all lanes."""
        return self._batch_space("observation_space")

    @property
    def batch_action_space(self) -> Space[Any]:
        """Space of the actions of all lanes; one object as long as `action_space` is one, so that seeding it lasts."""
        return self._batch_space("action_space")

    def _batch_space(self, name: str) -> Space[Any]:
        from sekai.spaces.utils import batch_space

        space = getattr(self, name)
        known: dict[str, tuple[Space[Any], Space[Any]]] = self.__dict__.setdefault("_batch_spaces", {})
        if name not in known or known[name][0] is not space:
            known[name] = space, batch_space(space, self.num_envs)
        return known[name][1]

    async def async_reset(self, *, seed: Any = None, options: Any = None, mask: Any = None) -> VecResetResult[ObsType]:
        """`reset` for callers that await."""
        return self.reset(seed=seed, options=options, mask=mask)

    async def async_step(self, actions: ActType, mask: Any = None) -> VecStepResult[ObsType]:
        """`step` for callers that await."""
        return self.step(actions, mask)

    def call(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """Call a method of every lane; returns the list of what they return."""
        raise NotImplementedError

    def get_attr(self, name: str) -> list[Any]:
        """Return the list of every lane's attribute `name`."""
        raise NotImplementedError

    def set_attr(self, name: str, values: Any) -> None:
        """Set the attribute `name` of every lane: a list holds one value per lane, anything else goes to all."""
        raise NotImplementedError

    def _check_open(self) -> None:
        if self.closed:
            raise VecEnvClosed()

    def _check_mask(self, mask: Any) -> NDArray[np.bool_] | None:
        """The lanes that a caller chose; None for all of them.

        Raises:
            TypeError: The mask is not of bools.
            ValueError: It has another shape than `(N,)`.
        """
        if mask is None:
            return None
        chosen = np.asarray(mask)
        if chosen.shape != (self.num_envs,):
            raise ValueError(f"mask must have one entry per lane, shape ({self.num_envs},), got shape {chosen.shape}")
        if chosen.dtype != np.bool_:
            raise TypeError(f"mask must hold bools, got an array of {chosen.dtype}")
        return None if chosen.all() else chosen

    def _check_seed(self, seed: Any) -> Any:
        """What `reset` takes as seed: None, a list of one entry per lane (returned as it is), or an int.

        Raises:
            TypeError: It is something else.
            ValueError: It is negative, a string, or a list of another length.
        """
        if seed is None:
            return None
        if isinstance(seed, list):
            self._check_count("seed", seed)
            return seed
        wanted = "seed must be an int, a list with one seed per lane or None"
        if isinstance(seed, np.random.Generator):
            raise TypeError(f"{wanted}, not one Generator for all lanes")
        if isinstance(seed, str):
            raise ValueError(f"{wanted}, got {seed!r}")
        if isinstance(seed, (tuple, np.ndarray)) and np.ndim(seed):
            raise TypeError(f"{wanted}, got {seed!r}: pass list(seed)")
        return as_seed(seed)

    def _expand_seeds(self, seed: Any) -> list[Any]:
        """One seed per lane; None lets the lane's stream go on."""
        checked = self._check_seed(seed)
        if checked is None:
            return [None] * self.num_envs
        return checked if isinstance(checked, list) else lane_seeds(checked, self.num_envs)

    def _expand_options(self, options: Any) -> list[Any]:
        """One options object per lane."""
        if not isinstance(options, list):
            return [options] * self.num_envs
        self._check_count("options", options)
        return options

    def _check_count(self, name: str, values: list[Any]) -> None:
        if len(values) != self.num_envs:
            raise ValueError(f"{name} must have one entry per lane, {self.num_envs}, got {len(values)}")

    def __len__(self) -> int:
        return self.num_envs

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(num_envs={self.num_envs})"
