"""Returns, advantages and value targets of recorded transitions.

Arrays are time-major, `(T, N)`: T rows of N lanes, as `sekai.rollout` records them.

    rewards       real numbers, as are the values; results are float64, and so is the arithmetic (integers beyond 2**53
                  are rounded)
    values        a critic's values of the observations that the actions were chosen by
    next_values   its values of their true successors (`Rollout.next_observations`), which are not the next row's
                  observations where an episode ended
    terminated    bool: the successor is terminal; its value is 0, whatever `next_values` says
    truncated     bool: the episode was cut short; `next_values` stands for the rest of it, unless it is terminated, too
    valid         bool: the row is a transition; None if all are. Other rows (resets in next-step mode, lanes that wait)
                  are not read: their results are 0, and the rows around them are computed as if they were not there

Nothing leaks from one episode into another. After the last transition of a lane, `next_values` stands for the rest, as
at a truncation. NaN and infinity are passed on to all results that depend on them.

    run = sekai.rollout(vec, policy, 128)
    advantages, returns = sekai.returns.gae(
        run.rewards, critic(run.observations), critic(run.next_observations), run.terminated, run.truncated,
        gamma=0.99, lam=0.95, valid=run.valid,
    )

Arrays are copied unless they are C-contiguous, writable, and of float32, float64 or bool; of one whose rows are all the
same memory (`np.broadcast_to`, or a rollout's `valid` if all rows are), only one row is. `out` takes an earlier
result, or arrays like it, to be overwritten and returned, which is faster than to get fresh memory; it must not overlap
the arguments. Large arrays are shared among threads; results do not depend on how many. Every function raises a
TypeError if an argument is of the wrong kind and a ValueError if its shape or value is wrong; nothing is written then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekai.kernels import returns as kernels
from sekai.utils.integers import positive_int
from sekai.vector.threads import available, over_lanes

# Threads cost some 50 us a call, and short pieces of rows are slow to read.
THREADS_PAY = 2**20  # numbers of a result
LANES_PER_THREAD = 2048

Floats = NDArray[np.float64]


class GAE(NamedTuple):
    """What `gae` returns: float64 arrays `(T, N)`.

    Attributes:
        advantages: How much better than expected the actions were.
        returns: Sums of advantages and values: what a critic is fitted to.
    """

    advantages: Floats
    returns: Floats


class VTrace(NamedTuple):
    """What `vtrace` returns: float64 arrays `(T, N)`.

    Attributes:
        advantages: What the policy gradient weighs the actions with; the clipped ratio is a factor of it.
        targets: What a critic is fitted to.
    """

    advantages: Floats
    targets: Floats


def discounted_returns(
    rewards: ArrayLike,
    terminated: ArrayLike,
    truncated: ArrayLike,
    *,
    gamma: float,
    next_values: ArrayLike | None = None,
    valid: ArrayLike | None = None,
    out: Floats | None = None,
) -> Floats:
    """Return discounted sums of rewards to the end of the episode (Sutton & Barto 2018, eq. 3.8).

    Args:
        rewards: `(T, N)`, as are all arrays; see the module.
        terminated: Whether the successor is terminal.
        truncated: Whether the episode was cut short.
        gamma: Discount, between 0 and 1.
        next_values: Values of the successors. None counts rewards only: what comes after a truncation or the last row
            is taken for 0, so the result is no estimate of the value there.
        valid: Which rows are transitions.
        out: float64 `(T, N)`, overwritten.
    """
    gamma = _number("gamma", gamma, 1.0)
    shape = _shape(rewards)
    if next_values is None:
        next_values = np.broadcast_to(0.0, shape)
    numbers = _numbers(shape, rewards=rewards, next_values=next_values)
    flags = _flags(shape, terminated, truncated, valid)
    results = _results(shape, 1, None if out is None else [out], numbers + flags)
    _run(kernels.discounted_returns, [*numbers, *flags, gamma], lambda: _scratch(1), results)
    return results[0]


def n_step_returns(
    rewards: ArrayLike,
    next_values: ArrayLike,
    terminated: ArrayLike,
    truncated: ArrayLike,
    *,
    gamma: float,
    n: int,
    valid: ArrayLike | None = None,
    out: Floats | None = None,
) -> Floats:
    """Return discounted sums of n rewards and of the value of what follows them (Sutton & Barto 2018, eq. 7.1).

    Where the episode or the array ends within n transitions, it is as many as there are. The time grows with n.

    Args:
        rewards: `(T, N)`, as are all arrays; see the module.
        next_values: Values of the successors.
        terminated: Whether the successor is terminal.
        truncated: Whether the episode was cut short.
        gamma: Discount, between 0 and 1.
        n: How many transitions, at least 1.
        valid: Which rows are transitions.
        out: float64 `(T, N)`, overwritten.
    """
    gamma, n = _number("gamma", gamma, 1.0), positive_int("n", n)
    shape = _shape(rewards)
    numbers = _numbers(shape, rewards=rewards, next_values=next_values)
    flags = _flags(shape, terminated, truncated, valid)
    results = _results(shape, 1, None if out is None else [out], numbers + flags)
    _run(kernels.n_step_returns, [*numbers, *flags, gamma], lambda: _scratch(min(n, shape[0]) + 1), results)
    return results[0]


def gae(
    rewards: ArrayLike,
    values: ArrayLike,
    next_values: ArrayLike,
    terminated: ArrayLike,
    truncated: ArrayLike,
    *,
    gamma: float,
    lam: float,
    valid: ArrayLike | None = None,
    out: Sequence[Floats] | None = None,
) -> GAE:
    """Return generalised advantage estimates, GAE(λ), and TD(λ) returns (Schulman et al. 2016, eq. 16).

    Args:
        rewards: `(T, N)`, as are all arrays; see the module.
        values: Values of the observations.
        next_values: Values of the successors.
        terminated: Whether the successor is terminal.
        truncated: Whether the episode was cut short.
        gamma: Discount, between 0 and 1.
        lam: λ, between 0 (one step) and 1 (the whole episode).
        valid: Which rows are transitions.
        out: Two float64 arrays `(T, N)`, overwritten.
    """
    gamma, lam = _number("gamma", gamma, 1.0), _number("lam", lam, 1.0)
    shape = _shape(rewards)
    numbers = _numbers(shape, rewards=rewards, values=values, next_values=next_values)
    flags = _flags(shape, terminated, truncated, valid)
    results = _results(shape, 2, out, numbers + flags)
    _run(kernels.gae, [*numbers, *flags, gamma, lam], lambda: _scratch(1)[:1], results)
    return GAE(*results)


def vtrace(
    log_rhos: ArrayLike,
    rewards: ArrayLike,
    values: ArrayLike,
    next_values: ArrayLike,
    terminated: ArrayLike,
    truncated: ArrayLike,
    *,
    gamma: float,
    lam: float = 1.0,
    clip_rho: float = 1.0,
    clip_c: float = 1.0,
    valid: ArrayLike | None = None,
    out: Sequence[Floats] | None = None,
) -> VTrace:
    """Return V-trace value targets, and advantages, for actions of another policy (Espeholt et al. 2018, eq. 1).

    Args:
        log_rhos: Log-probability of the action under the policy that learns, minus that under the one that acted.
        rewards: `(T, N)`, as are all arrays; see the module.
        values: Values of the observations.
        next_values: Values of the successors.
        terminated: Whether the successor is terminal.
        truncated: Whether the episode was cut short.
        gamma: Discount, between 0 and 1.
        lam: λ, between 0 and 1, a factor of the trace coefficients c (remark 2).
        clip_rho: Largest ratio that weighs a temporal difference, and an advantage; math.inf for no limit.
        clip_c: Largest trace coefficient before λ; math.inf for no limit.
        valid: Which rows are transitions.
        out: Two float64 arrays `(T, N)`, overwritten.
    """
    gamma, lam = _number("gamma", gamma, 1.0), _number("lam", lam, 1.0)
    clip_rho, clip_c = _number("clip_rho", clip_rho, math.inf), _number("clip_c", clip_c, math.inf)
    shape = _shape(rewards)
    numbers = _numbers(shape, log_rhos=log_rhos, rewards=rewards, values=values, next_values=next_values)
    flags = _flags(shape, terminated, truncated, valid)
    results = _results(shape, 2, out, numbers + flags)
    _run(kernels.vtrace, [*numbers, *flags, gamma, lam, clip_rho, clip_c], lambda: _scratch(1)[:1], results)
    return VTrace(*results)


def _number(name: str, value: Any, largest: float) -> float:
    """Return the argument `name`, a real number from 0 to `largest`, as a float."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be a real number, got {value!r}")
    number = float(value)
    if not 0.0 <= number <= largest:
        raise ValueError(f"{name} must be between 0 and {largest:g}, got {value!r}")
    return number


