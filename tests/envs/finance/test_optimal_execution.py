"""OptimalExecution-v0 against plain Python, its invariants, and the closed forms of Almgren and Chriss (2000)."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sekai
from sekai import PerLane
from sekai.envs.finance import AlmgrenChriss, OptimalExecutionEnv, OptimalExecutionVecEnv

Z = 4.9  # standard errors: a correct statistic is further off once in a million runs (and the seeds are fixed)
DEFAULTS = {
    "initial_inventory": 1e6, "s0": 50.0, "sigma": 0.95, "total_time": 5.0, "n_steps": 25, "permanent_impact": 2.5e-7,
    "temporary_impact": 2.5e-6, "fixed_cost": 0.0625, "risk_aversion": 1e-6,
}  # fmt: skip


class Sale:
    """The model, one step after the other, from its formulas."""

    def __init__(self, seed, **given):
        self.__dict__.update(DEFAULTS | given)
        self.tau = self.total_time / self.n_steps
        self.rng = np.random.default_rng(seed)
        self.inventory, self.mid, self.shortfall, self.k = self.initial_inventory, self.s0, 0.0, 0

    def step(self, action):
        last = self.k == self.n_steps - 1
        n = self.inventory if last else min(max(float(action), 0.0), 1.0) * self.inventory
        price = self.mid - self.fixed_cost - self.temporary_impact * n / self.tau if n > 0 else self.mid
        self.inventory -= n
        if self.inventory < 1e-9 * self.initial_inventory:
            self.inventory = 0.0
        self.shortfall += n * (self.s0 - price)
        self.mid += self.sigma * math.sqrt(self.tau) * self.rng.standard_normal()
        self.mid -= self.permanent_impact * n
        self.k += 1
        value = self.initial_inventory * self.s0
        risk = self.risk_aversion * (self.sigma * self.sigma) * self.tau * (self.inventory * self.inventory)
        reward = 1e4 * (n * (price - self.s0) - risk) / value
        deviation = self.sigma * math.sqrt(self.total_time)
        moved = (self.mid - self.s0) / deviation if deviation else 0.0
        left = (self.n_steps - self.k) / self.n_steps
        observation = np.array([self.inventory / self.initial_inventory, left, moved], np.float32)
        info = {
            "shares_sold": n, "execution_price": price, "inventory": self.inventory, "mid_price": self.mid,
            "implementation_shortfall": self.shortfall, "shortfall_bps": 1e4 * self.shortfall / value,
            "timestamp": self.k * self.tau, "dt": self.tau,
        }  # fmt: skip
        return observation.tolist(), reward, self.inventory == 0.0 or self.k >= self.n_steps, False, info


PARAMETERS = st.fixed_dictionaries(
    {},
    optional={
        "initial_inventory": st.floats(1.0, 1e7),
        "s0": st.floats(1.0, 200.0),
        "sigma": st.just(0.0) | st.floats(0.01, 3.0),
        "total_time": st.floats(0.5, 10.0),
        "n_steps": st.integers(1, 40),
        "permanent_impact": st.floats(0.0, 2.5e-7),
        "temporary_impact": st.floats(2e-6, 1e-5),
        "fixed_cost": st.floats(0.0, 0.5),
        "risk_aversion": st.floats(0.0, 1e-5),
    },
)


def episode(env, seed):
    """The results of an episode with random actions, some of which are clipped, and the actions."""
    rng = np.random.default_rng(seed)
    env.reset(seed=seed)
    results, actions = [], []
    while not (results and results[-1].done):
        actions.append(rng.uniform(-0.2, 0.5 if rng.random() < 0.97 else 5.0))
        results.append(env.step([actions[-1]]))
    return results, actions


def parts(result):
    return result.observation.tolist(), result.reward, result.terminated, result.truncated, result.info


# ---- against the formulas ----------------------------------------------------------------------------


@given(PARAMETERS, st.integers(0, 2**32))
def test_it_is_the_model_to_the_last_bit(parameters, seed):
    sale = Sale(seed, **parameters)
    for result, action in zip(*episode(OptimalExecutionEnv(**parameters), seed), strict=True):
        assert parts(result) == sale.step(action)


@given(PARAMETERS, st.integers(0, 2**32))
def test_no_share_is_lost(parameters, seed):
    env = OptimalExecutionEnv(**parameters)
    results, _ = episode(env, seed)
    sold, proceeds = 0.0, 0.0
    for result in results:
        info = result.info
        assert 0.0 <= info["shares_sold"] <= env.X0
        sold += info["shares_sold"]
        proceeds += info["shares_sold"] * info["execution_price"]
        assert sold + info["inventory"] == pytest.approx(env.X0, rel=1e-8)  # less than 1e-9 counts as nothing
        expected = sold * env.s0 - proceeds
        # A difference of large numbers.
        assert info["implementation_shortfall"] == pytest.approx(expected, rel=1e-9, abs=1e-9 * env.X0 * env.s0)
        assert env.observation_space.contains(result.observation)
    assert env.inventory == 0.0
    assert result.terminated
    assert not result.truncated
    assert env.shortfall == info["implementation_shortfall"]


def test_selling_everything_ends_the_episode():
    env = OptimalExecutionEnv()
    env.reset(seed=0)
    assert not env.step([1.0 - 1e-8]).terminated
    result = env.step([1.0 - 1e-8])  # what is left counts as nothing
    assert (result.terminated, env.inventory, env.elapsed_steps) == (True, 0.0, 2)


def test_waiting_costs_nothing_but_risk():
    env = OptimalExecutionEnv()
    env.reset(seed=0)
    result = env.step([0.0])
    assert (result.info["shares_sold"], result.info["execution_price"], env.shortfall) == (0.0, 50.0, 0.0)
    assert result.reward == pytest.approx(-1e4 * 1e-6 * 0.95**2 * 0.2 * 1e12 / 5e7, rel=1e-14)  # roundings


def test_without_volatility_the_mid_price_follows_from_the_inventory():
    env = OptimalExecutionEnv(sigma=0.0)
    for result in episode(env, 3)[0]:
        assert result.observation[2] == 0.0
        told = env.s0 - env.gamma * (env.X0 - result.info["inventory"])
        assert result.info["mid_price"] == pytest.approx(told, rel=1e-14)  # roundings


# ---- attributes ----------------------------------------------------------------------------------------


def test_what_is_known_of_a_lane():
    vec = OptimalExecutionVecEnv(3, initial_inventory=PerLane([1e3, 1e4, 1e5]))
    env = OptimalExecutionEnv()
    assert (env.elapsed_steps, env.inventory, env.mid, env.shortfall) == (0, 1e6, 50.0, 0.0)
    assert vec.inventory.tolist() == vec.X0.tolist() == [1e3, 1e4, 1e5]
    vec.reset(seed=0)
    for _ in range(3):
        result = vec.step(np.full((3, 1), 0.2))
    infos = result.infos.arrays
    for name, told in (("inventory", "inventory"), ("mid", "mid_price"), ("shortfall", "implementation_shortfall")):
        value = getattr(vec, name)
        assert value.tolist() == infos[told].tolist()
        value[:] = 0  # a copy
        assert vec.get_attr(name) == infos[told].tolist() == [getattr(vec.lane(i), name) for i in range(3)]
        assert type(getattr(vec.lane(0), name)) is float
    assert vec.elapsed_steps.tolist() == [3, 3, 3]
    with pytest.raises(AttributeError):
        vec.lane(0).mid = 3.0


def test_the_infos_of_a_reset():
    info = OptimalExecutionEnv().reset(seed=0).info
    assert math.isnan(info.pop("execution_price"))
    assert list(info.items()) == [
        ("shares_sold", 0.0), ("inventory", 1e6), ("mid_price", 50.0), ("implementation_shortfall", 0.0),
        ("shortfall_bps", 0.0), ("timestamp", 0.0), ("dt", 0.2),
    ]  # fmt: skip


def test_temporary_impact_must_outweigh_permanent_impact():
    message = r"temporary_impact must be greater than permanent_impact \* tau / 2"
    with pytest.raises(ValueError, match=message):
        OptimalExecutionEnv(temporary_impact=1e-8)
    with pytest.raises(ValueError, match=rf"{message}, but their difference is 0 in lane 1"):
        OptimalExecutionVecEnv(
            2, permanent_impact=PerLane([0.0, 2.0]), temporary_impact=1.0, n_steps=1, total_time=1.0
        )  # fmt: skip
    env, vec = OptimalExecutionEnv(), OptimalExecutionVecEnv(2)
    for one in (env, vec):
        one.gamma = 1.0
        for method in ("almgren_chriss_trajectory", "almgren_chriss_actions"):
            with pytest.raises(ValueError, match=message):
                getattr(one, method)()
    with pytest.raises(ValueError, match=message):
        AlmgrenChriss(vec)
    with pytest.raises(TypeError, match=r"vec must be an OptimalExecutionVecEnv, got CartPoleVecEnv\(num_envs=2\)"):
        AlmgrenChriss(sekai.make_vec("CartPole-v1", 2))


# ---- closed forms --------------------------------------------------------------------------------------


def trajectory(env):
    """Almgren and Chriss's, by hyperbolic functions."""
    kappa = math.acosh(0.5 * env.tau**2 * env.risk_aversion * env.sigma**2 / net_impact(env) + 1) / env.tau
    times = env.tau * np.arange(env.n_steps + 1)
    if kappa == 0.0:
        return env.X0 * (1 - times / env.total_time)
    return env.X0 * np.sinh(kappa * (env.total_time - times)) / math.sinh(kappa * env.total_time)


