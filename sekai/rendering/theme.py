"""Colours of pictures. All palettes can be told apart by colour-blind people (after Okabe and Ito)."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Theme:
    """Which colour stands for what; every colour is a string like "#0072b2".

    Attributes:
        name: What `get_theme` knows it by.
        background: Surface of the picture.
        grid: Lines of the grid, and what is only just to be seen.
        axis: Axes and outlines.
        text: Titles and values.
        muted: Labels of axes.
        accent: The agent's own doing.
        neutral: Benchmarks and references.
        up: Long, bought, bid, gained.
        down: Short, sold, ask, lost.
        highlight: What must be seen first.
        series: Colours of several series, in order.
    """

    name: str
    background: str
    grid: str
    axis: str
    text: str
    muted: str
    accent: str
    neutral: str
    up: str
    down: str
    highlight: str
    series: tuple[str, ...]

    def color(self, color: int | str) -> str:
        """What a colour is in this theme: a role such as `"accent"`, the index of a series, or a colour as it is.

        A series beyond the palette is `neutral`, so that no colour comes twice.
        """
        if isinstance(color, str):
            return str(getattr(self, color)) if color in ROLES else color
        return self.series[color] if 0 <= color < len(self.series) else self.neutral


ROLES = {field.name for field in fields(Theme)} - {"name", "series"}

LIGHT = Theme(
    name="light",
    background="#ffffff",
    grid="#e6e8eb",
    axis="#9aa1a9",
    text="#1d2126",
    muted="#5b636c",
    accent="#0072b2",
    neutral="#868e96",
    up="#0072b2",
    down="#d55e00",
    highlight="#e69f00",
    series=("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5195", "#b8a800"),
)

DARK = Theme(
    name="dark",
    background="#14171a",
    grid="#2a2f35",
    axis="#6b737c",
    text="#eceff2",
    muted="#a3abb4",
    accent="#56b4e9",
    neutral="#7f8790",
    up="#56b4e9",
    down="#f0833a",
    highlight="#f0c541",
    series=("#56b4e9", "#f0833a", "#2fc196", "#e39ac4", "#f0c541", "#3d8fd1", "#a98bd0", "#cfc36a"),
)

THEMES = {theme.name: theme for theme in (LIGHT, DARK)}


def get_theme(theme: str | Theme) -> Theme:
    """The theme of a name; a `Theme` is returned itself.

    Raises:
        ValueError: No theme has this name.
    """
    if isinstance(theme, Theme):
        return theme
    if theme not in THEMES:
        raise ValueError(f"theme must be a Theme or one of {', '.join(map(repr, THEMES))}, got {theme!r}")
    return THEMES[theme]
