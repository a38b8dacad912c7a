"""Batches of gymnasium seen through sekai's API."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekai.compat.gymnasium_version import import_gymnasium_vector
from sekai.compat.kinds import require_kind
from sekai.compat.lane_infos import LaneInfos
from sekai.compat.masks import has_flat_masks, stacked_action_mask
from sekai.compat.sekai_to_gymnasium_vector import SekaiToGymnasiumVector
from sekai.compat.spaces import as_declared, space_from_gymnasium
from sekai.error import ResetRequired
from sekai.utils.leaves import copied
from sekai.utils.seeding import as_seed
from sekai.vector.batches import map_arrays
from sekai.vector.result import VecResetResult, VecStepResult
from sekai.vector.vec_env import VecEnv

vector = import_gymnasium_vector()

TAKES_RESET_MASK = (vector.SyncVectorEnv, vector.AsyncVectorEnv, SekaiToGymnasiumVector)


class GymnasiumVectorToSekai(VecEnv[Any, Any]):
    """Exposes a gymnasium `VectorEnv` through the API of sekai's batches.

    Results are copies: no later step changes them. Observations are C-contiguous and have the dtypes of their space,
    rewards are float64. The autoreset mode is the one that the gymnasium batch has, and cannot be changed. Infos are
    dicts that are built when they are looked at.

    A gymnasium batch steps all lanes, always. So there is no `step` with a mask, and in disabled mode lanes that ended
    have to be reset, with a mask, before the next step.

    Args:
        venv: The gymnasium batch.

    Raises:
        TypeError: `venv` is not a `gymnasium.vector.VectorEnv`, or a space has no counterpart.

    Attributes:
        gym_venv: The gymnasium batch.
        metadata: A copy of its metadata.
    """

    def __init__(self, venv: Any) -> None:
        require_kind(venv, vector.VectorEnv, "from_gymnasium_vector")
        self.gym_venv = venv
        self.metadata = dict(venv.metadata or {})
        self.observation_space = space_from_gymnasium(venv.single_observation_space)
        self.action_space = space_from_gymnasium(venv.single_action_space)
        mode = vector.AutoresetMode(self.metadata.get("autoreset_mode", vector.AutoresetMode.NEXT_STEP))
        self._only_mode = mode.name.lower()
        super().__init__(venv.num_envs, self._only_mode)
        self._waiting = np.zeros(self.num_envs, np.bool_)  # lanes whose episode is over
        self._last: Any = None  # observations

    @property
    def _supported_modes(self) -> tuple[str, ...]:  # type: ignore[override]
        return (self._only_mode,)

    def reset(self, *, seed: Any = None, options: Any = None, mask: Any = None) -> VecResetResult[Any]:
        """Start an episode in every lane, or in those of `mask`.

        Args:
            seed: Goes straight to the gymnasium batch: of an int, its own batches make the seeds `seed + i`; some
                take a list of one int (or None) per lane.
            options: A dict for all lanes.
            mask: Bool `(N,)`: the lanes to reset. gymnasium's own batches and those in disabled mode take it.

        Raises:
            VecEnvClosed: After `close`.
            ResetRequired: A mask, before all lanes have been reset.
            TypeError, ValueError: A seed, options or mask of another kind or length; nothing has changed then.
            NotImplementedError: The gymnasium batch may not heed a mask.
        """
        self._check_open()
        chosen = self._check_mask(mask)
        seed = self._check_seed(seed)
        if isinstance(seed, list):
            seed = [None if entry is None else as_seed(entry) for entry in seed]
        if not (options is None or isinstance(options, dict)):
            raise TypeError(f"options must be one dict for all lanes, or None, got {options!r}")
        if chosen is not None:
            options = self._with_mask(options, chosen)
            if not chosen.any():
                return VecResetResult(copied(self._last), self._infos({}, chosen, chosen))
        observations, infos = self.gym_venv.reset(seed=seed, options=options)
        told = np.ones(self.num_envs, np.bool_) if chosen is None else chosen
        self._waiting = self._waiting & ~told
        return VecResetResult(self._keep(observations), self._infos(infos, told, np.zeros_like(told)))

    def step(self, actions: Any, mask: Any = None) -> VecStepResult[Any]:
        """Step every lane with its action.

        Raises:
            VecEnvClosed: After `close`.
            ResetRequired: Before the first `reset`.
            NotImplementedError: A mask that leaves lanes out; or in disabled mode lanes that ended were not reset.
        """
        self._check_open()
        if self._last is None:
            raise ResetRequired()
        if self._check_mask(mask) is not None:
            raise NotImplementedError("gymnasium's batches step all lanes; step(mask=…) cannot leave any out")
        if self._autoreset_mode == "disabled" and self._waiting.any():
            over = np.flatnonzero(self._waiting).tolist()
            raise NotImplementedError(
                f"gymnasium's batches step all lanes, but the episodes of lanes {over} are over; reset those first, "
                "with reset(mask=…)"
            )
        observations, rewards, terminated, truncated, infos = self.gym_venv.step(actions)
        terminated, truncated = np.array(terminated, np.bool_), np.array(truncated, np.bool_)
        resets = self._waiting
        self._waiting = terminated | truncated if self._autoreset_mode != "same_step" else resets
        lane_infos = self._infos(infos, ~resets, resets)
        return VecStepResult(self._keep(observations), np.array(rewards, np.float64), terminated, truncated, lane_infos)

    def close(self) -> None:
        """Close the gymnasium batch. Calling it again does nothing."""
        if not self.closed:
            self.closed = True
            self.gym_venv.close()

    def call(self, method: str, *args: Any, **kwargs: Any) -> list[Any]:
        """Call a method of every lane, or read an attribute; returns the list of what they return."""
        return list(self._base("call")(method, *args, **kwargs))

    def get_attr(self, name: str) -> list[Any]:
        """Return the list of every lane's attribute `name`.

        Raises:
            AttributeError: There is none; `action_mask` is sekai's name and no attribute of gymnasium's environments.
        """
        if name == "action_mask":  # asked for a missing attribute, AsyncVectorEnv would shut down
            raise AttributeError(f"{self.gym_venv!r} has no action_mask")
        return list(self._base("get_attr")(name))

    def set_attr(self, name: str, values: Any) -> None:
        """Set the attribute `name` of every lane: a list holds one value per lane, anything else goes to all."""
        self._base("set_attr")(name, values)

    @property
    def action_mask(self) -> Callable[[], Any]:
        """A function that returns which actions are allowed; only where the gymnasium batch has `action_masks`."""
        base = self.gym_venv.unwrapped
        masks = getattr(base, "action_masks", None)
        lanes = base.envs if isinstance(base, vector.SyncVectorEnv) else ()
        if lanes and all(env.has_wrapper_attr("action_masks") for env in lanes):
            masks = partial(base.call, "action_masks")
        if masks is None or not has_flat_masks(self.action_space):
            raise AttributeError(f"{self.gym_venv!r} has no action_masks")
        return lambda: stacked_action_mask(self.action_space, masks())

    def _base(self, method: str) -> Any:
        base = self.gym_venv.unwrapped
        if not hasattr(base, method):
            raise NotImplementedError(f"{base!r} has no {method}, and no lanes of its own")
        return getattr(base, method)

    def _with_mask(self, options: Any, chosen: NDArray[np.bool_]) -> dict[str, Any]:
        if self._last is None:
            raise ResetRequired("reset all lanes before resetting some of them with a mask.")
        base = self.gym_venv.unwrapped
        if not (isinstance(base, TAKES_RESET_MASK) or self._autoreset_mode == "disabled"):
            raise NotImplementedError(f"{base!r} resets all lanes at once; it may not heed a mask")
        return {**(options or {}), "reset_mask": chosen}

    def _infos(self, infos: dict[str, Any], valid: NDArray[np.bool_], resets: NDArray[np.bool_]) -> LaneInfos:
        return LaneInfos(infos, valid, resets, self.observation_space)

    def _keep(self, observations: Any) -> Any:
        """Own copies of observations."""
        self._last = map_arrays(_owned, as_declared(self.observation_space, observations))
        return self._last

    def __repr__(self) -> str:
        return f"<GymnasiumVectorToSekai{self.gym_venv}>"


def _owned(part: Any) -> Any:
    return np.array(part, order="C") if isinstance(part, np.ndarray) else copied(part)
