"""Integer arguments."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekai.utils.integers import as_int, positive_int


@given(st.integers(-(2**62), 2**62), st.sampled_from([int, np.int64]))
def test_integers_of_any_type_become_python_ints(number, kind):
    assert as_int("count", kind(number)) == number
    assert type(as_int("count", kind(number))) is int


@pytest.mark.parametrize("value", [2.0, 2.5, "3", None, True, np.True_, [1], np.float32(2)])
def test_nothing_else_is_converted(value):
    with pytest.raises(TypeError, match="count must be an int, got"):
        positive_int("count", value)


def test_counts_start_at_one():
    assert positive_int("count", 1) == 1
    for value in (0, -1):
        with pytest.raises(ValueError, match=f"count must be >= 1, got {value}"):
            positive_int("count", value)
