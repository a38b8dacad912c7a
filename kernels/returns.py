"""Returns, advantages and value targets of the transitions that a batch has made.

Arrays are time-major, (T, N), and C-contiguous:

    log_rhos, rewards, values, next_values    float32 or float64; next_values are those of the true successors
    terminated, truncated, valid              bool; a row that is not valid is no transition: its results are 0, and
                                              the rows around it are computed as if it were not there

One row, (1, N), stands for T equal ones: to read what is the same in all rows would take as long as any other array.

Entries compute lanes first to last - 1. They go from the last row to the first, in blocks of lanes, and keep what a row
has to know of the later ones in scratch space. All arithmetic is in float64.

Values are chosen, never multiplied by 0 or 1: NaN or infinity where nothing should be read does no harm, and where
something is, it shows.
"""

from sekai.kernels.elementary import exp
from sekai.kernels.jit import entry, kernel
from sekai.kernels.rows import borrow

# Lanes whose scratch space stays in the cache. Memory is read in pieces of as many numbers, and small pieces are slow:
# GAE over (1024, 4096) took 12 ms with 1,024, and 8.5 ms with 4,096.
BLOCK = 4096


@kernel
def row(array, t, lanes):
    """Some lanes of row t, or of the only row."""
    return array[t if array.shape[0] > 1 else 0, lanes]


@entry
def discounted_returns(first, last, rewards, next_values, terminated, truncated, valid, gamma, tails, is_last, returns):
    """Compute discounted sums of rewards to the end of the episode.

    Writes: returns (float64, (T, N)).
    Scratch: tails (float64, (1, BLOCK)): returns of the transitions that come next; is_last (bool, (BLOCK,)): whether
        there are none.
    Source: Sutton & Barto, Reinforcement Learning, 2018, eq. 3.9, the recursive form of eq. 3.8.
    """
    rewards, next_values, returns = borrow(rewards), borrow(next_values), borrow(returns)
    terminated, truncated, valid = borrow(terminated), borrow(truncated), borrow(valid)
    tails, is_last = borrow(tails), borrow(is_last)
    for start in range(first, last, BLOCK):
        stop = min(start + BLOCK, last)
        lanes, tail = slice(start, stop), tails[0, : stop - start]
        is_last[:] = True
        for t in range(returns.shape[0] - 1, -1, -1):
            discounted_row(
                row(rewards, t, lanes), row(next_values, t, lanes),
                row(terminated, t, lanes), row(truncated, t, lanes), row(valid, t, lanes),
                gamma, tail, is_last, returns[t, lanes],
            )  # fmt: skip


@kernel
def one_more(reward, next_value, terminated, is_cut, gamma, rest):
    """The return of a transition, if `rest` is that of the next one, which does not count where `is_cut`."""
    ahead = next_value if is_cut else rest
    return reward + gamma * (0.0 if terminated else ahead)


@kernel
def discounted_row(rewards, next_values, terminated, truncated, valid, gamma, tail, is_last, returns):
    """Compute one row of `discounted_returns`."""
    for i in range(tail.size):
        is_cut = truncated[i] | is_last[i]
        total = one_more(float(rewards[i]), float(next_values[i]), terminated[i], is_cut, gamma, tail[i])
        returns[i] = total if valid[i] else 0.0
        tail[i] = total if valid[i] else tail[i]
        is_last[i] = False if valid[i] else is_last[i]


@entry
def n_step_returns(first, last, rewards, next_values, terminated, truncated, valid, gamma, tails, is_last, returns):
    """Compute discounted sums of n rewards and the value that follows; of fewer where there are fewer.

    Writes: returns (float64, (T, N)).
    Scratch: tails (float64, (n + 1, BLOCK)): returns of 0 to n steps of the transitions that come next; is_last
        (bool, (BLOCK,)): whether there are none.
    Source: Sutton & Barto, Reinforcement Learning, 2018, eq. 7.1: by eq. 3.9 from those of n - 1 steps.
    """
    rewards, next_values, returns = borrow(rewards), borrow(next_values), borrow(returns)
    terminated, truncated, valid = borrow(terminated), borrow(truncated), borrow(valid)
    tails, is_last = borrow(tails), borrow(is_last)
    n = tails.shape[0] - 1
    for start in range(first, last, BLOCK):
        stop = min(start + BLOCK, last)
        lanes, size = slice(start, stop), stop - start
        is_last[:] = True
        for t in range(returns.shape[0] - 1, -1, -1):
            tails[0, :size] = row(next_values, t, lanes)
            for k in range(n, 0, -1):
                lengthen(
                    row(rewards, t, lanes), row(next_values, t, lanes),
                    row(terminated, t, lanes), row(truncated, t, lanes), row(valid, t, lanes),
                    gamma, is_last, tails[k - 1, :size], tails[k, :size],
                )  # fmt: skip
            finish_n_step_row(row(valid, t, lanes), tails[n, :size], is_last, returns[t, lanes])


