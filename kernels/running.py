"""Running means and variances of streams of samples, and normalisation by them.

The statistics of samples of d numbers each are one packed `float64[ROWS, width(d)]`, `memory`:

    MEAN, VAR       mean and variance, in the first d columns
    WEIGHTS         column COUNT: how many samples there were; column WEIGHT: what is left of them after decay
    other rows      scratch

A batch of samples is the flat array of its numbers. Moments are taken of each chunk of CHUNK samples, relative to its
first one, and chunks are merged in order (Chan, Golub & LeVeque, Algorithms for computing the sample variance, 1983):
the result depends on the samples only, and a mean that is large against the deviation costs no digits. The square of
what a sample deviates from the mean of n is at most n times their variance, so at most 3 of 16 digits of that are lost.

Loops over the few columns of one sample do not vectorise. So accumulators stand for a tile of several samples side by
side, and are folded into the columns of one sample at the end.
"""

import math

import numpy as np

from sekai.kernels.jit import entry, kernel
from sekai.kernels.rows import borrow

MEAN, VAR, WEIGHTS, BATCH_MEAN, BATCH_VAR, SHIFT, SUM, SQUARES, ROWS = range(9)
COUNT, WEIGHT = 0, 1

# Kinds of statistics: every sample counts the same, or the less the older it is.
RUNNING, EXPONENTIAL = 0, 1

CHUNK = 1024
TILE = 64

# Sums of squares of numbers up to this size are finite.
LARGEST = 1e150


