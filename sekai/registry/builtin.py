"""The environments that come with sekai, one line each."""

from sekai.registry.global_registry import register

register("CartPole-v1", "sekai.envs.cartpole:CartPoleEnv", max_episode_steps=500, reward_threshold=475.0)
