"""A batch that is checked: runs of it, and what it returned for some of its lanes, bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekai.core.env import Env
from sekai.testing.comparison import frozen
from sekai.utils.masking import get_action_mask, supports_action_mask
from sekai.vector.batches import map_arrays
from sekai.vector.env_batch import EnvBatch
from sekai.vector.kernel import KernelVecEnv
from sekai.vector.native import take_index

SEED = 42
LANES = 8  # that are looked at one by one
EPISODES = 2  # of each of them, after which a run may stop
PAUSE = 3  # step of the record at which checks do something else
ENDING_KEYS = ("final_observation", "final_info", "reset_info")  # in the info of a lane that ended
ROW = ("observation", "reward", "terminated", "truncated", "final observation", "info")

Row = tuple[Any, ...]


class Problem(Exception):  # noqa: N818 -- what a check found, not an error of the checker's
    """What is wrong, and how to mend it, in a line.

    Args:
        text: The line.
        warning: Whether it works, but is likely wrong.
    """

    def __init__(self, text: str, warning: bool = False) -> None:
        super().__init__(" ".join(text.split()))
        self.warning = warning


def require(condition: Any, text: str, warning: bool = False) -> None:
    """Raise a problem unless a condition holds."""
    if not condition:
        raise Problem(text, warning)


class BatchUnderTest:
    """A batch with a record of its first run, which checks compare later runs with.

    Args:
        vec: The batch.
        n_steps: Steps of a run at most.
        env_fn: Makes a single environment like those of the lanes, or None.

    Attributes:
        base: The batch under its wrappers.
        lanes: Those that are looked at one by one.
        kernel: Whether it is a kernel env, maybe wrapped.
        wrapped: Whether there are wrappers around it.
        repeatable: Whether a seed decides about everything.
        independent: Whether each lane has a stream of its own.
        mode: Autoreset mode of the record.
        first: What the seeded reset returned, frozen, by lane.
        actions: The actions of each step after it.
        steps: What they led to: a row of each lane.
        after: What a reset without a seed returned after them, as `first`.
    """

    def __init__(self, vec: Any, n_steps: int, env_fn: Callable[[], Env[Any, Any]] | None) -> None:
        self.vec = vec
        self.base = getattr(vec, "unwrapped", vec)
        self.n = vec.num_envs
        self.n_steps = n_steps
        self.env_fn = env_fn
        self.lanes: list[int] = np.unique(np.linspace(0, self.n - 1, LANES).astype(int)).tolist()
        self.kernel = isinstance(self.base, KernelVecEnv)
        self.wrapped = self.base is not vec
        self.repeatable = not (getattr(getattr(vec, "spec", None), "nondeterministic", False) or _normalises(vec))
        self.independent = self.repeatable and (self.kernel or isinstance(self.base, EnvBatch))
        self.mode = "same_step" if self.set_mode("same_step") else vec.autoreset_mode
        self.first: list[Any] = []
        self.actions: list[Any] = []
        self.steps: list[list[Row]] = []
        self.after: list[Any] = []
        self._space = deepcopy(vec.action_space)
        self._space.seed(SEED)

    @cached_property
    def masked(self) -> bool:
        """Whether it has an action mask."""
        return supports_action_mask(self.vec)

    def set_mode(self, mode: str) -> bool:
        """Set an autoreset mode; returns whether the batch supports it."""
        with suppress(AttributeError, ValueError):
            self.vec.autoreset_mode = mode
        return bool(self.vec.autoreset_mode == mode)

    def draw(self, waiting: NDArray[np.bool_] | None = None, n: int | None = None) -> Any:
        """Random actions that the lanes allow; those of lanes that wait for a reset do not matter."""
        waiting = np.zeros(self.n, np.bool_) if waiting is None else waiting
        mask = get_action_mask(self.vec) if self.masked and not waiting.all() else None
        if mask is None:
            return self._space.sample_batch(n or self.n)
        allowed = np.where(waiting, np.flatnonzero(~waiting)[0], np.arange(self.n))
        rows = map_arrays(lambda flags: None if flags is None else flags[allowed], mask)
        return self._space.sample_batch(self.n, mask=rows)

    def record(self, on_reset: Callable[[Any], None], on_step: Callable[[int, Any], None]) -> None:
        """Make the record; each result is shown to a function before it is used."""
        result = self.vec.reset(seed=SEED)
        on_reset(result)
        self.first = self.frozen_observations(result)
        ends = np.zeros(self.n, np.int64)
        waiting = np.zeros(self.n, np.bool_)
        while len(self.steps) < self.n_steps and ends[self.lanes].min() < EPISODES:
            self.actions.append(self.draw(waiting))
            try:
                result = self.step(len(self.steps))
            except NotImplementedError:  # the batch takes no step while lanes wait for a reset: the record ends here
                if not waiting.any():
                    raise
                self.actions.pop()
                break
            on_step(len(self.steps), result)
            self.steps.append(self.rows(result))
            ends += result.dones
            waiting = self._waiting(self.mode, waiting, result)
        self.after = self.frozen_observations(self.vec.reset())

    def begin_again(self) -> Any:
        """Go through the record's steps before `PAUSE` again; returns the last result."""
        self.set_mode(self.mode)
        result = self.vec.reset(seed=SEED)
        for k in range(min(PAUSE, len(self.actions))):
            result = self.step(k)
        return result

    def step(self, k: int, **kwargs: Any) -> Any:
        """Step the batch with a copy of the record's actions of step k."""
        return self.vec.step(deepcopy(self.actions[k]), **kwargs)

    def run(self, mode: str) -> Iterator[tuple[NDArray[np.bool_], Any, Any]]:
        """Step in an autoreset mode, if it is supported; yields who waits for a reset, the last result and the next."""
        if not self.set_mode(mode):
            return
        self._space.seed(SEED)
        last = self.vec.reset(seed=SEED)
        waiting = np.zeros(self.n, np.bool_)
        ends = np.zeros(self.n, np.int64)
        over = False
        for _ in range(self.n_steps):
            result = self.vec.step(self.draw(waiting))
            yield waiting, last, result
            if over:
                return
            ends += result.dones & ~waiting
            waiting = self._waiting(mode, waiting, result)
            last = result
            over = bool((waiting if mode == "disabled" else ends[self.lanes] >= EPISODES).all())

    def _waiting(self, mode: str, waiting: NDArray[np.bool_], result: Any) -> NDArray[np.bool_]:
        """Which lanes wait for a reset after a step."""
        if mode == "same_step":
            return np.zeros(self.n, np.bool_)
        over: NDArray[np.bool_] = result.dones.copy()
        over[result.final_lanes] = False  # environments that reset themselves
        return over if mode == "next_step" else over | waiting

    # ---- rows ------------------------------------------------------------------------------------

    def observation(self, result: Any, i: int) -> Any:
        """The observation of lane i."""
        return take_index(self.vec.observation_space, result.observations, i)

    def frozen_observations(self, result: Any) -> list[Any]:
        """The observations of the lanes that are looked at."""
        return [frozen(self.observation(result, i)) for i in self.lanes]

    def rows(self, result: Any) -> list[Row]:
        """What a step returned for the lanes that are looked at."""
        return [self.row(result, i) for i in self.lanes]

    def row(self, result: Any, i: int) -> Row:
        """What a step returned for lane i."""
        values = result.rewards[i], result.terminated[i], result.truncated[i], result.infos[i]
        return self.frozen_row(self.observation(result, i), *values)

    def frozen_row(self, observation: Any, reward: Any, terminated: Any, truncated: Any, info: dict[str, Any]) -> Row:
        """Freeze what belongs to one lane; the names of the parts are `ROW`."""
        # Of environments in Python only the names in infos: values may be anything, such as the time that passed.
        told = frozen(info) if self.kernel and not self.wrapped else sorted(map(str, info.keys() - ENDING_KEYS))
        final = frozen(info.get("final_observation"))
        return frozen(observation), float(reward), bool(terminated), bool(truncated), final, told

    def difference(self, rows: list[Row], k: int, lanes: NDArray[np.bool_] | None = None) -> str | None:
        """Say where rows differ from those of step k of the record, in some lanes or all; None if they do not."""
        for i, row, expected in zip(self.lanes, rows, self.steps[k], strict=True):
            if row != expected and (lanes is None or lanes[i]):
                return f"{difference(row, expected)} of lane {i} at step {k}"
        return None


def difference(row: Row, other: Row) -> str:
    """The names of the parts in which two rows differ; empty if they do not."""
    return " and ".join(name for name, a, b in zip(ROW, row, other, strict=True) if a != b)


def _normalises(vec: Any) -> bool:
    """Whether a wrapper keeps statistics of all lanes, which no seed sets back."""
    while vec is not None:
        if hasattr(vec, "update_running_mean"):
            return True
        vec = getattr(vec, "venv", None)
    return False
