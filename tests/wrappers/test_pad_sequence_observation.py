"""PadSequenceObservation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekai import Box, Dict, Discrete, MaskedBox, PadSequenceObservation, Sequence, Tuple

BOX = Box(1, 9, (2,), np.float64)


@given(
    stack=st.booleans(), size=st.integers(1, 3), truncate=st.sampled_from(["tail", "head"]),
    items=st.lists(st.lists(st.floats(1, 9), min_size=2, max_size=2), max_size=5),
)  # fmt: skip
def test_sequences_fill_the_first_slots(reel, stack, size, truncate, items):
    sequence = Sequence(BOX, stack=stack)
    env = PadSequenceObservation(
        reel(sequence, [sequence.pack([np.array(item) for item in items])]), size, truncate=truncate
    )
    kept = items[-size:] if truncate == "tail" else items[:size]
    observation = env.reset().observation
    assert observation["values"].tolist() == kept + [[1.0, 1.0]] * (size - len(kept))
    assert observation["mask"].tolist() == [1] * len(kept) + [0] * (size - len(kept))
    assert env.observation_space.contains(observation)
    assert env.observation_space == MaskedBox(1, 9, (2,), max_size=size, dtype=np.float64)


def test_other_parts_stay_as_they_are(reel):
    slots = MaskedBox(0, 1, (1,), max_size=2)
    space = Dict(
        {"s": Sequence(BOX, max_length=2), "t": Tuple([Discrete(2), Sequence(Box(0, 9, (), np.int64), max_length=3)])}
    )
    space["m"] = slots
    env = PadSequenceObservation(reel(space, [{"s": (), "t": (1, (np.array(4), np.array(5))), "m": slots.empty()}]))
    observation = env.reset().observation
    assert (observation["t"][0], observation["t"][1]["values"].tolist()) == (1, [4, 5, 0])
    assert env.observation_space["m"] is slots
    assert (env.observation_space["s"].max_size, env.observation_space["t"][1].max_size) == (2, 3)
    assert env.observation_space.contains(observation)


def test_long_sequences_may_be_an_error(reel):
    env = PadSequenceObservation(reel(Sequence(BOX), [(BOX.low,) * 3]), 2, truncate="error")
    with pytest.raises(ValueError, match="at most 2 elements, got 3"):
        env.reset()


def test_arguments_and_spaces_are_checked(reel):
    sequence = Sequence(BOX, max_length=2)
    env = PadSequenceObservation(reel(sequence), 7, truncate="head")
    assert (env.max_length, env.truncate, env.observation_space.max_size) == (7, "head", 7)
    for space, arguments, error, token in (
        (BOX, {}, TypeError, "Sequence"),
        (Sequence(BOX), {}, ValueError, "max_length"),
        (Sequence(BOX, max_length=0), {}, ValueError, "max_length"),
        (sequence, {"max_length": 0}, ValueError, "max_length"),
        (sequence, {"max_length": 2.0}, TypeError, "max_length"),
        (sequence, {"truncate": "middle"}, ValueError, "truncate"),
        (Sequence(Discrete(2)), {"max_length": 3}, TypeError, "Box"),
    ):
        with pytest.raises(error, match=token):
            PadSequenceObservation(reel(space), **arguments)
