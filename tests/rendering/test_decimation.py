import numpy as np

from sekai.rendering.decimation import thin_lines


def test_short_lines_stay():
    x, y = np.arange(10.0), np.arange(10.0) ** 2
    assert [part.tolist() for part in thin_lines(x, y, 5)] == [x.tolist(), y.tolist()]


def test_long_lines_keep_ends_and_extremes_of_every_pixel():
    x = np.arange(10_000.0)
    y = np.random.default_rng(0).normal(size=10_000)
    y[5000:5100] = np.nan
    thin_x, thin_y = thin_lines(x, y, 100)
    assert len(thin_x) <= 4 * 100
    assert np.array_equal(thin_y, y[thin_x.astype(int)], equal_nan=True)
    for pixel in range(100):
        here = (thin_x >= 100 * pixel) & (thin_x < 100 * (pixel + 1))
        block = y[100 * pixel : 100 * (pixel + 1)]
        assert thin_x[here][0] == 100 * pixel
        assert thin_x[here][-1] == 100 * pixel + 99
        if pixel == 50:
            assert np.isnan(thin_y[here]).all()
        else:
            assert thin_y[here].min() == block.min()
            assert thin_y[here].max() == block.max()
