"""The one place that calls Numba's compiler: options, binding of templates, fingerprints and the disk cache.

A *kernel* is compiled into whatever calls it. An *entry* is a kernel that Python calls; its machine code is kept on
disk. Numba's own cache looks at the time stamp of one file only, so editing a helper in another file runs old
machine code. Here an entry's file is named after a fingerprint of all the code and constants that the function
reaches, so old code is never found.
"""

import dis
import enum
import hashlib
import os
import pickle
import sys
import tempfile
import time
import types
from contextlib import suppress
from functools import cache, cached_property, partial
from types import SimpleNamespace

import llvmlite
import numba
import numpy as np
from numba.core import compiler, config, serialize
from numba.core.caching import _Cache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.dispatcher import Dispatcher
from numba.core.registry import CPUDispatcher
from numba.core.runtime import rtsys
from numba.core.typing.templates import builtin_registry
from numba.extending import _Intrinsic, overload
from numba.misc.appdirs import AppDirs

from sekai.kernels.compile_error import CAUSES, compile_error

OPTIONS = {"error_model": "numpy", "nogil": True}

# Of files in the cache folder.
SUFFIX = ".sekai"
CHECKSUM_SIZE = 32
UNUSED_DAYS = 30

# Code of these packages does not change without their version, which is part of every cache key.
FOREIGN = {"builtins", "cmath", "llvmlite", "math", "numba", "numpy", "operator"}


