"""What the command prints: tables and JSON on stdout, mistakes and signs of life on stderr."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec
from typing import Any, TextIO

import sekai


def tell(kind: str, message: str) -> None:
    """Tell of an error or a warning, in one line on stderr."""
    print(f"{kind}: {' '.join(message.split())}", file=sys.stderr)


def busy(what: str) -> AbstractContextManager[Any]:
    """Shows on a terminal what is going on, until it is done; without rich in a line that stays."""
    if not may_draw(sys.stderr):
        if sys.stderr.isatty():
            print(f"{what} …", file=sys.stderr)
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(f"{what} …")


def may_draw(stream: TextIO) -> bool:
    """Whether a stream is a terminal, and the package that draws tables and progress bars is installed."""
    return stream.isatty() and find_spec("rich") is not None


def moments(mean: float, deviation: float) -> str:
    """Mean and spread in words; NaN if no episode ended."""
    return "-" if math.isnan(mean) else f"mean {mean:.4g}, standard deviation {deviation:.4g}"


def print_json(data: Any) -> None:
    """Print data as one line of JSON: specs as objects, and what JSON has no form for as its `repr`."""
    specs = (sekai.EnvSpec, sekai.WrapperSpec)
    print(json.dumps(data, default=lambda value: vars(value) if isinstance(value, specs) else repr(value)))


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[int] = ()) -> None:
    """Print rows of text: as a table on a terminal, if rich is installed, and else in plain columns.

    Args:
        header: Titles of the columns, or none.
        rows: Their cells.
        numeric: Columns that are aligned to the right.
    """
    if may_draw(sys.stdout):
        print_rich_table(header, rows, numeric)
        return
    lines = [*([header] if header else []), *rows]
    widths = [max(len(line[k]) for line in lines) for k in range(len(rows[0]))]
    for line in lines:
        cells = [cell.rjust(widths[k]) if k in numeric else cell.ljust(widths[k]) for k, cell in enumerate(line)]
        print("  ".join(cells).rstrip())


def print_rich_table(header: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[int]) -> None:
    """The same with rich."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_header=bool(header))
    for k in range(len(rows[0])):
        table.add_column(header[k] if header else "", justify="right" if k in numeric else "left")
    for row in rows:
        table.add_row(*map(Text, row))  # as text, since rich would take [native vec] for markup
    Console().print(table)
