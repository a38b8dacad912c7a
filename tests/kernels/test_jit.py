"""Kernels as Python sees them, binding, fingerprints, and the cache on disk."""

import json
import math
import os
import re
import subprocess
import sys
import textwrap
import time
import types

import numba
import numpy as np
import pytest
from numba import config

from sekai.kernels import elementary, libm
from sekai.kernels.jit import (
    at,
    bind,
    cache_folder,
    entry,
    fingerprint,
    generate,
    interpret,
    kernel,
    remove_unused,
    substitute,
)

DAY = 86400

needs_compiler = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")


def run_python(cache, *arguments, cwd=None, **variables):
    """Start Python with a cache folder of its own and warnings as errors."""
    env = {**os.environ, "NUMBA_DISABLE_JIT": "0", "SEKAI_CACHE_DIR": str(cache), **variables}
    return subprocess.Popen(
        [sys.executable, "-W", "error", *arguments],
        env=env,
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def output_of(process):
    """What a process printed; it must have ended well and kept silent on stderr."""
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert err == ""
    return out


# ---- kernels -------------------------------------------------------------------------------------


@kernel
def half_of(x):
    return x / 2.0


@kernel
def inverse(x):
    return 1.0 / x


@kernel
def is_nan(x):
    return math.isnan(x)


def test_python_may_call_a_kernel():
    assert half_of(3.0) == 1.5
    assert half_of(5) == 2.5


@needs_compiler
def test_kernels_follow_ieee_arithmetic():
    assert inverse(0.0) == math.inf
    assert is_nan(math.nan)


def test_at_reads_what_may_be_one_value_or_one_per_lane():
    assert at(2.5, 1) == 2.5
    assert at(np.array([1.5, 2.5]), 1) == 2.5

    @kernel
    def read(value, i):
        return at(value, i)

    assert read(2.5, 1) == 2.5
    assert read(np.array([1.5, 2.5]), 1) == 2.5


# ---- bind, generate, interpret -------------------------------------------------------------------


def double_of_part(x):
    return 2.0 * part(x)  # noqa: F821


@kernel
def increment(x):
    return x + 1.0


def test_bind_gives_a_copy_of_a_template_its_own_parts():
    first = bind(double_of_part, "one", part=increment)
    second = bind(double_of_part, "two", entry, part=half_of)
    assert (first(3.0), second(3.0)) == (8.0, 3.0)
    assert "part" not in globals()


@needs_compiler
def test_symbols_of_bound_kernels_differ_by_owner_and_by_code():
    def name(owner, part):
        return bind(double_of_part, owner, part=part).py_func.__qualname__

    assert len({name("one", increment), name("one", half_of), name("two", increment)}) == 3
    assert name("one", increment) == name("one", increment)
    assert name("one", increment).startswith("one.double_of_part_")


@kernel
def of_a_module(x):
    return elementary.square(increment(x))


def test_substitute_replaces_modules():
    replaced = substitute(of_a_module, "owner", [(elementary, libm), (increment, half_of)])
    assert (of_a_module(3.0), replaced(3.0)) == (16.0, 2.25)
    assert substitute(countdown, "owner", [(elementary, libm)]) is countdown  # it calls itself


def test_generate_makes_a_kernel_of_text():
    triple = generate("def triple(x):\n    return FACTOR * x", "triple", "owner", FACTOR=3.0)
    assert triple(2.0) == 6.0


@kernel
def quarter_of(x):
    return half_of(half_of(x))


@kernel
def indirect(x):
    return quarter_of(x) + half_of(x)


def test_substitute_puts_replacements_in_kernels_and_in_what_they_call():
    replaced = substitute(indirect, "owner", [(half_of, increment)])
    assert (replaced(4.0), indirect(4.0)) == (11.0, 3.0)
    assert substitute(replaced, "owner", [(inverse, increment)]) is replaced


@kernel
def noted(x):
    notes.append(x)  # noqa: F821
    return half_of(x)


def test_interpret_makes_everything_plain_python():
    notes = []
    function = interpret(noted)
    function.__globals__["notes"] = notes
    assert function(5.0) == 2.5
    assert notes == [5.0]
    assert type(function.__globals__["half_of"]).__name__ == "function"


@kernel
def with_default(x, step=2.0):
    return x + step


@kernel
def countdown(n):
    return 0 if n == 0 else countdown(n - 1)


def test_interpret_keeps_defaults_and_recursion():
    assert interpret(with_default)(1.0) == 3.0
    assert interpret(countdown)(3) == 0


def test_interpret_puts_replacements_in_place():
    def twice(x):
        return 2.0 * x

    assert interpret(bind(double_of_part, "owner", part=increment), [(increment, twice)])(3.0) == 12.0
    assert interpret(double_then_sine, [(elementary, math)])(0.5) == math.sin(1.0)


HALVES = types.ModuleType("halves")
HALVES.half_of, HALVES.factor = half_of, 3.0


@kernel
def of_halves(x):
    return HALVES.factor * HALVES.half_of(x)


def test_kernels_of_modules_are_reached_too():
    assert (of_halves(4.0), substitute(of_halves, "owner", [(half_of, increment)])(4.0)) == (6.0, 15.0)
    assert substitute(of_halves, "owner", [(inverse, increment)]) is of_halves
    plain = interpret(of_halves).__globals__["HALVES"]
    assert (type(plain.half_of), plain.factor) == (types.FunctionType, 3.0)
    assert interpret(of_halves, [(half_of, half_of)]).__globals__["HALVES"] is HALVES
    assert HALVES.half_of is half_of


def double_then_sine(x):
    return elementary.sin(2.0 * x)


# ---- fingerprints and the cache ------------------------------------------------------------------


# Each is a package, file by file, whose `main.run(3.0)` gives 4.0, and 8.0 after the edit of what is marked <old|new>.
EDITS = {
    "code of the entry": {
        "main": """
            @entry
            def run(x):
                return x + <1.0|5.0>
        """
    },
    "part": {
        "main": """
            @kernel
            def increment(x):
                return x + <1.0|5.0>

            def template(x):
                return 1.0 * part(x)

            run = bind(template, "owner", entry, part=increment)
        """
    },
    "which part": {
        "main": """
            @kernel
            def less(x):
                return x + 1.0

            @kernel
            def more(x):
                return x + 5.0

            def template(x):
                return part(x)

            run = bind(template, "owner", entry, part=<less|more>)
        """
    },
    "helper of a part, in another module": {
        "helpers": """
            @kernel
            def helper(x):
                return x + <1.0|5.0>
        """,
        "main": """
            from PACKAGE.helpers import helper

            @kernel
            def indirect(x):
                return helper(x)

            def template(x):
                return part(x)

            run = bind(template, "owner", entry, part=indirect)
        """,
    },
    "helper reached as a module's attribute": {
        "helpers": """
            @kernel
            def helper(x):
                return x + <1.0|5.0>
        """,
        "main": """
            import PACKAGE.helpers

            @entry
            def run(x):
                return PACKAGE.helpers.helper(x)
        """,
    },
    "helper reached through a module in a closure": {
        "helpers": """
            @kernel
            def helper(x):
                return x + <1.0|5.0>
        """,
        "main": """
            def make():
                from PACKAGE import helpers

                @entry
                def run(x):
                    return helpers.helper(x)

                return run

            run = make()
        """,
    },
    "value in a closure": {
        "main": """
            def make(step):
                @entry
                def run(x):
                    return x + step

                return run

            run = make(<1.0|5.0>)
        """
    },
    "second name of a function": {
        "main": """
            @kernel
            def less(x):
                return x

            @kernel
            def more(x):
                return x + 4.0

            selected = <less|more>

            @entry
            def run(x):
                return less(0.0) + more(-3.0) + selected(x)
        """
    },
    "global constant": {
        "main": """
            STEP = <1.0|5.0>

            @entry
            def run(x):
                return x + STEP
        """
    },
    "constant of another module": {
        "constants": """
            STEP = <1.0|5.0>
        """,
        "main": """
            from PACKAGE import constants

            @entry
            def run(x):
                return x + constants.STEP
        """,
    },
    "global array": {
        "main": """
            import numpy as np

            STEPS = np.array([0.0, <1.0|5.0>])

            @entry
            def run(x):
                return x + STEPS[1]
        """
    },
    "large global array": {
        "main": """
            import numpy as np

            STEPS = np.full(200_000, <1.0|5.0>)

            @entry
            def run(x):
                return x + STEPS[1]
        """
    },
    "names of a global named tuple": {
        "main": """
            from collections import namedtuple

            STEPS = namedtuple("Steps", "<small large|large small>")(1.0, 5.0)

            @entry
            def run(x):
                return x + STEPS.small
        """
    },
    "member of an enumeration": {
        "main": """
            from enum import Enum

            class Step(Enum):
                SMALL = <1.0|5.0>

            @entry
            def run(x):
                return x + Step.SMALL.value
        """
    },
    "default argument": {
        "main": """
            @entry
            def run(x, step=<1.0|5.0>):
                return x + step
        """
    },
    "default argument of a helper": {
        "main": """
            @kernel
            def helper(x, step=<1.0|5.0>):
                return x + step

            @entry
            def run(x):
                return helper(x)
        """
    },
    "helper chosen by type": {
        "main": """
            from numba.extending import overload

            def helper(x):
                return None

            @overload(helper)
            def compile_helper(x):
                return lambda x: x + <1.0|5.0>

            @entry
            def run(x):
                return helper(x)
        """
    },
    "helper lowered by hand": {
        "main": """
            from numba import types
            from numba.extending import lower_builtin, type_callable

            def helper(x):
                return None

            @type_callable(helper)
            def type_helper(context):
                return lambda x: types.float64

            @lower_builtin(helper, types.float64)
            def lower_helper(context, builder, signature, args):
                return builder.fadd(args[0], context.get_constant(types.float64, <1.0|5.0>))

            @entry
            def run(x):
                return helper(x)
        """
    },
}
PACKAGES = {name: f"edit_{number}" for number, name in enumerate(EDITS)}
# Large arrays are compiled as addresses, which mean nothing to another process; lowering code is not looked into.
IN_MEMORY = {"large global array", "helper lowered by hand"}

# Prints, for each package, what `run(3.0)` returns and how often the compiler ran.
DRIVER = """
import importlib, json, sys
from numba.core.event import install_recorder

found = {}
for package in sys.argv[1:]:
    run = importlib.import_module(f"{package}.main").run
    with install_recorder("numba:compile") as recorder:
        found[package] = run(3.0), len(recorder.buffer)
print(json.dumps(found))
"""


def drive(folder, packages, cache=None):
    """Results and numbers of compilations of some packages in a new process."""
    process = run_python(cache or folder / "cache", "-B", str(folder / "driver.py"), *packages, cwd=folder)
    return json.loads(output_of(process))


def write_package(folder, package, files, edited=False):
    """Write a package, before or after its edit, and the driver."""
    (folder / package).mkdir(parents=True, exist_ok=True)
    for file, text in files.items():
        text = re.sub(r"<(.*)\|(.*)>", r"\2" if edited else r"\1", textwrap.dedent(text)).replace("PACKAGE", package)
        (folder / package / f"{file}.py").write_text(f"from sekai.kernels.jit import bind, entry, kernel\n{text}")
    (folder / "driver.py").write_text(DRIVER)


@pytest.fixture(scope="module")
def edits(tmp_path_factory):
    """What all packages gave in three processes (cold, again, and edited), and the ages of files after the second."""
    folder = tmp_path_factory.mktemp("edits")
    for name, package in PACKAGES.items():
        write_package(folder, package, EDITS[name])
    cold = drive(folder, PACKAGES.values())
    for path in (folder / "cache").iterdir():
        os.utime(path, (time.time() - 29 * DAY,) * 2)
    again = drive(folder, PACKAGES.values())
    ages = [time.time() - path.stat().st_mtime for path in (folder / "cache").iterdir()]
    for name, package in PACKAGES.items():
        write_package(folder, package, EDITS[name], edited=True)
    return cold, again, drive(folder, PACKAGES.values()), ages


@pytest.mark.parametrize("name", EDITS)
def test_edited_code_is_never_stale_and_unchanged_code_is_found_again(edits, name):
    (cold, compiled), (again, recompiled), (edited, edits_compiled) = (run[PACKAGES[name]] for run in edits[:3])
    assert (cold, again, edited) == (4.0, 4.0, 8.0)
    assert compiled > 0
    assert (recompiled > 0) == (name in IN_MEMORY)
    assert edits_compiled > 0


def test_code_that_is_loaded_counts_as_used(edits):
    ages = edits[3]
    assert len(ages) == len(EDITS) - len(IN_MEMORY)
    assert max(ages) < DAY


def test_two_cold_processes_at_once(tmp_path):
    write_package(tmp_path, "package", EDITS["part"])
    command = ("-B", str(tmp_path / "driver.py"), "package")
    both = [run_python(tmp_path / "cache", *command, cwd=tmp_path) for _ in range(2)]
    assert [json.loads(output_of(process))["package"][0] for process in both] == [4.0, 4.0]
    assert len(list((tmp_path / "cache").iterdir())) == 1
    assert drive(tmp_path, ["package"])["package"] == [4.0, 0]


@pytest.mark.parametrize("place", ["a file", "below a file", "a folder without permissions"])
def test_without_a_usable_folder_code_is_compiled_in_memory(tmp_path, place):
    write_package(tmp_path, "package", EDITS["part"])
    blocked = tmp_path / "blocked"
    if place == "a folder without permissions":  # to root it is a folder like any other
        blocked.mkdir(mode=0o500)
    else:
        blocked.write_text("not a folder")
    cache = blocked / "cache" if place == "below a file" else blocked
    assert drive(tmp_path, ["package"], cache)["package"][0] == 4.0
    if blocked.is_file():
        assert blocked.read_text() == "not a folder"


def test_files_that_belong_to_somebody_else_are_used(tmp_path):
    write_package(tmp_path, "package", EDITS["part"])
    drive(tmp_path, ["package"])
    refuse = "import os\ndef refuse(*args):\n    raise PermissionError\nos.utime = refuse\n"
    (tmp_path / "driver.py").write_text(refuse + DRIVER)
    output = output_of(run_python(tmp_path / "cache", "-B", "driver.py", "package", cwd=tmp_path))
    assert json.loads(output)["package"] == [4.0, 0]


def flipped(content):
    """The content with a bit changed in its second half, which is machine code."""
    place = len(content) * 3 // 4
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


DAMAGES = {
    "empty": lambda content: b"",
    "cut": lambda content: content[: len(content) // 2],
    "bit": flipped,
    "noise": lambda content: b"\x80\x04noise" * 100,
    "text": lambda content: b"42",
}


def test_damaged_files_are_ignored_and_replaced(tmp_path):
    for damage in DAMAGES:
        write_package(tmp_path, damage, {"main": f"@entry\ndef {damage}(x):\n    return x + 1.0\n\nrun = {damage}\n"})
    whole = drive(tmp_path, DAMAGES)
    contents = {}
    for damage, change in DAMAGES.items():
        (path,) = (tmp_path / "cache").glob(f"{damage}-*")
        contents[path] = path.read_bytes()
        path.write_bytes(change(contents[path]))
    assert drive(tmp_path, DAMAGES) == whole
    assert {path: path.stat().st_size for path in contents} == {path: len(text) for path, text in contents.items()}
    assert drive(tmp_path, DAMAGES) == {damage: [value, 0] for damage, (value, _) in whole.items()}


CELL = """
from package.main import template
from sekai.kernels.jit import bind, entry, kernel

@kernel
def part(x):
    return x + 1.0

@entry
def run(x):
    return part(x)

assert run(3.0) == 4.0
assert bind(template, "owner", entry, part=part)(3.0) == 4.0
"""


@pytest.mark.parametrize("code", [CELL, f"exec(compile({CELL!r}, '/tmp/ipykernel_1/2.py', 'exec'))"])
def test_code_without_a_file_is_compiled_in_memory(tmp_path, code):
    write_package(tmp_path, "package", {"main": "def template(x):\n    return part(x)\n"})
    output_of(run_python(tmp_path / "cache", "-c", code, cwd=tmp_path))
    assert not (tmp_path / "cache").exists()


def test_old_files_of_the_cache_and_no_others_are_removed(tmp_path):
    ages = {"old.sekai": 31, "recent.sekai": 29, "old.txt": 31}
    for name, days in ages.items():
        (tmp_path / name).write_text("")
        os.utime(tmp_path / name, (time.time() - days * DAY,) * 2)
    (tmp_path / "folder.sekai").mkdir()
    os.utime(tmp_path / "folder.sekai", (0, 0))
    remove_unused(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.sekai", "old.txt", "recent.sekai"]


def test_a_file_that_another_process_takes_away_keeps_no_other(tmp_path, monkeypatch):
    for name in ("a.sekai", "b.sekai", "c.sekai"):
        (tmp_path / name).write_text("")
        os.utime(tmp_path / name, (0, 0))
    unlink, tried = os.unlink, []

    def unlink_too_late_at_first(path):
        unlink(path)
        tried.append(path)
        if len(tried) == 1:
            raise FileNotFoundError(path)

    monkeypatch.setattr(os, "unlink", unlink_too_late_at_first)
    remove_unused(tmp_path)
    assert len(tried) == 3
    assert list(tmp_path.iterdir()) == []


def test_writing_code_removes_old_files(tmp_path):
    write_package(tmp_path, "package", EDITS["part"])
    old = tmp_path / "cache" / "old.sekai"
    old.parent.mkdir()
    old.write_text("")
    os.utime(old, (0, 0))
    drive(tmp_path, ["package"])
    assert not old.exists()
    assert len(list((tmp_path / "cache").iterdir())) == 1


def test_the_folder_of_the_cache_may_be_chosen(monkeypatch):
    monkeypatch.setenv("SEKAI_CACHE_DIR", "/some/where")
    assert cache_folder() == "/some/where"
    monkeypatch.setenv("SEKAI_CACHE_DIR", "")
    assert os.path.basename(cache_folder()).lower() in ("sekai", "cache")


def from_foreign_names(x):
    return np.sqrt(x) + numba.float64(x)


def of_unknown_kind(x):
    return x + UNKNOWN


UNKNOWN = object()


def test_values_of_unknown_kinds_are_not_taken_to_be_known():
    assert fingerprint(from_foreign_names)[1]
    assert not fingerprint(of_unknown_kind)[1]


PRINTS = """
from sekai.kernels.jit import entry, kernel

@kernel
def tell(i):
    print("lane", i)

@entry
def run(n):
    for i in range(n):
        tell(i)

run(2)
"""


def test_parts_may_print_whether_compiled_now_or_loaded(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(PRINTS)
    for _ in range(2):
        assert output_of(run_python(tmp_path / "cache", str(script))) == "lane 0\nlane 1\n"


# ---- with bounds checks --------------------------------------------------------------------------

BEYOND = """
import numpy as np
from sekai.kernels import kernel
from sekai.kernels.jit import entry
from sekai.kernels.rows import borrow

@kernel
def take(x, i):
    return x[i]

@entry
def run(x, i):
    return take(borrow(x), i)

try:
    print(run(np.arange(8.0)[:4], 5))
except IndexError as error:
    print(error)
"""


def test_bounds_are_checked_if_numba_is_told_so_by_code_of_its_own(tmp_path):
    script, cache = tmp_path / "script.py", tmp_path / "cache"
    script.write_text(BEYOND)
    found = [output_of(run_python(cache, str(script), NUMBA_BOUNDSCHECK=check)) for check in "1010"]
    assert found == ["index is out of bounds\n", "5.0\n"] * 2
    assert len(list(cache.iterdir())) == 2


# ---- without the compiler ------------------------------------------------------------------------

EVERY_ENV = """
import hashlib
import numpy as np
import sekai

def digest(*values):
    found = hashlib.sha256()
    for value in values:
        for array in value.values() if isinstance(value, dict) else [value]:
            found.update(np.asarray(array).tobytes())
    return found.hexdigest()

for spec in sekai.all_specs():
    vec, env = sekai.make_vec(spec.id, 3, max_episode_steps=15), sekai.make(spec.id, max_episode_steps=15)
    batch, single = [vec.reset(seed=5).observations], [env.reset(seed=sekai.lane_seeds(5, 3)[0]).observation]
    space = env.action_space
    space.seed(0)
    for t in range(20):
        actions = np.stack([space.sample() for _ in range(3)])
        result = vec.step(actions)
        batch += [result.observations, result.rewards, result.terminated, result.truncated, result.final_lanes]
        if not (t and (found.terminated or found.truncated)):
            found = env.step(actions[0])
            single += [found.observation, found.reward, found.terminated, found.truncated]
    print(spec.id, len(single), digest(*batch), digest(*single))
for name in "CartPole-v1", "Pendulum-v1":
    run = sekai.rollout(sekai.make_vec(name, 3, max_episode_steps=15), "random", 20, seed=5)
    print(name, digest(run.observations, run.actions, run.rewards, run.terminated, run.truncated))
"""


def test_plain_python_gives_the_same_bits(tmp_path):
    """And warns of nothing, in any environment."""
    script = tmp_path / "script.py"
    script.write_text(EVERY_ENV)
    cache = cache_folder()
    plain = run_python(cache, str(script), NUMBA_DISABLE_JIT="1")
    compiled = run_python(cache, str(script))
    assert output_of(plain) == output_of(compiled)
