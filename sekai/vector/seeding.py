"""Seeds of the lanes of a batch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import PCG64, Generator, SeedSequence

from sekai.utils.integers import as_int
from sekai.utils.seeding import as_seed
from sekai.vector.stream import words_of

SEED_WORDS = 4  # 32-bit words of a lane's seed

# NumPy seeds a lane in some 15 us. The kernels seed 100,000 lanes in some milliseconds, but take a second to compile.
FEW = 64


def lane_seeds(seed: int, num_envs: int) -> list[int]:
    """Return the seeds that `vec.reset(seed=seed)` gives its lanes.

    Lane i's is the 128-bit integer of the four 32-bit words `SeedSequence(seed).spawn(num_envs)[i].generate_state(4)`,
    lowest first: among a million lanes 32 bits would make some hundred pairs of twins. A shorter list is a prefix of a
    longer one.

    Raises:
        TypeError: `seed` or `num_envs` is not an integer.
        ValueError: `seed` or `num_envs` is negative.
    """
    return [int.from_bytes(row.tobytes(), "little") for row in spawned_words(seed, num_envs).astype("<u4")]


def spawned_words(seed: int, num_envs: int) -> np.ndarray:
    """`lane_seeds` as an array `uint32[num_envs, 4]`, lowest word first."""
    seed, num_envs = as_seed(seed), as_int("num_envs", num_envs)
    if num_envs < 0:
        raise ValueError(f"num_envs must be >= 0, got {num_envs}")
    if num_envs <= FEW:
        children = SeedSequence(seed).spawn(num_envs)
        return np.array([child.generate_state(SEED_WORDS) for child in children], np.uint32).reshape(-1, SEED_WORDS)
    from sekai.kernels import random

    words = np.empty((num_envs, SEED_WORDS), np.uint32)
    random.spawn_words(int_words(seed), words, 0)
    return words


def int_words(number: int) -> np.ndarray:
    """The little-endian 32-bit words of an integer >= 0, at least one."""
    count = max(1, -(-number.bit_length() // 32))
    return np.frombuffer(number.to_bytes(4 * count, "little"), "<u4").astype(np.uint32)


def kernels_draw_from(generator: Generator) -> bool:
    """Whether kernels know how a generator draws: NumPy's default, PCG64."""
    return isinstance(generator.bit_generator, PCG64)


def split_seeds(seeds: dict[int, Any]) -> tuple[dict[int, int], dict[int, Generator]]:
    """Check seeds of some lanes, and tell the integers from the generators.

    Raises:
        TypeError: An entry is something else, or a Generator over another bit generator than PCG64, which kernels
            cannot draw from.
        ValueError: An integer is negative.
    """
    numbers: dict[int, int] = {}
    generators: dict[int, Generator] = {}
    for lane, seed in seeds.items():
        if not isinstance(seed, Generator):
            numbers[lane] = as_seed(seed)
        elif kernels_draw_from(seed):
            generators[lane] = seed
        else:
            name = type(seed.bit_generator).__name__
            raise TypeError(
                f"the Generator of lane {lane} must be over a PCG64, as np.random.default_rng() is, not over {name}"
            )
    return numbers, generators


def check_unshared(generators: dict[int, Generator]) -> None:
    """Check that no two lanes draw from the same stream.

    Raises:
        ValueError: Two lanes do; says which.
    """
    owners: dict[int, int] = {}
    for lane, generator in generators.items():
        owner = owners.setdefault(id(generator.bit_generator), lane)
        if owner != lane:
            raise ValueError(f"seed gives lanes {owner} and {lane} the same Generator; each needs a stream of its own")


def seed_numbers(rng: np.ndarray, numbers: dict[int, int]) -> None:
    """Start in each lane of `rng` (`uint64[6, N]`) the stream of `Generator(PCG64(numbers[lane]))`."""
    few = len(numbers) <= FEW
    for lane, number in numbers.items():
        if few or number >= 2**128:
            rng[:, lane] = words_of(Generator(PCG64(number)))
    if not few:
        small = {lane: number for lane, number in numbers.items() if number < 2**128}
        packed = b"".join(number.to_bytes(4 * SEED_WORDS, "little") for number in small.values())
        words = np.frombuffer(packed, "<u4").reshape(-1, SEED_WORDS).astype(np.uint32)
        seed_lanes(rng, np.array(list(small), np.int64), words)


def seed_lanes(rng: np.ndarray, lanes: np.ndarray, words: np.ndarray) -> None:
    """Start in lane `lanes[k]` of `rng` (`uint64[6, N]`) the stream of the seed whose words are `words[k]`."""
    if lanes.size <= FEW:
        for lane, row in zip(lanes, words.astype("<u4"), strict=True):
            rng[:, lane] = words_of(Generator(PCG64(int.from_bytes(row.tobytes(), "little"))))
        return
    from sekai.kernels import random

    random.seed_lanes(words, rng, lanes)
