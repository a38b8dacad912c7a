"""Compiled policies: they run inside a fused rollout, with their weights as arguments."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekai.spaces import Box, Discrete
from sekai.utils.integers import positive_int


class Policy:
    """A policy written as a kernel.

    A subclass defines `act_lane(w, obs, rng, action, i)`, decorated with `sekai.kernels.kernel`: read `obs[i]` and the
    weights `w`, write `action[i]` (`action[i, 0]`, … for a `Box`), and draw with `sekai.kernels.random` from `rng`,
    which holds a stream per lane that no environment draws from.

    Args:
        weights: One set of weights for all lanes, shape `(W,)`, or one per group of lanes, `(G, W)`: N lanes then
            form G groups of N / G consecutive ones.

    Attributes:
        weights: float64 `(G, W)`, a copy; may be assigned between rollouts.
        uses_observations: Whether the policy looks at observations; a rollout that neither does nor records any is
            faster.
        uses_streams: Whether `act_lane` draws from `rng`; where it says no and draws, it does not compile.
        always_valid: Whether no action can lie outside the action space; otherwise a rollout checks each of them.

    Raises:
        TypeError: The weights are not real numbers.
        ValueError: They have another shape, or there is no set of them.
    """

    act_lane: ClassVar[Any] = None
    uses_observations: bool = True
    uses_streams: bool = True
    always_valid: bool = False
    _weights_are: ClassVar[str] = "weights"  # the argument that they come from

    def __init__(self, weights: ArrayLike = ()) -> None:
        self.weights = weights

    @property
    def weights(self) -> NDArray[np.float64]:
        """The sets of weights, `(G, W)`."""
        return self._weights

    @weights.setter
    def weights(self, weights: ArrayLike) -> None:
        name = self._weights_are
        try:
            array = np.asarray(weights)
        except ValueError:
            raise ValueError(f"{name} must not have rows of different lengths, got {weights!r}") from None
        if array.size and array.dtype.kind not in "iuf":
            raise TypeError(f"{name} must be real numbers, got {weights!r}")
        if array.ndim not in (1, 2) or len(np.atleast_2d(array)) == 0:
            raise ValueError(f"{name} must have shape (W,) or (G, W), G at least 1, got {array.shape}")
        self._weights = np.array(np.atleast_2d(array), np.float64, order="C")

    @property
    def key(self) -> tuple[Any, ...]:
        """What the policy is compiled for: policies of equal keys share their machine code."""
        return type(self), self.uses_streams

    @property
    def work_rows(self) -> int:
        """Rows of each half of the scratch space that the block function needs."""
        return 0

    def block(self) -> Any:
        """The kernel that chooses the actions of a block of lanes (see `sekai.kernels.policies`)."""
        from sekai.kernels import policies

        act_lane = inspect.getattr_static(type(self), "act_lane")
        if act_lane is None:
            raise TypeError(f"{type(self).__name__} must define act_lane")
        streams = policies.own_streams if self.uses_streams else policies.no_streams
        return self._bind(policies.lane_block, act_lane=act_lane, streams=streams)

    def _bind(self, template: Any, **parts: Any) -> Any:
        from sekai.kernels.jit import bind

        return bind(template, f"{type(self).__module__}.{type(self).__qualname__}", **parts)

    def check(self, vec: Any) -> None:
        """Check that the policy fits a batch.

        Raises:
            ValueError: The number of sets of weights does not divide the number of lanes, or the spaces do not fit.
        """
        if vec.num_envs % len(self.weights):
            raise ValueError(
                f"weights must hold a number of sets that divides the {vec.num_envs} lanes, got {len(self.weights)}"
            )


class Random(Policy):
    """Actions uniform over a bounded action space, from a stream per lane that depends on the lane's seed only."""

    uses_observations = False
    uses_streams = False
    always_valid = True

    def __init__(self) -> None:
        super().__init__()

    def block(self) -> Any:
        """The kernel that draws the actions of a block of lanes."""
        from sekai.kernels import policies

        return policies.random_block

    def check(self, vec: Any) -> None:
        """Check that the action space is bounded.

        Raises:
            ValueError: It is not.
        """
        low, high = vec._actions.bounds
        with np.errstate(over="ignore", invalid="ignore"):
            widths = high - low
        if not np.isfinite(widths).all():
            raise ValueError(f"random actions need a bounded action space, got {vec.action_space!r}")


class Constant(Policy):
    """The same action always; `weights` are its numbers.

    Args:
        action: The k numbers of an action, `(k,)` or one alone, or those of one action per group of lanes, `(G, k)`.
    """

    uses_observations = False
    uses_streams = False
    always_valid = True
    _weights_are = "action"

    def __init__(self, action: ArrayLike) -> None:
        numbers: Any = action
        super().__init__(numbers if isinstance(action, Sequence) or np.ndim(numbers) else [numbers])

    def block(self) -> Any:
        """The kernel that fills in the action."""
        from sekai.kernels import policies

        return policies.constant_block

    def check(self, vec: Any) -> None:
        """Check that the action lies in the action space.

        Raises:
            ValueError: It does not.
        """
        super().check(vec)
        low, high = vec._actions.bounds
        fits = self.weights.shape[1] == low.size and ((low <= self.weights) & (self.weights <= high)).all()
        if not fits or (self.weights.astype(low.dtype) != self.weights).any():
            raise ValueError(f"action must lie in {vec.action_space!r}, got {self.weights.tolist()}")


