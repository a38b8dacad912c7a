"""Arrays as the kernels take them."""

import numpy as np
import pytest

from sekai.utils.flat import flat


def test_what_fits_is_not_copied():
    for dtype in (np.float32, np.float64):
        x = np.arange(6, dtype=dtype)
        assert flat(x) is x
        assert np.shares_memory(flat(x.reshape(2, 3)), x)


@pytest.mark.parametrize(
    "x", [np.arange(12.0).reshape(3, 4)[:, ::2], np.arange(6.0)[::-1], np.float32(2), [[1, 2], [3, 4]], 5]
)
def test_everything_else_becomes_a_plain_row(x):
    row = flat(x)
    assert row.tolist() == np.asarray(x).ravel().tolist()
    assert row.flags.carray
    assert row.ndim == 1


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [("f2", "f4"), ("u1", "f4"), ("i2", "f4"), ("?", "f4"), ("i4", "f8"), ("u8", "f8"), (">f4", "f8"), (">f8", "f8")],
)
def test_numbers_keep_their_values(dtype, expected):
    row = flat(np.array([0, 1], dtype))
    assert row.dtype == expected
    assert row.dtype.isnative
    assert row.tolist() == [0.0, 1.0]


def test_read_only_arrays_are_copied():
    x = np.zeros(3)
    x.flags.writeable = False
    assert not np.shares_memory(flat(x), x)


@pytest.mark.parametrize("x", ["a", None, np.array([1j]), np.array(["2020-01-01"], "M8[D]")])
def test_what_is_no_real_number_is_refused(x):
    with pytest.raises(TypeError, match="real numbers"):
        flat(x)
