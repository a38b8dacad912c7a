"""Driver templates: what the batch of every environment does around its lane functions.

The names that the templates call and do not define are parts that `sekai.kernels.jit.bind` supplies for one
environment:

    state_views, book_views, param_views, info_views       the named rows of a block
    rng_rows, rng_array                                    its random words, for loops over lanes and for single lanes
    borrow_observations                                    observations with strides that the compiler knows
    reset_lane, step_lane, observe_lane, inform_lane       the environment itself
    step_block                                             its own, or the template below

`memory` is a `float64[rows, ≥ N]` of 64-bit words: the environment's state, the book-keeping of episodes and the
random streams; where the state has arrays, a tuple of these words and of arrays `(N, …)`. `params` is a `float64[P]`
or `float64[P, N]`, or a tuple of it and of arrays that all lanes share; observations are an array or a tuple of arrays.

Lanes are worked on in blocks that stay in the cache while every stage runs over them. Slices come first and loops
start at 0: the same loop over `range(lo, hi)` does not vectorise, since Numba must allow for negative indices.
"""

import numpy as np
from numba.extending import overload

from sekai.kernels.jit import kernel
from sekai.kernels.rows import borrow, copy_row, lanes

BLOCK = 1024

# Autoreset modes.
SAME_STEP, NEXT_STEP, DISABLED = 0, 1, 2

# Book-keeping of each lane's current episode, rows of `memory` after the state: the sum of its rewards, its number
# of steps, and how it ended (0 while it runs, else a sum of the bits below; such a lane waits for its reset).
BOOK = {"episode_return": float, "elapsed": int, "ending": int}
TERMINATED, TRUNCATED = 1, 2

RNG_ROWS = 6
NO_LIMIT = 2**62


# ---- templates: entries --------------------------------------------------------------------------


def reset(memory, params, mask, observations, info):
    """Start an episode in each lane of `mask`; the rows of the other lanes are written from the state they are in.

    Args:
        memory (float64, (rows, N)), params (float64, (P,) or (P, N)), mask (bool, (N,)).
    Writes: memory; observations (N, …); info (float64, (K, N)).
    """
    memory, params, mask = borrow(memory), borrow(params), borrow(mask)
    observations, info = borrow(observations), borrow(info)
    for lo in range(0, mask.size, BLOCK):
        hi = min(lo + BLOCK, mask.size)
        for i in range(lo, hi):
            if mask[i]:
                restart(memory, params, i)
        look(memory, params, lo, hi, observations, info)


def step(memory, params, actions, bounds, mask, masked, limit, mode, first, last, checked, observations, rewards,
         terminated, truncated, info, ends, final_observations, reset_info):  # fmt: skip
    """Step lanes first to last - 1, with autoreset.

    Args:
        memory (float64, (rows, >= N)), params (float64, (P,) or (P, N)).
        actions (int64 or float64, (N, ...)), bounds (same dtype, (2, k)): lowest and highest action.
        mask (bool, (N,)): lanes to step, if `masked`; the others are left as they are.
        limit (int): steps after which an episode is truncated. mode (int): SAME_STEP, NEXT_STEP or DISABLED.
        first, last (int): lanes; first is a multiple of BLOCK. checked (bool): whether the actions are known to be
            valid.
    Writes: memory; observations (N, ...), rewards (float64), terminated, truncated (bool), info (float64, (K, N)); and
        for the k-th of these lanes that ended, in row or column `place(first) + k`: ends (int64), its number;
        final_observations, its last observation; reset_info, the info of its reset.

    Returns:
        How many lanes ended and were reset in the same step; or -1 - i if the action of lane i, which is to be stepped,
        is out of bounds: nothing has changed then.
    """
    memory, params, actions, mask = borrow(memory), borrow(params), borrow(actions), borrow(mask)
    observations, final_observations = borrow(observations), borrow(final_observations)
    rewards, terminated, truncated, info = borrow(rewards), borrow(terminated), borrow(truncated), borrow(info)
    ends, reset_info = borrow(ends), borrow(reset_info)
    if not checked:
        bad = first_invalid(actions, borrow(bounds), book_views(memory, np.int64(0), mask.size).ending, mask, masked)
        if bad >= 0:
            return -1 - bad
    start = count = place(first)
    for lo in range(first, last, BLOCK):
        hi = min(lo + BLOCK, last)
        te, tr = terminated[lo:hi], truncated[lo:hi]
        elapsed = info_views(info, lo, hi).elapsed_steps
        ended = advance_running(
            memory, params, lo, hi, actions[lo:hi], mask[lo:hi], masked, limit, mode, rewards[lo:hi], te, tr, elapsed
        )
        observe_block(memory, params, lo, hi, lanes(observations, lo, hi))
        inform_block(memory, params, lo, hi, info[:, lo:hi])
        if ended and mode == SAME_STEP:
            count = autoreset(
                memory, params, lo, hi, te, tr, observations, info, ends, final_observations, reset_info, count
            )
    return count - start


