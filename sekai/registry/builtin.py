"""The environments that come with sekai, one line each."""

from sekai.registry.global_registry import register

register("CartPole-v1", "sekai.envs.cartpole:CartPoleEnv", max_episode_steps=500, reward_threshold=475.0)
register("MountainCar-v0", "sekai.envs.mountain_car:MountainCarEnv", max_episode_steps=200, reward_threshold=-110.0)
register(
    "MountainCarContinuous-v0",
    "sekai.envs.continuous_mountain_car:ContinuousMountainCarEnv",
    max_episode_steps=999,
    reward_threshold=90.0,
)
register("Pendulum-v1", "sekai.envs.pendulum:PendulumEnv", max_episode_steps=200)
register("Acrobot-v1", "sekai.envs.acrobot:AcrobotEnv", max_episode_steps=500, reward_threshold=-100.0)
register("Trading-v0", "sekai.envs.finance.trading:TradingEnv")
register("Portfolio-v0", "sekai.envs.finance.portfolio:PortfolioEnv")
register("MarketMaking-v0", "sekai.envs.finance.market_making:MarketMakingEnv")
register("OptimalExecution-v0", "sekai.envs.finance.optimal_execution:OptimalExecutionEnv")
