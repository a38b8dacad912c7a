"""Mean and variance of a stream of samples, kept up to date batch by batch."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekai.kernels import running
from sekai.utils.flat import flat

Floats = NDArray[np.float64]


class RunningStats:
    """What both kinds of statistics have in common. Their arithmetic is in `sekai.kernels.running`.

    A sample that holds NaN, an infinity or a number whose square nearly overflows (beyond some 1e150) is left out as a
    whole, so that it does not spoil the statistics for good. An object warns of the first one.

    Attributes:
        shape: Shape of a sample.
        memory: What the kernels work on.
    """

    _kind: ClassVar[int]
    _parameter: float  # what the kernels have to know about the kind

    def __init__(self, shape: int | Sequence[int] = ()) -> None:
        self.shape = np.broadcast_shapes(shape)  # an int is a shape of one axis
        self._size = math.prod(self.shape)
        self.memory = np.zeros((running.ROWS, running.width(max(self._size, 1))))
        self.memory[running.VAR] = 1.0
        self._has_warned = False

    @property
    def mean(self) -> Floats:
        """Mean of the samples, float64 of `shape`, a copy; 0 before the first one."""
        return np.array(self._row(running.MEAN))

    @mean.setter
    def mean(self, mean: ArrayLike) -> None:
        self._row(running.MEAN)[...] = mean

    @property
    def var(self) -> Floats:
        """Variance of the samples (not of what they are drawn from), float64 of `shape`, a copy; 1 at first."""
        return np.array(self._row(running.VAR))

    @var.setter
    def var(self, var: ArrayLike) -> None:
        self._row(running.VAR)[...] = var

    @property
    def std(self) -> Floats:
        """Standard deviation of the samples, float64 of `shape`."""
        return np.sqrt(self.var, out=self.var)

    @property
    def count(self) -> float:
        """How many samples there were."""
        return float(self.memory[running.WEIGHTS, running.COUNT])

    @count.setter
    def count(self, count: float) -> None:
        self.memory[running.WEIGHTS, running.COUNT] = count

    def update(self, batch: ArrayLike) -> None:
        """Take in a batch of samples.

        Args:
            batch: Real numbers, `(n, *shape)`; n may be 0.

        Raises:
            TypeError: The batch holds something else than numbers.
            ValueError: It has another shape.
        """
        array = np.asarray(batch)
        if array.ndim == 0 or array.shape[1:] != self.shape:
            raise ValueError(f"batch must have shape (n, *{self.shape}), got {array.shape}")
        self._take_in(flat(array))

    def update_from_moments(self, batch_mean: ArrayLike, batch_var: ArrayLike, batch_count: float) -> None:
        """Take in samples of which only the moments are known.

        Args:
            batch_mean: Their mean, which is broadcast to `shape`.
            batch_var: Their variance, which is too.
            batch_count: How many they are; nothing happens if there are none.

        Raises:
            ValueError: A moment does not broadcast to `shape`.
        """
        mean, var = np.broadcast_to(batch_mean, self.shape), np.broadcast_to(batch_var, self.shape)
        if batch_count > 0:
            self._row(running.BATCH_MEAN)[...] = mean
            self._row(running.BATCH_VAR)[...] = var
            count = float(batch_count)
            if not running.absorb_moments(self._size, self.memory, self._kind, self._parameter, count):
                self.warn(count)

    def normalize(self, x: ArrayLike, epsilon: float = 1e-8) -> Floats:
        """Return `(x - mean) / sqrt(var + epsilon)`, float64 of the shape that `x` and `shape` broadcast to."""
        shape = np.broadcast_shapes(np.shape(x), self.shape)
        return self.normalize_samples(np.broadcast_to(x, shape), epsilon=epsilon)

    def normalize_samples(
        self,
        samples: ArrayLike,
        learn: bool = False,
        weight: float = 0.0,
        epsilon: float = 1e-8,
        clip: float = math.inf,
    ) -> Floats:
        """Return samples, normalised and clipped; they may be taken in before that.

        Args:
            samples: Any number of them, `(…, *shape)`, which is not checked.
            learn: Whether to take them in.
            weight: As how many samples they count then; 0: as many as they are.
            epsilon: Added to the variance.
            clip: Largest absolute value of the result.
        """
        x = flat(samples)
        out = np.empty(x.size)
        if x.size and not running.normalize(
            x, self._size, self.memory, learn, self._kind, self._parameter, weight, epsilon, clip, out
        ):
            self._take_in(x, weight)
            return self.normalize_samples(samples, epsilon=epsilon, clip=clip)
        return out if x is samples else out.reshape(np.shape(samples))

    def state_dict(self) -> dict[str, Any]:
        """Return a copy of the statistics."""
        return {"mean": self.mean, "var": self.var, "count": self.count}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over statistics that `state_dict` returned.

        Raises:
            KeyError: One of them is missing.
            ValueError: They are of samples of another shape.
        """
        mean, var, count = (np.asarray(state[name], np.float64) for name in ("mean", "var", "count"))
        if not (mean.shape == var.shape == self.shape and count.shape == ()):
            raise ValueError(f"mean and var must have shape {self.shape}, got {mean.shape} and {var.shape}")
        self.mean, self.var, self.count = mean, var, float(count)

    def _row(self, row: int) -> Floats:
        """View a row of the memory, of `shape`."""
        return self.memory[row, : self._size].reshape(self.shape)

    def _take_in(self, x: NDArray[Any], weight: float = 0.0) -> None:
        """Take in samples made by `flat`."""
        if x.size and not running.absorb(x, self._size, self.memory, self._kind, self._parameter, weight):
            samples = x.reshape(-1, self._size)
            sound = (np.abs(samples) <= running.LARGEST).all(axis=1)
            self.warn(sound.size - int(sound.sum()))
            self._take_in(samples[sound].reshape(-1), weight)

    def warn(self, count: float) -> None:
        """Warn, if this is the first time, that samples were left out."""
        if not self._has_warned:
            self._has_warned = True
            warnings.warn(
                f"{count:g} sample(s) with NaN, an infinity or a number beyond {running.LARGEST:g} are left out of "
                f"{self!r}, and further ones will be without a warning",
                RuntimeWarning,
                stacklevel=4,
            )


