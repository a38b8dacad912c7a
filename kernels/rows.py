"""Named rows: how the packed arrays of a batch get their names back inside a kernel.

A batch keeps all state in one C-contiguous array of 64-bit words, a row per field: a kernel call costs about 0.15 us
per array. The functions here make the kernels that view a block of such rows as a named tuple; `s.theta[i]` is then an
ordinary array access, and integer fields are the same words read as `int64`.
"""

from collections import namedtuple

import numba
import numpy as np
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic, overload
from numba.np.arrayobj import make_array, populate_array

from sekai.kernels.jit import PART_OPTIONS, generate

WORDS = {float: "words", int: "as_type(words, int64)", bool: "as_type(words, int64)"}


def row_views(owner, name, fields, first=0):
    """A kernel `views(words, lo, hi)`: the rows of lanes lo to hi - 1 as a named tuple.

    Args:
        owner: dotted name of the class that the rows belong to.
        name: name of the named tuple.
        fields: dict of field names and their types (float, int or bool), in the order of the rows.
        first: index of the first of these rows in `words`, a `float64[rows, N]`.
    """
    views = [f"{WORDS[kind]}[{first + k}, lo:hi]" for k, kind in enumerate(fields.values())]
    return _views(owner, name, fields, views)


def param_views(owner, fields):
    """As `row_views`, but a 1-D array of words gives one scalar per field, which the compiler hoists out of loops."""
    scalars = [f"{WORDS[kind]}[{k}]" for k, kind in enumerate(fields.values())]
    scalar = _views(owner, "Params", fields, scalars)
    per_lane = row_views(owner, "Params", fields)

    def views(words, lo, hi):
        return scalar(words, lo, hi) if words.ndim == 1 else per_lane(words, lo, hi)

    @overload(views)
    def compile_views(words, lo, hi):
        return (
            (lambda words, lo, hi: scalar(words, lo, hi))
            if words.ndim == 1
            else (lambda words, lo, hi: per_lane(words, lo, hi))
        )

    return views


def _views(owner, name, fields, expressions):
    rows = namedtuple(name, fields)
    source = f"def views(words, lo, hi):\n    return Rows({', '.join(expressions)})"
    return generate(source, "views", f"{owner}.{name}", Rows=rows, as_type=as_type, int64=np.int64)


def rng_rows(owner, first, count):
    """A kernel `view(words, lo, hi)`: the random words of lanes lo to hi - 1, a tuple of rows, for loops over lanes."""
    views = ", ".join(f"as_type(words, uint64)[{first + k}, lo:hi]" for k in range(count))
    source = f"def view(words, lo, hi):\n    return ({views},)"
    return generate(source, "view", f"{owner}.rng", as_type=as_type, uint64=np.uint64)


def rng_array(owner, first, count):
    """A kernel `view(words, lo, hi)`: the same as one array `uint64[6, hi - lo]`, for draws of single lanes."""
    source = f"def view(words, lo, hi):\n    return as_type(words, uint64)[{first}:{first + count}, lo:hi]"
    return generate(source, "view", f"{owner}.rng", as_type=as_type, uint64=np.uint64)


def borrower(owner, shape):
    """A kernel `borrow_observations(observations)`; `shape` is that of one lane's, or None if it is not fixed."""
    lengths = "".join(f", {length}" for length in shape or ())
    source = f"def borrow_observations(observations):\n    return borrow(observations{lengths})"
    return generate(source, "borrow_observations", owner, borrow=borrow)


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
    return lambda array, *inner: _borrowed(array, inner)
