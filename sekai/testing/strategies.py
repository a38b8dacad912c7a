"""Hypothesis strategies for spaces, their elements and masks, and what environments take.

    from hypothesis import given
    from sekai.testing import strategies as sts

    @given(sts.spaces())
    def test_my_encoder(space):
        x = space.sample()
        assert decode(space, encode(space, x)) == x

    env = MyEnv()

    @given(sts.action_sequences(env.action_space, length=20, min_length=1))
    def test_rewards_are_finite(actions):
        env.reset(seed=0)
        for action in actions:
            result = env.step(action)
            assert math.isfinite(result.reward)
            if result.done:
                break

Examples shrink towards small spaces and towards elements of zeros. `elements`, `non_elements` and `masks` are
`functools.singledispatch` functions on the space: `elements.register(MySpace)` teaches them a space of your own, inside
a Dict, Tuple or Sequence too. Without that, elements of it are samples for seeds that Hypothesis chooses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from copy import deepcopy
from functools import cache, singledispatch
from typing import Any, TypeVar

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from numpy.typing import NDArray

from sekai.spaces import (
    Box,
    Dict,
    Discrete,
    MaskedBox,
    MultiBinary,
    MultiDiscrete,
    Sequence,
    Space,
    Tuple,
)

S = TypeVar("S", bound=Space[Any])

SEEDS = st.integers(0, 2**32 - 1)
SHAPES = st.sampled_from([(), (1,), (2,), (3,), (2, 2), (1, 3), (0,), (2, 0)])
FLOAT_DTYPES = ["float32", "float64", "float16"]
INT_DTYPES = ["int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8"]

# Arrays with more entries than this are zeros but for a few entries, so that examples stay small.
MAX_DRAWN_ENTRIES = 32
MAX_SEQUENCE = 4


@cache  # Hypothesis looks into a strategy once, which takes longer than drawing from it
def spaces(max_depth: int = 2) -> SearchStrategy[Space[Any]]:
    """Generate built-in spaces of any kind, seeded.

    Args:
        max_depth: How deep Dict, Tuple and Sequence may be nested; 0 gives spaces of arrays and numbers only.
    """
    leaves = st.one_of(discretes(), boxes(), multi_binaries(), multi_discretes(), masked_boxes())
    if max_depth == 0:
        return leaves
    return st.one_of(leaves, dicts(max_depth), tuples(max_depth), sequences(max_depth))


def discretes() -> SearchStrategy[Discrete]:
    """Generate Discrete spaces of at most 10 values."""
    return st.builds(Discrete, st.integers(1, 10), start=st.integers(-5, 5), seed=SEEDS)


def multi_binaries() -> SearchStrategy[MultiBinary]:
    """Generate MultiBinary spaces of at most 4 bits."""
    return st.builds(MultiBinary, SHAPES, seed=SEEDS)


@st.composite
def multi_discretes(draw: Callable[..., Any]) -> MultiDiscrete:
    """Generate MultiDiscrete spaces of at most 5 values per entry, of any integer dtype."""
    dtype, shape = draw(st.sampled_from(INT_DTYPES)), draw(SHAPES)
    nvec = draw(_arrays(np.int64, shape, st.integers(1, 5)))
    start = draw(_arrays(np.int64, shape, st.integers(-3 if dtype.startswith("int") else 0, 3)))
    return MultiDiscrete(nvec, dtype, seed=draw(SEEDS), start=start)


@st.composite
def boxes(draw: Callable[..., Any], dtypes: Any = (*FLOAT_DTYPES, *INT_DTYPES)) -> Box:
    """Generate Box spaces with all sorts of bounds: infinite, equal, subnormal, and the limits of the dtype."""
    dtype, shape = np.dtype(draw(st.sampled_from(dtypes))), draw(SHAPES)
    bounds = draw(_arrays(dtype, (2, *shape), _values(dtype)))
    low, high = bounds.min(axis=0), bounds.max(axis=0)
    if dtype.kind == "f":
        low = np.where(draw(_arrays(bool, shape, st.booleans())), -np.inf, low).astype(dtype)
        high = np.where(draw(_arrays(bool, shape, st.booleans())), np.inf, high).astype(dtype)
    return Box(low, high, dtype=dtype, seed=draw(SEEDS))


@st.composite
def masked_boxes(draw: Callable[..., Any]) -> MaskedBox:
    """Generate MaskedBox spaces of at most 3 slots."""
    box = draw(boxes())
    fill = draw(st.none() | elements(box))
    low, high, size = box.low, box.high, draw(st.integers(1, 3))
    return MaskedBox(low, high, max_size=size, dtype=box.dtype, fill_value=fill, seed=draw(SEEDS))


def dicts(max_depth: int = 1) -> SearchStrategy[Dict]:
    """Generate Dict spaces of at most 3 keys."""
    return st.builds(Dict, st.dictionaries(st.sampled_from("abc"), spaces(max_depth - 1), max_size=3), seed=SEEDS)


def tuples(max_depth: int = 1) -> SearchStrategy[Tuple]:
    """Generate Tuple spaces of at most 3 places."""
    return st.builds(Tuple, st.lists(spaces(max_depth - 1), max_size=3), seed=SEEDS)


@st.composite
def sequences(draw: Callable[..., Any], max_depth: int = 1) -> Sequence:
    """Generate Sequence spaces, stacked where that is possible."""
    feature_space = draw(spaces(max_depth - 1))
    stack = feature_space.is_flattenable and feature_space.holds_data and draw(st.booleans())
    max_length = draw(st.none() | st.integers(0, MAX_SEQUENCE))
    return Sequence(feature_space, max_length=max_length, stack=stack, seed=draw(SEEDS))


@singledispatch
def elements(space: Space[Any]) -> SearchStrategy[Any]:
    """Generate elements of `space`, of the types that `space.sample()` has.

    Those of a Box lie anywhere between its bounds, infinite values included where a bound is infinite.
    """
    return SEEDS.map(lambda seed: _reseeded(space, seed).sample())


@elements.register
def _(space: Discrete) -> SearchStrategy[np.intp]:
    return _integers(space.start, space.start + space.n - 1).map(np.intp)


@elements.register
def _(space: Box) -> SearchStrategy[NDArray[Any]]:
    return _entries(space.zero(), lambda i: _between(space.low.flat[i], space.high.flat[i]))


@elements.register
def _(space: MultiDiscrete) -> SearchStrategy[NDArray[Any]]:
    start, last = space.start.ravel(), (space.start + (space.nvec - 1)).ravel()
    return _entries(space.start.astype(space.dtype), lambda i: _integers(start[i], last[i]))


@elements.register
def _(space: MultiBinary) -> SearchStrategy[NDArray[np.int8]]:
    return _entries(np.zeros(space.n, np.int8), lambda i: st.integers(0, 1))


@elements.register
def _(space: Dict) -> SearchStrategy[dict[Any, Any]]:
    return st.fixed_dictionaries({key: elements(part) for key, part in space.items()})


@elements.register
def _(space: Tuple) -> SearchStrategy[tuple[Any, ...]]:
    return st.tuples(*map(elements, space))


@elements.register
def _(space: Sequence) -> SearchStrategy[Any]:
    return st.lists(elements(space.feature_space), max_size=space.max_length).map(space.pack)


@elements.register
def _(space: MaskedBox) -> SearchStrategy[dict[str, Any]]:
    parts = st.tuples(elements(space["values"]), elements(space["mask"]))
    return parts.map(lambda pair: space.pack(pair[0][pair[1] == 1], np.flatnonzero(pair[1])))


@singledispatch
def non_elements(space: Space[Any]) -> SearchStrategy[Any]:
    """Generate values that are no elements of `space`: odd objects, and elements with one thing wrong."""
    return _oddities(space)


@non_elements.register
def _(space: Discrete) -> SearchStrategy[Any]:
    near = st.sampled_from([space.start - 1, space.start + space.n])
    wrong_type = elements(space).flatmap(lambda x: st.sampled_from([float(x), str(x), np.array([x]), [int(x)]]))
    return _oddities(space, near | st.integers() | wrong_type | st.booleans())


@non_elements.register
def _(space: Box) -> SearchStrategy[Any]:
    def outside(i: int) -> list[Any]:
        low, high = space.low.flat[i], space.high.flat[i]
        if space.dtype.kind in "iub":
            return [int(low) - 1, int(high) + 1]
        if space.dtype.kind == "f":
            return [math.nan, math.nextafter(low, -math.inf), math.nextafter(high, math.inf)]
        return [math.nan]

    return _oddities(space, _broken_arrays(space, outside))


@non_elements.register
def _(space: MultiDiscrete) -> SearchStrategy[Any]:
    def outside(i: int) -> list[Any]:
        start = int(space.start.flat[i])
        return [start - 1, start + int(space.nvec.flat[i])]

    return _oddities(space, _broken_arrays(space, outside))


@non_elements.register
def _(space: MultiBinary) -> SearchStrategy[Any]:
    return _oddities(space, _broken_arrays(space, lambda i: [-1, 2]))


@non_elements.register
def _(space: Dict) -> SearchStrategy[Any]:
    def broken_at(key: Any) -> SearchStrategy[dict[Any, Any]]:
        without = elements(space).map(lambda x: {k: v for k, v in x.items() if k != key})
        return without | st.builds(lambda x, v: {**x, key: v}, elements(space), non_elements(space[key]))

    with_more = elements(space).map(lambda x: {**x, "no such key": 0})
    return _oddities(space, with_more, *map(broken_at, space))


@non_elements.register
def _(space: Tuple) -> SearchStrategy[Any]:
    def broken_at(i: int) -> SearchStrategy[tuple[Any, ...]]:
        return st.builds(lambda x, v: (*x[:i], v, *x[i + 1 :]), elements(space), non_elements(space[i]))

    longer, shorter = elements(space).map(lambda x: (*x, 0)), elements(space).map(lambda x: x[:-1])
    return _oddities(space, longer, shorter, *map(broken_at, range(len(space))))


@non_elements.register
def _(space: Sequence) -> SearchStrategy[Any]:
    features = elements(space.feature_space)
    plain = st.lists(features, max_size=space.max_length).map(tuple)
    choices = [st.builds(lambda x, v: (*x, v), plain, non_elements(space.feature_space))]
    if space.stack:
        choices.append(plain)
    if space.max_length is not None:
        too_long = space.max_length + 1
        choices.append(features.map(lambda x: space.pack([x] * too_long)))
    return _oddities(space, *choices)


@non_elements.register
def _(space: MaskedBox) -> SearchStrategy[Any]:
    def fill_wrongly(x: dict[str, Any], values: NDArray[Any]) -> dict[str, Any]:
        return {**x, "values": np.where(values == space.fill_value, x["values"], values)}

    wrong_fill = st.builds(fill_wrongly, elements(space), elements(space["values"]))
    return _oddities(space, non_elements.dispatch(Dict)(space) | wrong_fill)


@singledispatch
def masks(space: Space[Any]) -> SearchStrategy[Any]:
    """Generate masks that `space.sample` takes and that leave a choice, None among them."""
    return st.none()


@masks.register
def _(space: Discrete) -> SearchStrategy[Any]:
    return st.none() | _choices(space.n)


@masks.register
def _(space: MultiDiscrete) -> SearchStrategy[Any]:
    flags = st.tuples(*[_choices(int(count)) for count in space.nvec.flat])
    nested = flags.map(lambda vectors: _nest(list(vectors), space.nvec.shape))
    return st.none() | nested | flags.map(lambda vectors: _pad(vectors, space.nvec))


@masks.register
def _(space: Box) -> SearchStrategy[Any]:
    return st.none() | st.booleans() | _entries(np.zeros(space.shape, bool), lambda i: st.booleans())


@masks.register
def _(space: MultiBinary) -> SearchStrategy[Any]:
    return st.none() | _entries(np.full(space.n, -1, np.int8), lambda i: st.integers(-1, 1))


@masks.register
def _(space: Dict) -> SearchStrategy[Any]:
    return st.none() | st.fixed_dictionaries({}, optional={key: masks(part) for key, part in space.items()})


@masks.register
def _(space: Tuple) -> SearchStrategy[Any]:
    return st.none() | st.tuples(*map(masks, space))


@masks.register
def _(space: Sequence) -> SearchStrategy[Any]:
    longest = MAX_SEQUENCE if space.max_length is None else min(space.max_length, MAX_SEQUENCE)
    length = st.none() | st.integers(0, longest)
    return st.none() | st.tuples(length, masks(space.feature_space))


@masks.register
def _(space: MaskedBox) -> SearchStrategy[Any]:
    return st.none() | _entries(np.zeros(space.max_size, bool), lambda i: st.booleans())


def env_ids() -> SearchStrategy[str]:
    """Generate the ids of registered environments."""
    from sekai.registry import all_specs

    return st.deferred(lambda: st.sampled_from([spec.id for spec in all_specs()]))


def action_sequences(space: Space[Any], length: int, min_length: int | None = None) -> SearchStrategy[list[Any]]:
    """Generate lists of actions for an episode.

    Args:
        space: The action space.
        length: Number of actions; the largest one if `min_length` is given.
        min_length: Smallest number. Failures then shrink to as few actions as show them.
    """
    return st.lists(elements(space), min_size=length if min_length is None else min_length, max_size=length)


def _reseeded(space: S, seed: int) -> S:
    copy = deepcopy(space)
    copy.seed(seed)
    return copy


def _arrays(dtype: Any, shape: tuple[int, ...], values: SearchStrategy[Any]) -> SearchStrategy[NDArray[Any]]:
    size = int(np.prod(shape))
    return st.lists(values, min_size=size, max_size=size).map(lambda entries: np.array(entries, dtype).reshape(shape))


def _entries(zero: NDArray[Any], entry: Callable[[int], SearchStrategy[Any]]) -> SearchStrategy[NDArray[Any]]:
    """Generate arrays like `zero` whose entry i, counted in C order, is drawn from `entry(i)`.

    Of a large array only a few entries are drawn.
    """

    @st.composite
    def arrays(draw: Callable[..., Any]) -> NDArray[Any]:
        x: NDArray[Any] = zero.copy()
        places = range(x.size)
        if x.size > MAX_DRAWN_ENTRIES:
            places = draw(st.lists(st.integers(0, x.size - 1), max_size=MAX_DRAWN_ENTRIES, unique=True))
        for i in places:
            x.flat[i] = draw(entry(i))
        return x

    return arrays()


def _values(dtype: np.dtype[Any]) -> SearchStrategy[Any]:
    """Generate finite numbers of a dtype."""
    if dtype.kind == "f":
        return st.floats(width=_width(dtype), allow_nan=False, allow_infinity=False)
    limits = np.iinfo(dtype)
    return _integers(limits.min, limits.max)


def _integers(first: Any, last: Any) -> SearchStrategy[int]:
    return st.integers(int(first), int(last)) | st.sampled_from([int(first), int(last)])


def _between(low: Any, high: Any) -> SearchStrategy[Any]:
    if low.dtype.kind in "iub":
        return _integers(low, high)
    if low.dtype.kind == "f" and low.dtype.itemsize <= 8:
        # Adding 0.0 makes 0.0 of -0.0, which `floats` tells apart.
        return st.floats(float(low) + 0.0, float(high) + 0.0, width=_width(low.dtype))
    return st.sampled_from([low, high])


def _width(dtype: np.dtype[Any]) -> Any:
    return 8 * dtype.itemsize  # bits


def _choices(n: int) -> SearchStrategy[NDArray[np.bool_]]:
    """Generate n flags, at least one of them set."""
    return st.sets(st.integers(0, n - 1), min_size=1).map(lambda allowed: np.isin(np.arange(n), list(allowed)))


def _nest(vectors: list[NDArray[np.bool_]], shape: tuple[int, ...]) -> Any:
    """Nest vectors of flags, which are in C order, in tuples of the given shape."""
    if not shape:
        return vectors.pop(0)
    return tuple(_nest(vectors, shape[1:]) for _ in range(shape[0]))


def _pad(vectors: Iterable[NDArray[np.bool_]], nvec: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Put vectors of flags, which are in C order, into one array of shape `(*nvec.shape, max(nvec))`."""
    flags = np.zeros((nvec.size, nvec.max(initial=0)), bool)
    for row, vector in zip(flags, vectors, strict=True):
        row[: len(vector)] = vector
    return flags.reshape(*nvec.shape, flags.shape[1])


def _oddities(space: Space[Any], *others: SearchStrategy[Any]) -> SearchStrategy[Any]:
    """Generate from `others`, and what most spaces refuse, without what `space` happens to contain."""
    odd = st.sampled_from([None, "text", math.nan, 1j, [None], [[1], [1, 2]], {"no such key": 0}])
    return st.one_of(*others, odd).filter(lambda x: not space.contains(x))


def _broken_arrays(space: Space[Any], outside: Callable[[int], list[Any]]) -> SearchStrategy[Any]:
    """Generate elements that got a further axis, a wrong dtype, or a value from `outside(i)` at entry i."""

    @st.composite
    def with_outsider(draw: Callable[..., Any]) -> Any:
        x = draw(elements(space)).astype(object)
        i = draw(st.integers(0, x.size - 1))
        x.flat[i] = draw(st.sampled_from(outside(i)))
        return x.tolist()

    arrays = elements(space)
    broken = [arrays.map(lambda x: x[np.newaxis]), arrays.map(lambda x: x.astype(complex))]
    if math.prod(space.shape or ()):
        broken.insert(0, with_outsider())
    return st.one_of(broken)
