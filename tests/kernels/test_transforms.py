"""Kernels of wrappers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import PCG64, Generator

from sekai.kernels import transforms
from sekai.utils.seeding import make_seed_sequence
from sekai.vector.seeding import int_words
from sekai.vector.stream import words_of


@given(
    probability=st.floats(0, 0.99),
    steps=st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=1, max_size=10),
)
def test_only_lanes_that_are_ready_draw(probability, steps):
    generators = [Generator(PCG64(lane)) for lane in range(3)]
    rng = np.array([words_of(generator) for generator in generators]).T.copy()
    sticky = np.empty(3, np.bool_)
    for ready in steps:
        transforms.draw_sticky(rng, probability, np.array(ready), sticky)
        expected = [
            draws and generator.random() < probability for draws, generator in zip(ready, generators, strict=True)
        ]
        assert sticky.tolist() == expected


@given(st.lists(st.integers(0, 2**128 - 1), min_size=1, max_size=4), st.integers(0, 3))
def test_children_are_those_of_seed_sequences(seeds, child):
    packed = np.zeros((len(seeds), 4), np.uint32)
    for row, seed in zip(packed, seeds, strict=True):
        words = int_words(seed)
        row[: words.size] = words
    words = np.empty((len(seeds), 4), np.uint32)
    transforms.child_words(packed, child, words)
    assert words.tolist() == [[make_seed_sequence(seed, child + 1)[child], 0, 0, 0] for seed in seeds]


def test_rescaling_maps_clips_and_keeps_nan():
    affine = np.array([[1.0, 0.0], [2.0, 0.5], [0.0, -1.0], [0.0, -1.0], [4.0, 1.0]])
    out = np.empty(6, np.float32)
    transforms.rescale(np.array([1.0, 0.0, 2.5, 2.0, np.nan, 99.0]), affine, out)
    np.testing.assert_array_equal(out, np.float32([0.0, -1.0, 3.0, 0.0, np.nan, 1.0]))


@given(
    st.lists(
        st.tuples(
            *[st.lists(st.booleans(), min_size=3, max_size=3)] * 3, st.lists(st.floats(-9, 9), min_size=3, max_size=3)
        ),
        min_size=1,
        max_size=10,
    )
)
def test_episodes_are_summed_and_put_aside(steps):
    totals, lengths = np.zeros(3), np.zeros(3, np.int64)
    starts, lanes, ends = np.zeros(3), np.empty(4, np.int64), np.empty((transforms.ENDS, 4))
    sums, counts, begun = [0.0] * 3, [0] * 3, [0.0] * 3
    for now, (terminated, truncated, moving, rewards) in enumerate(steps, 1):
        flags = (np.array(each) for each in (terminated, truncated, moving))
        count = transforms.record_step(np.array(rewards), *flags, float(now), totals, lengths, starts, lanes, ends)
        expected = []
        for i in range(3):
            if moving[i]:
                sums[i], counts[i] = sums[i] + rewards[i], counts[i] + 1
            if moving[i] and (terminated[i] or truncated[i]):
                expected.append((i, sums[i], counts[i], begun[i], terminated[i], truncated[i]))
                sums[i], counts[i], begun[i] = 0.0, 0, now
        assert list(zip(lanes[:count].tolist(), *ends[:, :count].tolist(), strict=True)) == expected
        assert (totals.tolist(), lengths.tolist(), starts.tolist()) == (sums, counts, begun)
