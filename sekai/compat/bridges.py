"""The functions that carry environments between sekai and gymnasium."""

from __future__ import annotations

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
