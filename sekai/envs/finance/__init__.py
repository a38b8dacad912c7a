"""The finance environments."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
    from sekai.finance.sampling import sample_window as sample_window
    from sekai.finance.simulators import random_correlation as random_correlation
    from sekai.finance.simulators import simulate_gbm as simulate_gbm
    from sekai.rendering import MarketMakingRenderer as MarketMakingRenderer
    from sekai.rendering import OptimalExecutionRenderer as OptimalExecutionRenderer
    from sekai.rendering import PortfolioRenderer as PortfolioRenderer
    from sekai.rendering import TradingRenderer as TradingRenderer
else:
    from sekai._lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        objects={
            "sekai.envs.finance.market_making": "AvellanedaStoikov MarketMakingEnv MarketMakingVecEnv",
            "sekai.envs.finance.optimal_execution": "AlmgrenChriss OptimalExecutionEnv OptimalExecutionVecEnv",
            "sekai.envs.finance.portfolio": "PortfolioEnv PortfolioVecEnv",
            "sekai.envs.finance.trading": "TradingEnv TradingVecEnv",
            "sekai.finance.sampling": "sample_window",
            "sekai.finance.simulators": "random_correlation simulate_gbm",
            "sekai.rendering": "MarketMakingRenderer OptimalExecutionRenderer PortfolioRenderer TradingRenderer",
        },
    )
