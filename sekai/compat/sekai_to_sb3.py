"""Batches of sekai environments seen through the vector API of Stable-Baselines3."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekai._extras import import_extra
from sekai.compat.kinds import require_kind
from sekai.compat.masks import flat_action_mask
from sekai.compat.spaces import space_to_gymnasium
from sekai.error import VecEnvWorkerError
from sekai.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete, Space
from sekai.stats import EpisodeStats
from sekai.utils.masking import supports_action_mask
from sekai.vector.seeding import lane_seeds
from sekai.vector.sub_envs import call_attr
from sekai.vector.vec_env import VecEnv
from sekai.vector.vec_wrapper import VecWrapper

sb3 = import_extra("stable_baselines3.common.vec_env", "sb3")

PLAIN = (Box, Discrete, MultiDiscrete, MultiBinary)
ENDING = ("final_observation", "final_info", "reset_info", "episode")  # in the info of a lane whose episode ended


class SekaiToSB3(sb3.VecEnv):  # type: ignore[misc, name-defined]
    """Exposes a sekai `VecEnv` as a Stable-Baselines3 `VecEnv`, to train its algorithms on whole batches.

    Observations are the arrays of the batch; rewards are float32, as in Stable-Baselines3's own batches. The info of a
    lane whose episode ended has `terminal_observation` and `TimeLimit.truncated`, and, where the batch records episode
    statistics, `episode` as Stable-Baselines3's monitors write it; `reset_infos` holds the infos of resets. Where the
    batch has an action mask, `env_method("action_masks")` returns the flat masks that sb3-contrib asks for.

    Args:
        vec: The batch; it must start episodes in the step that ends the one before.
        every_info: Whether lanes whose episode goes on have their info too. Stable-Baselines3's algorithms read infos
            of ends only, and building one for each of many lanes takes longer than the step, so by default these are
            empty.

    Raises:
        TypeError: `vec` is not a sekai `VecEnv`, or a space is none that Stable-Baselines3 has batches of.
        ValueError: The autoreset mode is another one, or the batch overwrites its results (`copy=False`).

    Attributes:
        sekai_vec: The batch.
        every_info: As given.
    """

    def __init__(self, vec: VecEnv[Any, Any], *, every_info: bool = False) -> None:
        require_kind(vec, VecEnv, "to_sb3")
        for name in ("observation_space", "action_space"):
            _check_space(name, getattr(vec, name))
        if vec.autoreset_mode != "same_step":
            raise ValueError(
                f'to_sb3 needs a batch whose autoreset_mode is "same_step", got {vec.autoreset_mode!r}; make it with '
                'autoreset=True, or set vec.autoreset_mode = "same_step"'
            )
        if not all(getattr(layer, "copy", True) for layer in _layers(vec)):
            raise ValueError("to_sb3 needs a batch that keeps its results, got one with copy=False")
        self.sekai_vec = vec
        self.every_info = every_info
        self._start = time.monotonic()
        super().__init__(vec.num_envs, space_to_gymnasium(vec.observation_space), space_to_gymnasium(vec.action_space))

    def seed(self, seed: int | None = None) -> list[int]:
        """Seed all lanes at the next reset.

        Args:
            seed: As `vec.reset` takes it; None draws one from NumPy's global generator, as Stable-Baselines3 does.

        Returns:
            The seeds of the lanes, `sekai.lane_seeds(seed, N)`.
        """
        self._seeds = lane_seeds(super().seed(seed)[0], self.num_envs)
        return self._seeds

    def reset(self) -> Any:
        """Start an episode in every lane, with the seeds and options that were set since the last reset."""
        seeds = self._seeds if any(seed is not None for seed in self._seeds) else None
        options = [options or None for options in self._options] if any(self._options) else None
        result = self.sekai_vec.reset(seed=seeds, options=options)
        self.reset_infos = [dict(info) for info in result.infos]
        self._reset_seeds()
        self._reset_options()
        return result.observations

    def step_async(self, actions: NDArray[Any]) -> None:
        """Take the actions of the next step."""
        space = self.sekai_vec.action_space
        # Stable-Baselines3 draws the bits of a MultiBinary as floats.
        self._actions = actions.astype(space.dtype) if isinstance(space, MultiBinary) else actions

    def step_wait(self) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Carry out the step, and return observations, rewards, ends of episodes, and infos."""
        result = self.sekai_vec.step(self._actions)
        # A dict of its own for each lane, since wrappers of infos write into them.
        infos = [dict(info) for info in result.infos] if self.every_info else [{} for _ in range(self.num_envs)]
        for lane in result.final_lanes.tolist():
            info = result.infos[lane]
            truncated = bool(result.truncated[lane] and not result.terminated[lane])
            infos[lane] = self._last_info(info, truncated)
            self.reset_infos[lane] = dict(info["reset_info"])
        return result.observations, result.rewards.astype(np.float32), result.dones, infos

    def _last_info(self, info: dict[str, Any], truncated: bool) -> dict[str, Any]:
        """The info of a lane whose episode ended, as Stable-Baselines3 has it."""
        last = {key: value for key, value in info.items() if key not in ENDING}
        last["terminal_observation"] = info["final_observation"]
        last["TimeLimit.truncated"] = truncated
        if "episode" in info:
            last["episode"] = self._monitored(info["episode"])
        return last

    def _monitored(self, episode: Any) -> Any:
        """Episode statistics as Stable-Baselines3's monitors write them: return, length, and time since the start."""
        if not isinstance(episode, EpisodeStats):
            return episode
        seconds = round(episode.end_time - self._start, 6)
        return {"r": episode.episode_return, "l": episode.episode_length, "t": seconds}

    def close(self) -> None:
        """Close the batch."""
        self.sekai_vec.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of lanes; `render_mode` is None.

        Args:
            attr_name: The attribute.
            indices: The lanes: an int or several; None for all.

        Raises:
            AttributeError: A lane has no such attribute.
        """
        values = self._values(attr_name)
        return [values[lane] for lane in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of lanes to one value; that of some of the lanes only where all have it.

        Raises:
            AttributeError: There is no such attribute.
        """
        values = [value] * self.num_envs if indices is None else self._values(attr_name)
        for lane in self._get_indices(indices):
            values[lane] = value
        self.sekai_vec.set_attr(attr_name, values)

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Call a method of lanes, and return what they return.

        Raises:
            AttributeError: A lane has no such method.
            NotImplementedError: The batch cannot call a method of some of its lanes only.
        """
        if method_name == "action_masks" and supports_action_mask(self.sekai_vec):
            return list(flat_action_mask(self.sekai_vec)[list(self._get_indices(indices))])
        if indices is None:
            return list(self.sekai_vec.call(method_name, *method_args, **method_kwargs))
        envs = _single_envs(self.sekai_vec, self._get_indices(indices))
        return [call_attr(env, method_name, method_args, method_kwargs) for env in envs]

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """Tell of lanes whether the batch stands in a vector wrapper of a class."""
        wrapped = any(isinstance(layer, wrapper_class) for layer in _layers(self.sekai_vec))
        return [wrapped for _ in self._get_indices(indices)]

    def _values(self, name: str) -> list[Any]:
        """An attribute of all lanes."""
        if name == "render_mode":
            return [None] * self.num_envs
        if name == "action_masks" and supports_action_mask(self.sekai_vec):
            return [partial(self._action_mask, lane) for lane in range(self.num_envs)]
        try:
            return self.sekai_vec.get_attr(name)
        except VecEnvWorkerError as error:
            if error.exc_type == "AttributeError":
                raise AttributeError(str(error)) from error
            raise

    def _action_mask(self, lane: int) -> NDArray[np.bool_]:
        return flat_action_mask(self.sekai_vec)[lane]  # type: ignore[no-any-return]


def _check_space(name: str, space: Space[Any]) -> None:
    """Refuse what Stable-Baselines3 has no batches of: it takes plain spaces, and a Dict of those for observations."""
    parts = space.values() if isinstance(space, Dict) and name == "observation_space" else [space]
    if not all(isinstance(part, PLAIN) for part in parts):
        raise TypeError(
            f"Stable-Baselines3 takes Box, Discrete, MultiDiscrete and MultiBinary spaces, and a Dict of them for "
            f"observations; {name} is {space!r} (VecFlattenObservation makes one array of observations)"
        )


def _layers(vec: VecEnv[Any, Any]) -> Iterator[VecEnv[Any, Any]]:
    """Go through a stack of vector wrappers, from outside in."""
    yield vec
    while isinstance(vec, VecWrapper):
        vec = vec.venv
        yield vec


def _single_envs(vec: VecEnv[Any, Any], lanes: Iterable[int]) -> list[Any]:
    """The single environments of some lanes; of kernels, copies."""
    *_, base = _layers(vec)
    if hasattr(base, "envs"):
        return [base.envs[lane] for lane in lanes]
    if hasattr(base, "lane"):
        return [base.lane(lane) for lane in lanes]
    raise NotImplementedError(f"{base!r} can only call a method of all its lanes, not of some; leave out `indices`")
