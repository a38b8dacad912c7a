"""What trading environments rest on: market data, simulated markets, costs, accounts and rewards."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sekai.finance.account import AccountConfig as AccountConfig
    from sekai.finance.account import Settlement as Settlement
    from sekai.finance.costs import CompositeCost as CompositeCost
    from sekai.finance.costs import CostModel as CostModel
    from sekai.finance.costs import FixedCost as FixedCost
    from sekai.finance.costs import NoCost as NoCost
    from sekai.finance.costs import ProportionalCost as ProportionalCost
    from sekai.finance.costs import SpreadCost as SpreadCost
    from sekai.finance.costs import SquareRootImpact as SquareRootImpact
    from sekai.finance.data import MarketData as MarketData
    from sekai.finance.data import Time as Time
    from sekai.finance.rewards import DifferentialSharpe as DifferentialSharpe
    from sekai.finance.rewards import DrawdownPenalty as DrawdownPenalty
    from sekai.finance.rewards import LogReturn as LogReturn
    from sekai.finance.rewards import MeanVariance as MeanVariance
    from sekai.finance.rewards import ProfitAndLoss as ProfitAndLoss
    from sekai.finance.rewards import RewardFunction as RewardFunction
    from sekai.finance.rewards import SimpleReturn as SimpleReturn
    from sekai.finance.rewards import StepOutcome as StepOutcome
    from sekai.finance.rewards import TurnoverPenalty as TurnoverPenalty
    from sekai.finance.sampling import EpisodeSampler as EpisodeSampler
    from sekai.finance.sampling import FixedStart as FixedStart
    from sekai.finance.sampling import RandomStart as RandomStart
    from sekai.finance.sampling import SequentialStart as SequentialStart
    from sekai.finance.simulators import GBM as GBM
    from sekai.finance.simulators import MarketModel as MarketModel
    from sekai.finance.simulators import Simulation as Simulation
else:
    from sekai._lazy import lazy_exports

    __getattr__, __dir__, __all__ = lazy_exports(
        __name__,
        objects={
            "sekai.finance.account": "AccountConfig Settlement",
            "sekai.finance.costs": """
                CostModel NoCost ProportionalCost SpreadCost FixedCost SquareRootImpact CompositeCost
            """,
            "sekai.finance.data": "MarketData Time",
            "sekai.finance.rewards": """
                RewardFunction StepOutcome LogReturn SimpleReturn ProfitAndLoss MeanVariance TurnoverPenalty
                DrawdownPenalty DifferentialSharpe
            """,
            "sekai.finance.sampling": "EpisodeSampler RandomStart SequentialStart FixedStart",
            "sekai.finance.simulators": "MarketModel Simulation GBM",
        },
        modules={
            "account": "sekai.finance.account",
            "costs": "sekai.finance.costs",
            "data": "sekai.finance.data",
            "rewards": "sekai.finance.rewards",
            "sampling": "sekai.finance.sampling",
            "simulators": "sekai.finance.simulators",
        },
    )
