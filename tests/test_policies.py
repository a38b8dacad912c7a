"""Compiled policies from Python: weights, architectures, and which batches they fit."""

import numpy as np
import pytest
from numba import config

import sekai
from sekai import policies
from sekai.kernels import kernel, random

ENV = sekai.make("CartPole-v1")
TORQUE = sekai.make("Pendulum-v1")


class Push(policies.Policy):
    @kernel
    def act_lane(w, obs, rng, action, i):
        action[i] = w[0] > 0


# ---- weights -------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [[1, 2], [[1.0, 2.0]], np.array([1, 2], np.float32)])
def test_weights_are_copied_as_sets_of_float64(weights):
    policy = Push(weights)
    assert policy.weights.tolist() == [[1.0, 2.0]]
    assert policy.weights.dtype == np.float64
    assert not np.shares_memory(policy.weights, weights)


def test_weights_are_contiguous_whatever_they_were():
    policy = Push(np.arange(6.0).reshape(2, 3).T)
    assert policy.weights.tolist() == [[0, 3], [1, 4], [2, 5]]
    assert policy.weights.flags.c_contiguous


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        (1.0, ValueError, r"shape \(W,\) or \(G, W\), G at least 1, got \(\)"),
        (np.zeros((1, 1, 1)), ValueError, r"got \(1, 1, 1\)"),
        (np.zeros((0, 3)), ValueError, r"got \(0, 3\)"),
        (["a"], TypeError, r"weights must be real numbers, got \['a'\]"),
        ([1j], TypeError, "weights must be real numbers"),
        ([True], TypeError, "weights must be real numbers"),
        ([[1], [1, 2]], ValueError, r"weights must not have rows of different lengths, got \[\[1\], \[1, 2\]\]"),
    ],
)
def test_what_are_no_weights_is_refused(weights, error, message):
    policy = Push([1.0])
    with pytest.raises(error, match=message):
        policy.weights = weights
    assert policy.weights.tolist() == [[1.0]]


def test_a_policy_without_a_kernel_says_so():
    with pytest.raises(TypeError, match="Policy must define act_lane"):
        sekai.rollout(sekai.make_vec("CartPole-v1", 2), policies.Policy(), 3)


# ---- networks ------------------------------------------------------------------------------------


def test_sizes_and_weights_of_a_network():
    network = policies.MLP(ENV, (5, 3))
    assert network.sizes == (4, 5, 3, 2)
    assert network.num_weights == 5 * 5 + 3 * 6 + 2 * 4
    assert network.weights.shape == (1, network.num_weights)
    assert not network.weights.any()
    assert (network.head, network.activation) == ("argmax", "tanh")
    assert (policies.MLP(TORQUE).head, policies.MLP(TORQUE).sizes) == ("clip", (3, 64, 64, 1))
    assert policies.Linear(sekai.make_vec("CartPole-v1", 3)).sizes == (4, 2)


def test_layers_are_packed_matrix_by_matrix_with_their_biases():
    packed = policies.MLP.pack([([[1, 2], [3, 4]], [5, 6]), (np.array([[7, 8]]), [9])])
    assert packed.tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert packed.dtype == np.float64


@pytest.mark.parametrize(
    "layers",
    [
        [],
        [(np.ones((4, 2)), np.ones(2))],  # (inputs, outputs)
        [(np.ones((2, 4)), np.ones((2, 1)))],
        [(np.ones(4), np.ones(4))],
        [(np.ones((3, 4)), np.ones(3)), (np.ones((2, 4)), np.ones(2))],
        [(1.0, 2.0)],
    ],
)
def test_layers_that_do_not_fit_are_refused(layers):
    with pytest.raises(ValueError, match=r"layers must be matrices .* that fit, got shapes"):
        policies.MLP.pack(layers)


@pytest.mark.parametrize(
    ("action", "error", "message"),
    [
        ("left", TypeError, "action must be real numbers, got 'left'"),
        (True, TypeError, r"action must be real numbers, got \[True\]"),
        ([[1], [1, 2]], ValueError, "action must not have rows of different lengths"),
        (np.zeros((1, 1, 1)), ValueError, "action must have shape"),
    ],
)
def test_what_is_no_constant_action_is_refused(action, error, message):
    with pytest.raises(error, match=message):
        policies.Constant(action)


