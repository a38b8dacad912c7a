"""Functions on the parts of nested spaces."""

import numpy as np
import pytest

from sekai.spaces import Box, Dict, Discrete, MaskedBox, Tuple
from sekai.utils.leaves import copied, is_dict, map_leaves, map_space

SLOTS = MaskedBox(0, 1, (1,), max_size=2)
NESTED = Dict({"a": Discrete(3), "b": Tuple([Box(0, 1, (2,)), Dict({"c": SLOTS})])})


def test_values_are_visited_as_the_space_nests_them():
    x, y = {"a": 1, "b": (2, {"c": 3})}, {"a": 10, "b": [20, {"c": 30}]}
    seen = map_leaves(lambda leaf, p, q: (leaf, p + q), NESTED, x, y)
    assert seen == {"a": (NESTED["a"], 11), "b": ((NESTED["b"][0], 22), {"c": (SLOTS, 33)})}
    assert map_leaves(lambda leaf, p: p + 1, Discrete(2), 0) == 1
    assert list(map_leaves(lambda leaf: leaf, NESTED)) == ["a", "b"]


def test_values_must_have_the_parts_of_the_space():
    with pytest.raises(KeyError, match="b"):
        map_leaves(lambda leaf, p: p, NESTED, {"a": 1})
    with pytest.raises(ValueError, match="zip"):
        map_leaves(lambda leaf, p: p, NESTED, {"a": 1, "b": (2,)})


def test_spaces_are_rebuilt_around_new_leaves():
    doubled = map_space(lambda leaf: Discrete(6) if isinstance(leaf, Discrete) else leaf, NESTED)
    assert doubled == Dict({"a": Discrete(6), "b": NESTED["b"]})
    assert doubled["b"][1]["c"] is SLOTS


def test_a_masked_box_is_no_dict():
    assert [is_dict(space) for space in (NESTED, SLOTS, Discrete(2))] == [True, False, False]


def test_copies_share_nothing():
    x = {"a": np.zeros(2), "b": (np.zeros(1), [np.ones(1)])}
    y = copied(x)
    x["a"][0] = x["b"][0][0] = x["b"][1][0][0] = 5
    assert (y["a"].tolist(), y["b"][0].tolist(), y["b"][1][0].tolist()) == ([0, 0], [0], [1])
