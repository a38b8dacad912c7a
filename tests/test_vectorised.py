"""The machine code of CartPole's hot loops, and how often the compiler runs."""

import copy
import platform
import re

import numba
import numpy as np
import pytest
from numba import config

import sekai
from sekai.kernels import jit

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="there is no machine code to look at")

PACKED_DIVISION = {
    "x86_64": r"\bv?divpd\b",
    "AMD64": r"\bv?divpd\b",
    "aarch64": r"\bfdiv(\.2d)?\s+v\d",
    "arm64": r"\bfdiv(\.2d)?\s+v\d",
}


@pytest.fixture(scope="module", params=["scalar", "per lane"])
def step(request):
    """The program that steps CartPoles, compiled afresh: what comes from the cache cannot be looked at."""
    gravity = 9.8 if request.param == "scalar" else sekai.PerLane([9.8, 9.8])
    vec = sekai.make_vec("CartPole-v1", 2, gravity=gravity)
    vec.reset(seed=0)
    vec.step(np.zeros(2, np.int64))
    (signature,) = (found for found in vec._program.step.signatures if found[1].ndim == vec._param_rows.words.ndim)
    program = numba.njit(**jit.OPTIONS)(vec._program.step.py_func)
    program.compile(signature)
    return program


def vector_loops(program):
    """The LLVM code of the loops that the vectoriser made."""
    blocks = re.split(r"\n(?=[\w.$-]+:)", program.inspect_llvm(program.signatures[0]))
    return [block for block in blocks if block.startswith("vector.body")]


def holding(operation, loops):
    """Those loops that do a floating-point operation on vectors of doubles."""
    return [loop for loop in loops if re.search(rf"\b{operation} <\d+ x double>", loop)]


def test_the_hot_loops_are_vectorised(step):
    loops = vector_loops(step)
    assert len(holding("fdiv", loops)) >= 2  # the dynamics, without range reduction of the angle and with it
    assert len(holding("fadd", loops)) > len(holding("fdiv", loops))  # the book-keeping
    assert holding("fptrunc", loops)  # observations
    if platform.machine() in PACKED_DIVISION:
        assert re.search(PACKED_DIVISION[platform.machine()], step.inspect_asm(step.signatures[0]))


# ---- signatures ------------------------------------------------------------------------------------


def shapes_of_params(program):
    """For each signature that a program is compiled for, the number of axes of its parameters."""
    return sorted(signature[1].ndim for signature in program.signatures)


def run_in_all_ways(**params):
    """Reset and step CartPoles with every kind of argument that is allowed."""
    for num_envs in (1, 7, 2000):
        for autoreset in ("same_step", "next_step", "disabled"):
            vec = sekai.make_vec(
                "CartPole-v1",
                num_envs,
                max_episode_steps=3 if num_envs == 7 else -1,
                vector_kwargs={"autoreset": autoreset, "copy": num_envs > 1, "num_threads": 1 + (num_envs > 1024)},
                **{name: value(num_envs) for name, value in params.items()},
            )
            ones = np.ones(num_envs, np.int64)
            read_only = ones.copy()
            read_only.flags.writeable = False
            vec.reset(seed=0)
            vec.reset(seed=[np.random.default_rng(0), *range(1, num_envs)], options={"low": -1, "high": 1})
            for actions in (ones, ones.astype(np.int32), ones.astype(np.uint8), np.ones(2 * num_envs, int)[::2]):
                vec.step(actions)
            for actions in (read_only, ones.tolist(), ones.astype(">i8"), ones.astype(np.uint64)):
                copy.deepcopy(vec).step(actions, mask=ones.astype(bool))
            vec.reset(mask=ones.astype(bool))
            vec.lane(0).step(1)


def test_programs_are_compiled_once_for_scalar_parameters_and_once_for_others():
    run_in_all_ways()
    program = sekai.make_vec("CartPole-v1", 2)._program
    run_in_all_ways(tau=lambda n: sekai.PerLane(np.full(n, 0.02)))
    assert shapes_of_params(program.step) == [1, 2]
    assert shapes_of_params(program.reset) == [1, 2]
    assert shapes_of_params(program.step_one) in ([1], [1, 2])  # other tests may have single envs with `PerLane` of one
    assert len(program.check.signatures) == 1
