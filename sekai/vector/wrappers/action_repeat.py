"""Decide only every few steps, in a batch."""

from __future__ import annotations

from typing import Any, Generic

import numpy as np
from numpy.typing import NDArray

from sekai._types import ActType, InfoDict, ObsType
from sekai.spaces import Space
from sekai.utils.integers import positive_int
from sekai.vector.batches import merge
from sekai.vector.info_layers import InfoLayer, with_count
from sekai.vector.result import VecStepResult
from sekai.vector.vec_env import VecEnv
from sekai.vector.vec_wrapper import VecWrapper, final_batch

Flags = NDArray[np.bool_]


class VecActionRepeat(VecWrapper[ObsType, ActType, ObsType, ActType], Generic[ObsType, ActType]):
    """Carries out each lane's action several times, or until its episode ends, and adds up the rewards.

    Lanes whose episodes end wait for the others. Everything else is that of a lane's last step;
    `infos[i]["action_repeats"]` is how many there were.

    Args:
        venv: The batch to wrap; its `step` takes a mask.
        repeat: How many times, at least 1.

    Raises:
        TypeError: `repeat` is not an integer.
        ValueError: `repeat` is less than 1.

    Attributes:
        repeat: As given.
    """

    def __init__(self, venv: VecEnv[ObsType, ActType], repeat: int) -> None:
        self.repeat = positive_int("repeat", repeat)
        super().__init__(venv)

    def step(self, actions: ActType, mask: Any = None) -> VecStepResult[ObsType]:
        """Step `venv` several times."""
        steps = Repeats(super().step(actions, mask), self.venv.observation_space)
        while steps.count < self.repeat and steps.running.any():
            steps.add(self.venv.step(actions, **steps.mask))
        return steps.result()

    async def async_step(self, actions: ActType, mask: Any = None) -> VecStepResult[ObsType]:
        """Step `venv` asynchronously several times."""
        steps = Repeats(await super().async_step(actions, mask), self.venv.observation_space)
        while steps.count < self.repeat and steps.running.any():
            steps.add(await self.venv.async_step(actions, **steps.mask))
        return steps.result()


class Repeats:
    """The steps that make up one.

    Args:
        first: The result of the first one.
        space: Space of one observation.

    Attributes:
        running: Lanes whose episodes go on.
    """

    def __init__(self, first: VecStepResult[Any], space: Space[Any]) -> None:
        self._space = space
        self._results: list[VecStepResult[Any]] = []
        self._rewards = np.full(first.rewards.shape, -0.0)  # to which every number can be added without a change
        self._counts = np.zeros(first.rewards.shape, np.int64)
        self.running = first.valid
        self.add(first)

    @property
    def count(self) -> int:
        """How many steps there were."""
        return len(self._results)

    @property
    def mask(self) -> dict[str, Flags]:
        """The lanes to step next, as an argument if they are not all."""
        return {} if self.running.all() else {"mask": self.running}

    def add(self, result: VecStepResult[Any]) -> None:
        """Add a step of the lanes that run."""
        self._results.append(result)
        self._rewards += result.rewards
        self._counts += self.running
        self.running = self.running & ~result.dones

    def result(self) -> VecStepResult[Any]:
        """Return all of them as one."""
        last = self._results[-1]  # other lanes' observations and flags are those of their own last steps
        infos = RepeatInfos(self._results, self._counts, self._space)
        return VecStepResult(last.observations, self._rewards, last.terminated, last.truncated, infos)


class RepeatInfos(InfoLayer):
    """For each lane the info of its last step, with the number of its steps.

    Args:
        results: The steps.
        counts: How many of them each lane took part in.
        space: Space of one observation.
    """

    def __init__(self, results: list[VecStepResult[Any]], counts: NDArray[np.int64], space: Space[Any]) -> None:
        super().__init__(results[0])
        self._results = results
        self._counts = counts
        ends = [(result.final_lanes, final_batch(space, result)) for result in results if result.final_lanes.size]
        self._ends = merge(space, ends) if ends else (results[0].final_lanes, results[0].final_observations)

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Name to array `(N, …)`; only if the infos inside have it."""
        each = [result.infos.arrays for result in self._results]  # type: ignore[attr-defined]
        last, lanes = np.maximum(self._counts - 1, 0), np.arange(len(self))
        arrays = {name: np.stack([arrays[name] for arrays in each])[last, lanes] for name in each[0]}
        return {**arrays, "action_repeats": self._counts}

    @property
    def final_lanes(self) -> NDArray[np.int64]:
        """The lanes whose episode ended in one of the steps and that were reset in it, ascending."""
        return self._ends[0]

    @property
    def final_observations(self) -> Any:
        """Their last observations, a batch in that order."""
        return self._ends[1]

    def lane(self, i: int) -> InfoDict:
        """Build the info of lane i."""
        count = int(self._counts[i])
        info = self._results[max(count - 1, 0)].infos[i]
        return with_count(info, "action_repeats", count) if count else info
