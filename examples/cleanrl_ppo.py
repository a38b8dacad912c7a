"""PPO in one file, as CleanRL writes it, on gymnasium's vector API; the networks are NumPy, so that nothing is hidden.

One should see the mean return of the last 100 episodes of CartPole pass 475 after some 80,000 steps, in a few seconds
(on a busy machine with `OPENBLAS_NUM_THREADS=1`: threads make products of small matrices slower). But for one line and
`sekai.returns`, it would run on any `gymnasium.vector.VectorEnv` in same-step mode, in which a lane that ends starts
anew in the same step, and its last observation is in `infos["final_obs"]`.

    python examples/cleanrl_ppo.py
"""

from itertools import pairwise

import numpy as np

import sekai
from sekai.compat import to_gymnasium_vector

LANES, STEPS, EPOCHS, MINIBATCH = 64, 32, 10, 256
GAMMA, LAMBDA, CLIP, LEARNING_RATE = 0.99, 0.95, 0.2, 1e-3


class Network:
    """Layers of tanh and a linear one on top, trained by Adam."""

    def __init__(self, rng, *sizes, scale):
        scales = [1.0] * (len(sizes) - 2) + [scale]
        self.layers = [
            (rng.normal(0, factor / np.sqrt(n), (n, m)), np.zeros(m))
            for (n, m), factor in zip(pairwise(sizes), scales, strict=True)
        ]
        self.means, self.squares = ([tuple(map(np.zeros_like, layer)) for layer in self.layers] for _ in range(2))
        self.updates = 0

    def __call__(self, x):
        self.inputs = []
        for weights, bias in self.layers:
            x = np.tanh(x) if self.inputs else x
            self.inputs.append(x)
            x = x @ weights + bias
        return x

    def descend(self, gradient):
        """Make a step down a loss, given its gradient with respect to what the last call returned."""
        self.updates += 1
        rate = LEARNING_RATE * np.sqrt(1 - 0.999**self.updates) / (1 - 0.9**self.updates)
        for x, layer, means, squares in reversed(
            list(zip(self.inputs, self.layers, self.means, self.squares, strict=True))
        ):
            slopes = x.T @ gradient, gradient.sum(0)
            gradient = gradient @ layer[0].T * (1 - x**2)
            for parameters, slope, mean, square in zip(layer, slopes, means, squares, strict=True):
                mean += 0.1 * (slope - mean)
                square += 0.001 * (slope**2 - square)
                parameters -= rate * mean / (np.sqrt(square) + 1e-8)


def log_softmax(x):
    x = x - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def policy_gradient(logits, actions, old, advantages):
    """Gradient of PPO's clipped loss with respect to the logits."""
    logs = log_softmax(logits)
    chosen = np.eye(logits.shape[1])[actions]
    ratio = np.exp((logs * chosen).sum(1) - old)
    unclipped = ratio * advantages <= np.clip(ratio, 1 - CLIP, 1 + CLIP) * advantages
    return -(unclipped * ratio * advantages)[:, None] * (chosen - np.exp(logs)) / len(actions)


rng = np.random.default_rng(0)
envs = to_gymnasium_vector(sekai.make_vec("CartPole-v1", LANES))
size, choices = envs.single_observation_space.shape[0], envs.single_action_space.n
actor, critic = Network(rng, size, 64, 64, choices, scale=0.01), Network(rng, size, 64, 64, 1, scale=1.0)
obs, _ = envs.reset(seed=0)
returns, finished = np.zeros(LANES), []

for update in range(1, 201):
    rows = []
    for _ in range(STEPS):
        logs = log_softmax(actor(obs))
        actions = (logs + rng.gumbel(size=logs.shape)).argmax(1)  # draws from the softmax
        next_obs, rewards, terminations, truncations, infos = envs.step(actions)
        ends = terminations | truncations
        successors = next_obs.copy()
        if ends.any():
            successors[ends] = np.stack(infos["final_obs"][ends])
        old = np.take_along_axis(logs, actions[:, None], 1)[:, 0]
        rows.append((obs, actions, old, rewards, successors, terminations, truncations))
        obs = next_obs

        returns += rewards
        finished += returns[ends].tolist()
        returns[ends] = 0.0

    # Arrays of shape (STEPS, LANES, …). A truncated episode goes on in the value of its last observation.
    seen, actions, old, rewards, successors, terminations, truncations = map(np.array, zip(*rows, strict=True))
    advantages, targets = sekai.returns.gae(
        rewards, critic(seen)[..., 0], critic(successors)[..., 0], terminations, truncations, gamma=GAMMA, lam=LAMBDA
    )
    columns = [array.reshape(LANES * STEPS, *array.shape[2:]) for array in (seen, actions, old, advantages, targets)]
    for _ in range(EPOCHS):
        for batch in rng.permutation(LANES * STEPS).reshape(-1, MINIBATCH):
            x, action, before, advantage, target = (column[batch] for column in columns)
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
            actor.descend(policy_gradient(actor(x), action, before, advantage))
            critic.descend((critic(x) - target[:, None]) / MINIBATCH)

    mean = np.mean(finished[-100:])
    if update % 10 == 0 or mean >= 475:
        print(f"{update * LANES * STEPS:,} steps: mean return {mean:.1f}")
    if mean >= 475:
        break
