"""Files that the command writes: checked before there is anything to write, and written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from sekai.rollouts.recording import ARRAYS
from sekai.rollouts.result import Rollout

PICTURES = (".png", ".pdf", ".svg")


def check_file(option: str, name: str, endings: tuple[str, ...]) -> Path:
    """The path of a file that can be written.

    Args:
        option: The option that names it.
        name: Its name.
        endings: What it may end in.

    Raises:
        ValueError: It ends in something else, is a folder, or its folder does not exist or cannot be written to.
    """
    path = Path(name)
    if path.suffix not in endings:
        raise ValueError(f"{option} must name a file that ends in {' or '.join(endings)}, got {name!r}")
    if path.is_dir():
        raise ValueError(f"{option}: {name!r} is a folder")
    if not path.parent.is_dir():
        raise ValueError(f"{option}: the folder {str(path.parent)!r} does not exist")
    if not os.access(path.parent, os.W_OK):
        raise ValueError(f"{option}: the folder {str(path.parent)!r} cannot be written to")
    return path


def write_whole(path: Path, write: Callable[[BinaryIO], Any]) -> None:
    """Write a file that appears under its name when all of it is there."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(part, "wb") as file:
            write(file)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def save_rollout(path: Path, rollout: Rollout) -> None:
    """Write all that was recorded into a file for `numpy.load`, under the names it has in the rollout."""
    assert rollout.episodes is not None
    names = (*ARRAYS, "last_observations", "valid")
    contents = {**{name: getattr(rollout, name) for name in names}, "episodes": rollout.episodes._asdict()}
    arrays = dict(part for name, nest in contents.items() for part in named_arrays(name, nest))
    write_whole(path, lambda file: np.savez(file, **arrays))


def named_arrays(name: str, nest: Any) -> Iterator[tuple[str, Any]]:
    """The arrays of a nest, each with the names on the way to it, joined by dots."""
    if isinstance(nest, dict):
        for key, part in nest.items():
            yield from named_arrays(f"{name}.{key}", part)
    elif isinstance(nest, (tuple, list)):
        for k, part in enumerate(nest):
            yield from named_arrays(f"{name}.{k}", part)
    else:
        yield name, nest


def save_plot(path: Path, rollout: Rollout) -> None:
    """Write a picture of a rollout, of the format that the file's name ends in."""
    from sekai.rendering import plot_rollout

    figure = plot_rollout(rollout)
    write_whole(path, lambda file: figure.savefig(file, format=path.suffix[1:]))
