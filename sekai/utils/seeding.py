"""Turn what users pass as `seed` into NumPy generators and further seeds."""

from __future__ import annotations

from numpy.random import Generator, SeedSequence, default_rng

from sekai.utils.integers import as_int


def as_seed(seed: object) -> int:
    """Return `seed` as a Python int.

    Raises:
        TypeError: `seed` is not an integer; floats, strings and bools are not rounded or parsed.
        ValueError: `seed` is negative.
    """
    number = as_int("seed", seed)
    if number < 0:
        raise ValueError(f"seed must be >= 0, got {number}")
    return number


def np_random(seed: int | Generator | None = None) -> tuple[Generator, int]:
    """Return a generator for `seed`, and the seed that replays its stream.

    Args:
        seed: A Generator is returned itself (shared, not copied). An int >= 0 starts NumPy's default generator.
            None takes 128 bits from the operating system.

    Returns:
        The generator, and the integer that was used to seed it; -1 when a Generator was passed.

    Raises:
        TypeError: `seed` is anything else.
        ValueError: `seed` is negative.
    """
    if isinstance(seed, Generator):
        return seed, -1
    number = as_seed(_os_entropy() if seed is None else seed)
    return default_rng(number), number


def make_seed_sequence(base_seed: int, n: int) -> list[int]:
    """Return `n` 32-bit seeds that depend on `base_seed` and their own index only.

    A shorter list is a prefix of a longer one.

    Raises:
        TypeError: `base_seed` or `n` is not an integer.
        ValueError: `base_seed` or `n` is negative.
    """
    if n < 0:
        raise ValueError(f"n must be >= 0, got {n}")
    children = SeedSequence(as_seed(base_seed)).spawn(as_int("n", n))
    return [int(child.generate_state(1)[0]) for child in children]


def child_seeds(rng: Generator, seed_used: int, n: int) -> list[int]:
    """Return `n` seeds for the parts of something that was seeded with `np_random`.

    Args:
        rng: The generator that `np_random` returned.
        seed_used: The seed that it returned. When it is -1 the base is drawn from `rng` (one draw).
        n: How many seeds.
    """
    base = int(rng.integers(2**63)) if seed_used == -1 else seed_used
    return make_seed_sequence(base, n)


def _os_entropy() -> int:
    return int(SeedSequence().entropy)  # type: ignore[arg-type]