def width(d):
    """Number of columns for samples of d >= 1 numbers; those of whole samples."""
    return d * max(TILE // d, 1)


@entry
def absorb(x, d, memory, kind, parameter, weight):
    """Update the statistics with a batch.

    Args:
        x (float32 or float64, (n * d,)): the samples, n >= 1.
        d (int): numbers of one sample.
        memory (float64, (ROWS, width(d))).
        kind (int): RUNNING or EXPONENTIAL.
        parameter (float): count of a RUNNING one without samples; decay per sample of an EXPONENTIAL one.
        weight (float): how many samples the batch counts as; 0: as many as it holds.

    Returns:
        Whether it was absorbed. Not if a moment is not finite or beyond LARGEST; nothing has changed then.
    """
    x, memory = borrow(x), borrow(memory)
    n = take_moments(x, d, memory)
    good = are_sound(d, memory)
    if good:
        merge(d, memory, kind, parameter, weight if weight > 0.0 else n)
    return good


@entry
def absorb_moments(d, memory, kind, parameter, weight):
    """Update the statistics with the moments of `weight` samples, given in the rows BATCH_MEAN and BATCH_VAR.

    Returns:
        Whether they were absorbed, as `absorb` does.
    """
    memory = borrow(memory)
    good = are_sound(d, memory)
    if good:
        merge(d, memory, kind, parameter, weight)
    return good


@entry
def normalize(x, d, memory, learning, kind, parameter, weight, epsilon, clip, out):
    """Write `(x - mean) / sqrt(var + epsilon)`, clipped to `-clip … clip`, to `out`; NaN stays NaN.

    Args:
        learning (bool): whether to `absorb` the batch first; the other arguments as there.
        clip (float): may be infinite.
        out (float64, (n * d,)): overwritten.

    Returns:
        Whether that worked; not if the batch was not absorbed. Nothing has changed then.
    """
    x, memory, out = borrow(x), borrow(memory), borrow(out)
    if learning:
        n = take_moments(x, d, memory)
        if not are_sound(d, memory):
            return False
        merge(d, memory, kind, parameter, weight if weight > 0.0 else n)
    tile = min(memory.shape[1], x.size)
    mean, scale = memory[SHIFT, :tile], memory[SUM, :tile]
    for j in range(d):
        mean[j], scale[j] = memory[MEAN, j], inverse_deviation(memory, j, epsilon)
    spread(mean, d)
    spread(scale, d)
    for first in range(0, x.size, tile):
        part, to = x[first : first + tile], out[first : first + tile]
        for w in range(part.size):
            y = (part[w] - mean[w]) * scale[w]
            y = -clip if y < -clip else y
            to[w] = clip if y > clip else y
    return True


@entry
def normalize_reward(reward, total, memory, learning, prior, gamma, epsilon):
    """Divide one reward by the deviation of the discounted return.

    Args:
        reward (float).
        total (float): discounted return before this step.
        memory (float64, (ROWS, width(1))): RUNNING statistics of the return.
        learning (bool): whether to update them with the return after this step.
        prior (float): their count without samples.
        gamma (float), epsilon (float).

    Returns:
        The reward, the return after this step, and whether that is sound; if not, the statistics and the return are
        as they were.
    """
    memory = borrow(memory)
    after = gamma * total + reward
    good = is_sound(after)
    if good and learning:
        memory[BATCH_MEAN, 0], memory[BATCH_VAR, 0] = after, 0.0
        merge_running(1, memory, prior, 1.0)
    return reward * inverse_deviation(memory, 0, epsilon), after if good else total, good


@entry
def normalize_rewards(rewards, ended, stepped, totals, memory, learning, prior, gamma, epsilon, out):
    """`normalize_reward` for N lanes, whose returns are one batch of samples.

    Args:
        rewards (float64, (N,)).
        ended (bool, (N,)): lanes whose episode ended; their return starts anew.
        stepped (bool, (N,)): lanes to look at; the returns of the others stay and are no samples.
        totals (float64, (N,)): discounted returns, updated.
        out (float64, (N,)): overwritten.

    Returns:
        How many returns were left out because they are not sound.
    """
    rewards, ended, stepped, totals = borrow(rewards), borrow(ended), borrow(stepped), borrow(totals)
    memory, out = borrow(memory), borrow(out)
    everyone = True
    for i in range(rewards.size):
        out[i] = gamma * totals[i] + rewards[i]
        everyone &= stepped[i] & is_sound(out[i])
    samples, left_out = take_over(totals, out) if everyone else take_over_sound(stepped, totals, out)
    if learning and samples > 0:
        merge_running(1, memory, prior, take_moments(out[:samples], 1, memory))
    scale = inverse_deviation(memory, 0, epsilon)
    for i in range(rewards.size):
        totals[i] = 0.0 if ended[i] & stepped[i] else totals[i]
        out[i] = rewards[i] * scale
    return left_out


@kernel
def take_over(totals, out):
    """Take over all the returns `out`; returns how many samples they are, and how many were left out."""
    for i in range(out.size):
        totals[i] = out[i]
    return out.size, 0


@kernel
def take_over_sound(stepped, totals, out):
    """Take over the returns `out` that are to be, and move these to its front; returns what `take_over` does."""
    samples, left_out = 0, 0
    for i in range(out.size):
        if stepped[i]:
            if is_sound(out[i]):
                totals[i] = out[i]
                out[samples] = out[i]
                samples += 1
            else:
                left_out += 1
    return samples, left_out


@kernel
def is_sound(number):
    """Whether a number may enter the statistics; NaN may not."""
    return abs(number) <= LARGEST


@kernel
def are_sound(d, memory):
    """Whether the moments of the batch may enter the statistics."""
    good = True
    for j in range(d):
        good &= is_sound(memory[BATCH_MEAN, j]) & (memory[BATCH_VAR, j] < np.inf)
    return good


@kernel
def inverse_deviation(memory, j, epsilon):
    """What column j is multiplied with to be normalised."""
    return 1.0 / math.sqrt(memory[VAR, j] + epsilon)


@kernel
def take_moments(x, d, memory):
    """Write mean and variance of a batch to BATCH_MEAN and BATCH_VAR; returns its number of samples."""
    tile = min(memory.shape[1], x.size)
    mean, var = memory[BATCH_MEAN], memory[BATCH_VAR]
    shift, total, squares = memory[SHIFT, :tile], memory[SUM, :tile], memory[SQUARES, :tile]
    for j in range(d):
        mean[j], var[j] = 0.0, 0.0
    n = 0
    for first in range(0, x.size, CHUNK * d):
        chunk = x[first : first + CHUNK * d]
        k = chunk.size // d
        for w in range(tile):
            total[w], squares[w] = 0.0, 0.0
        for j in range(d):
            shift[j] = chunk[j]
        spread(shift, d)
        add_up(chunk, shift, total, squares)
        fold(total, d)
        fold(squares, d)
        for j in range(d):
            delta = shift[j] + total[j] / k - mean[j]
            mean[j] += delta * k / (n + k)
            var[j] += squares[j] - total[j] * total[j] / k + delta * delta * n * k / (n + k)
        n += k
    for j in range(d):
        var[j] = 0.0 if var[j] < 0.0 else var[j] / n  # rounding may make it negative; NaN stays NaN
    return float(n)


@kernel
def add_up(x, shift, total, squares):
    """Add what the tiles of x deviate from `shift`, and the squares of that."""
    for first in range(0, x.size, total.size):
        tile = x[first : first + total.size]
        for w in range(tile.size):
            delta = tile[w] - shift[w]
            total[w] += delta
            squares[w] += delta * delta


@kernel
def fold(row, d):
    """Add the columns of all samples of a tile to those of the first."""
    for first in range(d, row.size, d):
        for j in range(d):
            row[j] += row[first + j]


@kernel
def spread(row, d):
    """Copy the columns of the first sample of a tile to those of all."""
    for first in range(d, row.size, d):
        for j in range(d):
            row[first + j] = row[j]


@kernel
def merge(d, memory, kind, parameter, n):
    """Merge the moments of a batch that counts as n samples into the statistics."""
    if kind == RUNNING:
        merge_running(d, memory, parameter, n)
    else:
        merge_exponential(d, memory, parameter, n)


@kernel
def merge_running(d, memory, prior, n):
    """Every sample counts the same.

    Statistics without samples have the weight `prior`: their variance counts, their mean does not.
    """
    mean, var, batch_mean, batch_var = memory[MEAN], memory[VAR], memory[BATCH_MEAN], memory[BATCH_VAR]
    count = memory[WEIGHTS, COUNT]
    total = count + n
    for j in range(d):
        if count <= prior:
            mean[j] = batch_mean[j]
        delta = batch_mean[j] - mean[j]
        mean[j] += delta * n / total
        var[j] = (var[j] * count + batch_var[j] * n + delta * delta * count * n / total) / total
    memory[WEIGHTS, COUNT] = total


@kernel
def merge_exponential(d, memory, decay, n):
    """With each sample, the weight of the earlier ones shrinks by `decay`."""
    mean, var, batch_mean, batch_var = memory[MEAN], memory[VAR], memory[BATCH_MEAN], memory[BATCH_VAR]
    memory[WEIGHTS, WEIGHT] = memory[WEIGHTS, WEIGHT] * decay**n + n
    w = n / memory[WEIGHTS, WEIGHT]
    for j in range(d):
        if memory[WEIGHTS, COUNT] == 0.0:
            mean[j], var[j] = batch_mean[j], batch_var[j]
        delta = batch_mean[j] - mean[j]
        mean[j] += w * delta
        var[j] = (1.0 - w) * var[j] + w * batch_var[j] + w * (1.0 - w) * delta * delta
    memory[WEIGHTS, COUNT] += n