def net_impact(env):
    return env.eta - 0.5 * env.gamma * env.tau


@given(PARAMETERS)
def test_trajectories_are_those_of_almgren_and_chriss(parameters):
    env = OptimalExecutionEnv(**parameters)
    found = env.almgren_chriss_trajectory()
    assert (found.dtype, found.shape) == (np.float64, (env.n_steps + 1,))
    # acosh of 1 and a little loses half of the digits.
    assert found == pytest.approx(trajectory(env), rel=1e-5, abs=1e-6 * env.X0)
    assert (found[0], found[-1]) == (env.X0, 0.0)
    assert (np.diff(found) < 0).all()
    actions = env.almgren_chriss_actions()
    assert (actions.dtype, actions.shape) == (np.float32, (env.n_steps, 1))
    assert actions[:, 0] == pytest.approx(-np.diff(found) / found[:-1], rel=1e-6)  # float32
    assert env.action_space.contains(actions[0])


@given(PARAMETERS)
def test_trajectories_solve_the_difference_equation(parameters):
    env = OptimalExecutionEnv(**{"n_steps": 20, **parameters})
    x = env.almgren_chriss_trajectory()
    bend = (x[:-2] - 2 * x[1:-1] + x[2:]) / env.tau**2
    urgency = env.risk_aversion * env.sigma**2 / net_impact(env)
    assert bend == pytest.approx(urgency * x[1:-1], rel=1e-6, abs=1e-11 * env.X0 / env.tau**2)  # second differences


