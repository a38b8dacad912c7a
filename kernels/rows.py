"""Named rows: how the packed arrays of a batch get their names back inside a kernel.

A batch keeps all state in one C-contiguous array of 64-bit words, a row per field: a kernel call costs about 0.15 us
per array. The functions here make the kernels that view a block of such rows as a named tuple; `s.theta[i]` is then an
ordinary array access, and integer fields are the same words read as `int64`. Fields with more than one value a lane
are arrays of their own, `s.weights[i, k]`, and go in a tuple with the words.
"""

import inspect
from collections import namedtuple

import numba
import numpy as np
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic, overload
from numba.np.arrayobj import make_array, populate_array

from sekai.kernels.jit import PART_OPTIONS, generate

WORDS = {float: "{}", int: "as_type({}, int64)", bool: "as_type({}, int64)"}


def row_views(owner, name, fields, first=0, packed=False, arrays=()):
    """A kernel `views(memory, lo, hi)`: the rows of lanes lo to hi - 1 as a named tuple.

    Args:
        owner: dotted name of the class that the rows belong to.
        name: name of the named tuple.
        fields: dict of field names and their types (float, int or bool), in the order of the rows.
        first: index of the first of these rows in the words, a `float64[rows, N]`.
        packed: whether `memory` is a tuple: the words, and arrays `(N, ...)` that hold more than one value a lane.
        arrays: names of those arrays, if they belong to the named tuple.
    """
    words = "memory[0]" if packed else "memory"
    views = [f"{WORDS[kind].format(words)}[{first + k}, lo:hi]" for k, kind in enumerate(fields.values())]
    views += [f"memory[{1 + k}][lo:hi]" for k in range(len(arrays))]
    return _views(owner, name, (*fields, *arrays), f"memory, lo, hi): return Rows({', '.join(views)})")


def info_views(owner, fields, arrays=()):
    """A kernel `views(info, lo, hi)`, as `row_views`; rows after those of `fields` are shared out among `arrays`.

    Each array has the same number of rows: the length of the longest of them.
    """
    views = [f"{WORDS[kind].format('info')}[{k}, lo:hi]" for k, kind in enumerate(fields.values())]
    first, count = len(fields), len(arrays)
    if not arrays:
        return _views(owner, "Info", fields, f"info, lo, hi): return Rows({', '.join(views)})")
    views += [f"info[{first} + {k} * room : {first} + {k + 1} * room, lo:hi].T" for k in range(count)]
    room = f"room = (info.shape[0] - {first}) // {count}"
    return _views(owner, "Info", (*fields, *arrays), f"info, lo, hi): {room}; return Rows({', '.join(views)})")


def param_views(owner, fields, arrays=()):
    """A kernel `views(params, lo, hi)`: the parameters of lanes lo to hi - 1 as a named tuple.

    Of a 1-D array of words it gives one scalar per field, which the compiler hoists out of loops, of a 2-D one the
    lanes' part of each row. With `arrays`, `params` is a tuple: the words, and those arrays, which all lanes share.
    """
    packed = bool(arrays)
    words = "params[0]" if packed else "params"
    views = [f"{WORDS[kind].format(words)}[{k}]" for k, kind in enumerate(fields.values())]
    lanes = [f"{view[:-1]}, lo:hi]" for view in views]
    shared = [f"params[{1 + k}]" for k in range(len(arrays))]
    names = (*fields, *arrays)
    scalar = _views(owner, "Params", names, f"params, lo, hi): return Rows({', '.join(views + shared)})")
    per_lane = _views(owner, "Params", names, f"params, lo, hi): return Rows({', '.join(lanes + shared)})")

    def views(params, lo, hi):
        one_for_all = (params[0] if packed else params).ndim == 1
        return scalar(params, lo, hi) if one_for_all else per_lane(params, lo, hi)

    @overload(views)
    def compile_views(params, lo, hi):
        return (
            (lambda params, lo, hi: scalar(params, lo, hi))
            if (params[0] if packed else params).ndim == 1
            else (lambda params, lo, hi: per_lane(params, lo, hi))
        )

    return views


