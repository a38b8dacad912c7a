"""What is printed, and where."""

import sys

import pytest

from sekai.cli import output


def test_nothing_is_drawn_into_a_pipe_or_without_the_package(monkeypatch):
    class Terminal:
        def isatty(self):
            return True

    class Pipe:
        def isatty(self):
            return False

    assert output.may_draw(Terminal())
    assert not output.may_draw(Pipe())
    monkeypatch.setattr(output, "find_spec", lambda name: None)
    assert not output.may_draw(Terminal())


@pytest.mark.parametrize("terminal", [True, False])
def test_without_the_package_a_line_says_what_is_going_on(capsys, monkeypatch, terminal):
    monkeypatch.setattr(output, "find_spec", lambda name: None)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    with output.busy("Making tea"):
        pass
    assert capsys.readouterr() == ("", "Making tea …\n" if terminal else "")
