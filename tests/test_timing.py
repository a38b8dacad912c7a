"""What is timed, and how often."""

import numpy as np

import sekai
from sekai.timing import MOST_ACTIONS, Contestant, draw_actions, stepping, turn, walking


def test_a_turn_is_so_many_calls():
    calls = []
    seconds = turn(Contestant(lambda: calls.append(None)), 7)
    assert len(calls) == 7
    assert seconds > 0


def test_a_batch_is_stepped_with_each_batch_of_actions_in_turn():
    seen = []
    contestant = stepping(seen.append, [3, 4, 5], num_envs=9)
    turn(contestant, 7)
    assert seen == [3, 4, 5, 3, 4, 5, 3]
    assert contestant.work == 9


def test_a_single_env_is_reset_where_an_episode_ends():
    seen = []

    class Short(sekai.Env):
        def reset(self, *, seed=None, options=None):
            seen.append("reset")
            return sekai.ResetResult(0, {})

        def step(self, action):
            seen.append(action)
            return sekai.StepResult(0, 0.0, action == 3, action == 4, {})

    turn(walking(Short(), [1, 3, 4]), 4)
    assert seen == [1, 3, "reset", 4, "reset", 1]


def test_actions_fit_into_the_cache_but_there_are_two_batches():
    assert len(draw_actions(sekai.Discrete(2, seed=0), 1)) == 1000
    assert len(draw_actions(sekai.Discrete(2, seed=0), 4096)) == MOST_ACTIONS // 4096
    first, second = draw_actions(sekai.Box(0, 1, (3,), seed=0), 10 * MOST_ACTIONS)
    assert not np.array_equal(first, second)
