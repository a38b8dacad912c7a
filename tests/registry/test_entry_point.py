"""Entry points."""

import json

import pytest

from sekai.registry.entry_point import load


def test_callables_are_taken_as_they_are():
    assert load(dict) is dict


def test_strings_are_imported():
    assert load("json:loads") is json.loads
    assert load("json.decoder:JSONDecoder") is json.JSONDecoder


def test_what_cannot_be_found_is_said():
    with pytest.raises(ValueError, match="\"module:attribute\", got 'json'"):
        load("json")
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        load("no_such_module:X")
    with pytest.raises(AttributeError, match="no_such_name"):
        load("json:no_such_name")
