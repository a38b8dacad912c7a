import sys

import numpy as np
import pytest
from matplotlib.figure import Figure

import sekai
from sekai.rendering import plot_rollout
from sekai.rendering.rollouts import by_time, picked, spread, summary
from sekai.rollouts.result import Episodes, Rollout
from tests.rendering.texts import texts_are_in_their_place


@pytest.fixture(scope="module")
def vec():
    return sekai.make_vec("CartPole-v1", 64)


@pytest.fixture(scope="module")
def rollout(vec):
    return sekai.rollout(vec, "random", 120, seed=0)


@pytest.mark.parametrize("size", [(960, 640), (500, 360)])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_returns_lengths_and_rewards(rollout, size, theme):
    figure = plot_rollout(rollout, width=size[0], height=size[1], theme=theme)
    assert isinstance(figure, Figure)
    assert tuple(figure.bbox.size.astype(int)) == size
    count = rollout.statistics.num_episodes
    assert figure.texts[0].get_text() == f"64 lanes \N{MULTIPLICATION SIGN} 120 steps: {count} episodes ended"
    returns, lengths, rewards = figure.axes
    for axes, values in ((returns, rollout.episodes.returns), (lengths, rollout.episodes.lengths)):
        (bars,) = [patch for patch in axes.patches if hasattr(patch, "get_data")]
        counts, edges, _ = bars.get_data()
        assert counts.sum() == len(values) == count
        assert edges[0] <= values.min()
        assert values.max() <= edges[-1]
        assert axes.lines[0].get_xdata()[0] == pytest.approx(values.mean(), rel=1e-12)  # means in another order
    median, *singles = rewards.lines
    assert median.get_ydata().tolist() == [1.0] * 120
    assert len(singles) == 3
    assert rewards.get_xlim() == (0, 120)
    texts_are_in_their_place(figure)


def test_episodes_alone(vec):
    rollout = sekai.rollout(vec, "random", 120, seed=0, record=[])
    *_, returns = plot_rollout(rollout).axes
    x, median = returns.lines[0].get_data()
    ends, values = rollout.episodes.end_steps, rollout.episodes.returns
    assert x.tolist() == [2 * slot + 1 for slot in np.unique(ends // 2)]
    assert median.tolist() == [np.median(values[ends // 2 == slot]) for slot in np.unique(ends // 2)]


def test_statistics_alone(vec):
    rollout = sekai.rollout(vec, "random", 120, seed=0, record=None)
    figure = plot_rollout(rollout)
    mean, deviation = rollout.statistics.return_mean, rollout.statistics.return_std
    assert figure.axes[0].get_title("left") == f"Return: {mean:.1f} ± {deviation:.1f}"
    bar, dot = figure.axes[0].lines
    assert bar.get_xdata() == [mean - deviation, mean + deviation]
    assert dot.get_xdata() == [mean]
    assert len(figure.axes) == 2
    texts_are_in_their_place(figure)


def test_one_of_a_kind_is_no_plural():
    one = sekai.rollout(sekai.make_vec("CartPole-v1", 1), np.ones((10, 1), int), 10, seed=0)
    assert one.episodes.lengths.tolist() == [10]
    assert summary(one) == "1 lane \N{MULTIPLICATION SIGN} 10 steps: 1 episode ended"
    one = sekai.rollout(sekai.make_vec("CartPole-v1", 2), "random", 1, seed=0)
    assert summary(one) == "2 lanes \N{MULTIPLICATION SIGN} 1 step: 0 episodes ended"


def test_sums_of_rewards_where_no_episode_ended():
    rewards = np.arange(12.0).reshape(3, 4)
    valid = np.ones((3, 4), bool)
    valid[1, 2] = False
    rollout = Rollout(4, 3, rewards=rewards, valid=valid)
    sums, over_time = plot_rollout(rollout, single_lanes=4).axes
    assert sums.lines[0].get_xdata()[0] == np.mean([12.0, 15.0, 12.0, 21.0])
    assert over_time.lines[0].get_ydata().tolist() == [1.5, 5.0, 9.5]
    assert np.array_equal(over_time.lines[3].get_ydata(), [2.0, np.nan, 10.0], equal_nan=True)


def test_nothing_was_recorded_and_no_episode_ended():
    figure = plot_rollout(Rollout(4, 3))
    assert figure.texts[0].get_text() == "4 lanes \N{MULTIPLICATION SIGN} 3 steps: 0 episodes ended"
    assert figure.axes == []


def test_other_things_are_refused():
    with pytest.raises(TypeError, match=r"rollout must be what sekai\.rollout returned, got int"):
        plot_rollout(3)


def test_a_figure_shows_itself_and_touches_no_global_state(rollout):
    png = plot_rollout(rollout)._repr_png_()
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert png == plot_rollout(rollout)._repr_png_()
    assert "matplotlib.pyplot" not in sys.modules


def test_picked():
    assert picked(5, 10).tolist() == [0, 1, 2, 3, 4]
    assert picked(101, 5).tolist() == [0, 25, 50, 75, 100]


def test_by_time():
    ends = np.array([0, 0, 3, 4, 9])
    flags = np.ones(5, bool)
    episodes = Episodes(np.arange(5.0), ends, ends, ends, flags, flags, None)
    times, returns = by_time(episodes, 10, most=5)
    assert times.tolist() == [1.0, 3.0, 5.0, 9.0]
    assert np.array_equal(returns, [[0.0, 1.0], [2.0, np.nan], [3.0, np.nan], [4.0, np.nan]], equal_nan=True)


def test_spread():
    assert spread(22.17, 11.8) == "22.2 ± 11.8"
    assert spread(-1234.5, 250.0) == "\N{MINUS SIGN}1,234.5 ± 250.0"
    assert spread(1.0, 0.0) == "1.00 ± 0.00"
    assert spread(0.01234, 0.000567) == "0.01234 ± 0.00057"
