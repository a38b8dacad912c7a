"""TransformObservation and TransformReward."""

import pytest

from sekai import AutoReset, Box, TransformObservation, TransformReward

KINDS = [TransformObservation, TransformReward]


def test_functions_are_applied(reel):
    space = Box(0, 100, (2,))
    env = TransformReward(TransformObservation(reel(), lambda obs: obs + 10, space), lambda reward: [reward])
    assert env.observation_space is space
    assert env.reset().observation.tolist() == [10, 10]
    result = env.step(0)
    assert (result.observation.tolist(), result.reward, result.info) == ([11, 9], [1.0], {"k": 1})


@pytest.mark.parametrize("kind", KINDS)
def test_the_space_stays_and_the_function_can_be_read(reel, kind):
    env = kind(reel(), float)
    assert env.observation_space is env.env.observation_space
    assert env.func is float


@pytest.mark.parametrize("kind", KINDS)
def test_exactly_one_function_is_needed(reel, kind):
    for arguments in ({}, {"func": None}, {"func": float, "fn": float}, {"func": 3}):
        with pytest.raises(TypeError, match="func"):
            kind(None, **arguments)
    with pytest.warns(DeprecationWarning, match="use func") as caught:
        assert kind(reel(), fn=float).func is float
    assert [warning.filename for warning in caught] == [__file__]
    with pytest.raises(TypeError, match=r"sekai\.Env"):
        kind(None, float)


def test_an_auto_reset_inside_keeps_final_observations_as_they_are(reel):
    env = TransformObservation(AutoReset(reel(length=1)), lambda obs: obs + 100)
    env.reset()
    result = env.step(0)
    assert (result.observation.tolist(), result.info["final_observation"].tolist()) == ([100, 100], [1, -1])
