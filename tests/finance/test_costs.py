"""Cost models, against plain NumPy."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sekai.finance import (
    CompositeCost,
    CostModel,
    FixedCost,
    NoCost,
    ProportionalCost,
    SpreadCost,
    SquareRootImpact,
)
from sekai.finance.costs import as_cost_model

MODELS = [
    NoCost(),
    ProportionalCost(0.001),
    ProportionalCost([0.001, 0.002, 0.0]),
    SpreadCost(0.01),
    SpreadCost([0.01, 0.0, 0.02]),
    SpreadCost(fallback_spread=0.01),
    FixedCost(2.0),
    FixedCost(2.0, threshold=0.3),
    SquareRootImpact(0.4, fallback_volatility=0.02),
]
ALL = sum(MODELS, CompositeCost([]))

weights = st.floats(-3.0, 3.0).map(lambda x: round(x, 6))
inputs = st.one_of(st.floats(0.0, 1e6), st.sampled_from([0.0, np.nan, np.inf, -1.0]))


def filled(values, fallback):
    good = values[np.isfinite(values) & (values >= 0)]
    return np.where(np.isfinite(values) & (values >= 0), values, np.median(good) if good.size else fallback)


def naive_cost(model, trades, equity, volatility, volume, spread):
    """Of one row."""
    size = abs(trades)
    if isinstance(model, CompositeCost):
        return sum(naive_cost(part, trades, equity, volatility, volume, spread) for part in model.models)
    if isinstance(model, ProportionalCost):
        return (np.asarray(model.rate) * size).sum()
    if isinstance(model, SpreadCost):
        half = 0.5 * filled(spread, model.fallback_spread) if model.half_spread is None else model.half_spread
        return (half * size).sum()
    if isinstance(model, FixedCost):
        return model.amount * (size > model.threshold).sum() / equity if equity > 0 else 0.0
    if isinstance(model, SquareRootImpact):
        total = 0.0
        for x, deviation, others in zip(size, filled(volatility, model.fallback_volatility), volume, strict=True):
            known = np.isfinite(others) and others > 0
            with np.errstate(all="ignore"):
                unit = model.coefficient * deviation * np.sqrt(x * max(equity, 0.0) / others) if known else 1.0
            total += min(unit, 1.0) * x
        return total
    return 0.0


@given(
    arrays(np.float64, (4, 3), elements=weights),
    arrays(np.float64, 4, elements=st.floats(-1.0, 1e6).map(lambda x: round(x, 6))),
    arrays(np.float64, (3, 4, 3), elements=inputs),
)
def test_models_follow_their_formulas(trades, equity, context):
    volatility, volume, spread = context
    # Next to nothing traded by all: what of 0 * inf there is, the model takes for the whole trade.
    volume = np.where((volume > 0) & (volume < 1e-100), 1.0, volume)
    for model in [*MODELS, ALL]:
        found = model(trades, equity=equity, volatility=volatility, volume=volume, spread=spread)
        naive = [naive_cost(model, *row) for row in zip(trades, equity, volatility, volume, spread, strict=True)]
        # Sums of few terms in another order.
        np.testing.assert_allclose(found, naive, rtol=1e-12, atol=1e-300)
        assert (found >= 0).all()
        moved = (trades != 0).any(axis=1)
        assert (found[~moved] == 0).all()
    total = sum(model(trades, equity=equity, volatility=volatility, volume=volume, spread=spread) for model in MODELS)
    np.testing.assert_array_equal(
        ALL(trades, equity=equity, volatility=volatility, volume=volume, spread=spread), total
    )


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_costs_have_the_leading_shape_of_trades(model):
    context = {"equity": 1e4, "volatility": 0.01, "volume": 1e6, "spread": 0.002}
    row = np.array([0.1, -0.2, 0.0])
    one = model(row, **context)
    assert isinstance(one, float)
    np.testing.assert_array_equal(model(np.tile(row, (2, 4, 1)), **context), np.full((2, 4), one))
    assert model(np.zeros((0, 3)), **context).shape == (0,)


@pytest.mark.parametrize("model", [*MODELS, ALL], ids=repr)
def test_models_are_immutable_and_picklable(model):
    trades, context = np.array([0.4, -0.3, 0.0]), {"equity": 1e4, "volatility": 0.01, "volume": 1e6, "spread": 0.002}
    clone = pickle.loads(pickle.dumps(model))
    assert clone(trades, **context) == model(trades, **context)
    assert repr(clone) == repr(model)
    assert copy.deepcopy(model) is model
    for one in (model, clone):
        with pytest.raises(AttributeError, match="does not change"):
            one.rate = 1.0
        for value in vars(one).values():
            assert not (isinstance(value, np.ndarray) and value.flags.writeable)


def test_sums_are_flat():
    model = (ProportionalCost(0.1) + NoCost()) + (FixedCost(1.0) + SpreadCost(0.1))
    assert [type(part) for part in model.models] == [ProportionalCost, NoCost, FixedCost, SpreadCost]
    assert repr(model) == "ProportionalCost(0.1) + NoCost() + FixedCost(1.0) + SpreadCost(half_spread=0.1)"
    assert CompositeCost([])([[1.0], [2.0]]).tolist() == [0.0, 0.0]


def test_a_sum_has_a_fallback_if_all_that_read_the_input_have_one():
    with_one, without = SquareRootImpact(fallback_volatility=0.1), SquareRootImpact()
    assert (with_one + SpreadCost()).fallbacks == {"volatility"}
    assert (with_one + without).fallbacks == frozenset()
    assert (with_one + with_one).requires == {"equity", "volatility", "volume"}


class Flat(CostModel):
    """A user's model: one basis point whenever anything is traded."""

    requires = frozenset({"equity"})

    def __call__(self, trades, *, equity=None, **_):
        assert equity is not None
        return 1e-4 * (np.asarray(trades) != 0).any(axis=-1)


