"""Draw everything that sekai can draw: `python examples/pictures.py FOLDER` writes small PNG files."""

import sys
from pathlib import Path

import numpy as np
from PIL import Image

import sekai
from sekai.rendering import LaneGrid, make_renderer, plot_lanes, plot_rollout

SIZE = {"width": 480, "height": 320}
COLORS = 64  # enough for flat colours, and a third of the size

# What acts in environments where random actions make dull pictures, by the environment and the step.
POLICIES = {
    "MarketMaking-v0": lambda env, t: env.avellaneda_stoikov_action(),
    "OptimalExecution-v0": lambda env, t: np.minimum(1.2 * env.almgren_chriss_actions()[t], 1.0),
    "Trading-v0": lambda env, t: t // 25 * 2 % 3,
    "Portfolio-v0": lambda env, t: np.roll(np.linspace(0.0, 1.0, env.n_assets + 1), t // 40),
}


def scene(id, steps, theme):
    """A frame of an environment after some steps."""
    env = sekai.make(id)
    env.action_space.seed(3)
    policy = POLICIES.get(id, lambda env, t: env.action_space.sample())
    renderer = make_renderer(env, **SIZE, theme=theme)
    result = env.reset(seed=3)
    frame = renderer.render(env)
    for t in range(steps):
        if not result.done:
            result = env.step(policy(env.unwrapped, t))
            frame = renderer.render(env)
    return frame


def scenes():
    """A picture of every environment that has a renderer, in turns light and dark."""
    for k, spec in enumerate(sekai.all_specs()):
        try:
            make_renderer(sekai.make(spec.id))
        except TypeError:
            continue
        yield spec.id, scene(spec.id, steps=12 if spec.id == "CartPole-v1" else 150, theme=("light", "dark")[k % 2])


def batches():
    """Pictures of a rollout, of its fields, and of some lanes."""
    vec = sekai.make_vec("Pendulum-v1", 512)
    rollout = sekai.rollout(vec, "random", 390, seed=0, record=["observations", "rewards"])
    yield "rollout", plot_rollout(rollout, **SIZE).frame()
    yield "fields", plot_lanes(rollout, ["observations"], **SIZE, theme="dark").frame()
    yield "lanes", LaneGrid(vec, 6, width=180, height=180).render()


def save(frame, path):
    """Write a frame with few colours."""
    image = Image.fromarray(np.asarray(frame)).quantize(COLORS, dither=Image.Dither.NONE)
    image.save(path, optimize=True)


def main(folder):
    Path(folder).mkdir(parents=True, exist_ok=True)
    for make in (scenes, batches):
        for name, frame in make():
            save(frame, Path(folder) / f"{name}.png")


if __name__ == "__main__":
    main(sys.argv[1])