def check(memory, actions, bounds, mask, masked):
    """Index of the first lane that is to be stepped and whose action is out of bounds, or -1."""
    memory, actions, bounds, mask = borrow(memory), borrow(actions), borrow(bounds), borrow(mask)
    return first_invalid(actions, bounds, book_views(memory, np.int64(0), mask.size).ending, mask, masked)


def reset_one(memory, params, observation, info):
    """Start an episode in a batch of one lane that is seen as a single env.

    Without the loops over lanes of `reset`, which take the compiler a second.
    """
    memory, params = borrow(memory), borrow(params)
    restart(memory, params, np.int64(0))
    look_one(memory, params, borrow(observation), borrow(info))


def step_one(memory, params, actions, bounds, limit, observation, info):
    """Step a batch of one lane that is seen as a single env; whether to step past the end is the caller's rule.

    Returns:
        (valid action, reward, terminated, truncated); nothing has changed if the action is not valid.
    """
    memory, params, actions, bounds = borrow(memory), borrow(params), borrow(actions), borrow(bounds)
    lo, hi = np.int64(0), np.int64(1)  # not literals, for which the parts would be compiled a second time
    s, p, rng = state_views(memory, lo, hi), param_views(params, lo, hi), rng_array(memory, lo, hi)
    book = book_views(memory, lo, hi)
    if not within(actions, bounds, 0):
        return False, 0.0, False, False
    reward, terminated, truncated = step_lane(s, p, rng, actions, 0)
    book.episode_return[0] += reward
    book.elapsed[0] += 1
    truncated |= book.elapsed[0] >= limit
    book.ending[0] = TERMINATED * terminated + TRUNCATED * truncated
    look_one(memory, params, borrow(observation), borrow(info))
    return True, float(reward), bool(terminated), bool(truncated)


# ---- templates: parts of the above ---------------------------------------------------------------


def step_block(s, p, rng, action, reward, terminated, truncated):
    """Step all lanes of a block. An environment may have a `step_block` of its own, with stages over the block."""
    for i in range(reward.size):
        reward[i], terminated[i], truncated[i] = step_lane(s, p, rng, action, i)


def advance(memory, params, lo, hi, action, limit, mode, reward, terminated, truncated, elapsed):
    """Step lanes lo to hi - 1, which all run; returns how many ended. The arrays after `hi` hold these lanes only."""
    s, p, rng = state_views(memory, lo, hi), param_views(params, lo, hi), rng_rows(memory, lo, hi)
    book = book_views(memory, lo, hi)
    step_block(s, p, rng, action, reward, terminated, truncated)
    ended = tally(book, limit, reward, terminated, truncated, elapsed)
    if mode != SAME_STEP and ended:
        note_endings(book, terminated, truncated)
    return ended


