"""What Numba says about a kernel that does not compile, in short.

Numba tells the whole way from the entry to the mistake, some sixty lines for a lane function. The error here names the
function, the reason and the lines; Numba's own stands above it, as its cause.
"""

import linecache
import os
import re
import traceback

from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError, UnsupportedBytecodeError

CAUSES = NumbaError, UnsupportedBytecodeError

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_INTRODUCTION = "Failed in nopython mode pipeline"
_END_OF_REASON = re.compile(r"During:|File \"|There are \d+ candidate")
_PLACE = re.compile(r"^During: typing of .* at (.+) \((\d+)\)$", re.MULTILINE)
_CALLEE = re.compile(r"^During: resolving callee type: .*<function (\S+) at ", re.MULTILINE)
_HASH = re.compile(r"_[0-9a-f]{12}$")  # of functions that are made for an environment


class CompileError(TypeError):
    """A kernel does not compile: it asks for something that the types of its arguments, or Numba, do not have."""


def compile_error(entry, cause):
    """The error that says in short why `entry` (a dispatcher) does not compile."""
    text = _COLOUR.sub("", str(cause))
    callee, places = _CALLEE.search(text), _PLACE.findall(text)
    name = callee.group(1) if callee else _innermost(cause, entry).py_func.__qualname__
    message = f"{_HASH.sub('', name)} does not compile: {_reason(text)}"
    for path, line in places[:1] + [place for place in places[1:] if _is_ours(places[0]) and not _is_ours(place)][:1]:
        message += f"\n  {path}:{line}: {linecache.getline(path, int(line)).strip()}"
    return CompileError(message)


def _is_ours(place):
    """Whether a place is in this package: then the user's line that led there is told, too."""
    return place[0].startswith(os.path.dirname(__file__))


def _reason(text):
    """The first thing that Numba says, on one line."""
    lines = [line for line in text.splitlines() if not line.startswith(_INTRODUCTION)]
    last = next((k for k, line in enumerate(lines) if k > 0 and _END_OF_REASON.match(line)), len(lines))
    return " ".join(" ".join(lines[:last]).split())


def _innermost(cause, entry):
    """The last dispatcher that was at work when `cause` was raised."""
    workers = (frame.f_locals.get("self") for frame, _ in traceback.walk_tb(cause.__traceback__))
    return [entry, *(worker for worker in workers if isinstance(worker, Dispatcher))][-1]
