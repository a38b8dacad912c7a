"""Driver template of fused rollouts: a block of lanes takes many steps, policy included, before the next block starts.

A million lanes are then as fast as a thousand. Parts are those of `sekai.kernels.episode` and

    act_block     the policy
"""

import numpy as np
from numba.extending import overload
from numba.types import BaseTuple

from sekai.kernels.episode import (
    BLOCK,
    SAME_STEP,
    TERMINATED,
    TRUNCATED,
    any_nonzero,
    first_invalid,
    gather_ends,
)
from sekai.kernels.hashing import lane_keys
from sekai.kernels.jit import PART_OPTIONS, entry, kernel
from sekai.kernels.rows import borrow, by_leaf, copy_row, lanes, num_rows


def rollout(
    memory, params, limit, mode, first, last, start, num_steps,
    weights, group, policy_seeds, policy_rng, clock, bounds, accepted, given, looks,
    observations, actions, rewards, terminated, truncated, valid, info,
    returns, episodes, final_observations, stats, keys, ends, work,
):  # fmt: skip
    """Take `num_steps` steps with lanes first to last - 1, those with numbers `start` and on of the whole rollout.

    Recorded arrays are time-major. One of a single row holds the last step only: it is not recorded.

    Args:
        memory, params, limit, mode: as for `step`.
        first, last (int): lanes; first is a multiple of BLOCK.
        weights (float64, (G, W)), group (int): the policy's; lane i has row i // group.
        policy_seeds (uint64, (2, N)): see `lane_keys`. policy_rng (uint64, (6, N or 0)): streams of the policy.
        clock (uint64): number of the first step's draw.
        bounds (2, k): of the action space. accepted (2, k or 0): of actions that a step takes; k is 0 if the policy
            chooses no others. given (bool): `actions` holds them already. looks (bool): the policy needs observations.
    Writes: memory, policy_rng; observations (T + 1, N, ...), actions (T, N, ...), rewards (float64), terminated,
        truncated, valid (bool, (T, N)), info (float64, (T or 0, K, N)); for the k-th episode that ended: returns
        (float64), episodes (int64, (4, capacity)): lane, step, length and how it ended, and final_observations (if
        recorded); stats (float64, (blocks, 5)), added to: number, mean and sum of squared deviations of returns, the
        latter two of lengths.
    Scratch for one block: keys (uint64, (n,)), ends (int64, (n + 1,)), work: of the policy.

    Returns:
        The lane to go on from, `last` unless there may be no room for more episodes, and how many episodes there are;
        or a lane and -1 - t, if its action in step t was not accepted: the block has stopped there.
    """
    memory, params, weights, policy_rng = borrow(memory), borrow(params), borrow(weights), borrow(policy_rng)
    policy_seeds, bounds, accepted = borrow(policy_seeds), borrow(bounds), borrow(accepted)
    observations, actions, rewards = borrow(observations), borrow(actions), borrow(rewards)
    terminated, truncated, valid, info = borrow(terminated), borrow(truncated), borrow(valid), borrow(info)
    returns, episodes, final_observations = borrow(returns), borrow(episodes), borrow(final_observations)
    stats, keys, ends, work = borrow(stats), borrow(keys), borrow(ends), borrow(work)
    sees = looks or num_rows(observations) > 1
    count = np.int64(0)
    for lo in range(first, last, BLOCK):
        hi = min(lo + BLOCK, last)
        n = hi - lo
        if returns.size and count + n * num_steps > returns.size:
            return lo, count
        book = book_views(memory, lo, hi)
        frozen = mode == SAME_STEP and any_nonzero(book.ending)  # since before the mode changed
        lane_keys(policy_seeds[:, lo:hi], keys[:n])
        if sees:
            observe_block(memory, params, lo, hi, at_step(observations, start, lo, hi))
        for t in range(start, start + num_steps):
            a, r = at_step(actions, t, lo, hi), at_step(rewards, t, lo, hi)
            te, tr = at_step(terminated, t, lo, hi), at_step(truncated, t, lo, hi)
            ran = at_step(valid, t, lo, hi)
            note_running(book.ending, mode == SAME_STEP and not frozen, ran)
            if not given:
                o = at_step(observations, t, lo, hi)
                act(weights, group, lo, hi, o, keys[:n], policy_rng, work, clock + np.uint64(t - start), bounds, a)
                bad = first_invalid(a, accepted, book.ending, ran, True)
                if bad >= 0:
                    return lo + bad, -1 - t
            # Contiguous in either case, or it would keep the loop that writes it from vectorising.
            elapsed = info_views(info[t], lo, hi).elapsed_steps if info.shape[0] else ends[:n]
            ended = advance_running(memory, params, lo, hi, a, ran, frozen, limit, mode, r, te, tr, elapsed)
            if info.shape[0]:
                inform_block(memory, params, lo, hi, info[t, :, lo:hi])
            o = at_step(observations, t + 1, lo, hi)
            if sees:
                observe_block(memory, params, lo, hi, o)
            if ended:
                count = end_episodes(
                    memory, params, lo, hi, mode, t, ran, te, tr, ends, returns, episodes, final_observations, o, sees,
                    stats[lo // BLOCK], count,
                )  # fmt: skip
            if frozen:
                repeat_flags(book.ending, te, tr)
    return last, count


def act(weights, group, lo, hi, observations, keys, policy_rng, work, clock, bounds, action):
    """Let the policy choose the actions of lanes lo to hi - 1, group by group."""
    i = lo
    while i < hi:
        j = min(hi, (i // group + 1) * group)
        act_block(
            weights[i // group], lanes(observations, i - lo, j - lo), keys[i - lo : j - lo],
            policy_rows(policy_rng, i, j), work, clock, bounds, action[i - lo : j - lo],
        )  # fmt: skip
        i = j


def end_episodes(
    memory, params, lo, hi, mode, t, ran, terminated, truncated, ends, returns, episodes, final_observations,
    observations, sees, stat, count,
):  # fmt: skip
    """Write down the episodes of a block that ended, in same-step mode start the next; returns how many there are."""
    s, p, rng = state_views(memory, lo, hi), param_views(params, lo, hi), rng_array(memory, lo, hi)
    book = book_views(memory, lo, hi)
    o = borrow_observations(observations)
    number = gather_ends(terminated, truncated, np.int64(0), ends, np.int64(0))
    for k in range(number):
        i = ends[k]
        if not ran[i]:
            continue
        add_episode(book.episode_return[i], book.elapsed[i], stat)
        if returns.size:
            returns[count] = book.episode_return[i]
            episodes[0, count], episodes[1, count], episodes[2, count] = lo + i, t, book.elapsed[i]
            episodes[3, count] = TERMINATED * terminated[i] + TRUNCATED * truncated[i]
            if num_rows(final_observations):
                copy_row(final_observations, count, o, i)
            count += 1
    if mode == SAME_STEP:
        for k in range(number):
            begin(memory, params, s, p, rng, book, lo + ends[k], ends[k])
            if sees:
                observe_lane(s, p, o, ends[k])
    return count


def at_step(arrays, t, lo, hi):
    """Lanes lo to hi - 1 of row t, or of the only row, of an array, or of each of a tuple of arrays."""
    if isinstance(arrays, tuple):
        return tuple(at_step(array, t, lo, hi) for array in arrays)
    return arrays[t if arrays.shape[0] > 1 else 0, lo:hi]


@overload(at_step, jit_options=PART_OPTIONS)
def _compile_at_step(arrays, t, lo, hi):
    if isinstance(arrays, BaseTuple):
        return by_leaf(at_step, arrays, t, lo, hi)
    return lambda arrays, t, lo, hi: arrays[t if arrays.shape[0] > 1 else 0, lo:hi]


@kernel
def policy_rows(policy_rng, lo, hi):
    """The random words of a policy's streams for lanes lo to hi - 1, a tuple of rows."""
    return (
        policy_rng[0, lo:hi],
        policy_rng[1, lo:hi],
        policy_rng[2, lo:hi],
        policy_rng[3, lo:hi],
        policy_rng[4, lo:hi],
        policy_rng[5, lo:hi],
    )


@kernel
def note_running(ending, all_run, ran):
    """Write down which lanes run before a step."""
    for i in range(ran.size):
        ran[i] = all_run or ending[i] == 0


@kernel
def repeat_flags(ending, terminated, truncated):
    """Write the flags of lanes that wait for their reset, and were left out of a step."""
    for i in range(ending.size):
        terminated[i] |= ending[i] & TERMINATED != 0
        truncated[i] |= ending[i] & TRUNCATED != 0


@kernel
def add_episode(total, length, stat):
    """Count an episode by its return and length: running moments (Welford, 1962)."""
    stat[0] += 1.0
    change = total - stat[1]
    stat[1] += change / stat[0]
    stat[2] += change * (total - stat[1])
    change = length - stat[3]
    stat[3] += change / stat[0]
    stat[4] += change * (length - stat[3])


@kernel
def merge_pair(count, mean, squares, total, other_mean, other_squares):
    """Moments of two samples together: mean and sum of squared deviations (Chan, Golub and LeVeque, 1983, eq. 2.1)."""
    change = other_mean - mean
    both = count + total
    return mean + change * total / both, squares + other_squares + change * change * count * total / both


@entry
def merge_stats(stats):
    """Merge the statistics of blocks into the first row, in order: the result does not depend on threads.

    Args:
        stats (float64, (blocks, 5)): see `rollout`.
    """
    for k in range(1, stats.shape[0]):
        if stats[k, 0] == 0.0:
            continue
        for j in (1, 3):
            stats[0, j], stats[0, j + 1] = merge_pair(
                stats[0, 0], stats[0, j], stats[0, j + 1], stats[k, 0], stats[k, j], stats[k, j + 1]
            )
        stats[0, 0] += stats[k, 0]


@entry
def place_episodes(returns, data, number, places, order, all_returns, lengths, lanes, terminated, truncated):
    """Put episodes among those of the whole rollout, which are ordered by step: a counting sort.

    Args:
        returns (float64, (n,)), data (int64, (4, n)): see `rollout`.
        number (int): of the first of them.
    Writes: places (int64, (T,)): where the next episode that ends in a step belongs; and in the places of these: order
        (int64), their numbers; all_returns (float64), lengths, lanes (int64), terminated, truncated (bool).
    """
    for k in range(returns.size):
        t = data[1, k]
        place = places[t]
        places[t] = place + 1
        order[place], all_returns[place] = number + k, returns[k]
        lanes[place], lengths[place] = data[0, k], data[2, k]
        terminated[place], truncated[place] = data[3, k] & TERMINATED != 0, data[3, k] & TRUNCATED != 0


@entry
def track(returns, lengths, rewards, valid, ended, stats):
    """Count a step of a batch that keeps no books of its own; lanes that ended are counted as episodes.

    Args:
        rewards (float64), valid, ended (bool): of the step, (N,).
    Writes: returns (float64), lengths (int64): of the current episodes, including ended ones; stats, see `rollout`.
    """
    for i in range(rewards.size):
        if valid[i]:
            returns[i] += rewards[i]
            lengths[i] += 1
            if ended[i]:
                add_episode(returns[i], lengths[i], stats[i // BLOCK])
