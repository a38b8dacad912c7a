"""What batches of single environments have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from sekai._types import ActType, InfoDict, ObsType
from sekai.core.result import ResetResult, StepResult
from sekai.error import ResetRequired, SpaceMismatch
from sekai.spaces import Space
from sekai.spaces.utils import concatenate, iterate
from sekai.utils.masking import stack_action_masks
from sekai.utils.seeding import as_seed
from sekai.vector.env_snapshot import VERSION, EnvSnapshot
from sekai.vector.infos import ListedInfos
from sekai.vector.result import VecResetResult, VecStepResult
from sekai.vector.snapshot import lane_indices
from sekai.vector.sub_envs import IdleRow
from sekai.vector.vec_env import VecEnv

EnvFn = Callable[[], Any]
Spaces = tuple[Space[Any], Space[Any]]


class EnvBatch(VecEnv[ObsType, ActType]):
    """A batch made of single environments: what it is given and what it returns, wherever the environments live.

    Args:
        env_fns: What makes each environment.
        autoreset: See `VecEnv`.
    """

    _started = False  # whether all lanes have been reset
    _have_action_mask = False

    def __init__(self, env_fns: Sequence[EnvFn], autoreset: bool | str = True) -> None:
        if not hasattr(env_fns, "__len__"):
            raise TypeError(f"env_fns must be a sequence of callables, got {env_fns!r}")
        if len(env_fns) == 0:
            raise ValueError("env_fns must hold at least one callable, got none")
        super().__init__(len(env_fns), autoreset)

    @property
    def action_mask(self) -> Callable[[], Any]:
        """`action_mask()` returns what each lane allows, as `action_space.sample_batch(N, mask=…)` takes it.

        There is no such attribute if no environment has a mask.
        """
        if not self._have_action_mask:
            raise AttributeError(f"no environment of {self!r} has an action_mask")
        return lambda: stack_action_masks(self.action_space, self._action_masks())

    def _action_masks(self) -> list[Any]:
        """The mask of each lane."""
        raise NotImplementedError

    def get_state(self, lanes: Any = None) -> EnvSnapshot:
        """A snapshot of lanes in mid-episode: pickled environments. Stepping on changes nothing in it.

        Args:
            lanes: A sequence of lane numbers or a bool mask `(N,)`; None for all lanes.

        Raises:
            VecEnvClosed: After `close`.
            ResetRequired: Before the first `reset`.
            Exception: What pickling an environment raises.
        """
        self._check_open()
        self._check_started()
        indices = np.arange(self.num_envs)[lane_indices(lanes, self.num_envs)].tolist()
        saved = self._save([lane in indices for lane in range(self.num_envs)])
        return EnvSnapshot(VERSION, *self._spaces, tuple(saved[lane] for lane in indices))

    def set_state(self, state: EnvSnapshot, lanes: Any = None) -> None:
        """Put lanes back to a snapshot, copies of whose environments take their place.

        Args:
            state: What `get_state` returned, of this batch or another.
            lanes: Which lanes, in the order of the snapshot's; None for all.

        Raises:
            VecEnvClosed: After `close`.
            TypeError: `state` is not a snapshot.
            ValueError: It does not fit these lanes. Nothing has changed then.
            ResetRequired: Before the first `reset`, unless it is for all lanes.
        """
        self._check_open()
        if not isinstance(state, EnvSnapshot):
            raise TypeError(f"state must be what get_state() returned, got {type(state).__name__}")
        indices = np.arange(self.num_envs)[lane_indices(lanes, self.num_envs)].tolist()
        state.check_fits(len(indices), *self._spaces)
        if len(indices) < self.num_envs:
            self._check_started()
        saved = dict(zip(indices, state.lanes, strict=True))
        self._restore([saved.get(lane) for lane in range(self.num_envs)])
        self._started = True

    def _save(self, mask: list[bool]) -> list[Any]:
        """The pickled lanes of `mask`, None for the others."""
        raise NotImplementedError

    def _restore(self, states: list[bytes | None]) -> None:
        """Put the lanes back whose state is not None."""
        raise NotImplementedError

    def _take_spaces(self, spaces: Iterable[Spaces | str]) -> None:
        """Take over the spaces of lane 0, which all lanes must have.

        Args:
            spaces: What `spaces_of` returned for each lane.

        Raises:
            TypeError: A lane has several agents.
            SpaceMismatch: A lane has others.
        """
        pairs: list[Spaces] = []
        for rank, pair in enumerate(spaces):
            if isinstance(pair, str):
                raise TypeError(
                    f"sub-envs must be single-agent envs, but sub-env {rank} is the multi-agent {pair}: step it by "
                    "itself, or write a sekai.Env around it, whose spaces are Dicts of all agents' spaces, say"
                )
            pairs.append(pair)
        (self.observation_space, self.action_space), *others = pairs
        for rank, pair in enumerate(others, 1):
            for name, first, other in zip(("observation_space", "action_space"), self._spaces, pair, strict=True):
                if first is not other and first != other:
                    raise SpaceMismatch(
                        f"all sub-envs must have the same spaces, but {name} of sub-env {rank} is {other!r} "
                        f"and of sub-env 0 {first!r}"
                    )

    @property
    def _spaces(self) -> Spaces:
        return self.observation_space, self.action_space

    # ---- arguments -------------------------------------------------------------------------------

    def _reset_arguments(self, seed: Any, options: Any, mask: Any) -> tuple[list[Any], list[Any], list[bool]]:
        """Check what `reset` was given, and return one seed, options and whether to reset it per lane."""
        self._check_open()
        chosen = self._check_mask(mask)
        if chosen is not None:
            self._check_started()
        taken = [True] * self.num_envs if chosen is None else chosen.tolist()
        seeds, each = self._expand_seeds(seed), self._expand_options(options)
        return [_checked(entry) if t else None for entry, t in zip(seeds, taken, strict=True)], each, taken

    def _step_arguments(self, actions: Any, mask: Any) -> tuple[list[Any], list[bool]]:
        """Check what `step` was given, and return one action and whether to step it per lane."""
        self._check_open()
        self._check_started()
        chosen = self._check_mask(mask)
        return self._split_actions(actions), [True] * self.num_envs if chosen is None else chosen.tolist()

    def _check_started(self) -> None:
        if not self._started:
            raise ResetRequired("call reset() first, for all lanes")

    def _split_actions(self, actions: Any, count: int | None = None) -> list[Any]:
        """The action of each of `count` lanes, by default all.

        Raises:
            TypeError: `actions` is no batch.
            ValueError: It holds another number of actions.
        """
        count = self.num_envs if count is None else count
        rows = list(iterate(self.action_space, actions))
        if len(rows) != count:
            raise ValueError(f"actions must have one entry per lane, {count}, got {len(rows)}")
        return rows

    def _one_value_each(self, name: str, values: Any) -> list[Any]:
        """What `set_attr` gives each lane."""
        if not isinstance(values, list):
            return [values] * self.num_envs
        self._check_count(f"values of {name!r}", values)
        return values

    # ---- results ---------------------------------------------------------------------------------

    def _batch_obs(self, observations: Sequence[Any]) -> Any:
        return concatenate(self.observation_space, observations)

    def _batch_reset(self, results: Sequence[ResetResult[Any] | StepResult[Any]]) -> VecResetResult[ObsType]:
        return VecResetResult(self._batch_obs([row.observation for row in results]), [row.info for row in results])

    def _batch_step(self, results: Sequence[StepResult[Any]]) -> VecStepResult[ObsType]:
        observations = self._batch_obs([row.observation for row in results])
        return VecStepResult(*self._step_fields(observations, *columns(results)))

    def _step_fields(
        self,
        observations: Any,
        rewards: list[Any],
        terminated: list[Any],
        truncated: list[Any],
        infos: list[InfoDict],
        valid: list[bool],
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], ListedInfos]:
        """What a result of batched observations and the `columns` of the lanes is made of."""
        listed = ListedInfos(infos, np.array(valid, np.bool_), self.observation_space, observations)
        return observations, np.array(rewards, np.float64), _flags(terminated), _flags(truncated), listed


def columns(rows: Sequence[StepResult[Any]]) -> tuple[list[Any], list[Any], list[Any], list[InfoDict], list[bool]]:
    """Rewards, terminated, truncated, infos, and which rows are transitions."""
    return (
        [row.reward for row in rows],
        [row.terminated for row in rows],
        [row.truncated for row in rows],
        [row.info for row in rows],
        [type(row) is not IdleRow for row in rows] if IdleRow in set(map(type, rows)) else [True] * len(rows),
    )


def _flags(values: list[Any]) -> NDArray[np.bool_]:
    return np.array(values, np.bool_) if any(values) else np.zeros(len(values), np.bool_)


def _checked(seed: Any) -> Any:
    return seed if seed is None or isinstance(seed, Generator) else as_seed(seed)
