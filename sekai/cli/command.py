"""Running the command: exit codes, and one line for each mistake of a user's."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence

from sekai.cli.arguments import build_parser
from sekai.cli.modules import explanation, import_modules
from sekai.cli.output import tell

USAGE_ERROR, INTERRUPTED = 2, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with the given arguments, or with those of the process; returns the exit code.

    Raises:
        SystemExit: The arguments are not what the parser takes (code 2), or ask for help or the version (code 0).
    """
    args = build_parser().parse_args(argv)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *place: tell("warning", str(message))
            import_modules(args.modules)
            code: int = args.run(args)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read the output has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is still in the buffer
        return USAGE_ERROR
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        tell("error", explanation(error))
        return USAGE_ERROR
    return code
