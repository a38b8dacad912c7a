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
    returns = np.concatenate([np.empty(0), *[part[0] for part in found]])
    data = np.concatenate([np.empty((4, 0), np.int64), *[part[1] for part in found]], axis=1)
    finals = map_arrays(lambda *parts: np.concatenate(parts), no_finals, *[part[2] for part in found])
    lanes, steps, lengths, endings = data
    order = np.lexsort((lanes, steps))
    result.episodes = Episodes(
        returns[order], lengths[order], lanes[order], steps[order], endings[order] & 1 != 0, endings[order] & 2 != 0,
        map_arrays(lambda array: array[order] if len(array) else array, finals),
    )  # fmt: skip
