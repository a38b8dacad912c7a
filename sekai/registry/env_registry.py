"""Environments by id."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from sekai.error import EnvAlreadyRegistered, EnvNotFound
from sekai.registry.building import EnvWrapper, build_env, build_vec_env, chosen
from sekai.registry.env_spec import EnvSpec, WrapperSpec, copied
from sekai.registry.plugins import load_plugins
from sekai.utils.integers import positive_int

if TYPE_CHECKING:
    from sekai.core.env import Env
    from sekai.registry.entry_point import EntryPoint
    from sekai.vector import VecEnv


class EnvRegistry:
    """A collection of specs that are looked up by their exact id.

    Args:
        plugin_group: entry-point group of packages that register environments here. They are loaded once, when an id is
            not found or all specs are asked for.
    """

    def __init__(self, plugin_group: str | None = None) -> None:
        self._specs: dict[str, EnvSpec] = {}
        self._loaders: dict[str, Callable[[], Any]] = {}
        self._loading: set[str] = set()
        self._plugin_group = plugin_group

    def register(
        self,
        id: str,
        entry_point: EntryPoint | None,
        *,
        reward_threshold: float | None = None,
        nondeterministic: bool = False,
        max_episode_steps: int | None = None,
        kwargs: dict[str, Any] | None = None,
        additional_wrappers: Iterable[WrapperSpec] = (),
        vector_entry_point: EntryPoint | None = None,
    ) -> EnvSpec:
        """Make an environment known by `id`; nothing is imported yet.

        Args:
            id: `[namespace/]Name[-vN]`.
            entry_point: what makes one environment: a callable, or `"module:attribute"`.
            reward_threshold: return from which on the task counts as solved.
            nondeterministic: whether episodes differ even with the same seed.
            max_episode_steps: after how many steps `make` truncates an episode.
            kwargs: keyword arguments of the entry points.
            additional_wrappers: what `make` wraps around the environment, innermost first.
            vector_entry_point: what makes a batch, given `num_envs`. Kernel environments need none.

        Returns:
            The spec, as it is stored.

        Raises:
            EnvAlreadyRegistered: the id is taken.
            ValueError: the id has another form, or `max_episode_steps` is less than 1.
            TypeError: `max_episode_steps` is not an integer.
        """
        if id in self._specs:
            raise EnvAlreadyRegistered(id)
        self._specs[id] = spec = EnvSpec(
            id,
            entry_point,
            reward_threshold=reward_threshold,
            nondeterministic=nondeterministic,
            max_episode_steps=max_episode_steps,
            kwargs=copied(kwargs or {}, arrays=True),
            additional_wrappers=tuple(additional_wrappers),
            vector_entry_point=vector_entry_point,
        )
        return spec

    def deregister(self, id: str) -> None:
        """Forget an environment.

        Raises:
            EnvNotFound: nothing has this id.
        """
        if id not in self._specs:
            raise self._not_found(id)
        del self._specs[id]

    def register_namespace(self, namespace: str, loader: Callable[[], Any]) -> None:
        """Let `loader` register the environments of `namespace` when one that is not registered is first asked for.

        A loader that raised is called again the next time; another loader of the same namespace takes its place.
        """
        self._loaders[namespace] = loader

    def spec(self, id: str) -> EnvSpec:
        """Return the stored spec of `id`, after loading its namespace or plugins if need be.

        Raises:
            EnvNotFound: nothing has this id.
            TypeError: the id is not a string.
        """
        if not isinstance(id, str):
            raise TypeError(f"id must be a str, got {id!r}")
        if id not in self._specs:
            self._load_namespace(id)
        if id not in self._specs:
            self._load_plugins()
        if id not in self._specs:
            self._load_namespace(id)  # a plugin may have announced it
        if id not in self._specs:
            raise self._not_found(id)
        return self._specs[id]

    def all_specs(self) -> list[EnvSpec]:
        """Return all specs in the order of registration, with those of plugins; no namespace is loaded for it."""
        self._load_plugins()
        return list(self._specs.values())

    def pprint(self) -> str:
        """Return a listing of all ids by namespace."""
        namespaces: dict[str, list[str]] = {}
        for spec in self.all_specs():
            namespaces.setdefault(spec.namespace or "", []).append(spec.id)
        lines = ["Registered environments:"]
        for namespace in sorted(namespaces):
            lines.append(f"  [{namespace or 'no namespace'}]")
            lines.extend(f"    {id}" for id in sorted(namespaces[namespace]))
        return "\n".join(lines)

    def make(self, id: str | EnvSpec, *, max_episode_steps: int | None = None, **kwargs: Any) -> Env[Any, Any]:
        """Make an environment, in a `TimeLimit` if it has one, and in the additional wrappers of its spec.

        The environment's `spec` describes just this one: `env.spec.make()` makes another like it.

        Args:
            id: an id, or a spec.
            max_episode_steps: limit of the steps of an episode, -1 for none; None for the limit of the spec.
            **kwargs: arguments for the entry point; they add to and replace those of the spec.

        Raises:
            EnvNotFound: nothing has this id, or no single environment can be made from it.
            TypeError: the entry point does not take the arguments, or did not return an `Env`.
            ValueError: `max_episode_steps` is 0 or less than -1.
        """
        return build_env(chosen(self._resolve(id), max_episode_steps, kwargs))

    def make_vec(
        self,
        id: str | EnvSpec,
        num_envs: int = 1,
        *,
        vectorization_mode: str | None = None,
        vector_kwargs: dict[str, Any] | None = None,
        wrappers: Iterable[EnvWrapper] = (),
        **env_kwargs: Any,
    ) -> VecEnv[Any, Any]:
        """Make a batch of environments.

        The batch's `spec` describes just this one: `make_vec(batch.spec, num_envs)` makes another like it.

        Args:
            id: an id, or a spec.
            num_envs: number of lanes, at least 1.
            vectorization_mode: "native" for the environment's own batch; "sync", "async" or "proc" for a batch of
                single environments in this thread, in an event loop, or in worker processes; None for "native" where
                there is such a batch and all wrappers have twins for batches, else "sync", with a warning if it is
                for the wrappers.
            vector_kwargs: arguments for the class of the batch.
            wrappers: what to wrap around each single environment, innermost first: functions of an environment. For a
                native batch they are tried out on one environment, and the vector twins of the wrappers that it gets
                are put around the batch; normalisers then share their statistics among all lanes.
            **env_kwargs: arguments for the environments, and `max_episode_steps` as in `make`.

        Raises:
            EnvNotFound: nothing has this id, or no single environment can be made from it.
            TypeError: an argument is of the wrong type, or is not known.
            ValueError: an argument is out of range, or there is no native batch, or none for these wrappers.
        """
        num_envs = positive_int("num_envs", num_envs)
        spec = chosen(self._resolve(id), env_kwargs.pop("max_episode_steps", None), env_kwargs)
        return build_vec_env(spec, num_envs, vectorization_mode, vector_kwargs or {}, tuple(wrappers))

    def __contains__(self, id: object) -> bool:
        return id in self._specs

    def __len__(self) -> int:
        return len(self._specs)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} environments)"

    def _resolve(self, id: str | EnvSpec) -> EnvSpec:
        return id if isinstance(id, EnvSpec) else self.spec(id)

    def _load_namespace(self, id: str) -> None:
        namespace, slash, _ = id.partition("/")
        loader = self._loaders.get(namespace) if slash else None
        if loader is None or namespace in self._loading:  # the loader itself may look an id up
            return
        self._loading.add(namespace)
        try:
            loader()
        finally:
            self._loading.remove(namespace)
        if self._loaders[namespace] is loader:
            del self._loaders[namespace]

    def _load_plugins(self) -> None:
        group, self._plugin_group = self._plugin_group, None
        if group is not None:
            load_plugins(group)

    def _not_found(self, id: str) -> EnvNotFound:
        from difflib import get_close_matches

        return EnvNotFound(id, get_close_matches(id, self._specs, n=3, cutoff=0.6))
