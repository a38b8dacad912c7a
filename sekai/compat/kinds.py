"""Which bridge is meant for which kind of environment."""

from __future__ import annotations

from typing import Any

# Of the package and class name of a base class, so that none of these packages has to be there.
ADVICE = {
    ("sekai", "Env"): "a sekai.Env is for to_gymnasium",
    ("sekai", "VecEnv"): "a sekai.VecEnv is for to_gymnasium_vector or to_sb3",
    ("sekai", "MultiAgentEnv"): "a sekai.MultiAgentEnv is for to_pettingzoo",
    ("gymnasium", "Env"): "a gymnasium.Env is for from_gymnasium",
    ("gymnasium", "VectorEnv"): "a gymnasium.vector.VectorEnv is for from_gymnasium_vector",
    ("pettingzoo", "ParallelEnv"): "a PettingZoo ParallelEnv is for from_pettingzoo",
    ("pettingzoo", "AECEnv"): "a PettingZoo AECEnv is for from_pettingzoo, after pettingzoo.utils.aec_to_parallel",
}


def require_kind(env: Any, kind: type, bridge: str) -> None:
    """Refuse an environment of another kind than a bridge takes.

    Args:
        env: What the bridge was given.
        kind: What it takes.
        bridge: Name of the bridge.

    Raises:
        TypeError: `env` is no instance of `kind`; the message names the bridge that takes it, if there is one.
    """
    if isinstance(env, kind):
        return
    bases = [(base.__module__.partition(".")[0], base.__name__) for base in type(env).__mro__]
    advice = next((f"; {ADVICE[base]}" for base in bases if base in ADVICE), "")
    name = f"{kind.__module__.partition('.')[0]}.{kind.__name__}"
    given = f"the class {env.__name__}" if isinstance(env, type) else f"{env!r} of type {type(env).__name__}"
    raise TypeError(f"{bridge} takes an instance of {name}, got {given}{advice}")
