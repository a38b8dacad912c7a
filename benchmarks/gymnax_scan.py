"""gymnax's environments in a jitted scan with random actions, in a process of another Python if need be.

JAX wants versions of its own, so gymnax may live in another virtual environment. This file is run by that one's Python
and imports nothing of ours.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from typing import Any


class GymnaxScan:
    """Rollouts of `num_steps` steps of `num_envs` lanes; nothing is kept but sums of rewards and counts of ends.

    Args:
        python: The interpreter to run it with.
        env_id: Name of the environment.
        num_envs: Lanes.
        num_steps: Steps of a rollout.

    Raises:
        ImportError: That Python has no gymnax, or not all that it needs.
    """

    def __init__(self, python: str, env_id: str, num_envs: int, num_steps: int) -> None:
        command = [python, __file__, env_id, str(num_envs), str(num_steps)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.versions = self._answer()
        if not self.versions.startswith("gymnax"):
            raise ImportError(self.versions)

    def run(self) -> None:
        """Roll out once, from where the last one ended."""
        assert self._process.stdin is not None
        print(file=self._process.stdin, flush=True)
        self._answer()

    def close(self) -> None:
        """End the process."""
        self._process.communicate()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


def serve(env_id: str, num_envs: int, num_steps: int) -> None:
    """Roll out once for each line that comes in."""
    try:
        import gymnax
    except ImportError as error:
        print(error)
        return
    import jax
    import jax.numpy as jnp

    env, params = gymnax.make(env_id)
    action_space = env.action_space(params)

    def step(carry: tuple[Any, Any], _: None) -> tuple[tuple[Any, Any], Any]:
        key, state = carry
        key, act_key, step_key = jax.random.split(key, 3)
        actions = jax.vmap(action_space.sample)(jax.random.split(act_key, num_envs))
        step_keys = jax.random.split(step_key, num_envs)
        _, state, reward, terminated, truncated, _ = jax.vmap(env.step, (0, 0, 0, None))(
            step_keys, state, actions, params
        )
        return (key, state), (reward.sum(), jnp.sum(terminated | truncated))

    @jax.jit
    def rollout(key: Any, state: Any) -> Any:
        return jax.lax.scan(step, (key, state), None, num_steps)

    key = jax.random.key(0)
    _, state = jax.jit(jax.vmap(env.reset, (0, None)))(jax.random.split(key, num_envs), params)
    print(", ".join(f"{name} {version(name)}" for name in ("gymnax", "jax")), flush=True)
    for _ in sys.stdin:
        (key, state), sums = rollout(key, state)
        jax.block_until_ready(sums)
        print("done", flush=True)


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
