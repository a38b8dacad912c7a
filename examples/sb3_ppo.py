"""Train CartPole with the PPO of Stable-Baselines3, on a batch of compiled lanes.

One should see the mean return of 100 episodes pass 475 after some 20,000 to 40,000 steps, in ten seconds or so; nearly
all of it goes into the network. It needs `pip install "sekai[sb3]"`.

    python examples/sb3_ppo.py
"""

import time

import torch
from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy

import sekai
from sekai.compat import to_sb3

torch.set_num_threads(1)  # in networks this small, threads only wait for each other
envs = to_sb3(sekai.make_vec("CartPole-v1", 32))
test_envs = to_sb3(sekai.make_vec("CartPole-v1", 100))
model = PPO(
    "MlpPolicy", envs, n_steps=32, batch_size=256, n_epochs=20, gamma=0.98, gae_lambda=0.8, learning_rate=1e-3, seed=0
)
start = time.perf_counter()
mean = 0.0
while mean < 475 and model.num_timesteps < 200_000:
    model.learn(10_000, reset_num_timesteps=False)
    test_envs.seed(1)
    mean, _ = evaluate_policy(model, test_envs, n_eval_episodes=100, warn=False)
    print(f"{model.num_timesteps:,} steps, {time.perf_counter() - start:.0f} s: mean return {mean:.1f}")
