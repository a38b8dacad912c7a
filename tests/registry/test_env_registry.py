"""Registration and look-up."""

import pytest

from sekai.error import EnvAlreadyRegistered, EnvNotFound
from sekai.registry import EnvRegistry, EnvSpec


@pytest.fixture
def registry():
    return EnvRegistry()


def test_registering_stores_a_spec_and_imports_nothing(registry):
    spec = registry.register(
        "A-v0", "no_such_module:X", reward_threshold=2.5, nondeterministic=True, max_episode_steps=3
    )
    assert spec == EnvSpec("A-v0", "no_such_module:X", 2.5, True, 3)
    assert registry.spec("A-v0") is spec
    assert registry.all_specs() == [spec]
    assert "A-v0" in registry
    assert "B-v0" not in registry
    assert len(registry) == 1
    assert repr(registry) == "EnvRegistry(1 environments)"


def test_what_is_refused_is_not_stored(registry):
    registry.register("A-v0", "m:c")
    with pytest.raises(EnvAlreadyRegistered, match="'A-v0'"):
        registry.register("A-v0", "m:other", max_episode_steps=2.5)
    with pytest.raises(ValueError, match="id must look like"):
        registry.register("bad id!", "m:c")
    with pytest.raises(TypeError, match="max_episode_steps"):
        registry.register("B-v0", "m:c", max_episode_steps=2.5)
    with pytest.raises(TypeError, match="bogus"):
        registry.register("B-v0", "m:c", bogus=1)
    with pytest.raises(TypeError):
        registry.register("B-v0", "m:c", 2.5)
    assert [spec.entry_point for spec in registry.all_specs()] == ["m:c"]


def test_deregistering(registry):
    registry.register("A-v0", "m:c")
    registry.deregister("A-v0")
    assert "A-v0" not in registry
    registry.register("Apple-v0", "m:c")
    with pytest.raises(EnvNotFound) as caught:
        registry.deregister("Aple-v0")
    assert caught.value.suggestions == ("Apple-v0",)


@pytest.mark.parametrize("id", ["CartPole", "CartPole-v0", "cartpole-v1", "not an id/", ""])
def test_ids_are_looked_up_exactly(registry, id):
    registry.register("CartPole-v1", "m:c")
    for look_up in (registry.spec, registry.make, registry.make_vec):
        with pytest.raises(EnvNotFound) as caught:
            look_up(id)
        assert caught.value.id == id
        assert caught.value.suggestions == (("CartPole-v1",) if "art" in id else ())


def test_an_id_is_a_string(registry):
    with pytest.raises(TypeError, match="id must be a str, got 5"):
        registry.make(5)


def test_a_namespace_is_loaded_when_first_needed(registry):
    calls = []

    def load():
        calls.append(1)
        if len(calls) == 1:
            raise ImportError("not now")
        registry.register("plug/A-v0", "m:c")

    registry.register_namespace("plug", load)
    assert registry.all_specs() == []
    with pytest.raises(EnvNotFound):
        registry.spec("plug")
    assert calls == []
    with pytest.raises(ImportError, match="not now"):
        registry.spec("plug/A-v0")
    assert registry.spec("plug/A-v0").id == "plug/A-v0"
    with pytest.raises(EnvNotFound):
        registry.spec("plug/B-v0")
    assert len(calls) == 2


def test_a_registered_id_does_not_load_its_namespace(registry):
    registry.register("plug/A-v0", "m:c")
    registry.register_namespace("plug", lambda: pytest.fail("not needed"))
    assert registry.spec("plug/A-v0").namespace == "plug"


def test_a_later_loader_replaces_an_earlier_one(registry):
    registry.register_namespace("plug", lambda: pytest.fail("replaced"))
    registry.register_namespace("plug", lambda: registry.register("plug/A-v0", "m:c"))
    assert registry.spec("plug/A-v0").name == "A"


def test_a_loader_may_look_up_its_own_namespace(registry):
    def load():
        with pytest.raises(EnvNotFound):
            registry.spec("plug/A-v0")
        registry.register("plug/A-v0", "m:c")

    registry.register_namespace("plug", load)
    assert registry.spec("plug/A-v0").name == "A"


def test_a_loader_may_hand_over_to_another(registry):
    def first():
        registry.register_namespace("plug", lambda: registry.register("plug/B-v0", "m:c"))

    registry.register_namespace("plug", first)
    assert registry.spec("plug/B-v0").name == "B"


def test_the_listing_goes_by_namespace(registry):
    assert registry.pprint() == "Registered environments:"
    for id in ("z/B-v0", "C-v0", "z/A-v0", "a/A-v0", "B-v0"):
        registry.register(id, "m:c")
    assert registry.pprint().splitlines() == [
        "Registered environments:",
        "  [no namespace]",
        "    B-v0",
        "    C-v0",
        "  [a]",
        "    a/A-v0",
        "  [z]",
        "    z/A-v0",
        "    z/B-v0",
    ]
