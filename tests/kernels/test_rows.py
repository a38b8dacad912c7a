"""Named rows of packed arrays, in Python and compiled."""

import numba
import numpy as np
import pytest

from sekai.kernels import kernel, rows

FIELDS = {"height": float, "count": int, "open": bool}


@pytest.fixture
def words():
    """Rows of five lanes: one before the fields, theirs, and one after."""
    words = np.arange(25.0).reshape(5, 5)
    words[2:4] = np.array([[10, -11, 12, 13, 2**62], [1, 0, 1, 0, 1]]).view(np.float64)
    return words


def test_row_views_are_views_of_a_block_of_lanes(words):
    views = rows.row_views("owner", "Things", FIELDS, first=1)
    things = views(words, 1, 4)
    assert type(things).__name__ == "Things"
    assert things._fields == tuple(FIELDS)
    assert [(row.dtype, row.tolist()) for row in things] == [
        (np.float64, [6.0, 7.0, 8.0]),
        (np.int64, [-11, 12, 13]),
        (np.int64, [0, 1, 0]),
    ]
    things.height[0], things.count[1] = 0.5, 7
    assert words[1, 1] == 0.5
    assert words[2].view(np.int64).tolist() == [10, -11, 7, 13, 2**62]


def test_fields_may_be_missing():
    assert rows.row_views("owner", "Nothing", {})(np.empty((0, 3)), 0, 3) == ()


def test_params_are_scalars_or_rows(words):
    views = rows.param_views("owner", FIELDS)

    @kernel
    def read(words, lo, hi):
        p = views(words, lo, hi)
        return p.height, p.count, p.open

    height, count, is_open = read(words[1:4, 0].copy(), 0, 5)
    assert (height, count, is_open) == (5.0, 10, 1)
    assert (type(height), type(count)) in ((float, int), (np.float64, np.int64))  # the latter without the compiler
    height, count, is_open = read(words[1:4].copy(), 1, 3)
    assert (height.tolist(), count.tolist(), is_open.tolist()) == ([6.0, 7.0], [-11, 12], [0, 1])
    assert views(words[1:4, 4].copy(), 0, 5).count == 2**62


def test_random_words_are_rows_or_an_array():
    words = np.arange(24, dtype=np.uint64).reshape(8, 3).view(np.float64)
    as_rows = rows.rng_rows("owner", 1, 6)(words, 1, 3)
    as_array = rows.rng_array("owner", 1, 6)(words, 1, 3)
    assert [row.dtype for row in (*as_rows, as_array)] == [np.uint64] * 7
    assert [row.tolist() for row in as_rows] == as_array.tolist() == [[3 * k + 1, 3 * k + 2] for k in range(1, 7)]
    as_array[0, 0] = 2**64 - 1
    assert words.view(np.uint64)[1, 1] == 2**64 - 1


@kernel
def as_words(words, lo):
    return rows.as_type(words[:, lo:], np.uint64)


def test_as_type_keeps_bits_and_strides(words):
    seen = as_words(words, 2)
    assert seen.tolist() == words[:, 2:].view(np.uint64).tolist()
    seen[1, 0] = 3
    assert words.view(np.uint64)[1, 2] == 3


@kernel
def double(array):
    borrowed = rows.borrow(array)
    for i in range(borrowed.shape[0]):
        borrowed[i] *= 2.0


def test_a_borrowed_array_is_the_array():
    array = np.arange(6.0).reshape(3, 2)
    double(array)
    assert array.tolist() == [[0.0, 2.0], [4.0, 6.0], [8.0, 10.0]]


@pytest.mark.parametrize("shape", [(), (2,), (2, 3), None])
def test_observations_are_borrowed_with_the_lengths_of_their_space(shape):
    borrow_observations = rows.borrower("owner", shape)

    @kernel
    def fill(observations):
        borrowed = borrow_observations(observations)
        for i in range(borrowed.shape[0]):
            borrowed[i] = i + 1.0
        return borrowed.shape, borrowed.strides

    array = np.zeros((4, *(shape or ())), np.float32)
    assert fill(array) == (array.shape, array.strides)
    assert (array == np.arange(1, 5).reshape(4, *(1,) * len(shape or ()))).all()


# ---- what the compiler gets in place of plain functions ------------------------------------------


def test_the_compiler_gets_a_call_for_each_leaf_of_a_tuple():
    arrays = np.arange(4.0), np.arange(8).reshape(4, 2)
    by_leaf = rows.by_leaf(rows.lanes, numba.typeof(arrays), numba.int64, numba.int64)
    assert [part.tolist() for part in by_leaf(arrays, 1, 3)] == [[1.0, 2.0], [[2, 3], [4, 5]]]
    with_more = rows.by_leaf(rows.borrow, numba.typeof(arrays))
    assert with_more(arrays)[1] is arrays[1]


@pytest.mark.parametrize("shape", [(), (2,), (2, 3), (2, 3, 2)])
def test_the_compiler_gets_a_copy_of_a_row_for_each_number_of_axes(shape):
    source = np.random.default_rng(0).random((5, *shape))
    to = np.zeros((3, *shape))
    kind = numba.typeof(source)
    rows._compile_copy_row(kind, numba.int64, kind, numba.int64)(to, 1, source, 4)
    assert to[1].tolist() == source[4].tolist()
    assert not to[[0, 2]].any()


def test_the_compiler_gets_parts_of_an_array_and_of_tuples():
    array = np.arange(4.0)
    one, many = numba.typeof(array), numba.typeof((array, array))
    assert rows._compile_lanes(one, numba.int64, numba.int64)(array, 1, 3).tolist() == [1.0, 2.0]
    first, second = rows._compile_lanes(many, numba.int64, numba.int64)((array, -array), 1, 3)
    assert (first.tolist(), second.tolist()) == ([1.0, 2.0], [-1.0, -2.0])
    assert rows._compile_num_rows(one)(array) == rows._compile_num_rows(many)((array, array)) == 4
    targets = np.zeros(2), np.zeros((2, 2))
    sources = np.arange(3.0), np.arange(6.0).reshape(3, 2)
    copy = rows._compile_copy_row(numba.typeof(targets), numba.int64, numba.typeof(sources), numba.int64)
    rows.copy_row(targets, 1, sources, 2)
    assert [target.tolist() for target in targets] == [[0.0, 2.0], [[0.0, 0.0], [4.0, 5.0]]]
    copy(targets, 0, sources, 1)
    assert [target.tolist() for target in targets] == [[1.0, 2.0], [[2.0, 3.0], [4.0, 5.0]]]