def _views(owner, name, names, code):
    rows = namedtuple(name, names)
    return generate(f"def views({code}", "views", f"{owner}.{name}", Rows=rows, as_type=as_type, int64=np.int64)


def rng_rows(owner, first, count, packed=False):
    """A kernel `view(memory, lo, hi)`: random words of lanes lo to hi - 1, a tuple of rows, for loops over lanes."""
    words = "memory[0]" if packed else "memory"
    views = ", ".join(f"as_type({words}, uint64)[{first + k}, lo:hi]" for k in range(count))
    source = f"def view(memory, lo, hi):\n    return ({views},)"
    return generate(source, "view", f"{owner}.rng", as_type=as_type, uint64=np.uint64)


def rng_array(owner, first, count, packed=False):
    """A kernel `view(memory, lo, hi)`: the same as one array `uint64[6, hi - lo]`, for draws of single lanes."""
    words = "memory[0]" if packed else "memory"
    source = f"def view(memory, lo, hi):\n    return as_type({words}, uint64)[{first}:{first + count}, lo:hi]"
    return generate(source, "view", f"{owner}.rng", as_type=as_type, uint64=np.uint64)


def borrower(owner, shapes):
    """A kernel `borrow_observations(observations)`.

    Args:
        owner: dotted name of the class that it is for.
        shapes: shape of one lane's observation, or None if it is not fixed; for observations that are a tuple of
            arrays a dict of the same, by the names that the kernel gives them.
    """

    def borrowed(arrays, shape):
        return f"borrow({', '.join([arrays, *map(str, shape or ())])})"

    names = {}
    result = borrowed("observations", shapes)
    if isinstance(shapes, dict):
        leaves = [borrowed(f"observations[{k}]", shape) for k, shape in enumerate(shapes.values())]
        result, names = f"Observations({', '.join(leaves)})", {"Observations": namedtuple("Observations", shapes)}
    source = f"def borrow_observations(observations):\n    return {result}"
    return generate(source, "borrow_observations", owner, borrow=borrow, **names)


def as_type(words, dtype):
    """An array of 64-bit words seen as another 64-bit type: `words.view(dtype)`, compiled in a fifth of the time."""
    return words.view(dtype)


@intrinsic
def _as_type(typing, words, dtype):
    result = words.copy(dtype=dtype.dtype)

    def code(context, builder, signature, args):
        source = make_array(words)(context, builder, args[0])
        target = make_array(result)(context, builder)
        data = builder.bitcast(source.data, target.data.type)
        lengths, strides = (cgutils.unpack_tuple(builder, part) for part in (source.shape, source.strides))
        populate_array(target, data, lengths, strides, source.itemsize, source.meminfo, source.parent)
        return impl_ret_borrowed(context, builder, result, target._getvalue())

    return result(words, dtype), code


@overload(as_type, jit_options=PART_OPTIONS)
def _compile_as_type(words, dtype):
    return lambda words, dtype: _as_type(words, dtype)


def borrow(array, *inner):
    """The same array without its reference count, and with lengths of the inner axes that the compiler knows.

    For arrays that the caller of an entry holds anyway. Views of it are free: counting references costs two atomic
    operations per view, more than the reset of a lane. Where the inner lengths are constants, so are the strides,
    and LLVM writes rows of observations with vector instructions (1.3 ns a lane became 0.5).

    Args:
        array: C-contiguous.
        *inner: the lengths of all axes but the first, or none to leave them to run time.
    """
    return array


@intrinsic
def _borrowed(typing, array, inner):
    def code(context, builder, signature, args):
        source = make_array(array)(context, builder, args[0])
        lengths = cgutils.unpack_tuple(builder, source.shape)
        if len(inner):
            lengths = [lengths[0], *cgutils.unpack_tuple(builder, args[1])]
        size = context.get_constant(numba.types.intp, context.get_abi_sizeof(context.get_data_type(array.dtype)))
        strides = [size]
        for length in reversed(lengths[1:]):
            strides.insert(0, builder.mul(strides[0], length))
        result = make_array(array)(context, builder)
        populate_array(result, source.data, lengths, strides, size, None)
        return result._getvalue()

    return array(array, inner), code


