"""The renderer that belongs to an environment."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sekai._extras import import_extra
from sekai.rendering.renderer import BaseRenderer
from sekai.rendering.theme import Theme
from sekai.vector.vec_env import VecEnv

CLASSIC, FINANCE = "sekai.rendering.classic_control", "sekai.rendering.finance"

# By the class that is drawn, so that no other environment has to be imported.
RENDERERS = {
    "sekai.envs.acrobot.AcrobotEnv": (CLASSIC, "AcrobotRenderer"),
    "sekai.envs.cartpole.CartPoleEnv": (CLASSIC, "CartPoleRenderer"),
    "sekai.envs.continuous_mountain_car.ContinuousMountainCarEnv": (CLASSIC, "MountainCarRenderer"),
    "sekai.envs.mountain_car.MountainCarEnv": (CLASSIC, "MountainCarRenderer"),
    "sekai.envs.pendulum.PendulumEnv": (CLASSIC, "PendulumRenderer"),
    "sekai.envs.finance.market_making.MarketMakingEnv": (FINANCE, "MarketMakingRenderer"),
    "sekai.envs.finance.optimal_execution.OptimalExecutionEnv": (FINANCE, "OptimalExecutionRenderer"),
    "sekai.envs.finance.portfolio.PortfolioEnv": (FINANCE, "PortfolioRenderer"),
    "sekai.envs.finance.trading.TradingEnv": (FINANCE, "TradingRenderer"),
}
SQUARE = ("AcrobotRenderer", "PendulumRenderer")


def make_renderer(
    env: Any, *, width: int | None = None, height: int | None = None, theme: str | Theme = "light"
) -> BaseRenderer:
    """Make the renderer of a built-in environment, or of a subclass of one.

    Args:
        env: The environment, wrapped or not.
        width: Of frames, in pixels; None for the renderer's own. A scene that is square has the lesser size.
        height: Of frames, in pixels.
        theme: `"light"`, `"dark"` or a `Theme`.

    Raises:
        TypeError: There is none for such an environment.
        ImportError: matplotlib is missing.
    """
    module, name = renderer_of(env)
    sizes = {key: size for key, size in (("width", width), ("height", height)) if size is not None}
    if name in SQUARE and sizes:
        sizes = {"size": min(sizes.values())}
    import_extra("matplotlib", "render")
    renderer: BaseRenderer = getattr(import_module(module), name)(theme=theme, **sizes)
    return renderer


def renderer_of(env: Any) -> tuple[str, str]:
    """Module and name of the renderer of a built-in environment, or of a subclass of one.

    Raises:
        TypeError: There is none for such an environment.
    """
    base = getattr(env, "unwrapped", env)
    for cls in type(base).__mro__:
        found = RENDERERS.get(f"{cls.__module__}.{cls.__qualname__}")
        if found is not None:
            return found
    if isinstance(base, VecEnv):
        raise TypeError(f"env must be a single environment, got {base!r}; LaneGrid and record_lanes draw batches")
    raise TypeError(f"there is no renderer for {type(base).__name__}; sekai.rendering.Dashboard draws any environment")
