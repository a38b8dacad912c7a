"""A layer of a network, for a tile of lanes.

Units are rows, so that an operation takes neighbouring lanes at once, and each lane has a sum of its own whose order
never changes: a lane's numbers have the same bits in any tile, at any place in it.
"""

import numba
from llvmlite import ir
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numba.np.arrayobj import make_array

from sekai.kernels.jit import PART_OPTIONS, kernel

TILE = 32  # lanes that a network works on at once: the units of a layer then stay in the nearest cache
# Four outputs of 8 lanes (a register of AVX-512, two of AVX2) are summed at a time, and what remains of the outputs one
# by one, of a whole tile: in either case all sums stay in registers, and four additions do not wait for one another.
OUTPUTS, LANES = 4, 8


@kernel
def dense(w, n_in, n_out, n, x, y):
    """Write a layer's outputs y[j] = b[j] + w[j, 0] x[0] + w[j, 1] x[1] + ..., summed in this order.

    Args:
        w (float64, (n_out * (n_in + 1),)): the matrix (n_out, n_in), row by row, then the biases.
        n (int): lanes of the tile; of the others, anything may become.
        x (float64, (n_in or more, TILE)): inputs.
    Writes: y (float64, (n_out or more, TILE)).
    """
    many = n_out - n_out % OUTPUTS
    bias = w[n_out * n_in :]
    for j in range(0, many, OUTPUTS):
        for i in range(0, n, LANES):
            sum_products(OUTPUTS, LANES, w[j * n_in :], bias[j:], n_in, x[:, i:], y[j:, i:])
    for j in range(many, n_out):
        sum_products(1, TILE, w[j * n_in :], bias[j:], n_in, x, y[j:])


def sum_products(count, size, w, bias, n_in, x, y):
    """Write `count` outputs of the first `size` lanes; both are constants.

    It is compiled from LLVM's own vectors. What the compiler makes of a loop over lanes keeps the sums in memory, and
    takes twice as long.
    """
    for j in range(count):
        y[j, :size] = bias[j]
        for k in range(n_in):
            y[j, :size] += w[j * n_in + k] * x[k, :size]


@intrinsic(prefer_literal=True)
def _sum_products(typing, count, size, w, bias, n_in, x, y):
    def code(context, builder, signature, args):
        length, index, width = args[4], args[4].type, size.literal_value
        vector, zero = ir.VectorType(ir.DoubleType(), width), ir.Constant(index, 0)
        weights, biases, inputs, outputs = (
            make_array(signature.args[k])(context, builder, args[k]) for k in (2, 3, 5, 6)
        )

        def spread(pointer):
            """A vector of one number."""
            number = builder.insert_element(ir.Constant(vector, ir.Undefined), builder.load(pointer), zero)
            lanes = ir.Constant(ir.VectorType(ir.IntType(32), width), None)
            return builder.shuffle_vector(number, ir.Constant(vector, ir.Undefined), lanes)

        def row(array, kind, k):
            """Where the vector in row k of an array is."""
            pointer = cgutils.get_item_pointer(context, builder, kind, array, [k, zero])
            return builder.bitcast(pointer, vector.as_pointer())

        rows = [ir.Constant(index, j) for j in range(count.literal_value)]
        starts = [builder.gep(weights.data, [builder.mul(j, length)]) for j in rows]
        sums = [cgutils.alloca_once_value(builder, spread(builder.gep(biases.data, [j]))) for j in rows]
        with cgutils.for_range(builder, length) as loop:
            numbers = builder.load(row(inputs, x, loop.index), align=8)
            for start, total in zip(starts, sums, strict=True):
                product = builder.fmul(spread(builder.gep(start, [loop.index])), numbers)
                builder.store(builder.fadd(builder.load(total), product), total)
        for j, total in zip(rows, sums, strict=True):
            builder.store(builder.load(total), row(outputs, y, j), align=8)
        return context.get_dummy_value()

    return numba.types.void(count, size, w, bias, n_in, x, y), code


@overload(sum_products, jit_options=PART_OPTIONS, prefer_literal=True)
def _compile_sum_products(count, size, w, bias, n_in, x, y):
    return lambda count, size, w, bias, n_in, x, y: _sum_products(count, size, w, bias, n_in, x, y)