def test_equal_architectures_share_their_machine_code():
    assert policies.MLP(ENV, (5,)).key == policies.MLP(ENV, [np.int64(5)]).key
    keys = {
        policies.MLP(ENV, (5,), **kwargs).key
        for kwargs in ({}, {"activation": "relu"}, {"head": "sample"}, {"weights": np.ones(37)})
    }
    assert len(keys) == 3
    assert Push([1]).key == Push([2]).key != policies.Random().key


@pytest.mark.parametrize(
    ("env", "kwargs", "error", "message"),
    [
        (ENV, {"hidden": (0,)}, ValueError, "hidden"),
        (ENV, {"hidden": (2.5,)}, TypeError, "hidden"),
        (ENV, {"hidden": 64}, TypeError, "hidden must be a sequence of ints, got 64"),
        (ENV, {"activation": "gelu"}, ValueError, 'activation must be "tanh" or "relu", got \'gelu\''),
        (
            ENV,
            {"head": "clip"},
            ValueError,
            r"head must be one of \('argmax', 'sample'\) for Discrete\(2\), got 'clip'",
        ),
        (TORQUE, {"head": "sample"}, ValueError, "head must be one of"),
    ],
)
def test_architectures_that_are_refused(env, kwargs, error, message):
    with pytest.raises(error, match=message):
        policies.MLP(env, **kwargs)


@pytest.mark.parametrize(
    ("observations", "actions", "message"),
    [
        (sekai.Discrete(3), sekai.Discrete(2), r"a network needs a Box observation space, got Discrete\(3\)"),
        (sekai.Box(0, 1), sekai.MultiBinary(2), r"a network needs a Discrete or floating Box action space, got Multi"),
        (sekai.Box(0, 1), sekai.Box(0, 9, (2,), np.int64), "a network needs a Discrete or floating Box action space"),
    ],
)
def test_spaces_that_no_network_fits(observations, actions, message):
    class Odd:
        observation_space, action_space = observations, actions

    with pytest.raises(TypeError, match=message):
        policies.MLP(Odd())


# ---- fitting a batch -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (
            lambda: policies.MLP(TORQUE, ()),
            r"from 3 to 1 numbers with head 'clip' does not fit Box\(.* and Discrete\(2\)",
        ),
        (lambda: policies.MLP(sekai.make("MountainCar-v0"), ()), "from 2 to 3 numbers"),
        (lambda: policies.Linear(ENV, weights=np.zeros(9)), "weights must hold 10 numbers a set, got 9"),
        (lambda: policies.Linear(ENV, weights=np.zeros((4, 10))), "divides the 6 lanes, got 4"),
        (lambda: policies.Constant(0.5), r"action must lie in Discrete\(2\), got \[\[0.5\]\]"),
        (lambda: policies.Constant(np.nan), "action must lie in"),
        (lambda: policies.Constant([0, 1]), r"got \[\[0.0, 1.0\]\]"),
        (lambda: policies.Constant([[0], [1], [0], [1]]), "divides the 6 lanes, got 4"),
    ],
)
def test_policies_that_do_not_fit_a_batch(policy, message):
    vec = sekai.make_vec("CartPole-v1", 6)
    with pytest.raises(ValueError, match=message):
        policy().check(vec)


def test_policies_of_an_env_fit_its_batches():
    policies.MLP(ENV, (3,)).check(sekai.make_vec("CartPole-v1", 6))
    policies.MLP(sekai.make_vec("Pendulum-v1", 2), (3,)).check(sekai.make_vec("Pendulum-v1", 6))
    policies.Constant([[-2.0], [2.0]]).check(sekai.make_vec("Pendulum-v1", 6))
    policies.Random().check(sekai.make_vec("Pendulum-v1", 6))


class Silent(policies.Policy):
    uses_streams = False

    @kernel
    def act_lane(w, obs, rng, action, i):
        action[i] = random.integers(rng, i, 0, 2)


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
def test_a_policy_that_says_it_does_not_draw_cannot():
    vec = sekai.make_vec("CartPole-v1", 5)
    vec.reset(seed=0)
    before = vec.get_state()
    with pytest.raises(TypeError, match=r"does not compile(.|\n)*random.integers\(rng, i, 0, 2\)"):
        sekai.rollout(vec, Silent(), 10)
    np.testing.assert_array_equal(vec.get_state().words, before.words, strict=True)