def _shape(rewards: ArrayLike) -> tuple[int, int]:
    """Return (T, N)."""
    shape = np.shape(rewards)
    if len(shape) != 2:
        raise ValueError(f"rewards must have shape (T, N), got {shape}; those of a single env are rewards[:, None]")
    return shape


def _numbers(shape: tuple[int, int], **arrays: ArrayLike) -> list[NDArray[Any]]:
    """Return arrays of numbers as the kernels take them."""
    found = {name: np.asarray(array) for name, array in arrays.items()}
    for name, array in found.items():
        if array.dtype == np.bool_ or not np.can_cast(array.dtype, np.float64):
            raise TypeError(f"{name} must hold real numbers of at most 64 bits, got dtype {array.dtype}")
    types = {name: np.float32 if array.dtype == np.float32 else np.float64 for name, array in found.items()}
    return [_prepared(name, array, types[name], shape) for name, array in found.items()]


def _flags(
    shape: tuple[int, int], terminated: ArrayLike, truncated: ArrayLike, valid: ArrayLike | None
) -> list[NDArray[Any]]:
    """Return arrays of bools as the kernels take them."""
    found = {"terminated": np.asarray(terminated), "truncated": np.asarray(truncated)}
    found["valid"] = np.broadcast_to(np.True_, shape) if valid is None else np.asarray(valid)
    for name, array in found.items():
        if array.dtype != np.bool_:
            raise TypeError(f"{name} must hold bools, got dtype {array.dtype}; try {name}.astype(bool)")
    return [_prepared(name, array, np.bool_, shape) for name, array in found.items()]


