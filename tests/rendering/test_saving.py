import subprocess
import sys

import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image

from sekai.rendering import save_gif, save_video, saving
from sekai.rendering.palette import nearest_of, palette_of
from sekai.rendering.saving import VIDEOS, delays

GOOD = np.zeros((4, 6, 3), np.uint8)


def read(path):
    """Frames of an animated image and their durations in ms."""
    with Image.open(path) as image:
        frames, durations = [], []
        for i in range(image.n_frames):
            image.seek(i)
            frames.append(np.array(image.convert("RGB")))
            durations.append(image.info.get("duration"))
    return frames, durations


def shades(count, shape=(15, 21, 3)):
    return [np.full(shape, 7 * i, np.uint8) for i in range(count)]


@pytest.mark.parametrize("write", [save_gif, save_video])
@pytest.mark.parametrize(
    ("frames", "fps", "error", "message"),
    [
        ([GOOD], 0, ValueError, "fps must be a positive number, got 0"),
        ([GOOD], -5, ValueError, "fps"),
        ([GOOD], float("nan"), ValueError, "fps"),
        ([GOOD], float("inf"), ValueError, "fps"),
        (GOOD, 10, ValueError, "got one image of shape"),
        (GOOD[..., 0], 10, ValueError, "one image"),
        (np.zeros((4, 4, 4), np.uint8), 10, ValueError, "one image"),
        ([], 10, ValueError, "empty"),
        ([GOOD, "x"], 10, TypeError, "frame 1 must be an image, got text"),
        ([None], 10, TypeError, "frame 0 must hold integers, got dtype object"),
        ([GOOD.astype(bool)], 10, TypeError, "bool"),
        (iter([GOOD]), 10, TypeError, "len"),
        ([GOOD[..., :2]], 10, ValueError, "frame 0 must have shape"),
        ([GOOD.astype(float)], 10, ValueError, "float64"),
        ([GOOD, np.full((4, 6, 3), 300)], 10, ValueError, "frame 1 must hold values from 0 to 255, got 300 to 300"),
        ([np.full((4, 6, 3), -1, np.int16)], 10, ValueError, "got -1 to -1"),
        ([GOOD, np.zeros((6, 4, 3), np.uint8)], 10, ValueError, "frame 1"),
        ([GOOD, np.zeros((4, 6, 4), np.uint8)], 10, ValueError, "frame 1"),
    ],
)
def test_bad_input_writes_nothing(tmp_path, write, frames, fps, error, message):
    with pytest.raises(error, match=message):
        write(frames, tmp_path / "run.gif", fps=fps)
    assert list(tmp_path.iterdir()) == []


def test_the_folder_must_exist(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        save_gif([GOOD], tmp_path / "nowhere" / "run.gif")


@pytest.mark.parametrize("name", ["run.jpg", "run", "run.txt"])
def test_videos_of_unknown_formats_are_refused(tmp_path, name):
    with pytest.raises(ValueError, match=r"\.avi, \.gif, \.mkv, \.mov, \.mp4, \.png, \.webm, \.webp"):
        save_video([GOOD], tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = save_gif(shades(3), tmp_path / "run.gif")
    before = path.read_bytes()

    def fail(self, path, *args, **options):
        path.write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(Image.Image, "save", fail)
    with pytest.raises(OSError, match="disk full"):
        save_gif(shades(4), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("write", "module", "suffix"), [(save_gif, "PIL", "gif"), (save_video, "imageio_ffmpeg", "mp4")]
)
def test_missing_libraries_are_named(tmp_path, monkeypatch, write, module, suffix):
    for name in [name for name in sys.modules if name.split(".")[0] == module]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r'pip install "sekai\[render\]"'):
        save_video([GOOD], tmp_path / f"run.{suffix}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", ["gif", "PNG", "webp"])
def test_animated_images_come_back_exactly(tmp_path, suffix):
    frames = shades(12)
    path = save_video(frames, str(tmp_path / f"run.{suffix}"), fps=24)
    assert path == tmp_path / f"run.{suffix}"
    found, durations = read(path)
    assert np.array_equal(found, frames)
    if suffix == "gif":
        assert durations == [40, 40, 40, 50, 40, 40, 40, 40, 50, 40, 40, 40]
    if suffix == "PNG":
        assert sum(durations) == 500


def test_grey_and_transparent_frames_and_other_integers(tmp_path):
    grey = [frame[..., 0].astype(np.int64) for frame in shades(5)]
    assert np.array_equal(read(save_gif(grey, tmp_path / "grey.gif"))[0], shades(5))
    assert np.array_equal(read(save_gif(np.stack(grey), tmp_path / "grey.gif"))[0], shades(5))
    opaque = [np.dstack([frame, np.full((15, 21), 255, np.uint8)]) for frame in shades(5)]
    assert np.array_equal(read(save_gif(opaque, tmp_path / "opaque.gif"))[0], shades(5))


def test_equal_frames_prolong_each_other(tmp_path):
    first, second = shades(2)
    found, durations = read(save_gif([first, first, second], tmp_path / "run.gif", fps=10))
    assert np.array_equal(found, [first, second])
    assert durations == [200, 100]


def test_delays():
    assert delays(3, 10) == [10, 10, 10]
    assert delays(6, 30) == [3, 4, 3, 3, 4, 3]
    assert sum(delays(600, 24)) == 2500
    assert delays(3, 60) == delays(3, 1000) == [2, 2, 2]
    assert delays(1, 1e-9) == [65535]


@pytest.mark.parametrize("suffix", VIDEOS)
def test_videos(tmp_path, suffix):
    path = save_video(shades(9), tmp_path / f"run{suffix}", fps=12)
    assert list(tmp_path.iterdir()) == [path]
    count, seconds = imageio_ffmpeg.count_frames_and_secs(path)
    assert count == 9
    assert seconds == pytest.approx(9 / 12, abs=0.011)  # it tells hundredths
    decode = [imageio_ffmpeg.get_ffmpeg_exe(), "-loglevel", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24"]
    pixels = subprocess.run([*decode, "-"], capture_output=True, check=True).stdout
    frames = np.frombuffer(pixels, np.uint8).reshape(9, 16, 22, 3)  # of 15 x 21
    assert np.allclose(frames.mean(axis=(1, 2, 3)), [7 * i for i in range(9)], atol=4)  # the codec is lossy


def test_what_ffmpeg_says_is_told(tmp_path, monkeypatch):
    monkeypatch.setitem(saving.CODECS, ".webm", ("-c:v", "no_such_codec"))
    with pytest.raises(OSError, match=r"ffmpeg could not write \.webm: .*no_such_codec"):
        save_video(shades(2), tmp_path / "run.webm")
    assert list(tmp_path.iterdir()) == []


def test_few_colours_are_all_in_the_palette():
    frames = np.random.default_rng(0).choice(np.array([0, 100, 255], np.uint8), (3, 8, 9, 3))
    palette, indices = palette_of(frames)
    assert len(palette) == 27
    assert np.array_equal([palette[index] for index in indices], frames)


def test_of_many_colours_the_nearest_are_taken():
    ramp = np.arange(32, dtype=np.uint8) * 8
    frame = np.stack(np.meshgrid(ramp, ramp), axis=2)[..., [0, 1, 1]]
    palette, (index,) = palette_of([frame])
    assert len(palette) <= 256
    assert np.abs(palette[index].astype(int) - frame).mean() < 6
    some = frame[::7, ::5].reshape(-1, 3)
    distances = ((some[:, None].astype(int) - palette.astype(int)) ** 2).sum(axis=2)
    assert nearest_of(some, palette).tolist() == distances.argmin(axis=1).tolist()
