import numpy as np
import pytest

from sekai.rendering import Bars, Chart, Depth, Fan, Histogram, PhasePortrait, Picture, StackedArea, TimeSeries
from sekai.rendering.chart import roomy_limits
from sekai.rendering.time_charts import held, quantiles_of
from sekai.rendering.value_charts import bin_edges
from tests.rendering.texts import texts_are_in_their_place


def placed(chart, **options):
    picture = Picture(**options)
    picture.place(chart)
    return chart


def points(line):
    return np.column_stack(line.get_data()).tolist()


def test_a_series():
    chart = placed(TimeSeries("Price", unit="$", labels=["bid", "ask"], baseline=1.0))
    chart.set_data([0, 1, 2], [[1.0, 2.0], [np.nan, 3.0], [4.0, 5.0]])
    first, second = chart.lines
    assert np.array_equal(first.get_ydata(), [1.0, np.nan, 4.0], equal_nan=True)
    assert second.get_ydata().tolist() == [2.0, 3.0, 5.0]
    assert chart.axes.get_title("left") == "Price ($)"
    assert chart.axes.get_xlabel() == "step"
    assert chart.axes.get_ylim() == (1.0, 6.0)
    assert [text.get_text() for text in chart.axes.get_legend().get_texts()] == ["bid", "ask"]
    chart.set_data([], np.empty((0, 2)))
    assert first.get_xdata().tolist() == []


def test_values_that_hold():
    chart = placed(TimeSeries("Stock", hold=True))
    chart.set_data([0, 1, 3], [5, 2, 4])
    assert points(chart.lines[0]) == [[0, 5], [1, 5], [1, 2], [3, 2], [3, 4]]
    assert [part.tolist() for part in held(np.array([1.0]), np.array([2.0]))] == [[1.0], [2.0]]


def test_whole_numbers_have_whole_ticks():
    chart = placed(TimeSeries("Stock", whole=True))
    chart.set_data([0, 1], [0, 2])
    ticks = chart.axes.get_yticks()
    assert (ticks == ticks.round()).all()
    assert chart.axes.get_ylim() == (-0.5, 2.5)


def test_zeros_have_an_axis_of_ones():
    chart = placed(TimeSeries("Stock", whole=True, baseline=0.0))
    chart.set_data([0, 1], [0, 0])
    ticks = chart.axes.get_yticks()
    assert chart.axes.yaxis.get_major_formatter().format_ticks(ticks)[1:-1] == ["\N{MINUS SIGN}1", "0", "1"]


def test_a_single_point_is_a_dot():
    series, fan = placed(TimeSeries("Price")), placed(Fan("Lanes"))
    for count, marker in ((1, "o"), (2, "")):
        x = np.arange(count)
        series.set_data(x, np.ones(count))
        fan.set_data(x, np.ones((count, 5)), np.ones((count, 1)))
        assert [line.get_marker() for line in (series.lines[0], fan.median, fan.lines[0])] == [marker] * 3


def test_filled_around_the_baseline():
    chart = placed(TimeSeries("Profit", baseline=0.0, fill=True))
    chart.set_data([0, 1, 2], [1.0, -2.0, 3.0])
    above, below = (area.get_xy() for area in chart.areas)
    assert above[:, 1].min() == 0.0
    assert above[:, 1].max() == 3.0
    assert below[:, 1].min() == -2.0
    assert below[:, 1].max() == 0.0


def test_limits_stay_while_data_grow_a_little_and_include_them():
    chart = placed(TimeSeries("Price"))
    seen = set()
    values = 100 + np.cumsum(np.random.default_rng(0).normal(size=200))
    for n in range(20, 200):
        chart.set_data(np.arange(n), values[:n])
        low, high = chart.axes.get_ylim()
        assert low <= values[:n].min()
        assert values[:n].max() <= high
        seen.add((low, high, *chart.axes.get_xlim()))
    assert len(seen) <= 12


def test_given_limits_and_time_spans():
    chart = placed(TimeSeries("Price", limits=(0.0, 2.0)))
    chart.span = (0.0, 50.0)
    chart.set_data([0, 1], [5.0, 7.0])
    assert chart.axes.get_ylim() == (0.0, 2.0)
    assert chart.axes.get_xlim() == (0.0, 50.0)
    chart.set_data([0, 70], [5.0, 7.0])
    assert chart.axes.get_xlim() == (0.0, 70.0)


def test_room_around_data_but_not_beyond_an_edge():
    assert roomy_limits((1000.0, 1000.0 + 1e-9), ()) == pytest.approx((999.9925, 1000.0075), abs=1e-9)
    assert roomy_limits((0.0, 9.9), ()) == (-2.5, 12.5)
    assert roomy_limits((0.0, 9.9), (0.0,)) == (0.0, 12.5)


