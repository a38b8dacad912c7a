"""MaskedBox: slots, fill values, packing, membership and batches."""

import numpy as np
import pytest

from sekai.spaces import Dict, MaskedBox


@pytest.mark.parametrize(
    ("kwargs", "error", "words"),
    [
        ({"max_size": 0}, ValueError, "max_size must be"),
        ({"max_size": 2.0}, TypeError, "max_size must be"),
        ({"max_size": 2, "fill_value": 2.0}, ValueError, "fill_value must lie"),
        ({"max_size": 2, "fill_value": np.nan}, ValueError, "fill_value must lie"),
        ({"max_size": 2, "fill_value": "a"}, TypeError, "fill_value must be"),
        ({"max_size": 2, "fill_value": 0.5, "dtype": np.int8}, ValueError, "fill_value must lie"),
        ({"max_size": 2, "fill_value": [0, 0, 0]}, ValueError, "broadcast"),
    ],
)
def test_bad_arguments_are_named(kwargs, error, words):
    with pytest.raises(error, match=words):
        MaskedBox(0, 1, (2,), **kwargs)


def test_the_fill_value_is_copied():
    fill = np.array([0.5, 0.25], np.float32)
    space = MaskedBox(0, 1, (2,), max_size=2, fill_value=fill)
    fill[0] = 7
    assert space.fill_value.tolist() == [0.5, 0.25]


def test_seeded_samples():
    x = MaskedBox(0, 1, (2,), max_size=3, seed=0).sample()
    assert x["mask"].tolist() == [0, 1, 1]
    assert x["values"].tolist() == [
        [0, 0],
        [np.float32(0.68991315), np.float32(0.5024684)],
        [np.float32(0.5492921), np.float32(0.13869815)],
    ]


def test_a_mask_says_which_slots_are_occupied():
    space = MaskedBox(1, 2, (2,), max_size=2, seed=0)
    x = space.sample([2, 0])
    assert x["mask"].tolist() == [1, 0]
    assert x["mask"].dtype == np.int8
    assert space.contains(x)
    batch = space.sample_batch(2, [[True, False], [False, False]])
    assert batch["mask"].tolist() == [[1, 0], [0, 0]]
    assert space.sample_batch(3, [0, 1])["mask"].tolist() == [[0, 1]] * 3
    with pytest.raises(ValueError, match="mask"):
        space.sample([1])
    with pytest.raises(ValueError, match="mask"):
        space.sample_batch(3, np.ones((2, 2)))


def test_pack_and_unpack_are_inverse():
    space = MaskedBox(0, 9, (2,), max_size=4, fill_value=1)
    x = space.pack([[1, 2], [3, 4]], slots=[3, 0])
    assert x["mask"].tolist() == [1, 0, 0, 1]
    assert x["values"].tolist() == [[3, 4], [1, 1], [1, 1], [1, 2]]
    values, slots = space.unpack(x)
    assert (values.tolist(), slots.tolist()) == ([[3, 4], [1, 2]], [0, 3])
    assert space.pack([1, 2, 3, 4])["mask"].tolist() == [1, 1, 0, 0]
    assert space.pack([])["mask"].tolist() == space.empty()["mask"].tolist() == [0, 0, 0, 0]
    assert space.pack([1, 2], slots=2)["mask"].tolist() == [0, 0, 1, 0]


@pytest.mark.parametrize(
    ("values", "slots", "error", "words"),
    [
        ([1, 2, 3], None, ValueError, "reshape"),
        (np.zeros((5, 2)), None, ValueError, "below max_size=4"),
        ([[1, 2]], [4], ValueError, "below max_size=4"),
        ([[1, 2]], [-1], ValueError, "below max_size=4"),
        ([[1, 2], [3, 4]], [1, 1], ValueError, "must not repeat"),
        ([[1, 2]], [0, 1], ValueError, "one slot for each of 1 rows"),
        ([[1, 2]], [0.5], TypeError, "slots must be integers"),
    ],
)
def test_bad_packing_is_refused(values, slots, error, words):
    with pytest.raises(error, match=words):
        MaskedBox(0, 9, (2,), max_size=4).pack(values, slots)


@pytest.mark.parametrize(
    ("x", "inside"),
    [
        ({"values": np.zeros((2, 1), np.float32), "mask": np.array([1, 0], np.int8)}, True),
        ({"values": np.zeros((2, 1)), "mask": [True, False]}, True),
        ({"values": [[0.5], [0]], "mask": [1, 0]}, True),
        ({"values": [[0], [0.5]], "mask": [1, 0]}, False),
        ({"values": [[2], [0]], "mask": [1, 0]}, False),
        ({"values": [[0.5], [0]], "mask": [2, 0]}, False),
        ({"values": [[0], [0], [0]], "mask": [1, 0]}, False),
        ({"values": [["a"], ["b"]], "mask": [1, 0]}, False),
        ({"values": np.zeros((2, 1))}, False),
        ({"values": np.zeros((2, 1)), "mask": [0, 0], "more": 1}, False),
        (None, False),
    ],
)
def test_membership(x, inside):
    assert MaskedBox(0, 1, (1,), max_size=2).contains(x) is inside


def test_lists_of_ints_fit_narrow_dtypes_as_they_fit_a_box():
    space = MaskedBox(0, 200, (), max_size=2, dtype=np.uint8)
    assert space.contains({"values": [200, 0], "mask": [1, 0]})
    assert not space.contains({"values": [201, 0], "mask": [1, 0]})


def test_batch_membership():
    space = MaskedBox(1, 2, (1,), max_size=2)
    batch = space.sample_batch(4, [1, 0])
    batch["values"][1, 1] = 2.0  # an empty slot
    batch["values"][2, 0] = 3.0
    batch["mask"][3, 1] = 2
    assert space.contains_batch(batch).tolist() == [True, False, False, False]
    assert not space.contains_batch({**batch, "values": batch["values"].astype(complex)}).any()
    with pytest.raises(ValueError, match="different numbers"):
        space.contains_batch({**batch, "mask": batch["mask"][:2]})


def test_the_parts_are_fixed():
    space = MaskedBox(0, 1, (1,), max_size=2)
    with pytest.raises(TypeError, match="fixed"):
        space["values"] = space["mask"]


def test_slots_without_entries():
    space = MaskedBox(0, 1, (0,), max_size=2, seed=0)
    x = space.sample([1, 0])
    assert x["values"].shape == (2, 0)
    assert space.contains(x)
    assert space.contains_batch(space.sample_batch(3)).all()
    assert space.pack(np.zeros((1, 0)))["mask"].tolist() == [1, 0]


def test_equality_and_repr():
    space = MaskedBox(1, 2, (2,), max_size=3)
    assert repr(space) == "MaskedBox(1.0, 2.0, (2,), max_size=3, float32, fill_value=1.0)"
    assert space == MaskedBox(1, 2, (2,), max_size=3, fill_value=1, seed=4)
    assert space != MaskedBox(1, 2, (2,), max_size=3, fill_value=2)
    assert space != MaskedBox(1, 2, (2,), max_size=2)
    plain = Dict(values=space["values"], mask=space["mask"])
    assert space != plain
    assert plain != space
