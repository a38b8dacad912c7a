"""Checks that the lanes of a batch have nothing to do with each other."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from typing import Any

import numpy as np

from sekai.testing.autoreset_checks import check_idle
from sekai.testing.batch_under_test import PAUSE, SEED, BatchUnderTest, Row, difference, require
from sekai.testing.comparison import frozen
from sekai.testing.result_checks import ARRAYS
from sekai.testing.vectorised import why_not_vectorised
from sekai.vector.kernel import BLOCK
from sekai.vector.native import take_index
from sekai.vector.seeding import lane_seeds

REPLAY = 20  # steps that a replay is followed for
FEW = 6  # steps of batches of more than a block of lanes
OWN_ROWS = "In lane functions use the rows of lane i alone, and no other memory."
OWN_STATE = "Leave the state and the stream of lanes outside the mask alone."


def check_masked_step(batch: BatchUnderTest) -> None:
    """Check that a step with a mask leaves the other lanes alone."""
    if len(batch.actions) <= PAUSE:
        return
    odd = np.arange(batch.n) % 2 == 1
    last = batch.begin_again()
    result = batch.step(PAUSE, mask=odd)
    rows = batch.rows(result)
    check_idle(batch, ~odd, last, result, "In a step with a mask, a lane left out")
    require(
        np.array_equal(result.valid, odd),
        "In a step with a mask, `valid` must be False for lanes left out, and True for the others.",
    )
    if not batch.independent or batch.mode != "same_step":
        return
    # Both halves of the lanes have then taken the record's step.
    rest = batch.rows(batch.step(PAUSE, mask=~odd))
    rows = [a if stepped else b for a, b, stepped in zip(rows, rest, odd[batch.lanes], strict=True)]
    for k in range(PAUSE, min(PAUSE + REPLAY, len(batch.actions))):
        rows = rows if k == PAUSE else batch.rows(batch.step(k))
        found = batch.difference(rows, k)
        require(found is None, f"A mask that leaves lanes out of a step changes how they go on: {found}. {OWN_STATE}")


def check_masked_reset(batch: BatchUnderTest) -> None:
    """Check that a reset with a mask leaves the other lanes alone."""
    odd = np.arange(batch.n) % 2 == 1
    last = batch.begin_again()
    result = batch.vec.reset(seed=SEED, mask=odd)
    observations = batch.frozen_observations(last), batch.frozen_observations(result)
    for i, first, before, now in zip(batch.lanes, batch.first, *observations, strict=True):
        kept, fresh = before == now, now == first
        require(
            odd[i] or kept, f"A reset with a mask must repeat the observation of a lane left out; lane {i} changed."
        )
        require(
            not odd[i] or fresh or not batch.independent,
            f"A reset with a mask must begin the episodes that one of all lanes begins; lane {i} begins another.",
        )
    if batch.independent and not batch.masked and len(batch.actions) > PAUSE:
        found = batch.difference(batch.rows(batch.step(PAUSE)), PAUSE, ~odd)
        require(found is None, f"A mask that leaves lanes out of a reset changes how they go on: {found}. {OWN_STATE}")


def check_single(batch: BatchUnderTest) -> None:
    """Check that a lane is the single environment with the lane's seed."""
    if not batch.independent or batch.mode != "same_step":
        return
    seeds = lane_seeds(SEED, batch.n)
    for j, lane in enumerate(batch.lanes):
        env = _single(batch, lane)
        if env is None:
            return
        text = (
            f"Lane {lane} is not the single environment with the seed lane_seeds(seed, {batch.n})[{lane}]: {{}}"
            " differs. Seed lanes so, and let them share nothing."
        )
        with env:
            start = frozen(env.reset(seed=seeds[lane]).observation)
            require(start == batch.first[j], text.format("observation after reset()"))
            for k, row in enumerate(_single_rows(batch, env, lane)):
                parts = difference(row, batch.steps[k][j])
                require(not parts, text.format(f"{parts} at step {k}"))


def _single(batch: BatchUnderTest, lane: int) -> Any:
    """A single environment like that of a lane; None if the batch cannot tell."""
    vec = batch.vec
    if batch.env_fn is not None:
        return batch.env_fn()
    if batch.wrapped:
        return None
    if batch.kernel:
        return None if vec.single is None else vec.lane(lane)
    with suppress(Exception):  # what holds a file, say, cannot be pickled
        env, *_ = pickle.loads(vec.get_state([lane]).lanes[0])
        return env
    return None


