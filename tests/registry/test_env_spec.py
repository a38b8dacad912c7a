"""Specs: ids, copies, JSON and listings."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sekai.registry import EnvSpec, WrapperSpec

words = st.text(st.sampled_from("abzAZ019_-"), min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("id", "parts"),
    [
        ("CartPole-v1", (None, "CartPole", 1)),
        ("ns/A-v2", ("ns", "A", 2)),
        ("A", (None, "A", None)),
        ("A-v", (None, "A-v", None)),
        ("v1", (None, "v1", None)),
        ("A-v01", (None, "A", 1)),
        ("A-v1-v2", (None, "A-v1", 2)),
    ],
)
def test_parts_of_an_id(id, parts):
    spec = EnvSpec(id)
    assert (spec.namespace, spec.name, spec.version) == parts


@given(namespace=st.none() | words, name=words, version=st.none() | st.integers(0, 10**6))
def test_every_id_of_the_right_form_is_accepted(namespace, name, version):
    prefix = "" if namespace is None else f"{namespace}/"
    spec = EnvSpec(prefix + name + ("" if version is None else f"-v{version}"))
    assert spec.namespace == namespace
    if version is not None:
        assert (spec.name, spec.version) == (name, version)


@pytest.mark.parametrize(
    "id", ["", "a/b/c-v0", "/A-v0", "A-v0/", "a.b", "a:b", "a b", "A-v0\n", "A-v\u0661", "\u00c4-v0"]
)
def test_ids_of_another_form_are_refused(id):
    with pytest.raises(ValueError, match="id must look like"):
        EnvSpec(id)


def test_specs_compare_by_value_and_show_their_id():
    spec = EnvSpec("A-v0", entry_point="m:c", kwargs={"a": 1})
    assert spec == EnvSpec("A-v0", entry_point="m:c", kwargs={"a": 1})
    assert spec != EnvSpec("A-v0", entry_point="m:c", kwargs={"a": 2})
    assert repr(spec) == str(spec) == "EnvSpec(id='A-v0')"
    for unhashable in (spec, WrapperSpec("O", "m:O")):
        with pytest.raises(TypeError, match="unhashable"):
            hash(unhashable)


def test_a_spec_has_containers_of_its_own():
    nested = {"list": [1, {"a": 2}]}
    wrapper = WrapperSpec("O", "m:O", nested)
    spec = EnvSpec("A-v0", kwargs=nested, additional_wrappers=[wrapper])
    nested["list"][1]["a"] = 9
    nested["new"] = 1
    wrapper.kwargs["list"].append(3)
    assert spec.kwargs == {"list": [1, {"a": 2}]}
    assert spec.additional_wrappers == (WrapperSpec("O", "m:O", {"list": [1, {"a": 2}]}),)


@pytest.mark.parametrize(("limit", "error"), [(0, ValueError), (-1, ValueError), (2.5, TypeError), (True, TypeError)])
def test_the_limit_is_a_count(limit, error):
    with pytest.raises(error, match="max_episode_steps"):
        EnvSpec("A-v0", max_episode_steps=limit)
    assert type(EnvSpec("A-v0", max_episode_steps=np.int64(5)).max_episode_steps) is int


def test_json_keeps_all_but_callables():
    spec = EnvSpec(
        "ns/A-v2",
        entry_point="m:c",
        reward_threshold=1.5,
        max_episode_steps=7,
        kwargs={"h": [1, 2]},
        additional_wrappers=(WrapperSpec("O", "p:O", {"k": 1}),),
        vector_entry_point="m:v",
    )
    text = spec.to_json()
    assert list(json.loads(text)) == [
        "id",
        "reward_threshold",
        "nondeterministic",
        "max_episode_steps",
        "kwargs",
        "additional_wrappers",
        "entry_point",
        "vector_entry_point",
    ]
    assert text.startswith('{\n  "id": "ns/A-v2",\n')
    assert json.loads(text)["additional_wrappers"] == [{"name": "O", "entry_point": "p:O", "kwargs": {"k": 1}}]
    assert EnvSpec.from_json(text) == spec
    assert "entry_point" not in json.loads(EnvSpec("B", entry_point=dict).to_json())


def test_json_refuses_what_it_cannot_hold():
    with pytest.raises(TypeError):
        EnvSpec("A", kwargs={"x": object()}).to_json()
    with pytest.raises(TypeError, match="zzz"):
        EnvSpec.from_json('{"id": "A", "zzz": 1}')


def test_a_listing_has_what_is_set():
    assert EnvSpec("B", entry_point="m:c").pprint() == "id=B\nentry_point=m:c"
    assert EnvSpec("B", entry_point=dict).pprint() == "id=B\nentry_point=<class 'dict'>"
    full = EnvSpec(
        "A-v0",
        entry_point="m:c",
        vector_entry_point="m:v",
        max_episode_steps=5,
        reward_threshold=1.5,
        nondeterministic=True,
        kwargs={"a": 1},
        additional_wrappers=(WrapperSpec("O", "p:O"), WrapperSpec("T", "p:T", {"n": 3})),
    )
    assert full.pprint().splitlines() == [
        "id=A-v0",
        "entry_point=m:c",
        "vector_entry_point=m:v",
        "max_episode_steps=5",
        "reward_threshold=1.5",
        "nondeterministic=True",
        "kwargs={'a': 1}",
        "wrapper=O (p:O)",
        "wrapper=T (p:T) {'n': 3}",
    ]
