"""FilterObservation."""

import pytest

from sekai import Dict, Discrete, FilterObservation, MaskedBox

SPACE = Dict({"a": Discrete(2), "b": Discrete(3), "c": Discrete(4)})


def test_keys_are_kept_in_the_order_given(reel):
    env = FilterObservation(reel(SPACE, [{"a": 0, "b": 1, "c": 2}]), iter(["c", "a"]))
    assert env.observation_space == Dict({"c": Discrete(4), "a": Discrete(2)})
    assert env.keys == ("c", "a")
    for _ in range(2):
        assert list(env.reset().observation.items()) == [("c", 2), ("a", 0)]


def test_a_masked_box_is_a_dict_too(reel):
    slots = MaskedBox(0, 1, (2,), max_size=3)
    env = FilterObservation(reel(slots, [slots.pack([[0.5, 1.0]])]), ["mask"])
    assert str(env.observation_space) == "Dict({mask: MultiBinary(3)})"
    assert env.reset().observation["mask"].tolist() == [1, 0, 0]


@pytest.mark.parametrize(
    ("keys", "error", "token"),
    [(["a", "z"], KeyError, "'z'"), ([], ValueError, "at least one"), ("ab", TypeError, "single")],
)
def test_keys_are_checked(reel, keys, error, token):
    with pytest.raises(error, match=token):
        FilterObservation(reel(SPACE, [{}]), keys)


def test_only_dicts_have_keys(reel):
    with pytest.raises(TypeError, match="Dict"):
        FilterObservation(reel(), ["a"])
