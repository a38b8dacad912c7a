"""What `reset` and `step` return."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Generic, Literal

from sekai._types import AgentID, InfoDict, ObsType


class FrozenResult:
    """Lets frozen classes with hand-written `__slots__` be pickled and copied.

    (`slots=True` would do both, but the class that it makes cannot be called as `StepResult[int](...)`.)
    """

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]


@dataclass(frozen=True, init=False)
class StepResult(FrozenResult, Generic[ObsType]):
    """What one step of an environment led to.

    Attributes:
        observation: the next observation.
        reward: reward of the step.
        terminated: a terminal state of the decision process was reached.
        truncated: the episode was cut short for a reason outside the decision process.
        info: whatever else the environment tells.
    """

    __slots__ = ("info", "observation", "reward", "terminated", "truncated")

    observation: ObsType
    reward: float
    terminated: bool
    truncated: bool
    info: InfoDict

    # A result is made in every step of every layer. The slots' own setters fill it three times as fast as the
    # `object.__setattr__` of a generated frozen `__init__`.
    def __init__(self, observation: ObsType, reward: float, terminated: bool, truncated: bool, info: InfoDict) -> None:
        _set_observation(self, observation)
        _set_reward(self, reward)
        _set_terminated(self, terminated)
        _set_truncated(self, truncated)
        _set_info(self, info)

    @property
    def done(self) -> bool:
        """Whether the episode ended with this step."""
        return self.terminated or self.truncated


_set_observation, _set_reward, _set_terminated, _set_truncated, _set_info = (
    getattr(StepResult, field.name).__set__ for field in fields(StepResult)
)


@dataclass(frozen=True)
class ResetResult(FrozenResult, Generic[ObsType]):
    """The start of an episode.

    Attributes:
        observation: the first observation.
        info: whatever else the environment tells.
    """

    __slots__ = ("info", "observation")

    observation: ObsType
    info: InfoDict

    @property
    def done(self) -> Literal[False]:
        """Always False, so that one variable can hold either result in a loop."""
        return False


@dataclass(frozen=True)
class MAStepResult(FrozenResult, Generic[ObsType, AgentID]):
    """What one step of a multi-agent environment led to; every dict is keyed by agent.

    Attributes:
        observations: the next observations.
        rewards: rewards of the step.
        terminated: who reached a terminal state.
        truncated: who was cut short.
        info: whatever else the environment tells.
    """

    __slots__ = ("info", "observations", "rewards", "terminated", "truncated")

    observations: dict[AgentID, ObsType]
    rewards: dict[AgentID, float]
    terminated: dict[AgentID, bool]
    truncated: dict[AgentID, bool]
    info: dict[AgentID, Any]

    @property
    def all_done(self) -> bool:
        """Whether there are agents, and all of them are done."""
        done = self._done()
        return bool(done) and all(done)

    @property
    def any_done(self) -> bool:
        """Whether some agent is done."""
        return any(self._done())

    def _done(self) -> list[bool]:
        agents = {**self.terminated, **self.truncated}
        return [bool(self.terminated.get(agent) or self.truncated.get(agent)) for agent in agents]


@dataclass(frozen=True)
class MAResetResult(FrozenResult, Generic[ObsType, AgentID]):
    """The start of a multi-agent episode; every dict is keyed by agent.

    Attributes:
        observations: the first observations.
        info: whatever else the environment tells.
    """

    __slots__ = ("info", "observations")

    observations: dict[AgentID, ObsType]
    info: dict[AgentID, Any]

    @property
    def all_done(self) -> Literal[False]:
        """Always False, as in `ResetResult.done`."""
        return False

    @property
    def any_done(self) -> Literal[False]:
        """Always False, as in `ResetResult.done`."""
        return False
