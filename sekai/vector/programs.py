"""The compiled functions of a kernel env: its lane functions bound into the driver templates."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any, NamedTuple

from numpy.random import Generator

from sekai.kernels import elementary, episode, hashing, libm, random, rollout, rows
from sekai.kernels.jit import bind, entry, interpret, is_kernel, kernel, outlined, substitute

INFO_ROWS = {"elapsed_steps": int}  # kept for every environment, after its own rows


PARTS = (
    "step_block", "observe_block", "inform_block", "look", "look_one",
    "advance", "advance_running", "autoreset",
)  # fmt: skip
ENTRIES = "reset", "check", "step", "reset_one", "step_one"

# What `math="libm"` replaces in lane functions.
LIBM = [(elementary, libm), *((getattr(elementary, name), getattr(libm, name)) for name in libm.FUNCTIONS)]


class Programs(NamedTuple):
    """What a batch calls; signatures are those of the templates in `sekai.kernels.episode`."""

    reset: Any
    check: Any
    step: Any
    reset_one: Any
    step_one: Any
    parts: Any  # by name, for the programs of rollouts

    def each(self, change: Callable[[Any], Any]) -> Programs:
        """The programs with a change made to each."""
        return self._replace(**{name: change(getattr(self, name)) for name in ENTRIES})


def build(cls: Any, math: str) -> Programs:
    """Bind the lane functions of a `KernelVecEnv` class; nothing is compiled before the first call.

    Args:
        cls: The class.
        math: `"own"` for the elementary functions that they name, `"libm"` for those of the C library instead.
    """
    owner = f"{cls.__module__}.{cls.__qualname__}"
    state, book = cls._state.kinds, episode.BOOK
    arrays = tuple(cls._state.arrays)
    packed, first = bool(arrays), len(state) + len(book)
    parts = {
        "state_views": rows.row_views(owner, "State", state, packed=packed, arrays=arrays),
        "book_views": rows.row_views(owner, "Book", book, len(state), packed),
        "rng_rows": rows.rng_rows(owner, first, episode.RNG_ROWS, packed),
        "rng_array": rows.rng_array(owner, first, episode.RNG_ROWS, packed),
        "param_views": rows.param_views(owner, cls._params.kinds | cls._options.kinds, tuple(cls._params.arrays)),
        "info_views": rows.info_views(owner, {**cls._info.kinds, **INFO_ROWS}, tuple(cls._info.arrays)),
        "borrow_observations": rows.borrower(owner, cls._observation_shapes()),
        "inform_lane": episode.inform_nothing,
    }
    functions = own_functions(cls, math, [name for name, function in cls._lane_functions().items() if function])
    parts |= functions
    parts["restart"] = bind(episode.restart, owner, outlined, **parts)
    parts["begin"] = bind(episode.begin_outlined if cls.is_long else episode.begin_inline, owner, kernel, **parts)
    for name in PARTS:
        if name not in parts:
            parts[name] = bind(getattr(episode, name), owner, kernel, **parts)
    return Programs(parts=parts, **{name: bind(getattr(episode, name), owner, entry, **parts) for name in ENTRIES})


def own_functions(cls: Any, math: str, names: Iterable[str]) -> dict[str, Any]:
    """Some of a class's own kernels, with the elementary functions that `math` says."""
    functions = {name: inspect.getattr_static(cls, name) for name in names}
    for name, function in functions.items():
        if not is_kernel(function):
            raise TypeError(f"{cls.__name__}.{name} must be decorated with sekai.kernels.kernel")
    if math == "libm":
        owner = f"{cls.__module__}.{cls.__qualname__}"
        functions = {name: substitute(function, owner, LIBM) for name, function in functions.items()}
    return functions


def build_rollout(cls: Any, parts: dict[str, Any], act_block: Any) -> Any:
    """Bind a policy's block function and the parts of a class's programs into the template of fused rollouts."""
    owner = f"{cls.__module__}.{cls.__qualname__}"
    parts = {**parts, "act_block": act_block}
    for name in ("act", "end_episodes"):
        parts[name] = bind(getattr(rollout, name), owner, kernel, **parts)
    return bind(rollout.rollout, owner, entry, **parts)


def interpreted(programs: Programs) -> Programs:
    """The same as plain Python, for printing, break points and bounds checks."""
    return programs.each(plain)


def plain(program: Any) -> Any:
    """A program as plain Python; random draws stay compiled."""
    functions = [*vars(random).values(), *vars(hashing).values()]
    return interpret(program, [(function, function) for function in functions if callable(function)])


def drawing_from(programs: Programs, generator: Generator) -> Programs:
    """Programs as plain Python that draw from a NumPy generator of any kind, in a batch of one lane."""

    def drawing(method: Callable[..., Any]) -> Callable[..., Any]:
        return lambda rng, i, *args: method(*args)

    draws = {name: drawing(getattr(generator, name)) for name in vars(random) if hasattr(generator, name)}
    replace = [(random, SimpleNamespace(**draws)), *((getattr(random, name), draw) for name, draw in draws.items())]
    return programs.each(lambda program: interpret(program, replace))