@kernel
def lengthen(rewards, next_values, terminated, truncated, valid, gamma, is_last, shorter, tail):
    """Compute the returns `tail` of as many steps as `shorter` has, and one, before it."""
    for i in range(tail.size):
        is_cut = truncated[i] | is_last[i]
        total = one_more(float(rewards[i]), float(next_values[i]), terminated[i], is_cut, gamma, shorter[i])
        tail[i] = total if valid[i] else tail[i]


@kernel
def finish_n_step_row(valid, tail, is_last, returns):
    """Write one row of `n_step_returns`."""
    for i in range(tail.size):
        returns[i] = tail[i] if valid[i] else 0.0
        is_last[i] = False if valid[i] else is_last[i]


@entry
def gae(
    first, last, rewards, values, next_values, terminated, truncated, valid, gamma, lam, tails, advantages, returns
):  # fmt: skip
    """Compute advantages, and returns as their sums with the values.

    Writes: advantages, returns (float64, (T, N)).
    Scratch: tails (float64, (1, BLOCK)): advantages of the transitions that come next.
    Source: Schulman et al., High-dimensional continuous control using generalized advantage estimation, 2016, eq. 16.
    """
    rewards, values, next_values = borrow(rewards), borrow(values), borrow(next_values)
    terminated, truncated, valid = borrow(terminated), borrow(truncated), borrow(valid)
    advantages, returns = borrow(advantages), borrow(returns)
    for start in range(first, last, BLOCK):
        stop = min(start + BLOCK, last)
        lanes, tail = slice(start, stop), tails[0, : stop - start]
        tail[:] = 0.0
        for t in range(returns.shape[0] - 1, -1, -1):
            gae_row(
                row(rewards, t, lanes), row(values, t, lanes), row(next_values, t, lanes),
                row(terminated, t, lanes), row(truncated, t, lanes), row(valid, t, lanes),
                gamma, gamma * lam, tail, advantages[t, lanes], returns[t, lanes],
            )  # fmt: skip


@kernel
def gae_row(rewards, values, next_values, terminated, truncated, valid, gamma, decay, tail, advantages, returns):
    """Compute one row of `gae`; `decay` is gamma * lam."""
    for i in range(tail.size):
        reward, value, next_value = float(rewards[i]), float(values[i]), float(next_values[i])
        delta = reward + gamma * (0.0 if terminated[i] else next_value) - value
        advantage = delta + decay * (0.0 if terminated[i] | truncated[i] else tail[i])
        advantages[i] = advantage if valid[i] else 0.0
        returns[i] = advantage + value if valid[i] else 0.0
        tail[i] = advantage if valid[i] else tail[i]


@entry
def vtrace(
    first, last, log_rhos, rewards, values, next_values, terminated, truncated, valid,
    gamma, lam, clip_rho, clip_c, tails, advantages, targets,
):  # fmt: skip
    """Compute V-trace value targets, and the advantages of its policy gradient.

    Writes: advantages, targets (float64, (T, N)).
    Scratch: tails (float64, (1, BLOCK)): by how much the targets of the transitions that come next exceed the values.
    Source: Espeholt et al., IMPALA, 2018, eq. 1 in the recursive form of remark 1, with lam of remark 2, and section
        4.2.
    """
    log_rhos, rewards, values, next_values = borrow(log_rhos), borrow(rewards), borrow(values), borrow(next_values)
    terminated, truncated, valid = borrow(terminated), borrow(truncated), borrow(valid)
    advantages, targets = borrow(advantages), borrow(targets)
    for start in range(first, last, BLOCK):
        stop = min(start + BLOCK, last)
        lanes, tail = slice(start, stop), tails[0, : stop - start]
        tail[:] = 0.0
        for t in range(targets.shape[0] - 1, -1, -1):
            vtrace_row(
                row(log_rhos, t, lanes), row(rewards, t, lanes), row(values, t, lanes), row(next_values, t, lanes),
                row(terminated, t, lanes), row(truncated, t, lanes), row(valid, t, lanes),
                gamma, lam, clip_rho, clip_c, tail, advantages[t, lanes], targets[t, lanes],
            )  # fmt: skip


@kernel
def vtrace_row(
    log_rhos, rewards, values, next_values, terminated, truncated, valid,
    gamma, lam, clip_rho, clip_c, tail, advantages, targets,
):  # fmt: skip
    """Compute one row of `vtrace`."""
    for i in range(tail.size):
        reward, value, next_value = float(rewards[i]), float(values[i]), float(next_values[i])
        ratio = exp(float(log_rhos[i]))
        rho = clip_rho if ratio > clip_rho else ratio  # NaN stays NaN
        c = lam * (clip_c if ratio > clip_c else ratio)
        delta = reward + gamma * (0.0 if terminated[i] else next_value) - value
        rest = gamma * (0.0 if terminated[i] | truncated[i] else tail[i])
        excess = rho * delta + c * rest
        advantages[i] = rho * (delta + rest) if valid[i] else 0.0
        targets[i] = value + excess if valid[i] else 0.0
        tail[i] = excess if valid[i] else tail[i]
