from types import SimpleNamespace

import numpy as np
import pytest

import sekai
from sekai.rendering import Bars, Dashboard, Fan, Histogram, RecordFrames, TimeSeries
from tests.rendering.texts import texts_are_in_their_place


def counter(**values):
    return SimpleNamespace(elapsed_steps=0, level=0.0, **values)


def shown(dashboard, panel=0):
    return np.column_stack(dashboard.panels[panel].lines[0].get_data()).tolist()


def play(dashboard, env, levels):
    """Render an environment once per level, and return the last frame."""
    for env.elapsed_steps, env.level in enumerate(levels):
        frame = dashboard.render(env)
    return frame


def test_a_history_per_environment():
    dashboard = Dashboard(TimeSeries("Level", "level"))
    one, other = counter(), counter()
    play(dashboard, one, [1.0, 2.0])
    play(dashboard, other, [5.0])
    one.elapsed_steps, one.level = 2, 3.0
    dashboard.render(one)
    assert shown(dashboard) == [[0, 1], [1, 2], [2, 3]]


def test_short_lived_environments_share_nothing():
    dashboard = Dashboard(TimeSeries("Level", "level"), width=320, height=240)
    for i in range(30):
        env = counter()
        env.elapsed_steps, env.level = 1 + i, float(i)
        dashboard.render(env)
        assert shown(dashboard) == [[1 + i, i]]


def test_an_episode_begins_anew_and_a_second_render_replaces_the_first():
    dashboard = Dashboard(TimeSeries("Level", "level"))
    env = counter()
    play(dashboard, env, [1.0, 2.0, 3.0])
    env.level = 4.0
    dashboard.render(env)
    assert shown(dashboard) == [[0, 1], [1, 2], [2, 4]]
    env.elapsed_steps = 1
    dashboard.render(env)
    assert shown(dashboard) == [[1, 4]]
    play(dashboard, env, [7.0])
    assert shown(dashboard) == [[0, 7]]
    dashboard.reset(env)
    env.elapsed_steps = 5
    dashboard.render(env)
    assert shown(dashboard) == [[5, 7]]


def test_without_a_clock_every_render_is_a_step():
    dashboard = Dashboard(TimeSeries("Level", "level"))
    env = SimpleNamespace(level=1.0)
    for _ in range(3):
        dashboard.render(env)
    assert shown(dashboard) == [[0, 1], [1, 1], [2, 1]]
    dashboard.reset()
    dashboard.render(env)
    assert shown(dashboard) == [[0, 1]]
    with pytest.raises(AttributeError, match="tick"):
        Dashboard(TimeSeries("Level", "level"), clock="tick").render(env)


def test_the_same_states_make_the_same_frames():
    first, second = Dashboard(TimeSeries("Level", "level")), Dashboard(TimeSeries("Level", "level"))
    play(second, counter(), [100.0, 700.0])
    levels = [1.0, 5.0, -2.0]
    assert np.array_equal(play(first, counter(), levels), play(second, counter(), levels))


def test_kernel_envs_have_a_clock_of_their_own():
    env = sekai.make("CartPole-v1").unwrapped
    dashboard = Dashboard(TimeSeries("Position", lambda env: env.state[0]))
    for _ in range(2):
        env.reset(seed=0)
        dashboard.render(env)
        env.step(0)
        dashboard.render(env)
        assert [time for time, _ in shown(dashboard)] == [0, 1]


def test_a_source_that_fails_changes_nothing():
    dashboard = Dashboard(TimeSeries("Level", "level"), TimeSeries("More", "more"))
    env = counter(more=0.0)
    play(dashboard, env, [1.0, 2.0])
    del env.more
    env.elapsed_steps = 0
    with pytest.raises(AttributeError, match="more"):
        dashboard.render(env)
    env.more, env.elapsed_steps, env.level = 0.0, 2, 3.0
    dashboard.render(env)
    assert shown(dashboard) == [[0, 1], [1, 2], [2, 3]]


