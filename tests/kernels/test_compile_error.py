"""Mistakes in kernels are told in a line or three: which function, why, and where."""

import inspect

import numpy as np
import pytest
from numba import config
from numba.core.errors import TypingError

import sekai
from sekai.kernels import at, kernel, random
from sekai.kernels.compile_error import CompileError
from sekai.kernels.jit import entry

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")


def line_of(function, text):
    """Path and number of the line of a kernel that holds a text."""
    lines, first = inspect.getsourcelines(function.py_func)
    return f"{__file__}:{first + next(k for k, line in enumerate(lines) if text in line)}"


@kernel
def has_no_such_attribute(x):
    return x.thing


@kernel
def calls_what_fails(x):
    return has_no_such_attribute(x)


@kernel
def has_no_such_name(x):
    return x + windd  # noqa: F821


@kernel
def opens_a_file(x):
    with open("file"):
        return x


@entry
def run_attribute(x):
    return calls_what_fails(x)


@entry
def run_name(x):
    return has_no_such_name(x)


@entry
def run_file(x):
    return opens_a_file(x)


@entry
def run_itself(x):
    return x[0]


def test_the_innermost_function_and_its_line_are_named():
    with pytest.raises(CompileError) as caught:
        run_attribute(1.0)
    place = line_of(has_no_such_attribute, "x.thing")
    assert str(caught.value) == (
        f"has_no_such_attribute does not compile: Unknown attribute 'thing' of type float64\n  {place}: return x.thing"
    )
    assert isinstance(caught.value.__cause__, TypingError)  # all that Numba says
    assert "calls_what_fails" in str(caught.value.__cause__)


@pytest.mark.parametrize(
    ("run", "text", "reason"),
    [
        (run_name, "return has", "has_no_such_name does not compile: NameError: name 'windd' is not defined"),
        (run_file, "return opens", "opens_a_file does not compile: Unsupported context manager in use"),
        (
            run_itself,
            "return x",
            "run_itself does not compile: No implementation of function Function(<built-in function getitem>) found "
            "for signature: >>> getitem(float64, Literal[int](0))",
        ),
    ],
)
def test_the_reason_and_the_line(run, text, reason):
    with pytest.raises(CompileError) as caught:
        run(1.0)
    lines, _ = inspect.getsourcelines(run.py_func)
    assert str(caught.value) == f"{reason}\n  {line_of(run, text)}: {lines[-1].strip()}"


def test_a_kernel_called_from_python():
    with pytest.raises(CompileError, match=r"^has_no_such_attribute does not compile: Unknown attribute 'thing'"):
        has_no_such_attribute(2.0)


def test_other_arguments_still_work():
    with pytest.raises(CompileError):
        run_itself(1.0)
    assert run_itself(np.array([5.0])) == 5.0


class Walk(sekai.KernelVecEnv):
    class State:
        x: float

    class Params:
        wind: float = 1.0

    observation_space = sekai.Box(-np.inf, np.inf, (1,), np.float32)
    action_space = sekai.Discrete(2)

    @kernel
    def reset_lane(s, p, rng, i):
        s.x[i] = 0.0

    @kernel
    def step_lane(s, p, rng, action, i):
        s.x[i] += at(p.wind, i)
        return s.x[i], False, False

    @kernel
    def observe_lane(s, p, obs, i):
        obs[i, 0] = s.x[i]


class WithoutLane(Walk):
    @kernel
    def step_lane(s, p, rng, action, i):
        s.x[i] += random.standard_normal(rng)
        return 0.0, False, False


class WithTypo(Walk):
    @kernel
    def step_lane(s, p, rng, action, i):
        s.x[i] += s.y[i]
        return 0.0, False, False


class WithTwoResults(Walk):
    @kernel
    def step_lane(s, p, rng, action, i):
        return 0.0, False


@pytest.mark.parametrize(
    ("env", "message"),
    [
        (WithoutLane, r"^standard_normal does not compile: .*missing a required argument: 'i'.*\n  .*: s.x\[i\] \+= "),
        (WithTypo, r"^WithTypo.step_lane does not compile: Unknown attribute 'y' of type State\(.*\n  .*: s.x\[i\] \+"),
        (WithTwoResults, r"^.*WithTwoResults.step_block does not compile: .*expected 3, got 2'\)\n.* = step_lane\("),
    ],
)
def test_an_environment_is_as_it_was(env, message):
    vec = env(3)
    vec.reset(seed=0)
    before = vec.get_state()
    with pytest.raises(CompileError, match=message):
        vec.step([0, 1, 0])
    np.testing.assert_array_equal(vec.get_state().words, before.words, strict=True)
