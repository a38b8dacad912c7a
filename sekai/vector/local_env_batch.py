"""Batches of single environments that live in this process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sekai._types import ActType, ObsType
from sekai.vector.env_batch import EnvBatch, EnvFn
from sekai.vector.sub_envs import LaneError, SubEnvs, first_error, spaces_of


class LocalEnvBatch(EnvBatch[ObsType, ActType]):
    """A batch whose environments live in this process."""

    def __init__(self, env_fns: Sequence[EnvFn], *, autoreset: bool | str = True) -> None:
        super().__init__(env_fns, autoreset)
        built = SubEnvs.build(env_fns)
        if isinstance(built, LaneError):
            raise built.error
        self._sub_envs = built
        try:
            self._take_spaces(spaces_of(env) for env in self.envs)
            self._have_action_mask = self._sub_envs.have_action_mask()
        except BaseException:
            self._sub_envs.close()
            raise

    @property
    def envs(self) -> list[Any]:
        """The environments, by lane."""
        return [lane.env for lane in self._sub_envs.lanes]

    def call(self, method: str, *args: Any, **kwargs: Any) -> list[Any]:
        """Call a method of every environment, or of a wrapper around it; an attribute that is none is returned.

        Raises:
            AttributeError: An environment has no such attribute.
        """
        return checked(self._sub_envs.call(method, args, kwargs))

    def get_attr(self, name: str) -> list[Any]:
        """Return the attribute `name` of every environment, looked up through its wrappers.

        Raises:
            AttributeError: An environment has no such attribute.
        """
        return checked(self._sub_envs.get_attr(name))

    def set_attr(self, name: str, values: Any) -> None:
        """Set an attribute of every environment, on the layer that has it.

        Args:
            name: The attribute.
            values: A list holds one value per lane; anything else, tuples and arrays too, goes to all.

        Raises:
            ValueError: A list of another length.
        """
        checked(self._sub_envs.set_attr(self._one_value_each(name, values), name))

    def close(self) -> None:
        """Close every environment; the first error of one is raised when all have been asked."""
        if not self.closed:
            self.closed = True
            checked(self._sub_envs.close())

    def _save(self, mask: list[bool]) -> list[Any]:
        return checked(self._sub_envs.get_state(mask))

    def _restore(self, states: list[bytes | None]) -> None:
        checked(self._sub_envs.set_state(states))

    def _action_masks(self) -> list[Any]:
        return checked(self._sub_envs.action_mask())


def checked(results: list[Any]) -> list[Any]:
    """Return the results of all lanes, or raise what the environment of the lowest lane raised."""
    failure = first_error(results)
    if failure is not None:
        raise failure.error
    return results
