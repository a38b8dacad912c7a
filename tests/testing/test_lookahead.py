"""check_no_lookahead: each kind of result that depends on the future is reported, and nothing else."""

import numpy as np
import pytest

import sekai
from sekai.testing import check_no_lookahead

PRICES = 100 * np.exp(np.cumsum(np.random.default_rng(0).normal(0, 0.01, 80)))
BACK = 3  # prices that an observation holds


class Replay(sekai.Env):
    """Shows the last prices; the reward is the gain of a position. `ahead` says what knows the next price."""

    def __init__(self, prices, ahead=None, length=40):
        self.observation_space = sekai.Box(0, np.inf, (BACK,), np.float64)
        self.action_space = sekai.Discrete(2)
        self.prices, self.ahead, self.length = prices, ahead, length

    def reset(self, *, seed=None, options=None):
        self._set_rng(seed)
        self.row = self.start = int(self.rng.integers(BACK - 1, self.prices.size - self.length))
        return sekai.ResetResult(self.observe(), self.inform())

    def step(self, action):
        if not self.action_mask()[action]:
            raise sekai.InvalidAction(action, self.action_space)
        self.row += 1
        gone = self.row - self.start
        reward = action * (self.price("reward") - self.prices[self.row - 1])
        terminated = bool(self.ahead == "terminated" and self.price("terminated") > 101)
        truncated = gone == self.length - 1
        return sekai.StepResult(self.observe(), reward, terminated, truncated, self.inform())

    def price(self, who):
        return float(self.prices[self.row + (self.ahead == who)])

    def observe(self):
        return np.array([*self.prices[self.row - BACK + 1 : self.row], self.price("observation")])

    def inform(self):
        return {"timestamp": self.row, "price": self.price("info")}

    def action_mask(self):
        return np.array([1, self.price("mask") > 100], np.int8)


def make(ahead=None, **kwargs):
    return lambda prices: Replay(prices, ahead, **kwargs)


def test_an_env_that_knows_the_past_only_passes():
    assert check_no_lookahead(Replay, PRICES) == []
    assert check_no_lookahead(Replay, PRICES.astype(int)) == []
    assert check_no_lookahead(make(length=3), PRICES, n_checks=50, seed=1) == []


@pytest.mark.parametrize(
    ("ahead", "name"),
    [
        ("observation", "The observation"),
        ("reward", "The reward"),
        ("terminated", "terminated"),
        ("info", "info['price']"),
        ("mask", "The action mask"),
    ],
)
def test_what_depends_on_the_next_row_is_reported(ahead, name):
    issues = check_no_lookahead(make(ahead), PRICES, n_checks=39)
    assert len(issues) == 1
    assert issues[0].startswith(f"ERROR: {name} after ")
    assert issues[0].endswith("of the data. Use rows up to the current one only.")


def test_normalising_with_the_whole_history_is_reported():
    issues = check_no_lookahead(lambda prices: Replay(200 * prices / prices.mean()), PRICES)
    kinds = [issue.split(" after ")[0] for issue in issues]
    assert sorted(kinds) == ["ERROR: The observation", "ERROR: The reward", "ERROR: info['price']"]


def test_data_may_be_a_dict_of_arrays_and_rows_told_otherwise():
    class Dated(Replay):
        def __init__(self, fields, ahead=None):
            super().__init__(fields["close"], ahead)
            self.volume = fields["volume"]

        def inform(self):
            return {"volume": self.volume[self.row + (self.ahead == "volume")]}

    fields = {"close": PRICES, "volume": np.arange(80)}
    assert check_no_lookahead(Dated, fields, row=lambda env, info: env.unwrapped.row) == []
    issues = check_no_lookahead(lambda data: Dated(data, "volume"), fields, row=lambda env, info: env.row)
    assert [issue.split(" after ")[0] for issue in issues] == ["ERROR: info['volume']"]


def test_the_callers_data_is_not_changed():
    prices = PRICES.copy()
    check_no_lookahead(make("reward"), prices)
    assert np.array_equal(prices, PRICES)


@pytest.mark.parametrize(
    ("make_env", "row", "expected"),
    [
        (
            lambda prices: Replay(prices + np.random.default_rng().random()),
            None,
            "ERROR: Two runs with the same data, seed and actions differ, so that nothing can be told.",
        ),
        (lambda prices: Replay(PRICES), None, "WARNING: Nothing that the environment returned depends on the data"),
        (Replay, lambda env, info: -env.row, "ERROR: Rows must not go back, nor lie outside 0 … 79, but one is -"),
        (Replay, lambda env, info: info["day"], "ERROR: The check ended early, since something raised KeyError: 'day'"),
        (lambda prices: None, None, "ERROR: The check ended early, since something raised "),
    ],
)
def test_what_cannot_be_checked_is_told(make_env, row, expected):
    options = {} if row is None else {"row": row}
    issues = check_no_lookahead(make_env, PRICES, **options)
    assert len(issues) == 1
    assert issues[0].startswith(expected)