def advance_running(memory, params, lo, hi, action, mask, masked, limit, mode, reward, terminated, truncated, elapsed):
    """`advance` the lanes of a block that run, in stretches; returns how many ended.

    A lane that waits for its reset is reset in next-step mode, and else repeats how it ended; its reward is 0. A lane
    that `mask` leaves out is left as it is, with reward 0 and no flags.
    """
    book = book_views(memory, lo, hi)
    ending = book.ending
    all_run = not masked and (mode == SAME_STEP or not any_nonzero(ending))
    ended = 0
    i = 0
    while i < hi - lo:
        if all_run or (ending[i] == 0 and (not masked or mask[i])):
            j = hi - lo
            if not all_run:
                j = i + 1
                while j < hi - lo and ending[j] == 0 and (not masked or mask[j]):
                    j += 1
            te, tr = terminated[i:j], truncated[i:j]
            ended += advance(
                memory, params, lo + i, lo + j, action[i:j], limit, mode, reward[i:j], te, tr, elapsed[i:j]
            )
            i = j
            continue
        if mode == NEXT_STEP and (not masked or mask[i]):
            restart(memory, params, lo + i)
        left_out = masked and not mask[i]
        terminated[i] = not left_out and ending[i] & TERMINATED != 0
        truncated[i] = not left_out and ending[i] & TRUNCATED != 0
        reward[i], elapsed[i] = 0.0, book.elapsed[i]
        i += 1
    return ended


def restart(memory, params, lane):
    """Start an episode in one lane; compiled as a function of its own."""
    memory, params = borrow(memory), borrow(params)
    s, p, rng = (
        state_views(memory, lane, lane + 1),
        param_views(params, lane, lane + 1),
        rng_array(memory, lane, lane + 1),
    )
    book = book_views(memory, lane, lane + 1)
    reset_lane(s, p, rng, 0)
    start_episode(book, 0)
    book.ending[0] = 0


def begin_inline(memory, params, s, p, rng, book, lane, i):
    """Start an episode in a lane, the i-th of a block, as fast as can be."""
    reset_lane(s, p, rng, i)
    start_episode(book, i)


def begin_outlined(memory, params, s, p, rng, book, lane, i):
    """Start an episode in a lane, where a call more does not matter."""
    restart(memory, params, lane)


def autoreset(
    memory, params, lo, hi, terminated, truncated, observations, info, ends, final_observations, reset_info, count
):
    """Start the next episode in the lanes that ended, their ends put aside; returns how many ends there are now."""
    s, p, rng, book = (
        state_views(memory, lo, hi),
        param_views(params, lo, hi),
        rng_array(memory, lo, hi),
        book_views(memory, lo, hi),
    )
    o, x = borrow_observations(lanes(observations, lo, hi)), info_views(info, lo, hi)
    first = count
    count = gather_ends(terminated, truncated, lo, ends, count)
    for k in range(first, count):
        i = ends[k] - lo
        copy_row(final_observations, k, o, i)
        copy_column(reset_info, k, info, lo + i)
        begin(memory, params, s, p, rng, book, lo + i, i)
        observe_lane(s, p, o, i)
        inform_lane(s, p, x, i)
        swap_columns(reset_info, k, info, lo + i)
    return count


def look(memory, params, lo, hi, observations, info):
    """Write the observations and infos of lanes lo to hi - 1."""
    observe_block(memory, params, lo, hi, lanes(observations, lo, hi))
    inform_block(memory, params, lo, hi, info[:, lo:hi])
    steps, elapsed = info_views(info, lo, hi).elapsed_steps, book_views(memory, lo, hi).elapsed
    for i in range(hi - lo):
        steps[i] = elapsed[i]


def look_one(memory, params, observation, info):
    """`look` at the only lane of a batch."""
    lo, hi = np.int64(0), np.int64(1)
    s, p, x = state_views(memory, lo, hi), param_views(params, lo, hi), info_views(info, lo, hi)
    observe_lane(s, p, borrow_observations(observation), 0)
    inform_lane(s, p, x, 0)
    x.elapsed_steps[0] = book_views(memory, lo, hi).elapsed[0]


def observe_block(memory, params, lo, hi, observations):
    """Write the observations of lanes lo to hi - 1, in a loop of its own.

    Inside `step_block` it costs that its vectorisation (2.5 ns a lane instead of 0.8).
    """
    s, p = state_views(memory, lo, hi), param_views(params, lo, hi)
    # Borrowed here, not in the caller: a loop is vectorised with the function it stands in, before that is inlined.
    o = borrow_observations(observations)
    for i in range(hi - lo):
        observe_lane(s, p, o, i)


