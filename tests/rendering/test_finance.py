import inspect
import math
from types import SimpleNamespace

import numpy as np
import pytest

import sekai
from sekai.rendering import Bars, Dashboard, make_renderer
from sekai.rendering.finance import (
    PriceChart,
    asset_names,
    bought_and_held,
    change,
    chosen_position,
    portfolio_charts,
    shortfall_bps,
)
from tests.rendering.texts import texts_are_in_their_place


def env_of(**values):
    """Something that looks like an environment without wrappers."""
    env = SimpleNamespace(**values)
    env.unwrapped = env
    return env


def points(line):
    return np.column_stack(line.get_data()).tolist()


def play(dashboard, env, **columns):
    for env.elapsed_steps, values in enumerate(zip(*columns.values(), strict=True)):
        vars(env).update(zip(columns, values, strict=True))
        dashboard.render(env)


def test_positions_are_shaded_and_their_changes_marked():
    chart = PriceChart("Price", "price", position="position")
    dashboard = Dashboard(chart, width=400, height=300)
    play(dashboard, env_of(), price=[10.0, 11.0, 12.0, 13.0], position=[0.0, 1.0, 1.0, -0.5])
    assert points(chart.buys) == [[0, 10]]  # the position held over the first step was bought at its beginning
    assert points(chart.sells) == [[2, 12]]
    assert chart.long.get_xy()[:6].tolist() == [[0, 0], [1, 0], [1, 0], [2, 0], [2, 0], [3, 0]]
    assert sorted(set(map(tuple, chart.long.get_xy().tolist())))[-3:] == [(2, 0), (2, 1), (3, 0)]
    assert chart.short.get_xy()[:, 1].max() == 0.5
    low, high = chart.axes.get_ylim()
    assert low <= 10
    assert high >= 13
    texts_are_in_their_place(chart.axes.figure)


def test_quotes_and_fills():
    chart = PriceChart("Mid", "mid", bid="bid", ask="ask", buys="bought", sells="sold")
    dashboard = Dashboard(chart, width=400, height=300)
    nan = math.nan
    play(
        dashboard, env_of(),
        mid=[10.0, 10.5, 10.2], bid=[nan, 9.0, 9.5], ask=[nan, 11.0, 12.0],
        bought=[None, 9.0, None], sold=[None, 11.0, 12.0],
    )  # fmt: skip
    assert points(chart.bid)[1:] == [[1, 9], [2, 9.5]]
    assert points(chart.ask)[1:] == [[1, 11], [2, 12]]
    assert points(chart.buys) == [[0.5, 9]]
    assert points(chart.sells) == [[0.5, 11], [1.5, 12]]
    assert chart.axes.get_ylim()[0] <= 9.0
    assert chart.axes.get_ylim()[1] >= 12.0


def test_markers_without_room_are_left_out():
    chart = PriceChart("Price", "price", position="position")
    dashboard = Dashboard(chart, width=320, height=240)
    play(dashboard, env_of(), price=np.ones(100), position=np.arange(100) % 2)
    assert points(chart.buys) == []
    assert len(chart.price.get_xdata()) == 100


def test_prices_before_the_episode():
    chart = PriceChart("Price", "price", history="past")
    dashboard = Dashboard(chart, width=400, height=300, horizon=10)
    play(dashboard, env_of(past=[7.0, 8.0, 9.0, 10.0]), price=[10.0, 11.0])
    assert points(chart.past) == [[-3, 7], [-2, 8], [-1, 9], [0, 10]]
    assert points(chart.price) == [[0, 10], [1, 11]]
    assert chart.axes.get_xlim() == (-3, 10)
    assert chart.axes.get_ylim()[0] <= 7


def test_the_chosen_position_is_that_before_the_drift():
    assert chosen_position(env_of(elapsed_steps=0)) == 0.0
    for target in (-1.0, 0.0, 0.5, 1.0):
        growth = 1.1
        drifted = target * growth / (target * growth + 1 - target)
        env = env_of(elapsed_steps=1, position=drifted, price_history=np.array([10.0, 11.0]))
        assert chosen_position(env) == pytest.approx(target, rel=1e-12, abs=1e-15)
    ruined = env_of(elapsed_steps=1, position=-10.0, price_history=np.array([10.0, 5.0]))
    assert chosen_position(ruined) == -10.0


def test_buying_and_holding():
    env = env_of(elapsed_steps=2, price=15.0, price_history=np.array([9.0, 10.0, 12.0, 15.0]))
    assert bought_and_held(env) == 1.5


