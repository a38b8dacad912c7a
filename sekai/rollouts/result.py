"""What a rollout returns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sekai.core.result import ResetResult, StepResult
from sekai.utils.integers import as_int
from sekai.vector.batches import map_arrays, put
from sekai.vector.kernel import KernelVecEnv
from sekai.vector.snapshot import Snapshot


class Episodes(NamedTuple):
    """Episodes that ended, ordered by step and lane; arrays of equal length.

    Attributes:
        returns: Sums of rewards, float64.
        lengths: Numbers of steps, int64.
        lanes: Lanes they ran in.
        end_steps: Steps of the rollout that ended them.
        terminated: Whether they reached a terminal state.
        truncated: Whether they were cut short.
        final_observations: Their last observations, if the rollout recorded observations in same-step mode; else empty.
    """

    returns: NDArray[np.float64]
    lengths: NDArray[np.int64]
    lanes: NDArray[np.int64]
    end_steps: NDArray[np.int64]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    final_observations: Any


class Statistics(NamedTuple):
    """How the episodes of a rollout ended, all together; NaN if none did.

    Attributes:
        num_episodes: How many.
        return_mean, return_std: Mean and standard deviation of their sums of rewards.
        length_mean, length_std: The same of their numbers of steps.
    """

    num_episodes: int
    return_mean: float
    return_std: float
    length_mean: float
    length_std: float


NO_EPISODES = Statistics(0, np.nan, np.nan, np.nan, np.nan)


@dataclass(eq=False)
class Rollout:
    """What `rollout` did: T steps of N lanes. Arrays are time-major; those that were not recorded are None.

    An episode that began before the rollout counts from its beginning in a kernel env, in other batches from where the
    rollout began. Observations and actions of Dict and Tuple spaces are dicts and tuples of arrays.

    Attributes:
        num_envs: N.
        num_steps: T.
        seconds: Time it took, without compiling.
        statistics: Of the episodes that ended.
        autoreset_mode: The batch's.
        episodes: The episodes that ended, one by one; None if only statistics were asked for.
        observations: `(T, N, …)`: what the actions were chosen by.
        last_observations: `(N, …)`: those after the last step.
        actions: `(T, N, …)`: as kernels take them, int64 or float64 (float32 if they were given as that, and the env
            calculates with it); in other batches of the action space's dtype.
        rewards: float64 `(T, N)`.
        terminated: bool `(T, N)`.
        truncated: bool `(T, N)`.
        valid: bool `(T, N)`: rows that are real transitions, not those of lanes that waited or were only reset.
        infos: Name to array `(T, N)`.
    """

    num_envs: int
    num_steps: int
    seconds: float = 0.0
    statistics: Statistics = NO_EPISODES
    autoreset_mode: str = "same_step"
    episodes: Episodes | None = None
    observations: Any = None
    last_observations: Any = None
    actions: Any = None
    rewards: NDArray[np.float64] | None = None
    terminated: NDArray[np.bool_] | None = None
    truncated: NDArray[np.bool_] | None = None
    valid: NDArray[np.bool_] | None = None
    infos: dict[str, NDArray[Any]] = field(default_factory=dict)
    _start: Start | None = field(default=None, repr=False)
    _arrays: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def steps_per_second(self) -> float:
        """Env-steps a second."""
        return self.num_envs * self.num_steps / self.seconds

    @property
    def next_observations(self) -> Any:
        """`(T, N, …)`: the true successors of `observations`; where an episode ended, its last observation.

        Raises:
            ValueError: Observations were not recorded.
        """
        if self.observations is None or self.episodes is None:
            raise ValueError('next_observations needs a rollout with "observations" in record')
        successors = map_arrays(lambda array: array[1:].copy(), self._arrays["observations"])
        if self.autoreset_mode == "same_step":
            put(successors, (self.episodes.end_steps, self.episodes.lanes), self.episodes.final_observations)
        return successors

    def replay(self, lane: int, episode: int) -> Iterator[ResetResult[Any] | StepResult[Any]]:
        """Play one episode of a lane again on a single env, and yield its results: the start, then each step.

        Args:
            lane: The lane.
            episode: Which of the episodes that the lane took steps in: 0 for that of its first step. If it began
                before the rollout, it starts here from where it was.

        Raises:
            ValueError: Actions were not recorded, or the batch is not a kernel env, or it calls own Python.
            TypeError: The lane or the episode is not an int.
            IndexError: It does not exist.
        """
        if self._start is None or self.valid is None or self.episodes is None:
            raise ValueError('replay needs "actions" in record, and a kernel env that calls no Python')
        lane, episode = as_int("lane", lane), as_int("episode", episode)
        if not 0 <= lane < self.num_envs:
            raise IndexError(f"lane must lie in 0 … {self.num_envs - 1}, got {lane}")
        steps = np.flatnonzero(self.valid[:, lane])
        numbers = np.searchsorted(self.episodes.end_steps[self.episodes.lanes == lane], steps)
        if episode not in numbers:
            raise IndexError(f"lane {lane} has {numbers.max(initial=-1) + 1} episodes here, got episode {episode}")
        return self._replay(self._start.lane(lane), lane, episode, steps, numbers)

    def _replay(
        self, env: Any, lane: int, episode: int, steps: NDArray[np.int64], numbers: NDArray[np.int64]
    ) -> Iterator[ResetResult[Any] | StepResult[Any]]:
        """Play the steps of a lane, which belong to the episodes `numbers`, and yield what belongs to one of them."""
        waits = steps[0] > 0
        result: Any = env.reset() if waits else ResetResult(env.unwrapped.observe(), {})
        begun = -1
        for step, number in zip(steps.tolist(), numbers.tolist(), strict=True):
            if number > episode:
                return
            if number > begun:
                if number > 0:
                    result = env.reset()
                if number == episode:
                    yield result
                begun = number
            result = env.step(self.actions[step, lane])
            if number == episode:
                yield result


class Start(NamedTuple):
    """Where the lanes of a kernel env were when a rollout began.

    Attributes:
        env: The class of the batch.
        arguments: What a batch with the same parameters is constructed with.
        state: The lanes.
    """

    env: type[KernelVecEnv[Any, Any]]
    arguments: dict[str, Any]
    state: Snapshot

    def lane(self, i: int) -> Any:
        """A single env that goes on from where lane i was."""
        one = self.env(1, **self.arguments)
        state = self.state.of_lane(i)
        one._param_rows.words = state.params.copy()
        one.set_state(state)
        return one.lane(0)


def start_of(vec: KernelVecEnv[Any, Any]) -> Start:
    """Where a batch is now."""
    return Start(type(vec), {"max_episode_steps": vec.max_episode_steps, **vec.lane_kwargs(0)}, vec.get_state())