@given(PARAMETERS, st.integers(0, 2**32), st.sampled_from([1e-3, 1e-2, 0.1]))
def test_no_other_trajectory_is_better(parameters, seed, size):
    env = OptimalExecutionEnv(**{"n_steps": 12, **parameters})

    def objective(x):
        mean, variance = env.expected_shortfall(x[:-1] - x[1:])
        return mean + env.risk_aversion * variance

    best = env.almgren_chriss_trajectory()
    # Others that sell in each step, too: their fixed cost is the same.
    fractions = np.clip(-np.diff(best) / best[:-1] + size * np.random.default_rng(seed).normal(size=env.n_steps), 0, 1)
    fractions[-1] = 1.0
    other = env.X0 * np.concatenate([[1.0], np.cumprod(1 - fractions)])
    assert objective(best) <= objective(other) * (1 + 1e-12)  # roundings


def test_a_very_urgent_trajectory_does_not_overflow():
    env = OptimalExecutionEnv(risk_aversion=1e6, total_time=500.0)
    x = env.almgren_chriss_trajectory()
    assert np.isfinite(x).all()
    assert x[0] == 1e6
    assert x[1] < 1e-6
    assert env.almgren_chriss_actions()[0, 0] == 1.0


def test_the_straight_line_without_aversion_or_volatility():
    for parameters in ({"risk_aversion": 0.0}, {"sigma": 0.0}):
        env = OptimalExecutionEnv(**parameters)
        assert env.almgren_chriss_trajectory() == pytest.approx(1e6 * (1 - np.arange(26) / 25), rel=1e-12, abs=1e-9)
        assert env.almgren_chriss_actions()[:, 0] == pytest.approx(1 / np.arange(25, 0, -1), rel=1e-6)  # float32


def test_figures_of_the_expected_shortfall():
    env = OptimalExecutionEnv()
    mean, variance = env.expected_shortfall([4e5, 6e5])
    assert mean == pytest.approx(0.125 * 1e6 + 0.0625 * 1e6 + (2.5e-6 - 0.25e-7) / 0.2 * (1.6e11 + 3.6e11), rel=1e-14)
    assert variance == pytest.approx(0.95**2 * 0.2 * 3.6e11, rel=1e-14)
    assert (type(mean), type(variance)) == (float, float)
    assert env.expected_shortfall(np.array([1e6], np.float32)) == env.expected_shortfall([1_000_000])
    for bad, error in (
        ("x", ValueError),
        ([True], TypeError),
        ([np.nan], ValueError),
        (1.0, ValueError),
        ([[1.0]], ValueError),
    ):
        with pytest.raises(error, match="trades"):
            env.expected_shortfall(bad)
    vec = OptimalExecutionVecEnv(2)
    assert vec.expected_shortfall([4e5, 6e5]) == (mean, variance)
    assert [row.tolist() for row in vec.expected_shortfall([[4e5, 6e5]] * 2)] == [[mean] * 2, [variance] * 2]
    for bad in (np.ones((3, 2)), 1.0, np.ones((2, 1, 1))):
        with pytest.raises(ValueError, match=r"trades must have shape \(T,\) or \(2, T\)"):
            vec.expected_shortfall(bad)


