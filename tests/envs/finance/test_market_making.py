"""MarketMaking-v0 against plain Python, its invariants, and the closed forms of Avellaneda and Stoikov (2008)."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sekai
from sekai import PerLane
from sekai.envs.finance import AvellanedaStoikov, MarketMakingEnv, MarketMakingVecEnv

Z = 4.9  # standard errors: a correct statistic is further off once in a million runs (and the seeds are fixed)


class Book:
    """The model, one step after the other, from its formulas."""

    def __init__(self, seed, **given):
        parameters = {
            "s0": 100.0, "sigma": 2.0, "total_time": 1.0, "n_steps": 200, "fill_intensity": 140.0, "fill_decay": 1.5,
            "risk_aversion": 0.1, "max_inventory": 50, "order_size": 1, "max_offset": 5.0,
        }  # fmt: skip
        self.__dict__.update(parameters | given)
        self.dt = self.total_time / self.n_steps
        self.rng = np.random.default_rng(seed)
        self.mid, self.inventory, self.cash, self.t = self.s0, 0, 0.0, 0

    @property
    def wealth(self):
        return self.cash + self.inventory * self.mid

    def filled(self, distance, uniform):
        return uniform < 1.0 - math.exp(-self.fill_intensity * math.exp(-self.fill_decay * distance) * self.dt)

    def step(self, action):
        below, above = (min(max(float(number), 0.0), self.max_offset) for number in action)
        bid, ask, before, size = self.mid - below, self.mid + above, self.wealth, self.order_size
        can_buy = self.inventory + size <= self.max_inventory
        can_sell = self.inventory - size >= -self.max_inventory
        first, second = self.rng.random(2).tolist()
        bought, sold = can_buy and self.filled(below, first), can_sell and self.filled(above, second)
        if bought:
            self.inventory += size
            self.cash -= size * bid
        if sold:
            self.inventory -= size
            self.cash += size * ask
        self.mid += self.sigma * math.sqrt(self.dt) * self.rng.standard_normal()
        self.t += 1
        risk = 0.5 * self.risk_aversion * (self.sigma * self.sigma) * self.dt * (self.inventory * self.inventory)
        reward = self.wealth - before - risk
        left = (self.n_steps - self.t) / self.n_steps
        info = {
            "mid_price": self.mid, "inventory": self.inventory, "cash": self.cash, "wealth": self.wealth,
            "bid": bid, "ask": ask, "bid_filled": bought, "ask_filled": sold,
            "timestamp": self.t * self.dt, "dt": self.dt,
        }  # fmt: skip
        observation = np.array([self.inventory / self.max_inventory, left], np.float32)
        return observation.tolist(), reward, self.t >= self.n_steps, False, info


PARAMETERS = st.fixed_dictionaries(
    {},
    optional={
        "s0": st.floats(-50, 200),
        "sigma": st.floats(0, 5),
        "total_time": st.floats(0.1, 3),
        "n_steps": st.integers(1, 60),
        "fill_intensity": st.floats(1, 500),
        "fill_decay": st.floats(0.1, 4),
        "risk_aversion": st.floats(0, 2),
        "max_inventory": st.integers(1, 6),
        "order_size": st.integers(1, 4),
        "max_offset": st.floats(0, 4),
    },
)


def episode(env, seed):
    """The results of an episode with random actions, some of which are clipped, and the actions."""
    rng = np.random.default_rng(seed)
    env.reset(seed=seed)
    results, actions = [], []
    while not (results and results[-1].done):
        actions.append(rng.uniform(-0.6, 2.0, 2))
        results.append(env.step(actions[-1]))
    return results, actions


def parts(result):
    return result.observation.tolist(), result.reward, result.terminated, result.truncated, result.info


# ---- against the formulas ----------------------------------------------------------------------------


@given(PARAMETERS, st.integers(0, 2**32))
def test_with_libm_it_is_the_model_to_the_last_bit(parameters, seed):
    book = Book(seed, **parameters)
    results, actions = episode(MarketMakingEnv(math="libm", **parameters), seed)
    for result, action in zip(results, actions, strict=True):
        assert parts(result) == book.step(action)


@pytest.mark.parametrize("seed", range(5))
def test_with_its_own_exponential_it_is_the_model_but_for_roundings(seed):
    book = Book(seed, sigma=1.0)
    for result, action in zip(*episode(MarketMakingEnv(sigma=1.0), seed), strict=True):
        observation, reward, terminated, truncated, info = book.step(action)
        assert (result.observation.tolist(), result.terminated, result.truncated) == (
            observation,
            terminated,
            truncated,
        )
        assert result.reward == reward
        assert result.info == info  # a probability an ulp off changes a fill once in 10**16 draws


@given(PARAMETERS, st.integers(0, 2**32))
def test_the_books_balance(parameters, seed):
    env = MarketMakingEnv(**parameters)
    limit, size = env.max_inventory, env.order_size
    inventory, cash, total = 0, 0.0, 0.0
    for result in episode(env, seed)[0]:
        info = result.info
        assert info["wealth"] == info["cash"] + info["inventory"] * info["mid_price"]
        bought, sold = size * info["bid_filled"], size * info["ask_filled"]
        assert info["inventory"] == inventory + bought - sold
        assert not (bought and inventory + size > limit)
        assert not (sold and inventory - size < -limit)
        cash += sold * info["ask"] - bought * info["bid"]
        assert info["cash"] == pytest.approx(cash, rel=1e-12, abs=1e-9)  # rounded otherwise
        assert info["bid"] <= info["ask"]
        assert info["ask"] - info["bid"] <= 2 * env.max_offset * (1 + 1e-9) + 1e-9  # rounded at the price
        risk = 0.5 * env.risk_aversion * env.sigma**2 * env.dt * info["inventory"] ** 2
        total += result.reward + risk
        inventory = info["inventory"]
        assert env.observation_space.contains(result.observation)
    assert abs(inventory) <= limit
    assert total == pytest.approx(env.wealth, rel=1e-9, abs=1e-6)  # a sum of differences of large numbers
    assert result.terminated
    assert env.elapsed_steps == env.n_steps


def test_the_inventory_of_a_bid_and_an_ask_is_the_one_before():
    env = MarketMakingEnv(sigma=0.0, fill_intensity=1e9, fill_decay=50.0, max_inventory=1)
    env.reset(seed=0)
    assert env.step([0.125, 5.0]).info["inventory"] == 1
    info = env.step([0.125, 0.125]).info  # the bid is not allowed, though the ask makes room
    assert (info["bid_filled"], info["ask_filled"], info["inventory"]) == (False, True, 0)
    info = env.step([0.125, 0.25]).info
    assert (info["bid_filled"], info["ask_filled"], info["inventory"]) == (True, True, 0)
    assert info["cash"] == info["wealth"] == 0.125 + 0.125 + 0.125 + 0.25


def test_huge_orders_do_not_wrap_around():
    env = MarketMakingEnv(sigma=0.0, fill_intensity=1e9, fill_decay=50.0, order_size=2**62, max_inventory=2**62)
    env.reset(seed=0)
    assert env.step([0.1, 5.0]).info["inventory"] == 2**62
    assert not env.step([0.1, 5.0]).info["bid_filled"]


# ---- attributes ----------------------------------------------------------------------------------------


def test_what_is_known_of_a_lane():
    vec = MarketMakingVecEnv(3, s0=PerLane([90.0, 100.0, 110.0]))
    env = MarketMakingEnv()
    names = vec.lane_values
    assert [getattr(env, name) for name in names[:6]] == [0, 1.0, 100.0, 0, 0.0, 0.0]
    assert np.isnan([env.bid, env.ask, *vec.bid, *vec.ask]).all()
    assert (env.bid_filled, env.ask_filled) == (False, False)
    assert vec.mid.tolist() == [90.0, 100.0, 110.0]
    vec.reset(seed=0)
    for _ in range(3):
        result = vec.step(np.full((3, 2), 0.2))
    infos = result.infos.arrays
    for name in ("inventory", "cash", "wealth", "bid", "ask", "bid_filled", "ask_filled"):
        value = getattr(vec, name)
        assert value.tolist() == infos[name].tolist()
        assert value.dtype == infos[name].dtype
        value[:] = 0  # a copy
        assert vec.get_attr(name) == infos[name].tolist() == [getattr(vec.lane(i), name) for i in range(3)]
        assert type(getattr(vec.lane(0), name)) is type(result.infos[0][name])
    assert vec.mid.tolist() == infos["mid_price"].tolist()
    assert vec.elapsed_steps.tolist() == [3, 3, 3]
    assert vec.time_remaining.tolist() == [197 * 0.005] * 3
    with pytest.raises(AttributeError):
        vec.lane(0).mid = 3.0


def test_the_infos_of_a_reset():
    info = MarketMakingEnv(s0=7.0, n_steps=4).reset(seed=0).info
    assert math.isnan(info.pop("bid"))
    assert math.isnan(info.pop("ask"))
    assert list(info.items()) == [
        ("mid_price", 7.0), ("inventory", 0), ("cash", 0.0), ("wealth", 0.0), ("bid_filled", False),
        ("ask_filled", False), ("timestamp", 0.0), ("dt", 0.25),
    ]  # fmt: skip


def test_the_action_space_goes_to_the_largest_offset():
    assert MarketMakingEnv(max_offset=2).action_space == sekai.Box(0.0, 2.0, (2,), np.float32)
    assert MarketMakingVecEnv(2, max_offset=PerLane([1.0, 3.0])).action_space == sekai.Box(0.0, 3.0, (2,), np.float32)
    vec = MarketMakingVecEnv(2, s0=0.0, max_offset=PerLane([1.0, 3.0]))
    vec.reset(seed=0)
    vec.step(np.full((2, 2), 9.0))
    assert vec.ask.tolist() == [1.0, 3.0]
    assert MarketMakingEnv(max_offset=0.0).action_space.high.tolist() == [0.0, 0.0]


# ---- closed forms --------------------------------------------------------------------------------------


def test_fill_probabilities():
    env, vec = MarketMakingEnv(), MarketMakingVecEnv(2, fill_decay=PerLane([1.5, 3.0]))
    right = [1 - math.exp(-140 * math.exp(-1.5 * d) * 0.005) for d in (0.0, 0.5, 2.0)]
    for d, p in zip((0.0, 0.5, 2), right, strict=True):
        assert env.fill_probability(d) == pytest.approx(p, rel=1e-14)  # roundings
    assert type(env.fill_probability(1)) is float
    assert env.fill_probability([[0.0, 0.5, 2.0]]) == pytest.approx(np.array([right]), rel=1e-14)
    assert vec.fill_probability(1.0).tolist() == [env.fill_probability(1.0), env.fill_probability(2.0)]
    assert vec.fill_probability([2.0, 1.0]).tolist() == [env.fill_probability(2.0)] * 2
    assert vec.fill_probability([[0.0, 2.0], [0.5, 1.0]]).shape == (2, 2)
    with pytest.raises(TypeError, match="distance must be a number, got True"):
        env.fill_probability(True)
    with pytest.raises(ValueError, match="distance: entry 0 must be finite, got nan"):
        env.fill_probability([np.nan])


def test_orders_are_filled_as_often_as_they_should_be():
    vec = MarketMakingVecEnv(4_000, max_inventory=10**6)
    vec.reset(seed=11)
    distances = np.tile([0.2, 1.1], (4_000, 1))
    fills = np.array([(vec.step(distances), vec.bid_filled, vec.ask_filled)[1:] for _ in range(100)])
    n = fills[:, 0].size
    p, q = vec.fill_probability(0.2)[0], vec.fill_probability(1.1)[0]
    for observed, expected in ((fills[:, 0], p), (fills[:, 1], q), (fills.all(axis=1), p * q)):
        assert abs(observed.mean() - expected) < Z * math.sqrt(expected * (1 - expected) / n)


def test_wealth_and_mid_price_have_the_right_mean_and_variance():
    lanes, steps, below, above = 20_000, 40, 0.4, 0.8
    vec = MarketMakingVecEnv(lanes, n_steps=steps + 1, max_inventory=10**6, order_size=3)
    vec.reset(seed=12)
    actions = np.broadcast_to([below, above], (steps, lanes, 2))
    rewards = sekai.rollout(vec, actions, steps, record=["rewards"]).rewards
    moved = vec.mid - 100.0
    variance = 4.0 * steps * vec.dt
    assert abs(moved.mean()) < Z * math.sqrt(variance / lanes)
    assert abs(moved.var() / variance - 1) < Z * math.sqrt(2 / lanes)  # of normals
    # The mid price moves after the fills and apart from them: a fill earns its distance, on average.
    p, q = (vec.fill_probability(d)[0] for d in (below, above))
    wealth = vec.wealth
    earned = steps * 3 * (p * below + q * above)
    assert abs(wealth.mean() - earned) < Z * wealth.std() / math.sqrt(lanes)
    # Rewards take off half the risk aversion times the variance of what is held.
    held = sum(
        (9 * t * (p * (1 - p) + q * (1 - q)) + (3 * t * (p - q)) ** 2) * 0.5 * 0.1 * 4.0 * vec.dt
        for t in range(1, steps + 1)
    )
    total = rewards.sum(axis=0)
    assert abs(total.mean() - (earned - held)) < Z * total.std() / math.sqrt(lanes)


def closed_form(inventory, tau, risk_aversion=0.1, sigma=2.0, k=1.5, farthest=5.0):
    spread = risk_aversion * sigma**2 * tau
    spread += 2 / risk_aversion * math.log(1 + risk_aversion / k) if risk_aversion else 2 / k
    skew = inventory * risk_aversion * sigma**2 * tau
    return [min(max(spread / 2 + sign * skew, 0.0), farthest) for sign in (1, -1)]


@given(
    st.integers(-50, 50),
    st.integers(0, 199),
    st.sampled_from([0.0, 1e-3, 0.1, 1.0]),
    st.floats(0, 4),
    st.floats(0.1, 9),
)
def test_quotes_are_those_of_avellaneda_and_stoikov(inventory, t, risk_aversion, sigma, k):
    env = MarketMakingEnv(risk_aversion=risk_aversion, sigma=sigma, fill_decay=k)
    env.state = {"inventory": inventory, "t": t}
    action = env.avellaneda_stoikov_action()
    assert (action.dtype, action.shape) == (np.float32, (2,))
    right = closed_form(inventory, (200 - t) * 0.005, risk_aversion, sigma, k)
    # float32, and the logarithm of 1 + gamma / k here, which loses digits
    assert action.tolist() == pytest.approx(right, rel=1e-6, abs=1e-6)
    assert env.action_space.contains(action)


def test_quotes_of_the_papers_example():
    env = MarketMakingEnv()  # section 3.3: gamma = 0.1, sigma = 2, k = 1.5
    bid, ask = env.avellaneda_stoikov_action().tolist()  # before the first reset, too
    assert bid == ask
    spreads = []
    for t in range(200):
        env.state = {"t": t}
        spreads.append(float(env.avellaneda_stoikov_action().sum()))
    assert np.mean(spreads) == pytest.approx(1.49, abs=0.005)  # table 1: average spread 1.49


def test_quotes_of_a_batch_are_those_of_its_lanes():
    vec = MarketMakingVecEnv(4, sigma=PerLane([0.5, 1.0, 2.0, 3.0]), max_inventory=PerLane([1, 5, 50, 50]))
    vec.reset(seed=0)
    for _ in range(20):
        vec.step(np.full((4, 2), 0.1))
    action = vec.avellaneda_stoikov_action()
    assert (action.shape, action.dtype) == ((4, 2), np.float32)
    assert action.tolist() == [one.tolist() for one in vec.call("avellaneda_stoikov_action")]


def test_the_policy_is_for_its_own_batches():
    with pytest.raises(TypeError, match=r"vec must be a MarketMakingVecEnv, got CartPoleVecEnv\(num_envs=2\)"):
        AvellanedaStoikov(sekai.make_vec("CartPole-v1", 2))


@pytest.mark.parametrize("sigma", [2.0, PerLane(np.linspace(0.5, 3.0, 6))])
def test_the_policy_quotes_the_same(sigma):
    vec, other = MarketMakingVecEnv(6, sigma=sigma, n_steps=50), MarketMakingVecEnv(6, sigma=sigma, n_steps=50)
    result = sekai.rollout(vec, AvellanedaStoikov(vec), 120, record=["rewards", "actions"], seed=5)
    other.reset(seed=5)
    for t in range(120):
        action = other.avellaneda_stoikov_action()
        assert result.actions[t] == pytest.approx(action, rel=1e-6)  # float32
        assert result.rewards[t] == pytest.approx(other.step(result.actions[t]).rewards, rel=1e-12, abs=1e-9)


def test_quoting_like_that_holds_less_risk_than_quoting_evenly():
    lanes, steps = 4_000, 200
    clever, even = MarketMakingVecEnv(lanes, n_steps=steps + 1), MarketMakingVecEnv(lanes, n_steps=steps + 1)
    sekai.rollout(clever, AvellanedaStoikov(clever), steps, record=None, seed=1)
    sekai.rollout(even, sekai.policies.Constant([0.745, 0.745]), steps, record=None, seed=1)
    # Table 1 of the paper, gamma = 0.1: standard deviations 5.9 and 13.4 of profits, 2.8 and 8.7 of inventories.
    assert clever.inventory.std() < 0.5 * even.inventory.std()
    assert clever.wealth.std() < 0.65 * even.wealth.std()
    assert 0.85 < clever.wealth.mean() / even.wealth.mean() < 1.0
