"""Objects that never change."""

import copy
import pickle

import numpy as np
import pytest

from sekai.finance.frozen import Frozen, read_only


class Point(Frozen):
    def __init__(self):
        vars(self).update(x=read_only(np.ones(2)), more={"y": read_only(np.ones(2))})


def test_attributes_and_arrays_are_read_only_after_pickling_too():
    for point in (Point(), pickle.loads(pickle.dumps(Point()))):
        with pytest.raises(AttributeError, match="a Point does not change; make another one to have another x"):
            point.x = 1
        with pytest.raises(AttributeError, match="x cannot be deleted"):
            del point.x
        for array in (point.x, point.more["y"]):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 2.0


def test_copies_are_the_same_object():
    point = Point()
    assert copy.copy(point) is point
    assert copy.deepcopy([point])[0] is point
