"""Batches of environments that run one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sekai._types import ActType, ObsType
from sekai.vector.env_batch import EnvFn
from sekai.vector.local_env_batch import LocalEnvBatch, checked
from sekai.vector.result import VecResetResult, VecStepResult


class SyncVecEnv(LocalEnvBatch[ObsType, ActType]):
    """N environments in this thread, one after the other.

    An exception that an environment raises propagates as it is, once the other lanes have had their turn; the results
    of that call are lost. Stepping on is allowed, `reset` starts afresh.

    Args:
        env_fns: What makes each environment, at least one.
        autoreset: See `VecEnv`.
        copy: Has no effect; results never share memory with environments.

    Raises:
        ValueError: `env_fns` is empty.
        TypeError: `env_fns` is no sequence, or an environment has several agents.
        SpaceMismatch: The environments differ in their spaces. They have been closed then, as after any error here.
    """

    def __init__(self, env_fns: Sequence[EnvFn], *, autoreset: bool | str = True, copy: bool = True) -> None:
        super().__init__(env_fns, autoreset=autoreset)

    def reset(self, *, seed: Any = None, options: Any = None, mask: Any = None) -> VecResetResult[ObsType]:
        """Start an episode in every lane, or in those of `mask`.

        Args:
            seed: See `VecEnv.reset`.
            options: See `VecEnv.reset`.
            mask: See `VecEnv.reset`.

        Raises:
            VecEnvClosed: After `close`.
            ResetRequired: A mask, before all lanes have been reset.
            TypeError, ValueError: A seed, options or mask of another kind or length; nothing has changed then.
        """
        arguments = self._reset_arguments(seed, options, mask)
        result = self._batch_reset(checked(self._sub_envs.reset(*arguments)))
        self._started = True
        return result

    def step(self, actions: ActType, mask: Any = None) -> VecStepResult[ObsType]:
        """Step every lane with its action, or those of `mask`.

        Args:
            actions: See `VecEnv.step`.
            mask: See `VecEnv.step`.

        Returns:
            Fresh arrays: observations, rewards float64 `(N,)`, terminated and truncated bool `(N,)`; and the infos of
                the environments.

        Raises:
            VecEnvClosed: After `close`.
            ResetRequired: Before the first `reset`.
            TypeError, ValueError: Actions or a mask of another kind or length; nothing has changed then.
        """
        arguments = self._step_arguments(actions, mask)
        return self._batch_step(checked(self._sub_envs.step(*arguments, self._autoreset_mode)))
