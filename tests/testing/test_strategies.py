"""The strategies give what they say, shrink well and raise no health check."""

from hypothesis import given, settings
from hypothesis import strategies as st

from sekai.testing import strategies as sts


@given(st.data())
def test_elements_are_elements(data):
    space = data.draw(sts.spaces())
    assert space.contains(data.draw(sts.elements(space)))


@given(st.data())
def test_non_elements_are_none(data):
    space = data.draw(sts.spaces())
    assert not space.contains(data.draw(sts.non_elements(space)))


@given(st.data())
def test_masks_are_accepted(data):
    space = data.draw(sts.spaces())
    assert space.contains(space.sample(data.draw(sts.masks(space))))
