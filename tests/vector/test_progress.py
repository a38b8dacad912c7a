"""Where the episodes of lanes stand."""

import numpy as np
import pytest

import sekai
from sekai.vector.progress import Progress


@pytest.mark.parametrize("mode", ["same_step", "next_step", "disabled"])
def test_progress_follows_a_batch(tick, mode):
    vec = sekai.SyncVecEnv([lambda: tick(1), lambda: tick(2), lambda: tick(9)], autoreset=mode)
    progress, rng = Progress(vec), np.random.default_rng(0)
    vec.reset(seed=0)
    progress.note_reset(None)
    before = [env.k for env in vec.envs]
    for _ in range(60):
        mask = rng.random(3) < 0.7 if rng.random() < 0.5 else None
        if rng.random() < 0.2:
            vec.reset(mask=mask)
            progress.note_reset(mask)
        else:
            moving = progress.moving(mask)
            result = vec.step([0, 0, 0], mask)
            started = progress.note_step(result, mask)
            after = [env.k for env in vec.envs]
            assert (np.ones(3, np.bool_) if moving is None else moving).tolist() == result.valid.tolist()
            assert started.tolist() == [i for i in range(3) if after[i] == 0 and (before[i] or result.valid[i])]
        before = [env.k for env in vec.envs]


def test_environments_that_reset_themselves_are_never_over(tick):
    for mode in ("same_step", "next_step", "disabled"):
        vec = sekai.SyncVecEnv([lambda: sekai.AutoReset(tick(2))] * 2, autoreset=mode)
        progress = Progress(vec)
        vec.reset(seed=0)
        started = []
        for _ in range(4):
            assert progress.moving(None) is None
            started.append(progress.note_step(vec.step([0, 0]), None).tolist())
        assert started == [[], [0, 1], [], [0, 1]]
