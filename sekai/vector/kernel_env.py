"""Single environments written as kernels: one lane of their batch."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator, SeedSequence

from sekai._types import ActType, ObsType
from sekai.core.env import Env
from sekai.core.result import ResetResult, StepResult
from sekai.error import InvalidAction, ResetRequired
from sekai.utils.seeding import as_seed
from sekai.vector.kernel import NO_LIMIT, KernelVecEnv


class KernelEnv(Env[ObsType, ActType]):
    """One environment, seen through a batch of one lane.

    A subclass names its batch class:

        class PoleEnv(sekai.KernelEnv):
            batch = PoleVecEnv

    Parameters are attributes; a change takes effect at the next step. A subclass may override `reset` and `step`
    like any `Env`. A step after the end of an episode raises `ResetRequired`, unless the class says otherwise in
    `_step_past_end`.

    Args:
        debug: Run the lane functions as plain Python: one can print, set break points, and an index out of range is
            an error.
        math: `"own"` or `"libm"`: see `KernelVecEnv`.
        **params: Values of the batch's `Params`.
    """

    batch: ClassVar[type[KernelVecEnv[Any, Any]]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "batch" in cls.__dict__:
            for name in cls.batch._attributes:
                if not hasattr(cls, name):
                    setattr(cls, name, LaneParam(name))
            for name in cls.batch.lane_values:
                if not hasattr(cls, name):
                    setattr(cls, name, LaneValue(name))
            if cls.batch.single is None:
                cls.batch.single = cls
            cls._state_type = namedtuple("State", cls.batch._state.kinds)  # type: ignore[misc]

    _state_type: ClassVar[Any]

    def __init__(self, *, debug: bool = False, math: str = "own", **params: Any) -> None:
        vec = self._vec = self.batch(1, autoreset=False, debug=debug, math=math, **params)
        self.math = math
        self.observation_space = vec.observation_space
        self.action_space = vec.action_space
        self._info = vec._empty_info(1)
        self._over = False

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> ResetResult[ObsType]:
        """Start an episode.

        Args:
            seed: An int >= 0 re-seeds `rng`; a Generator becomes `rng`; None goes on with the stream there is.
            options: Values of the batch's `Options`; other keys are ignored.

        Raises:
            TypeError, ValueError: The seed or an option is not what it should be; nothing has changed then.
        """
        vec = self._vec
        words = vec._option_words([options])
        if vec._calls_python:
            vec._begin(lambda: self._set_rng(seed), vec._everyone, words)
        else:
            self._set_rng(seed)
        observation = vec._empty_observations(1)
        params = vec._param_rows.packed(words)
        vec._run(vec._program.reset_one, vec._packed_memory, params, observation, self._info)
        vec._started, self._over = True, False
        return ResetResult(self._only(observation), self._info_dict())

    def step(self, action: ActType) -> StepResult[ObsType]:
        """Carry out an action.

        Raises:
            InvalidAction: The action does not lie in the action space (where the env clips actions: is not finite).
            TypeError: The env clips actions, and this one is not a number.
            ResetRequired: Before the first `reset`, or (by default) after the end of an episode.
        """
        vec = self._vec
        if not vec._started or self._over:
            self._check_episode(action)
        actions = vec._actions.pack_one(action)
        if vec._calls_python:
            vec._before_step(actions, vec._everyone, ~vec._everyone)
        observation = vec._empty_observations(1)
        valid, reward, terminated, truncated = vec._run(
            vec._program.step_one,
            vec._packed_memory,
            vec._param_rows.packed(vec._param_rows.words),
            actions,
            vec._actions.accepted,
            NO_LIMIT,
            observation,
            self._info,
        )
        if not valid:
            raise InvalidAction(action, self.action_space)
        self._over = terminated or truncated
        return StepResult(self._only(observation), reward, terminated, truncated, self._info_dict())

    def _only(self, observations: Any) -> Any:
        """The observation of the only lane."""
        if self._vec._observation_names is None:
            return observations[0]
        return {name: rows[0] for name, rows in self._vec._shown(observations).items()}

    def _check_episode(self, action: Any) -> None:
        if not (self._vec.clips_actions or self.action_space.contains(action)):
            raise InvalidAction(action, self.action_space)
        if not self._vec._started:
            raise ResetRequired()
        self._step_past_end()

    def _step_past_end(self) -> None:
        """What a step after the end of the episode does first; may raise or warn."""
        raise ResetRequired("the episode is over: call reset() before step()")

    def _info_dict(self) -> dict[str, Any]:
        rows = self._vec._reset_infos
        return rows.lane(self._info, 0) if rows.names else {}

    def observe(self) -> ObsType:
        """The current observation.

        Raises:
            ResetRequired: Before the first `reset`.
        """
        if not self._vec._started:
            raise ResetRequired()
        observations: Any = self._vec.reset(mask=np.zeros(1, np.bool_)).observations
        return self._only(tuple(observations.values()) if isinstance(observations, dict) else observations)  # type: ignore[no-any-return]

    @property
    def state(self) -> Any:
        """The named values of the batch's `State`, a copy; None before the first reset.

        Assigning takes such a tuple, a sequence in the same order, or a dict of some of the names.
        """
        vec = self._vec
        if not vec._started:
            return None
        return self._state_type(*(kind(vec._state_row(name)[0]) for name, kind in vec._state.kinds.items()))

    @state.setter
    def state(self, values: Any) -> None:
        names = self._vec._state.kinds
        if not isinstance(values, Mapping):
            values = list(values)
            if len(values) != len(names):
                raise ValueError(f"state must have {len(names)} values ({', '.join(names)}), got {len(values)}")
            values = dict(zip(names, values, strict=True))
        unknown = [name for name in values if name not in names]
        if unknown:
            raise ValueError(f"state has no value {unknown[0]!r}; it has {', '.join(names)}")
        self._put_state(values)

    def _put_state(self, values: Mapping[str, Any]) -> None:
        """Check values of the state and write them; an env that was never reset begins with them.

        NaN is accepted where NaN is.
        """
        vec = self._vec
        checked = {
            name: vec._state.check(name, value)
            for name, value in values.items()
            if value == value or not np.isnan(vec._state_row(name)[0])
        }
        for name, value in checked.items():
            vec._state_row(name)[0] = value
        self._set_rng(None)
        vec._started = True

    @property
    def rng(self) -> Generator:
        """The generator that the lane's kernels draw from."""
        if not self._vec._seeded[0]:
            self._set_rng(None)
        return self._vec._generator(0)

    @rng.setter
    def rng(self, generator: Generator) -> None:
        self._set_rng(generator)

    def _set_rng(self, seed: Any) -> int:
        if seed is not None or not self._vec._seeded[0]:
            seed = as_seed(SeedSequence().entropy) if seed is None else seed
            self._vec._seed_each({0: seed})
            self._rng_seed = -1 if isinstance(seed, Generator) else as_seed(seed)
        return -1 if self._rng_seed is None else self._rng_seed


class LaneParam:
    """A parameter as an attribute: of an env, the lane's value; of the class, the default."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.__doc__ = f"The parameter `{name}`."

    def __get__(self, env: Any, cls: Any) -> Any:
        return cls.batch._params.defaults.get(self.name, self) if env is None else env._vec._param_rows.get(self.name)

    def __set__(self, env: Any, value: Any) -> None:
        env._vec._set_param(self.name, value)


class LaneValue:
    """What the batch holds a value of per lane, as an attribute of its only lane; read-only."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, env: Any, cls: Any) -> Any:
        if env is None:
            return self
        value = getattr(env._vec, self.name)[0]
        return value.item() if isinstance(value, np.generic) and value.dtype.kind in "biuf" else value

    def __set__(self, env: Any, value: Any) -> None:
        raise AttributeError(f"{self.name} is read-only")


class Shared:
    """What all lanes of a batch share, as an attribute of a single env."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, env: Any, cls: Any) -> Any:
        return self if env is None else getattr(env._vec, self.name)

    def __set__(self, env: Any, value: Any) -> None:
        setattr(env._vec, self.name, value)
