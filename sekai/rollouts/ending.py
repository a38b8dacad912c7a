"""The ends of the episodes of a rollout."""

from __future__ import annotations

from typing import Any

import numpy as np

from sekai.rollouts.result import Episodes, Rollout, Statistics
from sekai.vector.batches import map_arrays


def finish(result: Rollout, stats: np.ndarray, found: list[tuple[Any, ...]] | None, no_finals: Any) -> None:
    """Put statistics and episodes into a rollout."""
    from sekai.kernels import rollout as kernels

    kernels.merge_stats(stats)
    count = stats[0, 0]
    if count:
        deviations = np.sqrt(stats[0, [2, 4]] / count).tolist()
        result.statistics = Statistics(int(count), float(stats[0, 1]), deviations[0], float(stats[0, 3]), deviations[1])
    if found is None:
        return
    result.episodes = in_order(found, result.num_steps, no_finals)


def in_order(found: list[tuple[Any, ...]], num_steps: int, no_finals: Any) -> Episodes:
    """Episodes ordered by step and lane; those of a step have been found in the order of their lanes."""
    from sekai.kernels import rollout as kernels

    counts = np.zeros(num_steps, np.int64)
    for _, data, _ in found:
        first = data[1].min(initial=num_steps)  # those of a call lie close together: to count them, T does not matter
        ends = np.bincount(data[1] - first)
        counts[first : first + ends.size] += ends
    total, places = counts.sum(), np.cumsum(counts) - counts
    returns, (terminated, truncated) = np.empty(total), np.empty((2, total), np.bool_)
    lanes, lengths, order = np.empty((3, total), np.int64)
    number = 0
    for part, data, _ in found:
        kernels.place_episodes(part, data, number, places, order, returns, lengths, lanes, terminated, truncated)
        number += len(part)

    def ordered(*parts: np.ndarray) -> np.ndarray:
        rows = np.concatenate(parts)
        return rows.take(order, axis=0) if len(rows) else rows  # ten times as fast as rows[order]

    finals = map_arrays(ordered, no_finals, *[part for _, _, part in found])
    end_steps = np.repeat(np.arange(num_steps), counts)
    return Episodes(returns, lengths, lanes, end_steps, terminated, truncated, finals)
