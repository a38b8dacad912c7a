"""The environments that come with the package."""

import sekai


def test_cartpole_is_registered():
    spec = sekai.spec("CartPole-v1")
    assert (spec.max_episode_steps, spec.reward_threshold) == (500, 475.0)
    assert (spec.nondeterministic, spec.kwargs, spec.additional_wrappers) == (False, {}, ())
