"""One palette of 256 colours for all frames of a GIF."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sekai._extras import import_extra

MOST_COLORS = 256
SAMPLED_FRAMES = 16
COARSE_BITS = 6  # per channel: how finely colours are told apart if there are too many


def palette_of(frames: Sequence[NDArray[np.uint8]]) -> tuple[NDArray[np.uint8], list[NDArray[np.uint8]]]:
    """A palette `(k, 3)` for frames `(H, W, 3)`, and every frame as indices `(H, W)` into it.

    At most 256 colours are all in the palette. Of more, median cut chooses 256 from some frames, and every pixel gets
    the nearest of them.
    """
    used = np.zeros(2**24, np.bool_)
    for frame in frames:
        used[codes_of(frame, 8)] = True
    codes = np.flatnonzero(used)
    if len(codes) <= MOST_COLORS:
        palette, bits = colors_of(codes, 8), 8
        nearest = np.arange(len(codes))
    else:
        palette, bits = median_cut(frames), COARSE_BITS
        codes = np.unique(codes_of(colors_of(codes, 8), bits))
        nearest = nearest_of(colors_of(codes, bits), palette)
    index = np.zeros(2 ** (3 * bits), np.uint8)
    index[codes] = nearest
    return palette, [index[codes_of(frame, bits)] for frame in frames]


def codes_of(colors: NDArray[np.uint8], bits: int) -> NDArray[np.int32]:
    """Colours `(…, 3)` as numbers `(…,)`, of the upper `bits` of each channel."""
    r, g, b = (colors[..., channel].astype(np.int32) >> (8 - bits) for channel in range(3))
    return (((r << bits) | g) << bits) | b


def colors_of(codes: NDArray[np.integer], bits: int) -> NDArray[np.uint8]:
    """The colours `(k, 3)` that numbers stand for; in the middle of those that share a number."""
    channels = np.stack([codes >> (2 * bits), codes >> bits, codes], axis=1) & (2**bits - 1)
    middle = (1 << (8 - bits)) // 2
    return np.asarray((channels << (8 - bits)) + middle, np.uint8)


def median_cut(frames: Sequence[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    """256 colours that some of the frames are made of, by Pillow's median cut."""
    image = import_extra("PIL.Image", "render")
    chosen = np.unique(np.linspace(0, len(frames) - 1, SAMPLED_FRAMES).astype(int))
    pixels = np.concatenate([frames[i].reshape(1, -1, 3) for i in chosen], axis=1)
    quantized = image.fromarray(pixels).quantize(MOST_COLORS, method=image.Quantize.MEDIANCUT)
    return np.array(quantized.getpalette(), np.uint8).reshape(-1, 3)


def nearest_of(colors: NDArray[np.uint8], palette: NDArray[np.uint8]) -> NDArray[np.intp]:
    """The index of the nearest colour of a palette, for each of some colours `(k, 3)`."""
    targets = palette.astype(np.float32)
    norms = (targets**2).sum(axis=1)
    blocks = np.array_split(colors.astype(np.float32), max(len(colors) // 4096, 1))
    return np.concatenate([(norms - 2 * block @ targets.T).argmin(axis=1) for block in blocks])
