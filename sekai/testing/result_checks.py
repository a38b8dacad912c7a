"""Checks of what a batch returns: shapes, dtypes, spaces, seeds and copies."""

from __future__ import annotations

from collections import deque
from copy import deepcopy
from typing import Any

import numpy as np

from sekai.spaces import Box, Space
from sekai.testing.batch_under_test import SEED, BatchUnderTest, Problem, require
from sekai.testing.comparison import frozen
from sekai.utils.leaves import map_leaves
from sekai.vector.vec_env import AUTORESET_MODES

RESET_FIELDS = ("observations", "infos")
STEP_FIELDS = ("observations", "rewards", "terminated", "truncated", "infos")
ARRAYS = {"rewards": np.dtype(np.float64), "terminated": np.dtype(np.bool_), "truncated": np.dtype(np.bool_)}
RECENT = 8  # results that are watched for changes


def check_attributes(vec: Any) -> None:
    """Check what the batch says about itself."""
    count = getattr(vec, "num_envs", None)
    require(isinstance(count, int) and count > 0, f"num_envs must be an int of at least 1, got {count!r}.")
    for name in ("observation_space", "action_space"):
        space = getattr(vec, name, None)
        require(isinstance(space, Space), f"{name} must be the sekai.Space of one lane, got {space!r}.")
    mode = getattr(vec, "autoreset_mode", None)
    require(mode in AUTORESET_MODES, f"autoreset_mode must be one of {', '.join(AUTORESET_MODES)}, got {mode!r}.")


def check_results(batch: BatchUnderTest) -> None:
    """Check what reset and step return."""

    def on_reset(result: Any) -> None:
        _check_fields("reset()", result, RESET_FIELDS, "VecResetResult")
        _check_rows(batch, "reset()", result)

    def on_step(k: int, result: Any) -> None:
        where = f"step() at step {k}"
        _check_fields(where, result, STEP_FIELDS, "VecStepResult")
        for name, dtype in ARRAYS.items():
            array = getattr(result, name)
            good = isinstance(array, np.ndarray) and (array.dtype, array.shape) == (dtype, (batch.n,))
            found = f"{array.dtype} {array.shape}" if isinstance(array, np.ndarray) else f"a {type(array).__name__}"
            require(good, f"{name} from {where} must be an array, {dtype} {(batch.n,)}, got {found}.")
        bad = np.flatnonzero(np.isnan(result.rewards))
        require(not bad.size, f"The reward of lane {bad[:1]} from {where} is NaN.", warning=True)
        _check_rows(batch, where, result)

    batch.record(on_reset, on_step)


def _check_fields(where: str, result: Any, fields: tuple[str, ...], kind: str) -> None:
    missing = [name for name in fields if not hasattr(result, name)]
    found = type(result).__name__
    require(not missing, f"{where} returned a {found} without {', '.join(missing)}; return a sekai.{kind}.")


def _check_rows(batch: BatchUnderTest, where: str, result: Any) -> None:
    """Check observations and infos of all lanes."""
    space = batch.vec.observation_space
    try:
        inside = space.contains_batch(result.observations)
    except (KeyError, ValueError) as error:
        raise Problem(f"Observations from {where} are no batch of {space!r}: {error}.") from None
    require(len(inside) == batch.n, f"Observations from {where} have {len(inside)} rows, and must have {batch.n}.")
    for i in np.flatnonzero(~inside)[:1].tolist():
        found = batch.observation(result, i)
        text = f"The observation of lane {i} from {where} is not within observation_space {space!r}: {found!r}"
        raise Problem(text, warning=True)

    def check_dtype(leaf: Any, array: Any) -> None:
        if isinstance(leaf, Box) and isinstance(array, np.ndarray):
            text = f"Observations from {where} have dtype {array.dtype}, their space has {leaf.dtype}."
            require(array.dtype == leaf.dtype, text, warning=True)

    map_leaves(check_dtype, space, result.observations)
    infos = result.infos
    require(len(infos) == batch.n, f"infos from {where} must hold a dict for each lane, {batch.n}, got {len(infos)}.")
    for i in batch.lanes:
        require(isinstance(infos[i], dict), f"infos[{i}] from {where} must be a dict, got {infos[i]!r}.")


def check_seed(batch: BatchUnderTest) -> None:
    """Check that seed and actions decide about everything."""
    if not batch.repeatable:
        return
    text = (
        f"reset(seed={SEED}) and the same actions gave other results the second time: {{}}. Seed every stream, and let"
        " reset() set all that an episode begins with; or register the environment with nondeterministic=True."
    )
    start = batch.frozen_observations(batch.vec.reset(seed=SEED))
    require(start == batch.first, text.format("the first observations differ"), warning=True)
    for k in range(len(batch.actions)):
        difference = batch.difference(batch.rows(batch.step(k)), k)
        require(difference is None, text.format(difference), warning=True)


def check_stream(batch: BatchUnderTest) -> None:
    """Check that a reset without a seed lets streams go on; to be called right after `check_seed`."""
    if batch.repeatable:
        require(
            batch.frozen_observations(batch.vec.reset()) == batch.after,
            "reset() without a seed gave other observations, though all before it was the same. Let streams go on where"
            " seed is None.",
            warning=True,
        )


def check_copies(batch: BatchUnderTest) -> None:
    """Check that nothing returned or passed in is changed later."""
    if not getattr(batch.base, "copy", True):
        return
    batch.set_mode(batch.mode)
    batch.vec.reset(seed=SEED)
    kept: deque[tuple[dict[str, Any], dict[str, Any]]] = deque()
    for action in batch.actions:
        given = deepcopy(action)
        result = batch.vec.step(given)
        unchanged = frozen(given) == frozen(action)
        require(unchanged, "step() changed the actions that it was given. Copy what is to be changed.")
        parts = {name: getattr(result, name) for name in (*STEP_FIELDS, "final_observations")}
        del result  # from whose absence a batch may tell that its arrays are free
        kept.append((parts, _frozen_parts(batch, parts)))
        if len(kept) > RECENT:
            _require_unchanged(batch, *kept.popleft())
    batch.vec.reset()
    for pair in kept:
        _require_unchanged(batch, *pair)


def _frozen_parts(batch: BatchUnderTest, parts: dict[str, Any]) -> dict[str, Any]:
    infos = [parts["infos"][i] for i in batch.lanes]
    return {name: frozen(infos if name == "infos" else part) for name, part in parts.items()}


def _require_unchanged(batch: BatchUnderTest, parts: dict[str, Any], before: dict[str, Any]) -> None:
    now = _frozen_parts(batch, parts)
    changed = " and ".join(name for name in parts if now[name] != before[name])
    require(not changed, f"A later call changed the {changed} that step() had returned. Return copies.")