def inform_block(memory, params, lo, hi, info):
    """Write the environment's own infos of lanes lo to hi - 1: `info` holds a column for each of them."""
    s, p, x = state_views(memory, lo, hi), param_views(params, lo, hi), info_views(info, 0, hi - lo)
    for i in range(hi - lo):
        inform_lane(s, p, x, i)


# ---- the same for all environments ---------------------------------------------------------------


@kernel
def inform_nothing(s, p, info, i):
    """The `inform_lane` of an environment without infos."""


@kernel
def start_episode(book, i):
    """A new episode in a lane that did not wait for it."""
    book.episode_return[i] = 0.0
    book.elapsed[i] = 0


@kernel
def tally(book, limit, reward, terminated, truncated, elapsed):
    """Count a step of every lane and end the episodes that reach the time limit; returns how many ended.

    Writes: book; truncated; elapsed (int64): steps of the episode, for the infos.
    """
    ended = 0
    for i in range(reward.size):
        book.episode_return[i] += reward[i]
        count = book.elapsed[i] + 1
        book.elapsed[i] = count
        elapsed[i] = count
        truncated[i] |= count >= limit
        ended += terminated[i] | truncated[i]
    return ended


@kernel
def gather_ends(terminated, truncated, lo, ends, count):
    """Append the lanes that ended to `ends`; returns how many it holds now.

    Without a branch, which would be mispredicted for every one of them; and a reset of its own loop overlaps with
    the next.
    """
    for i in range(terminated.size):
        ends[count] = lo + i
        count += terminated[i] | truncated[i]
    return count


@kernel
def note_endings(book, terminated, truncated):
    """Write down how lanes ended; those that did wait for a reset."""
    for i in range(terminated.size):
        book.ending[i] = TERMINATED * terminated[i] + TRUNCATED * truncated[i]


@kernel
def any_nonzero(row):
    """Whether a row of integers holds anything but zeros."""
    bits = 0
    for i in range(row.size):
        bits |= row[i]
    return bits != 0


def number(actions, i, k):
    """Number k of the action of lane i."""
    return actions.reshape(actions.shape[0], -1)[i, k]


@overload(number)
def _compile_number(actions, i, k):
    # Chosen by rank: reshaping takes long to compile.
    scalar, vector = (lambda actions, i, k: actions[i]), (lambda actions, i, k: actions[i, k])
    higher = lambda actions, i, k: actions.reshape((actions.shape[0], -1))[i, k]  # noqa: E731
    return {1: scalar, 2: vector}.get(actions.ndim, higher)


@kernel
def within(actions, bounds, i):
    """Whether the action of lane i lies in `bounds[0] <= action <= bounds[1]`; NaN does not."""
    good = True
    for k in range(bounds.shape[1]):
        good &= (bounds[0, k] <= number(actions, i, k)) & (number(actions, i, k) <= bounds[1, k])
    return good


@kernel
def first_invalid(actions, bounds, ending, mask, masked):
    """Index of the first lane that is to be stepped and whose action is not `within` its bounds, or -1."""
    good = True
    for k in range(bounds.shape[1]):
        low, high = bounds[0, k], bounds[1, k]
        for i in range(mask.size):
            good &= (low <= number(actions, i, k)) & (number(actions, i, k) <= high)
    if not good:
        for i in range(mask.size):
            if ending[i] == 0 and (not masked or mask[i]) and not within(actions, bounds, i):
                return i
    return -1


@kernel
def place(first):
    """Where a range of lanes puts its ends: each block has a place more than lanes, which `gather_ends` needs."""
    return first + first // BLOCK


@kernel
def copy_column(to, k, source, i):
    """Column i of `source` into column k of `to`."""
    for row in range(to.shape[0]):
        to[row, k] = source[row, i]


@kernel
def swap_columns(first, k, second, i):
    """Exchange column k of `first` and column i of `second`."""
    for row in range(first.shape[0]):
        first[row, k], second[row, i] = second[row, i], first[row, k]
