"""The functions that carry environments between sekai and other libraries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def to_gymnasium(env: Any, renderer: Any = None, render_mode: str | None = None) -> Any:
    """Wrap a sekai `Env` as a `gymnasium.Env`; see `SekaiToGymnasium`.

    Raises:
        TypeError: `env` is something else; the message names the bridge for it.
        ValueError: The render mode is not one that the renderer can have.
        ImportError: gymnasium is missing.
    """
    from sekai.compat.sekai_to_gymnasium import SekaiToGymnasium

    return SekaiToGymnasium(env, renderer=renderer, render_mode=render_mode)


def from_gymnasium(env: Any) -> Any:
    """Wrap a `gymnasium.Env` as a sekai `Env`; see `GymnasiumToSekai`.

    Raises:
        TypeError: `env` is something else (the message names the bridge for it), or a space has no counterpart.
        ImportError: gymnasium is missing.
    """
    from sekai.compat.gymnasium_to_sekai import GymnasiumToSekai

    return GymnasiumToSekai(env)


def to_gymnasium_vector(vec: Any) -> Any:
    """Wrap a sekai `VecEnv` as a `gymnasium.vector.VectorEnv`; see `SekaiToGymnasiumVector`.

    Raises:
        TypeError: `vec` is something else; the message names the bridge for it.
        ImportError: gymnasium is missing, or older than 1.1.
    """
    from sekai.compat.sekai_to_gymnasium_vector import SekaiToGymnasiumVector

    return SekaiToGymnasiumVector(vec)


def from_gymnasium_vector(venv: Any) -> Any:
    """Wrap a `gymnasium.vector.VectorEnv` as a sekai `VecEnv`; see `GymnasiumVectorToSekai`.

    Raises:
        TypeError: `venv` is something else (the message names the bridge for it), or a space has no counterpart.
        ImportError: gymnasium is missing, or older than 1.1.
    """
    from sekai.compat.gymnasium_vector_to_sekai import GymnasiumVectorToSekai

    return GymnasiumVectorToSekai(venv)


def to_pettingzoo(env: Any, *, simultaneous: bool = False, no_op: Callable[[Any], Any] | None = None) -> Any:
    """Wrap a sekai `MultiAgentEnv` as a PettingZoo `ParallelEnv`; see `SekaiToPettingZoo`.

    Raises:
        TypeError: `env` is something else; the message names the bridge for it.
        ValueError: There is a `no_op` without `simultaneous`.
        ImportError: PettingZoo is missing.
    """
    from sekai.compat.sekai_to_pettingzoo import SekaiToPettingZoo

    return SekaiToPettingZoo(env, simultaneous=simultaneous, no_op=no_op)


def from_pettingzoo(env: Any) -> Any:
    """Wrap a PettingZoo `ParallelEnv` as a sekai `MultiAgentEnv`; see `PettingZooToSekai`.

    Raises:
        TypeError: `env` is something else (the message names the bridge for it), or a space has no counterpart.
        ImportError: PettingZoo is missing.
    """
    from sekai.compat.pettingzoo_to_sekai import PettingZooToSekai

    return PettingZooToSekai(env)


def to_sb3(vec: Any, *, every_info: bool = False) -> Any:
    """Wrap a sekai `VecEnv` as a Stable-Baselines3 `VecEnv`; see `SekaiToSB3`.

    Raises:
        TypeError: `vec` is something else (the message names the bridge for it), or has spaces that Stable-Baselines3
            has no batches of.
        ValueError: The batch does not start episodes in the step that ends the one before, or overwrites its results.
        ImportError: Stable-Baselines3 is missing.
    """
    from sekai.compat.sekai_to_sb3 import SekaiToSB3

    return SekaiToSB3(vec, every_info=every_info)
