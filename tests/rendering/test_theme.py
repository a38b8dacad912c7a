from dataclasses import replace

import pytest
from matplotlib.colors import to_rgb

from sekai.rendering import DARK, LIGHT, get_theme


def luminance(color):
    channels = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in to_rgb(color)]
    return 0.2126 * channels[0] + 0.7152 * channels[1] + 0.0722 * channels[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_themes_by_name():
    assert get_theme("light") is LIGHT
    assert get_theme("dark") is DARK
    own = replace(LIGHT, name="own", accent="#123456")
    assert get_theme(own) is own
    with pytest.raises(ValueError, match="theme must be a Theme or one of 'light', 'dark', got 'blue'"):
        get_theme("blue")


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_text_can_be_read_and_series_can_be_told_apart(theme):
    assert contrast(theme.text, theme.background) > 12
    assert contrast(theme.muted, theme.background) > 4.5
    assert len(set(theme.series)) == len(theme.series) == 8
    assert all(contrast(color, theme.background) > 2 for color in theme.series)


def test_light_is_dark_on_light_and_dark_the_reverse():
    assert luminance(LIGHT.background) > luminance(LIGHT.text)
    assert luminance(DARK.background) < luminance(DARK.text)


def test_colours():
    assert LIGHT.color(0) == LIGHT.series[0]
    assert LIGHT.color(8) == LIGHT.color(-1) == LIGHT.neutral
    assert LIGHT.color("accent") == LIGHT.accent
    assert LIGHT.color("#010203") == "#010203"
    assert LIGHT.color("name") == "name"
