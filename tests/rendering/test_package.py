import subprocess
import sys

import pytest

LIBRARIES = "matplotlib", "PIL", "imageio_ffmpeg"


def python(code):
    """Standard output of a fresh process in which every warning is an error."""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_without_matplotlib_the_rest_works_and_the_error_says_what_to_install():
    printed = python(
        "import sys; sys.modules['matplotlib'] = None\n"
        "import sekai\n"
        "from sekai.rendering import BaseRenderer, RecordFrames, save_gif\n"
        "for name in ('plot_rollout', 'Dashboard', 'CartPoleRenderer'):\n"
        "    try: getattr(sekai.rendering, name)\n"
        "    except ImportError as error: print(error)\n"
        "try: sekai.envs.PendulumRenderer\n"
        "except ImportError as error: print(error)\n"
    )
    assert printed.splitlines() == [
        f'sekai.rendering.{name} needs matplotlib: pip install "sekai[render]"'
        for name in ("plot_rollout", "Dashboard", "CartPoleRenderer", "PendulumRenderer")
    ]


def test_drawing_opens_no_window_and_leaves_global_state_alone():
    printed = python(
        "import matplotlib, sys, sekai\n"
        "before = matplotlib.rcParams.copy()\n"
        "env = sekai.make('CartPole-v1'); env.reset(seed=0)\n"
        "renderer = sekai.rendering.make_renderer(env, width=200, height=150)\n"
        "for _ in range(1000): frame = renderer.render(env)\n"
        "import gc; gc.collect()\n"
        "figures = [o for o in gc.get_objects() if isinstance(o, matplotlib.figure.Figure)]\n"
        "print(len(figures), 'matplotlib.pyplot' in sys.modules, matplotlib.rcParams.copy() == before)\n"
    )
    assert printed.split() == ["1", "False", "True"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_importing_the_package_loads_no_library(library):
    assert (
        python(f"import sys, sekai.rendering; sekai.rendering.RecordFrames; print({library!r} in sys.modules)")
        == "False\n"
    )
