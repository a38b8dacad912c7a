"""The lines in which a checker says what is wrong."""

from __future__ import annotations

from collections.abc import Hashable


class Report:
    """Problems in the order in which they were found, each one line that begins with `ERROR:` or `WARNING:`.

    Args:
        warnings: Whether to keep warnings; errors always are.
    """

    def __init__(self, warnings: bool = True) -> None:
        self._warnings = warnings
        self._lines: list[str] = []
        self._counted: dict[Hashable, tuple[str, str, int]] = {}

    def error(self, text: str) -> None:
        """Add what breaks the contract."""
        self._lines.append(f"ERROR: {text}")

    def warn(self, text: str) -> None:
        """Add what works, but is likely wrong; once, however often it is found."""
        line = f"WARNING: {text}"
        if self._warnings and line not in self._lines:
            self._lines.append(line)

    def count(self, kind: Hashable, text: str, unit: str = "steps") -> None:
        """Add a warning that many steps may show: the first of its kind is kept, and how often it was seen."""
        first, _, seen = self._counted.get(kind, (text, unit, 0))
        self._counted[kind] = first, unit, seen + 1

    def flush(self) -> None:
        """Put the counted warnings so far after the other lines."""
        for text, unit, seen in self._counted.values():
            self.warn(text if seen == 1 else f"{text} (seen at {seen} {unit}; first shown)")
        self._counted.clear()

    def lines(self) -> list[str]:
        """Return all lines."""
        self.flush()
        return list(self._lines)


def described(error: BaseException) -> str:
    """The class and text of an error."""
    return f"{type(error).__name__}: {error}"
