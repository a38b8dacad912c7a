"""Batches of environments written as kernels."""

from __future__ import annotations

import copy
import inspect
from typing import Any, ClassVar

import numpy as np
from numpy.random import PCG64, Generator, SeedSequence

from sekai._types import ActType, ObsType
from sekai.error import InvalidAction, ResetRequired
from sekai.utils.integers import positive_int
from sekai.utils.seeding import as_seed
from sekai.vector.actions import ActionFormat
from sekai.vector.fields import Fields
from sekai.vector.infos import InfoRows, LazyInfos
from sekai.vector.params import ParamRows
from sekai.vector.result import VecResetResult, VecStepResult
from sekai.vector.seeding import seed_lanes, seed_numbers, spawned_words, split_seeds
from sekai.vector.stream import Stream, set_words
from sekai.vector.vec_env import AUTORESET_MODES, VecEnv

# As in sekai.kernels.episode, which is imported with the first batch and not before.
BOOK_ROWS, RNG_ROWS, NO_LIMIT = 3, 6, 2**62


class KernelVecEnv(VecEnv[ObsType, ActType]):
    """A batch of an environment that is written as kernels for one lane.

    A subclass declares rows by annotations (`float`, `int` or `bool`) and names its lane functions, each decorated with
    `sekai.kernels.kernel`; `i` is the lane, and `s`, `p` and `info` have the declared names:

        class State                          what a lane remembers, one row of N values each
        class Params                         parameters and defaults; `at(p.name, i)` reads one that may be per lane
        class Info                           optional: values reported with every step and reset
        class Options                        optional: parameters of one reset, with defaults, in `p` too
        observation_space, action_space      spaces of one lane
        reset_lane(s, p, rng, i)             start an episode
        step_lane(s, p, rng, action, i)      -> reward, terminated, truncated
        observe_lane(s, p, obs, i)           write obs[i, …]
        inform_lane(s, p, info, i)           optional: write info.name[i]
        step_block(s, p, rng, action, reward, terminated, truncated)
                                             optional: step a whole block of lanes, for stages that `step_lane`
                                                 cannot have

    Time limit, autoreset, infos and random streams come with the class. Lane i draws what
    `numpy.random.Generator(PCG64(seed_i))` draws, and is the same bit for bit in a batch of any size.

    Args:
        num_envs: N, at least 1.
        autoreset: `True` or `"same_step"` (a lane whose episode ends starts the next one in the same step), `False`
            or `"disabled"` (it is frozen until `reset`).
        max_episode_steps: Steps after which an episode is truncated, at least 1; None for no limit.
        debug: Run the lane functions as plain Python: one can print, set break points, and an index out of range is
            an error.
        **params: Values of `Params`, each for all lanes or `PerLane`.

    Raises:
        TypeError: An argument is of the wrong type, or no parameter has its name.
        ValueError: An argument is out of range.
    """

    State: ClassVar[type | None] = None
    Params: ClassVar[type | None] = None
    Info: ClassVar[type | None] = None
    Options: ClassVar[type | None] = None
    reset_lane: ClassVar[Any] = None
    step_lane: ClassVar[Any] = None
    observe_lane: ClassVar[Any] = None
    inform_lane: ClassVar[Any] = None
    step_block: ClassVar[Any] = None
    metadata: ClassVar[dict[str, Any]] = {}

    _supported_modes: ClassVar[tuple[str, ...]] = ("same_step", "disabled")
    _state: ClassVar[Fields]
    _params: ClassVar[Fields]
    _options: ClassVar[Fields]
    _info: ClassVar[Fields]
    _built: ClassVar[dict[bool, Any]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._state, cls._info = Fields(cls.State), Fields(cls.Info)
        cls._params, cls._options = Fields(cls.Params), Fields(cls.Options)
        cls._built = {}
        for name in cls._params.kinds:
            if not hasattr(cls, name):
                setattr(cls, name, param_property(name))

    @classmethod
    def _lane_functions(cls) -> dict[str, Any]:
        """The environment's own kernels by name; an optional one that is missing is None."""
        names = ("reset_lane", "step_lane", "observe_lane", "inform_lane", "step_block")
        found = {name: inspect.getattr_static(cls, name) for name in names}
        missing = [name for name in names[:3] if found[name] is None]
        if missing:
            raise TypeError(f"{cls.__name__} must define {', '.join(missing)}")
        return found

    @classmethod
    def _programs(cls, debug: bool) -> Any:
        from sekai.vector.programs import build, interpreted

        if debug not in cls._built:
            cls._built[debug] = interpreted(cls._programs(False)) if debug else build(cls)
        return cls._built[debug]

    def __init__(
        self,
        num_envs: int,
        *,
        autoreset: bool | str = True,
        max_episode_steps: int | None = None,
        debug: bool = False,
        **params: Any,
    ) -> None:
        super().__init__(num_envs, autoreset)
        self.max_episode_steps = (
            None if max_episode_steps is None else positive_int("max_episode_steps", max_episode_steps)
        )
        self.debug = debug
        self._program = self._programs(debug)
        self.observation_space = copy.deepcopy(type(self).observation_space)
        self.action_space = copy.deepcopy(type(self).action_space)
        self._actions = ActionFormat(self.action_space)
        self._param_rows = ParamRows(self._params, self._options, self.num_envs, self._complete(params))

        n = self.num_envs
        self._memory = np.zeros((len(self._state) + BOOK_ROWS + RNG_ROWS, row_length(n)))
        self._streams: dict[int, Stream] = {}
        self._seeded = np.zeros(n, np.bool_)
        self._started = False
        self.initial_seed: int | None = None
        self._everyone = np.ones(n, np.bool_)
        self._action_clock = np.uint64(0)  # random actions drawn by rollouts since the batch was seeded
        self._ends = np.empty(n + 1, np.int64)
        self._final_observations = self._empty_observations(n)
        self._reset_info = np.empty((len(self._info), n))
        self._reset_infos = InfoRows(self._info.kinds)
        self._step_infos = InfoRows({**self._info.kinds, **({"elapsed_steps": int} if self.max_episode_steps else {})})

    @classmethod
    def _complete(cls, params: dict[str, Any]) -> dict[str, Any]:
        unknown = [name for name in params if name not in cls._params.kinds]
        if unknown:
            raise TypeError(
                f"{cls.__name__} has no parameter {unknown[0]!r}; it has {', '.join(cls._params.kinds) or 'none'}"
            )
        missing = [name for name in cls._params.kinds if name not in {**cls._params.defaults, **params}]
        if missing:
            raise TypeError(f"{cls.__name__} needs a value for {', '.join(missing)}")
        return {**cls._params.defaults, **params}

    # ---- reset and step --------------------------------------------------------------------------

    def reset(self, *, seed: Any = None, options: Any = None) -> VecResetResult[ObsType]:
        """Start an episode in every lane.

        Args:
            seed: An int seeds lane i with `lane_seeds(seed, N)[i]`. A list has one entry per lane: an int, a
                Generator over a PCG64 (used itself, not copied), or None. None lets streams go on; a lane that never
                had a seed gets one from the operating system (see `initial_seed`).
            options: A dict for all lanes, or a list of N dicts (or None) for each.

        Returns:
            Observations `(N, …)` and lazy infos.

        Raises:
            VecEnvClosed: After `close`.
            TypeError, ValueError: A seed or an option is not what it should be; nothing has changed then.
        """
        self._check_open()
        words = self._option_words(options)
        self._seed(seed)
        if seed is not None:
            self._action_clock = np.uint64(0)
        info = self._empty_info(self.num_envs)
        observations = self._start_episodes(words, info)
        return VecResetResult(observations, LazyInfos(self.num_envs, self._reset_infos, info))

    def _start_episodes(self, words: np.ndarray, info: np.ndarray) -> Any:
        observations = self._empty_observations(self.num_envs)
        self._run(self._program.reset, self._memory, words, self._everyone, observations, info)
        self._started = True
        return observations

    def step(self, actions: ActType) -> VecStepResult[ObsType]:
        """Step every lane with its action.

        Args:
            actions: Array (or what converts to one) of shape `(N, *action_space.shape)`; integers for integer
                spaces, integers or floats for a `Box`. Actions of frozen lanes are ignored.

        Returns:
            Fresh arrays: observations `(N, …)`, rewards float64 `(N,)`, terminated and truncated bool `(N,)`; lazy
                infos.

        Raises:
            VecEnvClosed: After `close`.
            ResetRequired: Before the first `reset`.
            ValueError: Actions of another shape.
            InvalidAction: An action outside the space, or of another kind of number. No lane has changed then.
        """
        self._check_open()
        if not self._started:
            raise ResetRequired()
        n = self.num_envs
        packed = self._actions.pack(actions, n)
        mode = AUTORESET_MODES.index(self._autoreset_mode)
        valid = self._running() if mode else None
        observations, info = self._empty_observations(n), self._empty_info(n)
        rewards, terminated, truncated = np.empty(n), np.empty(n, np.bool_), np.empty(n, np.bool_)
        count = self._run(
            self._program.step, self._memory, self._param_rows.words, packed, self._actions.bounds,
            self.max_episode_steps or NO_LIMIT, mode, observations, rewards, terminated, truncated, info, self._ends,
            self._final_observations, self._reset_info,
        )  # fmt: skip
        if count < 0:
            raise InvalidAction(packed[-1 - count], self.action_space, lane=-1 - count)
        infos = LazyInfos(n, self._step_infos, info, valid)
        if count:
            final_observations = self._final_observations[:count].copy()
            infos.set_ends(
                self._ends[:count].copy(), final_observations, self._reset_infos, self._reset_info[:, :count].copy()
            )
        return VecStepResult(observations, rewards, terminated, truncated, infos)

    def close(self) -> None:
        """Mark the batch closed; `reset` and `step` refuse from then on. Calling it again does nothing."""
        self.closed = True

    def _run(self, program: Any, *args: Any) -> Any:
        if not (self._streams or self.debug):
            return program(*args)
        before = self._memory.copy()
        for stream in self._streams.values():
            stream.pull()
        try:
            result = program(*args)
        except BaseException:  # from the user's own code, in debug mode
            self._memory[:] = before
            raise
        for stream in self._streams.values():
            stream.push()
        return result

    def _running(self) -> np.ndarray | None:
        """Which lanes do not wait for a reset; None for all of them."""
        running = self._memory[len(self._state) + BOOK_ROWS - 1, : self.num_envs].view(np.int64) == 0
        return None if running.all() else running

    def _state_row(self, name: str) -> np.ndarray:
        """View of a row of the state, `float64[N]` or `int64[N]`."""
        row = self._memory[list(self._state.kinds).index(name), : self.num_envs]
        return row if self._state.kinds[name] is float else row.view(np.int64)

    def _empty_observations(self, n: int) -> Any:
        return np.empty((n, *(self.observation_space.shape or ())), self.observation_space.dtype)

    def _empty_info(self, n: int) -> np.ndarray:
        return np.empty((len(self._info) + 1, n))

    # ---- random streams --------------------------------------------------------------------------

    def _option_words(self, options: Any) -> np.ndarray:
        """The parameters with the values of one reset's options: a dict for all lanes, or a list of one per lane."""
        per_lane = isinstance(options, list)
        if per_lane:
            self._check_count("options", options)
        given = [self.check_options({} if entry is None else entry) for entry in (options if per_lane else [options])]
        return self._param_rows.with_options(given)

    @classmethod
    def check_options(cls, options: dict[str, Any]) -> dict[str, Any]:
        """Return the values of `Options` that the options of one reset hold; other keys are ignored.

        A subclass may extend it with checks of its own.

        Raises:
            TypeError: `options` is not a dict, or a value is not of its field's type.
            ValueError: A value is NaN or too large.
        """
        if not isinstance(options, dict):
            raise TypeError(f"options must be a dict or None, got {options!r}")
        return {name: cls._options.check(name, options[name]) for name in cls._options.kinds if name in options}

    @property
    def _rng(self) -> np.ndarray:
        """The random words of all lanes, `uint64[6, N]`."""
        return self._memory.view(np.uint64)[-RNG_ROWS:, : self.num_envs]

    def _seed(self, seed: Any) -> None:
        """Seed the lanes as `reset` says. Nothing has changed if it raises."""
        if isinstance(seed, (list, Generator)):
            self._seed_each(self._expand_seeds(seed))
        elif seed is not None:
            self._spawn(as_seed(seed), np.arange(self.num_envs))
        elif not self._seeded.all():
            self._spawn(as_seed(SeedSequence().entropy), np.flatnonzero(~self._seeded))

    def _seed_each(self, seeds: list[Any]) -> None:
        numbers, generators = split_seeds(seeds)
        seed_numbers(self._rng, numbers)
        for lane in numbers:
            self._streams.pop(lane, None)
        for lane, generator in generators.items():
            self._streams[lane] = Stream(generator, self._rng[:, lane])
        self._seeded[[*numbers, *generators]] = True
        self._seed(None)

    def _spawn(self, seed: int, lanes: np.ndarray) -> None:
        """Give lanes the streams that belong to them when the batch is seeded with `seed`."""
        self.initial_seed = seed
        seed_lanes(self._rng, lanes, spawned_words(seed, self.num_envs)[lanes])
        self._seeded[lanes] = True
        for lane in self._streams.keys() & set(lanes.tolist()):
            del self._streams[lane]

    def _generator(self, lane: int) -> Generator:
        """The NumPy generator of a lane; once asked for, it is kept in step with the lane's kernels."""
        if lane not in self._streams:
            generator = Generator(PCG64())
            set_words(generator, self._rng[:, lane])
            self._streams[lane] = Stream(generator, self._rng[:, lane])
        return self._streams[lane].generator

    # ---- copies ----------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        generators = {lane: stream.generator for lane, stream in self._streams.items()}
        return {**self.__dict__, "_program": None, "_streams": generators}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._program = self._programs(self.debug)
        self._streams = {lane: Stream(generator, self._rng[:, lane]) for lane, generator in state["_streams"].items()}


def row_length(num_envs: int) -> int:
    """Words in a row of memory, N or a little more.

    Rows a multiple of 4 KiB apart would all compete for the same few places of the processor's cache: the reset of a lane,
    which touches each row, took 50 ns instead of 25.
    """
    return num_envs + 8 if num_envs % 64 == 0 else num_envs


def param_property(name: str) -> property:
    """A parameter as an attribute of the batch: reading gives a number, or an array of N if it differs by lane."""
    return property(
        lambda self: self._param_rows.get(name),
        lambda self, value: self._param_rows.set(name, value),
        doc=f"The parameter `{name}`: one value for all lanes, or `PerLane`; a change takes effect at the next step.",
    )
