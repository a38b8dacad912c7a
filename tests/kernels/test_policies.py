"""Block functions of policies, against NumPy."""

from itertools import pairwise

import numpy as np
import pytest

import sekai
from sekai import policies
from sekai.kernels import policies as kernels
from sekai.kernels.jit import entry

NOTHING = np.empty((6, 0), np.uint64)


class Box:
    """Spaces that a network is made for."""

    def __init__(self, inputs, outputs):
        self.observation_space = sekai.Box(-np.inf, np.inf, (inputs,), np.float32)
        self.action_space = sekai.Box(-np.inf, np.inf, (outputs,), np.float64)


def forward(layers, activation, x):
    """A network in NumPy, with more precision."""
    for k, (matrix, bias) in enumerate(layers):
        x = x.astype(np.longdouble) @ matrix.T.astype(np.longdouble) + bias
        if k < len(layers) - 1:
            x = np.tanh(x) if activation == "tanh" else np.maximum(x, 0)
    return x


@pytest.fixture(
    scope="module", params=[((3, 5, 6, 2), "tanh"), ((7, 9, 4, 5), "relu"), ((1, 1), "tanh")], ids=lambda p: str(p[0])
)
def network(request):
    """A policy whose actions are its outputs, its layers, and what calculates its outputs."""
    sizes, activation = request.param
    rng = np.random.default_rng(0)
    layers = [(rng.normal(size=(n_out, n_in)), rng.normal(size=n_out)) for n_in, n_out in pairwise(sizes)]
    policy = policies.MLP(Box(sizes[0], sizes[-1]), sizes[1:-1], activation=activation)
    policy.weights = policy.pack(layers)
    block = policy.block()

    def outputs(observations):
        n, size = len(observations), sizes[-1]
        keys, work = np.zeros(n, np.uint64), np.full((2, policy.work_rows, kernels.TILE), np.nan)  # anything
        bounds, action = np.array([[-np.inf] * size, [np.inf] * size]), np.empty((n, size))
        block(policy.weights[0], observations, keys, NOTHING, work, np.uint64(0), bounds, action)
        return action

    return policy, layers, outputs


@pytest.mark.parametrize("lanes", [1, kernels.TILE, 3 * kernels.TILE + 5])
def test_a_network_is_what_numpy_makes_of_its_layers(network, lanes):
    policy, layers, outputs = network
    observations = np.random.default_rng(lanes).normal(size=(lanes, policy.sizes[0])).astype(np.float32)
    # Sums of at most 10 numbers of size 10, each rounded to 1e-15, through three layers that may triple an error.
    want = forward(layers, policy.activation, observations).astype(float)
    np.testing.assert_allclose(outputs(observations), want, rtol=0, atol=1e-12)


def test_a_lane_does_not_depend_on_its_place(network):
    policy, _, outputs = network
    observations = np.random.default_rng(1).normal(size=(kernels.TILE + 9, policy.sizes[0])).astype(np.float32)
    together = outputs(observations)
    for i, row in enumerate(observations):
        assert outputs(row[None]).tobytes() == together[i].tobytes()


# ---- heads ---------------------------------------------------------------------------------------


@entry
def choose(head, x, keys, clock, bounds, action):
    """Call one of the heads of discrete actions, by number."""
    if head == 0:
        kernels.head_argmax(x.shape[0], x, keys, clock, bounds, action)
    else:
        kernels.head_sample(x.shape[0], x, keys, clock, bounds, action)


def chosen(head, x, start=0, clock=0, seed=0):
    x = np.array(x, float)
    keys = np.random.default_rng(seed).integers(0, 2**64, x.shape[1], np.uint64)
    action = np.empty(x.shape[1], np.int64)
    choose(head, x, keys, np.uint64(clock), np.array([[start], [start + len(x) - 1]]), action)
    return action


def test_argmax_is_the_first_of_equals():
    x = [[1.0, 2.0, 3.0, -np.inf, 0.0], [5.0, 2.0, 1.0, -np.inf, -0.0], [5.0, 1.0, 3.0, -np.inf, 0.0]]
    assert chosen(0, x, start=-1).tolist() == [0, -1, -1, -1, -1]


def test_sampled_actions_have_the_frequencies_of_the_softmax():
    """Chi squared of 3 degrees of freedom exceeds 30.66 with a chance of 1e-6."""
    logits, n = np.array([1.0, -1.0, 0.5, 2.0]) + 700, 100_000  # without shifting them, exp would overflow
    found = np.bincount(chosen(1, np.repeat(logits[:, None], n, axis=1), clock=7), minlength=4)
    want = n * np.exp(logits - 702) / np.exp(logits - 702).sum()
    assert ((found - want) ** 2 / want).sum() < 30.66


