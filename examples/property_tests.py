"""Test an environment of one's own with Hypothesis: what must hold whatever the agent does.

Hypothesis makes sequences of actions that try to break a property, and shortens one that does. Take the check of the
capacity out of `step`, and it tells the shortest way to overfill the store.

One should see every test pass; `pytest examples/property_tests.py` runs them, too.

    python examples/property_tests.py
"""

import argparse

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import sekai
from sekai.testing import strategies as sts


class Store(sekai.Env):
    """Order up to ten units a day to meet random demand; what does not fit is sent back."""

    def __init__(self, capacity=20):
        self.capacity = capacity
        self.observation_space = sekai.Box(0, capacity, (1,), np.int64)
        self.action_space = sekai.Discrete(11)

    def reset(self, *, seed=None, options=None):
        self._set_rng(seed)
        self.stock, self.day = int((options or {}).get("stock", 0)), 0
        return sekai.ResetResult(np.array([self.stock]), {})

    def step(self, action):
        bought = min(int(action), self.capacity - self.stock)
        demand = int(self.rng.poisson(4.0))
        sold = min(demand, self.stock + bought)
        self.stock += bought - sold
        self.day += 1
        info = {"bought": bought, "sold": sold, "lost": demand - sold}
        return sekai.StepResult(np.array([self.stock]), 2.0 * sold - bought, self.day == 30, False, info)


SPACE = Store().action_space
SEEDS, ACTIONS = st.integers(0, 2**32 - 1), sts.action_sequences(SPACE, length=30, min_length=1)
SETTINGS = settings(max_examples=50, deadline=None, database=None, derandomize=True)


def play(env, seed, actions, **options):
    """The results of an episode."""
    return [env.reset(seed=seed, options=options), *map(env.step, actions)]


@SETTINGS
@given(SEEDS, ACTIONS, st.integers(0, 20))
def test_units_are_kept(seed, actions, stock):
    start, *steps = play(Store(), seed, actions, stock=stock)
    assert start.observation[0] == stock
    for before, after in zip([start, *steps], steps, strict=False):
        assert after.observation[0] == before.observation[0] + after.info["bought"] - after.info["sold"]


@SETTINGS
@given(SEEDS, ACTIONS)
def test_observations_lie_in_their_space(seed, actions):
    env = Store()
    assert all(result.observation in env.observation_space for result in play(env, seed, actions))


@SETTINGS
@given(SEEDS, ACTIONS)
def test_a_larger_store_loses_no_more_sales(seed, actions):
    small, large = (sum(step.info["lost"] for step in play(Store(size), seed, actions)[1:]) for size in (10, 20))
    assert large <= small


@SETTINGS
@given(SEEDS, ACTIONS)
def test_the_same_seed_gives_the_same_episode(seed, actions):
    first, second = (play(Store(), seed, actions)[-1] for _ in range(2))
    assert (first.reward, first.info, first.observation[0]) == (second.reward, second.info, second.observation[0])


def test_the_checkers_find_nothing():
    assert sekai.check_env(Store(), check_determinism=True) == []
    assert sekai.testing.check_vec_env(sekai.SyncVecEnv([Store] * 4), n_steps=100) == []


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test()
            print(f"{name} passed")
