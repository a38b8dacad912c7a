"""The one place that calls Numba's compiler: options, binding of templates, fingerprints and the disk cache.

A *kernel* is compiled into whatever calls it. An *entry* is a kernel that Python calls; its machine code is kept on
disk. Numba's own cache looks at the time stamp of one file only, so editing a helper in another file runs old
machine code. Here an entry's file is named after a fingerprint of all the code and constants that the function
reaches, so old code is never found.
"""

import dis
import hashlib
import os
import pickle
import sys
import tempfile
import time
import types

import llvmlite
import numba
import numpy as np
from numba.core import compiler, config, serialize
from numba.core.caching import _Cache
from numba.core.dispatcher import Dispatcher
from numba.core.registry import cpu_target
from numba.extending import _Intrinsic, overload
from numba.misc.appdirs import AppDirs

OPTIONS = {"error_model": "numpy", "nogil": True}
UNUSED_DAYS = 30

# Code of these packages does not change without their version, which is part of every cache key.
FOREIGN = {"builtins", "cmath", "llvmlite", "math", "numba", "numpy", "operator"}


def kernel(function):
    """Compile `function` into the kernels that call it.

    It may be called from Python too, to try it out; its machine code then lives in memory only.
    """
    return numba.njit(forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, **OPTIONS)(function)


def entry(function):
    """Compile `function` to be called from Python, and keep its machine code on disk under its fingerprint."""
    compiled = numba.njit(**OPTIONS)(function)
    if isinstance(compiled, Dispatcher):  # not under NUMBA_DISABLE_JIT
        compiled._cache = DiskCache(function)
    return compiled


def bind(template, owner, decorate=kernel, **parts):
    """A compiled copy of `template` in which the global names `parts` stand for the given values.

    Args:
        template: a plain function that calls names it does not define.
        owner: dotted name of what the copy is made for. With the fingerprint it makes the symbols of the machine
            code unique.
        decorate: `kernel` for a part of other templates, `entry` for what Python calls.
        **parts: kernels and constants.
    """
    bound = types.FunctionType(template.__code__, {**template.__globals__, **parts}, template.__name__)
    bound.__module__ = template.__module__
    bound.__doc__ = template.__doc__
    bound.__qualname__ = f"{owner}.{template.__name__}_{fingerprint(bound)[0][:12]}"
    return decorate(bound)


def generate(source, name, owner, **names):
    """The kernel called `name` that the text `source` defines, with `names` as its globals."""
    namespace = dict(names)
    exec(compile(source, __file__, "exec"), namespace)
    function = namespace[name]
    function.__module__ = __name__
    function.__qualname__ = f"{owner}.{name}_{fingerprint(function)[0][:12]}"
    return kernel(function)


def interpret(function, replace=()):
    """The plain Python function behind a kernel, with all that it calls by a global name made plain too.

    Args:
        function: a kernel, an entry or a plain function.
        replace: pairs (global value, what is to stand in its place), such as a module of kernels and a namespace.
    """
    return _interpret(function, {id(old): new for old, new in replace})


def _interpret(function, done):
    source = python_function(function)
    plain = types.FunctionType(
        source.__code__, dict(source.__globals__), source.__name__, source.__defaults__, source.__closure__
    )
    plain.__qualname__, plain.__module__, plain.__doc__ = source.__qualname__, source.__module__, source.__doc__
    done[id(function)] = plain
    for name in _global_names(source.__code__):
        value = source.__globals__.get(name)
        if id(value) in done:
            plain.__globals__[name] = done[id(value)]
        elif isinstance(value, (Dispatcher, types.FunctionType)):
            plain.__globals__[name] = _interpret(value, done)
    return plain


def python_function(function):
    """The Python function of a kernel (of a plain function, itself)."""
    return function.py_func if isinstance(function, Dispatcher) else function


def at(value, i):
    """`value` itself if it is one for all lanes, `value[i]` if it is one per lane."""
    return value[i] if isinstance(value, np.ndarray) else value


@overload(at)
def _compile_at(value, i):
    # Chosen by type: a scalar is hoisted out of the loop over lanes, an array is indexed.
    if isinstance(value, numba.types.Array):
        return lambda value, i: value[i]
    return lambda value, i: value


def fingerprint(function):
    """Hash of the code of a function, of all that it calls, and of the global values it reads.

    Returns:
        The hash, and whether it may name a file: not if something reached has no source file (a notebook cell) or is
            of a
        kind whose contents are unknown.
    """
    walk = _Walk()
    walk.visit(function)
    return walk.digest.hexdigest(), walk.complete


