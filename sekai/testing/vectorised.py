"""Whether the loop that steps the lanes of a kernel env came out of the compiler as vector instructions."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from sekai.vector.kernel import KernelVecEnv

# The compiler vectorises a loop around these by calling them once per lane all the same. (`exp` and `log` are not among
# them: the rare branches of random draws have those too.)
LIBM_CALL = re.compile(r"call [^\n]*@(?:llvm\.)?(sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|pow|hypot|erf)[.(]")

STEP_LANES = """
def step_lanes(memory, params, action, reward, terminated, truncated):
    first, last = np.int64(0), np.int64(reward.size)
    s, p, rng = state_views(memory, first, last), param_views(params, first, last), rng_rows(memory, first, last)
    step_block(s, p, rng, action, reward, terminated, truncated)
"""


def why_not_vectorised(vec: KernelVecEnv[Any, Any]) -> str | None:
    """Say what keeps the stepping of lanes from being vectorised; None if nothing does.

    The kernel is compiled afresh, which takes a second or two.
    """
    code = step_code(vec)
    if code is None:
        return None
    calls = sorted(set(LIBM_CALL.findall(code)))
    if calls:
        return f"it calls {', '.join(calls)} of the C library for one lane after the other"
    if "vector.body" not in code:
        return "no loop of it was vectorised"
    return None


def step_code(vec: KernelVecEnv[Any, Any]) -> str | None:
    """The optimised LLVM code of a loop that steps all lanes, and does nothing else.

    None if nothing can be vectorised, whatever the loop: without a compiler, and with bounds checks.
    """
    from sekai.kernels.jit import generate, may_vectorise

    if not may_vectorise():
        return None
    owner = f"{type(vec).__module__}.{type(vec).__qualname__}"
    part = generate(STEP_LANES, "step_lanes", owner, np=np, **vec._program.parts)
    step_lanes = part.from_python  # a part by itself is not optimised
    actions = np.empty((1, *vec._actions.shape), vec._actions.dtype)
    rewards, flags = np.empty(1), np.empty(1, np.bool_)
    memory, params = vec._packed_memory, vec._param_rows.packed(vec._param_rows.words)
    arrays = memory, params, actions, rewards, flags, flags
    signature = tuple(map(step_lanes.typeof_pyval, arrays))
    step_lanes.compile(signature)
    return str(step_lanes.inspect_llvm(signature))
