"""Template of programs that look at lanes without stepping them: what properties and baselines of a batch are made of.

Names that it does not define are parts that `sekai.kernels.jit.bind` supplies: `state_views` and `param_views` (see
`sekai.kernels.episode`), and

    read_lane(s, p, given, out, i)     write out[i, …], in which given[i, …] may be looked at
"""

import numpy as np

from sekai.kernels.rows import borrow


def read_lanes(memory, params, given, out):
    """Write what `read_lane` says about each of the first lanes.

    Args:
        memory, params: as in `sekai.kernels.episode`.
        given (float64, (n, J)): what is asked about each lane.
    Writes: out (float64, (n, K)).
    """
    memory, params, given, out = borrow(memory), borrow(params), borrow(given), borrow(out)
    first, last = np.int64(0), np.int64(out.shape[0])
    s, p = state_views(memory, first, last), param_views(params, first, last)  # noqa: F821
    for i in range(out.shape[0]):
        read_lane(s, p, given, out, i)  # noqa: F821
