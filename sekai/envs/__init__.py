"""The environments that come with sekai."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sekai.envs import classic_control as classic_control
    from sekai.envs import finance as finance
    from sekai.envs.acrobot import AcrobotEnv as AcrobotEnv
    from sekai.envs.acrobot import AcrobotVecEnv as AcrobotVecEnv
    from sekai.envs.cartpole import CartPoleEnv as CartPoleEnv
    from sekai.envs.cartpole import CartPoleVecEnv as CartPoleVecEnv
    from sekai.envs.continuous_mountain_car import ContinuousMountainCarEnv as ContinuousMountainCarEnv
    from sekai.envs.continuous_mountain_car import ContinuousMountainCarVecEnv as ContinuousMountainCarVecEnv
    from sekai.envs.finance.market_making import AvellanedaStoikov as AvellanedaStoikov
    from sekai.envs.finance.market_making import MarketMakingEnv as MarketMakingEnv
    from sekai.envs.finance.market_making import MarketMakingVecEnv as MarketMakingVecEnv
    from sekai.envs.finance.optimal_execution import AlmgrenChriss as AlmgrenChriss
    from sekai.envs.finance.optimal_execution import OptimalExecutionEnv as OptimalExecutionEnv
    from sekai.envs.finance.optimal_execution import OptimalExecutionVecEnv as OptimalExecutionVecEnv
    from sekai.envs.finance.portfolio import PortfolioEnv as PortfolioEnv
    from sekai.envs.finance.portfolio import PortfolioVecEnv as PortfolioVecEnv
    from sekai.envs.finance.trading import TradingEnv as TradingEnv
    from sekai.envs.finance.trading import TradingVecEnv as TradingVecEnv
    from sekai.envs.mountain_car import MountainCarEnv as MountainCarEnv
    from sekai.envs.mountain_car import MountainCarVecEnv as MountainCarVecEnv
    from sekai.envs.pendulum import PendulumEnv as PendulumEnv
    from sekai.envs.pendulum import PendulumVecEnv as PendulumVecEnv
    from sekai.rendering import AcrobotRenderer as AcrobotRenderer
    from sekai.rendering import CartPoleRenderer as CartPoleRenderer
    from sekai.rendering import MountainCarRenderer as MountainCarRenderer
    from sekai.rendering import PendulumRenderer as PendulumRenderer
else:
    from sekai._lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        objects={
            "sekai.envs.acrobot": "AcrobotEnv AcrobotVecEnv",
            "sekai.envs.cartpole": "CartPoleEnv CartPoleVecEnv",
            "sekai.envs.continuous_mountain_car": "ContinuousMountainCarEnv ContinuousMountainCarVecEnv",
            "sekai.envs.finance.market_making": "AvellanedaStoikov MarketMakingEnv MarketMakingVecEnv",
            "sekai.envs.finance.optimal_execution": "AlmgrenChriss OptimalExecutionEnv OptimalExecutionVecEnv",
            "sekai.envs.finance.portfolio": "PortfolioEnv PortfolioVecEnv",
            "sekai.envs.finance.trading": "TradingEnv TradingVecEnv",
            "sekai.envs.mountain_car": "MountainCarEnv MountainCarVecEnv",
            "sekai.envs.pendulum": "PendulumEnv PendulumVecEnv",
            "sekai.rendering": "AcrobotRenderer CartPoleRenderer MountainCarRenderer PendulumRenderer",
        },
        modules={"classic_control": "sekai.envs.classic_control", "finance": "sekai.envs.finance"},
    )
