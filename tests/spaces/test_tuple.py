"""Tuple: a sequence of sub-spaces; seeds, samples, membership and batches."""

import numpy as np
import pytest

from sekai.spaces import Box, Discrete, MultiBinary, Sequence, Tuple


def pair(**kwargs):
    return Tuple([Discrete(1000), Discrete(1000)], **kwargs)


@pytest.mark.parametrize("spaces", [[3], [Discrete(2), None], [Discrete], 3])
def test_other_arguments_are_refused(spaces):
    with pytest.raises(TypeError):
        Tuple(spaces)


def test_it_is_a_sequence_of_spaces():
    space = Tuple(iter([Discrete(2), Discrete(3)]))
    assert isinstance(space.spaces, tuple)
    assert (space[0], space[-1], space[:1]) == (Discrete(2), Discrete(3), (Discrete(2),))
    assert list(space) == [Discrete(2), Discrete(3)]
    assert len(space) == 2
    with pytest.raises(IndexError):
        space[5]
    assert repr(space) == "Tuple(Discrete(2), Discrete(3))"
    assert repr(Tuple([])) == "Tuple()"


def test_seeds():
    assert [int(x) for x in pair(seed=7).sample()] == [679, 734]
    assert [int(x) for x in pair(seed=[7, 8]).sample()] == [944, 719]
    space, twin = pair(seed=1), pair(seed=1)
    assert space.seed((None,)) == -1
    assert space.sample() == twin.sample()
    with pytest.raises(ValueError, match="3 seeds"):
        space.seed([1, 2, 3])
    assert space.sample() == twin.sample()


def test_masks():
    space = Tuple([Discrete(3), MultiBinary(2)], seed=0)
    x = space.sample(([0, 1, 0], None))
    assert x[0] == 1
    assert space.sample_batch(2, [[[1, 0, 0], [0, 0, 1]], [1, 1]])[0].tolist() == [0, 2]
    for mask in ((None,), (None, None, None), 5):
        for draw in (space.sample, lambda mask: space.sample_batch(2, mask)):
            with pytest.raises(ValueError, match="one mask per sub-space"):
                draw(mask)


@pytest.mark.parametrize(
    ("x", "inside"),
    [((1, 2), True), ([1, 2], True), ((1,), False), ((1, 1000), False), (np.array([1, 2]), False), ({0: 1}, False)],
)
def test_membership(x, inside):
    assert pair().contains(x) is inside


def test_batch_membership():
    space = Tuple([Discrete(3), Box(0, 1, (1,)), Tuple([])])
    values = np.array([[0.5], [0.5], [2.0]], np.float32)
    assert space.contains_batch((np.array([1, 3, 1]), values, ())).tolist() == [True, False, False]
    with pytest.raises(ValueError, match="different numbers"):
        space.contains_batch((np.array([1]), values, ()))
    with pytest.raises(ValueError, match="no sub-space holding data"):
        Tuple([]).contains_batch(())
    for x in ([np.array([1]), values, ()], (np.array([1]), values), None):
        with pytest.raises(ValueError, match="x must be a tuple"):
            space.contains_batch(x)


def test_equality_and_flattenability():
    assert pair() == pair(seed=3)
    assert Tuple([Discrete(2), Discrete(3)]) != Tuple([Discrete(3), Discrete(2)])
    assert pair() != [Discrete(1000), Discrete(1000)]
    assert Tuple([]).is_flattenable
    assert not Tuple([Sequence(Discrete(2))]).is_flattenable
