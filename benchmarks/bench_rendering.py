"""Frames a second of the renderers at 600 x 400: `python -m benchmarks.bench_rendering`.

An environment is stepped with random actions and drawn after every step and reset; both are timed. Exits with 1 if a
renderer is below what people take for motion: 30 frames a second of a scene, 15 of charts.
"""

from __future__ import annotations

import sys
import time

import sekai
from sekai.rendering import make_renderer
from sekai.rendering.scene import SceneRenderer

SIZE = (600, 400)
FRAMES = 200
ROUNDS = 3
LEAST = {True: 30.0, False: 15.0}  # by whether it is a scene


def drawn() -> list[str]:
    """Ids of the environments that have a renderer."""
    found = []
    for spec in sekai.all_specs():
        try:
            make_renderer(sekai.make(spec.id))
        except TypeError:
            continue
        found.append(spec.id)
    return found


def frames_a_second(id: str) -> tuple[float, float]:
    """Of an environment's renderer, the best of some rounds, and what there should be."""
    env = sekai.make(id)
    env.action_space.seed(0)
    renderer = make_renderer(env, width=SIZE[0], height=SIZE[1])
    result = env.reset(seed=0)
    renderer.render(env)
    best = 0.0
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        for _ in range(FRAMES):
            result = env.reset() if result.done else env.step(env.action_space.sample())
            renderer.render(env)
        best = max(best, FRAMES / (time.perf_counter() - begun))
    return best, LEAST[isinstance(renderer, SceneRenderer)]


def main() -> int:
    slow = 0
    for id in drawn():
        got, least = frames_a_second(id)
        slow += got < least
        print(f"{id:28} {got:7.1f} frames/s ({least:.0f} asked){'' if got >= least else '  TOO SLOW'}")
    return int(slow > 0)


if __name__ == "__main__":
    sys.exit(main())
