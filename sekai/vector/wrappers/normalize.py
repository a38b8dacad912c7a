"""Bring the observations and rewards of a batch to a common scale."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic

import numpy as np

from sekai._types import ActType, ObsType
from sekai.kernels.running import normalize_rewards
from sekai.utils.leaves import copied
from sekai.utils.normalization import ObservationNormalizer
from sekai.utils.running_stats import RunningMeanStd
from sekai.vector.batches import as_arrays, as_batch, choose
from sekai.vector.progress import Progress
from sekai.vector.result import VecResetResult, VecStepResult
from sekai.vector.vec_env import VecEnv
from sekai.vector.vec_wrapper import Mask, VecObservationWrapper, VecWrapper, WrapperSnapshot, as_floats


class VecNormalizeObservation(VecObservationWrapper[Any, ActType, ObsType], Generic[ActType, ObsType]):
    """Normalises each Box part of observations by running mean and variance, which all lanes share.

    Every batch, of `reset` and `step`, updates the statistics and then is normalised with them, to float64. Only rows
    of lanes that were stepped or reset count, but not those that next-step autoreset only resets. Final observations
    are normalised, too, but do not update anything. See `NormalizeObservation` for the rest.

    Args:
        venv: The batch to wrap.
        epsilon: Added to the variance.
        stats: `"running"`: all observations count the same. `"ewm"`: those of older batches count less.
        halflife: With `"ewm"`, the number of batches after which the weight of one is halved.
        clip: Largest absolute value of the output, or None.

    Raises:
        TypeError: No part of the observation space is a Box or a MaskedBox.
        ValueError: `stats` is something else; `clip` or `halflife` is not more than 0.

    Attributes:
        normalizer: What does it.
        update_running_mean: Whether observations update the statistics; False freezes them.
    """

    _lane_state = ("_progress.over",)

    def __init__(
        self,
        venv: VecEnv[ObsType, ActType],
        epsilon: float = 1e-8,
        *,
        stats: str = "running",
        halflife: float = 1000.0,
        clip: float | None = None,
    ) -> None:
        super().__init__(venv)
        self.normalizer = ObservationNormalizer(
            venv.observation_space, stats=stats, halflife=halflife, epsilon=epsilon, clip=clip
        )
        self.observation_space = self.normalizer.output_space
        self.update_running_mean = True
        self._progress = Progress(venv)
        self._recent: Any = None  # the observations last returned, which lanes that are left out repeat

    @property
    def epsilon(self) -> float:
        """What is added to the variance."""
        return self.normalizer.epsilon

    @epsilon.setter
    def epsilon(self, epsilon: float) -> None:
        self.normalizer.epsilon = epsilon

    @property
    def obs_rms(self) -> Any:
        """The statistics, nested like the observation space; None for parts that are not normalised."""
        return self.normalizer.stats

    def observation(self, observations: ObsType) -> Any:
        """Return the observations, normalised; they update the statistics unless these are frozen."""
        return self.normalizer(observations, update=self.update_running_mean)

    def _some_normalized(self, observations: Any, samples: Mask, fresh: Mask) -> Any:
        """Normalise the observations of some lanes (flags, None for all), of which some are samples."""
        if samples is None:
            self._recent = self.observation(observations)
            return self._recent
        if self.update_running_mean:
            self.normalizer.update(observations, samples)
        space, normalized = self.observation_space, self.normalizer(observations, update=False)
        if fresh is not None and self._recent is not None:
            arrays = choose(fresh, as_arrays(space, normalized), as_arrays(space, self._recent))
            normalized = as_batch(space, arrays)
        self._recent = copied(normalized)
        return normalized

    def _final_observations(self, observations: Any, lanes: Any) -> Any:
        return self.normalizer(observations, update=False)

    def _on_reset(self, result: VecResetResult[ObsType], mask: Mask, prepared: Any) -> VecResetResult[Any]:
        self._progress.note_reset(mask)
        return VecResetResult(self._some_normalized(result.observations, mask, mask), result.infos)

    def _on_step(self, result: VecStepResult[ObsType], mask: Mask) -> VecStepResult[Any]:
        moving = self._progress.moving(mask)
        started = self._progress.note_step(result, mask)
        fresh = None if moving is None else moving.copy()
        if fresh is not None:
            fresh[started] = True
        observations = self._some_normalized(result.observations, moving, fresh)
        return self._seen(result, observations, self._final_infos(result))

    def set_state(self, state: WrapperSnapshot, lanes: Any = None) -> None:
        """Put lanes back to a snapshot, as every wrapper does; the statistics stay as they are."""
        super().set_state(state, lanes)
        self._recent = None

    def state_dict(self) -> Any:
        """Return a copy of all statistics, nested like the observation space, with lists for Tuples."""
        return self.normalizer.state_dict()

    def load_state_dict(self, state: Any) -> None:
        """Take over what `state_dict` returned. Nothing has changed if it does not fit.

        Raises:
            KeyError: A part is missing.
            ValueError: A part has another shape.
        """
        self.normalizer.load_state_dict(state)


class VecNormalizeReward(VecWrapper[ObsType, ActType, ObsType, ActType], Generic[ObsType, ActType]):
    """Divides rewards by the running deviation of the lanes' discounted returns; their mean is not subtracted.

    A step whose return is NaN or infinite counts neither for its lane's return nor for the statistics.

    Args:
        venv: The batch to wrap.
        gamma: Discount of the returns.
        epsilon: Added to the variance.

    Attributes:
        gamma: As given.
        epsilon: As given.
        return_rms: Statistics of the returns of all lanes.
        update_running_mean: Whether steps update the statistics; False freezes them.
    """

    _lane_state = ("_returns", "_progress.over")

    def __init__(self, venv: VecEnv[ObsType, ActType], gamma: float = 0.99, epsilon: float = 1e-8) -> None:
        super().__init__(venv)
        self.gamma = gamma
        self.epsilon = epsilon
        self.return_rms = RunningMeanStd()
        self.update_running_mean = True
        self._returns = np.zeros(self.num_envs)
        self._everyone = np.ones(self.num_envs, np.bool_)
        self._progress = Progress(venv)

    def _on_reset(self, result: VecResetResult[ObsType], mask: Mask, prepared: Any) -> VecResetResult[ObsType]:
        self._progress.note_reset(mask)
        self._returns[... if mask is None else mask] = 0.0
        return result

    def _on_step(self, result: VecStepResult[ObsType], mask: Mask) -> VecStepResult[ObsType]:
        moving = self._progress.moving(mask)
        self._progress.note_step(result, mask)
        rewards, stats = np.empty(self.num_envs), self.return_rms
        left_out = normalize_rewards(
            as_floats(result.rewards), result.dones, self._everyone if moving is None else moving, self._returns,
            stats.memory, self.update_running_mean, stats.epsilon, self.gamma, self.epsilon, rewards,
        )  # fmt: skip
        if left_out:
            stats.warn(left_out)
        return VecStepResult(result.observations, rewards, result.terminated, result.truncated, result.infos)

    def state_dict(self) -> dict[str, Any]:
        """Return a copy of the statistics of the returns."""
        return self.return_rms.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over what `state_dict` returned.

        Raises:
            KeyError: Something is missing.
            ValueError: The statistics are not of single numbers.
        """
        self.return_rms.load_state_dict(state)
