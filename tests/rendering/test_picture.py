import gc
import sys
import weakref

import numpy as np
import pytest

from sekai.rendering import Bars, Picture, TimeSeries
from tests.rendering.texts import texts_are_in_their_place


@pytest.mark.parametrize("size", [(160, 120), (333, 217), (600, 400), (601, 401), (719, 449), (1999, 1001)])
def test_frames_have_the_size_asked_for(size):
    picture = Picture(*size)
    frames = [picture.frame(), picture.frame()]
    for frame in frames:
        assert frame.shape == (size[1], size[0], 3)
        assert frame.dtype == np.uint8
        assert frame.flags.c_contiguous
        assert frame.flags.writeable
        assert frame.flags.owndata
    assert not np.shares_memory(*frames)
    assert np.array_equal(*frames)


@pytest.mark.parametrize(
    ("size", "error"),
    [((159, 200), ValueError), ((200, 119), ValueError), ((0, 200), ValueError), ((1.5, 200), TypeError)],
)
def test_bad_sizes(size, error):
    with pytest.raises(error):
        Picture(*size)


def test_heights_must_fit():
    with pytest.raises(ValueError, match=r"heights must be 2 positive numbers, one per row, got \[1\]"):
        Picture().place(TimeSeries(), TimeSeries(), heights=[1])
    with pytest.raises(ValueError, match="heights"):
        Picture().place(TimeSeries(), heights=[-1])


def test_rows_share_the_height_and_the_axis_of_time():
    upper, lower, beside = TimeSeries("a"), TimeSeries("b"), Bars("c")
    picture = Picture(640, 480)
    picture.place(upper, lower, [beside, TimeSeries("d")], heights=[2, 1, 1])
    boxes = [chart.axes.get_position() for chart in (upper, lower, beside)]
    assert boxes[0].height == pytest.approx(2 * boxes[1].height)
    assert boxes[0].y0 > boxes[1].y1
    assert boxes[2].width < boxes[1].width / 2
    assert upper.axes.get_xlabel() == ""
    assert lower.axes.get_xlabel() == "step"


def test_what_changed_is_drawn_as_if_all_were_drawn_anew():
    top, left, right = TimeSeries("a", unit="m"), TimeSeries("b"), Bars("c", labels=["x", "y"])
    picture = Picture(500, 400)
    picture.place(top, [left, right])
    rng = np.random.default_rng(0)
    for n in range(1, 12):
        top.set_data(np.arange(n), 10.0**n * rng.normal(size=n))
        left.set_data(np.arange(n), np.ones(n))
        right.set_data(rng.normal(size=2) * n)
        if n == 6:
            picture.title.set_text("a title")
        frame = picture.frame()
        picture._still = None
        assert np.array_equal(frame, picture.frame())


def test_files_show_what_frames_show():
    chart = TimeSeries("a")
    picture = Picture(300, 200)
    picture.place(chart)
    chart.set_data([0, 1, 2], [3.0, 1.0, 2.0])
    picture.title.set_text("title")
    picture.note.set_text("note")
    from io import BytesIO

    from PIL import Image

    with Image.open(BytesIO(picture._repr_png_())) as image:
        assert np.array_equal(np.array(image.convert("RGB")), picture.frame())
    texts_are_in_their_place(picture)


def test_nothing_is_left_behind():
    pictures = []
    for _ in range(20):
        picture = Picture(200, 150)
        picture.place(TimeSeries("a"))
        picture.frame()
        pictures.append(weakref.ref(picture))
    del picture
    gc.collect()
    assert [reference for reference in pictures if reference() is not None] == []
    assert "matplotlib.pyplot" not in sys.modules