class _Walk:
    """One walk over everything that a function reaches."""

    def __init__(self):
        self.digest = hashlib.sha256()
        self.complete = True
        self.seen = set()
        cpu_target.typing_context.refresh()

    def add(self, *texts):
        for text in texts:
            self.digest.update(str(text).encode() + b"\0")

    def visit(self, value):
        if isinstance(value, Dispatcher):
            self.add(sorted(value.targetoptions.items()))
            value = value.py_func
        elif isinstance(value, _Intrinsic):
            value = value._defn
        if isinstance(value, types.FunctionType):
            self.function(value)
        elif isinstance(value, types.CodeType):
            self.code(value)
        elif isinstance(value, np.ndarray):
            self.add(value.dtype, value.shape)
            self.digest.update(value.tobytes())
        elif isinstance(value, (tuple, list)):
            self.add(type(value).__name__, len(value))
            for item in value:
                self.visit(item)
        elif isinstance(value, frozenset):
            self.add(sorted(map(repr, value)))
        elif (
            value is None
            or value is ...
            or isinstance(value, (bool, int, float, complex, str, bytes, np.generic, np.dtype))
        ):
            self.add(type(value).__name__, repr(value))
        elif isinstance(value, (type, types.BuiltinFunctionType, np.ufunc, numba.types.Type)):
            self.add(
                getattr(value, "__module__", ""), getattr(value, "__qualname__", value), getattr(value, "_fields", "")
            )
        elif not isinstance(value, types.ModuleType):
            self.complete = False

    def function(self, function):
        if id(function) in self.seen:
            return
        self.seen.add(id(function))
        self.complete &= os.path.isfile(function.__code__.co_filename)
        self.code(function.__code__)
        self.visit(function.__defaults__ or ())
        for cell in function.__closure__ or ():
            self.visit(cell.cell_contents)
        for name in _global_names(function.__code__):
            self.add(name)
            value = function.__globals__.get(name)
            if isinstance(value, types.ModuleType):
                self.module(value, _names(function.__code__))
            else:
                self.visit(value)
        self.overloads(function)

    def code(self, code):
        self.digest.update(code.co_code)
        self.add(code.co_names, code.co_argcount, code.co_flags)
        for constant in code.co_consts:
            self.visit(constant)

    def module(self, module, names):
        """Visit what code with these names may reach in a module; whose attributes they are is not known, so all."""
        if module.__name__.partition(".")[0] in FOREIGN or (module, names) in self.seen:
            return
        self.seen.add((module, names))
        for name in sorted(names):
            value = getattr(module, name, None)
            if isinstance(value, types.ModuleType):
                self.module(value, names)
            elif value is not None:
                self.visit(value)

    def overloads(self, function):
        """Visit what `numba.extending.overload` compiles in place of a plain function."""
        known = cpu_target.typing_context._lookup_global(function)
        for template in getattr(known, "templates", ()):
            if hasattr(template, "_overload_func"):
                self.visit(template._overload_func)


def _code_objects(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _code_objects(constant)


def _global_names(code):
    """Names that the code, nested functions included, reads from its globals, sorted."""
    return sorted(
        {
            instruction.argval
            for part in _code_objects(code)
            for instruction in dis.get_instructions(part)
            if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME")
        }
    )


def _names(code):
    return frozenset(name for part in _code_objects(code) for name in part.co_names)


def cache_folder():
    """Where machine code is kept: `SEKAI_CACHE_DIR`, or the user's folder for caches."""
    return os.environ.get("SEKAI_CACHE_DIR") or AppDirs("sekai", appauthor=False).user_cache_dir


class DiskCache(_Cache):
    """Numba's cache interface over one file per (fingerprint, signature, machine).

    A file is written elsewhere, renamed, and never changed afterwards: two cold processes write the same code under
        the same
    name. A folder that cannot be written to, or a damaged file, means compiling in memory.
    """

    def __init__(self, function):
        self.function = function
        self.paths = {}

    @property
    def cache_path(self):
        return cache_folder()

    def enable(self):
        pass

    def disable(self):
        pass

    def flush(self):
        pass

    def load_overload(self, sig, target_context):
        path = self.paths[sig] = self._path(sig, target_context.codegen())
        if path is None:
            return None
        target_context.refresh()
        try:
            with open(path, "rb") as file:
                payload = pickle.load(file)
            os.utime(path)  # in use: spares it from removal
        except Exception:  # absent, unreadable or damaged in whatever way: compile
            return None
        return compiler.CompileResult._rebuild(target_context, *payload)

    def save_overload(self, sig, data):
        path = self.paths.pop(sig, None)
        if path is None:
            return
        folder = os.path.dirname(path)
        try:
            os.makedirs(folder, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
                file.write(serialize.dumps(data._reduce()))
            os.replace(file.name, path)
            remove_unused(folder)
        except OSError:
            return

    def _path(self, sig, codegen):
        digest, complete = fingerprint(self.function)
        if not complete:
            return None
        options = (config.BOUNDSCHECK, config.OPT, config.LOOP_VECTORIZE, config.SLP_VECTORIZE)
        versions = (sys.version_info[:2], np.__version__, numba.__version__, llvmlite.__version__)
        key = repr((digest, self.function.__qualname__, sig, codegen.magic_tuple(), options, versions))
        return os.path.join(
            cache_folder(), f"{self.function.__name__}-{hashlib.sha256(key.encode()).hexdigest()[:32]}.bin"
        )


def remove_unused(folder, days=UNUSED_DAYS):
    """Delete the files of the cache that no process has loaded or written for some days."""
    oldest = time.time() - 86400 * days
    for item in os.scandir(folder):
        if item.is_file() and item.stat().st_mtime < oldest:
            os.unlink(item.path)