def test_a_fan():
    chart = placed(Fan("Reward"))
    values = np.arange(101.0) + np.array([[0.0], [10.0]])
    chart.set_data([0, 1], values, values[:, :2])
    assert chart.median.get_ydata().tolist() == [50.0, 60.0]
    outer, inner = (band.get_xy()[:4].tolist() for band in chart.bands)
    assert outer == [[0, 5], [1, 15], [1, 105], [0, 95]]
    assert inner == [[0, 25], [1, 35], [1, 85], [0, 75]]
    assert [line.get_ydata().tolist() for line in chart.lines] == [[0, 10], [1, 11]]


def test_quantiles_leave_out_nan():
    values = np.random.default_rng(0).normal(size=(4, 9))
    values[0, :4] = values[1] = np.nan
    found = quantiles_of(values, Fan.quantiles)
    for row in (0, 2, 3):
        expected = np.nanquantile(values[row], Fan.quantiles)
        assert np.allclose(found[:, row], expected, rtol=1e-14, atol=1e-14)  # NumPy interpolates in another order
    assert np.isnan(found[:, 1]).all()


def test_layers_stack_up_and_down():
    chart = placed(StackedArea("Weights"))
    chart.set_data([0, 1], [[0.6, -0.2, 0.4], [0.5, 0.5, np.nan]])
    first, second, third = (layer.get_xy()[:4].tolist() for layer in chart.layers)
    assert first == [[0, 0], [1, 0], [1, 0.5], [0, 0.6]]
    assert second == [[0, 0], [1, 0.5], [1, 1.0], [0, -0.2]]
    assert third[0] == [0, pytest.approx(0.6)]  # 1.0 - 0.4
    assert third[3] == [0, 1.0]


def test_bars():
    chart = placed(Bars("Weights", labels=["a", "a very long name"], percent=True))
    chart.set_data([0.25, -0.5, np.nan])
    assert [bar.get_width() for bar in chart.bars] == [0.25, -0.5, 0.0]
    first, second, third = [label.get_text() for label in chart.axes.get_yticklabels()]
    assert (first, third) == ("a", "2")
    assert second[-1] == "…"
    assert "a very long name".startswith(second[:-1])
    texts_are_in_their_place(chart.axes.figure)


def test_names_of_bars_are_no_formulas():
    chart = placed(Bars("Weights", labels=["$\\b$", "$_^$"]))
    chart.set_data([0.25, 0.5])
    assert chart.axes.figure.frame().shape[2] == 3  # a formula like these is an error of matplotlib
    assert [label.get_text() for label in chart.axes.get_yticklabels()] == ["$\\b$", "$_^$"]


def test_a_histogram():
    chart = placed(Histogram("Returns"))
    chart.set_data([1, 2, 2, 3, np.nan])
    counts, edges, _ = chart.bars.get_data()
    assert counts.tolist() == [1, 2, 1]
    assert edges.tolist() == [0.5, 1.5, 2.5, 3.5]
    assert chart.mean.get_xdata() == [2.0, 2.0]
    assert (chart.axes.get_yticks() % 1 == 0).all()  # counts
    chart.set_data([])
    assert chart.bars.get_data().values.tolist() == [0]


@pytest.mark.parametrize(
    "values", [[5.0], [0.0], [0.5, 0.5], [-3, 7], np.linspace(-1, 1, 1000), [1e6, 1e6 + 1], np.arange(2000)]
)
def test_bins_hold_all_values(values):
    values = np.asarray(values, float)
    edges = bin_edges(values)
    assert edges[0] <= values.min()
    assert values.max() <= edges[-1]
    assert len(edges) <= 60
    assert np.histogram(values, edges)[0].sum() == len(values)


def test_a_phase_portrait():
    chart = placed(PhasePortrait("Path", x_limits=(0.0, 4.0)))
    chart.set_data([1, 2, 3], [4, 5, 6])
    assert points(chart.path) == [[1, 4], [2, 5], [3, 6]]
    assert points(chart.dot) == [[3, 6]]
    assert chart.axes.get_xlim() == (0.0, 4.0)


def test_a_depth_chart():
    chart = placed(Depth("Book"))
    chart.set_data([[98, 2], [99, 1], [np.nan, 5]], [[101, 3], [102, 4]])
    bids, asks = map(points, chart.edges)
    low, high = chart.axes.get_xlim()
    assert bids == [[99, 0], [99, 1], [98, 1], [98, 3], [low, 3]]
    assert asks == [[101, 0], [101, 3], [102, 3], [102, 7], [high, 7]]
    chart.set_data(np.empty((0, 2)), [[101, 3]])
    assert points(chart.edges[0]) == []


def test_a_chart_of_no_kind_shows_nothing():
    with pytest.raises(NotImplementedError, match="Chart cannot show samples"):
        Chart("x").show(np.zeros(1), {}, {})


def test_a_legend_that_has_no_room_is_left_out():
    chart = placed(
        TimeSeries("A title that is rather long for it", labels=["a long one", "another"]), width=200, height=160
    )
    assert not chart.axes.get_legend().get_visible()
