"""The functions of `sekai.kernels.elementary` by the C library of the platform, with NumPy's bits.

In place of those they make an environment bit-identical to one written in NumPy. They do not vectorise.
"""

import math

import numba
from llvmlite import ir
from numba.extending import intrinsic, overload

from sekai.kernels.jit import PART_OPTIONS, kernel
from sekai.kernels.precision import like

FUNCTIONS = "sincos", "sincos_near", "sincos_quarter", "exp", "log", "tanh", "squash", "square"


@kernel
def sincos(x):
    """Compute sine and cosine of any double [rad]."""
    return math.sin(x), math.cos(x)


sincos_near = sincos_quarter = sincos


@kernel
def exp(x):
    """Compute e**x."""
    return math.exp(x)


@kernel
def log(x):
    """Compute the natural logarithm."""
    return math.log(x)


@kernel
def tanh(x):
    """Compute the hyperbolic tangent."""
    return math.tanh(x)


squash = tanh


@kernel
def square(x):
    """Compute x**2 by `pow`, as NumPy does for scalars; about one in 1,000 differs from x * x in the last bit."""
    return x ** like(x, unknown(2))


def unknown(n):
    """The same integer, but the compiler does not know which: it makes a product of a power with a known exponent."""
    return n


@intrinsic
def _unknown(typing, n):
    def code(context, builder, signature, args):
        word = ir.IntType(64)
        return builder.asm(ir.FunctionType(word, [word]), "", "=r,0", args, side_effect=False)

    return numba.types.int64(numba.types.int64), code


@overload(unknown, jit_options=PART_OPTIONS)
def _compile_unknown(n):
    return lambda n: _unknown(n)
