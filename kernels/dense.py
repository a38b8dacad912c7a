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

LANES = 8  # in a vector: a register of AVX-512, two of AVX2
OUTPUTS = 4  # summed at a time: a vector of inputs takes part in as many products, and all the sums stay in registers


@kernel
def dense(w, n_in, n_out, n, x, y):
    """Write a layer's outputs y[j] = b[j] + w[j, 0] x[0] + w[j, 1] x[1] + ..., summed in this order.

    Args:
        w (float64, (n_out * (n_in + 1),)): the matrix (n_out, n_in), row by row, then the biases.
        n (int): lanes. They are rounded up to whole vectors: of what is beyond, anything may become.
        x (float64, (n_in or more, lanes)): inputs.
    Writes: y (float64, (n_out or more, lanes)).
    """
    many = n_out - n_out % OUTPUTS
    bias = w[n_out * n_in :]
    for j in range(0, many, OUTPUTS):
        for i in range(0, n, LANES):
            sum_products(OUTPUTS, w[j * n_in :], bias[j:], n_in, x[:, i : i + LANES], y[j:, i : i + LANES])
    for j in range(many, n_out):
        for i in range(0, n, LANES):
            sum_products(1, w[j * n_in :], bias[j:], n_in, x[:, i : i + LANES], y[j:, i : i + LANES])


def sum_products(count, w, bias, n_in, x, y):
    """Write `count` outputs, a constant, of one vector of lanes.

    It is compiled from LLVM's own vectors. What the compiler makes of a loop over lanes keeps the sums in memory, and
    takes twice as long.
    """
    for j in range(count):
        y[j] = bias[j]
        for k in range(n_in):
            y[j] += w[j * n_in + k] * x[k]


@intrinsic(prefer_literal=True)
def _sum_products(typing, count, w, bias, n_in, x, y):
    def code(context, builder, signature, args):
        index, vector, zero = args[3].type, ir.VectorType(ir.DoubleType(), LANES), ir.Constant(args[3].type, 0)
        weights, biases, inputs, outputs = (
            make_array(signature.args[k])(context, builder, args[k]) for k in (1, 2, 4, 5)
        )

        def spread(pointer):
            """A vector of one number."""
            number = builder.insert_element(ir.Constant(vector, ir.Undefined), builder.load(pointer), zero)
            lanes = ir.Constant(ir.VectorType(ir.IntType(32), LANES), None)
            return builder.shuffle_vector(number, ir.Constant(vector, ir.Undefined), lanes)

        def row(array, kind, k):
            """Where the vector in row k of an array is."""
            pointer = cgutils.get_item_pointer(context, builder, kind, array, [k, zero])
            return builder.bitcast(pointer, vector.as_pointer())

        rows = [ir.Constant(index, j) for j in range(count.literal_value)]
        starts = [builder.gep(weights.data, [builder.mul(j, args[3])]) for j in rows]
        sums = [cgutils.alloca_once_value(builder, spread(builder.gep(biases.data, [j]))) for j in rows]
        with cgutils.for_range(builder, args[3]) as loop:
            numbers = builder.load(row(inputs, x, loop.index), align=8)
            for start, total in zip(starts, sums, strict=True):
                product = builder.fmul(spread(builder.gep(start, [loop.index])), numbers)
                builder.store(builder.fadd(builder.load(total), product), total)
        for j, total in zip(rows, sums, strict=True):
            builder.store(builder.load(total), row(outputs, y, j), align=8)
        return context.get_dummy_value()

    return numba.types.void(count, w, bias, n_in, x, y), code


@overload(sum_products, jit_options=PART_OPTIONS, prefer_literal=True)
def _compile_sum_products(count, w, bias, n_in, x, y):
    return lambda count, w, bias, n_in, x, y: _sum_products(count, w, bias, n_in, x, y)
