"""The environments that come with the package."""

import pytest

import sekai

CLASSIC_CONTROL = {  # id to time limit and reward threshold, in the order of registration
    "CartPole-v1": (500, 475.0),
    "MountainCar-v0": (200, -110.0),
    "MountainCarContinuous-v0": (999, 90.0),
    "Pendulum-v1": (200, None),
    "Acrobot-v1": (500, -100.0),
}


@pytest.mark.parametrize("env_id", CLASSIC_CONTROL)
def test_classic_control_is_registered(env_id):
    spec = sekai.spec(env_id)
    assert (spec.max_episode_steps, spec.reward_threshold) == CLASSIC_CONTROL[env_id]
    assert (spec.nondeterministic, spec.kwargs, spec.additional_wrappers) == (False, {}, ())


def test_environments_are_registered_in_their_order():
    ids = [spec.id for spec in sekai.all_specs()]
    assert [env_id for env_id in ids if env_id in CLASSIC_CONTROL] == list(CLASSIC_CONTROL)