@pytest.mark.parametrize("schedule", ["Almgren-Chriss", "even", "late"])
def test_shortfalls_have_the_expected_mean_and_variance(schedule):
    lanes, env = 20_000, OptimalExecutionEnv()
    left = {
        "Almgren-Chriss": env.almgren_chriss_trajectory(),
        "even": 1e6 * (1 - np.arange(26) / 25),
        "late": 1e6 * (1 - (np.arange(26) / 25) ** 3),
    }[schedule]
    vec = OptimalExecutionVecEnv(lanes, autoreset=False)
    actions = np.broadcast_to(((left[:-1] - left[1:]) / left[:-1])[:, None, None], (25, lanes, 1))
    sekai.rollout(vec, actions, 25, record=None, seed=21)
    mean, variance = env.expected_shortfall(left[:-1] - left[1:])
    assert abs(vec.shortfall.mean() - mean) < Z * math.sqrt(variance / lanes)
    assert abs(vec.shortfall.var() / variance - 1) < Z * math.sqrt(2 / lanes)  # of normals
    assert not vec.inventory.any()


# ---- the baseline in batches -----------------------------------------------------------------------------


def test_lanes_that_are_alike_share_a_schedule():
    vec, env = OptimalExecutionVecEnv(25), OptimalExecutionEnv()
    assert vec.almgren_chriss_trajectory().tolist() == env.almgren_chriss_trajectory().tolist()
    actions = vec.almgren_chriss_actions()
    assert (actions.shape, actions.dtype) == ((25, 1), np.float32)
    assert actions.tolist() == env.almgren_chriss_actions().tolist()
    vec.reset(seed=0)
    assert [one.tolist() for one in vec.call("almgren_chriss_actions")] == [actions.tolist()] * 25


def test_lanes_that_differ_have_one_each():
    vec = OptimalExecutionVecEnv(3, n_steps=PerLane([4, 2, 3]), sigma=PerLane([0.0, 1.0, 2.0]))
    left, actions = vec.almgren_chriss_trajectory(), vec.almgren_chriss_actions()
    assert (left.shape, actions.shape, actions.dtype) == ((3, 5), (3, 4, 1), np.float32)
    mean, variance = vec.expected_shortfall(left[:, :-1] - left[:, 1:])
    for i, n in enumerate((4, 2, 3)):
        lane = vec.single(n_steps=n, sigma=float(i))
        assert left[i].tolist() == [*lane.almgren_chriss_trajectory(), *[0.0] * (4 - n)]
        assert actions[i, :n].tolist() == lane.almgren_chriss_actions().tolist()
        assert (actions[i, n:] == 1.0).all()
        found = lane.expected_shortfall(-np.diff(lane.almgren_chriss_trajectory()))
        assert (mean[i], variance[i]) == pytest.approx(found, rel=1e-14)  # roundings of zeros added
        same = vec.expected_shortfall([5e5, 5e5])
        assert (same[0][i], same[1][i]) == lane.expected_shortfall([5e5, 5e5])


@pytest.mark.parametrize("per_lane", [False, True])
def test_the_policy_sells_on_schedule(per_lane):
    given = {"n_steps": PerLane([5, 9, 7]), "risk_aversion": PerLane([0.0, 1e-6, 1e-5])} if per_lane else {"n_steps": 7}
    vec = OptimalExecutionVecEnv(3, **given)
    result = sekai.rollout(vec, AlmgrenChriss(vec), 20, record=["actions"], seed=0)
    schedules = np.broadcast_to(vec.almgren_chriss_actions()[..., 0], (3, 9 if per_lane else 7))
    for i, n in enumerate(np.broadcast_to(vec.n_steps, 3)):
        right = np.resize(schedules[i, :n], 20)  # one episode after the other
        assert result.actions[:, i, 0] == pytest.approx(right, rel=1e-6)  # float32


def test_the_policy_leaves_lanes_that_wait_alone():
    vec = OptimalExecutionVecEnv(2, n_steps=3, autoreset=False)
    result = sekai.rollout(vec, AlmgrenChriss(vec), 6, record=["actions", "terminated"], seed=0)
    assert result.terminated[:, 0].tolist() == [False, False, True, True, True, True]
    assert np.isfinite(result.actions).all()
