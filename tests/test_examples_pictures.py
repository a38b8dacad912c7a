"""The pictures of the documentation can be drawn anew."""

import runpy
from pathlib import Path

from PIL import Image

EXAMPLE = Path(__file__).parents[1] / "examples" / "pictures.py"
IMAGES = Path(__file__).parents[1] / "docs" / "images"


def test_every_picture_is_drawn(tmp_path):
    runpy.run_path(str(EXAMPLE))["main"](tmp_path)
    kept = [path.name for path in IMAGES.iterdir()]
    assert len(kept) >= 8
    for name in kept:
        with Image.open(tmp_path / name) as new, Image.open(IMAGES / name) as old:
            assert new.size == old.size
            assert len(new.getcolors()) > 5