class RunningMeanStd(RunningStats):
    """Mean and variance in which every sample counts the same.

    The variance is 1 and the mean 0 at first. That prior variance stays in the average as if it were `epsilon` samples;
    the prior mean is dropped with the first batch.

    Args:
        shape: Shape of a sample.
        epsilon: Weight of the prior, in samples.

    Attributes:
        shape: Shape of a sample.
        epsilon: Weight of the prior, in samples.
    """

    _kind = running.RUNNING

    def __init__(self, shape: int | Sequence[int] = (), epsilon: float = 1e-4) -> None:
        super().__init__(shape)
        self.epsilon = self._parameter = float(epsilon)
        self.count = self.epsilon

    def __repr__(self) -> str:
        return f"RunningMeanStd(shape={self.shape}, count={self.count:.4g})"


class ExponentialMovingStats(RunningStats):
    """Mean and variance in which a sample counts the less the older it is, for data that drifts.

    A sample that is `halflife` samples old counts half as much as the latest. The weights always add up to one, so the
    first samples are not drawn towards a prior.

    Args:
        shape: Shape of a sample.
        halflife: In samples, more than 0.

    Raises:
        ValueError: `halflife` is not more than 0.

    Attributes:
        shape: Shape of a sample.
        halflife: In samples.
    """

    _kind = running.EXPONENTIAL

    def __init__(self, shape: int | Sequence[int] = (), halflife: float = 1000.0) -> None:
        super().__init__(shape)
        self.halflife = halflife

    @property
    def halflife(self) -> float:
        """After how many samples the weight of one is halved."""
        return self._halflife

    @halflife.setter
    def halflife(self, halflife: float) -> None:
        if not halflife > 0:
            raise ValueError(f"halflife must be > 0, got {halflife}")
        self._halflife = float(halflife)
        self._parameter = self.decay

    @property
    def decay(self) -> float:
        """What the weight of a sample is multiplied with when the next one comes."""
        return float(0.5 ** (1.0 / self._halflife))

    @property
    def weight(self) -> float:
        """What is left of `count`: the sum of the weights of all samples, that of the latest being 1."""
        return float(self.memory[running.WEIGHTS, running.WEIGHT])

    @weight.setter
    def weight(self, weight: float) -> None:
        self.memory[running.WEIGHTS, running.WEIGHT] = weight

    def state_dict(self) -> dict[str, Any]:
        """Return a copy of the statistics."""
        return {**super().state_dict(), "halflife": self.halflife, "weight": self.weight}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over statistics that `state_dict` returned, or those of a `RunningMeanStd`.

        Without a halflife, this object's stays; without a weight, every sample weighs 1.

        Raises:
            KeyError: One of the other statistics is missing.
            ValueError: They are of samples of another shape, or the halflife is not more than 0.
        """
        fresh = ExponentialMovingStats(self.shape, float(state.get("halflife", self.halflife)))
        super().load_state_dict(state)
        self.halflife, self.weight = fresh.halflife, float(state.get("weight", self.count))

    def __repr__(self) -> str:
        return f"ExponentialMovingStats(shape={self.shape}, halflife={self.halflife:g}, count={self.count:.4g})"
