"""Descriptions of environments: everything that is needed to make one."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sekai.utils.integers import positive_int

if TYPE_CHECKING:
    from sekai.core.env import Env
    from sekai.registry.entry_point import EntryPoint

_ID = re.compile(r"(?:(?P<namespace>[A-Za-z0-9_-]+)/)?(?P<name>[A-Za-z0-9_-]+?)(?:-v(?P<version>[0-9]+))?")


@dataclass
class WrapperSpec:
    """A wrapper that `make` applies.

    Attributes:
        name: what to call it in listings.
        entry_point: the wrapper's class, or `"module:attribute"`.
        kwargs: its keyword arguments, besides the environment.
    """

    name: str
    entry_point: EntryPoint
    kwargs: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.kwargs = copied(self.kwargs, arrays=False)


@dataclass(repr=False)
class EnvSpec:
    """How to make an environment.

    The spec has dicts and lists of its own: changing those that it was made from does not change it.

    Attributes:
        id: `[namespace/]Name[-vN]`.
        entry_point: what makes one environment: a callable, or `"module:attribute"`; None if nothing does.
        reward_threshold: return from which on the task counts as solved.
        nondeterministic: whether episodes differ even with the same seed.
        max_episode_steps: after how many steps episodes are truncated, or None.
        kwargs: keyword arguments of the entry points.
        additional_wrappers: what `make` wraps around the environment, innermost first.
        vector_entry_point: what makes a batch, given `num_envs`; None if nothing special does.
        namespace: the part of the id before the slash, or None.
        name: the part of the id between namespace and version.
        version: the number at the end of the id, or None.

    Raises:
        ValueError: the id has another form, or `max_episode_steps` is less than 1.
        TypeError: `max_episode_steps` is not an integer.
    """

    id: str
    entry_point: EntryPoint | None = None
    reward_threshold: float | None = None
    nondeterministic: bool = False
    max_episode_steps: int | None = None
    kwargs: dict[str, Any] = field(default_factory=dict)
    additional_wrappers: tuple[WrapperSpec, ...] = ()
    vector_entry_point: EntryPoint | None = None

    def __post_init__(self) -> None:
        parts = _ID.fullmatch(self.id)
        if parts is None:
            raise ValueError(f"id must look like [namespace/]Name[-vN], of A-Z a-z 0-9 _ -, got {self.id!r}")
        version = parts["version"]
        self.namespace: str | None = parts["namespace"]
        self.name: str = parts["name"]
        self.version: int | None = None if version is None else int(version)
        if self.max_episode_steps is not None:
            self.max_episode_steps = positive_int("max_episode_steps", self.max_episode_steps)
        self.kwargs = copied(self.kwargs, arrays=False)
        self.additional_wrappers = tuple(replace(wrapper) for wrapper in self.additional_wrappers)

    def make(self, *, max_episode_steps: int | None = None, **kwargs: Any) -> Env[Any, Any]:
        """Make an environment, as `sekai.make` does with this spec."""
        from sekai.registry.building import build_env, chosen

        return build_env(chosen(self, max_episode_steps, kwargs))

    def to_json(self) -> str:
        """Return the spec as JSON; entry points that are not strings are left out.

        Raises:
            TypeError: `kwargs` hold something that JSON has no form for.
        """
        import json

        data: dict[str, Any] = {
            "id": self.id,
            "reward_threshold": self.reward_threshold,
            "nondeterministic": self.nondeterministic,
            "max_episode_steps": self.max_episode_steps,
            "kwargs": self.kwargs,
            "additional_wrappers": [vars(wrapper) for wrapper in self.additional_wrappers],
        }
        for key in ("entry_point", "vector_entry_point"):
            if isinstance(getattr(self, key), str):
                data[key] = getattr(self, key)
        return json.dumps(data, indent=2)

    @classmethod
    def from_json(cls, text: str) -> EnvSpec:
        """Return the spec that `to_json` turned into `text`.

        Raises:
            TypeError: an unknown key.
        """
        import json

        data = json.loads(text)
        wrappers = tuple(WrapperSpec(**wrapper) for wrapper in data.pop("additional_wrappers", ()))
        return cls(**data, additional_wrappers=wrappers)

    def pprint(self) -> str:
        """Return a listing of what is set, one item per line."""
        lines = [f"id={self.id}", f"entry_point={_shown(self.entry_point)}"]
        if self.vector_entry_point is not None:
            lines.append(f"vector_entry_point={_shown(self.vector_entry_point)}")
        if self.max_episode_steps is not None:
            lines.append(f"max_episode_steps={self.max_episode_steps}")
        if self.reward_threshold is not None:
            lines.append(f"reward_threshold={self.reward_threshold}")
        if self.nondeterministic:
            lines.append("nondeterministic=True")
        if self.kwargs:
            lines.append(f"kwargs={self.kwargs}")
        for wrapper in self.additional_wrappers:
            kwargs = f" {wrapper.kwargs}" if wrapper.kwargs else ""
            lines.append(f"wrapper={wrapper.name} ({_shown(wrapper.entry_point)}){kwargs}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"EnvSpec(id={self.id!r})"


def copied(value: Any, *, arrays: bool) -> Any:
    """Copy the dicts, lists, tuples and sets in `value`, and on request the arrays; other objects are shared."""
    kind = type(value)
    if kind is dict:
        return {key: copied(item, arrays=arrays) for key, item in value.items()}
    if kind in (list, tuple, set):
        return kind(copied(item, arrays=arrays) for item in value)
    return value.copy() if arrays and kind is np.ndarray else value


def _shown(entry_point: EntryPoint | None) -> str:
    return entry_point if isinstance(entry_point, str) else repr(entry_point)
