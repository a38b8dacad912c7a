"""Frames as files: everything is checked before anything is written, and a file is there whole or not at all."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import PIPE, Popen
from tempfile import TemporaryFile
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from sekai._extras import import_extra
from sekai.rendering.palette import palette_of

IMAGES = (".gif", ".png", ".webp")  # animated, by Pillow
VIDEOS = (".avi", ".mkv", ".mov", ".mp4", ".webm")  # by ffmpeg, which imageio-ffmpeg brings
H264 = ("-c:v", "libx264", "-crf", "20")
CODECS = {
    ".avi": (*H264, "-bf", "0"),  # it does not tell the order of frames that are stored in another one
    ".webm": ("-c:v", "libvpx-vp9", "-crf", "30", "-b:v", "0"),
}
LEAST_DELAY, MOST_DELAY = 2, 65535  # hundredths of a second; viewers play shorter delays slowly


def save_gif(frames: Any, path: str | Path, fps: float = 30) -> Path:
    """Write frames as a GIF that plays in an endless loop.

    Delays are hundredths of a second, rounded such that the errors do not add up, and two at least: above 50 frames a
    second it plays slower. Frames that equal the one before them prolong it. Frames of 256 colours or fewer in all are
    reproduced exactly, others with the 256 colours that fit best.

    Args:
        frames: A sequence of arrays `(H, W, 3)`, `(H, W, 4)` or `(H, W)` of integers from 0 to 255, or one array of
            them all.
        path: Where to write; its folder must exist.
        fps: Frames a second.

    Returns:
        The path.

    Raises:
        ValueError: No frames, frames of different shapes or with other values, or `fps` is not a positive number.
        TypeError: A frame is no image.
        FileNotFoundError: The folder does not exist.
        ImportError: Pillow is missing.
    """
    return save(frames, Path(path), fps, write_gif)


def save_video(frames: Any, path: str | Path, fps: float = 30) -> Path:
    """Write frames as a video: `.mp4`, `.webm`, `.mkv`, `.mov` or `.avi`, or as an animated `.png`, `.webp` or `.gif`.

    Videos with an odd width or height repeat the last column or row. Arguments and errors are those of `save_gif`.

    Raises:
        ValueError: The suffix of `path` is none of these, too.
        ImportError: Pillow or, for videos, imageio-ffmpeg is missing.
        OSError: ffmpeg failed.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix in VIDEOS:
        return save(frames, path, fps, write_video)
    return save(frames, path, fps, {".gif": write_gif, ".png": write_image, ".webp": write_image}.get(suffix))


