"""Seeds and other helpers."""

from sekai.utils.seeding import make_seed_sequence, np_random

__all__ = ["make_seed_sequence", "np_random"]
