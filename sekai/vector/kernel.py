"""Batches of environments written as kernels."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from sys import getrefcount
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy import empty
from numpy.random import PCG64, Generator, SeedSequence

from sekai._types import ActType, ObsType
from sekai.error import InvalidAction, ResetRequired
from sekai.spaces.dict import Dict
from sekai.spaces.space import Space
from sekai.utils.integers import positive_int
from sekai.utils.seeding import as_seed
from sekai.vector.actions import ActionFormat, ClippedActions
from sekai.vector.batches import map_arrays
from sekai.vector.fields import Fields
from sekai.vector.infos import InfoRows, LazyInfos
from sekai.vector.params import ParamRows, PerLane
from sekai.vector.result import VecResetResult, VecStepResult
from sekai.vector.seeding import (
    check_unshared,
    kernels_draw_from,
    seed_lanes,
    seed_numbers,
    spawned_words,
    split_seeds,
)
from sekai.vector.snapshot import VERSION, Snapshot, lane_indices
from sekai.vector.stream import Stream, set_words
from sekai.vector.threads import available, over_lanes, ranges
from sekai.vector.vec_env import AUTORESET_MODES, VecEnv

# As in sekai.kernels.episode, which is imported with the first batch and not before.
BOOK = {"episode_return": float, "elapsed": int, "ending": int}
BOOK_ROWS, RNG_ROWS, NO_LIMIT, BLOCK = len(BOOK), 6, 2**62, 1024
SAME_STEP, NEXT_STEP = AUTORESET_MODES.index("same_step"), AUTORESET_MODES.index("next_step")
BOOL = np.dtype(np.bool_)
POLICY = np.uint32(0x706F6C69)  # tells the seeds of policies' streams from those of lanes

THREADS_PAY = 2**17  # lanes from which on a single step is shared by threads if nothing else is said


class Outputs(NamedTuple):
    """What the kernels write a step's result into."""

    observations: Any
    rewards: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    info: np.ndarray


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
                                             optional: step a block of lanes, in stages that `step_lane` cannot have;
                                             batches run it, single envs `step_lane`: both have to do the same
        clips_actions = True                 optional: `step_lane` clips the actions of a `Box` itself: all finite ones
                                             are accepted, and those that come as float32 stay float32

    A field annotated `np.float64`, `np.float32` or `np.int64` is an array: in `State` and `Info` one per lane,
    `s.weights[i, k]`, whose shape `array_shapes` tells; in `Params` one that all lanes share, `p.prices[t]`. Spaces may
    be set before `super().__init__()`, where each instance has its own; observations may be a `Dict` of arrays, which
    `observe_lane` sees by name, `obs.returns[i, k]`. A constructor with arguments of its own comes with `lane_kwargs`.

    Time limit, autoreset, infos and random streams come with the class. Lane i draws what
    `numpy.random.Generator(PCG64(seed_i))` draws, and is the same bit for bit in a batch of any size.

    Args:
        num_envs: N, at least 1.
        autoreset: `True` or `"same_step"` (a lane whose episode ends starts the next one in the same step),
            `"next_step"` (in the step after), `False` or `"disabled"` (it is frozen until `reset`).
        max_episode_steps: Steps after which an episode is truncated, at least 1; None for no limit.
        copy: Whether a result stays as it is; if False its arrays are overwritten by the next step but one.
        num_threads: How many threads share the lanes of a step; None for one, and for as many as there are processors
            from 131,072 lanes on. Results are the same for any number.
        debug: Run the lane functions as plain Python: one can print, set break points, and an index out of range is
            an error.
        math: `"own"`: sine, exponential and so on are those of `sekai.kernels.elementary`, the same to the last bit
            on every machine. `"libm"`: those of the platform's C library in their place, as in NumPy; several times
            slower.
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
    clips_actions: ClassVar[bool] = False
    observation_names: ClassVar[tuple[str, ...]] = ()  # of Dict observations, if each instance has its own space
    # Whether the lane functions are long. To compile them less often, a reset is then called instead of inlined, and
    # parameters are kept per lane always, so that there is one way to pass them and not two.
    is_long: ClassVar[bool] = False
    public_params: ClassVar[tuple[str, ...] | None] = None  # which of `Params` are attributes; None for all
    lane_values: ClassVar[tuple[str, ...]] = ()  # attributes that are arrays of one value per lane
    metadata: ClassVar[dict[str, Any]] = {}
    single: ClassVar[Any] = None  # the `KernelEnv` class whose `batch` this is

    _state: ClassVar[Fields]
    _params: ClassVar[Fields]
    _options: ClassVar[Fields]
    _info: ClassVar[Fields]
    _attributes: ClassVar[tuple[str, ...]]
    _built: ClassVar[dict[tuple[bool, str], Any]]
    _rollouts: ClassVar[dict[tuple[Any, ...], Any]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._state, cls._info = Fields(cls.State), Fields(cls.Info)
        cls._params, cls._options = Fields(cls.Params), Fields(cls.Options)
        cls._built, cls._rollouts = {}, {}
        cls.single = None
        cls._attributes = tuple(cls._params.names) if cls.public_params is None else cls.public_params
        for name in cls._attributes:
            if hasattr(KernelVecEnv, name) or name in inspect.signature(KernelVecEnv.__init__).parameters:
                raise TypeError(f"{cls.__name__}.Params.{name} has the name of a part of every batch; choose another")
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
        if cls._info.names and found["inform_lane"] is None:
            raise TypeError(f"{cls.__name__} must define inform_lane, which writes what Info names")
        return found

    @classmethod
    def _observation_shapes(cls) -> Any:
        """Shape of an observation, by name for a Dict; None where instances differ."""
        space: Any = getattr(cls, "observation_space", None)
        if isinstance(space, Dict):
            return {name: part.shape for name, part in space.items()}
        return dict.fromkeys(cls.observation_names) or None if space is None else space.shape

    @classmethod
    def _programs(cls, debug: bool, math: str) -> Any:
        from sekai.vector.programs import build, interpreted

        key = debug, math
        if key not in cls._built:
            cls._built[key] = interpreted(cls._programs(False, math)) if debug else build(cls, math)
        return cls._built[key]

    def _rollout_program(self, policy: Any) -> Any:
        from sekai.vector.programs import build_rollout, plain

        key = self.debug, self.math, policy.key
        if key not in self._rollouts:
            program = build_rollout(type(self), self._program.parts, policy.block())
            self._rollouts[key] = plain(program) if self.debug else program
        return self._rollouts[key]

    def __init__(
        self,
        num_envs: int,
        *,
        autoreset: bool | str = True,
        max_episode_steps: int | None = None,
        copy: bool = True,
        num_threads: int | None = None,
        debug: bool = False,
        math: str = "own",
        **params: Any,
    ) -> None:
        super().__init__(num_envs, autoreset)
        self.max_episode_steps = max_episode_steps
        if max_episode_steps is not None:
            self.max_episode_steps = positive_int("max_episode_steps", max_episode_steps)
        self.num_threads = None if num_threads is None else positive_int("num_threads", num_threads)
        self.copy = copy
        if math not in ("own", "libm"):
            raise ValueError(f'math must be "own" or "libm", got {math!r}')
        for name, value in (("copy", copy), ("debug", debug)):
            if not isinstance(value, bool):
                raise TypeError(f"{name} must be a bool, got {value!r}")
        self.debug, self.math = debug, math
        for name in ("observation_space", "action_space"):
            space = vars(self).get(name, getattr(type(self), name, None))
            if not isinstance(space, Space):
                raise TypeError(f"{type(self).__name__} must define {name}, a sekai Space, got {space!r}")
        self._program = self._programs(debug, math)
        for name in ("observation_space", "action_space"):
            if name not in vars(self):
                setattr(self, name, deepcopy(getattr(type(self), name)))
        self._actions = ClippedActions(self.action_space) if self.clips_actions else ActionFormat(self.action_space)
        space = self.observation_space
        self._observation_names = tuple(space) if isinstance(space, Dict) else None
        parts = [*space.values()] if isinstance(space, Dict) else [space]
        self._observation_formats = [(part.shape or (), part.dtype) for part in parts]
        self._param_rows = ParamRows(self._params, self._options, self.num_envs, per_lane=self.is_long)
        for name, value in self._complete(params).items():
            self._set_param(name, value)

        n = self.num_envs
        shapes = self.array_shapes()
        self._arrays = tuple(np.zeros((n, *shapes[name]), dtype) for name, dtype in self._state.arrays.items())
        self._memory = np.zeros((len(self._state) + BOOK_ROWS + RNG_ROWS, row_length(n)))
        self._streams: dict[int, Stream] = {}
        self._foreign: Generator | None = None
        self._seeded = np.zeros(n, np.bool_)
        self._started = False
        self._may_wait = False  # whether a lane may wait for its reset in same-step mode too
        self.initial_seed: int | None = None
        self._action_clock = np.uint64(0)  # steps with a policy inside since the batch was seeded
        self._policy_seeds = np.zeros((2, n), np.uint64)  # increments of the lanes' streams when they were seeded
        self._policy_rng: np.ndarray | None = None
        self._everyone = np.ones(n, np.bool_)
        self._recent: list[Outputs] = []
        places = n + n // BLOCK + 1
        self._ends = empty(places, np.int64)
        self._final_observations = self._empty_observations(places)
        self._no_observations = self._shown(self._empty_observations(0))
        lengths = {name: shapes[name][0] for name in self._info.arrays}
        self._info_rows = len(self._info) + 1 + len(lengths) * max(lengths.values(), default=0)
        self._reset_info = empty((self._info_rows if lengths else len(self._info), places))
        kinds, names, decode = self._info.kinds, self._info.names, self._info_decoders()
        self._reset_infos = self._step_infos = InfoRows(kinds, lengths, names, decode)
        if self.max_episode_steps:
            steps: dict[str, type] = {"elapsed_steps": int}
            self._step_infos = InfoRows(kinds | steps, lengths, [*names, *steps], decode)

    @classmethod
    def _complete(cls, params: dict[str, Any]) -> dict[str, Any]:
        unknown = [name for name in params if name not in cls._params.names]
        if unknown:
            known = cls._params.names if cls.public_params is None else [*inspect.signature(cls).parameters][1:-1]
            raise TypeError(f"{cls.__name__} has no parameter {unknown[0]!r}; it has {', '.join(known) or 'none'}")
        missing = [name for name in cls._params.names if name not in {**cls._params.defaults, **params}]
        if missing:
            raise TypeError(f"{cls.__name__} needs a value for {', '.join(missing)}")
        return {**cls._params.defaults, **params}

    def array_shapes(self) -> dict[str, tuple[int, ...]]:
        """Name to shape, for one lane, of the arrays in `State` and `Info`; those of `Info` have one axis."""
        return {}

    def _info_decoders(self) -> dict[str, Any]:
        """Name to what turns the array `(N,)` of an info that kernels write into the one that users see."""
        return {}

    @classmethod
    def check_param(cls, name: str, value: Any) -> None:
        """Check the value that a parameter is to have: a number, an array of one per lane, or a shared array.

        A subclass may override it.

        Raises:
            ValueError: The value is out of range.
        """

    def _set_param(self, name: str, value: Any) -> None:
        checked = self._param_rows.check(name, value)
        self.check_param(name, checked)
        self._param_rows.set(name, checked)

    def _array(self, name: str) -> np.ndarray:
        """The array `(N, …)` of a field of the state."""
        return self._arrays[list(self._state.arrays).index(name)]

    def _renew_array(self, name: str) -> None:
        """Make the array of a field anew, as its shape has changed."""
        arrays = dict(zip(self._state.arrays, self._arrays, strict=True))
        arrays[name] = np.zeros((self.num_envs, *self.array_shapes()[name]), self._state.arrays[name])
        self._arrays = tuple(arrays.values())

    @property
    def _packed_memory(self) -> Any:
        """State, books and streams as the kernels take them."""
        return (self._memory, *self._arrays) if self._arrays else self._memory

    # ---- reset and step ------------------------------------------------------------------------------

    def reset(self, *, seed: Any = None, options: Any = None, mask: Any = None) -> VecResetResult[ObsType]:
        """Start an episode in every lane, or in those of `mask`.

        Args:
            seed: An int seeds lane i with `lane_seeds(seed, N)[i]`. A list has one entry per lane: an int, a Generator
                over a PCG64 (used itself, not copied), or None. None lets streams go on; a lane that never had a seed
                gets one from the operating system (see `initial_seed`).
            options: A dict for all lanes, or a list of N dicts (or None) for each.
            mask: Bool `(N,)`: the lanes to reset. The others are untouched, and their rows of the observations are
                those of their last result; their entries of `seed` and `options` are ignored.

        Returns:
            Observations `(N, …)` and lazy infos, empty for lanes that were not reset.

        Raises:
            VecEnvClosed: After `close`.
            ResetRequired: With a mask, before all lanes were reset.
            TypeError, ValueError: A seed, an option or the mask is not what it should be; nothing has changed then.
        """
        self._check_open()
        chosen = self._check_mask(mask)
        if chosen is not None and not self._started:
            raise ResetRequired("reset all lanes before resetting some of them with a mask.")
        words = self._option_words(options, chosen)
        lanes = self._everyone if chosen is None else chosen
        fresh = self._begin(lambda: self._seed(seed, chosen), lanes, words)
        out = self._outputs()
        params = self._param_rows.packed(words)
        self._run(self._program.reset, self._packed_memory, params, lanes, out.observations, out.info)
        self._started = True
        self._seed_policies(fresh)
        out.terminated[:] = out.truncated[:] = False
        self._keep(out, chosen)
        valid = None if chosen is None else chosen.copy()
        return VecResetResult(
            self._shown(out.observations),
            LazyInfos(self.num_envs, self._reset_infos, out.info[:, : self.num_envs], valid),
        )

    def step(self, actions: ActType, mask: Any = None) -> VecStepResult[ObsType]:
        """Step every lane with its action, or those of `mask`.

        Args:
            actions: Array (or what converts to one) of shape `(N, *action_space.shape)`; integers for integer
                spaces, integers or floats for a `Box`. Actions of lanes that are not stepped are ignored.
            mask: Bool `(N,)`: the lanes to step. The others keep their state and stream; their rows are the
                observation and flags of their last result, reward 0 and an empty info.

        Returns:
            Observations `(N, …)`, rewards float64 `(N,)`, terminated and truncated bool `(N,)`, and lazy infos. The
            arrays are fresh; with `copy=False` they are overwritten by the next step but one.

        Raises:
            VecEnvClosed: After `close`.
            ResetRequired: Before the first `reset`.
            ValueError: Actions or mask of another shape.
            InvalidAction: An action outside the space, or of another kind of number. No lane has changed then.
        """
        if self.closed or not self._started:
            self._check_open()
            raise ResetRequired()
        mode = self._mode
        packed = self._actions.pack(actions, self.num_envs)
        chosen = None if mask is None else self._check_mask(mask)
        waiting = self._waiting() if mode or self._may_wait else None
        if waiting is not None and mode == SAME_STEP:  # frozen before the mode changed: only a reset lifts that
            chosen = ~waiting if chosen is None else chosen & ~waiting
        if self._calls_python:
            stepped = self._everyone if chosen is None else chosen
            waits = ~self._everyone if waiting is None else waiting
            self._before_step(packed, stepped & ~waits, stepped & waits if mode == NEXT_STEP else ~self._everyone)
        out = self._outputs()
        counts = self._step(packed, chosen, mode, out)
        infos = self._infos(out.info[:, : self.num_envs], chosen, waiting, mode)
        infos.final_observations = self._no_observations
        if counts != [0]:
            self._add_ends(infos, counts)
        self._keep(out, chosen)
        if waiting is not None and mode == SAME_STEP:
            ending = self._book_row("ending")[waiting]
            out.terminated[waiting], out.truncated[waiting] = ending & 1 != 0, ending & 2 != 0
        self._may_wait = mode != SAME_STEP or waiting is not None
        return VecStepResult(self._shown(out.observations), out.rewards, out.terminated, out.truncated, infos)

    def _step(self, actions: np.ndarray, chosen: np.ndarray | None, mode: int, out: Outputs) -> list[int]:
        """Step, by as many threads as pay; returns the number of ends in each range of lanes, in order."""
        memory, params = self._packed_memory, self._param_rows.packed(self._param_rows.words)
        bounds, n = self._actions.accepted, self.num_envs
        lanes, masked = (self._everyone, False) if chosen is None else (chosen, True)
        limit = self.max_episode_steps or NO_LIMIT

        def work(first: int, last: int, checked: bool = True) -> int:
            return self._program.step(  # type: ignore[no-any-return]
                memory, params, actions, bounds, lanes, masked, limit, mode, first, last, checked, *out,
                self._ends, self._final_observations, self._reset_info,
            )  # fmt: skip

        threads = self._threads()
        if threads == 1:
            counts = [self._run(work, 0, n, False)]
            bad = -1 - counts[0]
        else:
            bad = self._program.check(memory, actions, bounds, lanes, masked)
            counts = self._run(over_lanes, work, n, BLOCK, threads) if bad < 0 else []
        if bad >= 0:
            raise InvalidAction(actions[bad], self.action_space, lane=bad)
        return counts

    def _threads(self) -> int:
        if self.num_threads is None:
            return available() if self.num_envs >= THREADS_PAY else 1
        return self.num_threads

    def _infos(self, info: np.ndarray, chosen: np.ndarray | None, waiting: np.ndarray | None, mode: int) -> LazyInfos:
        if chosen is None and waiting is None:
            return LazyInfos(self.num_envs, self._step_infos, info)
        stepped = self._everyone if chosen is None else chosen
        waiting = ~self._everyone if waiting is None else waiting
        resets = stepped & waiting if mode == NEXT_STEP else None
        return LazyInfos(self.num_envs, self._step_infos, info, stepped & ~waiting, resets, self._reset_infos)

    def _add_ends(self, infos: LazyInfos, counts: list[int]) -> None:
        """Give the infos compact copies of what the kernels put aside for the lanes that ended, range by range."""
        places: Any = slice(counts[0])
        if len(counts) > 1:
            firsts = [first for first, _ in ranges(self.num_envs, BLOCK, len(counts))]
            starts = zip(firsts, counts, strict=True)
            places = np.concatenate([np.arange(count) + first + first // BLOCK for first, count in starts])
        reset_info = self._reset_info[:, places].copy() if len(self._info.names) else self._reset_info
        finals = map_arrays(lambda rows: rows[places].copy(), self._shown(self._final_observations))
        infos.set_ends(self._ends[places].copy(), finals, self._reset_infos, reset_info)

    @property
    def _mode(self) -> int:
        return AUTORESET_MODES.index(self._autoreset_mode)

    def _outputs(self) -> Outputs:
        """Arrays to write a result into: those of the last result but one if nobody holds them, else fresh ones.

        Fresh memory is not in the processor's cache, and is mapped page by page: 8 us of a step of 4,096 CartPoles.
        """
        if len(self._recent) == 2 and not (self.copy and is_held(self._recent[0])):
            return self._recent[0]
        n = self.num_envs
        return Outputs(self._empty_observations(n), empty(n), empty(n, BOOL), empty(n, BOOL), self._empty_info(n))

    def _keep(self, out: Outputs, chosen: np.ndarray | None) -> None:
        """Remember the arrays of a result; the flags of lanes that it left alone are those of the last one."""
        if chosen is not None and self._recent:
            np.copyto(out.terminated, self._recent[-1].terminated, where=~chosen)
            np.copyto(out.truncated, self._recent[-1].truncated, where=~chosen)
        self._recent = [*self._recent[-1:], out]

    def _note_flags(self, terminated: np.ndarray, truncated: np.ndarray) -> None:
        """Remember the flags of the last step of a rollout, for steps that leave lanes alone."""
        out = self._outputs()
        out.terminated[:], out.truncated[:] = terminated, truncated
        self._recent = [out]

    def close(self) -> None:
        """Mark the batch closed; `reset` and `step` refuse from then on. Calling it again does nothing."""
        self.closed = True

    def _run(self, program: Any, *args: Any) -> Any:
        if not (self._streams or self.debug):
            return program(*args)
        before = [array.copy() for array in (self._memory, *self._arrays)]
        for stream in self._streams.values():
            stream.pull()
        try:
            result = program(*args)
        except BaseException:  # from the user's own code, in debug mode
            for array, values in zip((self._memory, *self._arrays), before, strict=True):
                array[...] = values
            raise
        for stream in self._streams.values():
            stream.push()
        return result

    def _waiting(self) -> np.ndarray | None:
        """Which lanes' episodes are over and wait for a reset; None if no lane does."""
        waiting = self._book_row("ending") != 0
        return waiting if waiting.any() else None

    def _book_row(self, name: str) -> np.ndarray:
        """View of a row of the book-keeping, `float64[N]` or `int64[N]`."""
        row = self._memory[len(self._state) + list(BOOK).index(name), : self.num_envs]
        return row if BOOK[name] is float else row.view(np.int64)

    def _state_row(self, name: str) -> np.ndarray:
        """View of a row of the state, `float64[N]` or `int64[N]`."""
        row = self._memory[list(self._state.kinds).index(name), : self.num_envs]
        return row if self._state.kinds[name] is float else row.view(np.int64)

    def _empty_observations(self, n: int) -> Any:
        """An array that kernels write the observations of n lanes into; a tuple of arrays for a Dict."""
        formats = self._observation_formats
        if self._observation_names is None:
            return empty((n, *formats[0][0]), formats[0][1])
        return tuple(empty((n, *shape), dtype) for shape, dtype in formats)

    def _shown(self, observations: Any) -> Any:
        """Observations that kernels wrote, as users see them: a tuple of arrays becomes a dict."""
        if self._observation_names is None:
            return observations
        return dict(zip(self._observation_names, observations, strict=True))

    def _empty_info(self, n: int) -> np.ndarray:
        return empty((self._info_rows, row_length(n)))

    # ---- what Python does before kernels run -----------------------------------------------------

    _calls_python = False  # whether the two methods below do anything; rollouts then take one step after the other

    def _before_reset(self, lanes: np.ndarray, words: np.ndarray) -> None:
        """Prepare in Python what the kernels need to start an episode in `lanes` (bool `(N,)`) with parameters."""

    def _before_step(self, actions: np.ndarray, running: np.ndarray, restarting: np.ndarray) -> None:
        """Prepare in Python what the kernels need to step lanes, and to start episodes in others (bool `(N,)`)."""

    def _begin(self, seed: Callable[[], Any], lanes: np.ndarray, words: np.ndarray) -> Any:
        """Seed the lanes, and let Python prepare their episodes; nothing has changed if that raises."""
        if not self._calls_python:
            return seed()
        rng, seeded, streams = self._rng.copy(), self._seeded.copy(), dict(self._streams)
        initial_seed, foreign = self.initial_seed, self._foreign
        try:
            result = seed()
            self._before_reset(lanes, words)
        except BaseException:
            self._set_foreign(foreign)
            self._rng[...], self._seeded, self._streams, self.initial_seed = rng, seeded, streams, initial_seed
            raise
        return result

    # ---- random streams --------------------------------------------------------------------------

    def _option_words(self, options: Any, chosen: np.ndarray | None = None) -> np.ndarray:
        """The parameters with the values of one reset's options: a dict for all lanes, or a list of one per lane."""
        if isinstance(options, list):
            self._check_count("options", options)
            options = [entry if chosen is None or chosen[lane] else None for lane, entry in enumerate(options)]
        else:
            options = [options]
        given = [self._options_given({} if entry is None else entry) for entry in options]
        return self._param_rows.with_options(given)

    def _options_given(self, options: Any) -> dict[str, Any]:
        """Checked values of `Options` for some options of a reset."""
        return self.check_options(options)

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
        rng: np.ndarray = self._memory.view(np.uint64)[-RNG_ROWS:, : self.num_envs]
        return rng

    def _seed(self, seed: Any, chosen: np.ndarray | None) -> np.ndarray:
        """Seed the lanes as `reset` says, and return which (bool `(N,)`). Nothing has changed if it raises."""
        lanes = self._everyone if chosen is None else chosen
        fresh: np.ndarray = lanes & ~self._seeded
        if isinstance(seed, (list, Generator)):
            seeds = self._expand_seeds(seed)
            given = {lane: seeds[lane] for lane in np.flatnonzero(lanes).tolist() if seeds[lane] is not None}
            self._seed_each(given)
            fresh[list(given)] = True
        elif seed is not None:
            self._spawn(self._check_seed(seed), np.flatnonzero(lanes))
            fresh |= lanes
        if not self._seeded[lanes].all():
            self._spawn(as_seed(SeedSequence().entropy), np.flatnonzero(lanes & ~self._seeded))
        return fresh

    def _seed_each(self, seeds: dict[int, Any]) -> None:
        """Seed some lanes, each with an int or a Generator."""
        if self.num_envs == 1 and isinstance(seeds.get(0), Generator) and not kernels_draw_from(seeds[0]):
            self._set_foreign(seeds[0])
            return
        numbers, generators = split_seeds(seeds)
        others = {lane: stream.generator for lane, stream in self._streams.items() if lane not in seeds}
        check_unshared(others | generators)
        seed_numbers(self._rng, numbers)
        for lane in numbers:
            self._streams.pop(lane, None)
        for lane, generator in generators.items():
            self._streams[lane] = Stream(generator, self._rng[:, lane])
        self._seeded[list(seeds)] = True
        self._set_foreign(None)

    def _set_foreign(self, generator: Generator | None) -> None:
        """Draw from a generator of another kind than PCG64, in plain Python (in a batch of one lane only)."""
        if generator is None and self._foreign is None:
            return
        from sekai.vector.programs import drawing_from

        self._foreign = generator
        self._program = self._programs(self.debug, self.math)
        if generator is not None:
            self._streams.clear()
            self._seeded[:] = True
            self._program = drawing_from(self._programs(False, self.math), generator)

    def _spawn(self, seed: int, lanes: np.ndarray) -> None:
        """Give lanes the streams that belong to them when the batch is seeded with `seed`."""
        self.initial_seed = seed
        self._set_foreign(None)
        seed_lanes(self._rng, lanes, spawned_words(seed, self.num_envs)[lanes])
        self._seeded[lanes] = True
        for lane in self._streams.keys() & set(lanes.tolist()):
            del self._streams[lane]

    def _generator(self, lane: int) -> Generator:
        """The NumPy generator of a lane; once asked for, it is kept in step with the lane's kernels."""
        if self._foreign is not None:
            return self._foreign
        if lane not in self._streams:
            generator = Generator(PCG64())
            set_words(generator, self._rng[:, lane])
            self._streams[lane] = Stream(generator, self._rng[:, lane])
        return self._streams[lane].generator

    def _seed_policies(self, fresh: np.ndarray) -> None:
        """Give lanes that were seeded new streams for policies; those come of their seeds alone, not of snapshots."""
        if not fresh.any():
            return
        self._policy_seeds[:, fresh] = self._rng[2:4, fresh]
        if fresh.all():
            self._action_clock, self._policy_rng = np.uint64(0), None
        elif self._policy_rng is not None:
            self._start_policy_streams(self._policy_rng, np.flatnonzero(fresh))

    def _policy_streams(self) -> np.ndarray:
        """Random words of the streams that policies draw from, `uint64[6, N]`."""
        if self._policy_rng is None:
            self._policy_rng = np.zeros((RNG_ROWS, self.num_envs), np.uint64)
            self._start_policy_streams(self._policy_rng, np.arange(self.num_envs))
        return self._policy_rng

    def _start_policy_streams(self, rng: np.ndarray, lanes: np.ndarray) -> None:
        words = np.ascontiguousarray(self._policy_seeds[:, lanes].T).view(np.uint32) ^ POLICY
        seed_lanes(rng, lanes, words)

    # ---- lanes -----------------------------------------------------------------------------------

    def get_state(self, lanes: Any = None) -> Snapshot:
        """A snapshot of lanes in mid-episode: their state, counters and streams. Stepping on changes nothing in it.

        Args:
            lanes: A sequence of lane numbers or a bool mask `(N,)`; None for all lanes.

        Raises:
            ResetRequired: Before the first `reset`.
        """
        if not self._started:
            raise ResetRequired()
        if self._foreign is not None:
            raise TypeError(f"a lane that draws from {self._foreign!r} has no snapshot; seed it with an int")
        for stream in self._streams.values():
            stream.pull()
        view = self._snapshot(lane_indices(lanes, self.num_envs))
        arrays = tuple(array.copy() for array in view.arrays)
        return replace(view, words=view.words.copy(), arrays=arrays, params=view.params.copy())

    def _snapshot(self, columns: Any) -> Snapshot:
        """A snapshot over the lanes' own memory."""
        words = self._param_rows.words
        env = f"{type(self).__module__}.{type(self).__qualname__}"
        params = words if words.ndim == 1 else words[:, columns]
        names = (*self._params.kinds, *self._options.kinds)
        rows, arrays = (*self._state.kinds, *BOOK), tuple(array[columns] for array in self._arrays)
        return Snapshot(VERSION, env, rows, self._memory[:, columns], arrays, names, params, self._shared_digests())

    def _shared_digests(self) -> dict[str, str]:
        """Hashes, by name, of what all lanes share, and those that take over their state must share too."""
        return self._param_rows.digests()

    def set_state(self, state: Snapshot, lanes: Any = None) -> None:
        """Put lanes back to a snapshot: the same actions then give the same results, random draws included.

        Args:
            state: What `get_state` returned, of this batch or another of the same class and parameters.
            lanes: Which lanes, in the order of the snapshot's; None for all.

        Raises:
            TypeError: `state` is not a snapshot.
            ValueError: It does not fit these lanes. Nothing has changed then.
            ResetRequired: Before the first `reset`, unless it is for all lanes.
        """
        if not isinstance(state, Snapshot):
            raise TypeError(f"state must be what get_state() returned, got {type(state).__name__}")
        columns = lane_indices(lanes, self.num_envs)
        state.check_fits(self._snapshot(columns))
        if not self._started and state.num_lanes < self.num_envs:
            raise ResetRequired("reset all lanes before setting the state of some of them.")
        self._memory[:, columns] = state.words
        for array, values in zip(self._arrays, state.arrays, strict=True):
            array[columns] = values
        self._may_wait = True
        fresh = ~self._seeded
        self._seeded[columns] = self._started = True
        self._seed_policies(fresh & self._seeded)
        for stream in self._streams.values():
            stream.push()

    def lane(self, i: int) -> Any:
        """Lane i as a single env that goes on as the lane would; a copy, to print, step and plot.

        Where the batch has a time limit, the env stands in a `TimeLimit`.

        Raises:
            TypeError: The batch has no single-env class.
            ResetRequired: Before the first `reset`.
        """
        from sekai.wrappers.time_limit import TimeLimit

        if self.single is None:
            raise TypeError(f"{type(self).__name__} has no KernelEnv class whose `batch` it is")
        state = self.get_state([i])
        env = self.single(**self.lane_kwargs(i))
        env._vec.set_state(state)
        env._over = bool(self._book_row("ending")[i])
        if self.max_episode_steps is None:
            return env
        limited = TimeLimit(env, self.max_episode_steps)
        limited._elapsed_steps = int(self._book_row("elapsed")[i])
        return limited

    def set_lane(self, i: int, env: Any) -> None:
        """Let lane i go on as a single env would: the inverse of `lane`.

        Args:
            i: The lane.
            env: A single env of this batch's kind and lane i's parameters; wrappers are looked through.

        Raises:
            TypeError: It is of another kind.
            ValueError: It has other parameters.
            ResetRequired: It was never reset.
        """
        vec = getattr(env.unwrapped, "_vec", None)
        if type(vec) is not type(self):
            raise TypeError(f"env must be a single env over {type(self).__name__}, got {env!r}")
        self.set_state(vec.get_state(), [i])

    def lane_kwargs(self, i: int) -> dict[str, Any]:
        """The arguments that make the single env which lane i is: those of `lane(i)`, replays and checks.

        They are `debug`, `math` and the parameters. A subclass whose constructor takes others overrides it:

            return {**super().lane_kwargs(i), "window": self.window}
        """
        params = {name: self._param_rows.of_lane(name, i) for name in self._params.names}
        return {"debug": self.debug, "math": self.math, **params}

    def get_attr(self, name: str) -> list[Any]:
        """The list of every lane's attribute `name`: a parameter, or what all lanes share.

        Raises:
            AttributeError: There is none.
        """
        if name in self._attributes:
            return [self._param_rows.of_lane(name, i) for i in range(self.num_envs)]
        value = getattr(self, name)
        return list(value) if name in self.lane_values else [value] * self.num_envs

    def set_attr(self, name: str, values: Any) -> None:
        """Set the parameter `name`: a list or `PerLane` holds one value per lane, anything else goes to all.

        Raises:
            AttributeError: No parameter has this name.
            TypeError, ValueError: A value is not what the parameter holds.
        """
        if name not in self._attributes:
            raise AttributeError(
                f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(self._attributes)}"
            )
        if isinstance(values, list):
            self._check_count(name, values)
        setattr(self, name, PerLane(values) if isinstance(values, list) else values)

    def call(self, method: str, *args: Any, **kwargs: Any) -> list[Any]:
        """Call a method of every lane, seen as single envs (copies), and return the list of what they return.

        What is no method, a property say, is returned itself.
        """
        values = [getattr(self.lane(i).unwrapped, method) for i in range(self.num_envs)]
        return [value(*args, **kwargs) if callable(value) else value for value in values]

    # ---- copies ----------------------------------------------------------------------------------

    def _undo_point(self) -> Callable[[], None]:
        """What undoes all that happens to the batch from now on: resets, their seeds, and steps of a rollout."""
        for stream in self._streams.values():
            stream.pull()
        kept = {**vars(self), "_streams": dict(self._streams), "_recent": self._recent[-1:]}
        arrays = [self._memory, *self._arrays, self._seeded, self._policy_seeds]
        arrays += [] if self._policy_rng is None else [self._policy_rng]
        before = [(array, array.copy()) for array in arrays]
        shared = dict(self._param_rows.arrays)

        def undo() -> None:
            vars(self).update(kept)
            for array, values in before:
                array[...] = values
            for name, value in shared.items():
                self._param_rows.set(name, value)
            for stream in self._streams.values():
                stream.push()

        return undo

    def __getstate__(self) -> dict[str, Any]:
        generators = {lane: stream.generator for lane, stream in self._streams.items()}
        return {**self.__dict__, "_program": None, "_streams": generators, "_recent": self._recent[-1:]}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._program = self._programs(self.debug, self.math)
        self._set_foreign(self._foreign)
        self._streams = {lane: Stream(generator, self._rng[:, lane]) for lane, generator in state["_streams"].items()}


def references(arrays: tuple[np.ndarray, ...]) -> int:
    """The largest number of references to one of these arrays."""
    return max(map(getrefcount, arrays))


UNSHARED = references((np.empty(0),))  # when only the tuple holds them


def is_held(out: Outputs) -> bool:
    """Whether somebody else holds an array of a result."""
    # Without a name for the observations, which would be one more reference.
    if references(out) > UNSHARED:
        return True
    return isinstance(out.observations, tuple) and references(out.observations) > UNSHARED


def row_length(num_envs: int) -> int:
    """Words in a row of memory or of infos, N or a little more.

    Rows a multiple of 4 KiB apart would all compete for the same few places of the processor's cache: the reset of a
    lane, which touches each row, took 50 ns instead of 25, a step of a market maker with ten infos 41 instead of 22.
    """
    return num_envs + 8 if num_envs % 64 == 0 else num_envs


def param_property(name: str) -> property:
    """A parameter as an attribute of the batch: reading gives a number, or an array of N if it differs by lane."""
    return property(
        lambda self: self._param_rows.get(name),
        lambda self, value: self._set_param(name, value),
        doc=f"The parameter `{name}`: one value for all lanes, or `PerLane`; a change takes effect at the next step.",
    )