def save(frames: Any, path: Path, fps: float, write: Callable[..., None] | None) -> Path:
    """Check everything, then let `write(frames, path, fps)` write a file and put that in its place."""
    if not 0 < fps < math.inf:
        raise ValueError(f"fps must be a positive number, got {fps!r}")
    checked = check_frames(frames)
    if write is None:
        raise ValueError(f"path must end in one of {', '.join(sorted(IMAGES + VIDEOS))}, got {str(path)!r}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the folder {str(path.parent)!r} does not exist")
    with replacing(path) as draft:
        write(checked, draft, fps)
    return path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path for a draft, which takes the place of `path` if the block succeeds, and goes away if it does not."""
    draft = path.with_name(f".{uuid4().hex}{path.suffix}")
    try:
        yield draft
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def check_frames(frames: Any) -> list[NDArray[np.uint8]]:
    """Return frames as uint8 arrays of one shape.

    Raises:
        ValueError: There are none, their shapes differ, or a frame has no shape or no values of an image.
        TypeError: A frame is text or holds no numbers.
    """
    if isinstance(frames, np.ndarray) and is_image(frames):
        raise ValueError(f"frames must be a sequence of images, got one image of shape {frames.shape}")
    if not len(frames):
        raise ValueError("frames must not be empty: there is nothing to write")
    checked = [check_frame(i, frame) for i, frame in enumerate(frames)]
    for i, frame in enumerate(checked):
        if frame.shape != checked[0].shape:
            raise ValueError(f"frames must have one shape, got {checked[0].shape} and, in frame {i}, {frame.shape}")
    return checked


def is_image(array: NDArray[Any]) -> bool:
    """Whether an array has the shape of one image, grey or in colour."""
    return array.ndim == 2 or (array.ndim == 3 and array.shape[2] in (3, 4))


def check_frame(i: int, frame: Any) -> NDArray[np.uint8]:
    """Return frame i as a uint8 array."""
    if isinstance(frame, str):
        raise TypeError(f"frame {i} must be an image, got text")
    array = np.asarray(frame)
    if array.dtype.kind not in "iufc":
        raise TypeError(f"frame {i} must hold integers, got dtype {array.dtype}")
    if not is_image(array):
        raise ValueError(f"frame {i} must have shape (H, W), (H, W, 3) or (H, W, 4), got {array.shape}")
    if array.dtype.kind not in "iu":
        raise ValueError(f"frame {i} must hold integers, got dtype {array.dtype}")
    if array.dtype != np.uint8 and array.size and (array.min() < 0 or array.max() > 255):
        raise ValueError(f"frame {i} must hold values from 0 to 255, got {array.min()} to {array.max()}")
    return array.astype(np.uint8, copy=False)


def delays(count: int, fps: float) -> list[int]:
    """Delays of `count` frames in hundredths of a second, with rounding errors that do not add up."""
    hundredths: list[int] = np.clip(durations(count, fps, 100), LEAST_DELAY, MOST_DELAY).tolist()
    return hundredths


def durations(count: int, fps: float, units: int) -> NDArray[np.int64]:
    """How long `count` frames last, in whole `units` of a second, with rounding errors that do not add up."""
    ends = np.round(units / fps * np.arange(1, count + 1))
    return np.diff(ends, prepend=0.0).astype(np.int64)


def write_gif(frames: list[NDArray[np.uint8]], path: Path, fps: float) -> None:
    """Write checked frames as a GIF, those in colour with one palette."""
    image = import_extra("PIL.Image", "render")
    if frames[0].ndim == 3 and frames[0].shape[2] == 3:
        palette, indices = palette_of(frames)
        images = [image.fromarray(index) for index in indices]
        for indexed in images:
            indexed.putpalette(palette.tobytes())
    else:
        images = [image.fromarray(frame) for frame in frames]
    milliseconds = [10 * delay for delay in delays(len(frames), fps)]
    images[0].save(path, "GIF", save_all=True, append_images=images[1:], duration=milliseconds, loop=0, optimize=False)


def write_image(frames: list[NDArray[np.uint8]], path: Path, fps: float) -> None:
    """Write checked frames as an animated PNG or WebP, without loss."""
    image = import_extra("PIL.Image", "render")
    images = [image.fromarray(frame) for frame in frames]
    options: dict[str, Any] = {"lossless": True} if path.suffix.lower() == ".webp" else {}
    if len(images) > 1:
        options.update(
            save_all=True, append_images=images[1:], duration=durations(len(frames), fps, 1000).tolist(), loop=0
        )
    images[0].save(path, **options)


def write_video(frames: list[NDArray[np.uint8]], path: Path, fps: float) -> None:
    """Write checked frames as a video of even width and height, by ffmpeg.

    Raises:
        OSError: ffmpeg failed; the message is its own.
    """
    ffmpeg = import_extra("imageio_ffmpeg", "render").get_ffmpeg_exe()
    height, width = even_rgb(frames[0]).shape[:2]
    source = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", str(fps), "-i", "-"]
    target = [*CODECS.get(path.suffix.lower(), H264), "-pix_fmt", "yuv420p", "-r", str(fps), str(path)]
    command = [ffmpeg, "-loglevel", "error", "-y", *source, *target]
    with TemporaryFile() as log, Popen(command, stdin=PIPE, stdout=log, stderr=log) as process:
        assert process.stdin is not None
        with suppress(BrokenPipeError):  # it has given up, and tells why
            for frame in frames:
                process.stdin.write(even_rgb(frame).tobytes())
            process.stdin.close()
        if process.wait():
            log.seek(0)
            raise OSError(f"ffmpeg could not write {path.suffix}: {log.read().decode(errors='replace').strip()}")


def even_rgb(frame: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A frame in red, green and blue, with its last row and column repeated where their number is odd."""
    frame = np.stack([frame] * 3, axis=2) if frame.ndim == 2 else frame[..., :3]
    height, width = frame.shape[:2]
    return np.pad(frame, ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")