class MLP(Policy):
    """A fully connected network from a flat observation to an action, in float64.

    Args:
        env: What it is for: a batch or an env (only its spaces are looked at).
        hidden: Units of the hidden layers.
        activation: `"tanh"` (to within 4e-16) or `"relu"`, of the hidden layers.
        head: For a Discrete action space `"argmax"` (the default) or `"sample"` (with the softmax of the outputs as
            probabilities), for a Box `"clip"` (the outputs, clipped to its bounds).
        weights: `(num_weights,)` or one such row per group of lanes; zeros by default. See `pack`.

    Attributes:
        sizes: Units of all layers, inputs first.
        num_weights: How many weights the network has.

    Raises:
        TypeError: The spaces are not a Box and a Discrete or floating Box.
        ValueError: An argument is out of range.
    """

    uses_streams = False

    def __init__(
        self,
        env: Any,
        hidden: Sequence[int] = (64, 64),
        *,
        activation: str = "tanh",
        head: str | None = None,
        weights: ArrayLike | None = None,
    ) -> None:
        inputs, outputs, heads = ends_of_network(env)
        self.head = heads[0] if head is None else head
        if self.head not in heads:
            raise ValueError(f"head must be one of {heads} for {env.action_space!r}, got {head!r}")
        if activation not in ("tanh", "relu"):
            raise ValueError(f'activation must be "tanh" or "relu", got {activation!r}')
        if not isinstance(hidden, Iterable):
            raise TypeError(f"hidden must be a sequence of ints, got {hidden!r}")
        self.activation = activation
        self.always_valid = self.head != "clip"  # which lets NaN through
        self.sizes = (inputs, *[positive_int("hidden", size) for size in hidden], outputs)
        super().__init__(np.zeros(self.num_weights) if weights is None else weights)

    @property
    def num_weights(self) -> int:
        """Number of weights in a set."""
        return sum(n_out * (n_in + 1) for n_in, n_out in zip(self.sizes, self.sizes[1:], strict=False))

    @staticmethod
    def pack(layers: Sequence[tuple[ArrayLike, ArrayLike]]) -> NDArray[np.float64]:
        """Pack layers, each a matrix `(outputs, inputs)` and its biases `(outputs,)`, into one set of weights.

        Raises:
            ValueError: There is no layer, or its parts have other shapes or do not fit the layer before.
        """
        arrays = [(np.asarray(matrix, np.float64), np.asarray(biases, np.float64)) for matrix, biases in layers]
        shapes = [(matrix.shape, biases.shape) for matrix, biases in arrays]
        inputs = [matrix[1:] for matrix, _ in shapes[:1]] + [biases for _, biases in shapes[:-1]]
        fits = [(*shapes[k][1], *inputs[k]) == shapes[k][0] and len(shapes[k][0]) == 2 for k in range(len(shapes))]
        if not fits or not all(fits):
            raise ValueError(f"layers must be matrices (outputs, inputs) and biases that fit, got shapes {shapes}")
        return np.concatenate([part.ravel() for layer in arrays for part in layer])

    @property
    def key(self) -> tuple[Any, ...]:
        """The architecture."""
        return type(self), self.sizes, self.activation, self.head

    @property
    def work_rows(self) -> int:
        """Units of the widest layer."""
        return max(self.sizes)

    def block(self) -> Any:
        """The kernel of this architecture."""
        from sekai.kernels import policies

        activate = getattr(policies, f"activate_{self.activation}")
        head = getattr(policies, f"head_{self.head}")
        return self._bind(policies.network_block, SIZES=self.sizes, activate=activate, head=head)

    def check(self, vec: Any) -> None:
        """Check that weights and spaces fit.

        Raises:
            ValueError: They do not.
        """
        super().check(vec)
        if self.weights.shape[1] != self.num_weights:
            raise ValueError(f"weights must hold {self.num_weights} numbers a set, got {self.weights.shape[1]}")
        inputs, outputs, heads = ends_of_network(vec)
        if (self.sizes[0], self.sizes[-1]) != (inputs, outputs) or self.head not in heads:
            raise ValueError(
                f"a policy from {self.sizes[0]} to {self.sizes[-1]} numbers with head {self.head!r} does not fit "
                f"{vec.observation_space!r} and {vec.action_space!r}"
            )


class Linear(MLP):
    """A linear policy: an `MLP` without hidden layers."""

    def __init__(self, env: Any, *, head: str | None = None, weights: ArrayLike | None = None) -> None:
        super().__init__(env, (), head=head, weights=weights)


def ends_of_network(env: Any) -> tuple[int, int, tuple[str, ...]]:
    """How many inputs and outputs a network for an env or a batch has, and which heads fit it.

    Raises:
        TypeError: None: its spaces are not a Box and a Discrete or floating Box.
    """
    observation, action = env.observation_space, env.action_space
    if not isinstance(observation, Box):
        raise TypeError(f"a network needs a Box observation space, got {observation!r}")
    inputs = int(np.prod(observation.shape))
    if isinstance(action, Discrete):
        return inputs, int(action.n), ("argmax", "sample")
    if isinstance(action, Box) and action.dtype.kind == "f":
        return inputs, int(np.prod(action.shape)), ("clip",)
    raise TypeError(f"a network needs a Discrete or floating Box action space, got {action!r}")
