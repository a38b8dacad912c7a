"""ActionMaskObservation."""

import numpy as np
import pytest

from sekai import ActionMaskObservation, Box, Dict, Discrete, MaskedBox, MultiBinary, MultiDiscrete, TimeLimit


def masked(reel, actions, mask, space=None, frames=()):
    class Masked(reel):
        def action_mask(self):
            return mask(self) if callable(mask) else mask

    return Masked(space, frames, actions)


@pytest.mark.parametrize(
    ("actions", "mask", "flags"),
    [
        (Discrete(3), np.array([1, 0, 1], np.int8), [1, 0, 1]),
        (MultiDiscrete([2, 3]), ([1, 0], [1, 1, 0]), [1, 0, 1, 1, 0]),
        (Box(0, 1, (2, 2)), [1, 0], [1, 0, 1, 0]),
        (Discrete(2), [False, False], [0, 0]),
        (Discrete(2), None, [1, 1]),
    ],
)
def test_the_mask_goes_along(reel, actions, mask, flags):
    env = ActionMaskObservation(masked(reel, actions, mask), key="ok")
    assert env.observation_space == Dict({"observation": env.env.observation_space, "ok": MultiBinary(len(flags))})
    for result in (env.reset(), env.step(actions.sample())):
        assert list(result.observation) == ["observation", "ok"]
        assert result.observation["ok"].tolist() == flags
        assert result.observation["ok"].dtype == np.int8
    assert env.key == "ok"


def test_a_dict_gets_one_more_key(reel):
    base = masked(reel, Discrete(2), lambda env: [True, env.k > 0], Dict({"x": Discrete(3)}), [{"x": 1}])
    env = ActionMaskObservation(TimeLimit(base, 9))
    assert list(env.observation_space) == ["x", "action_mask"]
    assert env.reset().observation["action_mask"].tolist() == [1, 0]
    assert env.step(0).observation["action_mask"].tolist() == [1, 1]
    slots = MaskedBox(0, 1, (1,), max_size=2)
    env = ActionMaskObservation(masked(reel, Discrete(2), [1, 1], slots, [slots.empty()]))
    assert list(env.observation_space) == ["observation", "action_mask"]


def test_what_does_not_fit_is_refused(reel):
    with pytest.raises(TypeError, match="action_mask"):
        ActionMaskObservation(reel())
    with pytest.raises(TypeError, match="MultiBinary"):
        ActionMaskObservation(masked(reel, MultiBinary(2), [1, 1]))
    with pytest.raises(KeyError, match="x"):
        ActionMaskObservation(masked(reel, Discrete(2), [1, 1], Dict({"x": Discrete(3)})), key="x")
    with pytest.raises(ValueError, match="2 flags"):
        ActionMaskObservation(masked(reel, Discrete(2), [1, 1, 1])).reset()