@overload(borrow, jit_options=PART_OPTIONS)
def _compile_borrow(array, *inner):
    if isinstance(array, numba.types.BaseTuple):
        return by_leaf(borrow, array)
    return lambda array, *inner: _borrowed(array, inner)


def flat(array):
    """A C-contiguous array seen as one of a single axis, compiled in far less time than `reshape`."""
    return array.reshape(-1)


@intrinsic
def _flat(typing, array):
    result = array.copy(ndim=1)

    def code(context, builder, signature, args):
        source = make_array(array)(context, builder, args[0])
        target = make_array(result)(context, builder)
        length = source.nitems
        populate_array(target, source.data, [length], [source.itemsize], source.itemsize, source.meminfo, source.parent)
        return impl_ret_borrowed(context, builder, result, target._getvalue())

    return result(array), code


@overload(flat, jit_options=PART_OPTIONS)
def _compile_flat(array):
    return lambda array: _flat(array)


def by_leaf(function, *kinds):
    """What `overload` compiles for arguments that are tuples of arrays: the function applied to each of the arrays.

    Args:
        function: a plain function that is overloaded for arrays.
        *kinds: the Numba types of its arguments, those without a type of their own left out.
    """
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    tuples = [isinstance(kind, numba.types.BaseTuple) for kind in kinds]
    more = f", *{code.co_varnames[code.co_argcount]}" if code.co_flags & inspect.CO_VARARGS else ""
    calls = [
        f"function({', '.join(f'{name}[{k}]' if many else name for name, many in zip(names, tuples, strict=True))})"
        for k in range(len(kinds[tuples.index(True)]))
    ]
    namespace = {"function": function}
    exec(f"def leaves({', '.join(names)}{more}): return ({', '.join(calls)},)", namespace)
    return namespace["leaves"]


def lanes(arrays, lo, hi):
    """Lanes lo to hi - 1 of an array, or of each of a tuple of arrays."""
    return tuple(array[lo:hi] for array in arrays) if isinstance(arrays, tuple) else arrays[lo:hi]


@overload(lanes, jit_options=PART_OPTIONS)
def _compile_lanes(arrays, lo, hi):
    if isinstance(arrays, numba.types.BaseTuple):
        return by_leaf(lanes, arrays, lo, hi)
    return lambda arrays, lo, hi: arrays[lo:hi]


def num_rows(arrays):
    """Length of an array, or of the arrays of a tuple."""
    return len(arrays[0] if isinstance(arrays, tuple) else arrays)


@overload(num_rows, jit_options=PART_OPTIONS)
def _compile_num_rows(arrays):
    if isinstance(arrays, numba.types.BaseTuple):
        return lambda arrays: arrays[0].shape[0]
    return lambda arrays: arrays.shape[0]


def copy_row(to, k, source, i):
    """Row i of `source` into row k of `to`, arrays or tuples of arrays."""
    for target, array in zip(to, source, strict=True) if isinstance(to, tuple) else [(to, source)]:
        target[k] = array[i]


@overload(copy_row, jit_options=PART_OPTIONS)
def _compile_copy_row(to, k, source, i):
    if isinstance(to, numba.types.BaseTuple):
        return by_leaf(copy_row, to, k, source, i)

    # Spelt out: views of rows cost more than the copy, and their assignment takes long to compile.
    def vector(to, k, source, i):
        for j in range(to.shape[1]):
            to[k, j] = source[i, j]

    def matrix(to, k, source, i):
        for j in range(to.shape[1]):
            for h in range(to.shape[2]):
                to[k, j, h] = source[i, j, h]

    def other(to, k, source, i):
        to[k] = source[i]

    return {2: vector, 3: matrix}.get(to.ndim, other)
