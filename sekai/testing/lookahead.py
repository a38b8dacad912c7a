"""`check_no_lookahead`: whether an environment that replays data uses rows that nobody could know yet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from sekai.core.env import Env
from sekai.testing.comparison import frozen
from sekai.testing.report import Report, described
from sekai.utils.masking import get_action_mask, supports_action_mask

Data = Any  # an array whose first axis is time, or a dict of such arrays
Seen = dict[str, Any]  # what the agent knows after a step: name to what tells whether it is the same

MASK = "The action mask"


def timestamp(env: Env[Any, Any], info: dict[str, Any]) -> int:
    """The row that an environment over data without dates is at: `info["timestamp"]`."""
    return int(info["timestamp"])


def check_no_lookahead(
    make_env: Callable[[Data], Env[Any, Any]],
    data: Data,
    *,
    n_steps: int = 100,
    n_checks: int = 5,
    seed: int = 0,
    row: Callable[[Env[Any, Any], dict[str, Any]], int] = timestamp,
) -> list[str]:
    """Change the future, and compare the past.

    An episode with random actions is played. Then all rows of the data after some step are changed, in two ways, and
    the same actions are played again up to that step: whatever the environment has returned by then, rewards, infos and
    action masks included, must be the same.

        issues = check_no_lookahead(sekai.TradingEnv, prices)
        issues = check_no_lookahead(lambda fields: MyEnv(fields["close"], fields["volume"]), {"close": …, "volume": …})

    Args:
        make_env: Makes an environment that replays the data it is given; called anew for each run.
        data: Array `(T, …)` whose first axis is time, or a dict of such arrays.
        n_steps: Steps of the episode at most.
        n_checks: At how many steps, besides the reset and evenly over the episode, the future is changed.
        seed: Of the environment, the actions and the changes.
        row: Returns the last row of the data that may be known, given the environment and the info that it has just
            returned. By default `info["timestamp"]`.

    Returns:
        A line for each kind of result that depends on the future: `ERROR: …`, with the first step that shows it. Empty
        if none does.
    """
    report = Report()
    try:
        _check(report, Player(make_env, seed, row), data, n_steps, n_checks)
    except Exception as error:
        report.error(f"The check ended early, since something raised {described(error)}")
    return report.lines()


def _check(report: Report, player: Player, data: Data, n_steps: int, n_checks: int) -> None:
    length = len(next(iter(data.values())) if isinstance(data, dict) else data)
    original = list(player.play(data, n_steps))
    rows = [row for row, _ in original]
    wrong = [row for row, last in zip(rows, [0, *rows], strict=False) if not last <= row < length]
    if wrong:
        report.error(f"Rows must not go back, nor lie outside 0 … {length - 1}, but one is {wrong[0]}; see `row`.")
        return
    if any(_differences(player.play(data, n_steps), original)):
        report.error("Two runs with the same data, seed and actions differ, so that nothing can be told.")
        return
    first: dict[str, str] = {}
    for k in np.unique(np.linspace(0, len(original) - 1, n_checks + 1).astype(int)).tolist():
        for change in (scaled, shuffled):
            again = player.play(changed(data, rows[k], change, default_rng(player.seed)), k)
            for name, step in _differences(again, original):
                first.setdefault(
                    name, f"{step} steps, at row {rows[step]}, changes with rows after {rows[k]} of the data"
                )
    for name, where in first.items():
        report.error(f"{name} after {where}. Use rows up to the current one only.")
    others = (changed(data, -1, change, default_rng(player.seed)) for change in (scaled, shuffled))
    if not first and not any(any(_differences(player.play(other, n_steps), original)) for other in others):
        report.warn("Nothing that the environment returned depends on the data: does make_env pass it on?")


def _differences(again: Iterable[tuple[int, Seen]], original: list[tuple[int, Seen]]) -> Iterator[tuple[str, int]]:
    """Names and steps of what was seen otherwise in another run, which may be shorter."""
    for step, ((_, new), (_, old)) in enumerate(zip(again, original, strict=False)):
        yield from ((name, step) for name in sorted({*new, *old}) if new.get(name) != old.get(name))
        if new[MASK] != old[MASK]:
            return  # the actions that follow may not be allowed


class Player:
    """Plays the same actions in environments over different data.

    Args:
        make_env: See `check_no_lookahead`.
        seed: See `check_no_lookahead`.
        row: See `check_no_lookahead`.
    """

    def __init__(self, make_env: Callable[[Data], Any], seed: int, row: Callable[[Any, dict[str, Any]], int]) -> None:
        self.seed = seed
        self._make_env = make_env
        self._row = row
        self._actions: list[Any] = []  # that have been drawn, in the first run

    def play(self, data: Data, n_steps: int) -> Iterator[tuple[int, Seen]]:
        """Play an episode; yields the row reached and what is seen there, first after the reset and then each step."""
        with self._make_env(deepcopy(data)) as env:
            space = env.action_space
            space.seed(self.seed)
            result: Any = env.reset(seed=self.seed)
            seen = {"The observation": frozen(result.observation)}
            for k in range(n_steps + 1):
                mask = get_action_mask(env) if supports_action_mask(env) else None
                infos = {f"info[{name!r}]": frozen(value) for name, value in result.info.items()}
                yield self._row(env, result.info), {**seen, **infos, MASK: frozen(mask)}
                if k == n_steps or result.done:
                    return
                if k == len(self._actions):
                    self._actions.append(space.sample() if mask is None else space.sample(mask=mask))
                result = env.step(deepcopy(self._actions[k]))
                seen = {
                    "The observation": frozen(result.observation),
                    "The reward": float(result.reward),
                    "terminated": bool(result.terminated),
                    "truncated": bool(result.truncated),
                }


def changed(data: Data, row: int, change: Callable[[NDArray[Any], Generator], NDArray[Any]], rng: Generator) -> Data:
    """A copy of the data whose rows after `row` are other ones."""
    if isinstance(data, dict):
        return {name: changed(array, row, change, rng) for name, array in data.items()}
    array = np.array(data)
    array[row + 1 :] = change(array[row + 1 :], rng)
    return array


def scaled(array: NDArray[Any], rng: Generator) -> NDArray[Any]:
    """Floats times random factors, which keep their signs; other values as they are."""
    return array * np.exp(rng.normal(0.0, 0.1, array.shape)) if array.dtype.kind == "f" else array


def shuffled(array: NDArray[Any], rng: Generator) -> NDArray[Any]:
    """The rows in another order."""
    return rng.permutation(array)
