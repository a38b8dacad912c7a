"""What single-agent and multi-agent environments have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sekai.core.async_rule import keep_async_consistent
from sekai.utils.seeding import np_random

if TYPE_CHECKING:
    from numpy.random import Generator
    from typing_extensions import Self

    from sekai._types import SeedType


class BaseEnv:
    """A random stream, a life cycle, and async methods that agree with the sync ones."""

    _rng: Generator | None = None
    _rng_seed: int | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        keep_async_consistent(cls)

    @property
    def rng(self) -> Generator:
        """The generator that all randomness of the environment comes from.

        Asked for before there is one, it is made from the operating system's entropy.
        """
        if self._rng is None:
            self._rng, self._rng_seed = np_random()
        return self._rng

    @rng.setter
    def rng(self, generator: Generator) -> None:
        self._rng, self._rng_seed = generator, -1

    def _set_rng(self, seed: SeedType) -> int:
        """Seed `rng`; the first thing that `reset` does.

        Args:
            seed: an int >= 0 starts a stream; a Generator is used itself; None goes on with the stream that there is,
                or starts one from the operating system's entropy.

        Returns:
            The seed in use, which replays the stream; -1 when that is not known.

        Raises:
            TypeError: `seed` is anything else.
            ValueError: `seed` is negative.
        """
        if seed is not None or self._rng is None:
            self._rng, self._rng_seed = np_random(seed)
        return -1 if self._rng_seed is None else self._rng_seed

    def close(self) -> None:
        """Release what the environment holds; nothing by default."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()
