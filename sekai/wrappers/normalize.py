"""Bring observations and rewards to a common scale."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic

from sekai._types import ActType, ObsType
from sekai.core.result import ResetResult, StepResult
from sekai.core.wrapper import ObservationWrapper, ResultWrapper
from sekai.kernels.running import normalize_reward
from sekai.utils.normalization import ObservationNormalizer
from sekai.utils.running_stats import RunningMeanStd

if TYPE_CHECKING:
    from sekai.core.env import Env


class NormalizeObservation(ObservationWrapper[Any, ActType, ObsType], Generic[ActType, ObsType]):
    """Normalises each Box part of observations (of a MaskedBox, the occupied slots) by its running mean and variance.

    Every observation, of `reset` and `step`, updates the statistics and then is normalised with them, to float64. One
    with NaN or infinities does not update them (see `sekai.RunningMeanStd`). Other parts are left as they are.

    Args:
        env: The environment to wrap.
        epsilon: Added to the variance.
        stats: `"running"`: all observations count the same. `"ewm"`: the older ones count less.
        halflife: With `"ewm"`, the number of observations after which the weight of one is halved.
        clip: Largest absolute value of the output, or None.

    Raises:
        TypeError: No part of the observation space is a Box or a MaskedBox.
        ValueError: `stats` is something else; `clip` or `halflife` is not more than 0.

    Attributes:
        normalizer: What does it, for batches too.
        update_running_mean: Whether observations update the statistics; False freezes them.
    """

    def __init__(
        self,
        env: Env[ObsType, ActType],
        epsilon: float = 1e-8,
        *,
        stats: str = "running",
        halflife: float = 1000.0,
        clip: float | None = None,
    ) -> None:
        super().__init__(env)
        self.normalizer = ObservationNormalizer(
            env.observation_space, stats=stats, halflife=halflife, epsilon=epsilon, clip=clip
        )
        self.observation_space = self.normalizer.output_space
        self.update_running_mean = True

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

    def observation(self, obs: ObsType) -> Any:
        """Return the observation, normalised; it updates the statistics unless they are frozen."""
        return self.normalizer(obs, update=self.update_running_mean)

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


class NormalizeReward(ResultWrapper[ObsType, ActType, ObsType], Generic[ObsType, ActType]):
    """Divides rewards by the running deviation of the discounted return; their mean is not subtracted.

    A step whose return is NaN or infinite counts neither for the return nor for its statistics.

    Args:
        env: The environment to wrap.
        gamma: Discount of the return.
        epsilon: Added to the variance.

    Attributes:
        gamma: As given.
        epsilon: As given.
        return_rms: Statistics of the return.
        update_running_mean: Whether steps update the statistics; False freezes them.
    """

    def __init__(self, env: Env[ObsType, ActType], gamma: float = 0.99, epsilon: float = 1e-8) -> None:
        super().__init__(env)
        self.gamma = gamma
        self.epsilon = epsilon
        self.return_rms = RunningMeanStd()
        self.update_running_mean = True
        self._returns = 0.0

    def _wrap_reset(self, result: ResetResult[ObsType]) -> ResetResult[ObsType]:
        self._returns = 0.0
        return result

    def _wrap_step(self, result: StepResult[ObsType]) -> StepResult[ObsType]:
        stats = self.return_rms
        reward, returns, is_sound = normalize_reward(
            float(result.reward), self._returns, stats.memory, self.update_running_mean, stats.epsilon, self.gamma,
            self.epsilon,
        )  # fmt: skip
        if not is_sound:
            stats.warn(1)
        self._returns = 0.0 if result.done else returns
        return StepResult(result.observation, reward, result.terminated, result.truncated, result.info)

    def state_dict(self) -> dict[str, Any]:
        """Return a copy of the statistics of the return."""
        return self.return_rms.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over what `state_dict` returned.

        Raises:
            KeyError: Something is missing.
            ValueError: The statistics are not of single numbers.
        """
        self.return_rms.load_state_dict(state)