def _single_rows(batch: BatchUnderTest, env: Any, lane: int) -> Iterator[Row]:
    """What a batch would return for a single environment that takes the actions of a lane."""
    for actions in batch.actions:
        result = env.step(take_index(batch.vec.action_space, actions, lane))
        observation, info = result.observation, result.info
        if (result.terminated or result.truncated) and "final_observation" not in info:
            final = deepcopy(observation)
            start = env.reset()
            observation = start.observation
            info = {**info, "final_observation": final, "final_info": info, "reset_info": start.info}
        yield batch.frozen_row(observation, result.reward, result.terminated, result.truncated, info)


def check_place(batch: BatchUnderTest) -> None:
    """Check that a lane is the same in a batch of any size, at any place."""
    if not _has_twins(batch):
        return
    seeds = lane_seeds(SEED, batch.n)
    for j in {0, len(batch.lanes) - 1}:
        lane = batch.lanes[j]
        for n, place in ((1, 0), (3, 2), (BLOCK + 2, BLOCK + 1)):
            twin = _twin(batch, lane, n)
            neighbours = [seeds[lane]] * n if batch.masked else lane_seeds(SEED + 1, n)
            twin.reset(seed=[*neighbours[:place], seeds[lane], *neighbours[place + 1 :]])
            for k, actions in enumerate(batch.actions[: FEW if n > BLOCK else None]):
                row = batch.row(twin.step(np.repeat(actions[lane : lane + 1], n, axis=0)), place)
                parts = difference(row, batch.steps[k][j])
                require(
                    not parts,
                    f"Lane {lane} of {batch.n} differs from lane {place} of {n} with the same seed and actions: {parts}"
                    f" at step {k}. {OWN_ROWS}",
                )


def check_threads(batch: BatchUnderTest) -> None:
    """Check that the number of threads changes nothing."""
    if not _has_twins(batch) or batch.masked:
        return
    n = 2 * BLOCK + 3
    twins = [_twin(batch, batch.lanes[0], n, max_episode_steps=FEW // 2, num_threads=threads) for threads in (1, 2)]
    for twin in twins:
        twin.reset(seed=SEED)
    for _ in range(FEW):
        actions = batch.draw(n=n)
        one, two = (twin.step(actions) for twin in twins)
        names = ("observations", *ARRAYS)
        changed = " and ".join(name for name in names if frozen(getattr(one, name)) != frozen(getattr(two, name)))
        require(not changed, f"With two threads the {changed} differ from those with one. {OWN_ROWS}")


def _has_twins(batch: BatchUnderTest) -> bool:
    """Whether another batch of the same kind can be made, and compared with the record."""
    plain = batch.kernel and not batch.wrapped and not batch.vec.debug
    return plain and batch.repeatable and batch.mode == "same_step"


def _twin(batch: BatchUnderTest, lane: int, n: int, **kwargs: Any) -> Any:
    """A batch of n lanes that are all like one of this batch.

    Raises:
        NotImplementedError: The constructor takes other arguments than those of a kernel env.
    """
    vec = batch.vec
    arguments = {"max_episode_steps": vec.max_episode_steps, **vec.lane_kwargs(lane), **kwargs}
    try:
        return type(vec)(n, **arguments)
    except TypeError:
        raise NotImplementedError from None


def check_snapshot(batch: BatchUnderTest) -> None:
    """Check that a snapshot, in mid-episode, replays."""
    if not batch.independent:
        return
    batch.begin_again()
    try:
        state = batch.vec.get_state()
    except Exception:
        if batch.kernel:
            raise
        return  # an environment that cannot be pickled
    steps = range(PAUSE, min(PAUSE + REPLAY, len(batch.actions)))
    for k in steps:
        batch.step(k)
    batch.vec.set_state(pickle.loads(pickle.dumps(state)))
    for k in steps:
        found = batch.difference(batch.rows(batch.step(k)), k)
        require(
            found is None,
            f"After set_state(get_state()) the same actions gave other results: {found}. Keep all that a lane remembers"
            " where snapshots find it.",
        )


def check_vectorised(batch: BatchUnderTest) -> None:
    """Check that the loop over lanes is vectorised."""
    if batch.kernel and not batch.wrapped and not batch.vec.debug:
        reason = why_not_vectorised(batch.vec)
        require(
            reason is None,
            f"The loop that steps the lanes is slower than it need be: {reason}. Use the functions of"
            " sekai.kernels.elementary, and arithmetic instead of branches; or divide step_block into stages.",
            warning=True,
        )