def test_a_window():
    dashboard = Dashboard(TimeSeries("Level", "level"), window=3)
    play(dashboard, counter(), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    assert shown(dashboard) == [[-3, 2], [-2, 3], [-1, 4], [0, 5]]
    axes = dashboard.panels[0].axes
    assert axes.get_xlim() == (-3.0, 0.0)
    assert axes.get_xlabel() == "steps from now"


@pytest.mark.parametrize("horizon", [50, "length", lambda env: env.length])
def test_a_horizon(horizon):
    dashboard = Dashboard(TimeSeries("Level", "level"), horizon=horizon)
    play(dashboard, counter(length=50), [0.0, 1.0])
    assert dashboard.panels[0].axes.get_xlim() == (0.0, 50.0)


def test_sources_of_all_kinds():
    series = TimeSeries("Levels", {"twice": lambda env: 2 * env.level, "none": lambda env: None}, reference="plan")
    lanes = Fan("Lanes", lambda env: np.arange(5.0), single=1)
    dashboard = Dashboard(series, [Bars("Now", "bars"), lanes, Histogram("Spread", "bars")])
    env = counter(plan=[3.0, 2.0, 1.0], bars=(0.5, -1))
    play(dashboard, env, [1.0, 2.0])
    assert series.lines[0].get_ydata().tolist() == [2.0, 4.0]
    assert np.isnan(series.lines[1].get_ydata()).all()
    assert series.reference.get_data()[1].tolist() == [3.0, 2.0, 1.0]
    assert [bar.get_width() for bar in dashboard.panels[1].bars] == [0.5, -1.0]
    assert lanes.median.get_ydata().tolist() == [2.0, 2.0]
    assert lanes.lines[0].get_ydata().tolist() == [0.0, 0.0]
    assert dashboard.panels[3].mean.get_xdata() == [-0.25, -0.25]


def test_titles_and_notes():
    env = sekai.make("CartPole-v1")
    env.reset(seed=0)
    angle = TimeSeries("Angle", lambda env: env.unwrapped.state[2], unit="rad")
    dashboard = Dashboard(angle, note=lambda env: "all is well")
    dashboard.render(env)
    picture = angle.axes.figure
    assert (picture.title.get_text(), picture.note.get_text()) == ("CartPole-v1", "all is well")
    assert angle.axes.get_xlim() == (0.0, 500.0)
    env.step(0)
    dashboard.render(env)
    assert len(shown(dashboard)) == 2  # the clock is that of the TimeLimit
    narrow = Dashboard(TimeSeries("Angle", "level"), title="title", note=lambda env: "note", width=400)
    narrow.render(counter())
    assert narrow.panels[0].axes.figure.title.get_text() == ""


@pytest.mark.parametrize("size", [(720, 450), (320, 240)])
def test_text_is_in_its_place(size):
    dashboard = Dashboard(
        TimeSeries("Level", "level", unit="m", labels=["level"]), [Bars("Now", "bars"), Fan("Lanes", "bars")],
        width=size[0], height=size[1], note=lambda env: f"level {env.level:.3f} m and more",
    )  # fmt: skip
    for scale in (1.0, 1e-6, 1e9):
        play(dashboard, counter(bars=[scale, -scale, 0.5 * scale]), [scale, -scale, 2 * scale])
        texts_are_in_their_place(dashboard.panels[0].axes.figure)


def test_bad_arguments():
    with pytest.raises(ValueError, match="at least 320 x 240, got 300 x 240"):
        Dashboard(width=300, height=240)
    with pytest.raises(ValueError, match="window"):
        Dashboard(window=0)
    with pytest.raises(TypeError, match="rows must hold charts, got 'level'"):
        Dashboard(["level"])
    with pytest.raises(ValueError, match="heights"):
        Dashboard(TimeSeries("Level", "level"), heights=[1, 2])


def test_recorded_frames_have_one_size(tmp_path):
    dashboard = Dashboard(TimeSeries("Position", lambda env: env.unwrapped.state[0]), width=320, height=240)
    env = RecordFrames(sekai.make("CartPole-v1"), dashboard)
    env.reset(seed=0)
    while not env.step(1).done:
        pass
    assert {frame.shape for frame in env.frames} == {(240, 320, 3)}
    assert env.save(tmp_path / "run.gif").stat().st_size > 0
