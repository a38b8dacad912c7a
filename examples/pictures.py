"""Draw everything that sekai can draw: `python examples/pictures.py FOLDER` writes small PNG files."""

import sys
from pathlib import Path

import numpy as np
from PIL import Image

import sekai
from sekai.rendering import LaneGrid, make_renderer, plot_lanes, plot_rollout

SIZE = {"width": 480, "height": 320}
COLORS = 64  # enough for flat colours, and a third of the size


def scene(id, steps, theme):
    """A frame of an environment after some random steps."""
    env = sekai.make(id)
    env.action_space.seed(3)
    renderer = make_renderer(env, **SIZE, theme=theme)
    result = env.reset(seed=3)
    frame = renderer.render(env)
    for _ in range(steps):
        if not result.done:
            result = env.step(env.action_space.sample())
            frame = renderer.render(env)
    return frame


def scenes():
    """A picture of every environment that has a renderer, in turns light and dark."""
    for k, spec in enumerate(sekai.all_specs()):
        try:
            make_renderer(sekai.make(spec.id))
        except TypeError:
            continue
        yield spec.id, scene(spec.id, steps=12 if k % 2 else 150, theme=("light", "dark")[k % 2])


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
