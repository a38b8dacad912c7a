"""Functions that survive a trip to another process."""

import pickle

from sekai.utils.pickle import CloudpickleWrapper


def test_closures_survive_pickling():
    number = 3
    wrapper = CloudpickleWrapper(lambda: number + 1)
    assert wrapper() == 4
    assert pickle.loads(pickle.dumps(wrapper))() == 4


def test_the_function_is_an_attribute():
    assert CloudpickleWrapper(dict).fn is dict
    assert pickle.loads(pickle.dumps(CloudpickleWrapper(dict))).fn is dict
