"""The environments that come with sekai."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sekai.envs.cartpole import CartPoleEnv as CartPoleEnv
    from sekai.envs.cartpole import CartPoleVecEnv as CartPoleVecEnv
else:
    from sekai._lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__, objects={"sekai.envs.cartpole": "CartPoleEnv CartPoleVecEnv"}
    )