class Doubled(ProportionalCost):
    """A user's change of a model of ours."""

    def __call__(self, trades, **inputs):
        return 2.0 * super().__call__(trades, **inputs)


def test_models_of_ones_own_are_called():
    trades = np.array([[0.5, 0.0], [0.0, 0.0]])
    model = ProportionalCost(0.01) + Flat() + Doubled(0.01)
    np.testing.assert_array_equal(model(trades, equity=1.0), [0.005 + 1e-4 + 0.01, 0.0])
    assert model.requires == {"equity"}
    assert Flat()._terms(2) is None
    assert Doubled(0.01)._terms(2) is None
    assert model._terms(2) is None


def test_kernels_are_told_the_terms():
    terms, rates = (ProportionalCost(0.25) + SpreadCost([0.5, 0.75]) + NoCost())._terms(2)
    np.testing.assert_array_equal(terms, [[0, 0.25, 0], [1, 0, 0], [0, 0, 0]])
    np.testing.assert_array_equal(rates[1], [0.5, 0.75])
    assert CompositeCost([])._terms(2)[0].shape == (0, 3)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ProportionalCost(-0.1), ValueError, "rate must be finite and at least 0, got -0.1"),
        (lambda: ProportionalCost([0.1, np.nan]), ValueError, "rate: entry 1 must be finite and at least 0, got nan"),
        (lambda: ProportionalCost("0.1"), ValueError, "rate must be a number, got '0.1'"),
        (lambda: ProportionalCost(True), TypeError, "rate must be a number, got True"),
        (lambda: ProportionalCost([[0.1]]), ValueError, "rate must be one number or have shape (n,), got shape (1, 1)"),
        (lambda: ProportionalCost([]), ValueError, "rate must be one number or have shape (n,), got shape (0,)"),
        (lambda: FixedCost([1.0]), TypeError, "amount must be one number, got [1.0]"),
        (lambda: FixedCost(1.0, threshold=-1), ValueError, "threshold must be finite and at least 0, got -1.0"),
        (lambda: SquareRootImpact(np.inf), ValueError, "coefficient must be finite and at least 0, got inf"),
        (lambda: SpreadCost(fallback_spread="x"), ValueError, "fallback_spread must be a number, got 'x'"),
        (lambda: SpreadCost(0.1, fallback_spread=0.1), ValueError, "not with half_spread"),
        (lambda: NoCost() + 0.1, TypeError, "unsupported operand"),
        (lambda: CompositeCost([0.1]), TypeError, "models must be cost models, got 0.1"),
        (lambda: ProportionalCost([0.1, 0.2])([1.0]), ValueError, "is for 2 asset(s), but there are 1"),
        (lambda: FixedCost(1.0)([1.0]), ValueError, "FixedCost(1.0) needs equity="),
        (lambda: FixedCost(1.0)([1.0], equity=np.nan), ValueError, "equity must be finite, got nan"),
        (
            lambda: FixedCost(1.0)([1.0], equity=[1.0, 2.0]),
            ValueError,
            "equity must have a shape that broadcasts to ()",
        ),
        (lambda: NoCost()(1.0), ValueError, "trades must have shape (…, n)"),
        (lambda: NoCost()([1.0, np.nan]), ValueError, "trades: entry 1 must be finite, got nan"),
        (lambda: NoCost()(["1"]), ValueError, "trades: entry 0 must be a number, got '1'"),
        (lambda: SpreadCost()([[0.0], [1.0]], spread=[[np.nan], [-1]]), ValueError, "spread: row 1 has no valid entry"),
    ],
)
def test_errors_say_what_is_wrong(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert message in str(caught.value)


def test_numbers_stand_for_proportional_costs():
    assert as_cost_model(np.float32(0.5)).rate == 0.5
    assert as_cost_model(0).rate == 0.0
    assert as_cost_model(MODELS[0]) is MODELS[0]
    for value in (-0.1, np.nan, np.inf):
        with pytest.raises(ValueError, match="must be finite and at least 0"):
            as_cost_model(value)
    for value in (True, "0.1", None, [0.1]):
        with pytest.raises(TypeError, match="must be a number or a CostModel"):
            as_cost_model(value)
