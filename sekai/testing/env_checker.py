"""`check_env`: whether an environment keeps to the API."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.random import Generator

from sekai.core.multi_agent import MultiAgentEnv
from sekai.spaces import Box, Dict, Discrete, MultiDiscrete, Space, Tuple
from sekai.testing.comparison import same
from sekai.testing.report import Report, described
from sekai.testing.resources import left_open, running
from sekai.utils.masking import flatten_action_mask, get_action_mask, supports_action_mask
from sekai.vector.vec_env import VecEnv

SPACES = ("observation_space", "action_space")
RESET_FIELDS = ("observation", "info")
STEP_FIELDS = ("observation", "reward", "terminated", "truncated", "info")
REAL = (int, float, np.integer, np.floating)
RECENT = 4  # observations that are watched for changes
DETERMINISM_STEPS = 50


class Stop(Exception):  # noqa: N818 -- no error: what could still be checked depends on what failed
    """Nothing that is left can be checked."""


def check_env(
    env: Any,
    *,
    n_steps: int = 100,
    warn_on_anomaly: bool = True,
    check_obs_space: bool = True,
    check_action_space: bool = True,
    check_reset_seed: bool = True,
    check_determinism: bool = False,
    check_async: bool = True,
    check_close: bool = False,
) -> list[str]:
    """Exercise an environment through the whole API, and return what is wrong with it.

    The environment is reset and stepped, so pass a fresh one. Actions are drawn from its `action_space`, and respect
    its `action_mask()` if it or a wrapper has one; seed the space for the same report each time.

    Args:
        env: The environment.
        n_steps: Steps with random actions to take; it is reset whenever an episode ends.
        warn_on_anomaly: Whether to report warnings too.
        check_obs_space: Whether to check observations, their dtypes, and samples of `observation_space`.
        check_action_space: Whether to check samples of `action_space`.
        check_reset_seed: Whether to check that `reset(seed=0)` gives the same observation twice.
        check_determinism: Whether to check that two seeded rollouts with the same actions match.
        check_async: Whether to run `async_reset` and `async_step`; they are left out where an event loop runs.
        check_close: Whether to close the environment at the end and check that it leaves nothing open.

    Returns:
        A line for each problem: `ERROR: …` where the environment breaks the API, `WARNING: …` where something is likely
        wrong. What many steps show is told once, with their number. Empty if every check passed.
    """
    report = Report(warn_on_anomaly)
    checker = EnvChecker(env, n_steps, check_obs_space, report)
    before = running()
    try:
        checker.check_kind()
        checker.check_spaces()
        if check_action_space:
            checker.check_action_sample()
        if check_obs_space:
            checker.check_sample("observation_space")
        checker.check_rollout()
        if check_reset_seed:
            checker.check_reset_seed()
        report.flush()
        if check_determinism:
            checker.check_determinism()
        if check_async and not _loop_runs():
            checker.check_async()
    except Stop:
        pass
    except Exception as error:  # such as a space whose `contains` raises
        report.error(f"the checks ended early, since something raised {described(error)}")
    if check_close:
        checker.check_close(before)
    return report.lines()


class EnvChecker:
    """The checks of `check_env`; those after `check_spaces` need both spaces."""

    def __init__(self, env: Any, n_steps: int, check_obs_space: bool, report: Report) -> None:
        self.env = env
        self.n_steps = n_steps
        self.check_obs_space = check_obs_space
        self.report = report
        self.masked = False

    # ---- spaces ----------------------------------------------------------------------------------

    def check_kind(self) -> None:
        """Check that it is no class, no batch and of one agent: what else is wrong would only mislead."""
        hints = {
            type: "make one first",
            VecEnv: "check_vec_env is for batches",
            MultiAgentEnv: "it is of several agents",
        }
        for kind, hint in hints.items():
            if isinstance(self.env, kind):
                self.report.error(f"env must be a single-agent environment, got {self.env!r}; {hint}.")
                raise Stop

    def check_spaces(self) -> None:
        """Check that both spaces are there."""
        missing = object()
        spaces = {name: getattr(self.env, name, missing) for name in SPACES}
        for name, space in spaces.items():
            if space is missing:
                self.report.error(f"{name} is not defined. Set it in __init__().")
            elif not isinstance(space, Space):
                self.report.error(f"{name} must be a sekai.Space, got {type(space).__name__}.")
        if not all(isinstance(space, Space) for space in spaces.values()):
            raise Stop

    def check_action_sample(self) -> None:
        """Check `action_space.sample()`; without samples nothing can be stepped."""
        if not self.check_sample("action_space"):
            raise Stop

    def check_sample(self, name: str) -> bool:
        """Check a sample of a space; returns whether there is one."""
        space = getattr(self.env, name)
        try:
            sample = space.sample()
        except Exception as error:
            self.report.error(f"{name}.sample() raised {described(error)}")
            return False
        if not space.contains(sample):
            self.report.error(f"{name}.sample() returned {sample!r}, which is not in {space!r}.")
        return True

    # ---- reset and step --------------------------------------------------------------------------

    def check_rollout(self) -> None:
        """Check a seeded reset, the first action mask, and steps with random actions."""
        result = self._reset("reset()", seed=42)
        if result is None:
            raise Stop
        if not isinstance(result.info, dict):
            self.report.error(f"reset() returned info of type {type(result.info).__name__}, and must be a dict.")
        self.masked = supports_action_mask(self.env)
        self._check_observation("reset()", result.observation, "resets")
        if self.masked:
            self._check_first_mask()
        infinite = self._roll_out(result.observation)
        if infinite:
            self.report.warn(f"The reward was infinite at {infinite} of {self.n_steps} steps.")

    def _check_first_mask(self) -> None:
        call = "action_space.sample(mask=env.action_mask())"
        try:
            action = self._sample(self.env.action_space)
        except Exception as error:
            self.report.error(f"{call} raised {described(error)}")
            raise Stop from None
        if not self.env.action_space.contains(action):
            self.report.error(f"{call} returned {action!r}, which is not in {self.env.action_space!r}.")

    def _roll_out(self, first: Any) -> int:
        """Take steps until there are enough or one fails; returns how many rewards were infinite."""
        recent = deque([(first, deepcopy(first))], RECENT)
        resets = {self._stream_state()}
        infinite = 0
        for k in range(self.n_steps):
            result = self._step(k)
            if result is None:
                break
            self._check_step(k, result)
            infinite += isinstance(result.reward, REAL) and abs(result.reward) == float("inf")
            if not all(same(*pair) for pair in recent):
                self.report.warn(
                    "step() mutated a previously returned observation in place. Return a copy (e.g. self._state.copy())"
                    " so stored transitions are not corrupted."
                )
            recent.append((result.observation, deepcopy(result.observation)))
            if _ended(result):
                start = self._next_episode(k, recent.pop(), resets)
                recent = deque([(start, deepcopy(start))], RECENT)
        return infinite

    def _step(self, k: int) -> Any:
        """Take step k; None if it could not be taken, or returned no result."""
        try:
            action = self._sample(self.env.action_space)
        except Exception as error:
            hint = " (action_mask() must return a valid mask in every state)" if self.masked else ""
            self.report.error(f"Sampling an action at step {k} raised {described(error)}{hint}")
            return None
        try:
            result = self.env.step(action)
        except Exception as error:
            self.report.error(f"step() raised {type(error).__name__} at step {k}: {error}")
            return None
        return result if self._is_result(f"step() at step {k}", result, STEP_FIELDS, "StepResult") else None

    def _next_episode(self, k: int, terminal: tuple[Any, Any], resets: set[str | None]) -> Any:
        """Reset without a seed, which the random stream has to go on from; returns the first observation."""
        where = f"reset() after the episode ended at step {k}"
        generator, state = self._generator(), self._stream_state()
        result = self._reset(where)
        if result is None:
            raise Stop
        if not same(*terminal):
            self.report.warn(
                "reset() overwrote, in place, the last observation of the episode, which is stored as"
                " `final_observation`. Return a copy from step()."
            )
        now = self._stream_state()
        if self._generator() is not generator or (now != state and now in resets):
            self.report.warn(
                "reset() without a seed restarted the random stream. Call self._set_rng(seed) at the start of reset(),"
                " which lets self.rng go on when seed is None."
            )
        resets.add(now)
        self._check_observation(where, result.observation, "resets")
        return result.observation

    def _reset(self, where: str, **kwargs: Any) -> Any:
        """Reset; None if it raised or returned no result."""
        try:
            result = self.env.reset(**kwargs)
        except Exception as error:
            self.report.error(f"{where} raised {described(error)}")
            return None
        return result if self._is_result(where, result, RESET_FIELDS, "ResetResult") else None

    def _is_result(self, where: str, result: Any, fields: tuple[str, ...], kind: str) -> bool:
        missing = [name for name in fields if not hasattr(result, name)]
        if missing:
            kind_found = type(result).__name__
            self.report.error(f"{where} returned a {kind_found} without {', '.join(missing)}; return a sekai.{kind}.")
        return not missing

    def _sample(self, space: Any) -> Any:
        """Draw an action that the environment allows now."""
        mask = get_action_mask(self.env) if self.masked else None
        if mask is None:
            return space.sample()
        action = space.sample(mask=mask)
        if isinstance(space, (Box, Discrete, MultiDiscrete)):
            flatten_action_mask(space, mask)
        return action

    # ---- results ---------------------------------------------------------------------------------

    def _check_observation(self, where: str, observation: Any, unit: str | None = None) -> None:
        """Check one observation; with a `unit`, what is wrong is counted in it."""
        space = self.env.observation_space
        if not self.check_obs_space:
            return
        if not space.contains(observation):
            text = f"Observation from {where} is not within observation_space {space!r}: {observation!r}"
            self._warn(("space", unit), text, unit)
            return
        for path, box, part in _boxes(space, observation):
            if isinstance(part, np.ndarray) and part.dtype != box.dtype:  # `contains` is less strict
                text = f"Observation{path} from {where} has dtype {part.dtype}, space has {box.dtype}."
                self._warn(("dtype", path, unit), text, unit)

    def _check_step(self, k: int, result: Any) -> None:
        self._check_observation(f"step() at step {k}", result.observation, "steps")
        reward = result.reward
        if not isinstance(reward, REAL) or isinstance(reward, bool):
            self._warn_of_type(k, "reward", reward, "a real number")
        elif reward != reward:
            self.report.count("nan", f"reward at step {k} is NaN.")
        for name in ("terminated", "truncated"):
            if not isinstance(getattr(result, name), (bool, np.bool_)):
                self._warn_of_type(k, name, getattr(result, name), "a bool")
        if not isinstance(result.info, dict):
            self._warn_of_type(k, "info", result.info, "a dict")

    def _warn_of_type(self, k: int, name: str, value: Any, kind: str) -> None:
        self.report.count(name, f"{name} at step {k} is of type {type(value).__name__}, and must be {kind}.")

    def _warn(self, kind: Any, text: str, unit: str | None) -> None:
        if unit is None:
            self.report.warn(text)
        else:
            self.report.count(kind, text, unit)

    # ---- random streams --------------------------------------------------------------------------

    def _generator(self) -> Generator | None:
        generator = getattr(self.env, "rng", None)
        return generator if isinstance(generator, Generator) else None

    def _stream_state(self) -> str | None:
        generator = self._generator()
        return None if generator is None else repr(generator.bit_generator.state)

    def check_reset_seed(self) -> None:
        """Check that the same seed gives the same first observation."""
        where = "reset(seed=0)"
        first = self._reset(where, seed=0)
        if first is None:
            return
        expected = deepcopy(first.observation)
        self._check_observation(where, first.observation, "resets")
        second = self._reset(where, seed=0)
        if second is not None and not same(expected, second.observation):
            self.report.warn(
                "reset(seed=0) returned different observations on two calls. Call self._set_rng(seed) at the start of"
                " reset() and draw all randomness from self.rng."
            )

    def check_determinism(self) -> None:
        """Check that seed and actions decide about everything."""
        try:
            matches = same(self._seeded_rollout(), self._seeded_rollout())
        except Exception as error:
            self.report.error(f"A rollout from reset(seed=123), to check determinism, raised {described(error)}")
            return
        if not matches:
            self.report.warn(
                "Two rollouts from reset(seed=123) with the same actions differ. Draw all randomness from self.rng, or"
                " register the environment with nondeterministic=True."
            )

    def _seeded_rollout(self) -> list[Any]:
        """Everything but infos that a rollout returns."""
        space = deepcopy(self.env.action_space)
        space.seed(123)
        trace = [deepcopy(self.env.reset(seed=123).observation)]
        for _ in range(min(self.n_steps, DETERMINISM_STEPS)):
            try:
                action = self._sample(space)
            except Exception:  # reported by `check_rollout`
                break
            result = self.env.step(action)
            trace.append(deepcopy([result.observation, result.reward, result.terminated, result.truncated]))
            if _ended(result):
                break
        return trace

    # ---- async and close -------------------------------------------------------------------------

    def check_async(self) -> None:
        """Check the async methods, on an event loop of their own."""
        loop = asyncio.new_event_loop()
        try:
            loop.run_until_complete(self._async_calls())
        except Exception as error:
            self.report.error(f"async_reset() or async_step() raised {described(error)}")
        finally:
            loop.run_until_complete(_cancel_others())
            loop.close()

    async def _async_calls(self) -> None:
        result = await self.env.async_reset(seed=7)
        if not self._is_result("async_reset()", result, RESET_FIELDS, "ResetResult"):
            return
        self._check_observation("async_reset()", result.observation)
        result = await self.env.async_step(self._sample(self.env.action_space))
        if self._is_result("async_step()", result, STEP_FIELDS[:-1], "StepResult"):
            self._check_observation("async_step()", result.observation)

    def check_close(self, before: set[Any]) -> None:
        """Check that nothing is left in use, of what the environment holds and what was started since `before`."""
        try:
            self.env.close()
        except Exception as error:
            self.report.error(f"close() raised {described(error)}")
            return
        for name in left_open(self.env, before):
            self.report.warn(f"close() left {name} open. Close what the environment opened.")


def _ended(result: Any) -> bool:
    return bool(np.any(result.terminated) or np.any(result.truncated))


def _boxes(space: Any, x: Any, path: str = "") -> Iterator[tuple[str, Box, Any]]:
    """The Box spaces in a space, the parts of an element of it that belong to them, and how one gets there."""
    if isinstance(space, Box):
        yield path, space, x
    elif isinstance(space, (Dict, Tuple)):
        for key, part in space.items() if isinstance(space, Dict) else enumerate(space):
            yield from _boxes(part, x[key], f"{path}[{key!r}]")


async def _cancel_others() -> None:
    """End what the environment has left running on this event loop."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


def _loop_runs() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
