"""Let actions stick, so that the agent cannot rely on being obeyed at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic

from numpy.random import Generator, default_rng

from sekai._types import ActType, ObsType
from sekai.core.wrapper import ActionWrapper
from sekai.utils.leaves import copied
from sekai.utils.seeding import make_seed_sequence
from sekai.wrappers.auto_reset import warn_of_inner_auto_reset

if TYPE_CHECKING:
    from sekai._types import SeedType
    from sekai.core.env import Env
    from sekai.core.result import ResetResult


class StickyAction(ActionWrapper[ObsType, ActType, ActType], Generic[ObsType, ActType]):
    """Carries out the previous action again instead of the new one, with some probability (Machado et al., 2018).

    Its draws come from a generator of its own, derived from the seed of `reset`; the environment's is left alone.

    Args:
        env: The environment to wrap.
        repeat_action_probability: At least 0, less than 1.

    Raises:
        ValueError: The probability is out of range.

    Attributes:
        repeat_action_probability: As given.
    """

    def __init__(self, env: Env[ObsType, ActType], repeat_action_probability: float) -> None:
        self.repeat_action_probability = checked_probability(repeat_action_probability)
        super().__init__(env)
        self._generator = default_rng()
        self._forget()
        warn_of_inner_auto_reset(self)

    def _forget(self) -> None:
        self._has_last = False
        self._last: Any = None

    def action(self, action: ActType) -> ActType:
        """Return the action to carry out: the new one or, if that sticks, the last one carried out."""
        if self._has_last and self._generator.random() < self.repeat_action_probability:
            return self._last  # type: ignore[no-any-return]
        self._last, self._has_last = copied(action), True
        return action

    def _on_reset(self, result: ResetResult[ObsType], generator: Generator) -> ResetResult[ObsType]:
        self._generator = generator
        self._forget()
        return result

    def reset(self, *, seed: SeedType = None, options: dict[str, Any] | None = None) -> ResetResult[ObsType]:
        """Reset `env`, and forget the last action; a seed is one for this wrapper's draws, too."""
        generator = sticky_generator(self._generator, seed)
        return self._on_reset(self.env.reset(seed=seed, options=options), generator)

    async def async_reset(
        self, *, seed: SeedType = None, options: dict[str, Any] | None = None
    ) -> ResetResult[ObsType]:
        """Reset `env` asynchronously, and forget the last action; a seed is one for this wrapper's draws, too."""
        generator = sticky_generator(self._generator, seed)
        return self._on_reset(await self.env.async_reset(seed=seed, options=options), generator)


def checked_probability(probability: float) -> float:
    """Return the probability if it is at least 0 and less than 1, or raise a ValueError."""
    if not 0.0 <= probability < 1.0:
        raise ValueError(f"repeat_action_probability must be in [0, 1), got {probability!r}")
    return probability


def sticky_generator(generator: Generator, seed: SeedType) -> Generator:
    """Return the generator of sticky actions after a reset with this seed; None lets `generator` go on."""
    return generator if seed is None else child_generator(seed)


def child_generator(seed: int | Generator) -> Generator:
    """Return the generator of sticky actions for a seed.

    A Generator is not drawn from, but asked for a child of its SeedSequence; only if it has none, for one draw.
    """
    if not isinstance(seed, Generator):
        return default_rng(make_seed_sequence(int(seed), 2)[1])
    bits: Any = seed.bit_generator
    sequence = getattr(bits, "seed_seq", None) or getattr(bits, "_seed_seq", None)  # older NumPy has the latter
    return default_rng(int(seed.integers(2**63)) if sequence is None else sequence.spawn(1)[0])