class PartLibrary(JITCodeLibrary):
    """The code of a kernel: optimised once, as its loops are vectorised best before they are part of something else.

    It is made into machine code with its callers only. Numba would do so for each kernel, and optimise it twice,
    which took a third of all compile time.
    """

    def _optimize_final_module(self):
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)

    def _finalize_final_module(self):
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name):
        """There is no machine code to point to."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self):
        """What an environment, for exceptions with values, would be set in: there is none without machine code."""
        return SimpleNamespace(set_env=lambda name, environment: None)


class PartCompiler(Compiler):
    """Numba's compiler, but for what becomes of the code."""

    def define_pipelines(self):
        """The usual passes, over a library of our own."""
        self.state.library = PartLibrary(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        self.state.library.enable_object_caching()
        return super().define_pipelines()


# A kernel is compiled into its callers alone: functions that unpack Python objects for it, such as named tuples of
# arrays, took half of all compile time.
PART_OPTIONS = {
    "forceinline": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "pipeline_class": PartCompiler,
    **OPTIONS,
}


def kernel(function):
    """Compile `function` into the kernels that call it.

    It may be called from Python too, to try it out; its machine code then lives in memory only.
    """
    compiled = numba.njit(**PART_OPTIONS)(function)
    if isinstance(compiled, Dispatcher):  # not under NUMBA_DISABLE_JIT
        compiled.__class__ = Kernel
    return compiled


def outlined(function):
    """As `kernel`, but it stays a function of its own: for what is long, called from several places, and not often.

    It saves the compiler from handling it once more in each place. Arrays among its arguments should be borrowed anew.
    """
    compiled = numba.njit(**{**PART_OPTIONS, "forceinline": False})(function)
    if isinstance(compiled, Dispatcher):
        compiled.__class__ = Kernel
    return compiled


class Kernel(CPUDispatcher):
    """A kernel as Python sees it.

    It is compiled without the wrappers through which Python calls machine code: without this class a call from Python
    would crash.
    """

    @cached_property
    def from_python(self):
        """The same function, compiled to be called from Python."""
        compiled = numba.njit(**OPTIONS)(self.py_func)
        compiled.__class__ = Entry
        return compiled

    def __call__(self, *args):
        """Call it from Python."""
        return self.from_python(*args)


def entry(function):
    """Compile `function` to be called from Python, and keep its machine code on disk under its fingerprint."""
    compiled = numba.njit(**OPTIONS)(function)
    if isinstance(compiled, Dispatcher):
        compiled.__class__ = Entry
        compiled._cache = DiskCache(function)
    return compiled


class Entry(CPUDispatcher):
    """A kernel that Python calls."""

    def compile(self, signature):
        """Compile it for a signature, and do then what Numba does for code that it loads."""
        point = super().compile(signature)
        for result in self.overloads.values():
            for environment in result._find_referenced_environments():  # of parts: without it a part that prints hangs
                result.library.codegen.set_env(environment.env_name, environment)
        return point

    def _compile_for_args(self, *args, **kwargs):
        """Compile it for the types of arguments; Numba calls this.

        Raises:
            CompileError: It does not compile.
        """
        try:
            return super()._compile_for_args(*args, **kwargs)
        except CAUSES as cause:
            raise compile_error(self, cause) from cause


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


def substitute(function, owner, replace):
    """A kernel with other global values in it and in the kernels that it calls; itself if it reaches none of them.

    Args:
        function: a kernel.
        owner: as for `bind`.
        replace: pairs (global value, what is to stand in its place), such as a kernel and another.
    """
    return _substitute(function, owner, {id(old): new for old, new in replace})


def _substitute(function, owner, done):
    if id(function) not in done:
        done[id(function)] = function  # until more is known: it may call itself
        source = python_function(function)
        parts = {}
        for name in _global_names(source.__code__):
            value = source.__globals__.get(name)
            if isinstance(value, (Dispatcher, types.FunctionType)) and not is_foreign(value):
                _substitute(value, owner, done)
            other = done.get(id(value), value)
            if other is value and isinstance(value, types.ModuleType):
                other = _with_changes(value, source.__code__, partial(_substitute, owner=owner, done=done))
            if other is not value:
                parts[name] = other
        if parts:
            done[id(function)] = bind(source, owner, kernel, **parts)
    return done[id(function)]


def generate(source, name, owner, **names):
    """The kernel called `name` that the text `source` defines, with `names` as its globals."""
    namespace = dict(names)
    exec(compile(source, __file__, "exec"), namespace)
    function = namespace[name]
    function.__module__ = __name__
    function.__qualname__ = f"{owner}.{name}_{fingerprint(function)[0][:12]}"
    return kernel(function)


def interpret(function, replace=()):
    """The plain Python function behind a kernel, with all that it calls, by a global name or a module's, plain too.

    Args:
        function: a kernel, an entry or a plain function.
        replace: pairs (global value, what is to stand in its place), such as a module of kernels and a namespace.
    """
    return _interpret(function, {id(old): new for old, new in replace})


def _interpret(function, done):
    if id(function) not in done:
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
            elif isinstance(value, types.ModuleType):
                change = partial(_interpret, done=done)
                plain.__globals__[name] = _with_changes(value, source.__code__, change)
    return done[id(function)]


def _with_changes(module, code, change):
    """A module with other functions in place of those whose names are in `code`; itself if none is another."""
    if module.__name__.partition(".")[0] in FOREIGN:
        return module
    parts = {name: vars(module)[name] for name in sorted(_names(code) & vars(module).keys())}
    functions = {name: part for name, part in parts.items() if isinstance(part, (Dispatcher, types.FunctionType))}
    changed = {name: change(part) for name, part in functions.items() if not is_foreign(part)}
    if all(changed[name] is functions[name] for name in changed):
        return module
    other = types.ModuleType(module.__name__)
    vars(other).update(vars(module), **changed)
    return other


def is_kernel(function):
    """Whether a function is compiled (where compiling is switched off, any function is taken for one)."""
    return isinstance(function, Dispatcher) or bool(config.DISABLE_JIT)


def may_vectorise():
    """Whether loops may become vector instructions: without a compiler or with bounds checks they never do."""
    return not (config.DISABLE_JIT or config.BOUNDSCHECK)


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
        self.seen = {}  # functions, and modules with the names sought in them, numbered in the order of their visits

    def add(self, *texts):
        for text in texts:
            self.digest.update(str(text).encode() + b"\0")

    def is_new(self, *key):
        """Whether something is met for the first time; what was met before is told by its number."""
        if key in self.seen:
            self.add("again", self.seen[key])
            return False
        self.seen[key] = len(self.seen)
        return True

    def visit(self, value):
        if is_foreign(value):
            self.add(value.__module__, getattr(value, "__qualname__", value))
            return
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
            self.add(type(value).__name__, len(value), getattr(value, "_fields", ""))
            for item in value:
                self.visit(item)
        elif isinstance(value, frozenset):
            self.add(sorted(map(repr, value)))
        elif isinstance(value, enum.Enum):
            self.add(value.name)
            self.visit(type(value))
        elif isinstance(value, enum.EnumMeta):
            self.add(value.__qualname__, [(member.name, member.value) for member in value])
        elif isinstance(value, type) and hasattr(value, "_fields"):
            self.add(value.__module__, value.__qualname__, value._fields)
        elif (
            value is None
            or value is ...
            or isinstance(value, (bool, int, float, complex, str, bytes, np.generic, np.dtype))
        ):
            self.add(type(value).__name__, repr(value))
        elif isinstance(value, (types.BuiltinFunctionType, np.ufunc, numba.types.Type)):
            self.add(getattr(value, "__module__", ""), getattr(value, "__qualname__", value))
        else:
            self.complete = False

    def function(self, function):
        if not self.is_new(id(function)):
            return
        self.complete &= os.path.isfile(function.__code__.co_filename)
        self.code(function.__code__)
        self.visit(function.__defaults__ or ())
        reached = {name: function.__globals__.get(name) for name in _global_names(function.__code__)}
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        reached |= {name: cell.cell_contents for name, cell in cells}
        for name, value in reached.items():
            self.add(name)
            self.attribute(value, _names(function.__code__))
        self.overloads(function)

    def code(self, code):
        self.digest.update(code.co_code)
        self.add(code.co_names, code.co_argcount, code.co_flags)
        for constant in code.co_consts:
            self.visit(constant)

    def attribute(self, value, names):
        """Visit a value, or what code with these names may reach in a module: whose attributes they are is unknown."""
        if not isinstance(value, types.ModuleType):
            self.visit(value)
        elif value.__name__.partition(".")[0] not in FOREIGN and self.is_new(id(value), names):
            for name in sorted(names):
                if hasattr(value, name):
                    self.add(name)
                    self.attribute(getattr(value, name), names)

    def overloads(self, function):
        """Visit what `numba.extending.overload` compiles in place of a plain function."""
        # Read where `overload` writes: a look-up by typing context would first load all that Numba knows (0.1 s).
        for value, kind in builtin_registry.globals:
            if value is function:
                for template in kind.templates:
                    if hasattr(template, "_overload_func"):
                        self.visit(template._overload_func)
                    else:  # typed and lowered by hand
                        self.complete = False


def is_foreign(value):
    """Whether a function or class is of a package whose code does not change without its version."""
    function = python_function(value)
    if isinstance(function, types.FunctionType):
        module = function.__globals__.get("__name__")  # `__module__` may be anything
    else:
        module = getattr(value, "__module__", None) if callable(value) else None
    return str(module).partition(".")[0] in FOREIGN


def _code_objects(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _code_objects(constant)


@cache
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


@cache
def _names(code):
    return frozenset(name for part in _code_objects(code) for name in part.co_names)


def cache_folder():
    """Where machine code is kept: `SEKAI_CACHE_DIR`, or the user's folder for caches."""
    return os.environ.get("SEKAI_CACHE_DIR") or AppDirs("sekai", appauthor=False).user_cache_dir


class DiskCache(_Cache):
    """Numba's cache interface over one file per (fingerprint, signature, machine).

    A file is written elsewhere, renamed, and never changed afterwards: two cold processes write the same code under
    the same name. It begins with a checksum: a damaged file would crash the process, or worse. Without such a file, or
    where none can be written, code is compiled in memory.
    """

    def __init__(self, function):
        self.function = function
        self.paths = {}

    @property
    def cache_path(self):
        """Where the files are."""
        return cache_folder()

    def enable(self):
        """Do nothing: the cache is always on."""

    def disable(self):
        """Do nothing: the cache is always on."""

    def flush(self):
        """Do nothing: files are never stale."""

    def load_overload(self, sig, target_context):
        """The machine code for a signature, or None."""
        path = self.paths[sig] = self._path(sig, target_context.codegen())
        if path is None:
            return None
        try:
            with open(path, "rb") as file:
                checksum, payload = file.read(CHECKSUM_SIZE), file.read()
        except OSError:
            return None
        if checksum != checksum_of(payload):
            return None
        with suppress(OSError):  # another user's
            os.utime(path)  # in use: spares it from removal
        rtsys.initialize(target_context)  # all that finished machine code needs; the rest of `refresh` takes 0.1 s
        return compiler.CompileResult._rebuild(target_context, *pickle.loads(payload))

    def save_overload(self, sig, data):
        """Write the machine code of a signature just compiled."""
        path = self.paths.pop(sig, None)
        if path is None or data.library.has_dynamic_globals:  # addresses of large arrays, of this process only
            return
        folder = os.path.dirname(path)
        payload = serialize.dumps(data._reduce())
        with suppress(OSError):
            os.makedirs(folder, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=folder, suffix=SUFFIX, delete=False) as file:
                file.write(checksum_of(payload) + payload)
            os.replace(file.name, path)
            remove_unused(folder)

    def _path(self, sig, codegen):
        digest, complete = fingerprint(self.function)
        if not complete:
            return None
        options = (config.BOUNDSCHECK, config.OPT, config.LOOP_VECTORIZE, config.SLP_VECTORIZE)
        versions = (sys.version_info[:2], np.__version__, numba.__version__, llvmlite.__version__)
        key = repr((OPTIONS, digest, self.function.__qualname__, sig, codegen.magic_tuple(), options, versions))
        name = f"{self.function.__name__}-{hashlib.sha256(key.encode()).hexdigest()[:32]}{SUFFIX}"
        return os.path.join(cache_folder(), name)


def checksum_of(payload):
    """The first bytes of a file with this payload."""
    return hashlib.sha256(payload).digest()


def remove_unused(folder, days=UNUSED_DAYS):
    """Delete the files of the cache that no process has loaded or written for some days, and nothing else."""
    oldest = time.time() - 86400 * days
    with os.scandir(folder) as items:
        for item in items:
            with suppress(FileNotFoundError):  # another process renamed or removed it meanwhile
                if item.name.endswith(SUFFIX) and item.is_file() and item.stat().st_mtime < oldest:
                    os.unlink(item.path)