def test_portfolios():
    assert asset_names(env_of(n_assets=2)) == ("Asset 1", "Asset 2", "Cash")
    assert asset_names(env_of(data=SimpleNamespace(assets=["A", 7]))) == ("A", "7", "Cash")
    rows = portfolio_charts(("A", "B", "Cash"))
    dashboard = Dashboard(*rows, width=480, height=320)
    play(dashboard, env_of(), portfolio_value=[1.0, 1.2], weights=[[0.0, 0.0, 1.0], [0.5, 0.2, 0.3]])
    wealth, layers, bars = dashboard.panels
    assert wealth.lines[0].get_ydata().tolist() == [1.0, 1.2]
    assert layers.axes.get_ylim() == (0.0, 1.0)
    assert layers.layers[1].get_xy()[:2] == pytest.approx(np.array([[0, 0], [1, 0.5]]))
    assert [bar.get_width() for bar in bars.bars] == [0.5, 0.2, 0.3]
    assert [bar.get_facecolor()[:3] for bar in bars.bars] == [layer.get_facecolor()[:3] for layer in layers.layers]
    texts_are_in_their_place(dashboard.panels[0].axes.figure)


def test_many_names_leave_some_out():
    names = [f"Asset {i}" for i in range(40)]
    dashboard = Dashboard(Bars("Weights", "weights", labels=names), width=320, height=240)
    dashboard.render(env_of(weights=np.ones(40)))
    axes = dashboard.panels[0].axes
    assert 5 < len(axes.get_yticks()) < 20
    texts_are_in_their_place(axes.figure)


def test_numbers():
    assert change(1.0234) == "+2.34%"
    assert shortfall_bps(env_of(shortfall=500.0, X0=1e4, s0=50.0)) == 10.0


IDS = [spec.id for spec in sekai.all_specs() if "finance" in str(spec.entry_point) and spec.id in (
    "Trading-v0", "Portfolio-v0", "MarketMaking-v0", "OptimalExecution-v0"
)]  # fmt: skip
by_id = pytest.mark.parametrize("id", IDS)


def figure_of(renderer, env):
    dashboard = renderer.dashboard(env) if hasattr(renderer, "dashboard") else renderer
    return dashboard.panels[0].axes.figure


@by_id
@pytest.mark.parametrize(("width", "height", "theme"), [(720, 450, "light"), (320, 240, "dark")])
def test_an_episode(id, width, height, theme):
    env, twin = sekai.make(id), sekai.make(id)
    renderer = make_renderer(env, width=width, height=height, theme=theme)
    result = env.reset(seed=0)
    twin.reset(seed=0)
    env.action_space.seed(0)
    for step in range(300):
        frame = renderer.render(env)
        assert frame.shape == (height, width, 3)
        assert frame.flags.c_contiguous
        if step % 20 == 0:
            texts_are_in_their_place(figure_of(renderer, env))
        if result.done:
            break
        action = env.action_space.sample()
        result = env.step(action)
        assert twin.step(action).reward == result.reward
    assert result.done
    assert env.rng.bit_generator.state == twin.rng.bit_generator.state
    env.reset(seed=0)
    renderer.render(env)
    chart = (renderer.dashboard(env) if hasattr(renderer, "dashboard") else renderer).panels[0]
    line = chart.price if isinstance(chart, PriceChart) else chart.lines[0]
    assert line.get_xdata().tolist() == [0.0]  # a new episode has a new history


@by_id
def test_before_the_first_reset(id):
    env = sekai.make(id)
    with pytest.raises(sekai.ResetRequired, match="before render"):
        make_renderer(env).render(env)


@by_id
def test_other_environments_are_refused(id):
    other = sekai.make("Pendulum-v1")
    other.reset(seed=0)
    with pytest.raises(TypeError, match=r"draws \w+Env, got PendulumEnv"):
        make_renderer(sekai.make(id)).render(other)


@by_id
def test_arguments(id):
    cls = type(make_renderer(sekai.make(id)))
    parameters = inspect.signature(cls).parameters.values()
    assert [(p.name, p.default) for p in parameters] == [
        ("width", 720), ("height", 450), ("theme", "light"), ("window", None)
    ]  # fmt: skip
    assert {p.kind for p in parameters} == {inspect.Parameter.KEYWORD_ONLY}
    with pytest.raises(ValueError, match="at least 320 x 240"):
        cls(width=200)
