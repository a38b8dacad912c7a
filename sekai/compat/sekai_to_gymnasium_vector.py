"""Batches of sekai seen through gymnasium's API."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import PCG64, Generator, SeedSequence
from numpy.typing import NDArray

from sekai.compat.array_infos import reset_infos, step_infos
from sekai.compat.gymnasium_version import import_gymnasium_vector
from sekai.compat.kinds import require_kind
from sekai.compat.masks import flat_action_mask
from sekai.compat.spaces import as_declared, space_to_gymnasium
from sekai.utils.masking import supports_action_mask
from sekai.vector.vec_env import VecEnv

vector = import_gymnasium_vector()


class SekaiToGymnasiumVector(vector.VectorEnv):  # type: ignore[misc, name-defined]
    """Exposes a sekai `VecEnv` through gymnasium's API of vector environments.

    Observations, rewards and flags are the very arrays of the batch, observations of another dtype than their `Box`
    cast to it. Infos are a dict of arrays with a mask `_name` for each `name`; in same-step mode `final_obs` and
    `final_info` tell what the lanes that ended, ended with. The mode is that of the batch; gymnasium's own batches are
    in next-step mode unless told otherwise. Where the batch has action masks, `action_masks()` returns them as a
    bool array `(N, size)`.

    Args:
        vec: The batch.

    Raises:
        TypeError: `vec` is not a sekai `VecEnv`.

    Attributes:
        sekai_vec: The batch.
    """

    def __init__(self, vec: VecEnv[Any, Any]) -> None:
        require_kind(vec, VecEnv, "to_gymnasium_vector")
        self.sekai_vec = vec
        self.num_envs = vec.num_envs
        self.single_observation_space = space_to_gymnasium(vec.observation_space)
        self.single_action_space = space_to_gymnasium(vec.action_space)

    @cached_property
    def observation_space(self) -> Any:
        """Space of the observations of all lanes."""
        return vector.utils.batch_space(self.single_observation_space, self.num_envs)

    @cached_property
    def action_space(self) -> Any:
        """Space of the actions of all lanes."""
        return vector.utils.batch_space(self.single_action_space, self.num_envs)

    @property
    def metadata(self) -> dict[str, Any]:
        """The metadata of the batch, with its `autoreset_mode` of the moment."""
        mode = vector.AutoresetMode[self.sekai_vec.autoreset_mode.upper()]
        base = getattr(self.sekai_vec, "unwrapped", self.sekai_vec)
        return {**getattr(base, "metadata", {}), "render_modes": [], "autoreset_mode": mode}

    def reset(self, *, seed: int | list[Any] | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode in every lane, or some.

        Args:
            seed: As in `VecEnv.reset`: an int seeds lane i with `sekai.lane_seeds(seed, N)[i]`, a list holds a seed per
                lane.
            options: What every lane is reset with. A bool array `(N,)` in it under `reset_mask` chooses the lanes.

        Raises:
            TypeError, ValueError: A seed, an option or the mask is not what it should be; nothing has changed then.
        """
        mask = None
        if isinstance(options, dict) and "reset_mask" in options:
            options = dict(options)
            mask = self._check_mask(options.pop("reset_mask"))
        result = self.sekai_vec.reset(seed=list(seed) if isinstance(seed, tuple) else seed, options=options, mask=mask)
        if seed is not None and not isinstance(seed, (list, tuple)):
            # As if it were one more lane: no lane has the same stream.
            self.np_random = Generator(PCG64(SeedSequence(int(seed), spawn_key=(self.num_envs,))))
            self._np_random_seed = int(seed)
        observations = as_declared(self.sekai_vec.observation_space, result.observations)
        return observations, reset_infos(result.infos, self._add_info)

    def _check_mask(self, mask: Any) -> NDArray[np.bool_]:
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            raise TypeError(f"options['reset_mask'] must be a NumPy array of bools, got {mask!r}")
        if mask.shape != (self.num_envs,) or not mask.any():
            raise ValueError(
                f"options['reset_mask'] must have shape ({self.num_envs},) and choose a lane, got {mask!r}"
            )
        return mask

    def step(
        self, actions: Any
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Step every lane; errors are those of the batch.

        In disabled mode a lane that ended repeats its last observation and flags, with reward 0, until it is reset.
        """
        result = self.sekai_vec.step(actions)
        observations = as_declared(self.sekai_vec.observation_space, result.observations)
        infos = step_infos(result, self._add_info)
        return observations, result.rewards, result.terminated, result.truncated, infos

    def close_extras(self, **kwargs: Any) -> None:
        """Close the batch; `close()` calls it."""
        self.sekai_vec.close()

    def __del__(self) -> None:
        """Leave the batch open; some versions of gymnasium would close it."""

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Call a method of every lane."""
        return tuple(self.sekai_vec.call(name, *args, **kwargs))

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Return an attribute of every lane."""
        return tuple(self.sekai_vec.get_attr(name))

    def set_attr(self, name: str, values: Any) -> None:
        """Set an attribute of every lane: a list or tuple holds one value per lane, anything else goes to all."""
        self.sekai_vec.set_attr(name, list(values) if isinstance(values, tuple) else values)

    @property
    def action_masks(self) -> Callable[[], NDArray[np.bool_]]:
        """A function that returns which actions are allowed, bool `(N, size)`; only where the batch has action masks.

        Raises:
            AttributeError: It has none.
        """
        if not supports_action_mask(self.sekai_vec):
            raise AttributeError(f"{self.sekai_vec!r} has no action_mask")
        return self._action_masks

    def _action_masks(self) -> NDArray[np.bool_]:
        return flat_action_mask(self.sekai_vec)

    def __str__(self) -> str:
        return f"<SekaiToGymnasiumVector{self.sekai_vec}>"

    __repr__ = __str__
