"""Dict: a mapping of sub-spaces; seeds, samples, membership and batches."""

from collections import OrderedDict
from types import MappingProxyType

import numpy as np
import pytest

from sekai.spaces import Box, Dict, Discrete, MultiBinary, Tuple


def pair(**kwargs):
    return Dict(a=Discrete(1000), b=Discrete(1000), **kwargs)


def test_the_mapping_is_copied_and_keywords_win():
    parts = {"a": Discrete(2), "b": Discrete(3)}
    space = Dict(parts, b=Discrete(4), c=Discrete(5))
    parts["z"] = Discrete(9)
    assert repr(space) == "Dict({a: Discrete(2), b: Discrete(4), c: Discrete(5)})"
    assert isinstance(space.spaces, OrderedDict)
    assert repr(Dict()) == "Dict({})"


@pytest.mark.parametrize("spaces", [[("a", Discrete(2))], 3, {"a": 3}, {"a": Discrete}])
def test_other_arguments_are_refused(spaces):
    with pytest.raises(TypeError, match="spaces"):
        Dict(spaces)


def test_it_is_a_mapping_of_keys_to_spaces():
    space = pair()
    assert list(space) == list(space.keys()) == ["a", "b"]
    assert [key for key, _ in space.items()] == ["a", "b"]
    assert list(space.values()) == [Discrete(1000), Discrete(1000)]
    assert len(space) == 2
    assert "a" not in space  # membership of samples, not of keys
    space["c"] = MultiBinary(2)
    assert space["c"] == MultiBinary(2)
    with pytest.raises(KeyError):
        space["z"]
    with pytest.raises(TypeError, match=r"space\['c'\]"):
        space["c"] = 5


def test_seeds_of_the_parts_derive_from_the_seed():
    space = pair(seed=7)
    assert {key: int(x) for key, x in space.sample().items()} == {"a": 679, "b": 734}
    assert Discrete(1000, seed=1201125462).sample() == 679
    assert space.seed(np.random.default_rng(7)) == -1
    assert {key: int(x) for key, x in space.sample().items()} == {"a": 742, "b": 441}
    assert space.seed(np.uint8(4)) == 4


def test_a_mapping_of_seeds_seeds_the_parts_it_names():
    space, twin = pair(seed=1), pair(seed=1)
    assert space.seed({"a": 5, "b": None}) == -1
    x, y = space.sample(), twin.sample()
    assert x["a"] == Discrete(1000, seed=5).sample()
    assert x["b"] == y["b"]
    assert pair(seed=MappingProxyType({"a": 3}))["a"].sample() == Discrete(1000, seed=3).sample()


def test_unknown_keys_of_seeds_seed_nothing():
    space, twin = pair(seed=1), pair(seed=1)
    with pytest.raises(ValueError, match="not keys"):
        space.seed({"a": 1, "zz": 1})
    assert space.sample() == twin.sample()


def test_masks_of_some_parts():
    space = Dict(a=Discrete(3), b=Dict(c=MultiBinary(2)), seed=0)
    x = space.sample({"a": [0, 1, 0], "b": {"c": [1, 0], "unknown": 5}, "unknown": 5})
    assert (x["a"], x["b"]["c"].tolist()) == (1, [1, 0])
    assert space.contains(space.sample({"a": None}))
    batch = space.sample_batch(2, {"a": [[1, 0, 0], [0, 0, 1]], "b": {"c": [1, 1]}})
    assert batch["a"].tolist() == [0, 2]
    assert batch["b"]["c"].tolist() == [[1, 1], [1, 1]]
    for draw in (space.sample, lambda mask: space.sample_batch(2, mask)):
        with pytest.raises(TypeError, match="mask must be a mapping"):
            draw([None, None])
        with pytest.raises(ValueError, match="All actions masked"):
            draw({"a": [0, 0, 0]})


@pytest.mark.parametrize(
    ("x", "inside"),
    [
        ({"a": 1, "b": 2}, True),
        (OrderedDict(b=2, a=1), True),
        ({"a": 1}, False),
        ({"a": 1, "b": 2, "c": 3}, False),
        ({"a": 1, "b": 1000}, False),
        (MappingProxyType({"a": 1, "b": 2}), False),
        ([1, 2], False),
        (None, False),
    ],
)
def test_membership(x, inside):
    assert pair().contains(x) is inside


def test_batch_membership():
    space = Dict(a=Discrete(3), b=Box(0, 1, (1,)), e=Dict())
    values = np.array([[0.5], [0.5], [2.0]], np.float32)
    batch = {"a": np.array([1, 3, 1]), "b": values, "e": {}}
    assert space.contains_batch(batch).tolist() == [True, False, False]
    assert not space.contains_batch({**batch, "e": {"x": 1}}).any()
    with pytest.raises(ValueError, match="different numbers"):
        space.contains_batch({**batch, "a": np.array([1])})
    with pytest.raises(ValueError, match="no sub-space holding data"):
        Dict(e=Tuple([])).contains_batch({"e": ()})
    for x in ([batch], {**batch, "more": 1}, {"a": batch["a"], "e": {}}, None):
        with pytest.raises(ValueError, match="x must be a dict of batches"):
            space.contains_batch(x)


def test_order_matters_for_equality():
    assert pair() == pair(seed=3)
    assert Dict(a=Discrete(2), b=Discrete(3)) != Dict(b=Discrete(3), a=Discrete(2))
    assert Dict(a=Discrete(2)) != {"a": Discrete(2)}
