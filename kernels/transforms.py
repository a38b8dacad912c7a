"""What wrappers compute: affine maps, the draws of sticky actions, and the book-keeping of episodes."""

import numpy as np

from sekai.kernels import random
from sekai.kernels.jit import entry
from sekai.kernels.rows import borrow

# Rows of an affine map: y = TO + SCALE * (x - FROM), kept within LOW … HIGH.
FROM, SCALE, TO, LOW, HIGH, MAP_ROWS = range(6)

# Rows of the ends of episodes: sum of rewards, number of steps, start time, and how it ended (0 or 1).
END_TOTAL, END_LENGTH, END_START, END_TERMINATED, END_TRUNCATED, ENDS = range(6)


@entry
def rescale(x, affine, out):
    """Write the affine image of each element of a batch to `out`; NaN stays NaN.

    Args:
        x (float32 or float64, (n * d,)): n elements of d numbers.
        affine (float64, (MAP_ROWS, w)): the map, in the columns of one or more whole elements side by side.
        out (float64, (n * d,)): overwritten.
    """
    x, affine, out = borrow(x), borrow(affine), borrow(out)
    start, scale, to, low, high = affine[FROM], affine[SCALE], affine[TO], affine[LOW], affine[HIGH]
    for first in range(0, x.size, start.size):
        part, image = x[first : first + start.size], out[first : first + start.size]
        for w in range(part.size):
            y = to[w] + scale[w] * (part[w] - start[w])
            y = low[w] if y < low[w] else y
            image[w] = high[w] if y > high[w] else y


@entry
def draw_sticky(rng, probability, ready, sticky):
    """Draw which lanes repeat their last action.

    Args:
        rng (uint64, (6, N)): streams of the lanes.
        probability (float): of a repetition.
        ready (bool, (N,)): lanes that have a last action; only they draw.
        sticky (bool, (N,)): overwritten.

    Draws:
        One uniform for each lane that is ready.
    """
    rng, ready, sticky = borrow(rng), borrow(ready), borrow(sticky)
    for i in range(ready.size):
        sticky[i] = ready[i] and random.random(rng, i) < probability


@entry
def child_words(seeds, child, words):
    """Write `SeedSequence(seed).spawn(child + 1)[child].generate_state(1)[0]` to words[i, 0], and 0 to the others.

    Args:
        seeds (uint32, (n, m), m >= 1): each seed as words of 32 bits, the lowest first.
        child (int): number of the child.
        words (uint32, (n, 4)): overwritten; the seeds of the children as `random.seed_lanes` takes them.
    """
    for i in range(seeds.shape[0]):
        random.spawn_words(seeds[i], words[i : i + 1], child)
        for k in range(1, words.shape[1]):
            words[i, k] = np.uint32(0)


@entry
def record_step(rewards, terminated, truncated, moving, now, totals, lengths, starts, lanes, ends):
    """Add a step to the sums of rewards and numbers of steps of N lanes, and put those of ended episodes aside.

    Args:
        rewards (float64, (N,)), terminated (bool, (N,)), truncated (bool, (N,)).
        moving (bool, (N,)): lanes that made the step.
        now (float): time.
        totals (float64, (N,)), lengths (int64, (N,)): updated; 0 where the episode ended.
        starts (float64, (N,)): when the episodes started; `now` where one ended.
        lanes (int64, (N + 1,)): in places below the count: the lanes whose episodes ended, ascending.
        ends (float64, (ENDS, N + 1)): rows of what there is to tell of each, likewise.

    Returns:
        The count.
    """
    rewards, terminated, truncated, moving = borrow(rewards), borrow(terminated), borrow(truncated), borrow(moving)
    totals, lengths, starts, lanes, ends = borrow(totals), borrow(lengths), borrow(starts), borrow(lanes), borrow(ends)
    for i in range(rewards.size):
        totals[i] += rewards[i] if moving[i] else 0.0
        lengths[i] += moving[i]
    count = 0
    for i in range(rewards.size):
        # Without a branch, which would be mispredicted for most ends.
        lanes[count] = i
        count += moving[i] & (terminated[i] | truncated[i])
    for k in range(count):
        i = lanes[k]
        ends[END_TOTAL, k], ends[END_LENGTH, k], ends[END_START, k] = totals[i], lengths[i], starts[i]
        ends[END_TERMINATED, k], ends[END_TRUNCATED, k] = terminated[i], truncated[i]
        totals[i], lengths[i], starts[i] = 0.0, 0, now
    return count