def _prepared(name: str, array: NDArray[Any], dtype: type, shape: tuple[int, int]) -> NDArray[Any]:
    """Return an array as the kernels take it, copied only if need be; one row if all are the same memory."""
    if array.shape != shape:
        raise ValueError(f"{name} must have the shape of rewards, {shape}, got {array.shape}")
    return np.require(array if array.strides[0] else array[:1], dtype, ["C", "A", "W"])


def _results(
    shape: tuple[int, int], count: int, out: Sequence[Floats] | None, arguments: list[NDArray[Any]]
) -> list[Floats]:
    """Return arrays for the results: those of `out`, or fresh ones."""
    if out is None:
        return [np.empty(shape) for _ in range(count)]
    if not isinstance(out, (Sequence, np.ndarray)):
        raise TypeError(f"out must be a sequence of {count} arrays, got {out!r}")
    if len(out) != count:
        raise ValueError(f"out must hold {count} arrays, got {len(out)}")
    for k, array in enumerate(out):
        if not isinstance(array, np.ndarray) or array.dtype != np.float64:
            raise TypeError(f"out must be of float64 arrays, got {getattr(array, 'dtype', array)!r}")
        if array.shape != shape:
            raise ValueError(f"out must have the shape of rewards, {shape}, got {array.shape}")
        if not array.flags.carray:
            raise ValueError("out must be C-contiguous, aligned and writable")
        if any(np.may_share_memory(array, other) for other in [*arguments, *out[:k]]):
            raise ValueError("out must not overlap the arguments, or one of its arrays the other")
    return list(out)


def _run(
    entry: Callable[..., None], arguments: list[Any], scratch: Callable[[], tuple[Any, ...]], results: list[Floats]
) -> None:
    """Call a kernel, in several threads if there is enough to do; the results are the same."""
    size, num_lanes = results[0].size, results[0].shape[1]

    def work(first: int, last: int) -> None:
        entry(first, last, *arguments, *scratch(), *results)

    if size > 0:
        over_lanes(work, num_lanes, LANES_PER_THREAD, available() if size >= THREADS_PAY else 1)


def _scratch(rows: int) -> tuple[Floats, NDArray[np.bool_]]:
    """Return what a kernel keeps of later rows, for one block of lanes."""
    return np.empty((rows, kernels.BLOCK)), np.empty(kernels.BLOCK, np.bool_)
