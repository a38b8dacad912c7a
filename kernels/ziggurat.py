"""The ziggurat tables of the normal and the exponential distribution, with the bits of NumPy's.

A ziggurat covers the area under a decreasing density with 256 layers of one area. Layer n > 0 is a rectangle from 0 to
x[n]; layer 0 is what lies below the density at R = x[255], the tail beyond R included. A draw in layer n goes a whole
number of steps to the right, the layer being 2**52 steps wide (normal) or 2**53 (exponential):

    K[n]   so many steps are under the density for sure
    W[n]   width of a step; layer 0 counts as a rectangle
    F[n]   density at x[n], where x[0] = 0

What IEEE arithmetic leaves open is done in `decimal`, so the tables are the same on every machine.

Source: Marsaglia & Tsang, The ziggurat method for generating random variables, 2000. How NumPy's tables were rounded
was found by trial: the normal ones come from double arithmetic, the exponential ones from exact values.
"""

import math
from decimal import Context, Decimal, localcontext

import numpy as np

NORMAL_R, NORMAL_AREA = 3.6541528853610088, 0.0049286732339746519
EXPONENTIAL_R = 7.6971174701310497


def _tables(r, area, density, inverse, steps, whole):
    """Build K, W and F from right to left; `inverse` is that of `density`, `whole` rounds numbers of steps."""
    x, f = [r], [density(r)]
    while len(x) < 255:
        x.append(inverse(f[-1] + area / x[-1]))
        f.append(density(x[-1]))
    width = [area / f[0], *reversed(x)]
    inside = [r, 0 * r, *reversed(x[1:])]
    k = [whole(part / all_ * steps) for part, all_ in zip(inside, width, strict=True)]
    return np.array(k, np.uint64), np.array(width, np.float64) / steps, np.array([1.0, *reversed(f)], np.float64)


def _normal_density(x):
    """Round exp(-x**2 / 2) to a double."""
    y = float(Decimal(-0.5 * x * x).exp())
    # The exact value is 0.498 units in the last place above y. NumPy's table has it rounded up, the only such case.
    return math.nextafter(y, 1.0) if x == 0.882622229585165 else y


def _normal_tables():
    def inverse(y):
        return math.sqrt(-2.0 * float(Decimal(y).ln()))

    return _tables(NORMAL_R, NORMAL_AREA, _normal_density, inverse, 2**52, round)


def _exponential_tables():
    def density(x):
        return (-x).exp()

    def inverse(y):
        return -y.ln()

    def whole(steps):
        return 2 * math.floor(steps / 2)  # NumPy's table was made for 2**52 steps, then doubled

    r = Decimal("7.6971174701310497140446280481")
    return _tables(r, (r + 1) * density(r), density, inverse, 2**53, whole)


with localcontext(Context(prec=28)):
    NORMAL_K, NORMAL_W, NORMAL_F = _normal_tables()
    EXPONENTIAL_K, EXPONENTIAL_W, EXPONENTIAL_F = _exponential_tables()
