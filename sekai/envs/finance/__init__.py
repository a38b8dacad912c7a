"""The finance environments."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sekai.envs.finance.market_making import AvellanedaStoikov as AvellanedaStoikov
    from sekai.envs.finance.market_making import MarketMakingEnv as MarketMakingEnv
    from sekai.envs.finance.market_making import MarketMakingVecEnv as MarketMakingVecEnv
    from sekai.envs.finance.optimal_execution import AlmgrenChriss as AlmgrenChriss
    from sekai.envs.finance.optimal_execution import OptimalExecutionEnv as OptimalExecutionEnv
    from sekai.envs.finance.optimal_execution import OptimalExecutionVecEnv as OptimalExecutionVecEnv
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
            "sekai.rendering": "MarketMakingRenderer OptimalExecutionRenderer PortfolioRenderer TradingRenderer",
        },
    )