def test_samples_change_with_the_clock_and_the_key():
    x = np.zeros((2, 1000))
    first = chosen(1, x)
    assert 0.4 < (first != chosen(1, x, clock=1)).mean() < 0.6  # 6 deviations on either side
    assert 0.4 < (first != chosen(1, x, seed=1)).mean() < 0.6
    assert np.array_equal(first, chosen(1, x))


def test_an_action_of_probability_one_is_always_sampled():
    assert (chosen(1, np.array([[-2000.0], [0.0], [-2000.0]]) + np.zeros(1000), start=5) == 6).all()


def test_outputs_are_clipped_and_nan_stays():
    x = np.array([[-5.0, 0.25, 5.0, np.nan], [-5.0, 3.5, 5.0, -np.inf]])
    action = np.empty((4, 2))
    kernels.head_clip(2, x, np.empty(4, np.uint64), np.uint64(0), np.array([[-1.0, 2.0], [1.0, 4.0]]), action)
    assert repr(action.T.tolist()) == "[[-1.0, 0.25, 1.0, nan], [2.0, 3.5, 4.0, 2.0]]"


# ---- random actions ------------------------------------------------------------------------------


def test_random_integers_are_uniform():
    """Chi squared of 6 degrees of freedom exceeds 38.26 with a chance of 1e-6."""
    keys = np.random.default_rng(3).integers(0, 2**64, 100_000, np.uint64)
    action = np.empty(keys.size, np.int64)
    kernels.random_integers(keys, np.uint64(2), -3, 3, action)
    found = np.bincount(action + 3)
    assert found.size == 7
    assert ((found - keys.size / 7) ** 2 / (keys.size / 7)).sum() < 38.26


@pytest.mark.parametrize("count", [2**32, 2**32 + 1, 2**40, 3 * 2**61])
def test_random_integers_of_many_are_uniform(count):
    """Chi squared of 7 degrees of freedom exceeds 40.53 with a chance of 1e-6."""
    keys = np.random.default_rng(3).integers(0, 2**64, 100_000, np.uint64)
    action = np.empty(keys.size, np.int64)
    kernels.random_integers(keys, np.uint64(2), -5, count - 6, action)
    assert action.min() >= -5
    assert action.max() <= count - 6
    found = np.bincount((action + 5) // -(-count // 8), minlength=8)
    assert found.size == 8
    assert ((found - keys.size / 8) ** 2 / (keys.size / 8)).sum() < 40.53
    assert np.unique(action).size > 99_990  # of 2**32, 1.2 pairs are expected to be equal
    assert np.unique(action % 8).size == 8


def test_the_upper_half_of_a_product():
    numbers = [0, 1, 2**32 - 1, 2**32, 2**63, 2**64 - 1, 0x9E3779B97F4A7C15]
    for a in numbers:
        for b in numbers:
            assert int(kernels.upper_half(np.uint64(a), np.uint64(b))) == a * b >> 64


def test_random_reals_are_uniform():
    """The statistic of Kolmogorov and Smirnov exceeds 2.69 / sqrt(n) with a chance of 1e-6."""
    keys = np.random.default_rng(4).integers(0, 2**64, 100_000, np.uint64)
    action = np.empty(keys.size)
    kernels.random_reals(keys, np.uint64(2), -2.0, 6.0, action)
    ranks = np.arange(keys.size + 1) / keys.size
    unit = np.sort((action + 2) / 8)
    assert unit[0] >= 0
    assert unit[-1] < 1
    assert max((ranks[1:] - unit).max(), (unit - ranks[:-1]).max()) < 2.69 / np.sqrt(keys.size)


@pytest.mark.parametrize("shape", [(), (3,), (2, 2)])
def test_the_numbers_of_an_action_are_draws_of_their_own(shape):
    size = int(np.prod(shape))
    keys = np.random.default_rng(5).integers(0, 2**64, 500, np.uint64)
    actions = []
    for clock in range(3):
        action = np.empty((500, *shape))
        work, bounds = np.empty((2, 0, kernels.TILE)), np.array([[0.0] * size, [1.0] * size])
        arguments = (np.empty(0), action, keys, NOTHING, work, np.uint64(clock), bounds, action)
        random_block(*arguments)
        actions.append(action.copy())
    assert np.unique(actions).size == 3 * 500 * size


@entry
def random_block(w, observations, keys, rng, work, clock, bounds, action):
    kernels.random_block(w, observations, keys, rng, work, clock, bounds, action)
